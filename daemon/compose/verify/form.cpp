// SPDX-License-Identifier: MIT
// find_malformed: the checks that need no replay. After them every index is in range and every
// group has one set of waits and posts.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "daemon/compose/verify/geometry.hpp"

namespace sdmacc::verifying {
namespace {

class Form {
 public:
  Form(const Schedule& schedule, bool in_place)
      : s_(schedule), in_place_(in_place), waiter_(schedule.signals.size(), kNoIndex) {}

  std::optional<Fault> find() {
    if (!schedule()) return fault_;
    for (lane_ = 0; lane_ < s_.lanes.size(); ++lane_) {
      if (!lane(s_.lanes[lane_])) return fault_;
      const std::vector<Step>& steps = s_.lanes[lane_].steps;
      for (step_ = 0; step_ < steps.size(); ++step_) {
        const bool continued = step_ + 1 < steps.size() && steps[step_ + 1].joined;
        if (!signals(steps[step_], continued) || !ranges(steps[step_])) return fault_;
      }
    }
    return std::nullopt;
  }

 private:
  template <typename... Args>
  bool bad(fmt::format_string<Args...> format, Args&&... args) {
    Fault fault{FaultKind::Malformed, 0, 0, kNoIndex, ""};
    if (lane_ < s_.lanes.size()) {
      fault.rank = s_.lanes[lane_].rank;
      fault.channel = s_.lanes[lane_].channel;
      if (step_ < s_.lanes[lane_].steps.size()) {
        fault.step = step_;
        fault.text = step_text(s_, lane_, step_) + ": ";
      } else {
        fault.text = fmt::format("lane r{} c{}: ", fault.rank, fault.channel);
      }
    }
    fault.text += fmt::format(format, std::forward<Args>(args)...);
    fault_ = fault;
    return false;
  }

  bool schedule() {
    lane_ = step_ = kNoIndex;
    if (s_.collective != Collective::AllReduce)
      return bad("{} has no meaning to check here, only ALL_REDUCE has", name(s_.collective));
    if (s_.ranks == 0) return bad("0 ranks");
    if (s_.in_elements != s_.count || s_.out_elements != s_.count)
      return bad("{} elements in and {} out for {}", s_.in_elements, s_.out_elements, s_.count);
    const std::size_t scales = s_.op == ReduceOp::Fma ? s_.ranks : 0;
    if (s_.scales.size() != scales)
      return bad("{} scales for {} of {} ranks", s_.scales.size(), name(s_.op), s_.ranks);
    for (std::size_t i = 0; i < s_.signals.size(); ++i)
      if (s_.signals[i].owner >= s_.ranks || s_.signals[i].channel >= s_.channels)
        return bad("signal {} ({}) is of r{} c{}, outside {} ranks and {} channels", i,
                   s_.signals[i].name, s_.signals[i].owner, s_.signals[i].channel, s_.ranks,
                   s_.channels);
    return true;
  }

  bool lane(const Lane& lane) {
    step_ = kNoIndex;
    if (lane.rank >= s_.ranks || lane.channel >= s_.channels)
      return bad("outside {} ranks and {} channels", s_.ranks, s_.channels);
    if (!seen_.insert({lane.rank, lane.channel}).second) return bad("there is another one");
    if (!lane.steps.empty() && lane.steps[0].joined) {
      step_ = 0;
      return bad("joined to nothing");
    }
    return true;
  }

  bool signals(const Step& step, bool continued) {
    if (step.joined && !step.waits.empty()) return bad("joined, but waits for a signal");
    if (continued && !step.posts.empty())
      return bad("posts, but the next step is of the same group");
    for (std::size_t i = 0; i < step.waits.size(); ++i) {
      const Wait& wait = step.waits[i];
      if (wait.signal >= s_.signals.size())
        return bad("waits for signal {} of {}", wait.signal, s_.signals.size());
      const std::string who = signal_name(s_, wait.signal);
      if (wait.count == 0) return bad("empty wait for {}", who);
      if (s_.signals[wait.signal].owner != s_.lanes[lane_].rank)
        return bad("waits for {}, which is another rank's", who);
      if (waiter_[wait.signal] != kNoIndex && waiter_[wait.signal] != lane_)
        return bad("waits for {}, and so does channel {}", who,
                   s_.lanes[waiter_[wait.signal]].channel);
      waiter_[wait.signal] = lane_;
      for (std::size_t j = 0; j < i; ++j)
        if (step.waits[j].signal == wait.signal) return bad("waits for {} twice", who);
    }
    for (const Post& post : step.posts) {
      if (post.signal >= s_.signals.size())
        return bad("posts signal {} of {}", post.signal, s_.signals.size());
      if (post.count == 0) return bad("empty post of {}", signal_name(s_, post.signal));
    }
    return true;
  }

  bool ranges(const Step& step) {
    const bool sync = step.kind == Kind::Sync;
    if (sync != step.src.empty() || sync != step.dst.empty() ||
        (step.kind == Kind::Copy && step.src.size() != 1))
      return bad("{} sources and {} destinations", step.src.size(), step.dst.size());
    for (const Range& range : step.src)
      if (!inside(range, step.src[0].count)) return false;
    for (std::size_t i = 0; i < step.dst.size(); ++i) {
      if (!inside(step.dst[i], step.src[0].count)) return false;
      for (std::size_t j = 0; j < i; ++j)
        if (overlap(step.dst[i], step.dst[j]))
          return bad("writes {} and {}", to_string(step.dst[j]), to_string(step.dst[i]));
      for (const Range& range : step.src)
        if (overlap(step.dst[i], range) && step.dst[i].first != range.first)
          return bad("reads {} and writes {}, shifted", to_string(range), to_string(step.dst[i]));
    }
    return true;
  }

  bool inside(const Range& range, std::uint64_t count) {
    if (range.rank >= s_.ranks) return bad("{} of {} ranks", to_string(range), s_.ranks);
    if (range.space == Space::Tmp && range.tmp >= s_.tmp_elements.size())
      return bad("{} of {} TMPs", to_string(range), s_.tmp_elements.size());
    const std::uint64_t size = range.space == Space::In    ? s_.in_elements
                               : range.space == Space::Out ? s_.out_elements
                                                           : s_.tmp_elements[range.tmp];
    if (range.first > size || range.count > size - range.first)
      return bad("{} is outside its {} elements", to_string(range), size);
    if (range.count != count) return bad("{} beside a range of {}", to_string(range), count);
    return true;
  }

  bool overlap(const Range& a, const Range& b) const {
    const auto place = [&](const Range& r) {
      return in_place_ && r.space == Space::In ? Space::Out : r.space;
    };
    return a.count > 0 && b.count > 0 && a.rank == b.rank && place(a) == place(b) &&
           a.tmp == b.tmp && a.first < b.first + b.count && b.first < a.first + a.count;
  }

  const Schedule& s_;
  const bool in_place_;
  std::vector<std::uint32_t> waiter_;  // lane that waits for each signal
  std::set<std::pair<Rank, std::uint32_t>> seen_;
  std::uint32_t lane_ = 0, step_ = 0;
  std::optional<Fault> fault_;
};

}  // namespace

std::optional<Fault> find_malformed(const Schedule& schedule, bool in_place) {
  return Form(schedule, in_place).find();
}

}  // namespace sdmacc::verifying
