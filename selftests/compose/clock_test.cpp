// SPDX-License-Identifier: MIT
// ClockWord against a plain set of group numbers: it never claims more than was said, and inside
// its window nothing less.
#include "daemon/compose/verify/clock.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace sdmacc::verifying {
namespace {

constexpr std::uint32_t kWindow = 32;

void expect_same(const ClockWord& word, const std::set<std::uint32_t>& set, bool exact) {
  for (std::uint32_t group = 0; group < 120; ++group) {
    ASSERT_TRUE(!word.knows(group) || set.contains(group)) << group;
    ASSERT_TRUE(!exact || word.knows(group) || !set.contains(group)) << group;
  }
}

TEST(ClockWord, EqualsASetWhereTheWindowReaches) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    ClockWord words[2];
    std::set<std::uint32_t> sets[2];
    bool exact = true;
    for (int i = 0; i < 2; ++i) {
      std::uint32_t first = 0;  // the least number not in the set
      const std::uint32_t reach = round % 2 == 0 ? 20 : 60, ordered = random() % 50;
      for (std::uint32_t g = 0; g < ordered; ++g) words[i].add(g), sets[i].insert(g);
      first = ordered;
      for (int k = 0; k < 40; ++k) {
        const std::uint32_t group = first + random() % reach;
        exact &= group - first <= kWindow;
        words[i].add(group);
        sets[i].insert(group);
        while (sets[i].contains(first)) ++first;
      }
      expect_same(words[i], sets[i], exact);
    }
    ClockWord joined = words[0], back = words[1];
    joined.join(words[1]);
    back.join(words[0]);
    sets[0].merge(sets[1]);
    std::uint32_t first = 0;
    while (sets[0].contains(first)) ++first;
    exact &= sets[0].empty() || *sets[0].rbegin() <= first + kWindow;
    // Ahead of the shorter prefix by more than the window, the shorter word may have dropped some.
    expect_same(joined, sets[0], exact && round % 2 == 0);
    for (std::uint32_t group = 0; group < 120; ++group)
      ASSERT_EQ(joined.knows(group), back.knows(group)) << group;
  }
}

TEST(ClockWord, DropsWhatIsBeyondTheWindow) {
  ClockWord word;
  word.add(33);
  EXPECT_FALSE(word.knows(33));
  word.add(32);
  EXPECT_TRUE(word.knows(32));
  for (std::uint32_t g = 0; g < 32; ++g) word.add(g);
  EXPECT_EQ(word.prefix(), 33u);
}

TEST(ClockPool, ReusesReleasedBlocks) {
  ClockPool pool(3);
  ClockWord words[3];
  words[1].add(0);
  const std::uint32_t a = pool.take(words);
  pool.share(a, 2);
  const std::uint32_t b = pool.take(words);
  EXPECT_NE(a, b);
  pool.release(a);
  EXPECT_TRUE(pool.at(a)[1].knows(0));
  pool.release(a);
  EXPECT_EQ(pool.take(words), a);
}

}  // namespace
}  // namespace sdmacc::verifying
