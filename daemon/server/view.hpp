// SPDX-License-Identifier: MIT
// View: a copy of who is connected, which groups there are, and who is missing from them; for
// status and for error texts. Made by Server::view(); plain data.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace sdmacc::server {

using Clock = std::chrono::steady_clock;
using SessionId = std::uint64_t;  // never used twice
using GroupId = std::uint64_t;    // never used twice; stays through rebuilds
using RequestId = std::uint64_t;  // the client's

enum class GroupState : std::uint8_t { Forming, Active, Revoked };

// Missing: nobody. Waiting: has called join. Member: of the active or of the failed generation.
enum class SeatState : std::uint8_t { Missing, Waiting, Member };

struct SeatView {
  std::uint32_t rank = 0;
  SeatState state = SeatState::Missing;
  SessionId session = 0;  // 0 = nobody
  pid_t pid = 0;
  std::uint64_t submitted = 0;          // operations, in this generation
  std::uint32_t in_flight = 0;          // of them
  Clock::time_point last_submission{};  // epoch when there was none
};

struct GroupView {
  GroupId id = 0;
  std::string name;
  GroupState state = GroupState::Forming;
  std::uint32_t generation = 0;
  std::string cause;            // of a revoked group
  std::vector<SeatView> seats;  // by rank
};

struct SessionView {
  SessionId id = 0;
  std::string name;  // as the client calls itself
  pid_t pid = 0;
  uid_t uid = 0;
  std::uint32_t groups = 0, tensors = 0, in_flight = 0;
  std::uint64_t mapped_bytes = 0;
  bool connected = false;  // false: gone, its requests are still in flight
};

struct View {
  std::vector<SessionView> sessions;
  std::vector<GroupView> groups;
  std::uint64_t mapped_bytes = 0;
};

std::string_view name(GroupState);  // "forming"
std::string_view name(SeatState);   // "missing"

}  // namespace sdmacc::server
