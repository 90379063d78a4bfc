// SPDX-License-Identifier: MIT
// FULL_MESH t2 in one group: every rank reduces its share of each slice from all INs into its own
// OUT, then copies it to all others. Signals: A = a mate is here, D = the own share (or the partial
// of a long sum) is there, Z = a share was delivered (each mate's to this rank, and the own to
// all).
#include "daemon/compose/algorithm/tape.hpp"

namespace sdmacc::algorithm {
namespace {

Result<Schedule> build(const Shape& shape) {
  Schedule s = head(kMeshT2, shape, 1);
  if (s.slices == 0) return s;
  const std::uint32_t n = s.ranks;
  if (n > shape.max_sources) s.tmp_elements = {0};
  Tape tape(s, "ADZ");
  for (; tape.slice < s.slices; ++tape.slice)
    for (Rank r = 0; r < n; ++r) {
      const Piece share = pattern::piece(slice_piece(s, tape.slice), n, r);
      std::vector<Range> all, mates;
      for (Rank x = 0; x < n; ++x) {
        all.push_back(in(x, share));
        if (x != r) mates.push_back(out(x, share));
      }
      tape.post_others(tape.event(r, sync(Prim::LocalHandshake)), r, 'A');
      tape.event(r, sync(Prim::GlobalHandshake), 'A', n - 1);
      Step& reduce = tape.reduce(r, Prim::ReduceCopy, std::move(all), {out(r, share)},
                                 shape.max_sources, 0, 'D');
      tape.post(reduce, r, 'D');
      Step& write = tape.event(r,
                               n > 1 ? copy(Prim::ReduceWrite, out(r, share), std::move(mates))
                                     : sync(Prim::ReduceWrite),
                               'D', 1);
      tape.post_others(write, r, 'Z');
      tape.post(write, r, 'Z');
      tape.event(r, sync(Prim::SyncEvent), 'Z', n);
    }
  return s;
}

}  // namespace

const AlgorithmInfo kMeshT2 = {
    Alg::Mesh,
    MeshType::Full,
    2,
    "mesh-t2",
    "FULL_MESH t2",
    "middle sizes, any rank count: two steps, and each element is rounded once",
    "2 steps a slice (n > 32: one more for each further 31 ranks); reads (n+1)C, writes nC, C = "
    "count/n",
    ascending,
    refuses_any,
    build,
};

}  // namespace sdmacc::algorithm
