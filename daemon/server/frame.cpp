// SPDX-License-Identifier: MIT
// Which fields and descriptors each type of frame has, and the check against that table.
#include "daemon/server/frame.hpp"

#include <algorithm>
#include <cstring>

namespace sdmacc::server {
namespace {

struct FrameRule {
  std::uint16_t type;
  std::size_t fds;
  std::vector<std::uint16_t> required;
  std::vector<std::uint16_t> optional;
};

const std::vector<FrameRule>& rules() {
  static const std::vector<FrameRule> table = {
      {SDMACC_FRAME_HELLO,
       0,
       {SDMACC_FIELD_VERSION_MIN, SDMACC_FIELD_VERSION_MAX, SDMACC_FIELD_FEATURES},
       {SDMACC_FIELD_CLIENT_NAME}},
      {SDMACC_FRAME_JOIN,
       0,
       {SDMACC_FIELD_NAME, SDMACC_FIELD_SIZE, SDMACC_FIELD_RANK},
       {SDMACC_FIELD_MODE, SDMACC_FIELD_TIMEOUT}},
      {SDMACC_FRAME_LEAVE, 0, {SDMACC_FIELD_GROUP}, {}},
      {SDMACC_FRAME_REGISTER,
       1,
       {SDMACC_FIELD_OFFSET, SDMACC_FIELD_BYTES},
       {SDMACC_FIELD_TENSOR, SDMACC_FIELD_ACCESS}},
      {SDMACC_FRAME_UNREGISTER, 0, {SDMACC_FIELD_TENSOR}, {}},
      {SDMACC_FRAME_SUBMIT,
       0,
       {SDMACC_FIELD_GROUP, SDMACC_FIELD_WORDS},
       {SDMACC_FIELD_SCALE, SDMACC_FIELD_TIMEOUT}},
      {SDMACC_FRAME_ABORT, 0, {SDMACC_FIELD_GROUP}, {SDMACC_FIELD_TEXT}},
      {SDMACC_FRAME_QUERY, 0, {SDMACC_FIELD_KIND}, {SDMACC_FIELD_ARGUMENTS}},
  };
  return table;
}

bool contains(const std::vector<std::uint16_t>& fields, std::uint16_t type) {
  return std::find(fields.begin(), fields.end(), type) != fields.end();
}

template <typename... Args>
tl::unexpected<Error> refuse(fmt::format_string<Args...> format, Args&&... args) {
  return fail(Errc::Protocol, Stage::Server, kNoIndex, format, std::forward<Args>(args)...);
}

Status check(const FrameRule& rule, const wire::Message& message) {
  const char* type = wire::frame_name(rule.type);
  for (const std::uint16_t field : rule.required) {
    if (!message.has(field)) return refuse("{} without {}", type, wire::field_info(field)->name);
  }
  for (const wire::Field& field : message.fields) {
    if (!contains(rule.required, field.type) && !contains(rule.optional, field.type)) {
      return refuse("{} has no field {}", type, wire::field_info(field.type)->name);
    }
  }
  return {};
}

std::string to_string(const wire::Message& message, const wire::Field& field) {
  const wire::FieldInfo& info = *wire::field_info(field.type);
  switch (info.kind) {
    case wire::FieldKind::U32:
      return fmt::format("{} {}", info.name, message.u32(field.type));
    case wire::FieldKind::U64:
      return fmt::format("{} {}", info.name, message.u64(field.type));
    case wire::FieldKind::F32:
      return fmt::format("{} {}", info.name, message.f32(field.type));
    case wire::FieldKind::Text:
      return fmt::format("{} {:?}", info.name, message.text(field.type));
    case wire::FieldKind::Words: {
      std::string out = fmt::format("{} ", info.name);
      for (const std::byte byte : field.value) {
        fmt::format_to(std::back_inserter(out), "{:02x}", std::to_integer<unsigned>(byte));
      }
      return out;
    }
  }
  return info.name;
}

}  // namespace

Result<Frame> parse_frame(std::span<const std::byte> bytes, std::vector<wire::UniqueFd> fds,
                          std::uint32_t version) {
  SDMACC_TRY(wire::Message message, wire::parse_message(bytes, Stage::Server));
  const std::uint16_t type = message.header.type;
  const auto rule = std::find_if(rules().begin(), rules().end(),
                                 [type](const FrameRule& r) { return r.type == type; });
  if (rule == rules().end()) return refuse("frame type {:#06x} is unknown", type);
  const char* name = wire::frame_name(type);
  if (version == 0 && type != SDMACC_FRAME_HELLO) {
    return refuse("{} before HELLO, which must be the first frame", name);
  }
  if (version != 0 && type == SDMACC_FRAME_HELLO) return refuse("HELLO for the second time");
  if (const std::uint32_t wanted = version == 0 ? 1 : version; message.header.version != wanted) {
    return refuse("{} in version {}, must be {}", name, message.header.version, wanted);
  }
  if (fds.size() != rule->fds) {
    return refuse("{} with {} file descriptors, must be {}", name, fds.size(), rule->fds);
  }
  SDMACC_CHECK(check(*rule, message));
  return Frame{std::move(message), std::move(fds)};
}

std::uint64_t request_of(std::span<const std::byte> bytes) {
  sdmacc_frame_header header;
  if (bytes.size() < sizeof(header)) return 0;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return header.request;
}

std::string to_string(const Frame& frame) {
  std::string out = fmt::format("{} request {}", wire::frame_name(frame.type()), frame.request());
  const char* separator = ": ";
  for (const wire::Field& field : frame.message.fields) {
    out += separator + to_string(frame.message, field);
    separator = ", ";
  }
  if (!frame.fds.empty()) out += fmt::format(" +{} fd", frame.fds.size());
  return out;
}

}  // namespace sdmacc::server
