// SPDX-License-Identifier: MIT
// A daemon of one's own, for one command: started on a socket in a folder that only this user can
// enter, ended and cleaned up with the process, also when a signal ends it. Entries:
// OwnDaemon::start() and find_daemon().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libuapi/support/result.hpp"

namespace sdmacc::cli {

class OwnDaemon {
 public:
  // Starts sdmaccd with `arguments` beside its socket, and waits until it listens. Found as
  // $SDMACCD, beside this program, in the build folder that this program lies in, or in $PATH. An
  // error has what the daemon wrote. One at a time in a process.
  static Result<std::unique_ptr<OwnDaemon>> start(const std::vector<std::string>& arguments = {});
  ~OwnDaemon();  // ends it, kills it after a few seconds
  OwnDaemon(const OwnDaemon&) = delete;
  OwnDaemon& operator=(const OwnDaemon&) = delete;

  const std::string& socket() const { return socket_; }

 private:
  OwnDaemon() = default;
  Status launch(const std::string& program, const std::vector<std::string>& arguments);
  Status wait_until_it_listens();
  std::string log() const;

  std::string folder_, socket_, log_;
  int pid_ = -1;
};

// The daemon that a command talks to.
struct DaemonToUse {
  std::string socket;
  std::unique_ptr<OwnDaemon> own;  // null: somebody else's
};
// The one at `socket`; with "" the one at the default path, or when none listens there, or
// `arguments` are given, one of our own.
Result<DaemonToUse> find_daemon(const std::string& socket,
                                const std::vector<std::string>& arguments = {});

}  // namespace sdmacc::cli
