// SPDX-License-Identifier: MIT
// Connection: the client's side of one session. Any thread may wait for its own request; one of
// them at a time, the pump, looks at the ring and the socket for all. Entry: Connection::open().
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "libuapi/client/message.hpp"
#include "libuapi/client/rings.hpp"
#include "libuapi/client/spin.hpp"
#include "libuapi/client/unique_fd.hpp"

namespace sdmacc::client {

using Clock = std::chrono::steady_clock;

// What the daemon tells about a group. Protected by the Connection's lock.
struct GroupState {
  std::uint32_t id = 0;
  std::uint32_t generation = 0;
  std::optional<Error> cause;  // revoked
};

// A request in flight; its owner keeps it until it is done or forgotten.
struct Pending {
  std::uint64_t id = 0;
  GroupState* joining = nullptr;  // of a JOIN: takes what the answer says
  bool ring = false;
  bool done = false;
  bool ended = false;  // its ring entry has come, its text not yet
  Errc code = Errc::Ok;
  std::string text;              // when code is not Ok
  std::vector<std::byte> bytes;  // the answer to a frame
  std::vector<wire::UniqueFd> fds;
};

class Connection {
 public:
  static Result<std::shared_ptr<Connection>> open(const std::string& path);
  ~Connection();

  // Ends the connection for all threads.
  void close();

  // Sends a frame whose request number is left 0, and waits for the answer. The error is the
  // daemon's, or Timeout when there is none by the deadline.
  Status call(std::vector<std::byte> frame, std::span<const int> fds, Pending& pending,
              Clock::time_point deadline);

  // Puts words into the ring. `pending` must be waited for or forgotten.
  Status submit(sdmacc_submit_entry entry, Pending& pending);
  // True when the request is done or the connection is gone; then outcome() is how it ended.
  bool wait(Pending& pending, Clock::time_point deadline);
  bool test(Pending& pending);
  Status outcome(const Pending& pending);
  void forget(Pending& pending);

  Status alive();

  // What is known about a group without asking, after what has come in.
  GroupState look_at(const GroupState& group);
  void forget(const GroupState& group);

  std::uint16_t version() const { return version_; }

 private:
  using Lock = std::unique_lock<std::mutex>;

  Connection() : cpus_(wire::usable_cpus()) {}
  Status greet();
  Status map_rings(const wire::Message& welcome, std::vector<wire::UniqueFd>& fds);

  // All below: with the lock held; it may be given up on the way where it is passed.
  bool wait(Lock& lock, Pending& pending, Clock::time_point deadline);
  void pump(Lock& lock, bool ring, Clock::time_point deadline);
  bool sleep(Clock::time_point deadline);  // without the lock, by the pump
  void drain_ring();
  void drain_socket();
  std::uint16_t take_frame(std::span<const std::byte> bytes, std::vector<wire::UniqueFd> fds);
  void take_answer(const wire::Message& message, std::span<const std::byte> bytes,
                   std::vector<wire::UniqueFd> fds);
  void take_event(const wire::Message& message);
  Status send(std::span<const std::byte> frame, std::span<const int> fds);
  void lose(std::string why);
  void lose(Error why);
  Status gone() const;
  Pending* find(std::uint64_t id);

  wire::UniqueFd socket_;
  std::uint16_t version_ = 1;
  std::uint32_t in_flight_limit_ = 0;
  std::span<std::byte> mapping_;
  wire::SessionMemory memory_;
  wire::UniqueFd doorbell_;
  const unsigned cpus_;

  std::mutex mutex_;  // protects all below
  std::condition_variable pumped_;
  bool pumping_ = false;  // one thread has given up the lock to look for what comes
  std::optional<Error> gone_;
  std::uint64_t next_id_ = 1;
  std::vector<Pending*> pending_;
  std::unordered_map<std::uint32_t, GroupState*> groups_;
  std::uint32_t in_ring_ = 0;  // submissions without their ring entry
  bool text_due_ = false;      // a ring entry has said that a text is in the socket
  std::uint32_t busy_ = 0;     // the daemon's hint
  wire::RingWriter<sdmacc_submit_entry> submits_;
  wire::RingReader<sdmacc_complete_entry>
      completes_;  // only looked at by the pump without the lock
  wire::SpinBudget spin_{std::chrono::microseconds(50)};
  std::vector<std::byte> buffer_;  // for one frame
};

}  // namespace sdmacc::client
