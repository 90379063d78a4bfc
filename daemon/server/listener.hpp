// SPDX-License-Identifier: MIT
// Where clients connect: a socket of our own at a path, or one that a service manager passed on.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "libuapi/client/unique_fd.hpp"
#include "libuapi/support/result.hpp"

namespace sdmacc::server {

// $SDMACC_SOCKET, else sdmacc.socket in $XDG_RUNTIME_DIR, else /run/sdmacc/sdmacc.socket.
std::string default_socket_path();

class Listener {
 public:
  // Listens at path, whose permission bits say which users may connect. A socket there that nobody
  // listens on is replaced; Busy when a daemon listens already. The path is removed at the end.
  static Result<Listener> bind(const std::string& path, mode_t mode);
  // The sockets passed as LISTEN_FDS to this process, which are all taken; none is not an error.
  static Result<std::vector<Listener>> inherited();

  Listener(Listener&&) = default;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }  // "" when inherited

 private:
  explicit Listener(wire::UniqueFd fd) : fd_(std::move(fd)) {}

  wire::UniqueFd fd_;
  std::string path_;
  dev_t device_ = 0;  // of the socket file, so that only ours is removed
  ino_t inode_ = 0;
};

}  // namespace sdmacc::server
