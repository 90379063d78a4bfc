// SPDX-License-Identifier: MIT
// What happens to groups: join, leave, revoke, rebuild, deadlines. Part of Server; see server.hpp.
#include "daemon/server/server.hpp"

namespace sdmacc::server {
namespace {

template <typename... Args>
tl::unexpected<Error> refuse(Errc code, fmt::format_string<Args...> format, Args&&... args) {
  return fail(code, Stage::Server, kNoIndex, format, std::forward<Args>(args)...);
}

std::string milliseconds(std::chrono::nanoseconds time) {
  return fmt::format("{} ms", std::chrono::ceil<std::chrono::milliseconds>(time).count());
}

}  // namespace

Group* Server::find_group(GroupId id) {
  const auto found = groups_.find(id);
  return found == groups_.end() ? nullptr : &found->second;
}

// The group called name, made when there is none, in which the joiner may take its seat.
Result<Group*> Server::group_to_join(const Joiner& joiner, const std::string& name,
                                     std::uint32_t size, std::uint32_t rank, std::uint32_t mode) {
  if (const auto known = group_names_.find(name); known != group_names_.end()) {
    Group& group = *find_group(known->second);
    SDMACC_CHECK(group.may_join(joiner, size, rank));
    return &group;
  }
  if (size == 0 || size > options_.limits.ranks) {
    return refuse(Errc::Range, "group of {} ranks, must have 1 to {}", size, options_.limits.ranks);
  }
  if (mode > 0777) return refuse(Errc::Invalid, "mode {:#o} has more than permission bits", mode);
  if (groups_.size() >= options_.limits.groups) {
    return refuse(Errc::NoSpace, "limit of {} groups reached", options_.limits.groups);
  }
  Group group(next_group_, name, size, mode, joiner);
  SDMACC_CHECK(group.may_join(joiner, size, rank));
  group_names_.emplace(name, next_group_);
  return &groups_.emplace(next_group_++, std::move(group)).first->second;
}

// The group that a client means by its number, and the rank it has there.
Result<std::pair<Group*, std::uint32_t>> Server::member(const Session& session,
                                                        std::uint32_t session_group) {
  const Place* place = session.place(session_group);
  if (place == nullptr) {
    return refuse(Errc::NotFound, "this client has not joined a group {}", session_group);
  }
  return std::pair(find_group(place->group), place->rank);
}

void Server::join_timed_out(GroupId id, std::uint32_t rank, std::chrono::nanoseconds timeout) {
  Group& group = *find_group(id);  // else the timer would have been cancelled
  const bool draining = group.complete();
  refuse_join(group, rank,
              Error{Errc::Timeout, Stage::Server, kNoIndex,
                    fmt::format("group '{}' is not complete after {}: {}", group.name(),
                                milliseconds(timeout),
                                draining ? "requests of its last generation are still in flight"
                                         : group.missing_text())});
}

void Server::refuse_join(Group& group, std::uint32_t rank, const Error& error) {
  Seat& seat = group.seat(rank);
  loop_.cancel(seat.timer);
  const SessionRef session = find(seat.holder.session);
  const std::uint32_t number = seat.session_group;
  session->answer(seat.join_request, tl::unexpected<Error>(error));
  if (!group.stand_up(rank)) session->remove_place(number);
  unsettled_.push_back(group.id());
}

// Empties the seat that a session has in a group, because it `how`, and fails the group for the
// rest.
void Server::vacate(Session& session, std::uint32_t session_group, const std::string& how) {
  const auto [id, rank] = *session.place(session_group);
  Group& group = *find_group(id);
  const Seat seat = group.seat(rank);
  loop_.cancel(seat.timer);
  if (seat.state == SeatState::Waiting) {
    session.answer(seat.join_request,
                   refuse(Errc::Cancelled, "left group '{}' before it was complete", group.name()));
  }
  group.leave(rank);
  session.remove_place(session_group);
  revoke(id, Error{Errc::PeerGone, Stage::Server, kNoIndex,
                   fmt::format("rank {} of group '{}' (process {}) {}", rank, group.name(),
                               session.peer().pid, how)});
  unsettled_.push_back(id);
}

void Server::revoke(GroupId id, const Error& cause) {
  Group* group = find_group(id);
  if (group == nullptr || group->state() != GroupState::Active) return;
  group->revoke(cause);
  announce(*group, SDMACC_GROUP_REVOKED);
  backend_.group_revoked(id, cause);
}

// Tells the members what happened to their group.
void Server::announce(Group& group, std::uint32_t event) {
  for (std::uint32_t rank = 0; rank < group.size(); ++rank) {
    const Seat& seat = group.seat(rank);
    const SessionRef session = find(seat.holder.session);
    if (!session || !session->connected()) continue;
    wire::MessageWriter out(SDMACC_FRAME_GROUP_EVENT, static_cast<std::uint16_t>(session->version),
                            0);
    out.u32(SDMACC_FIELD_GROUP, seat.session_group)
        .u32(SDMACC_FIELD_GENERATION, group.generation())
        .u32(SDMACC_FIELD_EVENT, event);
    if (event == SDMACC_GROUP_REVOKED) {
      out.u32(SDMACC_FIELD_CODE, static_cast<std::uint32_t>(group.cause().code))
          .text(SDMACC_FIELD_TEXT, group.cause().text());
    }
    session->send(out.finish());
  }
}

// Does what a change of seats or the end of a request has made possible.
void Server::settle(GroupId id) {
  Group* group = find_group(id);
  if (group == nullptr || !group->idle() || group->state() == GroupState::Active) return;
  if (group->complete()) return activate(*group);
  if (!group->empty()) return;
  if (group->generation() > 0) backend_.group_gone(id);
  group_names_.erase(group->name());
  groups_.erase(id);
}

void Server::activate(Group& group) {
  GroupInfo info{group.id(), group.generation() + 1, group.name(), {}};
  for (std::uint32_t rank = 0; rank < group.size(); ++rank) {
    const Seat& seat = group.seat(rank);
    info.members.push_back(
        {seat.holder.session, seat.session_group, seat.holder.pid, seat.holder.uid});
  }
  if (const Status ready = backend_.group_ready(info); !ready) {
    for (std::uint32_t rank = 0; rank < group.size(); ++rank) {
      refuse_join(group, rank, ready.error());
    }
    return;
  }
  group.activate();
  if (group.generation() > 1) announce(group, SDMACC_GROUP_REBUILT);
  for (std::uint32_t rank = 0; rank < group.size(); ++rank) {
    const Seat& seat = group.seat(rank);
    loop_.cancel(seat.timer);
    const SessionRef session = find(seat.holder.session);
    wire::MessageWriter out(SDMACC_FRAME_COMPLETE, static_cast<std::uint16_t>(session->version),
                            seat.join_request);
    out.u32(SDMACC_FIELD_CODE, 0)
        .u32(SDMACC_FIELD_GROUP, seat.session_group)
        .u32(SDMACC_FIELD_GENERATION, group.generation());
    session->send(out.finish());
  }
}

// One timer for all requests in flight: it is set for the earliest deadline it has heard of, and
// looks for the next one when it fires, so that a request that ends in time costs nothing.
void Server::note_deadline(Clock::time_point deadline) {
  if (deadline >= next_deadline_) return;
  loop_.cancel(deadline_timer_);
  next_deadline_ = deadline;
  deadline_timer_ = loop_.at(deadline, [this] { run_deadlines(); });
}

void Server::run_deadlines() {
  const Clock::time_point now = Clock::now();
  next_deadline_ = Clock::time_point::max();
  struct Late {
    GroupId group;
    SessionId session;
    RequestId request;
  };
  std::vector<Late> late;
  Clock::time_point next = Clock::time_point::max();
  for (const auto& [id, session] : sessions_) {
    for (InFlight& one : session->in_flight) {
      if (one.deadline <= now) {
        late.push_back({one.group, id, one.request});
        one.deadline = Clock::time_point::max();
      }
      next = std::min(next, one.deadline);
    }
  }
  for (const Late& one : late) {
    const SessionRef session = find(one.session);
    if (session && session->find(one.request) != nullptr) {
      backend_.expired(one.group, one.session, one.request);
    }
  }
  note_deadline(next);
}

}  // namespace sdmacc::server
