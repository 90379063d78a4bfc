// SPDX-License-Identifier: MIT
// What the CCE engine must compute, written for clarity and sharing no code with it: values are
// doubles, formats are tables of every value they can hold, rounding is a search for the nearest
// entry. Entry point: Reference::fold().
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "firmware-stub/cce/cce.hpp"

namespace sdmacc::cce {

inline constexpr Op kOps[] = {Op::Add, Op::Fma, Op::Max, Op::Min};
inline constexpr Acc kAccs[] = {Acc::Bf16,  Acc::Fp16,  Acc::Fp32r,
                                Acc::Fp8e3, Acc::Fp8e4, Acc::Fp8e5};

std::string name_of(Op op);
std::string name_of(Acc acc);

class Reference {
 public:
  // One per format, built on first use.
  static const Reference& of(Acc acc);

  int bits() const { return 1 + exponent_bits_ + fraction_bits_; }
  int fraction_bits() const { return fraction_bits_; }
  int bias() const { return (1 << (exponent_bits_ - 1)) - 1; }
  uint32_t infinity() const { return ((1u << exponent_bits_) - 1) << fraction_bits_; }
  uint32_t sign() const { return 1u << (bits() - 1); }
  uint32_t quiet_nan() const { return infinity() | 1u << (fraction_bits_ - 1); }
  bool is_nan(uint32_t code) const { return (code & (sign() - 1)) > infinity(); }

  // The value of a code, exactly; NaN for any NaN.
  double value(uint32_t code) const;
  // The code nearest to a value that FP32 can hold, ties to the even code; NaN gives quiet_nan().
  uint32_t code(double value) const;
  // The code that reduce() must write for one element.
  uint32_t fold(Op op, std::span<const uint32_t> codes, std::span<const float> scales) const;

 private:
  Reference(int exponent_bits, int fraction_bits);
  double decode(uint32_t code) const;

  int exponent_bits_;
  int fraction_bits_;
  std::vector<double> values_;  // of every code; empty for FP32
};

}  // namespace sdmacc::cce
