// SPDX-License-Identifier: MIT
// Implements tape.hpp: events, their signals by letter, and the chained Reduce.
#include "daemon/compose/algorithm/tape.hpp"

#include <algorithm>

namespace sdmacc::algorithm {

Tape::Tape(Schedule& schedule, std::string_view letters) : s_(schedule), letters_(letters) {
  for (Rank r = 0; r < s_.ranks; ++r) {
    for (const char letter : letters_)
      s_.signals.push_back({r, SignalRole::Event, 0, std::string(1, letter)});
    s_.lanes.push_back({r, 0, {}});
  }
}

std::uint32_t Tape::signal(Rank rank, char letter) const {
  const std::size_t at = letters_.find(letter);
  SDMACC_ASSERT(at != std::string::npos);
  return rank * static_cast<std::uint32_t>(letters_.size()) + static_cast<std::uint32_t>(at);
}

Step& Tape::event(Rank rank, Step step, char letter, std::uint32_t arrivals) {
  if (arrivals > 0) step.waits = {{signal(rank, letter), arrivals}};
  step.slice = slice;
  return s_.lanes[rank].steps.emplace_back(std::move(step));
}

void Tape::post(Step& step, Rank to, char letter) const {
  step.posts.push_back({signal(to, letter), 1});
}

void Tape::post_others(Step& step, Rank rank, char letter) const {
  for (Rank r = 0; r < s_.ranks; ++r)
    if (r != rank) post(step, r, letter);
}

Step& Tape::reduce(Rank rank, Prim prim, std::vector<Range> src, std::vector<Range> dst,
                   std::uint32_t max_sources, std::uint32_t partial, char done, char letter,
                   std::uint32_t arrivals) {
  std::size_t taken = std::min<std::size_t>(src.size(), max_sources);
  std::vector<Range> part(src.begin(), src.begin() + static_cast<std::ptrdiff_t>(taken));
  while (taken < src.size()) {
    const Range sum = tmp(rank, partial, src[0].count);
    s_.tmp_elements[partial] = std::max(s_.tmp_elements[partial], sum.count);
    Step& step = event(rank, combine(s_, prim, std::move(part), {sum}), letter, arrivals);
    post(step, rank, done);
    letter = done;
    arrivals = 1;
    const std::size_t more = std::min<std::size_t>(src.size() - taken, max_sources - 1);
    part = {sum};
    for (std::size_t i = 0; i < more; ++i) part.push_back(src[taken++]);
  }
  return event(rank, combine(s_, prim, std::move(part), std::move(dst)), letter, arrivals);
}

bool ascending(const Shape&) {
  return true;
}

}  // namespace sdmacc::algorithm
