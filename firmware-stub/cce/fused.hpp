// SPDX-License-Identifier: MIT
// Fused multiply-add in FP32 for targets without the instruction: x * y + a with one rounding.
// The product is exact in double. The sum is rounded to odd, so that rounding it again to float
// can't meet a tie that the exact sum doesn't have. Entry point: fused_multiply_add().
// Compile with -ffp-contract=off: the error term below must not be contracted away.
#pragma once

#include <bit>
#include <cstdint>

namespace sdmacc::cce {

inline float fused_multiply_add(float x, float y, float a) {
  const double product = static_cast<double>(x) * static_cast<double>(y);
  const double addend = static_cast<double>(a);
  const double sum = product + addend;
  // Two-sum: what the addition rounded away. NaN when the sum is infinite or NaN.
  const double rest = sum - product;
  const double error = (product - (sum - rest)) + (addend - rest);
  auto bits = std::bit_cast<uint64_t>(sum);
  const bool inexact = error < 0.0 || error > 0.0;
  if (inexact && (bits & 1) == 0) {
    // The exact value lies beside an even sum; step to the odd neighbour on that side.
    const bool grow = (error > 0.0) == (sum > 0.0);
    bits = grow ? bits + 1 : bits - 1;
  }
  return static_cast<float>(std::bit_cast<double>(bits));
}

}  // namespace sdmacc::cce
