// SPDX-License-Identifier: MIT
// decode: one carrier's words → Instruction, for one rank. Every rule of the carriers (S0 §1–5) is
// checked here, at run time, because the ISA has no static checker for pseudo words; each refusal
// names the word, the field and the value.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "daemon/decode/instruction.hpp"

namespace sdmacc {

inline constexpr std::size_t kWordBytes = 64;

// What the session knows behind the ids in a word.
struct TensorInfo {
  std::uint64_t bytes = 0;
  std::uint64_t memory = 0;  // identity of the memory behind it: two tensors may share one
  std::uint64_t offset = 0;  // bytes, of the tensor in that memory
  bool writable = true;
};
class Names {
 public:
  virtual ~Names() = default;
  virtual std::optional<TensorInfo> tensor(std::uint32_t id) const = 0;
  virtual std::optional<std::uint32_t> group_size(
      std::uint32_t id) const = 0;  // nothing: no such group
};

struct Decoded {
  Instruction instruction;
  std::uint32_t words = 1;  // 0xD9 takes its 0xDA with it
};

// True for the opcodes that decode() takes as the first word of a collective.
bool is_collective(std::byte opcode);

// Decodes the carrier that starts at word `at`. `fma_scale`: the operation is FMA with this rank's
// factor; the word then says ADD.
Result<Decoded> decode(std::span<const std::byte> words, std::uint32_t at, const Names& names,
                       std::optional<float> fma_scale = std::nullopt);

}  // namespace sdmacc
