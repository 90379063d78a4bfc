// SPDX-License-Identifier: MIT
// The two shapes of control program that the firmware runs: ring channels and mesh tapes. Each
// takes a Schedule of its own structure and refuses any other with the lane and step where it
// differs.
#pragma once

#include "daemon/emit/builder.hpp"

namespace sdmacc::emitter {

Status emit_ring(Builder& builder);
Status emit_mesh(Builder& builder);

// Steps [first, last) of a lane that are issued together.
struct StepGroup {
  std::size_t first = 0, last = 0;
};
std::vector<StepGroup> groups_of(const Lane& lane);

}  // namespace sdmacc::emitter
