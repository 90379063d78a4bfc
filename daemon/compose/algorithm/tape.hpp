// SPDX-License-Identifier: MIT
// tape: how the mesh algorithms are written down. A tape is one slice's events of one rank; every
// slice repeats the same events with the same signals, so one configuration serves all.
#pragma once

#include "daemon/compose/algorithm/builder.hpp"

namespace sdmacc::algorithm {

// Adds one signal per rank for each letter of `letters`, and one lane per rank.
class Tape {
 public:
  Tape(Schedule& schedule, std::string_view letters);

  // Appends an event: the wait for `arrivals` of the rank's own `letter` (none when 0), then the
  // step.
  Step& event(Rank rank, Step step, char letter = 0, std::uint32_t arrivals = 0);
  void post(Step& step, Rank to, char letter) const;
  void post_others(Step& step, Rank rank, char letter) const;

  // Reduces `src` into `dst`, in one event or, above `max_sources`, in a chain of events whose
  // partial is TMP `partial`. The first waits as given, each later one for the one before it by
  // `done`; the last is returned.
  Step& reduce(Rank rank, Prim prim, std::vector<Range> src, std::vector<Range> dst,
               std::uint32_t max_sources, std::uint32_t partial, char done, char letter = 0,
               std::uint32_t arrivals = 0);

 private:
  std::uint32_t signal(Rank rank, char letter) const;

  Schedule& s_;
  std::string letters_;

 public:
  std::uint32_t slice = 0;  // given to each step that is appended
};

// Every element's one Reduce, or chain, runs in ascending rank.
bool ascending(const Shape& shape);

}  // namespace sdmacc::algorithm
