// SPDX-License-Identifier: MIT
// RangeAllocator: first fit, alignment, joining.
#include "daemon/device/range.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace sdmacc::device {
namespace {

TEST(Range, TakesTheLowestThatFits) {
  RangeAllocator r(0x1000, 0x1000);
  EXPECT_EQ(r.take(0x100, 1), 0x1000u);
  EXPECT_EQ(r.take(0x100, 1), 0x1100u);
  EXPECT_EQ(r.take(0x100, 1), 0x1200u);
  r.give(0x1100);
  EXPECT_EQ(r.take(0x180, 1), 0x1300u);  // does not fit the hole
  EXPECT_EQ(r.take(0x80, 1), 0x1100u);
  EXPECT_EQ(r.take(0x80, 1), 0x1180u);
}

TEST(Range, AlignsAndKeepsTheGapFree) {
  RangeAllocator r(0x1010, 0x1000);
  EXPECT_EQ(r.take(0x100, 0x100), 0x1100u);
  EXPECT_EQ(r.take(0xf0, 1), 0x1010u);
  EXPECT_EQ(r.free_bytes(), 0x1000u - 0x1f0);
}

TEST(Range, JoinsOnBothSides) {
  RangeAllocator r(0, 300);
  for (std::uint64_t at : {0u, 100u, 200u}) EXPECT_EQ(r.take(100, 1), at);
  EXPECT_FALSE(r.take(1, 1));
  r.give(0);
  r.give(200);
  EXPECT_FALSE(r.take(300, 1));
  r.give(100);
  EXPECT_EQ(r.take(300, 1), 0u);
}

TEST(Range, AtTheEndOfTheAddressSpace) {
  RangeAllocator r(~0ull - 0xfff, 0x1000);
  EXPECT_FALSE(r.take(0x1001, 1));
  EXPECT_FALSE(r.take(1, 0x8000000000000000));
  EXPECT_EQ(r.take(0x1000, 0x1000), ~0ull - 0xfff);
}

TEST(Range, RandomTakesNeverOverlapAndAllComesBack) {
  RangeAllocator r(1 << 20, 1 << 16);
  std::mt19937 random(7);
  std::map<std::uint64_t, std::uint64_t> held;
  for (int i = 0; i < 5000; ++i) {
    if (random() % 2 == 0 || held.empty()) {
      const std::uint64_t size = 1 + random() % 5000;
      const auto at = r.take(size, 1ull << random() % 9);
      if (!at) continue;
      const auto next = held.lower_bound(*at);
      ASSERT_TRUE(next == held.end() || *at + size <= next->first);
      ASSERT_TRUE(next == held.begin() || std::prev(next)->first + std::prev(next)->second <= *at);
      held[*at] = size;
    } else {
      const auto victim =
          std::next(held.begin(), static_cast<std::ptrdiff_t>(random() % held.size()));
      r.give(victim->first);
      held.erase(victim);
    }
  }
  for (const auto& [at, size] : held) r.give(at);
  EXPECT_EQ(r.free_bytes(), 1u << 16);
  EXPECT_EQ(r.take(1 << 16, 1), 1u << 20);
}

}  // namespace
}  // namespace sdmacc::device
