// SPDX-License-Identifier: MIT
// KANGARING: the ring's walk over units of a primary and one or three secondaries. A primary
// reduces for its whole unit in one step and delivers to it in one step, so the ring is 1 + s times
// shorter; secondaries only say hello and wait.
#include "daemon/compose/algorithm/ring_walk.hpp"

namespace sdmacc::algorithm {
namespace {

std::optional<Refusal> refuses(const Shape& shape) {
  if (auto refusal = refuses_any(shape)) return refusal;
  if (shape.secondaries != 1 && shape.secondaries != 3)
    return Refusal{"kangaring.unit-size",
                   fmt::format("{} secondaries, must be 1 or 3", shape.secondaries)};
  const std::uint32_t unit = 1 + shape.secondaries;
  if (shape.ranks % unit != 0)
    return Refusal{"kangaring.multiple-of-unit",
                   fmt::format("{} ranks are not a multiple of {}", shape.ranks, unit)};
  if (unit + 1 > shape.max_sources)
    return Refusal{"kangaring.sources",
                   fmt::format("{} sources a step, {} needed", shape.max_sources, unit + 1)};
  return std::nullopt;
}

Result<Schedule> build(const Shape& shape) {
  Schedule s = head(kKangaring, shape, shape.channels);
  s.secondaries = shape.secondaries;
  if (s.slices > 0) walk_rings(s);
  return s;
}

bool order_rank(const Shape& shape) {
  return shape.ranks == 1 + shape.secondaries;
}

}  // namespace

const AlgorithmInfo kKangaring = {
    Alg::Kangaring,
    MeshType::Invalid,
    0,
    "kangaring",
    "KANGARING",
    "large tensors on pairs or fours of neighbouring cores: fewer steps and fewer reads than the "
    "ring",
    "2(u-1) chunk steps, u = n/(1+s), C = count/u; a primary reads (1+s)C + (3+s)(u-1)C and writes "
    "(2+s)uC - C, for u = 1 (1+s)C",
    order_rank,
    refuses,
    build,
};

}  // namespace sdmacc::algorithm
