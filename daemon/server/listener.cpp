// SPDX-License-Identifier: MIT
// Binding, taking over and removing of the listening socket.
#include "daemon/server/listener.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "libuapi/abi/wire.h"
#include "libuapi/client/socket.hpp"

namespace sdmacc::server {
namespace {

constexpr int kFirstInherited = 3;  // by the convention of LISTEN_FDS
constexpr int kMostInherited = 64;

template <typename... Args>
tl::unexpected<Error> refuse(Errc code, fmt::format_string<Args...> format, Args&&... args) {
  return fail(code, Stage::Server, kNoIndex, format, std::forward<Args>(args)...);
}

wire::UniqueFd new_socket() {
  return wire::UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// Whether the socket file is left over from a daemon that is gone.
bool is_stale(const sockaddr_un& address) {
  struct stat file;
  if (::lstat(address.sun_path, &file) != 0 || !S_ISSOCK(file.st_mode)) return false;
  const wire::UniqueFd probe = new_socket();
  return probe && ::connect(probe.get(), generic(address), sizeof(address)) != 0 &&
         errno == ECONNREFUSED;
}

// The value of a decimal environment variable, or -1.
long number_from_environment(const char* name) {
  const char* text = std::getenv(name);
  long value = -1;
  if (text == nullptr) return -1;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  return error == std::errc() && *end == '\0' ? value : -1;
}

Status check_inherited(int fd) {
  int type = 0, listening = 0;
  socklen_t size = sizeof(type);
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
    return refuse(Errc::Invalid, "inherited descriptor {} is not a socket: {}", fd,
                  wire::errno_text(errno));
  }
  size = sizeof(listening);
  ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size);
  if (type != SOCK_SEQPACKET || listening == 0) {
    return refuse(Errc::Invalid, "inherited descriptor {} is not a listening SOCK_SEQPACKET socket",
                  fd);
  }
  return {};
}

}  // namespace

std::string default_socket_path() {
  const char* path = std::getenv(SDMACC_SOCKET_ENV);
  if (path != nullptr && *path != '\0') return path;
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  if (folder == nullptr || *folder == '\0') return SDMACC_SOCKET_DEFAULT;
  return std::string(folder) + "/" + SDMACC_SOCKET_RUNTIME_NAME;
}

Result<Listener> Listener::bind(const std::string& path, mode_t mode) {
  sockaddr_un address;
  SDMACC_CHECK(wire::make_address(path, Stage::Server, address));
  wire::UniqueFd fd = new_socket();
  if (!fd) return refuse(Errc::System, "socket: {}", wire::errno_text(errno));
  int bound = ::bind(fd.get(), generic(address), sizeof(address));
  if (bound != 0 && errno == EADDRINUSE) {
    if (!is_stale(address)) {
      return refuse(Errc::Busy, "cannot listen on {}: somebody does already, or it is no socket",
                    path);
    }
    ::unlink(path.c_str());
    bound = ::bind(fd.get(), generic(address), sizeof(address));
  }
  if (bound != 0) {
    return refuse(Errc::System, "cannot listen on {}: {}", path, wire::errno_text(errno));
  }
  Listener out(std::move(fd));
  struct stat file;
  if (::lstat(path.c_str(), &file) != 0 || ::chmod(path.c_str(), mode) != 0 ||
      ::listen(out.fd(), SOMAXCONN) != 0) {
    const int error = errno;
    ::unlink(path.c_str());
    return refuse(Errc::System, "cannot listen on {}: {}", path, wire::errno_text(error));
  }
  out.path_ = path;
  out.device_ = file.st_dev;
  out.inode_ = file.st_ino;
  return out;
}

Result<std::vector<Listener>> Listener::inherited() {
  std::vector<Listener> out;
  if (number_from_environment("LISTEN_PID") != ::getpid()) return out;
  const long count = number_from_environment("LISTEN_FDS");
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(name);
  if (count < 1 || count > kMostInherited) {
    return refuse(Errc::Invalid, "LISTEN_FDS is not a number from 1 to {}", kMostInherited);
  }
  for (int fd = kFirstInherited; fd < kFirstInherited + count; ++fd) {
    SDMACC_CHECK(check_inherited(fd));
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    out.push_back(Listener(wire::UniqueFd(fd)));
  }
  return out;
}

Listener::~Listener() {
  struct stat file;
  if (!fd_ || path_.empty() || ::lstat(path_.c_str(), &file) != 0) return;
  if (file.st_dev == device_ && file.st_ino == inode_) ::unlink(path_.c_str());
}

}  // namespace sdmacc::server
