// SPDX-License-Identifier: MIT
// One message with its file descriptors over a SOCK_SEQPACKET socket, for both sides of it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "libuapi/client/unique_fd.hpp"
#include "libuapi/support/result.hpp"

struct sockaddr_un;

namespace sdmacc::wire {

enum class Io { Done, WouldBlock, Closed };

struct Received {
  Io io = Io::Done;
  std::size_t bytes = 0;      // of the message, also when the buffer was too small for it
  std::vector<UniqueFd> fds;  // close-on-exec
  bool fds_lost = false;      // more came than kMaxFds, or the process may have no more
};

inline constexpr std::size_t kMaxFds = 4;

// An empty message counts as Closed: the two cannot be told apart.
Received receive(int socket, std::span<std::byte> buffer, bool wait);

// Sends all or nothing. Any failure but a full socket means that the connection is of no more use.
Io send(int socket, std::span<const std::byte> message, std::span<const int> fds, bool wait);

// Refuses a path that is empty or longer than an address can hold.
Status make_address(const std::string& path, Stage stage, sockaddr_un& address);

// strerror() that is thread-safe: "No such file or directory".
std::string errno_text(int error);

}  // namespace sdmacc::wire
