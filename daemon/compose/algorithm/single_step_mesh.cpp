// SPDX-License-Identifier: MIT
// SINGLE_STEP_MESH: every rank broadcasts its whole slice into a TMP of every other rank, and every
// rank reduces everything. It goes through TMP because a rank that reduces in place overwrites what
// a slower one still reads. Signals: A = a rank is here and its TMP free, C = a broadcast is
// complete (each other's, and the own), D = a partial of a long sum is there, Z = the own sum is.
#include "daemon/compose/algorithm/tape.hpp"

namespace sdmacc::algorithm {
namespace {

// TMP `x` of a rank holds rank x's slice; TMP n is for the partials of a chain. FMA's scales are
// met in the broadcast, and the own data takes the same way there, so that the rounded products are
// the same bits on every rank.
Result<Schedule> build(const Shape& shape) {
  Schedule s = head(kSingleStepMesh, shape, 1);
  if (s.slices == 0) return s;
  const std::uint32_t n = s.ranks;
  const bool scaled = s.op == ReduceOp::Fma && n > 1;
  if (n > 1) s.tmp_elements.assign(n + (n > shape.max_sources), 0);
  Tape tape(s, "ACDZ");
  for (; tape.slice < s.slices; ++tape.slice) {
    const Piece all = slice_piece(s, tape.slice);
    for (Rank r = 0; r < n && n > 1; ++r)
      s.tmp_elements[r] = std::max(s.tmp_elements[r], all.count);
    for (Rank r = 0; r < n; ++r) {
      tape.post_others(tape.event(r, sync(Prim::LocalHandshake)), r, 'A');
      std::vector<Range> copies, src;
      for (Rank x = 0; x < n; ++x) {
        const bool direct = x == r && !scaled;
        src.push_back(direct ? in(r, all) : tmp(r, x, all.count));
        if (!direct) copies.push_back(tmp(x, r, all.count));
      }
      if (n > 1) {
        Step& broadcast = tape.event(
            r, combine(s, Prim::IntraGroupBroadcast, {in(r, all)}, std::move(copies)), 'A', n - 1);
        tape.post_others(broadcast, r, 'C');
        tape.post(broadcast, r, 'C');
      }
      Step& reduce = tape.reduce(r, Prim::ReduceWrite, std::move(src), {out(r, all)},
                                 shape.max_sources, n, 'D', 'C', n > 1 ? n : 0);
      tape.post(reduce, r, 'Z');
      tape.event(r, sync(Prim::SyncEvent), 'Z', 1);
    }
  }
  return s;
}

// FMA rounds each product before the sum, which the direct forms do not.
bool order_rank(const Shape& shape) {
  return shape.ranks == 1 || shape.op != ReduceOp::Fma;
}

}  // namespace

const AlgorithmInfo kSingleStepMesh = {
    Alg::SingleStepMesh,
    MeshType::Invalid,
    0,
    "single-step-mesh",
    "SINGLE_STEP_MESH",
    "small tensors: one exchange, no second wait for a neighbour",
    "2 steps a slice; reads (n+1)S, writes nS (FMA (n+1)S), S = count; n = 1: 1 step, S and S",
    order_rank,
    refuses_any,
    build,
};

}  // namespace sdmacc::algorithm
