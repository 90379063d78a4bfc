// SPDX-License-Identifier: MIT
// Implements stuck.hpp: each waiting lane points at the lane whose next post it needs; following
// the pointers ends at a lane that needs a post nobody has left, or goes round.
#include "daemon/compose/verify/stuck.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sdmacc::verifying {
namespace {

class Stuck {
 public:
  Stuck(const Geometry& geometry, const std::vector<std::uint32_t>& next,
        const std::vector<std::uint64_t>& values, std::uint32_t runs)
      : g_(geometry), s_(*geometry.schedule), next_(next), values_(values), runs_(runs) {}

  Fault explain() const {
    std::vector<std::uint32_t> path;
    std::uint32_t lane = first_waiting();
    while (std::find(path.begin(), path.end(), lane) == path.end()) {
      path.push_back(lane);
      const std::uint32_t poster = poster_of(missing(lane).signal, lane);
      if (poster == kNoIndex)
        return at(lane, waiting_text(lane) + ", and no step that could still run posts it");
      lane = poster;
    }
    path.erase(path.begin(), std::find(path.begin(), path.end(), lane));
    std::string text = "a cycle: ";
    for (const std::uint32_t member : path) text += waiting_text(member) + ", posted after ";
    return at(lane, text + step_text(s_, lane, step_of(lane)));
  }

 private:
  bool waiting(std::uint32_t lane) const { return next_[lane] < groups(lane) * runs_; }
  std::uint32_t groups(std::uint32_t lane) const {
    return g_.lane_begin[lane + 1] - g_.lane_begin[lane];
  }
  const Group& group_at(std::uint32_t lane, std::uint32_t number) const {
    return g_.groups[g_.lane_begin[lane] + number % groups(lane)];
  }
  std::uint32_t step_of(std::uint32_t lane) const { return group_at(lane, next_[lane]).first; }

  std::uint32_t first_waiting() const {
    std::uint32_t lane = 0;
    while (!waiting(lane)) ++lane;
    return lane;
  }
  // The first wait of the lane's next group that does not hold.
  const Wait& missing(std::uint32_t lane) const {
    const std::vector<Wait>& waits = s_.lanes[lane].steps[step_of(lane)].waits;
    return *std::find_if(waits.begin(), waits.end(),
                         [&](const Wait& wait) { return values_[wait.signal] < wait.count; });
  }
  // A waiting lane that still has a post of `signal` before it, preferring another than `self`.
  std::uint32_t poster_of(std::uint32_t signal, std::uint32_t self) const {
    std::uint32_t found = kNoIndex;
    for (std::uint32_t lane = 0; lane < s_.lanes.size(); ++lane) {
      if (!waiting(lane) || !posts_later(lane, signal)) continue;
      found = lane;
      if (lane != self) break;
    }
    return found;
  }
  bool posts_later(std::uint32_t lane, std::uint32_t signal) const {
    for (std::uint32_t number = next_[lane]; number < groups(lane) * runs_; ++number)
      for (const Post& post : s_.lanes[lane].steps[group_at(lane, number).last].posts)
        if (post.signal == signal) return true;
    return false;
  }

  std::string waiting_text(std::uint32_t lane) const {
    const Wait& wait = missing(lane);
    const std::uint32_t run = next_[lane] / groups(lane);
    return fmt::format("{}{} waits for {} (has {}, needs {})", step_text(s_, lane, step_of(lane)),
                       run > 0 ? fmt::format(" of run {}", run + 1) : "",
                       signal_name(s_, wait.signal), values_[wait.signal], wait.count);
  }
  Fault at(std::uint32_t lane, std::string text) const {
    return {FaultKind::Deadlock, s_.lanes[lane].rank, s_.lanes[lane].channel, step_of(lane),
            std::move(text)};
  }

  const Geometry& g_;
  const Schedule& s_;
  const std::vector<std::uint32_t>& next_;
  const std::vector<std::uint64_t>& values_;
  const std::uint32_t runs_;
};

}  // namespace

Fault explain_stuck(const Geometry& geometry, const std::vector<std::uint32_t>& next,
                    const std::vector<std::uint64_t>& values, std::uint32_t runs) {
  return Stuck(geometry, next, values, runs).explain();
}

}  // namespace sdmacc::verifying
