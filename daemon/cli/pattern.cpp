// SPDX-License-Identifier: MIT
// Implements pattern.hpp. The pattern repeats after a prime number of elements, so no cut at a
// round number lines up with it.
#include "daemon/cli/pattern.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace sdmacc::cli {
namespace {

constexpr std::size_t kPeriod = 65521;

struct Format {
  int exponent_bits, fraction_bits;
  int exact;  // every whole number up to here has its own bits
};
Format format_of(DType dtype) {
  switch (dtype) {
    case DType::Bf16:
      return {8, 7, 256};
    case DType::Fp16:
      return {5, 10, 2048};
    case DType::Fp8e3:
      return {3, 4, 15};  // the largest is 15.5
    case DType::Fp8e4:
      return {4, 3, 16};
    case DType::Fp8e5:
      return {5, 2, 8};
    default:
      return {8, 23, 1 << 24};
  }
}

std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

}  // namespace

std::uint32_t exact_bits(int value, DType dtype) {
  if (value == 0) return 0;
  const Format f = format_of(dtype);
  const auto magnitude = static_cast<std::uint32_t>(std::abs(value));
  const int exponent = std::bit_width(magnitude) - 1;
  const auto fraction = static_cast<std::uint32_t>(
      std::uint64_t{magnitude ^ 1u << exponent} << f.fraction_bits >> exponent);
  const auto biased = static_cast<std::uint32_t>(exponent + (1 << (f.exponent_bits - 1)) - 1);
  const std::uint32_t sign = value < 0 ? 1 : 0;
  return (sign << f.exponent_bits | biased) << f.fraction_bits | fraction;
}

Pattern::Pattern(ReduceOp op, DType dtype, std::uint32_t ranks)
    : op_(op), dtype_(dtype), ranks_(ranks) {
  const int room = format_of(dtype).exact / (op == ReduceOp::Fma ? 2 : 1);  // scales go up to 2
  largest_ = std::clamp(room / static_cast<int>(ranks), 1, 1 << 18);
  active_ = std::min(ranks, static_cast<std::uint32_t>(room / largest_));
  std::vector<int> result(kPeriod);
  for (std::size_t i = 0; i < kPeriod; ++i) {
    int total = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const int x = value(rank, i);
      if (op == ReduceOp::Max || op == ReduceOp::Min)
        total = rank == 0 ? x : op == ReduceOp::Max ? std::max(total, x) : std::min(total, x);
      else
        total += x * static_cast<int>(scale(rank));
    }
    result[i] = total;
  }
  expected_ = bits(result);
}

float Pattern::scale(std::uint32_t rank) const {
  return op_ == ReduceOp::Fma && rank % 2 == 1 ? 2.0f : 1.0f;
}

int Pattern::value(std::uint32_t rank, std::size_t element) const {
  if ((rank + element) % ranks_ >= active_) return 0;
  const std::uint32_t choices = 2 * static_cast<std::uint32_t>(largest_) + 1;
  return static_cast<int>(mix(static_cast<std::uint32_t>(element) * 64 + rank) % choices) -
         largest_;
}

std::vector<std::byte> Pattern::bits(const std::vector<int>& values) const {
  const std::size_t element = element_bytes(dtype_);
  std::vector<std::byte> out(values.size() * element);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t word = exact_bits(values[i], dtype_);
    std::memcpy(out.data() + i * element, &word, element);
  }
  return out;
}

std::vector<std::byte> Pattern::input(std::uint32_t rank) const {
  std::vector<int> values(kPeriod);
  for (std::size_t i = 0; i < kPeriod; ++i) values[i] = value(rank, i);
  return bits(values);
}

void Pattern::fill(std::uint32_t rank, std::span<std::byte> tensor) const {
  const std::vector<std::byte> period = input(rank);
  for (std::size_t at = 0; at < tensor.size(); at += period.size())
    std::memcpy(tensor.data() + at, period.data(), std::min(period.size(), tensor.size() - at));
}

std::uint64_t Pattern::wrong(std::span<const std::byte> result) const {
  return differences(result, expected_);
}

std::uint64_t Pattern::changed(std::uint32_t rank, std::span<const std::byte> tensor) const {
  return differences(tensor, input(rank));
}

std::uint64_t Pattern::differences(std::span<const std::byte> tensor,
                                   const std::vector<std::byte>& period) const {
  const std::size_t element = element_bytes(dtype_);
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < tensor.size(); at += period.size()) {
    const std::span<const std::byte> part =
        tensor.subspan(at, std::min(period.size(), tensor.size() - at));
    if (std::memcmp(part.data(), period.data(), part.size()) == 0) continue;
    for (std::size_t i = 0; i < part.size(); i += element)
      count += std::memcmp(part.data() + i, period.data() + i, element) != 0 ? 1 : 0;
  }
  return count;
}

}  // namespace sdmacc::cli
