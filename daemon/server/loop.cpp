// SPDX-License-Identifier: MIT
// The event loop: epoll, a sorted map of timers, an eventfd for posts, and an adaptive spin.
#include "daemon/server/loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

#include "libuapi/client/socket.hpp"

namespace sdmacc::server {
namespace {

constexpr std::uint64_t kWakeup = 0;  // the watch of wakeup_
constexpr int kEventsAtOnce = 64;
constexpr int kPollsBetweenFds = 16;  // so that busy rings do not starve the sockets

int add_to(int epoll, int fd, std::uint32_t events, std::uint64_t id, int operation) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  return ::epoll_ctl(epoll, operation, fd, &event);
}

tl::unexpected<Error> failed(const char* call) {
  return fail(Errc::System, Stage::Server, kNoIndex, "{}: {}", call, wire::errno_text(errno));
}

}  // namespace

Result<std::unique_ptr<Loop>> Loop::create(std::chrono::nanoseconds longest_spin) {
  std::unique_ptr<Loop> loop(new Loop(longest_spin));
  loop->epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!loop->epoll_) return failed("epoll_create1");
  loop->wakeup_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!loop->wakeup_) return failed("eventfd");
  // Edge-triggered: each write is an event, and nothing need be read.
  if (add_to(loop->epoll_.get(), loop->wakeup_.get(), EPOLLIN | EPOLLET, kWakeup, EPOLL_CTL_ADD) !=
      0) {
    return failed("epoll_ctl");
  }
  return loop;
}

Loop::~Loop() = default;

Result<Loop::WatchId> Loop::watch(int fd, std::uint32_t events, FdCallback callback) {
  const WatchId id = next_watch_++;
  if (add_to(epoll_.get(), fd, events, id, EPOLL_CTL_ADD) != 0) return failed("epoll_ctl");
  watches_.emplace(id, std::make_shared<Watch>(Watch{fd, std::move(callback)}));
  return id;
}

void Loop::change(WatchId id, std::uint32_t events) {
  const auto found = watches_.find(id);
  SDMACC_ASSERT(found != watches_.end());
  SDMACC_ASSERT(add_to(epoll_.get(), found->second->fd, events, id, EPOLL_CTL_MOD) == 0);
}

void Loop::unwatch(WatchId id) {
  const auto found = watches_.find(id);
  if (found == watches_.end()) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->second->fd, nullptr);
  watches_.erase(found);
}

Loop::TimerId Loop::at(Clock::time_point time, Callback callback) {
  const TimerId id = next_timer_++;
  timers_.emplace(std::pair(time, id), std::move(callback));
  timer_times_.emplace(id, time);
  return id;
}

void Loop::cancel(TimerId id) {
  const auto found = timer_times_.find(id);
  if (found == timer_times_.end()) return;
  timers_.erase({found->second, id});
  timer_times_.erase(found);
}

void Loop::add(Poller& poller) {
  pollers_.push_back(&poller);
}

void Loop::remove(Poller& poller) {
  std::erase(pollers_, &poller);
}

void Loop::post(Callback callback) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(callback));
  }
  has_posted_ = true;
  if (asleep_.exchange(false)) {
    const std::uint64_t one = 1;
    (void)!::write(wakeup_.get(), &one, sizeof(one));  // cannot fail before 2^64 posts
  }
}

void Loop::stop() {
  post([this] { stopped_ = true; });
}

void Loop::run() {
  stopped_ = false;
  for (int polls = 0; !stopped_;) {
    const bool posted = run_posted();
    run_timers();
    const bool polled = poll_all();
    if (stopped_) break;
    if (posted || polled) {
      if (++polls % kPollsBetweenFds == 0) dispatch(0);
    } else if (!spin()) {
      sleep();
    }
  }
}

bool Loop::run_posted() {
  if (!has_posted_.exchange(false)) return false;
  std::vector<Callback> callbacks;
  {
    const std::lock_guard lock(mutex_);
    callbacks.swap(posted_);
  }
  for (const Callback& callback : callbacks) callback();
  return !callbacks.empty();
}

void Loop::run_timers() {
  if (timers_.empty()) return;
  const Clock::time_point now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    auto timer = timers_.extract(timers_.begin());
    timer_times_.erase(timer.key().second);
    timer.mapped()();
  }
}

bool Loop::poll_all() {
  bool any = false;
  for (std::size_t i = 0; i < pollers_.size(); ++i) any |= pollers_[i]->poll();
  return any;
}

bool Loop::dispatch(int timeout_ms) {
  epoll_event events[kEventsAtOnce];
  const int count = ::epoll_wait(epoll_.get(), events, kEventsAtOnce, timeout_ms);
  for (int i = 0; i < count; ++i) {
    const WatchId id = events[i].data.u64;  // a copy: the kernel's struct is packed
    const auto found = watches_.find(id);
    if (found == watches_.end()) continue;  // our wakeup, or unwatched since
    const std::shared_ptr<Watch> keep = found->second;
    keep->callback(events[i].events);
  }
  return count > 0;
}

bool Loop::crowded() const {
  unsigned threads = 1;
  for (const Poller* poller : pollers_) threads += poller->writers();
  return threads > cpus_;
}

bool Loop::spin() {
  const bool worth = std::any_of(pollers_.begin(), pollers_.end(),
                                 [](const Poller* poller) { return poller->writers() > 0; });
  if (!worth) return false;
  const bool yield = crowded();
  const int fds_every = yield ? 8 : 64;
  auto look = [this, fds_every, looks = 0]() mutable {
    return poll_all() || has_posted_.load() || (++looks % fds_every == 0 && dispatch(0));
  };
  const bool found = wire::spin(spin_.next(), yield, look);
  found ? spin_.succeeded() : spin_.failed();
  return found;
}

int Loop::timeout() const {
  if (timers_.empty()) return -1;
  const auto left = timers_.begin()->first.first - Clock::now();
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<std::int64_t>(ms, 0, 3600 * 1000));
}

void Loop::sleep() {
  bool something = false;
  for (Poller* poller : pollers_) something |= poller->arm();
  asleep_ = true;
  something |= has_posted_.load();
  dispatch(something ? 0 : timeout());
  asleep_ = false;
  for (Poller* poller : pollers_) poller->disarm();
}

}  // namespace sdmacc::server
