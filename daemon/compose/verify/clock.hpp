// SPDX-License-Identifier: MIT
// clock: which groups of which lanes are known to be complete. One word a lane: the count of
// leading groups that are, and a window of 32 more behind the first that is not, because groups of
// a lane need not complete in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace sdmacc::verifying {

class ClockWord {
 public:
  bool knows(std::uint32_t group) const {
    if (group < prefix_) return true;
    const std::uint32_t ahead = group - prefix_;
    return ahead >= 1 && ahead <= kWindow && ((window_ >> (ahead - 1)) & 1);
  }
  // Beyond the window the knowledge is dropped: that can only make a check stricter.
  void add(std::uint32_t group) {
    if (group < prefix_) return;
    const std::uint32_t ahead = group - prefix_;
    if (ahead == 0)
      advance();
    else if (ahead <= kWindow)
      window_ |= 1u << (ahead - 1);
  }
  void join(ClockWord other) {
    if (other.prefix_ > prefix_) std::swap(*this, other);
    const std::uint32_t behind = prefix_ - other.prefix_;
    if (behind == 0) {
      window_ |= other.window_;
    } else if (behind <= kWindow) {
      const bool mine_next = (other.window_ >> (behind - 1)) & 1;
      if (behind < kWindow) window_ |= other.window_ >> behind;
      if (mine_next) advance();
    }
  }
  std::uint32_t prefix() const { return prefix_; }

 private:
  static constexpr std::uint32_t kWindow = 32;
  void advance() {
    for (bool more = true; more;) {
      ++prefix_;
      more = window_ & 1;
      window_ >>= 1;
    }
  }
  std::uint32_t prefix_ = 0;  // groups below it are complete, this one is not
  std::uint32_t window_ = 0;  // bit i: group prefix_ + 1 + i is
};

// Clocks of one replay, in blocks of one word a lane, counted by the signal posts that carry them.
class ClockPool {
 public:
  explicit ClockPool(std::uint32_t lanes) : lanes_(lanes) {}

  std::uint32_t take(const ClockWord* from) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(users_.size()));
      users_.push_back(0);
      words_.resize(words_.size() + lanes_);
    }
    const std::uint32_t block = free_.back();
    free_.pop_back();
    std::copy_n(from, lanes_, words_.data() + std::size_t{block} * lanes_);
    return block;
  }
  ClockWord* at(std::uint32_t block) { return words_.data() + std::size_t{block} * lanes_; }
  void share(std::uint32_t block, std::uint32_t users) { users_[block] += users; }
  void release(std::uint32_t block) {
    if (--users_[block] == 0) free_.push_back(block);
  }

 private:
  std::uint32_t lanes_;
  std::vector<ClockWord> words_;
  std::vector<std::uint32_t> users_, free_;
};

}  // namespace sdmacc::verifying
