// SPDX-License-Identifier: MIT
// RING: reduce-scatter then all-gather round one ring of all ranks, half chunk by half chunk; any
// rank count. The walk is in ring_walk.cpp.
#include "daemon/compose/algorithm/ring_walk.hpp"

namespace sdmacc::algorithm {
namespace {

Result<Schedule> build(const Shape& shape) {
  Schedule s = head(kRing, shape, shape.channels);
  if (s.slices > 0) walk_rings(s);
  return s;
}

// Each block starts its walk at another rank, so only one rank alone has an order.
bool order_rank(const Shape& shape) {
  return shape.ranks == 1;
}

}  // namespace

const AlgorithmInfo kRing = {
    Alg::Ring,
    MeshType::Invalid,
    0,
    "ring",
    "RING",
    "large tensors on many ranks: each rank talks to one neighbour and moves a fixed share",
    "2(n-1) chunk steps; reads 3(n-1)C, writes (2n-1)C, C = count/n",
    order_rank,
    refuses_any,
    build,
};

}  // namespace sdmacc::algorithm
