// SPDX-License-Identifier: MIT
// Life of sessions: accept, read, poll the rings, disconnect. See server.hpp.
#include "daemon/server/server.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "libuapi/client/socket.hpp"

namespace sdmacc::server {
namespace {

constexpr int kHeat = 8;           // sleeps of the loop that a silent ring stays polled
constexpr int kFramesAtOnce = 16;  // of one client, before others have their turn
constexpr auto kListenPause = std::chrono::milliseconds(100);  // when descriptors run out

}  // namespace

Server::Server(Loop& loop, Backend& backend, const Options& options)
    : loop_(loop),
      backend_(backend),
      options_(options),
      mapped_(std::make_shared<MappedBytes>()),
      buffer_(options.limits.frame_bytes) {
  mapped_->limit = options.limits.mapped_bytes;
  loop_.add(*this);
  backend_.attach(*this);
}

Server::~Server() {
  loop_.remove(*this);
  loop_.cancel(deadline_timer_);
  for (const Loop::WatchId watch : listener_watches_) loop_.unwatch(watch);
  for (auto& [id, group] : groups_) {
    for (std::uint32_t rank = 0; rank < group.size(); ++rank) loop_.cancel(group.seat(rank).timer);
  }
  for (const auto& [id, session] : sessions_) session->disconnect();
}

Status Server::listen(Listener listener) {
  const int fd = listener.fd();
  SDMACC_TRY(const Loop::WatchId watch,
             loop_.watch(fd, EPOLLIN, [this, fd](std::uint32_t) { accept(fd); }));
  listener_watches_.push_back(watch);
  listeners_.push_back(std::move(listener));
  return {};
}

void Server::accept(int listener) {
  for (;;) {
    wire::UniqueFd socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        pause_listening();
      }
      if (errno != EINTR && errno != ECONNABORTED) return;
      continue;
    }
    (void)adopt(std::move(socket)).has_value();  // the client has been told
  }
}

// Without a pause the loop would be called for the waiting connection again and again.
void Server::pause_listening() {
  for (const Loop::WatchId watch : listener_watches_) loop_.change(watch, 0);
  loop_.at(Clock::now() + kListenPause, [this] {
    for (const Loop::WatchId watch : listener_watches_) loop_.change(watch, EPOLLIN);
  });
}

Status Server::adopt(wire::UniqueFd socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return fail(Errc::System, Stage::Server, kNoIndex, "getsockopt(SO_PEERCRED): {}",
                wire::errno_text(errno));
  }
  const Joiner joiner{next_session_++, peer.pid, peer.uid, peer.gid};
  const auto session = std::make_shared<Session>(loop_, std::move(socket), joiner,
                                                 options_.limits.tensors_per_client);
  Status status = session->watch([this, id = joiner.session] {
    if (const SessionRef self = find(id)) receive(self);
  });
  if (status && connected_ >= options_.limits.clients) {
    status = fail(Errc::NoSpace, Stage::Server, kNoIndex, "limit of {} clients reached",
                  options_.limits.clients);
  }
  if (!status) {
    session->answer(0, status);
    return status;
  }
  ++connected_;
  sessions_.emplace(session->id(), session);
  session->hello_timer = loop_.at(Clock::now() + options_.hello_timeout, [this, session] {
    session->answer(0, fail(Errc::Timeout, Stage::Server, kNoIndex, "no HELLO within {} ms",
                            options_.hello_timeout / std::chrono::milliseconds(1)));
    doom(*session, "sent no HELLO");
  });
  return {};
}

Server::SessionRef Server::find(SessionId id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second;
}

void Server::receive(const SessionRef& session) {
  for (int i = 0; i < kFramesAtOnce && session->served(); ++i) {
    wire::Received got = session->receive(buffer_);
    if (got.io == wire::Io::WouldBlock) return;
    if (got.io == wire::Io::Closed) return doom(*session, "disconnected");
    // What was submitted before the frame was sent comes before it.
    if (session->has_rings()) serve_ring(*session);
    if (got.bytes > buffer_.size()) {
      session->answer(request_of(buffer_),
                      fail(Errc::Protocol, Stage::Server, kNoIndex,
                           "frame of {} bytes is over the limit of {}", got.bytes, buffer_.size()));
      continue;
    }
    handle(session, std::span(buffer_).first(got.bytes), std::move(got.fds), got.fds_lost);
    tidy();  // the next frame may be about the same group
  }
}

void Server::warm(const SessionRef& session) {
  if (session->heat == 0) {
    hot_.push_back(session);
    session->set_waiting(false);
  }
  session->heat = kHeat;
}

bool Server::serve_ring(Session& session) {
  if (!session.served()) return false;
  auto& ring = session.submits();
  if (!ring.ready()) {
    if (ring.broken()) {
      const Status broken =
          fail(Errc::Protocol, Stage::Server, kNoIndex,
               "submit ring has sequence {} in place of {}", ring.sequence(), ring.expected());
      session.answer(0, broken);
      doom(session, broken.error().context);
    }
    return false;
  }
  // A client that fills the ring all the time must not keep the loop from the others.
  for (std::uint32_t i = 0; i < options_.limits.in_flight_per_client && ring.ready(); ++i) {
    const sdmacc_submit_entry entry = ring.take();
    if (Status refused = submit_entry(session, entry); !refused) {
      session.finish({entry.request, 0, 0, Route::Ring, {}}, refused, writers() + 1);
      if (!session.served()) break;
    }
  }
  if (!session.wake_listed) {
    session.wake_listed = true;
    wake_.push_back(find(session.id()));
  }
  return true;
}

bool Server::poll() {
  bool any = false;
  for (std::size_t i = 0; i < hot_.size(); ++i) {
    if (!serve_ring(*hot_[i])) continue;
    hot_[i]->heat = kHeat;
    any = true;
  }
  tidy();  // before the wakes, for it may end requests
  for (const SessionRef& session : wake_) {
    session->wake_listed = false;
    session->wake();
  }
  wake_.clear();
  return any;
}

bool Server::arm() {
  bool something = false;
  for (const SessionRef& session : hot_) {
    session->set_waiting(true);
    something |= session->served() && session->submits().ready();
  }
  return something;
}

// A ring that was silent for some sleeps keeps its waiting mark, and is looked at when the doorbell
// rings.
void Server::disarm() {
  std::erase_if(hot_, [](const SessionRef& session) {
    const bool ready = session->connected() && session->submits().ready();
    if (ready || --session->heat > 0) {
      session->set_waiting(false);
      return false;
    }
    session->heat = 0;
    return true;
  });
}

void Server::doom(Session& session, std::string why) {
  session.doomed = true;
  doomed_.emplace_back(session.id(), std::move(why));
}

void Server::tidy() {
  while (!doomed_.empty() || !unsettled_.empty()) {
    for (const auto& [id, why] : std::exchange(doomed_, {})) {
      if (const SessionRef session = find(id)) bury(*session, why);
    }
    for (const GroupId id : std::exchange(unsettled_, {})) settle(id);
  }
}

// Disconnects, and forgets the session when nothing of it is in flight any more.
void Server::bury(Session& session, const std::string& why) {
  if (session.connected()) {
    --connected_;
    session.disconnect();
    for (std::uint32_t i = static_cast<std::uint32_t>(session.places().size()); i-- > 0;) {
      if (session.place(i) != nullptr) vacate(session, i, why);
    }
    const TensorTable tensors = std::exchange(session.tensors, TensorTable(0));
    for (const auto& [number, tensor] : tensors.all()) backend_.tensor_gone(tensor);
  }
  if (session.in_flight.empty()) sessions_.erase(session.id());
}

void Server::complete(SessionId id, RequestId request, const Status& status) {
  const SessionRef session = find(id);
  if (!session) return;
  InFlight* found = session->find(request);
  if (found == nullptr) return;
  const InFlight one = *found;
  *found = session->in_flight.back();
  session->in_flight.pop_back();
  session->finish(one, status, writers() + 1);
  if (!session->wake_listed && session->connected()) {
    session->wake_listed = true;
    wake_.push_back(session);
  }
  if (!session->connected() && session->in_flight.empty()) doom(*session, {});
  if (Group* group = find_group(one.group)) {
    group->completed(one.rank);
    if (group->idle() && group->state() != GroupState::Active) unsettled_.push_back(one.group);
  }
}

View Server::view() const {
  View out;
  out.mapped_bytes = mapped_->used;
  for (const auto& [id, session] : sessions_) {
    const auto groups = std::count_if(session->places().begin(), session->places().end(),
                                      [](const auto& place) { return place.has_value(); });
    out.sessions.push_back({id, session->name, session->peer().pid, session->peer().uid,
                            static_cast<std::uint32_t>(groups),
                            static_cast<std::uint32_t>(session->tensors.all().size()),
                            static_cast<std::uint32_t>(session->in_flight.size()),
                            session->tensors.mapped_bytes(), session->connected()});
  }
  for (const auto& [id, group] : groups_) out.groups.push_back(group.view());
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  std::sort(out.sessions.begin(), out.sessions.end(), by_id);
  std::sort(out.groups.begin(), out.groups.end(), by_id);
  return out;
}

}  // namespace sdmacc::server
