// SPDX-License-Identifier: MIT
// builder: what every algorithm file needs to write a Schedule down: its head, its slices, and the
// step forms. The rows that the registry lists are declared here too.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/compose/compose.hpp"
#include "daemon/compose/pattern/partition.hpp"

namespace sdmacc::algorithm {

using Refusal = AlgorithmInfo::Refusal;
using pattern::Piece;

extern const AlgorithmInfo kRing, kKangaring, kMeshT0, kMeshT2, kSingleStepMesh;

// The requirements of every algorithm; each algorithm's own refuses() starts with it.
std::optional<Refusal> refuses_any(const Shape& shape);

// A Schedule without lanes and signals. `channels` is what the algorithm makes of shape.channels.
Schedule head(const AlgorithmInfo& info, const Shape& shape, std::uint32_t channels);

// Slice `slice` of channel `channel`: the tensor cut into slices, a slice into channels.
Piece slice_piece(const Schedule& schedule, std::uint32_t slice, std::uint32_t channel = 0);

inline Range in(Rank rank, Piece p) {
  return {rank, Space::In, 0, p.first, p.count};
}
inline Range out(Rank rank, Piece p) {
  return {rank, Space::Out, 0, p.first, p.count};
}
inline Range tmp(Rank rank, std::uint32_t index, std::uint64_t count) {
  return {rank, Space::Tmp, index, 0, count};
}

// Reduce of `src` in the order given. One source needs no arithmetic and is a Copy, unless its
// scale has to be met.
Step combine(const Schedule& schedule, Prim prim, std::vector<Range> src, std::vector<Range> dst);
Step copy(Prim prim, Range src, std::vector<Range> dst);
Step sync(Prim prim);

}  // namespace sdmacc::algorithm
