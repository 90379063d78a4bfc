// SPDX-License-Identifier: MIT
// Implements replay.hpp: lanes, signals as queues of posts, and completion; stuck.cpp says why
// lanes wait for ever.
#include "daemon/compose/verify/replay.hpp"

#include <fmt/format.h>

#include <deque>

#include "daemon/compose/verify/stuck.hpp"

namespace sdmacc::verifying {
namespace {

// In random order one turn of so many completes a group that is in flight, even when lanes could
// run.
constexpr std::uint64_t kCompletionRarity = 8;

// Posts of one group that nobody has consumed.
struct Token {
  std::uint32_t count = 0, lane = 0, group = 0;
  std::uint32_t clock = kNoIndex;  // what the poster knew; kNoIndex without clocks
};

struct Counter {
  std::deque<Token> tokens;
  std::uint64_t value = 0;
  std::uint32_t waiter = kNoIndex;  // lane that stopped here
};

struct Issued {
  std::uint32_t lane = 0, group = 0;
  std::uint32_t clock = kNoIndex;
};

class Replay {
 public:
  Replay(const Geometry& geometry, const Tokens& tokens, const ReplayOptions& options)
      : g_(geometry),
        s_(*geometry.schedule),
        tokens_(tokens),
        o_(options),
        memory_(geometry, tokens),
        pool_(lanes()),
        next_(lanes(), 0),
        counters_(s_.signals.size()) {
    if (o_.clocks) clocks_.resize(std::size_t{lanes()} * lanes());
  }

  std::optional<Fault> run() {
    for (std::uint32_t lane = 0; lane < lanes(); ++lane)
      if (groups(lane) > 0) ready_.push_back(lane);
    while (!fault_ && (!ready_.empty() || !issued_.empty())) {
      if (ready_.empty() || (!issued_.empty() && random(kCompletionRarity) == 0))
        complete(take_issued());
      else
        run_lane(take_ready());
    }
    if (fault_) return fault_;
    if (first_) return first_;
    for (std::uint32_t lane = 0; lane < lanes(); ++lane)
      if (next_[lane] < total(lane)) return stuck();
    if (o_.clocks && !all_complete()) return fault_;
    check_results();
    return fault_;
  }

 private:
  std::uint32_t lanes() const { return static_cast<std::uint32_t>(s_.lanes.size()); }
  std::uint32_t groups(std::uint32_t lane) const {
    return g_.lane_begin[lane + 1] - g_.lane_begin[lane];
  }
  std::uint32_t total(std::uint32_t lane) const { return groups(lane) * o_.runs; }
  const Group& group_at(std::uint32_t lane, std::uint32_t number) const {
    return g_.groups[g_.lane_begin[lane] + number % groups(lane)];
  }
  const Step& step_at(std::uint32_t lane, std::uint32_t step) const {
    return s_.lanes[lane].steps[step];
  }
  ClockWord* clock(std::uint32_t lane) { return clocks_.data() + std::size_t{lane} * lanes(); }

  std::uint64_t random(std::uint64_t below) {  // xorshift64*
    random_ ^= random_ >> 12;
    random_ ^= random_ << 25;
    random_ ^= random_ >> 27;
    return ((random_ * 0x2545f4914f6cdd1dull) >> 32) % below;
  }

  std::uint32_t take_ready() {
    std::size_t at = o_.order == Order::Reverse ? ready_.size() - 1 : 0;
    if (o_.order == Order::Random) {
      at = random(ready_.size());
      std::swap(ready_[at], ready_.back());
      at = ready_.size() - 1;
    }
    const std::uint32_t lane = ready_[at];
    if (at == 0)
      ready_.pop_front();
    else
      ready_.pop_back();
    return lane;
  }
  Issued take_issued() {
    std::swap(issued_[random(issued_.size())], issued_.back());
    const Issued issued = issued_.back();
    issued_.pop_back();
    return issued;
  }

  void run_lane(std::uint32_t lane) {
    while (!fault_ && next_[lane] < total(lane)) {
      const Group& group = group_at(lane, next_[lane]);
      for (const Wait& wait : step_at(lane, group.first).waits)
        if (counters_[wait.signal].value < wait.count) {
          counters_[wait.signal].waiter = lane;
          return;
        }
      issue(lane, group, next_[lane]++);
      if (o_.order == Order::Random && next_[lane] < total(lane)) {
        ready_.push_back(lane);
        return;
      }
    }
  }

  void issue(std::uint32_t lane, const Group& group, std::uint32_t number) {
    for (const Wait& wait : step_at(lane, group.first).waits) consume(lane, wait);
    Issued issued{lane, number, kNoIndex};
    const bool data = group.data_begin != group.data_end;
    if (o_.clocks) {
      for (std::uint32_t i = group.data_begin; i < group.data_end; ++i) {
        const Access access{lane, number, g_.steps[i].index};
        std::string text = memory_.touch(g_.steps[i], access, clock(lane));
        if (!text.empty()) return fail_at(FaultKind::Race, lane, access.step, std::move(text));
      }
      if (!data) clock(lane)[lane].add(number);
      if (!step_at(lane, group.last).posts.empty()) {
        issued.clock = pool_.take(clock(lane));
        pool_.at(issued.clock)[lane].add(number);
      }
    }
    if (o_.order == Order::Random)
      issued_.push_back(issued);
    else
      complete(issued);
  }

  void complete(const Issued& issued) {
    const Group& group = group_at(issued.lane, issued.group);
    for (std::uint32_t i = group.data_begin; i < group.data_end; ++i)
      memory_.move(g_.steps[i], issued.lane, first_);
    const std::vector<Post>& posts = step_at(issued.lane, group.last).posts;
    if (issued.clock != kNoIndex)
      pool_.share(issued.clock, static_cast<std::uint32_t>(posts.size()));
    for (const Post& post : posts) {
      Counter& counter = counters_[post.signal];
      counter.tokens.push_back({post.count, issued.lane, issued.group, issued.clock});
      counter.value += post.count;
      if (counter.waiter == kNoIndex) continue;
      ready_.push_back(counter.waiter);
      counter.waiter = kNoIndex;
    }
  }

  // Oldest posts first. What their posters knew, the lane knows now.
  void consume(std::uint32_t lane, const Wait& wait) {
    Counter& counter = counters_[wait.signal];
    counter.value -= wait.count;
    for (std::uint32_t left = wait.count; left > 0;) {
      Token& token = counter.tokens.front();
      if (o_.clocks) learn(lane, token);
      const std::uint32_t taken = std::min(left, token.count);
      left -= taken;
      token.count -= taken;
      if (token.count > 0) return;
      if (token.clock != kNoIndex) pool_.release(token.clock);
      counter.tokens.pop_front();
    }
  }
  void learn(std::uint32_t lane, const Token& token) {
    ClockWord* mine = clock(lane);
    if (token.lane == lane) {
      mine[lane].add(token.group);
    } else if (!mine[token.lane].knows(token.group)) {
      const ClockWord* theirs = pool_.at(token.clock);
      for (std::uint32_t i = 0; i < lanes(); ++i) mine[i].join(theirs[i]);
    }
  }

  void fail_at(FaultKind kind, std::uint32_t lane, std::uint32_t step, std::string text) {
    fault_ = Fault{kind, s_.lanes[lane].rank, s_.lanes[lane].channel, step, std::move(text)};
  }

  Fault stuck() const {
    std::vector<std::uint64_t> values;
    for (const Counter& counter : counters_) values.push_back(counter.value);
    return explain_stuck(g_, next_, values, o_.runs);
  }

  // Whoever is told that all lanes ended may change or read the tensors, so no group may be in
  // flight then.
  bool all_complete() {
    std::vector<ClockWord> known(lanes());
    for (std::uint32_t lane = 0; lane < lanes(); ++lane)
      for (std::uint32_t i = 0; i < lanes(); ++i) known[i].join(clock(lane)[i]);
    for (std::uint32_t lane = 0; lane < lanes(); ++lane) {
      if (known[lane].prefix() >= total(lane)) continue;
      const std::uint32_t step = group_at(lane, known[lane].prefix()).first;
      fail_at(FaultKind::Race, lane, step,
              step_text(s_, lane, step) +
                  " may be in flight when all lanes have ended: nothing waits for its completion");
      return false;
    }
    return true;
  }

  void check_results() {
    const std::uint64_t expected = tokens_.expected(g_.in_place, o_.runs);
    for (Rank r = 0; r < s_.ranks; ++r) {
      const auto [begin, end] = g_.cells_of(r, Space::Out);
      for (std::uint32_t cell = begin; cell < end; ++cell) {
        const Value& value = memory_.value(cell);
        if (value.written && value.shift == 0 && value.sum == expected) continue;
        fault_ = Fault{FaultKind::WrongResult, r, 0, kNoIndex, wrong(cell, value)};
        return;
      }
    }
  }
  std::string wrong(std::uint32_t cell, const Value& value) const {
    const std::string where = g_.cell_text(cell);
    if (!value.written) return where + " is never written";
    if (value.shift != 0)
      return fmt::format("{} holds the result of the elements from {}", where,
                         g_.start[cell] + value.shift);
    std::string why = o_.runs == 1 ? memory_.explain(value) : "";
    if (why.empty()) why = "not each rank's input exactly once";
    return fmt::format("{} holds a sum {}{}", where, why,
                       o_.runs > 1 ? fmt::format(" after {} runs", o_.runs) : "");
  }

  const Geometry& g_;
  const Schedule& s_;
  const Tokens& tokens_;
  const ReplayOptions o_;
  Memory memory_;
  ClockPool pool_;
  std::vector<std::uint32_t> next_;  // group that each lane issues next
  std::vector<Counter> counters_;
  std::vector<ClockWord> clocks_;
  std::deque<std::uint32_t> ready_;
  std::vector<Issued> issued_;
  std::uint64_t random_ = 0x5dacc;  // a fixed seed: the same fault again at each call
  std::optional<Fault> fault_;      // ends the replay
  std::optional<Fault> first_;      // of data: reported unless a race comes to light later
};

}  // namespace

std::optional<Fault> replay(const Geometry& geometry, const Tokens& tokens,
                            const ReplayOptions& options) {
  return Replay(geometry, tokens, options).run();
}

}  // namespace sdmacc::verifying
