// SPDX-License-Identifier: MIT
// Implements builder.hpp: the common requirements, the head of a Schedule, and the step forms.
#include "daemon/compose/algorithm/builder.hpp"

#include <limits>

namespace sdmacc::algorithm {

namespace {
constexpr std::uint32_t kMaxChannels = 32;  // ring channels of one TOP_SP's configuration
}

std::optional<Refusal> refuses_any(const Shape& shape) {
  if (shape.collective != Collective::AllReduce)
    return Refusal{"all-reduce-only", fmt::format("{} is not ALL_REDUCE", name(shape.collective))};
  if (shape.ranks == 0) return Refusal{"at-least-one-rank", "the group has 0 ranks"};
  if (shape.channels == 0 || shape.channels > kMaxChannels)
    return Refusal{"channels",
                   fmt::format("{} channels, must be 1 to {}", shape.channels, kMaxChannels)};
  if (shape.count != 0 && shape.slice_elements == 0)
    return Refusal{"slice-elements", fmt::format("slices of 0 elements for {}", shape.count)};
  if (pattern::slice_count(shape.count, shape.channels,
                           std::max<std::uint64_t>(1, shape.slice_elements)) >
      std::numeric_limits<std::uint32_t>::max())
    return Refusal{"slices", fmt::format("{} elements in slices of {} are too many slices",
                                         shape.count, shape.slice_elements)};
  if (shape.op == ReduceOp::Fma && shape.scales.size() != shape.ranks)
    return Refusal{"scale-per-rank",
                   fmt::format("{} scales for {} ranks", shape.scales.size(), shape.ranks)};
  if (shape.max_sources < 2)
    return Refusal{"two-sources",
                   fmt::format("a step takes {} sources, must take 2", shape.max_sources)};
  return std::nullopt;
}

Schedule head(const AlgorithmInfo& info, const Shape& shape, std::uint32_t channels) {
  Schedule s;
  s.alg = info.alg;
  s.mesh = info.mesh;
  s.sub_type = info.sub_type;
  s.collective = shape.collective;
  s.op = shape.op;
  s.dtype = shape.dtype;
  s.ranks = shape.ranks;
  s.channels = channels;
  s.count = s.in_elements = s.out_elements = shape.count;
  s.slices = static_cast<std::uint32_t>(pattern::slice_count(
      shape.count, channels, std::max<std::uint64_t>(1, shape.slice_elements)));
  if (shape.op == ReduceOp::Fma) s.scales = shape.scales;
  return s;
}

Piece slice_piece(const Schedule& schedule, std::uint32_t slice, std::uint32_t channel) {
  return pattern::piece(pattern::piece({0, schedule.count}, schedule.slices, slice),
                        schedule.channels, channel);
}

Step combine(const Schedule& schedule, Prim prim, std::vector<Range> src, std::vector<Range> dst) {
  Step step;
  step.prim = prim;
  step.kind = src.size() == 1 && schedule.op != ReduceOp::Fma ? Kind::Copy : Kind::Reduce;
  step.src = std::move(src);
  step.dst = std::move(dst);
  return step;
}

Step copy(Prim prim, Range src, std::vector<Range> dst) {
  Step step;
  step.prim = prim;
  step.kind = Kind::Copy;
  step.src = {src};
  step.dst = std::move(dst);
  return step;
}

Step sync(Prim prim) {
  Step step;
  step.prim = prim;
  return step;
}

}  // namespace sdmacc::algorithm
