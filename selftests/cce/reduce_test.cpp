// SPDX-License-Identifier: MIT
// reduce() against the reference on every target: operation × format × number of sources × count,
// spread over offsets and destinations; all pairs of FP8 codes; pairs of special and random 16- and
// 32-bit codes; and where single rounding, NaN, zeros and the order of summation show.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "selftests/cce/support.hpp"

namespace sdmacc::cce {
namespace {

TEST(Reduce, EveryOperationFormatSourceCountAndLength) {
  std::mt19937 random(2);
  size_t number = 0;
  for (Op op : kOps) {
    for (Acc acc : kAccs) {
      for (size_t sources : {1u, 2u, 3u, 4u, 5u, 8u, 16u, 32u}) {
        for (size_t count = 0; count <= 257; ++count) {
          if (++number % thin() != 0) continue;
          Case c = random_case(op, acc, sources, count, random);
          c.dsts = number / thin() % 2 == 0 ? 1 : 3;
          ASSERT_EQ(c.run_everywhere(), "");
        }
      }
    }
  }
}

TEST(Reduce, EveryOffsetOfEveryFormat) {
  std::mt19937 random(3);
  for (Acc acc : kAccs) {
    for (size_t seed = 0; seed < 48; ++seed) {  // 16 element offsets, even and odd addresses
      for (size_t count = seed % thin(); count <= 257; count += 3 * thin()) {
        Case c = random_case(Op::Add, acc, 3, count, random);
        c.offset_seed = seed;
        ASSERT_EQ(c.run_everywhere(), "");
      }
    }
  }
}

TEST(Reduce, LongBuffersAndEightDestinations) {
  std::mt19937 random(4);
  for (Op op : kOps) {
    for (Acc acc : kAccs) {
      Case c = random_case(op, acc, 4, 70'001, random);
      c.dsts = kMaxDestinations;
      ASSERT_EQ(c.run_everywhere(), "");
    }
  }
}

// Every pair (a, b) of `codes` as two sources.
Case all_pairs(Op op, Acc acc, const std::vector<uint32_t>& codes) {
  Case c;
  c.op = op;
  c.acc = acc;
  c.codes.resize(2);
  for (uint32_t a : codes) {
    for (uint32_t b : codes) {
      c.codes[0].push_back(a);
      c.codes[1].push_back(b);
    }
  }
  return c;
}

TEST(Reduce, AllPairsOfFp8) {
  std::vector<uint32_t> codes(256);
  for (uint32_t i = 0; i < 256; ++i) codes[i] = i;
  for (Acc acc : {Acc::Fp8e3, Acc::Fp8e4, Acc::Fp8e5}) {
    for (Op op : kOps) {
      Case c = all_pairs(op, acc, codes);
      c.scales = {0.3f, -1.7f};
      ASSERT_EQ(c.run_everywhere(), "");
    }
  }
}

TEST(Reduce, PairsOfSpecialAndRandomCodes) {
  std::mt19937 random(5);
  for (Acc acc : {Acc::Bf16, Acc::Fp16, Acc::Fp32r}) {
    std::vector<uint32_t> codes = special_codes(acc);
    const uint32_t mask = Reference::of(acc).sign() * 2 - 1;
    for (size_t i = 0; i < 300 / thin(); ++i) {
      codes.push_back(static_cast<uint32_t>(random()) & mask);
    }
    for (Op op : kOps) {
      for (float scale : {1.0f, -0.0f, 0x1p-149f, 0x1.fffffep127f, INFINITY, NAN}) {
        Case c = all_pairs(op, acc, codes);
        c.scales = {1.0f, scale};
        ASSERT_EQ(c.run_everywhere(), "");
        if (op != Op::Fma) break;
      }
    }
  }
}

// A NaN of either sign and any payload in any source and any lane must come out as the quiet NaN.
TEST(Reduce, NanFromEverySourceAndPosition) {
  for (Acc acc : kAccs) {
    const Reference& format = Reference::of(acc);
    for (uint32_t nan : {format.infinity() + 1, format.sign() | (format.infinity() + 1),
                         format.sign() | format.quiet_nan()}) {
      for (Op op : kOps) {
        for (size_t at = 0; at < 67; ++at) {
          Case c;
          c.op = op;
          c.acc = acc;
          c.scales.assign(4, 1.0f);
          c.codes.assign(4, std::vector<uint32_t>(67, format.infinity() - 1));
          c.codes[at % 4][at] = nan;
          const auto want = c.expected();
          ASSERT_EQ(want[at], format.quiet_nan());
          ASSERT_EQ(c.run_everywhere(), "");
        }
      }
    }
  }
}

// FP32 addition isn't associative: big, −big and small tell a left fold from any other order.
TEST(Reduce, SumsFromLeftToRight) {
  const uint32_t big = 0x7149F2CA, small = 0x3F800000, minus = 0x80000000;  // 1e30, 1
  Case c;
  c.codes = {{big, small, big, small},
             {big | minus, big, small, big},
             {small, big | minus, big | minus, small},
             {small, small, small, big | minus}};
  const std::vector<uint32_t> want = {0x40000000, small, small, 0};
  ASSERT_EQ(c.expected(), want);
  EXPECT_EQ(c.run_everywhere(), "");
}

// Products that lie exactly between two FP32 values, and an addend far below that must decide: a
// multiply-add through double rounds these twice.
TEST(Reduce, FusedMultiplyAddRoundsOnce) {
  std::mt19937 random(6);
  for (int round = 0; round < 200; ++round) {
    Case c;
    c.op = Op::Fma;
    const auto factor = static_cast<float>((random() % 0x1000) | 0x1001);
    c.scales = {1.0f, factor};
    c.codes.resize(2);
    for (int i = 0; i < 257; ++i) {
      const auto sign = [&] { return random() % 2 == 0 ? 1.0f : -1.0f; };
      const float x = sign() * static_cast<float>((random() % 0x1000) | 0x1001);
      const float addend = sign() * std::ldexp(1.0f + static_cast<float>(random() % 2) / 4,
                                               -static_cast<int>(random() % 140));
      c.codes[0].push_back(Reference::of(Acc::Fp32r).code(addend));
      c.codes[1].push_back(Reference::of(Acc::Fp32r).code(x));
    }
    ASSERT_EQ(c.run_everywhere(), "");
  }
}

}  // namespace
}  // namespace sdmacc::cce
