// SPDX-License-Identifier: MIT
// replay: runs a Schedule once from start to end in one order of lanes and completions, and stops
// at the first fault. Entry point replay().
#pragma once

#include "daemon/compose/verify/memory.hpp"

namespace sdmacc::verifying {

enum class Order : std::uint8_t {
  Forward,  // lanes ascending, each as far as it gets; groups complete at once
  Reverse,  // the last lane that can run, runs; groups complete at once
  Random,   // any lane, one group at a time; groups complete late and in any order
};

struct ReplayOptions {
  Order order = Order::Forward;
  std::uint32_t runs = 1;  // back to back, with nothing between them but the Schedule's own signals
  bool clocks = true;      // look for conflicting accesses; costs a word a lane and group
};

std::optional<Fault> replay(const Geometry& geometry, const Tokens& tokens,
                            const ReplayOptions& options);

}  // namespace sdmacc::verifying
