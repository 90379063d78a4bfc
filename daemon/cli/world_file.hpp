// SPDX-License-Identifier: MIT
// The world that `lower` lowers for: a group and the tensors behind the ids of its words, from a
// JSON file or derived from a number of ranks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/cli/target.hpp"
#include "daemon/decode/decode.hpp"

namespace sdmacc::cli {

// A group of one size at every id; tensors by id, or with none given every id, large enough for any
// word.
class WorldNames final : public Names {
 public:
  std::optional<TensorInfo> tensor(std::uint32_t id) const override;
  std::optional<std::uint32_t> group_size(std::uint32_t id) const override;

  std::uint32_t ranks = 0;
  std::optional<std::uint32_t> group;  // the only id; nothing: any
  std::optional<std::map<std::uint32_t, TensorInfo>> tensors;
};

struct LowerWorld {
  World world;
  WorldNames names;
  Rules rules;
};

// All ranks on one device that holds no other group.
Result<LowerWorld> derived_world(const TargetOptions& options, std::uint32_t ranks);

// {"version": 1, "ranks": 2, "arch": "cayman", "group": 0, "places": [{"device", "core", "topsp"},
// …],
//  "tensors": [{"id", "bytes", "memory", "offset", "writable"}, …],
//  "policy": {"name", "engines", "max_channels", "slice_bytes", "window_bytes", "order_rank"}}
// Only version and ranks must be there; what is absent is as in derived_world(). "memory" numbers
// the memory that tensors share, by default each has its own. Errors name the file and the key.
Result<LowerWorld> read_world(const TargetOptions& options, const std::string& file,
                              std::string_view text);

}  // namespace sdmacc::cli
