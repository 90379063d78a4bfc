// SPDX-License-Identifier: MIT
// World: one group as the lowering stages see it. It is the second input of match, select, compose
// and emit, and is never rebuilt inside a stage. Placement (who gets which core and TOP_SP) is
// decided when the group is complete.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/world/types.hpp"

struct sdmacc_generation;  // libuapi/abi/generation.h

namespace sdmacc {

struct Place {
  std::uint32_t device = 0;
  std::uint32_t core = 0;
  std::uint32_t topsp = 0;  // TOP_SP of that device; one rank each
  bool operator==(const Place&) const = default;
};

// What an operator may turn; everything else follows from the operation and the generation.
struct Policy {
  std::string name = "host";       // which rule file: "host" (measured) or "neuron" (published)
  std::uint32_t engines = 1;       // SDMA engines that one channel uses: host 1, neuron 16
  std::uint32_t max_channels = 1;  // channels a ring-family algorithm may use, 1 … 32
  std::uint64_t slice_bytes = 64 * 1024;  // bytes of one rank's tensor that one slice covers
  std::uint64_t window_bytes =
      16 << 20;  // an operation above this is cut into windows that rerun one Program
  std::optional<Alg> force_alg;  // forced choice: lifts preferences, never requirements
  std::optional<std::uint32_t>
      force_mesh;           // forced mesh sub-type number t0, t2 (with force_alg Mesh)
  bool order_rank = false;  // only algorithms whose every element is one Reduce in ascending rank
};

struct World {
  std::string name;              // the group's name
  std::uint32_t group_id = 0;    // id in the words of this session's members
  std::uint32_t generation = 0;  // of the group: +1 at each rebuild
  const sdmacc_generation* arch = nullptr;
  std::vector<Place> places;  // by rank
  Policy policy;

  std::uint32_t size() const { return static_cast<std::uint32_t>(places.size()); }
};

// Placement of n ranks on one device: n ≤ cores: rank r on core r, one of its TOP_SPs; n ≤ TOP_SPs:
// rank r on TOP_SP r; otherwise NoSpace with the numbers. `load[t]` = groups already on TOP_SP t;
// between equals the least loaded, then the lowest wins.
Result<std::vector<Place>> place_ranks(const sdmacc_generation& arch, std::uint32_t ranks,
                                       const std::vector<std::uint32_t>& load);

std::string to_string(const World&);

}  // namespace sdmacc
