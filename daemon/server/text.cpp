// SPDX-License-Identifier: MIT
// UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
#include "daemon/server/text.hpp"

namespace sdmacc::server {
namespace {

template <typename... Args>
tl::unexpected<Error> refuse(fmt::format_string<Args...> format, Args&&... args) {
  return fail(Errc::Invalid, Stage::Server, kNoIndex, format, std::forward<Args>(args)...);
}

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Bytes of the character that text begins with; 0 when it begins with none.
std::size_t character_bytes(std::string_view text) {
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length > text.size()) return 0;
  // The second byte's range is narrower after some first ones.
  const unsigned lowest = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned highest = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte_at(text, 1) < lowest || byte_at(text, 1) > highest) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

Status check(std::string_view what, std::string_view text, bool controls) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_bytes(text.substr(at));
    const unsigned first = byte_at(text, at);
    if (length == 0)
      return refuse("{} has byte {:#04x} at {}, which is not UTF-8", what, first, at);
    if (!controls && (first < 0x20 || first == 0x7f)) {
      return refuse("{} has the control character {:#04x} at {}", what, first, at);
    }
    at += length;
  }
  return {};
}

}  // namespace

Status check_utf8(std::string_view what, std::string_view text) {
  return check(what, text, true);
}

Status check_line(std::string_view what, std::string_view text, std::size_t least,
                  std::size_t most) {
  if (text.size() < least || text.size() > most) {
    return refuse("{} has {} bytes, must have {} to {}", what, text.size(), least, most);
  }
  return check(what, text, false);
}

}  // namespace sdmacc::server
