// SPDX-License-Identifier: MIT
// The conformance matrix on the embedded device: every algorithm × ranks × counts × dtype × op × in
// place, and large counts with worker counts in a pairwise covering set. SDMACC_TEST_THIN=k runs
// every k-th case; SDMACC_TEST_FULL runs the large product too.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>

#include "selftests/conformance/cases.hpp"

namespace sdmacc {
namespace {

constexpr std::uint32_t kRanks[] = {1, 2, 3, 4, 5, 7, 8, 16};
constexpr std::uint64_t kCounts[] = {0, 1, 2, 3, 17, 255, 256, 257};
constexpr std::uint64_t kLarge[] = {4095, 65537, (1 << 20) + 3};
constexpr DType kDtypes[] = {DType::Fp32,  DType::Fp32r, DType::Bf16, DType::Fp16,
                             DType::Fp8e3, DType::Fp8e4, DType::Fp8e5};
constexpr ReduceOp kOps[] = {ReduceOp::Add, ReduceOp::Fma, ReduceOp::Max, ReduceOp::Min};
constexpr unsigned kWorkers[] = {0, 1, 2, 4};

unsigned thin() {
  const char* value = std::getenv("SDMACC_TEST_THIN");
  return value != nullptr && std::atoi(value) > 1 ? static_cast<unsigned>(std::atoi(value)) : 1;
}
bool full() {
  return std::getenv("SDMACC_TEST_FULL") != nullptr;
}

Device& device(unsigned workers) {
  static std::unique_ptr<Device> devices[5];
  if (!devices[workers]) {
    auto made = make_embedded_device({nullptr, 256ull << 20, workers});
    SDMACC_ASSERT(made.has_value());
    devices[workers] = std::move(*made);
  }
  return *devices[workers];
}

class Matrix : public testing::TestWithParam<std::tuple<std::size_t, std::uint32_t>> {};

std::string matrix_name(const testing::TestParamInfo<Matrix::ParamType>& info) {
  const AlgorithmCase a = algorithm_cases()[std::get<0>(info.param)];
  std::string name =
      fmt::format("{}{}_{}", a.info->id, a.secondaries > 0 ? fmt::format("_{}", a.secondaries) : "",
                  std::get<1>(info.param));
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
}

// What a rank count that the algorithm cannot take must say.
std::string expected_refusal(const AlgorithmCase& a, std::uint32_t ranks) {
  if (a.info->id == "kangaring" && ranks % (1 + a.secondaries) != 0)
    return "kangaring.multiple-of-unit";
  if (a.info->id == "mesh-t0" && ranks != 2) return "mesh-t0.two-ranks";
  return "";
}

TEST_P(Matrix, EveryCountDtypeOpAndPlace) {
  const auto [index, ranks] = GetParam();
  const AlgorithmCase a = algorithm_cases()[index];
  Case c;
  c.algorithm = a.info;
  c.secondaries = a.secondaries;
  c.ranks = ranks;
  c.count = 17;
  c.slice = 17;
  const auto refusal = a.info->refuses(shape_of(c));
  EXPECT_EQ(refusal ? refusal->rule : "", expected_refusal(a, ranks))
      << (refusal ? refusal->reason : "");
  if (refusal) return;
  std::uint64_t number = index * 131 + ranks;
  int failures = 0;
  for (const std::uint64_t count : kCounts)
    for (const DType dtype : kDtypes)
      for (const ReduceOp op : kOps)
        for (const bool in_place : {false, true}) {
          if (++number % thin() != 0) continue;
          c.count = count;
          c.dtype = dtype;
          c.op = op;
          c.in_place = in_place;
          // Slices and channels vary along, so that each count meets one and several of both.
          c.slice = std::max<std::uint64_t>(1, number % 3 == 0   ? count
                                               : number % 3 == 1 ? count / 3 + 1
                                                                 : 64);
          c.channels = a.info->alg == Alg::Ring || a.info->alg == Alg::Kangaring
                           ? 1 + static_cast<std::uint32_t>(number % 3)
                           : 1;
          c.engines = number % 5 == 0 ? 4 : 1;
          const std::string error = run_case(device(number % 2 == 0 ? 1 : 2), c, number);
          EXPECT_EQ(error, "") << to_string(c);
          if (!error.empty() && ++failures == 5) return;
        }
}

INSTANTIATE_TEST_SUITE_P(Conformance, Matrix,
                         testing::Combine(testing::Range<std::size_t>(0, algorithm_cases().size()),
                                          testing::ValuesIn(kRanks)),
                         matrix_name);

struct Pick {
  std::size_t algorithm, ranks, count, dtype, op, in_place, workers;
  std::vector<std::size_t> values() const {
    return {algorithm, ranks, count, dtype, op, in_place, workers};
  }
};

bool possible(const Pick& p) {
  return expected_refusal(algorithm_cases()[p.algorithm], kRanks[p.ranks]).empty();
}

// Covers every possible pair of values of two factors, greedily, from a fixed seed.
std::vector<Pick> covering_set() {
  const std::size_t sizes[] = {algorithm_cases().size(), std::size(kRanks), std::size(kLarge),
                               std::size(kDtypes),       std::size(kOps),   2,
                               std::size(kWorkers)};
  std::mt19937_64 rng(20240917);
  auto any = [&] {
    Pick p{};
    do
      p = {rng() % sizes[0], rng() % sizes[1], rng() % sizes[2], rng() % sizes[3],
           rng() % sizes[4], rng() % sizes[5], rng() % sizes[6]};
    while (!possible(p));
    return p;
  };
  std::set<std::array<std::size_t, 4>> covered;
  auto pairs = [&](const Pick& p) {
    std::vector<std::array<std::size_t, 4>> out;
    const auto v = p.values();
    for (std::size_t i = 0; i < v.size(); ++i)
      for (std::size_t k = i + 1; k < v.size(); ++k)
        if (std::array<std::size_t, 4> key{i, k, v[i], v[k]}; !covered.contains(key))
          out.push_back(key);
    return out;
  };
  std::vector<Pick> picks;
  for (int dry = 0; dry < 20;) {
    Pick best = any();
    for (int i = 0; i < 60; ++i)
      if (const Pick p = any(); pairs(p).size() > pairs(best).size()) best = p;
    const auto fresh = pairs(best);
    dry = fresh.empty() ? dry + 1 : 0;
    covered.insert(fresh.begin(), fresh.end());
    if (!fresh.empty()) picks.push_back(best);
  }
  return picks;
}

Case large_case(const Pick& p) {
  const AlgorithmCase a = algorithm_cases()[p.algorithm];
  Case c;
  c.algorithm = a.info;
  c.secondaries = a.secondaries;
  c.ranks = kRanks[p.ranks];
  c.count = kLarge[p.count];
  c.dtype = kDtypes[p.dtype];
  c.op = kOps[p.op];
  c.in_place = p.in_place != 0;
  c.slice = 16384;
  c.channels = a.info->alg == Alg::Ring || a.info->alg == Alg::Kangaring ? 2 : 1;
  return c;
}

TEST(Conformance, LargeCountsInACoveringSet) {
  std::uint64_t number = 0;
  for (const Pick& p : covering_set()) {
    if (++number % thin() != 0) continue;
    const Case c = large_case(p);
    EXPECT_EQ(run_case(device(kWorkers[p.workers]), c, number, 1), "") << to_string(c);
  }
}

TEST(Conformance, LargeProduct) {
  if (!full()) return;  // an hour of work; ./dev test --full
  std::uint64_t number = 0;
  for (std::size_t a = 0; a < algorithm_cases().size(); ++a)
    for (std::size_t n = 0; n < std::size(kRanks); ++n)
      for (std::size_t k = 0; k < std::size(kLarge); ++k)
        for (std::size_t t = 0; t < std::size(kDtypes); ++t)
          for (std::size_t o = 0; o < std::size(kOps); ++o) {
            const Pick p{a, n, k, t, o, number % 2, number % std::size(kWorkers)};
            ++number;
            if (!possible(p)) continue;
            const Case c = large_case(p);
            EXPECT_EQ(run_case(device(kWorkers[p.workers]), c, number, 1), "") << to_string(c);
          }
}

// The same bits whatever the number of workers: the order of summation is the Schedule's.
TEST(Conformance, SameBitsForAnyWorkerCount) {
  for (const AlgorithmCase& a : algorithm_cases()) {
    Case c;
    c.algorithm = a.info;
    c.secondaries = a.secondaries;
    c.ranks = a.info->id == "mesh-t0" ? 2 : 8;
    c.count = 10007;
    c.slice = 1024;
    c.dtype = DType::Bf16;
    c.channels = a.info->alg == Alg::Ring || a.info->alg == Alg::Kangaring ? 3 : 1;
    for (const unsigned workers : kWorkers)
      EXPECT_EQ(run_case(device(workers), c, 99, 3), "") << to_string(c) << " workers " << workers;
  }
}

}  // namespace
}  // namespace sdmacc
