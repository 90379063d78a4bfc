// SPDX-License-Identifier: MIT
// Pattern: inputs of a benchmark whose sum no order of summation and no rounding can change, and
// the result that must come out, summed here by itself. Elements are small whole numbers; each type
// has its bound, so that all partial sums are exact.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "daemon/world/types.hpp"

namespace sdmacc::cli {

class Pattern {
 public:
  Pattern(ReduceOp op, DType dtype, std::uint32_t ranks);

  // This rank's factor; all are 1 unless the operation is FMA.
  float scale(std::uint32_t rank) const;
  void fill(std::uint32_t rank, std::span<std::byte> tensor) const;
  // Elements of `result` that differ in any bit from the right ones.
  std::uint64_t wrong(std::span<const std::byte> result) const;
  // Elements that are not what fill(rank) writes.
  std::uint64_t changed(std::uint32_t rank, std::span<const std::byte> tensor) const;

 private:
  int value(std::uint32_t rank, std::size_t element) const;
  std::vector<std::byte> bits(const std::vector<int>& values) const;
  std::vector<std::byte> input(std::uint32_t rank) const;
  std::uint64_t differences(std::span<const std::byte> tensor,
                            const std::vector<std::byte>& period) const;

  const ReduceOp op_;
  const DType dtype_;
  const std::uint32_t ranks_;
  int largest_ = 1;                  // magnitude of an element
  std::uint32_t active_ = 1;         // ranks whose element is not 0
  std::vector<std::byte> expected_;  // one period
};

// The bits of a whole number that `dtype` holds exactly.
std::uint32_t exact_bits(int value, DType dtype);

}  // namespace sdmacc::cli
