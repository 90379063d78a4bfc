// SPDX-License-Identifier: MIT
// match: N ranks' Instructions → one Operation. Keeps one queue per group; an Operation is complete
// when every rank's next Instruction is there. Collective, op, dtype and count must agree; offsets,
// tensors and FMA scales may differ.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "daemon/match/operation.hpp"

namespace sdmacc {

class Matcher {
 public:
  // A group starts empty; `generation` is the caller's key for it (a rebuilt group is a new one).
  void open(std::uint64_t group, std::uint32_t ranks);
  // Forgets everything queued and returns the requests, by rank, that will never be matched.
  struct Orphan {
    Rank rank;
    std::uint64_t request;
  };
  std::vector<Orphan> close(std::uint64_t group);

  // Takes rank's next Instruction. An Operation when this was the last one missing; nothing while
  // others are missing. Mismatch when it disagrees with what another rank has at the same place:
  // the text names each rank's values, and the group can only be closed.
  Result<std::optional<Operation>> add(std::uint64_t group, Rank rank, const Instruction&,
                                       std::uint64_t request);

  // The oldest incomplete place: who is there, and who is missing. Nothing when no rank waits.
  struct Waiting {
    std::uint64_t sequence = 0;
    Instruction instruction;  // of the first rank that arrived
    std::vector<Rank> arrived, missing;
  };
  std::optional<Waiting> waiting(std::uint64_t group) const;

 private:
  struct Entry {
    Instruction instruction;
    std::uint64_t request = 0;
  };
  using Place = std::vector<std::optional<Entry>>;  // by rank
  struct Group {
    std::uint32_t ranks = 0;
    std::uint64_t first = 0;  // sequence of the front place
    std::deque<Place> places;
    std::vector<std::uint64_t> next;  // by rank: sequence its next Instruction gets
  };
  std::map<std::uint64_t, Group> groups_;
};

// Ranks as text: "0, 2–5".
std::string ranks_text(const std::vector<Rank>& ranks);

}  // namespace sdmacc
