// SPDX-License-Identifier: MIT
// Group: who holds which rank, and whether the group works: forming → active → revoked → (all ranks
// join again) active with the next generation. Pure state; the server acts on what changes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/server/view.hpp"
#include "libuapi/support/result.hpp"

namespace sdmacc::server {

struct Joiner {
  SessionId session = 0;
  pid_t pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
};

struct Seat {
  SeatState state = SeatState::Missing;
  Joiner holder;
  std::uint32_t session_group = 0;  // the group's number in the holder's session
  bool rejoining = false;           // Waiting, and a Member again if that fails
  RequestId join_request = 0;       // of a Waiting one
  std::uint64_t timer = 0;          // of a Waiting one
  std::uint64_t submitted = 0;
  std::uint32_t in_flight = 0;
  Clock::time_point last_submission{};
};

class Group {
 public:
  Group(GroupId id, std::string name, std::uint32_t size, std::uint32_t mode,
        const Joiner& creator);

  GroupId id() const { return id_; }
  const std::string& name() const { return name_; }
  GroupState state() const { return state_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(seats_.size()); }
  std::uint32_t generation() const { return generation_; }
  const Error& cause() const { return cause_; }  // of a revoked group
  Seat& seat(std::uint32_t rank) { return seats_[rank]; }
  const Seat& seat(std::uint32_t rank) const { return seats_[rank]; }

  // Whether this process may join with these arguments now.
  Status may_join(const Joiner& joiner, std::uint32_t size, std::uint32_t rank) const;
  // Takes the seat, after may_join(). True when the joiner was a member already.
  bool sit(const Joiner& joiner, std::uint32_t rank);
  // Undoes sit() of a rank that still waits. True when the rank stays a member.
  bool stand_up(std::uint32_t rank);
  // Empties a seat.
  void leave(std::uint32_t rank);

  bool complete() const;  // all ranks wait
  bool empty() const;     // nobody waits or is a member
  bool idle() const { return in_flight_ == 0; }
  void activate();           // after complete() and idle()
  void revoke(Error cause);  // of an active group
  void submitted(std::uint32_t rank, Clock::time_point now);
  void completed(std::uint32_t rank);

  // "ranks 1 and 3 of 4 are missing".
  std::string missing_text() const;
  GroupView view() const;

 private:
  bool permits(const Joiner& joiner) const;

  GroupId id_;
  std::string name_;
  std::uint32_t mode_;
  uid_t uid_;
  gid_t gid_;
  GroupState state_ = GroupState::Forming;
  std::uint32_t generation_ = 0;
  Error cause_;
  std::vector<Seat> seats_;
  std::uint64_t in_flight_ = 0;
};

}  // namespace sdmacc::server
