// SPDX-License-Identifier: MIT
// stuck: says why lanes wait for ever: the post that no step has left, or the cycle of steps that
// wait for each other.
#pragma once

#include "daemon/compose/verify/geometry.hpp"

namespace sdmacc::verifying {

// `next` is the group that each lane would issue next, counted over the runs; `values` are the
// signals' values.
Fault explain_stuck(const Geometry& geometry, const std::vector<std::uint32_t>& next,
                    const std::vector<std::uint64_t>& values, std::uint32_t runs);

}  // namespace sdmacc::verifying
