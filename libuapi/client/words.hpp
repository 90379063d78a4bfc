// SPDX-License-Identifier: MIT
// The instruction word of a plain all-reduce, as a compiler would write it.
#pragma once

#include <cstdint>

#include "libuapi/abi/isa.h"
#include "libuapi/support/result.hpp"

namespace sdmacc::client {

struct AllReduce {
  std::uint32_t group = 0;
  std::uint32_t in = 0, out = 0;                           // tensors
  std::uint64_t in_offset = 0, out_offset = 0, count = 0;  // elements
  int dtype = 0;                                           // SDMACC_FP32 …
  int op = 0;  // SDMACC_ADD …; FMA is an ADD with a scale beside the word
};

// The 0xC8 word; refuses what does not fit its fields.
Result<sdmacc_isa_c8> all_reduce_word(const AllReduce&);

}  // namespace sdmacc::client
