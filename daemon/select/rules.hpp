// SPDX-License-Identifier: MIT
// Rules: the preferences of selection as data, read from a text file. What an algorithm cannot do
// at all is not here but in its registry row.
//
//   sdmacc-rules 1
//   precedence ID ID …                               who wins among several that are preferred,
//   first first prefer COLLECTIVE ID [ranks A..B] [bytes A..B]   ID is preferred in this band;
//   without a line it never is tune COLLECTIVE ID [ranks A..B] [bytes A..B] [channels N] [slice
//   BYTES] [window BYTES]
//                                                    the last line that fits sets channels, slice
//                                                    and window
//
// `A..B` includes A and excludes nothing: both ends are in the band; either may be left out; `A`
// alone is A..A. Bytes are of one rank's tensor and take KiB, MiB, GiB. `#` starts a comment.
// Errors name file and line.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/world/types.hpp"

namespace sdmacc {

struct Band {
  std::uint64_t low = 0, high = ~std::uint64_t{0};
  bool contains(std::uint64_t v) const { return v >= low && v <= high; }
};

struct Rule {
  Collective collective = Collective::AllReduce;
  std::string algorithm;  // registry id; kangaring as kangaring-1, kangaring-3
  Band ranks, bytes;
  std::optional<std::uint32_t> channels;
  std::optional<std::uint64_t> slice, window;
  std::uint32_t line = 0;
};

struct Rules {
  std::string file;
  std::vector<std::string> precedence;
  std::vector<Rule> prefer, tune;

  std::size_t place(const std::string& algorithm) const;  // in precedence; its size when absent
  std::string where(const Rule& rule) const;              // "host.rules:12"
};

Result<Rules> parse_rules(const std::string& file, std::string_view text);
// The two that are built in: "host" (measured on hosts) and "neuron" (published).
Result<Rules> builtin_rules(const std::string& policy);

}  // namespace sdmacc
