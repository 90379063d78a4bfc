// SPDX-License-Identifier: MIT
// sendmsg and recvmsg with SCM_RIGHTS; see socket.hpp.
#include "libuapi/client/socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace sdmacc::wire {

Received receive(int socket, std::span<std::byte> buffer, bool wait) {
  Received out;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxFds)];
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const int flags = MSG_CMSG_CLOEXEC | MSG_TRUNC | (wait ? 0 : MSG_DONTWAIT);
  ssize_t got;
  do {
    got = ::recvmsg(socket, &message, flags);
    // A reset (the peer closed without reading all) is told once, before what the peer sent.
  } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    out.io = Io::WouldBlock;
    return out;
  }
  if (got <= 0) {
    out.io = Io::Closed;
    return out;
  }
  out.bytes = static_cast<std::size_t>(got);
  out.fds_lost = (message.msg_flags & MSG_CTRUNC) != 0;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      out.fds.emplace_back(fd);
    }
  }
  return out;
}

Io send(int socket, std::span<const std::byte> bytes, std::span<const int> fds, bool wait) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxFds)] = {};
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(c), fds.data(), fds.size_bytes());
  }
  ssize_t sent;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) return Io::Done;
  return errno == EAGAIN || errno == EWOULDBLOCK ? Io::WouldBlock : Io::Closed;
}

Status make_address(const std::string& path, Stage stage, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return fail(Errc::Invalid, stage, kNoIndex, "socket path '{}' has {} bytes, must have 1 to {}",
                path, path.size(), sizeof(address.sun_path) - 1);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return {};
}

std::string errno_text(int error) {
  return std::generic_category().message(error);
}

}  // namespace sdmacc::wire
