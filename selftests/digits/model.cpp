// SPDX-License-Identifier: MIT
// Implements model.hpp by hand: forward, backward, and gradient descent with momentum.
#include "selftests/digits/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace digits {
namespace {

constexpr std::size_t kHidden = 32;
constexpr float kMomentum = 0.9f;

// Where each part is in the vector of parameters: weights by unit, then its biases.
constexpr std::size_t kHiddenWeights = 0;
constexpr std::size_t kHiddenBiases = kHiddenWeights + kHidden * kPixels;
constexpr std::size_t kOutWeights = kHiddenBiases + kHidden;
constexpr std::size_t kOutBiases = kOutWeights + kClasses * kHidden;
constexpr std::size_t kSize = kOutBiases + kClasses;

// A fixed sequence of numbers from -1 to 1.
class Sequence {
 public:
  float next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(state_ >> 40) / static_cast<float>(1 << 23) - 1;
  }

 private:
  std::uint64_t state_ = 2024;
};

float dot(const float* a, const float* b, std::size_t n) {
  float sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

struct Model::Pass {
  float hidden[kHidden];
  float probability[kClasses];
};

Model::Model() : parameters_(kSize), velocity_(kSize) {
  Sequence sequence;
  const float hidden = std::sqrt(6.0f / (kPixels + kHidden)),
              out = std::sqrt(6.0f / (kHidden + kClasses));
  for (std::size_t i = 0; i < kHiddenBiases; ++i) parameters_[i] = hidden * sequence.next();
  for (std::size_t i = kOutWeights; i < kOutBiases; ++i) parameters_[i] = out * sequence.next();
}

Model::Pass Model::forward(const Row& row) const {
  const float* p = parameters_.data();
  Pass pass;
  for (std::size_t h = 0; h < kHidden; ++h)
    pass.hidden[h] = std::max(
        0.0f, p[kHiddenBiases + h] + dot(p + kHiddenWeights + h * kPixels, row.pixels, kPixels));
  float highest = -INFINITY, sum = 0;
  for (std::size_t c = 0; c < kClasses; ++c) {
    pass.probability[c] =
        p[kOutBiases + c] + dot(p + kOutWeights + c * kHidden, pass.hidden, kHidden);
    highest = std::max(highest, pass.probability[c]);
  }
  for (float& value : pass.probability) sum += value = std::exp(value - highest);
  for (float& value : pass.probability) value /= sum;
  return pass;
}

double Model::gradient(std::span<const Row> rows, std::span<float> gradient) const {
  std::fill(gradient.begin(), gradient.end(), 0.0f);
  double loss = 0;
  const float share = 1.0f / static_cast<float>(std::max<std::size_t>(rows.size(), 1));
  for (const Row& row : rows) {
    const Pass pass = forward(row);
    loss -= std::log(std::max(pass.probability[row.label], 1e-12f));
    float back[kHidden] = {};
    for (std::size_t c = 0; c < kClasses; ++c) {
      const float error = share * (pass.probability[c] - (c == row.label ? 1.0f : 0.0f));
      for (std::size_t h = 0; h < kHidden; ++h) {
        gradient[kOutWeights + c * kHidden + h] += error * pass.hidden[h];
        back[h] += error * parameters_[kOutWeights + c * kHidden + h];
      }
      gradient[kOutBiases + c] += error;
    }
    for (std::size_t h = 0; h < kHidden; ++h) {
      if (pass.hidden[h] <= 0) continue;
      for (std::size_t i = 0; i < kPixels; ++i)
        gradient[kHiddenWeights + h * kPixels + i] += back[h] * row.pixels[i];
      gradient[kHiddenBiases + h] += back[h];
    }
  }
  return loss;
}

std::uint32_t Model::classify(const Row& row) const {
  const Pass pass = forward(row);
  return static_cast<std::uint32_t>(
      std::max_element(pass.probability, pass.probability + kClasses) - pass.probability);
}

void Model::step(std::span<const float> gradient, float rate) {
  for (std::size_t i = 0; i < kSize; ++i) {
    velocity_[i] = kMomentum * velocity_[i] - rate * gradient[i];
    parameters_[i] += velocity_[i];
  }
}

std::uint64_t Model::digest() const {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const float value : parameters_) {
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace digits
