// SPDX-License-Identifier: MIT
// The arithmetic of a CCE descriptor: n source buffers of one element type become one result, which
// is written to d destinations. Sums are formed in FP32 from left to right and rounded once, at the
// write; every bit that may come out is defined in docs/arithmetic.md. Entry point: reduce().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sdmacc::cce {

// Values of SDMA_CCETYPE. EXT (4) and GCE (5) have no arithmetic here.
enum class Op : uint8_t { Add = 0, Fma = 1, Max = 2, Min = 3 };

// Accumulate dtype nibble of a CCE packet. Elements in memory have the format of that name; those
// of Fp32r are FP32 words.
enum class Acc : uint8_t { Bf16 = 6, Fp16 = 7, Fp32r = 0xB, Fp8e3 = 0xD, Fp8e4 = 0xE, Fp8e5 = 0xF };

inline constexpr size_t kMaxSources = 32;
inline constexpr size_t kMaxDestinations = 8;

// Bytes of one element in memory: 1, 2 or 4. 0 for a value that is not an Acc.
size_t element_size(Acc acc);

// Writes op over the sources, element by element, to each destination; all get the same bits.
//
//   srcs    1 … kMaxSources buffers of `count` elements, in the order of summation
//   scales  Fma: one FP32 factor per source; other operations ignore it
//   dsts    1 … kMaxDestinations buffers of `count` elements
//   count   elements; 0 does nothing
//
// Buffers may start at any byte, and nothing outside them is read or written. A destination may be
// exactly one of the sources (in place) but may not overlap one otherwise. The caller has checked
// all this: breaking it is a programming error (assert), not a status.
//
// Bits do not depend on the CPU, on count or alignment, or on the calling thread's rounding and
// flush-to-zero modes. Safe to call from any number of threads.
void reduce(Op op, Acc acc, std::span<const std::byte* const> srcs, std::span<const float> scales,
            std::span<std::byte* const> dsts, size_t count);

// Instruction sets that are compiled in and that this CPU can run, best first.
std::vector<std::string> targets();

// The one that reduce() runs on; the first of targets() unless a test has forced another.
std::string active_target();

// Makes reduce() use the named target, "" the best one again. False, and no change, when the name
// is not in targets(). For tests: it acts on all threads.
bool force_target(std::string_view name);

}  // namespace sdmacc::cce
