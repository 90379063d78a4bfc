// SPDX-License-Identifier: MIT
// The classifier: 64 pixels, 32 hidden units with ReLU, 10 classes with softmax. All its parameters
// are one vector, and so is their gradient, which is what the workers all-reduce.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "selftests/digits/data.hpp"

namespace digits {

class Model {
 public:
  Model();  // the same on every worker

  std::size_t size() const { return parameters_.size(); }
  std::span<const float> parameters() const { return parameters_; }

  // Mean gradient over the rows, into `gradient` of size(); returns the sum of their losses.
  double gradient(std::span<const Row> rows, std::span<float> gradient) const;
  std::uint32_t classify(const Row& row) const;
  // One step down the gradient, with momentum.
  void step(std::span<const float> gradient, float rate);
  // FNV-1a over the bits of all parameters.
  std::uint64_t digest() const;

 private:
  struct Pass;  // of one row, forward
  Pass forward(const Row& row) const;

  std::vector<float> parameters_, velocity_;
};

}  // namespace digits
