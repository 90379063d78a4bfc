// SPDX-License-Identifier: MIT
// Decoding by ldexp, encoding by binary search, folding in double. See reference.hpp.
#include "selftests/cce/reference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace sdmacc::cce {

std::string name_of(Op op) {
  switch (op) {
    case Op::Add:
      return "add";
    case Op::Fma:
      return "fma";
    case Op::Max:
      return "max";
    case Op::Min:
      return "min";
  }
  return "?";
}

std::string name_of(Acc acc) {
  switch (acc) {
    case Acc::Bf16:
      return "BF16";
    case Acc::Fp16:
      return "FP16";
    case Acc::Fp32r:
      return "FP32";
    case Acc::Fp8e3:
      return "E3M4";
    case Acc::Fp8e4:
      return "E4M3";
    case Acc::Fp8e5:
      return "E5M2";
  }
  return "?";
}

const Reference& Reference::of(Acc acc) {
  static const Reference bf16(8, 7), fp16(5, 10), fp32(8, 23), e3(3, 4), e4(4, 3), e5(5, 2);
  switch (acc) {
    case Acc::Bf16:
      return bf16;
    case Acc::Fp16:
      return fp16;
    case Acc::Fp32r:
      return fp32;
    case Acc::Fp8e3:
      return e3;
    case Acc::Fp8e4:
      return e4;
    case Acc::Fp8e5:
      return e5;
  }
  return fp32;
}

Reference::Reference(int exponent_bits, int fraction_bits)
    : exponent_bits_(exponent_bits), fraction_bits_(fraction_bits) {
  if (bits() > 16) return;
  for (uint32_t code = 0; code < 1u << bits(); ++code) values_.push_back(decode(code));
}

double Reference::decode(uint32_t code) const {
  const uint32_t fraction = code & ((1u << fraction_bits_) - 1);
  const int exponent = static_cast<int>((code & (sign() - 1)) >> fraction_bits_);
  double magnitude;
  if (exponent == (1 << exponent_bits_) - 1) {
    magnitude = fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                              : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, 1 - bias() - fraction_bits_);
  } else {
    magnitude = std::ldexp(fraction + (1u << fraction_bits_), exponent - bias() - fraction_bits_);
  }
  return (code & sign()) != 0 ? -magnitude : magnitude;
}

double Reference::value(uint32_t code) const {
  return values_.empty() ? decode(code) : values_[code];
}

uint32_t Reference::code(double value) const {
  if (std::isnan(value)) return quiet_nan();
  if (values_.empty()) return std::bit_cast<uint32_t>(static_cast<float>(value));
  const double magnitude = std::fabs(value);
  const uint32_t minus = std::signbit(value) ? sign() : 0;
  // The positive codes are in the order of their values; the first one above ours.
  const auto first = values_.begin();
  const auto above = std::upper_bound(first, first + infinity() + 1, magnitude);
  const auto upper = static_cast<uint32_t>(above - first);
  if (upper > infinity()) return minus | infinity();
  const uint32_t lower = upper - 1;
  // Past the largest finite value the next step of the same size stands for infinity.
  const double step = upper == infinity() ? values_[lower] - values_[lower - 1] : 0;
  const double next = upper == infinity() ? values_[lower] + step : values_[upper];
  const double twice = 2 * magnitude;
  const double middle = values_[lower] + next;
  if (twice < middle) return minus | lower;
  if (twice > middle) return minus | upper;
  return minus | (lower % 2 == 0 ? lower : upper);
}

uint32_t Reference::fold(Op op, std::span<const uint32_t> codes,
                         std::span<const float> scales) const {
  // Every step yields an FP32 value. Sums and products of two FP32 values that are rounded to
  // double first still round correctly to FP32.
  auto rounded = [](double x) { return static_cast<double>(static_cast<float>(x)); };
  double acc = value(codes[0]);
  if (op == Op::Fma) acc = rounded(acc * scales[0]);
  for (size_t i = 1; i < codes.size(); ++i) {
    const double x = value(codes[i]);
    const bool nan = std::isnan(acc) || std::isnan(x);
    const bool acc_is_less = acc < x || (acc == x && std::signbit(acc) && !std::signbit(x));
    switch (op) {
      case Op::Add:
        acc = rounded(acc + x);
        break;
      case Op::Fma:
        acc = std::fma(static_cast<float>(x), scales[i], static_cast<float>(acc));
        break;
      case Op::Max:
        acc = nan ? acc + x : acc_is_less ? x : acc;
        break;
      case Op::Min:
        acc = nan ? acc + x : acc_is_less ? acc : x;
        break;
    }
  }
  return code(acc);
}

}  // namespace sdmacc::cce
