// SPDX-License-Identifier: MIT
// match: agreement, order, who is missing.
#include "daemon/match/match.hpp"

#include <gtest/gtest.h>

namespace sdmacc {
namespace {

Instruction instruction(std::uint64_t count, ReduceOp op = ReduceOp::Add,
                        DType dtype = DType::Fp32) {
  Instruction i;
  i.count = count;
  i.op = op;
  i.dtype = dtype;
  i.src = {1, 0, count};
  i.dst = {2, 0, count};
  return i;
}

TEST(Match, CompleteWhenTheLastRankArrives) {
  Matcher m;
  m.open(7, 3);
  for (Rank r : {2u, 0u}) {
    auto got = m.add(7, r, instruction(10), 100 + r);
    ASSERT_TRUE(got);
    EXPECT_FALSE(*got);
  }
  auto got = m.add(7, 1, instruction(10), 101);
  ASSERT_TRUE(got && *got);
  EXPECT_EQ((*got)->ranks.size(), 3u);
  for (Rank r = 0; r < 3; ++r) EXPECT_EQ((*got)->ranks[r].request, 100u + r);
  EXPECT_EQ((*got)->sequence, 0u);
  EXPECT_FALSE(m.waiting(7));
}

TEST(Match, OrderWithinTheGroup) {
  Matcher m;
  m.open(1, 2);
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(m.add(1, 0, instruction(i), i));
  for (std::uint64_t i = 0; i < 5; ++i) {
    auto got = m.add(1, 1, instruction(i), 10 + i);
    ASSERT_TRUE(got && *got);
    EXPECT_EQ((*got)->sequence, i);
    EXPECT_EQ((*got)->count, i);
    EXPECT_EQ((*got)->ranks[0].request, i);
  }
}

TEST(Match, TensorsOffsetsAndScalesMayDiffer) {
  Matcher m;
  m.open(1, 2);
  auto a = instruction(4, ReduceOp::Fma), b = a;
  a.scale = 0.5f;
  b.scale = 2.0f;
  b.src = {9, 40, 4};
  ASSERT_TRUE(m.add(1, 0, a, 1));
  auto got = m.add(1, 1, b, 2);
  ASSERT_TRUE(got && *got);
  EXPECT_EQ((*got)->ranks[0].scale, 0.5f);
  EXPECT_EQ((*got)->ranks[1].scale, 2.0f);
  EXPECT_EQ((*got)->ranks[1].src.tensor, 9u);
}

TEST(Match, DisagreementNamesEachRank) {
  Matcher m;
  m.open(1, 4);
  ASSERT_TRUE(m.add(1, 0, instruction(100), 1));
  ASSERT_TRUE(m.add(1, 3, instruction(100), 2));
  auto got = m.add(1, 1, instruction(101), 3);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().text(),
            "match: rank 1: ranks disagree on operation 0 of the group: rank 0: ALL_REDUCE ADD "
            "FP32 100 elements; rank 1: ALL_REDUCE ADD FP32 "
            "101 elements; rank 3: ALL_REDUCE ADD FP32 100 elements; not arrived: 2 (mismatch)");
}

TEST(Match, EachFieldMustAgree) {
  auto other_collective = instruction(4);
  other_collective.collective = Collective::ReduceScatter;
  for (const Instruction& other :
       {instruction(5), instruction(4, ReduceOp::Max), instruction(4, ReduceOp::Fma),
        instruction(4, ReduceOp::Add, DType::Bf16), other_collective}) {
    Matcher m;
    m.open(1, 2);
    ASSERT_TRUE(m.add(1, 0, instruction(4), 1));
    EXPECT_FALSE(m.add(1, 1, other, 2)) << to_string(other);
  }
}

TEST(Match, DisagreementBehindTheFrontIsSeenAtOnce) {
  Matcher m;
  m.open(1, 3);
  ASSERT_TRUE(m.add(1, 0, instruction(1), 1));
  ASSERT_TRUE(m.add(1, 0, instruction(2), 2));
  ASSERT_TRUE(m.add(1, 1, instruction(1), 3));
  auto got = m.add(1, 1, instruction(3), 4);  // rank 2 has not even come to the first
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().context.find("operation 1"), std::string::npos);
}

TEST(Match, CountZeroStillChecks) {
  Matcher m;
  m.open(1, 2);
  ASSERT_TRUE(m.add(1, 0, instruction(0), 1));
  EXPECT_FALSE(m.add(1, 1, instruction(1), 2));
}

TEST(Match, MissingRanks) {
  Matcher m;
  m.open(1, 6);
  for (Rank r : {1u, 4u}) ASSERT_TRUE(m.add(1, r, instruction(1), r));
  const auto waiting = m.waiting(1);
  ASSERT_TRUE(waiting);
  EXPECT_EQ(ranks_text(waiting->missing), "0, 2, 3, 5");
  EXPECT_EQ(ranks_text(waiting->arrived), "1, 4");
}

TEST(Match, RanksText) {
  EXPECT_EQ(ranks_text({}), "");
  EXPECT_EQ(ranks_text({3}), "3");
  EXPECT_EQ(ranks_text({0, 1, 2, 3, 7, 9, 10}), "0–3, 7, 9, 10");
}

TEST(Match, CloseGivesBackWhatWaits) {
  Matcher m;
  m.open(1, 2);
  ASSERT_TRUE(m.add(1, 1, instruction(1), 41));
  ASSERT_TRUE(m.add(1, 1, instruction(2), 42));
  const auto orphans = m.close(1);
  ASSERT_EQ(orphans.size(), 2u);
  EXPECT_EQ(orphans[0].request, 41u);
  EXPECT_EQ(orphans[1].rank, 1u);
  EXPECT_FALSE(m.add(1, 0, instruction(1), 43));  // gone
}

TEST(Match, SingleRank) {
  Matcher m;
  m.open(1, 1);
  auto got = m.add(1, 0, instruction(3), 5);
  ASSERT_TRUE(got && *got);
}

}  // namespace
}  // namespace sdmacc
