// SPDX-License-Identifier: MIT
// Programs written by hand from libuapi/abi/program.h and docs/device.md, to test loaders with:
// they share no code with the emitter. Each sums FP32 tensors of `count` elements of all ranks into
// every rank's OUT. Entry points: ring_program() and its siblings.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/emit/program.hpp"

namespace sdmacc::test {

struct Shape {
  std::uint32_t arch_id = 0x0c;
  std::uint32_t engines = 1;   // of each channel, on engines 0, 1, …
  std::uint64_t count = 64;    // elements of a tensor: a multiple of 4 · engines
  std::uint32_t slices = 2;    // mesh: CTRL entries, count is a multiple of 2 · slices · engines
  bool short_windows = false;  // each SLOT window takes one word, then CONTINUE
  std::uint32_t completions = 1;  // END words of a list
  bool fma = false;               // Σ (rank + 1) · x instead of Σ x
};

Program ring_program(std::uint32_t ranks, const Shape& shape = {});  // 1 or 2 ranks
Program mesh_program(const Shape& shape = {});                       // full mesh t0, 2 ranks
Program kangaring_program(const Shape& shape = {});  // a primary and one secondary, 2 ranks

// The flat image, 8-byte aligned.
struct Image {
  std::vector<std::uint64_t> words;
  std::uint64_t size = 0;  // bytes
};
Image flatten(const Program& program);

// Section of a kind for the SP of a rank, or the ring of (rank, engine) of its first group.
std::uint32_t find_section(const Program& program, std::uint32_t kind, Rank rank,
                           std::uint32_t engine = 0);

}  // namespace sdmacc::test
