// SPDX-License-Identifier: MIT
// Input, output and bookkeeping of one client; see session.hpp.
#include "daemon/server/session.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "libuapi/client/socket.hpp"

namespace sdmacc::server {

Session::Session(Loop& loop, wire::UniqueFd socket, const Joiner& peer, std::uint32_t tensor_limit)
    : tensors(tensor_limit), loop_(loop), socket_(std::move(socket)), peer_(peer) {}

Session::~Session() {
  disconnect();
  if (!mapping_.empty()) ::munmap(mapping_.data(), mapping_.size());
}

Status Session::watch(std::function<void()> ready) {
  SDMACC_TRY(socket_watch_, loop_.watch(socket_.get(), EPOLLIN,
                                        [this](std::uint32_t events) { on_socket(events); }));
  ready_ = std::move(ready);
  return {};
}

void Session::on_socket(std::uint32_t events) {
  if (blocked()) {
    if (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) flush();
    if (blocked()) return;
  }
  ready_();
}

wire::Received Session::receive(std::span<std::byte> buffer) {
  return wire::receive(socket_.get(), buffer, false);
}

wire::Io Session::transmit(const Outgoing& out) {
  int fds[wire::kMaxFds];
  std::transform(out.fds.begin(), out.fds.end(), fds, [](const auto& fd) { return fd.get(); });
  return wire::send(socket_.get(), out.frame, std::span(fds, out.fds.size()), false);
}

void Session::send(std::vector<std::byte> frame, std::vector<wire::UniqueFd> fds) {
  if (!connected() || broken_) return;
  Outgoing out{std::move(frame), std::move(fds)};
  if (!blocked()) {
    const wire::Io io = transmit(out);
    if (io == wire::Io::Closed) give_up();
    if (io != wire::Io::WouldBlock) return;
    loop_.change(socket_watch_, EPOLLOUT);
  }
  queue_.push_back(std::move(out));
}

void Session::flush() {
  while (!queue_.empty()) {
    const wire::Io io = transmit(queue_.front());
    if (io == wire::Io::WouldBlock) return;
    if (io == wire::Io::Closed) return give_up();
    queue_.pop_front();
  }
  loop_.change(socket_watch_, EPOLLIN);
}

void Session::give_up() {
  broken_ = true;
  queue_.clear();
  ::shutdown(socket_.get(), SHUT_RDWR);
  loop_.change(socket_watch_, EPOLLIN);
}

void Session::answer(RequestId request, const Status& status) {
  wire::MessageWriter frame(SDMACC_FRAME_COMPLETE,
                            static_cast<std::uint16_t>(std::max(version, 1u)), request);
  frame.u32(SDMACC_FIELD_CODE, static_cast<std::uint32_t>(status ? Errc::Ok : status.error().code));
  if (!status) frame.text(SDMACC_FIELD_TEXT, status.error().text());
  send(frame.finish());
}

void Session::disconnect() {
  loop_.cancel(hello_timer);
  loop_.unwatch(socket_watch_);
  loop_.unwatch(doorbell_watch_);
  socket_.reset();
  doorbell_.reset();
  queue_.clear();
}

Result<Session::Shared> Session::make_rings(std::uint32_t in_flight_limit,
                                            std::function<void()> rung) {
  const auto failed = [](const char* call) {
    return fail(Errc::System, Stage::Server, kNoIndex, "{} for the rings of a client: {}", call,
                wire::errno_text(errno));
  };
  const std::uint32_t entries = std::bit_ceil(in_flight_limit);
  Shared out;
  out.bytes = wire::SessionMemory::bytes_for(entries);
  out.memory.reset(::memfd_create("sdmacc-rings", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!out.memory) return failed("memfd_create");
  if (::ftruncate(out.memory.get(), static_cast<off_t>(out.bytes)) != 0) return failed("ftruncate");
  if (::fcntl(out.memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return failed("fcntl(F_ADD_SEALS)");
  }
  void* mapping = ::mmap(nullptr, out.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                         out.memory.get(), 0);
  if (mapping == MAP_FAILED) return failed("mmap");
  mapping_ = {static_cast<std::byte*>(mapping), out.bytes};
  // The daemon never reads the doorbell: its watch is edge-triggered. A read could block, because
  // the client can change the flags that the two descriptors share.
  out.doorbell.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!out.doorbell) return failed("eventfd");
  doorbell_.reset(::fcntl(out.doorbell.get(), F_DUPFD_CLOEXEC, 0));
  if (!doorbell_) return failed("fcntl(F_DUPFD_CLOEXEC)");
  SDMACC_TRY(doorbell_watch_, loop_.watch(doorbell_.get(), EPOLLIN | EPOLLET,
                                          [rung = std::move(rung)](std::uint32_t) { rung(); }));
  memory_ = wire::SessionMemory::create(mapping_, entries);
  submits_ = {memory_.submits, entries};
  completes_ = {memory_.completes, entries};
  set_waiting(true);
  return out;
}

void Session::finish(const InFlight& request, const Status& status, std::uint32_t busy) {
  if (!connected()) return;
  if (request.route == Route::Socket) return answer(request.request, status);
  sdmacc_complete_entry entry{};
  entry.request = request.request;
  entry.busy = busy;
  if (!status) {
    entry.code = static_cast<std::uint32_t>(status.error().code);
    entry.flags = SDMACC_COMPLETE_TEXT;
    answer(request.request, status);
  }
  completes_.put(entry);
}

void Session::wake() {
  if (!connected() || !has_rings() || wire::load(memory_.header->client_waits) == 0) return;
  wire::store(memory_.header->client_waits, 0u);
  // A client whose socket is full finds it readable and does not sleep.
  if (blocked()) return;
  const std::vector<std::byte> frame =
      wire::MessageWriter(SDMACC_FRAME_WAKE, static_cast<std::uint16_t>(version), 0).finish();
  if (wire::send(socket_.get(), frame, {}, false) == wire::Io::Closed) give_up();
}

std::uint32_t Session::add_place(Place place) {
  const auto free = std::find(places_.begin(), places_.end(), std::nullopt);
  const auto number = static_cast<std::uint32_t>(free - places_.begin());
  if (free == places_.end()) places_.emplace_back();
  places_[number] = place;
  return number;
}

void Session::remove_place(std::uint32_t number) {
  places_[number].reset();
  while (!places_.empty() && !places_.back()) places_.pop_back();
}

const Place* Session::place(std::uint32_t number) const {
  return number < places_.size() && places_[number] ? &*places_[number] : nullptr;
}

InFlight* Session::find(RequestId request) {
  for (InFlight& one : in_flight) {
    if (one.request == request) return &one;
  }
  return nullptr;
}

}  // namespace sdmacc::server
