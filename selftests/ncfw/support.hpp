// SPDX-License-Identifier: MIT
// What the tests share: the generations, and the orders in which a world may do its work.
#pragma once

#include <string>
#include <vector>

#include "libuapi/abi/enums.h"
#include "selftests/ncfw/program.hpp"

namespace sdmacc::ncfw {

inline const sdmacc_generation& cayman() {
  return *sdmacc_generation_by_arch(SDMACC_ARCH_CAYMAN);
}

// Queues at once and later, waits that run through and that always suspend, first come and random.
inline std::vector<Options> orders(unsigned seeds = 1) {
  std::vector<Options> all;
  for (const bool deferred : {false, true})
    for (const bool always_park : {false, true})
      for (unsigned seed = 0; seed <= seeds; ++seed) {
        Options options;
        options.deferred = deferred;
        options.always_park = always_park;
        if (seed != 0) options.seed = seed;
        all.push_back(options);
      }
  return all;
}

// Sets up, then triggers `runs` times; the first trouble, or empty.
template <typename Shape>
std::string run_times(World& world, const Shape& shape, std::uint32_t runs) {
  shape.set_up(world);
  world.run();
  for (std::uint32_t run = 1; run <= runs; ++run) {
    world.trigger(0);
    world.run();
    if (auto text = trouble(world, run); !text.empty())
      return "run " + std::to_string(run) + ":\n" + text;
  }
  return {};
}

}  // namespace sdmacc::ncfw
