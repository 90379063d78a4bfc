// SPDX-License-Identifier: MIT
// The worker loop. Looking out costs a core, so a worker that waits in vain looks out for half as
// long the next time.
#include "daemon/device/workers.hpp"

#include <algorithm>
#include <chrono>

namespace sdmacc::device {
namespace {

constexpr std::uint64_t kLongest = 20'000, kShortest = 500;  // nanoseconds
constexpr unsigned kLooks = 64;                              // between two looks at the clock

std::uint64_t now() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

}  // namespace

void Workers::start(unsigned threads, std::function<bool(unsigned)> step) {
  step_ = std::move(step);
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this, i] { loop(i); });
}

void Workers::wake() {
  calls_.fetch_add(1);
  if (sleepers_.load() > 0 && lookouts_.load() == 0) calls_.notify_one();
}

void Workers::stop() {
  stopping_ = true;
  calls_.fetch_add(1);
  calls_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

// True when wake() was called since `seen`.
bool Workers::look_out(std::uint32_t seen, std::uint64_t nanoseconds) {
  const std::uint64_t end = now() + nanoseconds;
  ++lookouts_;
  bool called = false;
  do {
    for (unsigned i = 0; i < kLooks && !called; ++i) called = calls_.load() != seen;
    if (!called) std::this_thread::yield();
  } while (!called && now() < end);
  --lookouts_;
  return called;
}

void Workers::loop(unsigned worker) {
  std::uint64_t patience = kLongest;
  while (!stopping_) {
    const std::uint32_t seen = calls_.load();
    if (step_(worker)) continue;
    if (look_out(seen, patience)) {
      patience = kLongest;
      continue;
    }
    patience = std::max(patience / 2, kShortest);
    ++sleepers_;
    calls_.wait(seen);
    --sleepers_;
  }
}

}  // namespace sdmacc::device
