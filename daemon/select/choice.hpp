// SPDX-License-Identifier: MIT
// Choice: which algorithm runs an Operation, in how many channels and slices, and why. Made by
// select; knows nothing of steps.
#pragma once

#include <string>
#include <vector>

#include "daemon/world/types.hpp"

namespace sdmacc {

// The five per-leg slots in the order of the runtime's log line (S3 §3). Invalid = leg not used
// (flat operation).
struct Legs {
  Alg intra_allg = Alg::Invalid, intra_redsct = Alg::Invalid, inter_allr = Alg::Invalid,
      inter_allg = Alg::Invalid, inter_redsct = Alg::Invalid;
};

// One rule's verdict on one candidate. A `requires` rule is structure: a force does not lift it.
struct Verdict {
  std::string rule;  // its name, e.g. "kangaring.multiple-of-unit"
  bool required = true;
  bool passed = false;
  std::string reason;  // with the numbers: "7 ranks are not a multiple of 2"
  std::string
      where;  // "host.rules:12" for preferences that come from a rule file, "" for structure
};

struct Candidate {
  Alg alg = Alg::Invalid;
  MeshType mesh = MeshType::Invalid;
  std::uint8_t sub_type = 0;      // mesh t-number
  std::uint32_t secondaries = 0;  // kangaring: 1 or 3
  bool possible = false;          // every requirement holds
  bool preferred = false;         // every preference holds too
  std::vector<Verdict> verdicts;
};

struct Choice {
  Alg alg = Alg::Invalid;
  MeshType mesh = MeshType::Invalid;
  std::uint8_t sub_type = 0;
  std::uint32_t secondaries = 0;
  std::uint32_t channels = 1;
  std::uint64_t slice_elements =
      0;  // elements of the tensor that one slice of one channel covers; 0 only when count is 0
  std::uint64_t window_elements =
      0;  // elements one run of the Program covers (≥ count when no cutting is needed)
  bool forced = false;
  Legs legs;
  std::string why;                    // one line
  std::vector<Candidate> candidates;  // in order of precedence
};

std::string algorithm_id(const Candidate&);  // as in rule files: "kangaring-3"
std::string to_string(const Choice&);

}  // namespace sdmacc
