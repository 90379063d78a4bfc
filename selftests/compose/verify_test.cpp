// SPDX-License-Identifier: MIT
// Every algorithm verifies at every rank count it takes, for small, odd and large counts, channels,
// slices, in and out of place. The combinations are a fixed sample; SDMACC_TEST_FULL=1 runs all of
// them.
#include <cstdlib>

#include "daemon/compose/verify.hpp"
#include "selftests/compose/shapes.hpp"

namespace sdmacc::test {
namespace {

constexpr std::uint64_t kLarge[] = {255, 256, 257, 4095, 65537};

// Which of the combinations a sample has: a fixed hash of it.
bool sampled(std::uint32_t ranks, std::uint64_t count, std::uint32_t channels,
             std::uint32_t slices) {
  static const bool full = std::getenv("SDMACC_TEST_FULL") != nullptr;
  if (full) return true;
  const std::uint64_t hash =
      (((ranks * 131 + count) * 131 + channels) * 131 + slices) * 0x9e3779b97f4a7c15ull >> 32;
  const std::uint32_t rarity = ranks < 9 ? 32 : ranks < 18 ? 120 : 400;
  return hash % rarity == 0;
}

class ComposeVerify : public ::testing::TestWithParam<std::pair<const char*, std::uint32_t>> {
 protected:
  std::uint64_t verified_ = 0, refused_ = 0;

  void check(const AlgorithmInfo& info, std::uint32_t ranks, std::uint64_t count,
             std::uint32_t channels, std::uint32_t slices) {
    const std::uint64_t each =
        std::max<std::uint64_t>(1, (count + channels * slices - 1) / (channels * slices));
    const ReduceOp op = (ranks + count + channels) % 3 == 0   ? ReduceOp::Fma
                        : (ranks + count + channels) % 3 == 1 ? ReduceOp::Max
                                                              : ReduceOp::Add;
    const Shape s = shape(ranks, count, channels, each, GetParam().second, op);
    if (info.refuses(s)) {
      ++refused_;
      return;
    }
    const Schedule schedule = built(info, s);
    for (const bool in_place : {false, true}) {
      const auto result = verify(schedule, {in_place, 2});
      ASSERT_TRUE(result) << ranks << " ranks, " << count << " elements, " << channels
                          << " channels, " << slices << " slices: " << result.error().text();
    }
    ++verified_;
  }
};

TEST_P(ComposeVerify, EveryScheduleIsClean) {
  const AlgorithmInfo& info = algorithm_by_id(GetParam().first);
  for (std::uint32_t ranks = 1; ranks <= 32; ranks += ranks == 17 ? 7 : ranks == 24 ? 8 : 1)
    for (std::uint32_t channels = 1; channels <= 4; ++channels)
      for (const std::uint32_t slices : {1, 2, 3, 5}) {
        for (std::uint64_t count = 0; count <= 70 && !HasFatalFailure(); ++count)
          if (sampled(ranks, count, channels, slices)) check(info, ranks, count, channels, slices);
        for (const std::uint64_t count : kLarge)
          if (sampled(ranks, count, channels, slices) && !HasFatalFailure())
            check(info, ranks, count, channels, slices);
      }
  EXPECT_GT(verified_, 10u);
  RecordProperty("verified", static_cast<int>(verified_));
  RecordProperty("refused", static_cast<int>(refused_));
}

// What sampling could leave out: each rank count that an algorithm takes, and the counts around it.
TEST_P(ComposeVerify, EveryRankCountThatItTakes) {
  const AlgorithmInfo& info = algorithm_by_id(GetParam().first);
  for (std::uint32_t ranks = 1; ranks <= 33 && !HasFatalFailure(); ++ranks)
    for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{ranks} - 1,
                                      std::uint64_t{ranks} + 1, std::uint64_t{64} * ranks + 3})
      check(info, ranks, count, 1, count > 64 ? 2 : 1);
  const std::uint32_t unit = 1 + GetParam().second;
  const std::uint64_t taken = info.id == "mesh-t0" ? 1 : 33 / unit;
  EXPECT_EQ(verified_, 5 * taken);
  EXPECT_EQ(refused_, 5 * (33 - taken));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, ComposeVerify,
                         ::testing::Values(std::pair{"ring", 0u}, std::pair{"kangaring", 1u},
                                           std::pair{"kangaring", 3u}, std::pair{"mesh-t0", 0u},
                                           std::pair{"mesh-t2", 0u},
                                           std::pair{"single-step-mesh", 0u}),
                         [](const auto& param) {
                           std::string name = param.param.first;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name + "_s" + std::to_string(param.param.second);
                         });

// More sources than a step takes: chains of partials, up to three long, and a narrow device.
TEST(ComposeVerifyChains, LongSumsVerify) {
  for (const char* id : {"mesh-t2", "single-step-mesh"})
    for (const std::uint32_t ranks : {33u, 63u, 64u, 65u, 70u})
      for (const ReduceOp op : {ReduceOp::Add, ReduceOp::Fma}) {
        const Schedule s = built(algorithm_by_id(id), shape(ranks, 300, 1, 150, 0, op));
        for (const bool in_place : {false, true}) {
          const auto result = verify(s, {in_place, 2});
          ASSERT_TRUE(result) << id << " " << ranks << ": " << result.error().text();
        }
        for (const Lane& lane : s.lanes)
          for (const Step& step : lane.steps) ASSERT_LE(step.src.size(), 32u);
      }
  Shape narrow = shape(9, 100);
  narrow.max_sources = 2;
  EXPECT_TRUE(verify(built(algorithm_by_id("mesh-t2"), narrow)));
}

// Above 256 lanes the orders of replay stand in for the clocks.
TEST(ComposeVerifyChains, ManyLanesVerify) {
  EXPECT_TRUE(verify(built(algorithm_by_id("ring"), shape(129, 5000, 2))));
  EXPECT_TRUE(verify(built(algorithm_by_id("mesh-t2"), shape(258, 1000)), {true, 2}));
}

}  // namespace
}  // namespace sdmacc::test
