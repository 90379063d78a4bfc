// SPDX-License-Identifier: MIT
// FULL_MESH t0: two ranks, each reduces its half of every slice straight into both OUTs.
// Signals: A = the other rank is here, Z = a half is finished (the other's, and the own).
#include "daemon/compose/algorithm/tape.hpp"

namespace sdmacc::algorithm {
namespace {

std::optional<Refusal> refuses(const Shape& shape) {
  if (auto refusal = refuses_any(shape)) return refusal;
  if (shape.ranks != 2)
    return Refusal{"mesh-t0.two-ranks", fmt::format("{} ranks, must be 2", shape.ranks)};
  return std::nullopt;
}

Result<Schedule> build(const Shape& shape) {
  Schedule s = head(kMeshT0, shape, 1);
  if (s.slices == 0) return s;
  Tape tape(s, "AZ");
  for (; tape.slice < s.slices; ++tape.slice)
    for (Rank r = 0; r < 2; ++r) {
      const Piece half = pattern::piece(slice_piece(s, tape.slice), 2, r);
      tape.post_others(tape.event(r, sync(Prim::LocalHandshake)), r, 'A');
      Step& step = tape.event(
          r, combine(s, Prim::ReduceCopy, {in(0, half), in(1, half)}, {out(0, half), out(1, half)}),
          'A', 1);
      tape.post(step, 0, 'Z');
      tape.post(step, 1, 'Z');
      tape.event(r, sync(Prim::SyncEvent), 'Z', 2);
    }
  return s;
}

}  // namespace

const AlgorithmInfo kMeshT0 = {
    Alg::Mesh,
    MeshType::Full,
    0,
    "mesh-t0",
    "FULL_MESH t0",
    "two ranks: one step, one rounding",
    "1 step a slice; reads S, writes S, S = count",
    ascending,
    refuses,
    build,
};

}  // namespace sdmacc::algorithm
