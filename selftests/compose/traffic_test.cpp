// SPDX-License-Identifier: MIT
// Steps, reads and writes of every algorithm equal the formulas of docs/algorithms.md.
#include "daemon/compose/verify.hpp"
#include "selftests/compose/shapes.hpp"

namespace sdmacc::test {
namespace {

constexpr std::uint64_t kNoLimit = 1 << 30;

// Steps (in chunks, both halves one), reads and writes of one rank, in elements.
struct Expected {
  std::uint64_t chunk_steps, reads, writes;
};

void expect_every_rank(const Schedule& s, std::uint64_t halves, const Expected& e) {
  const std::vector<Traffic> all = traffic(s, kNoLimit);
  ASSERT_EQ(all.size(), s.ranks);
  for (Rank r = 0; r < s.ranks; ++r) {
    EXPECT_EQ(all[r].steps, e.chunk_steps * halves * s.slices * s.channels) << "r" << r;
    EXPECT_EQ(all[r].read_bytes, 4 * e.reads) << "r" << r;
    EXPECT_EQ(all[r].written_bytes, 4 * e.writes) << "r" << r;
  }
}

TEST(ComposeTraffic, Ring) {
  for (std::uint64_t n = 2; n <= 17; ++n)
    for (const std::uint32_t channels : {1u, 3u}) {
      const std::uint64_t count = n * channels * 2 * 2 * 32, c = count / n;
      const Schedule s = built(algorithm_by_id("ring"), shape(static_cast<std::uint32_t>(n), count,
                                                              channels, count / channels / 2));
      ASSERT_EQ(s.slices, 2u);
      expect_every_rank(s, 2, {2 * (n - 1), 3 * (n - 1) * c, (2 * n - 1) * c});
    }
  expect_every_rank(built(algorithm_by_id("ring"), shape(1, 64)), 2, {1, 64, 64});
}

// Whatever the count, the ranks together move each element as often as the formula says.
TEST(ComposeTraffic, RingTotalsOfAnyCount) {
  for (const std::uint64_t count : {1, 2, 13, 257, 4095})
    for (std::uint64_t n = 2; n <= 9; ++n) {
      std::uint64_t reads = 0, writes = 0;
      for (const Traffic& t : traffic(built(algorithm_by_id("ring"),
                                            shape(static_cast<std::uint32_t>(n), count, 2, 100)))) {
        reads += t.read_bytes;
        writes += t.written_bytes;
      }
      EXPECT_EQ(reads, 4 * 3 * (n - 1) * count);
      EXPECT_EQ(writes, 4 * (2 * n - 1) * count);
    }
}

TEST(ComposeTraffic, KangaringPrimariesMoveAllAndSecondariesNothing) {
  for (const std::uint64_t s : {1, 3})
    for (std::uint64_t u = 1; u <= 6; ++u) {
      const std::uint64_t n = u * (1 + s), count = u * 2 * 64, c = count / u;
      const Schedule schedule = built(
          algorithm_by_id("kangaring"),
          shape(static_cast<std::uint32_t>(n), count, 1, count / 2, static_cast<std::uint32_t>(s)));
      const std::vector<Traffic> all = traffic(schedule, kNoLimit);
      for (Rank r = 0; r < n; ++r) {
        if (r % (1 + s) != 0) {
          EXPECT_EQ(all[r], Traffic{});
          continue;
        }
        const std::uint64_t reads = (1 + s) * c + (3 + s) * (u - 1) * c;
        const std::uint64_t writes = u == 1 ? (1 + s) * c : (2 + s) * u * c - c;
        // 2 (u - 1) sends and, for the secondaries, the copy of the last arrival.
        const std::uint64_t steps = u == 1 ? 1 : 2 * (u - 1) + 1;
        EXPECT_EQ(all[r], (Traffic{2 * 2 * steps, 4 * reads, 4 * writes}))
            << "s " << s << " u " << u;
      }
    }
}

TEST(ComposeTraffic, Meshes) {
  expect_every_rank(built(algorithm_by_id("mesh-t0"), shape(2, 256, 1, 128)), 1, {1, 256, 256});
  expect_every_rank(built(algorithm_by_id("mesh-t2"), shape(1, 64)), 1, {1, 64, 64});
  expect_every_rank(built(algorithm_by_id("single-step-mesh"), shape(1, 64)), 1, {1, 64, 64});
  for (std::uint64_t n = 2; n <= 17; ++n) {
    const std::uint64_t count = n * 2 * 32, c = count / n;
    const auto ranks = static_cast<std::uint32_t>(n);
    expect_every_rank(built(algorithm_by_id("mesh-t2"), shape(ranks, count, 1, count / 2)), 1,
                      {2, (n + 1) * c, n * c});
    expect_every_rank(built(algorithm_by_id("single-step-mesh"), shape(ranks, count, 1, count / 2)),
                      1, {2, (n + 1) * count, n * count});
    expect_every_rank(built(algorithm_by_id("single-step-mesh"),
                            shape(ranks, count, 1, count / 2, 0, ReduceOp::Fma)),
                      1, {2, (n + 1) * count, (n + 1) * count});
  }
}

TEST(ComposeTraffic, FewDestinationsCostReads) {
  const Schedule t2 = built(algorithm_by_id("mesh-t2"), shape(16, 16 * 32));
  EXPECT_EQ(traffic(t2, 8)[0].read_bytes, 4u * 32 * (16 + 2)) << "15 mates in two packets";
  EXPECT_EQ(traffic(t2, 1)[0].read_bytes, 4u * 32 * (16 + 15));
  const Schedule t0 = built(algorithm_by_id("mesh-t0"), shape(2, 64));
  EXPECT_EQ(traffic(t0, 1)[0].read_bytes, 4u * 32 * (2 + 1)) << "the reduce, then one copy";
  EXPECT_EQ(traffic(t0, 1)[0].written_bytes, 4u * 32 * 2);
}

TEST(ComposeTraffic, OneStepSumsOfEveryElementAscendInRank) {
  for (const AlgorithmInfo& info : algorithms())
    for (const std::uint32_t secondaries : {0u, 1u, 3u})
      for (std::uint32_t ranks = 1; ranks <= 8; ++ranks)
        for (const ReduceOp op : {ReduceOp::Add, ReduceOp::Fma}) {
          const Shape s = shape(ranks, 100, 2, 1000, secondaries, op);
          if ((info.alg == Alg::Kangaring) != (secondaries > 0) || info.refuses(s)) continue;
          // In order: each Reduce to an OUT takes all ranks, ascending, IN or the unscaled copy of
          // it.
          bool ascends = true;
          for (const Lane& lane : built(info, s).lanes)
            for (const Step& step : lane.steps) {
              if (step.kind == Kind::Sync || (step.kind == Kind::Copy && ranks > 1)) continue;
              ascends &= step.src.size() == ranks && step.dst[0].space == Space::Out;
              for (Rank r = 0; r < step.src.size(); ++r)
                ascends &=
                    step.src[r].space == Space::In ? step.src[r].rank == r : step.src[r].tmp == r;
            }
          EXPECT_EQ(info.order_rank(s), ascends) << info.id << " " << ranks << " " << name(op);
        }
}

}  // namespace
}  // namespace sdmacc::test
