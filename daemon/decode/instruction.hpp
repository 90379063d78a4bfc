// SPDX-License-Identifier: MIT
// Instruction: what the 64 bytes of one carrier mean, for one rank. Made by decode; knows nothing
// of other ranks.
#pragma once

#include <string>

#include "daemon/world/types.hpp"

namespace sdmacc {

enum class Carrier : std::uint8_t {
  TriggerAllReduce = 0xC7,
  TriggerCollective = 0xC8,
  TriggerCollective2 = 0xD9
};

// Elements [first, first + count) of a registered tensor.
struct TensorRange {
  std::uint32_t tensor = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  bool operator==(const TensorRange&) const = default;
};

struct Events {  // S0 §2: wait before, update at completion; a core's business, kept for the engine
                 // word
  std::uint8_t wait_mode = 0, wait_idx = 0, update_mode = 0, update_idx = 0;
  std::uint32_t semaphore_value = 0;
  bool operator==(const Events&) const = default;
};

struct Instruction {
  Carrier carrier = Carrier::TriggerAllReduce;
  Collective collective = Collective::AllReduce;
  ReduceOp op = ReduceOp::Add;  // FMA is not in the word: the word says ADD and `scale` is set
  DType dtype = DType::Fp32;
  std::uint32_t group = 0;  // per-session id; 0xC7 means group 0
  std::uint64_t count = 0;  // elements reduced
  TensorRange src, dst;     // equal ranges of one tensor = in place
  float scale = 1.0f;       // FMA: this rank's factor
  Events events;
  std::uint16_t channel = 0, stream = 0;  // 0xDA only
  std::uint8_t chaining = 0;              // 0xDA only: none, initial, body, final
  std::uint8_t priority = 0;              // 0xDA only
  std::uint32_t word = 0;                 // index of the first 64-byte word in what was decoded
};

std::string to_string(const Instruction&);

}  // namespace sdmacc
