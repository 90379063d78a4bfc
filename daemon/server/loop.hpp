// SPDX-License-Identifier: MIT
// Loop: the one thread that owns the server: file descriptors, timers, work posted by other
// threads, and pollers, which are looked at without a system call as long as they are busy. Entry:
// run().
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libuapi/client/spin.hpp"
#include "libuapi/client/unique_fd.hpp"
#include "libuapi/support/result.hpp"

namespace sdmacc::server {

// Shared memory that other threads or processes write and the loop reads.
class Poller {
 public:
  virtual ~Poller() = default;
  // Takes what is there; true if there was anything.
  virtual bool poll() = 0;
  // Threads beside the loop that are likely to write soon; with 0 the loop does not spin for them.
  virtual unsigned writers() const = 0;
  // The loop is going to sleep: from now on the writers must wake it. True if something is there.
  virtual bool arm() = 0;
  // The loop is awake.
  virtual void disarm() = 0;
};

class Loop {
 public:
  using Clock = std::chrono::steady_clock;
  using WatchId = std::uint64_t;
  using TimerId = std::uint64_t;
  using Callback = std::function<void()>;
  using FdCallback = std::function<void(std::uint32_t events)>;  // EPOLLIN …

  static Result<std::unique_ptr<Loop>> create(std::chrono::nanoseconds longest_spin = kLongestSpin);
  ~Loop();

  // Everything but post() and stop() belongs to the thread that calls run(), or comes before it.
  Result<WatchId> watch(int fd, std::uint32_t events, FdCallback callback);
  void change(WatchId, std::uint32_t events);
  void unwatch(WatchId);  // before the fd is closed; its callback is not called again
  TimerId at(Clock::time_point, Callback callback);
  void cancel(TimerId);  // unknown and past ones are ignored
  void add(Poller&);
  void remove(Poller&);

  // Called later on the loop thread, in order. From any thread; without a system call while the
  // loop is awake.
  void post(Callback callback);
  // Makes run() return. From any thread.
  void stop();

  void run();

  bool crowded() const;  // more threads want to run than there are CPUs

  static constexpr std::chrono::microseconds kLongestSpin{50};

 private:
  struct Watch {
    int fd;
    FdCallback callback;
  };

  explicit Loop(std::chrono::nanoseconds longest_spin) : spin_(longest_spin) {}
  bool run_posted();
  void run_timers();
  bool poll_all();
  bool dispatch(int timeout_ms);
  bool spin();
  void sleep();
  int timeout() const;

  wire::UniqueFd epoll_;
  wire::UniqueFd wakeup_;
  WatchId next_watch_ = 1;
  std::unordered_map<WatchId, std::shared_ptr<Watch>> watches_;
  TimerId next_timer_ = 1;
  std::map<std::pair<Clock::time_point, TimerId>, Callback> timers_;
  std::unordered_map<TimerId, Clock::time_point> timer_times_;
  std::vector<Poller*> pollers_;
  wire::SpinBudget spin_;
  unsigned cpus_ = wire::usable_cpus();
  bool stopped_ = false;

  std::mutex mutex_;  // protects posted_
  std::vector<Callback> posted_;
  std::atomic<bool> has_posted_{false};
  std::atomic<bool> asleep_{false};
};

}  // namespace sdmacc::server
