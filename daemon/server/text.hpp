// SPDX-License-Identifier: MIT
// Checks of text that clients send, before it is printed, logged or put into JSON.
#pragma once

#include <cstddef>
#include <string_view>

#include "libuapi/support/result.hpp"

namespace sdmacc::server {

// UTF-8, with any characters.
Status check_utf8(std::string_view what, std::string_view text);

// UTF-8 without control characters, of `least` to `most` bytes.
Status check_line(std::string_view what, std::string_view text, std::size_t least,
                  std::size_t most);

}  // namespace sdmacc::server
