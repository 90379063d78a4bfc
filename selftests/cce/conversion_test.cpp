// SPDX-License-Identifier: MIT
// Widening and narrowing of every 8- and 16-bit value on every target: exhaustive over codes, and
// over the values where rounding changes its mind (each value, each midpoint, one FP32 step beside
// them), which a product with 1.0 feeds to the narrowing as they are.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "selftests/cce/support.hpp"

namespace sdmacc::cce {
namespace {

constexpr Acc kSmallAccs[] = {Acc::Bf16, Acc::Fp16, Acc::Fp8e3, Acc::Fp8e4, Acc::Fp8e5};

Case all_codes(Acc acc) {
  Case c;
  c.acc = acc;
  c.codes.resize(1);
  const uint32_t end = Reference::of(acc).sign() * 2;
  for (uint32_t code = 0; code < end; ++code) c.codes[0].push_back(code);
  return c;
}

TEST(Conversion, OneSourceIsTheIdentityExceptThatNanBecomesTheQuietNan) {
  for (Acc acc : kSmallAccs) {
    const Reference& format = Reference::of(acc);
    Case c = all_codes(acc);
    std::vector<uint32_t> want = c.codes[0];
    for (uint32_t& code : want) {
      if (format.is_nan(code)) code = format.quiet_nan();
    }
    for (Op op : {Op::Add, Op::Max, Op::Min}) {
      c.op = op;
      for (const auto& target : targets()) {
        const ForcedTarget forced(target);
        ASSERT_EQ(c.run(want), "");
      }
    }
    c.op = Op::Fma;
    c.scales = {1.0f};
    EXPECT_EQ(c.run(want), "");
  }
}

// Powers of two shift every value through the subnormals to zero and through the top to infinity;
// the other factors make the product's low bits arbitrary.
TEST(Conversion, EveryCodeTimesManyScales) {
  std::vector<float> scales = {0.0f, -0.0f, 3.0f, 1.0f / 3, -0.1f, 1.9999999f, 0.50000006f};
  for (int e = -45; e <= 45; e += 3) scales.push_back(std::ldexp(1.0f, e));
  for (int e : {-149, -140, -126, 110, 127}) scales.push_back(std::ldexp(1.0f, e));
  for (Acc acc : kSmallAccs) {
    Case c = all_codes(acc);
    c.op = Op::Fma;
    for (size_t i = 0; i < scales.size(); i += thin()) {
      c.scales = {scales[i]};
      ASSERT_EQ(c.run_everywhere(), "");
    }
  }
}

// Narrowing of one FP32 value: 1.0 × value.
uint32_t narrowed(Acc acc, float value) {
  const Reference& format = Reference::of(acc);
  std::byte one[4], out[4];
  put(one, acc, 0, static_cast<uint32_t>(format.bias()) << format.fraction_bits());
  const std::byte* from[] = {one};
  std::byte* to[] = {out};
  reduce(Op::Fma, acc, from, std::span(&value, 1), to, 1);
  return get(out, acc, 0);
}

void expect_narrowed(Acc acc, float value) {
  const uint32_t got = narrowed(acc, value);
  const uint32_t want = Reference::of(acc).code(value);
  ASSERT_EQ(got, want) << name_of(acc) << " on " << active_target() << ": " << std::hexfloat
                       << value;
}

TEST(Conversion, NarrowingAtEveryValueAndMidpoint) {
  for (const auto& target : targets()) {
    const ForcedTarget forced(target);
    for (Acc acc : kSmallAccs) {
      const Reference& format = Reference::of(acc);
      const uint32_t stride = format.bits() == 16 ? static_cast<uint32_t>(thin()) : 1;
      for (uint32_t code = 0; code < format.infinity(); code += stride) {
        const double low = format.value(code);
        const double step = code == 0 ? format.value(1) : low - format.value(code - 1);
        const double high = code + 1 == format.infinity() ? low + step : format.value(code + 1);
        for (double value : {low, (low + high) / 2, high}) {
          const auto exact = static_cast<float>(value);
          for (float x : {exact, std::nextafter(exact, 0.0f), std::nextafter(exact, INFINITY)}) {
            expect_narrowed(acc, x);
            expect_narrowed(acc, -x);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(Conversion, NarrowingOfAnyFp32Bits) {
  std::mt19937 random(1);
  for (const auto& target : targets()) {
    const ForcedTarget forced(target);
    for (Acc acc : kSmallAccs) {
      for (int i = 0; i < 100'000; i += static_cast<int>(thin())) {
        expect_narrowed(acc, std::bit_cast<float>(static_cast<uint32_t>(random())));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// The tables of the reference against values written down by hand.
TEST(Conversion, ReferenceKnowsItsFormats) {
  EXPECT_EQ(Reference::of(Acc::Fp8e3).value(0x6F), 15.5);
  EXPECT_EQ(Reference::of(Acc::Fp8e3).value(0x01), 0.015625);
  EXPECT_EQ(Reference::of(Acc::Fp8e4).value(0x77), 240.0);
  EXPECT_EQ(Reference::of(Acc::Fp8e4).value(0x01), 0x1p-9);
  EXPECT_EQ(Reference::of(Acc::Fp8e5).value(0x7B), 57344.0);
  EXPECT_EQ(Reference::of(Acc::Fp8e5).value(0x01), 0x1p-16);
  EXPECT_EQ(Reference::of(Acc::Fp16).value(0x7BFF), 65504.0);
  EXPECT_EQ(Reference::of(Acc::Fp16).value(0x0001), 0x1p-24);
  EXPECT_EQ(Reference::of(Acc::Bf16).value(0x4049), 3.140625);
  EXPECT_EQ(Reference::of(Acc::Fp32r).value(0x40490FDB), 0x1.921fb6p+1);
  EXPECT_EQ(Reference::of(Acc::Fp8e4).code(248.0), 0x78u);
  EXPECT_EQ(Reference::of(Acc::Fp8e4).code(247.9), 0x77u);
  EXPECT_EQ(Reference::of(Acc::Bf16).code(0x1.fffffep-127), 0x0080u);
}

}  // namespace
}  // namespace sdmacc::cce
