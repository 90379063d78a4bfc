// SPDX-License-Identifier: MIT
// traffic: counts the data steps and bytes of a Schedule by the rank whose engines run them.
#include "daemon/compose/verify.hpp"

namespace sdmacc {

std::vector<Traffic> traffic(const Schedule& schedule, std::uint32_t max_destinations) {
  std::vector<Traffic> all(schedule.ranks);
  const std::uint64_t element = element_bytes(schedule.dtype);
  for (const Lane& lane : schedule.lanes)
    for (const Step& step : lane.steps) {
      if (step.src.empty() || step.src[0].count == 0) continue;
      Traffic& t = all[lane.rank];
      const std::uint64_t bytes = step.src[0].count * element;
      const std::uint64_t d = step.dst.size(), m = max_destinations;
      // More destinations than a packet takes: a Copy is done again, a Reduce is done once, to as
      // many as it can, and its result copied on to the rest.
      std::uint64_t reads = step.src.size();
      if (d > m) reads = step.kind == Kind::Copy ? (d + m - 1) / m : reads + (d - 1) / m;
      ++t.steps;
      t.read_bytes += reads * bytes;
      t.written_bytes += d * bytes;
    }
  return all;
}

}  // namespace sdmacc
