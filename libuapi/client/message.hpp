// SPDX-License-Identifier: MIT
// Frames as bytes: MessageWriter puts fields together, parse_message() takes them apart and checks
// every size, so that what it returns can be used without further thought. For both sides of the
// socket; which fields a type of frame must have is the reader's business. Layout: abi/wire.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libuapi/abi/wire.h"
#include "libuapi/support/result.hpp"

namespace sdmacc::wire {

enum class FieldKind : std::uint8_t { U32, U64, F32, Text, Words };

struct FieldInfo {
  std::uint16_t type;
  const char* name;  // "VERSION_MIN"
  FieldKind kind;
};

// nullptr: not one of ours.
const FieldInfo* field_info(std::uint16_t type);
const char* frame_name(std::uint16_t type);  // "HELLO", or nullptr

struct Field {
  std::uint16_t type;
  std::span<const std::byte> value;
};

// Fields that are there have the size of their kind. Good as long as the bytes parsed.
class Message {
 public:
  sdmacc_frame_header header{};
  std::vector<Field> fields;  // the known ones, in their order

  bool has(std::uint16_t type) const { return find(type) != nullptr; }
  // The value, or `missing` when the field is not there.
  std::uint32_t u32(std::uint16_t type, std::uint32_t missing = 0) const;
  std::uint64_t u64(std::uint16_t type, std::uint64_t missing = 0) const;
  float f32(std::uint16_t type, float missing = 0) const;
  std::string_view text(std::uint16_t type) const;
  std::span<const std::byte> bytes(std::uint16_t type) const;

 private:
  const Field* find(std::uint16_t type) const;
};

Result<Message> parse_message(std::span<const std::byte> bytes, Stage stage);

class MessageWriter {
 public:
  MessageWriter(std::uint16_t type, std::uint16_t version, std::uint64_t request);

  MessageWriter& u32(std::uint16_t field, std::uint32_t value);
  MessageWriter& u64(std::uint16_t field, std::uint64_t value);
  MessageWriter& f32(std::uint16_t field, float value);
  MessageWriter& text(std::uint16_t field, std::string_view value);
  MessageWriter& bytes(std::uint16_t field, std::span<const std::byte> value);

  std::vector<std::byte> finish();  // once

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace sdmacc::wire
