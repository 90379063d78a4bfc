// SPDX-License-Identifier: MIT
// Requests of one connection: sending, waiting, ending. How it is opened is in open.cpp.
#include "libuapi/client/connection.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "libuapi/client/socket.hpp"

namespace sdmacc::client {
namespace {

template <typename... Args>
tl::unexpected<Error> refuse(Errc code, fmt::format_string<Args...> format, Args&&... args) {
  return fail(code, Stage::Client, kNoIndex, format, std::forward<Args>(args)...);
}

// poll() in whole milliseconds, not before the deadline; -1 for none.
int milliseconds_to(Clock::time_point deadline) {
  if (deadline == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

}  // namespace

Connection::~Connection() {
  if (!mapping_.empty()) ::munmap(mapping_.data(), mapping_.size());
}

void Connection::close() {
  const Lock lock(mutex_);
  lose("closed by this process");
}

void Connection::lose(std::string why) {
  lose(Error{Errc::DaemonGone, Stage::Client, kNoIndex, std::move(why)});
}

void Connection::lose(Error why) {
  if (gone_) return;
  drain_ring();  // what was finished before
  gone_ = std::move(why);
  ::shutdown(socket_.get(), SHUT_RDWR);  // wakes the pump
  pumped_.notify_all();
}

Status Connection::gone() const {
  if (gone_) return tl::unexpected<Error>(*gone_);
  return {};
}

Status Connection::alive() {
  const Lock lock(mutex_);
  return gone();
}

Pending* Connection::find(std::uint64_t id) {
  const auto found = std::find_if(pending_.begin(), pending_.end(),
                                  [id](const Pending* one) { return one->id == id; });
  return found == pending_.end() ? nullptr : *found;
}

Status Connection::call(std::vector<std::byte> frame, std::span<const int> fds, Pending& pending,
                        Clock::time_point deadline) {
  Lock lock(mutex_);
  SDMACC_CHECK(gone());
  pending.id = next_id_++;
  std::memcpy(frame.data() + offsetof(sdmacc_frame_header, request), &pending.id,
              sizeof(pending.id));
  pending_.push_back(&pending);
  Status sent = send(frame, fds);
  const bool ended = sent && wait(lock, pending, deadline);
  std::erase(pending_, &pending);
  SDMACC_CHECK(sent);
  SDMACC_CHECK(pending.done ? Status() : gone());
  if (!ended) return refuse(Errc::Timeout, "the daemon does not answer");
  if (pending.code != Errc::Ok) {
    return tl::unexpected<Error>(Error{pending.code, Stage::None, kNoIndex, pending.text});
  }
  return {};
}

Status Connection::send(std::span<const std::byte> frame, std::span<const int> fds) {
  for (;;) {
    switch (wire::send(socket_.get(), frame, fds, false)) {
      case wire::Io::Done:
        return {};
      case wire::Io::Closed:
        drain_socket();  // where it may have said why
        lose("the daemon closed the connection");
        return gone();
      case wire::Io::WouldBlock:
        break;
    }
    // The daemon takes nothing from who does not take its answers.
    drain_socket();
    pumped_.notify_all();
    SDMACC_CHECK(gone());
    pollfd socket{socket_.get(), POLLIN | POLLOUT, 0};
    ::poll(&socket, 1, -1);
  }
}

Status Connection::submit(sdmacc_submit_entry entry, Pending& pending) {
  const Lock lock(mutex_);
  SDMACC_CHECK(gone());
  if (in_ring_ >= in_flight_limit_) drain_ring();
  if (in_ring_ >= in_flight_limit_) {
    return refuse(Errc::NoSpace, "{} requests are in flight, which is the daemon's limit",
                  in_ring_);
  }
  pending.id = entry.request = next_id_++;
  pending.ring = true;
  pending_.push_back(&pending);
  ++in_ring_;
  submits_.put(entry);
  if (wire::load(memory_.header->daemon_waits) != 0) {
    wire::store(memory_.header->daemon_waits, 0u);
    const std::uint64_t one = 1;
    (void)!::write(doorbell_.get(), &one, sizeof(one));  // fails only if it has rung 2^64 times
  }
  return {};
}

bool Connection::wait(Pending& pending, Clock::time_point deadline) {
  Lock lock(mutex_);
  return wait(lock, pending, deadline);
}

bool Connection::wait(Lock& lock, Pending& pending, Clock::time_point deadline) {
  while (!pending.done && !gone_) {
    if (pumping_) {
      // Not wait_until(max), which some clocks turn into a time in the past.
      if (deadline == Clock::time_point::max()) {
        pumped_.wait(lock);
      } else if (pumped_.wait_until(lock, deadline) == std::cv_status::timeout) {
        break;
      }
    } else {
      if (Clock::now() >= deadline) break;
      pump(lock, pending.ring, deadline);
    }
  }
  return pending.done || gone_;
}

// Looks for what comes, for all threads, until something has come or the deadline has passed.
void Connection::pump(Lock& lock, bool ring, Clock::time_point deadline) {
  pumping_ = true;
  const bool crowded = busy_ > cpus_;
  lock.unlock();
  const auto ready = [this] { return memory_.header != nullptr && completes_.ready(); };
  bool readable = false;
  bool in_ring = ready();
  if (ring && !in_ring) {
    const auto left = deadline - Clock::now();
    in_ring = wire::spin(std::min<wire::SpinBudget::Time>(spin_.next(), left), crowded, ready);
    in_ring ? spin_.succeeded() : spin_.failed();
  }
  if (!in_ring) readable = sleep(deadline);
  lock.lock();
  pumping_ = false;
  drain_ring();
  if (readable || text_due_) drain_socket();
  pumped_.notify_all();
}

// True when the socket has something. Returns at once when the ring has.
bool Connection::sleep(Clock::time_point deadline) {
  pollfd socket{socket_.get(), POLLIN, 0};
  if (memory_.header == nullptr) return ::poll(&socket, 1, milliseconds_to(deadline)) > 0;
  wire::store(memory_.header->client_waits, 1u);
  const int timeout = completes_.ready() ? 0 : milliseconds_to(deadline);
  const bool readable = ::poll(&socket, 1, timeout) > 0;
  wire::store(memory_.header->client_waits, 0u);
  return readable;
}

bool Connection::test(Pending& pending) {
  const Lock lock(mutex_);
  if (!pumping_) {
    drain_ring();
    if (!pending.done) drain_socket();
  }
  return pending.done || gone_;
}

Status Connection::outcome(const Pending& pending) {
  const Lock lock(mutex_);
  if (!pending.done) return gone();
  if (pending.code == Errc::Ok) return {};
  return tl::unexpected<Error>(Error{pending.code, Stage::None, kNoIndex, pending.text});
}

void Connection::forget(Pending& pending) {
  const Lock lock(mutex_);
  std::erase(pending_, &pending);
}

GroupState Connection::look_at(const GroupState& group) {
  const Lock lock(mutex_);
  if (!pumping_ && !gone_) drain_socket();
  return group;
}

void Connection::forget(const GroupState& group) {
  const Lock lock(mutex_);
  const auto found = groups_.find(group.id);
  if (found != groups_.end() && found->second == &group) groups_.erase(found);
}

void Connection::drain_ring() {
  if (memory_.header == nullptr || pumping_) return;
  while (completes_.ready()) {
    const sdmacc_complete_entry entry = completes_.take();
    busy_ = entry.busy;
    if (in_ring_ > 0) --in_ring_;
    Pending* pending = find(entry.request);
    const bool has_text = (entry.flags & SDMACC_COMPLETE_TEXT) != 0;
    if (pending == nullptr) continue;
    pending->code = static_cast<Errc>(entry.code);
    pending->ended = true;
    pending->done = !has_text || !pending->text.empty();
    text_due_ |= !pending->done;
    if (pending->done) std::erase(pending_, pending);
  }
}

void Connection::drain_socket() {
  text_due_ = false;
  while (!gone_) {
    wire::Received got = wire::receive(socket_.get(), buffer_, false);
    if (got.io == wire::Io::WouldBlock) return;
    if (got.io == wire::Io::Closed) {
      return lose("the daemon closed the connection");
    }
    if (got.bytes > buffer_.size()) return lose("the daemon sent a frame over its own limit");
    // A WAKE is the last frame for now: what comes later makes the socket readable again.
    if (take_frame(std::span(buffer_).first(got.bytes), std::move(got.fds)) == SDMACC_FRAME_WAKE) {
      return;
    }
  }
}

// Returns the type of the frame, 0 for none.
std::uint16_t Connection::take_frame(std::span<const std::byte> bytes,
                                     std::vector<wire::UniqueFd> fds) {
  const Result<wire::Message> message = wire::parse_message(bytes, Stage::Client);
  if (!message) {
    lose(fmt::format("the daemon broke the protocol: {}", message.error().context));
    return 0;
  }
  const std::uint16_t type = message->header.type;
  if (type == SDMACC_FRAME_COMPLETE) take_answer(*message, bytes, std::move(fds));
  if (type == SDMACC_FRAME_GROUP_EVENT) take_event(*message);
  return type;  // later daemons may send what we need not know
}

void Connection::take_answer(const wire::Message& message, std::span<const std::byte> bytes,
                             std::vector<wire::UniqueFd> fds) {
  const auto code = static_cast<Errc>(message.u32(SDMACC_FIELD_CODE));
  std::string text(message.text(SDMACC_FIELD_TEXT));
  if (message.header.request == 0) {  // it is about the connection, which ends here
    return lose(Error{code, Stage::None, kNoIndex, std::move(text)});
  }
  Pending* pending = find(message.header.request);
  if (pending == nullptr) return;  // forgotten
  pending->text = text.empty() ? std::string(name(code)) : std::move(text);
  pending->code = code;
  pending->done = !pending->ring || pending->ended;
  if (pending->ring) {
    if (pending->done) std::erase(pending_, pending);
    return;
  }
  if (code == Errc::Ok && pending->joining != nullptr) {
    GroupState& group = *pending->joining;
    group.id = message.u32(SDMACC_FIELD_GROUP);
    group.generation = message.u32(SDMACC_FIELD_GENERATION);
    group.cause.reset();
    groups_[group.id] = &group;
  }
  pending->bytes.assign(bytes.begin(), bytes.end());
  pending->fds = std::move(fds);
}

void Connection::take_event(const wire::Message& message) {
  const auto found = groups_.find(message.u32(SDMACC_FIELD_GROUP));
  if (found == groups_.end()) return;
  GroupState& group = *found->second;
  if (message.u32(SDMACC_FIELD_EVENT) == SDMACC_GROUP_REVOKED) {
    group.cause = Error{static_cast<Errc>(message.u32(SDMACC_FIELD_CODE)), Stage::None, kNoIndex,
                        std::string(message.text(SDMACC_FIELD_TEXT))};
  } else if (message.u32(SDMACC_FIELD_EVENT) == SDMACC_GROUP_REBUILT) {
    group.generation = message.u32(SDMACC_FIELD_GENERATION);
    group.cause.reset();
  }
}

}  // namespace sdmacc::client
