// SPDX-License-Identifier: MIT
// The states of a group and the texts about who is missing; see group.hpp.
#include "daemon/server/group.hpp"

#include <algorithm>

namespace sdmacc::server {
namespace {

constexpr std::size_t kRanksInText = 16;  // more are counted, not listed

template <typename... Args>
tl::unexpected<Error> refuse(Errc code, fmt::format_string<Args...> format, Args&&... args) {
  return fail(code, Stage::Server, kNoIndex, format, std::forward<Args>(args)...);
}

}  // namespace

std::string_view name(GroupState state) {
  switch (state) {
    case GroupState::Forming:
      return "forming";
    case GroupState::Active:
      return "active";
    case GroupState::Revoked:
      return "revoked";
  }
  return "unknown";
}

std::string_view name(SeatState state) {
  switch (state) {
    case SeatState::Missing:
      return "missing";
    case SeatState::Waiting:
      return "waiting";
    case SeatState::Member:
      return "member";
  }
  return "unknown";
}

Group::Group(GroupId id, std::string name, std::uint32_t size, std::uint32_t mode,
             const Joiner& creator)
    : id_(id),
      name_(std::move(name)),
      mode_(mode),
      uid_(creator.uid),
      gid_(creator.gid),
      seats_(size) {}

bool Group::permits(const Joiner& joiner) const {
  const unsigned shift = joiner.uid == uid_ ? 6 : joiner.gid == gid_ ? 3 : 0;
  return joiner.uid == uid_ || ((mode_ >> shift) & 6u) == 6u;
}

Status Group::may_join(const Joiner& joiner, std::uint32_t size, std::uint32_t rank) const {
  if (!permits(joiner)) {
    return refuse(Errc::Invalid,
                  "group '{}' belongs to user {} with mode {:04o}: user {} may not join", name_,
                  uid_, mode_, joiner.uid);
  }
  if (size != seats_.size()) {
    return refuse(Errc::Mismatch, "group '{}' has {} ranks, rank {} says {}", name_, seats_.size(),
                  rank, size);
  }
  if (rank >= size) {
    return refuse(Errc::Range, "rank {} is outside group '{}' of {} ranks", rank, name_, size);
  }
  const Seat& seat = seats_[rank];
  if (state_ == GroupState::Active) {
    return refuse(Errc::Busy, "group '{}' is complete; its rank {} is process {}", name_, rank,
                  seat.holder.pid);
  }
  const bool own = seat.holder.session == joiner.session;
  if (seat.state == SeatState::Waiting || (seat.state == SeatState::Member && !own)) {
    return refuse(Errc::Busy, "rank {} of group '{}' is taken by process {}", rank, name_,
                  seat.holder.pid);
  }
  return {};
}

bool Group::sit(const Joiner& joiner, std::uint32_t rank) {
  Seat& seat = seats_[rank];
  seat.rejoining = seat.state == SeatState::Member;
  seat.state = SeatState::Waiting;
  seat.holder = joiner;
  return seat.rejoining;
}

bool Group::stand_up(std::uint32_t rank) {
  Seat& seat = seats_[rank];
  SDMACC_ASSERT(seat.state == SeatState::Waiting);
  if (!seat.rejoining) {
    leave(rank);
    return false;
  }
  seat.state = SeatState::Member;
  return true;
}

void Group::leave(std::uint32_t rank) {
  seats_[rank] = Seat{};
}

bool Group::complete() const {
  return std::all_of(seats_.begin(), seats_.end(),
                     [](const Seat& seat) { return seat.state == SeatState::Waiting; });
}

bool Group::empty() const {
  return std::all_of(seats_.begin(), seats_.end(),
                     [](const Seat& seat) { return seat.state == SeatState::Missing; });
}

void Group::activate() {
  SDMACC_ASSERT(complete() && idle());
  for (Seat& seat : seats_) {
    seat.state = SeatState::Member;
    seat.rejoining = false;
    seat.submitted = 0;
    seat.last_submission = {};
  }
  ++generation_;
  state_ = GroupState::Active;
  cause_ = {};
}

void Group::revoke(Error cause) {
  SDMACC_ASSERT(state_ == GroupState::Active);
  state_ = GroupState::Revoked;
  cause_ = std::move(cause);
}

void Group::submitted(std::uint32_t rank, Clock::time_point now) {
  Seat& seat = seats_[rank];
  ++seat.submitted;
  ++seat.in_flight;
  seat.last_submission = now;
  ++in_flight_;
}

void Group::completed(std::uint32_t rank) {
  SDMACC_ASSERT(in_flight_ > 0);
  --in_flight_;
  // The seat is empty when its holder died before.
  if (seats_[rank].in_flight > 0) --seats_[rank].in_flight;
}

std::string Group::missing_text() const {
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    if (seats_[rank].state != SeatState::Waiting) missing.push_back(rank);
  }
  std::string out = missing.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < missing.size() && i < kRanksInText; ++i) {
    if (i > 0) out += i + 1 == missing.size() ? " and " : ", ";
    out += std::to_string(missing[i]);
  }
  if (missing.size() > kRanksInText)
    out += fmt::format(" and {} more", missing.size() - kRanksInText);
  return out + fmt::format(" of {} {} missing", size(), missing.size() == 1 ? "is" : "are");
}

GroupView Group::view() const {
  GroupView out{id_, name_, state_, generation_, {}, {}};
  if (state_ == GroupState::Revoked) out.cause = cause_.text();
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    const Seat& seat = seats_[rank];
    out.seats.push_back({rank, seat.state, seat.holder.session, seat.holder.pid, seat.submitted,
                         seat.in_flight, seat.last_submission});
  }
  return out;
}

}  // namespace sdmacc::server
