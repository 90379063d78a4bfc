// SPDX-License-Identifier: MIT
// Session: the daemon's side of one client: its socket with a queue for what does not fit, its
// rings, and the numbers it has given to groups, tensors and requests. What frames mean is the
// Server's.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "daemon/server/group.hpp"
#include "daemon/server/loop.hpp"
#include "daemon/server/tensor.hpp"
#include "libuapi/client/message.hpp"
#include "libuapi/client/rings.hpp"
#include "libuapi/client/socket.hpp"
#include "libuapi/client/unique_fd.hpp"

namespace sdmacc::server {

// How a request came, and so how it is answered.
enum class Route : std::uint8_t { Socket, Ring };

struct InFlight {
  RequestId request = 0;
  GroupId group = 0;
  std::uint32_t rank = 0;
  Route route = Route::Socket;
  Clock::time_point deadline;
};

struct Place {
  GroupId group = 0;
  std::uint32_t rank = 0;
};

class Session {
 public:
  Session(Loop& loop, wire::UniqueFd socket, const Joiner& peer, std::uint32_t tensor_limit);
  ~Session();

  const Joiner& peer() const { return peer_; }
  SessionId id() const { return peer_.session; }
  bool connected() const { return static_cast<bool>(socket_); }

  // Begins to call `ready` when there is something to receive, and when a blocked session is not
  // blocked any more.
  Status watch(std::function<void()> ready);
  wire::Received receive(std::span<std::byte> buffer);
  // Sends, or queues behind what is queued. While a session is blocked() nothing is taken from it,
  // so that the queue holds no more than the answers to what is in flight.
  void send(std::vector<std::byte> frame, std::vector<wire::UniqueFd> fds = {});
  bool blocked() const { return !queue_.empty(); }
  void disconnect();
  // Frames and ring entries are taken.
  bool served() const { return connected() && !blocked() && !doomed; }

  // COMPLETE with an error, or with nothing else to say.
  void answer(RequestId request, const Status& status);

  // Makes the rings, and calls `rung` when the client rings the doorbell.
  struct Shared {
    wire::UniqueFd memory;
    wire::UniqueFd doorbell;
    std::size_t bytes;
  };
  Result<Shared> make_rings(std::uint32_t in_flight_limit, std::function<void()> rung);
  bool has_rings() const { return memory_.header != nullptr; }
  wire::RingReader<sdmacc_submit_entry>& submits() { return submits_; }
  void set_waiting(bool waiting) { wire::store(memory_.header->daemon_waits, waiting ? 1u : 0u); }
  // Puts the end of a request where its answer belongs; `busy` is the hint for the client.
  void finish(const InFlight& request, const Status& status, std::uint32_t busy);
  // Wakes the client if it sleeps.
  void wake();

  // Lowest free number.
  std::uint32_t add_place(Place place);
  void remove_place(std::uint32_t number);
  const Place* place(std::uint32_t number) const;  // nullptr: none
  const std::vector<std::optional<Place>>& places() const { return places_; }

  InFlight* find(RequestId request);
  std::vector<InFlight> in_flight;  // a few

  std::uint32_t version = 0;  // 0 before HELLO
  std::string name;
  TensorTable tensors;
  Loop::TimerId hello_timer = 0;
  int heat = 0;              // how often the loop will still look here after it slept
  bool wake_listed = false;  // the server will call wake()
  bool doomed = false;       // the server will disconnect it

 private:
  struct Outgoing {
    std::vector<std::byte> frame;
    std::vector<wire::UniqueFd> fds;
  };
  wire::Io transmit(const Outgoing& out);
  void on_socket(std::uint32_t events);
  void flush();
  void give_up();  // makes the socket look closed, so that ready_ finds its end

  Loop& loop_;
  wire::UniqueFd socket_;
  Joiner peer_;
  Loop::WatchId socket_watch_ = 0;
  std::function<void()> ready_;
  std::deque<Outgoing> queue_;
  bool broken_ = false;

  wire::UniqueFd doorbell_;
  Loop::WatchId doorbell_watch_ = 0;
  std::span<std::byte> mapping_;
  wire::SessionMemory memory_;
  wire::RingReader<sdmacc_submit_entry> submits_;
  wire::RingWriter<sdmacc_complete_entry> completes_;

  std::vector<std::optional<Place>> places_;
};

}  // namespace sdmacc::server
