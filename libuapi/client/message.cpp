// SPDX-License-Identifier: MIT
// Building and parsing of frames; see message.hpp.
#include "libuapi/client/message.hpp"

#include <algorithm>
#include <bit>
#include <bitset>
#include <cstring>

namespace sdmacc::wire {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are little-endian");

constexpr FieldInfo kFields[] = {
    {SDMACC_FIELD_VERSION_MIN, "VERSION_MIN", FieldKind::U32},
    {SDMACC_FIELD_VERSION_MAX, "VERSION_MAX", FieldKind::U32},
    {SDMACC_FIELD_FEATURES, "FEATURES", FieldKind::U64},
    {SDMACC_FIELD_VERSION, "VERSION", FieldKind::U32},
    {SDMACC_FIELD_CLIENT_NAME, "CLIENT_NAME", FieldKind::Text},
    {SDMACC_FIELD_MEMORY_BYTES, "MEMORY_BYTES", FieldKind::U64},
    {SDMACC_FIELD_IN_FLIGHT_LIMIT, "IN_FLIGHT_LIMIT", FieldKind::U32},
    {SDMACC_FIELD_FRAME_LIMIT, "FRAME_LIMIT", FieldKind::U32},
    {SDMACC_FIELD_NAME, "NAME", FieldKind::Text},
    {SDMACC_FIELD_SIZE, "SIZE", FieldKind::U32},
    {SDMACC_FIELD_RANK, "RANK", FieldKind::U32},
    {SDMACC_FIELD_MODE, "MODE", FieldKind::U32},
    {SDMACC_FIELD_TIMEOUT, "TIMEOUT", FieldKind::U64},
    {SDMACC_FIELD_GROUP, "GROUP", FieldKind::U32},
    {SDMACC_FIELD_GENERATION, "GENERATION", FieldKind::U32},
    {SDMACC_FIELD_EVENT, "EVENT", FieldKind::U32},
    {SDMACC_FIELD_TENSOR, "TENSOR", FieldKind::U32},
    {SDMACC_FIELD_OFFSET, "OFFSET", FieldKind::U64},
    {SDMACC_FIELD_BYTES, "BYTES", FieldKind::U64},
    {SDMACC_FIELD_ACCESS, "ACCESS", FieldKind::U32},
    {SDMACC_FIELD_WORDS, "WORDS", FieldKind::Words},
    {SDMACC_FIELD_SCALE, "SCALE", FieldKind::F32},
    {SDMACC_FIELD_CODE, "CODE", FieldKind::U32},
    {SDMACC_FIELD_TEXT, "TEXT", FieldKind::Text},
    {SDMACC_FIELD_KIND, "KIND", FieldKind::Text},
    {SDMACC_FIELD_ARGUMENTS, "ARGUMENTS", FieldKind::Text},
    {SDMACC_FIELD_JSON, "JSON", FieldKind::Text},
};
constexpr std::size_t kTypes = 128;  // all known types are below

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + 7) & ~std::size_t{7};
}

bool size_fits(FieldKind kind, std::size_t bytes) {
  switch (kind) {
    case FieldKind::U32:
      return bytes == 4;
    case FieldKind::U64:
      return bytes == 8;
    case FieldKind::F32:
      return bytes == 4;
    case FieldKind::Text:
      return true;
    case FieldKind::Words:
      return bytes == 64 || bytes == 128;
  }
  return false;
}

const char* sizes(FieldKind kind) {
  switch (kind) {
    case FieldKind::U32:
      return "4";
    case FieldKind::U64:
      return "8";
    case FieldKind::F32:
      return "4";
    case FieldKind::Text:
      return "any";
    case FieldKind::Words:
      return "64 or 128";
  }
  return "";
}

template <typename T>
T load(std::span<const std::byte> value) {
  T out;
  std::memcpy(&out, value.data(), sizeof(T));
  return out;
}

}  // namespace

const FieldInfo* field_info(std::uint16_t type) {
  const auto* found = std::find_if(std::begin(kFields), std::end(kFields),
                                   [type](const FieldInfo& info) { return info.type == type; });
  return found == std::end(kFields) ? nullptr : found;
}

const char* frame_name(std::uint16_t type) {
  switch (type) {
    case SDMACC_FRAME_HELLO:
      return "HELLO";
    case SDMACC_FRAME_JOIN:
      return "JOIN";
    case SDMACC_FRAME_LEAVE:
      return "LEAVE";
    case SDMACC_FRAME_REGISTER:
      return "REGISTER";
    case SDMACC_FRAME_UNREGISTER:
      return "UNREGISTER";
    case SDMACC_FRAME_SUBMIT:
      return "SUBMIT";
    case SDMACC_FRAME_ABORT:
      return "ABORT";
    case SDMACC_FRAME_QUERY:
      return "QUERY";
    case SDMACC_FRAME_COMPLETE:
      return "COMPLETE";
    case SDMACC_FRAME_GROUP_EVENT:
      return "GROUP_EVENT";
    case SDMACC_FRAME_WAKE:
      return "WAKE";
    default:
      return nullptr;
  }
}

const Field* Message::find(std::uint16_t type) const {
  for (const Field& field : fields) {
    if (field.type == type) return &field;
  }
  return nullptr;
}

std::uint32_t Message::u32(std::uint16_t type, std::uint32_t missing) const {
  const Field* field = find(type);
  return field ? load<std::uint32_t>(field->value) : missing;
}

std::uint64_t Message::u64(std::uint16_t type, std::uint64_t missing) const {
  const Field* field = find(type);
  return field ? load<std::uint64_t>(field->value) : missing;
}

float Message::f32(std::uint16_t type, float missing) const {
  const Field* field = find(type);
  return field ? load<float>(field->value) : missing;
}

std::string_view Message::text(std::uint16_t type) const {
  const std::span<const std::byte> value = bytes(type);
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

std::span<const std::byte> Message::bytes(std::uint16_t type) const {
  const Field* field = find(type);
  return field ? field->value : std::span<const std::byte>{};
}

Result<Message> parse_message(std::span<const std::byte> bytes, Stage stage) {
  const auto refuse = [stage]<typename... Args>(fmt::format_string<Args...> format,
                                                Args&&... args) {
    return fail(Errc::Protocol, stage, kNoIndex, format, std::forward<Args>(args)...);
  };
  Message out;
  if (bytes.size() < sizeof(out.header)) {
    return refuse("frame of {} bytes is shorter than its header of {}", bytes.size(),
                  sizeof(out.header));
  }
  std::memcpy(&out.header, bytes.data(), sizeof(out.header));
  if (out.header.size != bytes.size() || bytes.size() % 8 != 0) {
    return refuse("frame says {} bytes and has {}, must be equal multiples of 8", out.header.size,
                  bytes.size());
  }
  std::bitset<kTypes> seen;
  for (std::size_t at = sizeof(out.header); at < bytes.size();) {
    sdmacc_field_header field;  // the frame is a multiple of 8, so there is one
    std::memcpy(&field, bytes.data() + at, sizeof(field));
    if (field.reserved != 0) {
      return refuse("field at byte {} has {:#06x} in its reserved bytes, must be 0", at,
                    field.reserved);
    }
    const std::size_t value = at + sizeof(field);
    if (field.size > bytes.size() - value) {
      return refuse("field at byte {} has {} bytes, but the frame has only {} left", at, field.size,
                    bytes.size() - value);
    }
    const std::size_t end = value + padded(field.size);
    for (std::size_t i = value + field.size; i < end; ++i) {
      if (bytes[i] != std::byte{0}) return refuse("padding at byte {} is not 0", i);
    }
    const FieldInfo* info = field_info(field.type);
    if (info == nullptr) {
      if (field.type & SDMACC_FIELD_MUST_UNDERSTAND) {
        return refuse("field {:#06x} at byte {} must be understood, but is unknown", field.type,
                      at);
      }
    } else {
      if (!size_fits(info->kind, field.size)) {
        return refuse("field {} has {} bytes, must have {}", info->name, field.size,
                      sizes(info->kind));
      }
      if (seen[field.type]) return refuse("field {} is there twice", info->name);
      seen[field.type] = true;
      out.fields.push_back({field.type, bytes.subspan(value, field.size)});
    }
    at = end;
  }
  return out;
}

MessageWriter::MessageWriter(std::uint16_t type, std::uint16_t version, std::uint64_t request) {
  const sdmacc_frame_header header{0, type, version, request};
  bytes_.resize(sizeof(header));
  std::memcpy(bytes_.data(), &header, sizeof(header));
}

MessageWriter& MessageWriter::u32(std::uint16_t field, std::uint32_t value) {
  return bytes(field, std::as_bytes(std::span(&value, 1)));
}

MessageWriter& MessageWriter::u64(std::uint16_t field, std::uint64_t value) {
  return bytes(field, std::as_bytes(std::span(&value, 1)));
}

MessageWriter& MessageWriter::f32(std::uint16_t field, float value) {
  return bytes(field, std::as_bytes(std::span(&value, 1)));
}

MessageWriter& MessageWriter::text(std::uint16_t field, std::string_view value) {
  return bytes(field, std::as_bytes(std::span(value)));
}

MessageWriter& MessageWriter::bytes(std::uint16_t field, std::span<const std::byte> value) {
  const sdmacc_field_header header{field, 0, static_cast<std::uint32_t>(value.size())};
  const std::size_t at = bytes_.size();
  bytes_.resize(at + sizeof(header) + padded(value.size()));
  std::memcpy(bytes_.data() + at, &header, sizeof(header));
  if (!value.empty()) std::memcpy(bytes_.data() + at + sizeof(header), value.data(), value.size());
  return *this;
}

std::vector<std::byte> MessageWriter::finish() {
  const std::uint32_t size = static_cast<std::uint32_t>(bytes_.size());
  std::memcpy(bytes_.data() + offsetof(sdmacc_frame_header, size), &size, sizeof(size));
  return std::move(bytes_);
}

}  // namespace sdmacc::wire
