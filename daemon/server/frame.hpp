// SPDX-License-Identifier: MIT
// Frame: one message of one client, its descriptors attached, all sizes checked, with exactly the
// fields that its type may have. Made by parse_frame(); prints by to_string().
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "libuapi/client/message.hpp"
#include "libuapi/client/unique_fd.hpp"

namespace sdmacc::server {

struct Frame {
  wire::Message message;  // refers to the bytes parsed
  std::vector<wire::UniqueFd> fds;

  std::uint16_t type() const { return message.header.type; }
  std::uint64_t request() const { return message.header.request; }
};

// `version` is what the session speaks, 0 before its HELLO. On error, what can be known of the
// request number is in the first 16 bytes; see request_of().
Result<Frame> parse_frame(std::span<const std::byte> bytes, std::vector<wire::UniqueFd> fds,
                          std::uint32_t version);

// The request number of a frame that may be malformed; 0 when it is too short to have one.
std::uint64_t request_of(std::span<const std::byte> bytes);

// "JOIN request 7: NAME \"g\", SIZE 4, RANK 1".
std::string to_string(const Frame&);

}  // namespace sdmacc::server
