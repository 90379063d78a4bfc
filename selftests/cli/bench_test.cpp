// SPDX-License-Identifier: MIT
// The benchmark's parts: sizes, bandwidths, rows, and the pattern whose sum must be exact.
#include "daemon/cli/bench.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "daemon/cli/command.hpp"
#include "daemon/cli/pattern.hpp"

namespace sdmacc::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::uint64_t> sizes(const char* text) {
  const auto list = parse_sizes(text);
  EXPECT_TRUE(list) << list.error().context;
  return list.value_or(std::vector<std::uint64_t>{});
}

TEST(Sizes, OneRangeOrSeveral) {
  EXPECT_THAT(sizes("0"), ElementsAre(0));
  EXPECT_THAT(sizes("17"), ElementsAre(17));
  EXPECT_THAT(sizes("1k:4KiB"), ElementsAre(1024, 2048, 4096));
  EXPECT_THAT(sizes("1k:5k"), ElementsAre(1024, 2048, 4096));
  EXPECT_THAT(sizes("1M:64M:8"), ElementsAre(1 << 20, 8 << 20, 64 << 20));
  EXPECT_THAT(sizes("8,1G"), ElementsAre(8, 1 << 30));
  EXPECT_EQ(sizes("17179869183G").back(), 17179869183ull << 30);
}

TEST(Sizes, AreRefusedWithReason) {
  for (const auto& [text, reason] :
       std::vector<std::pair<const char*, const char*>>{{"", "no size"},
                                                        {"x", "no size"},
                                                        {"4T", "no size"},
                                                        {"-1", "no size"},
                                                        {"1,", "no size"},
                                                        {"4:2", "ends before"},
                                                        {"1:8:1", "factor is 1"},
                                                        {"0:8", "never leave 0"},
                                                        {"1:2:3:4", "more than first:last:factor"},
                                                        {"17179869184G", "64 bits"}}) {
    const auto list = parse_sizes(text);
    ASSERT_FALSE(list) << text;
    EXPECT_THAT(list.error().context, HasSubstr(reason)) << text;
    EXPECT_TRUE(is_usage(list.error()));
  }
}

TEST(Rows, Bandwidths) {
  const BenchRow row{1'000'000'000, 250'000'000, 500'000, 0};
  EXPECT_DOUBLE_EQ(algorithm_bandwidth(row), 2);
  EXPECT_DOUBLE_EQ(bus_bandwidth(row, 4), 3);
  EXPECT_DOUBLE_EQ(bus_bandwidth(row, 1), 0);
  EXPECT_DOUBLE_EQ(algorithm_bandwidth(BenchRow{}), 0);
}

TEST(Rows, TableAndJson) {
  BenchSetting setting;
  setting.dtype = DType::Bf16;
  setting.op = ReduceOp::Max;
  const BenchRow row{2'000'000, 1'000'000, 1000, 3};
  EXPECT_EQ(
      bench_line(setting, row),
      "       2000000       1000000    bf16     max     1000.00     2.000     3.000       3\n");
  EXPECT_THAT(bench_head(setting), HasSubstr("redop        time     algbw     busbw  #wrong"));
  const auto json = nlohmann::json::parse(bench_json(setting, row));
  EXPECT_EQ(json["bytes"], 2'000'000);
  EXPECT_EQ(json["time_us"], 1000);
  EXPECT_EQ(json["algbw"], 2);
  EXPECT_EQ(json["busbw"], 3);
  EXPECT_EQ(json["wrong"], 3);
  setting.checked = false;
  EXPECT_THAT(bench_line(setting, row), HasSubstr("N/A"));
  EXPECT_TRUE(nlohmann::json::parse(bench_json(setting, row))["wrong"].is_null());
}

TEST(Bits, OfWholeNumbers) {
  for (const int value : {0, 1, -1, 2, 3, 100, -65535, 1 << 24}) {
    const auto number = static_cast<float>(value);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    EXPECT_EQ(exact_bits(value, DType::Fp32), bits) << value;
  }
  EXPECT_EQ(exact_bits(-3, DType::Bf16), 0xc040u);
  EXPECT_EQ(exact_bits(2048, DType::Fp16), 0x6800u);
  EXPECT_EQ(exact_bits(15, DType::Fp8e3), 0x6eu);
  EXPECT_EQ(exact_bits(-16, DType::Fp8e4), 0xd8u);
  EXPECT_EQ(exact_bits(7, DType::Fp8e5), 0x47u);
}

// A wide value of an element, by its format alone.
double value_of(std::uint32_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto exponent = static_cast<int>(bits >> fraction_bits & ((1u << exponent_bits) - 1));
  const double fraction = static_cast<double>(bits & ((1u << fraction_bits) - 1)) /
                          static_cast<double>(1u << fraction_bits);
  const double sign = (bits >> (exponent_bits + fraction_bits) & 1) != 0 ? -1 : 1;
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias)
                       : sign * std::ldexp(1 + fraction, exponent - bias);
}

struct Type {
  DType dtype;
  int exponent_bits, fraction_bits;
};
constexpr Type kTypes[] = {{DType::Fp32, 8, 23}, {DType::Bf16, 8, 7},  {DType::Fp16, 5, 10},
                           {DType::Fp8e3, 3, 4}, {DType::Fp8e4, 4, 3}, {DType::Fp8e5, 5, 2}};

std::vector<double> values_of(const std::vector<std::byte>& tensor, const Type& type) {
  const std::size_t element = element_bytes(type.dtype);
  std::vector<double> out;
  for (std::size_t at = 0; at < tensor.size(); at += element) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, tensor.data() + at, element);
    out.push_back(value_of(bits, type.exponent_bits, type.fraction_bits));
  }
  return out;
}

using Case = std::tuple<int, ReduceOp, std::uint32_t>;  // index into kTypes
class PatternTest : public testing::TestWithParam<Case> {
 protected:
  static constexpr std::size_t kCount = 70000;  // more than a period
  const Type type_ = kTypes[std::get<0>(GetParam())];
  const ReduceOp op_ = std::get<1>(GetParam());
  const std::uint32_t ranks_ = std::get<2>(GetParam());
  const Pattern pattern_{op_, type_.dtype, ranks_};

  std::vector<std::byte> input(std::uint32_t rank) const {
    std::vector<std::byte> tensor(kCount * element_bytes(type_.dtype));
    pattern_.fill(rank, tensor);
    return tensor;
  }
};

// Any order gives the same: no sum of any magnitudes leaves the whole numbers that the type holds.
TEST_P(PatternTest, SumsAreExactAndExpected) {
  std::vector<double> total(kCount), magnitude(kCount);
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const auto values = values_of(input(rank), type_);
    for (std::size_t i = 0; i < kCount; ++i) {
      const double scaled = values[i] * static_cast<double>(pattern_.scale(rank));
      EXPECT_EQ(values[i], std::floor(values[i]));
      magnitude[i] += std::fabs(scaled);
      if (op_ == ReduceOp::Max || op_ == ReduceOp::Min)
        total[i] = rank == 0              ? values[i]
                   : op_ == ReduceOp::Max ? std::max(total[i], values[i])
                                          : std::min(total[i], values[i]);
      else
        total[i] += scaled;
    }
  }
  std::vector<std::byte> result(kCount * element_bytes(type_.dtype));
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_LE(magnitude[i], std::ldexp(1, type_.fraction_bits + 1));
    const std::uint32_t bits = exact_bits(static_cast<int>(total[i]), type_.dtype);
    std::memcpy(result.data() + i * element_bytes(type_.dtype), &bits, element_bytes(type_.dtype));
  }
  EXPECT_EQ(pattern_.wrong(result), 0u);
  result[5] ^= std::byte{1};
  result[(kCount - 1) * element_bytes(type_.dtype)] ^= std::byte{1};
  EXPECT_EQ(pattern_.wrong(result), 2u);
}

TEST_P(PatternTest, InputsDifferAndChangesAreSeen) {
  auto tensor = input(0);
  EXPECT_EQ(pattern_.changed(0, tensor), 0u);
  tensor[0] ^= std::byte{0x40};
  EXPECT_EQ(pattern_.changed(0, tensor), 1u);
  if (ranks_ > 1) {
    EXPECT_GT(pattern_.changed(1, input(0)), kCount / 8);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PatternTest,
                         testing::Combine(testing::Range(0, 6),
                                          testing::Values(ReduceOp::Add, ReduceOp::Fma,
                                                          ReduceOp::Max, ReduceOp::Min),
                                          testing::Values(1u, 2u, 7u, 16u)));

}  // namespace
}  // namespace sdmacc::cli
