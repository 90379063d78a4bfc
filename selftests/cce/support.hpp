// SPDX-License-Identifier: MIT
// What the CCE tests share: a forced target for a scope, buffers with guard bytes at any offset,
// codes that make rounding and special values happen, and one checked call. Entry point: Case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "firmware-stub/cce/cce.hpp"
#include "selftests/cce/reference.hpp"

namespace sdmacc::cce {

// SDMACC_TEST_THIN=k runs every k-th case of the large products; 1 without it.
size_t thin();

class ForcedTarget {
 public:
  explicit ForcedTarget(const std::string& name) : ok_(force_target(name)) {}
  ~ForcedTarget() { force_target(""); }
  ForcedTarget(const ForcedTarget&) = delete;
  ForcedTarget& operator=(const ForcedTarget&) = delete;
  bool ok() const { return ok_; }

 private:
  bool ok_;
};

// `bytes` bytes that start `offset` bytes after an aligned address, between guards.
class GuardedBuffer {
 public:
  GuardedBuffer(size_t bytes, size_t offset);
  std::byte* data() { return storage_.data() + begin_; }
  const std::byte* data() const { return storage_.data() + begin_; }
  bool guards_intact() const;

 private:
  std::vector<std::byte> storage_;
  size_t begin_;
  size_t bytes_;
};

void put(std::byte* at, Acc acc, size_t index, uint32_t code);
uint32_t get(const std::byte* at, Acc acc, size_t index);

// Zeros, smallest and largest subnormals and normals, one and its neighbours, infinities, NaNs.
std::vector<uint32_t> special_codes(Acc acc);

// One call of reduce() on known codes: codes[source][element].
struct Case {
  Op op = Op::Add;
  Acc acc = Acc::Fp32r;
  std::vector<std::vector<uint32_t>> codes;
  std::vector<float> scales;
  size_t dsts = 1;
  size_t offset_seed = 0;  // spreads the buffers over element offsets 0 … 15 and odd addresses

  // What the reference says, element by element.
  std::vector<uint32_t> expected() const;
  // Runs on the active target; "" or what went wrong.
  std::string run(const std::vector<uint32_t>& expected) const;
  // Runs on every target against the reference; "" or what went wrong.
  std::string run_everywhere() const;
};

// Random codes, mostly of like magnitude, some anything at all.
Case random_case(Op op, Acc acc, size_t sources, size_t count, std::mt19937& random);

}  // namespace sdmacc::cce
