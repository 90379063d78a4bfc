// SPDX-License-Identifier: MIT
// What stands behind the opaque handles of sdmacc.h, and how an Error leaves through the C
// interface.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "libuapi/client/connection.hpp"
#include "libuapi/client/mapping.hpp"
#include "libuapi/client/unique_fd.hpp"

#pragma GCC visibility push(default)
#include "libuapi/client/sdmacc.h"
#pragma GCC visibility pop

// Each handle shares the Connection, so that they can be freed in any order.
struct sdmacc_connection {
  std::shared_ptr<sdmacc::client::Connection> link;
};

struct sdmacc_group {
  std::shared_ptr<sdmacc::client::Connection> link;
  std::string name;
  std::uint32_t size = 0, rank = 0, mode = 0;
  std::uint32_t id = 0;                      // does not change in a rebuild
  std::atomic<std::uint64_t> timeout_ns{0};  // of operations; 0 = the daemon's default
  sdmacc::client::GroupState state;
};

struct sdmacc_tensor {
  std::shared_ptr<sdmacc::client::Connection> link;
  sdmacc::wire::UniqueFd fd;
  sdmacc::wire::Mapping mapping;
  std::uint64_t bytes = 0;
  std::uint32_t id = 0;
};

struct sdmacc_request {
  std::shared_ptr<sdmacc::client::Connection> link;
  sdmacc::client::Pending pending;
};

namespace sdmacc::client {

// The code, after its text was kept for sdmacc_last_error().
int report(const Status& status);
int report(const Error& error);

template <typename... Args>
int refuse_argument(fmt::format_string<Args...> format, Args&&... args) {
  return report(Error{Errc::Invalid, Stage::Client, kNoIndex,
                      fmt::format(format, std::forward<Args>(args)...)});
}

// Milliseconds of the C interface as nanoseconds of the wire, where 0 is the daemon's default.
inline std::uint64_t wire_timeout(int timeout_ms) {
  if (timeout_ms < 0) return 0;
  return timeout_ms == 0 ? 1 : static_cast<std::uint64_t>(timeout_ms) * 1'000'000;
}

// The daemon answers at once to all frames but JOIN; when it does not, it hangs.
inline Clock::time_point answer_deadline() {
  return Clock::now() + std::chrono::seconds(30);
}

}  // namespace sdmacc::client
