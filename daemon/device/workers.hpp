// SPDX-License-Identifier: MIT
// Workers: threads that do bounded pieces of work while there is some, look out for more for a
// moment, and then sleep. Entry points: start(), wake(), stop().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace sdmacc::device {

class Workers {
 public:
  ~Workers() { stop(); }

  // `step(i)` does one piece on thread i; false when it found none.
  void start(unsigned threads, std::function<bool(unsigned)> step);
  // There is work. May be called from anywhere, a step included; cheap when nobody sleeps.
  void wake();
  void stop();  // joins; a step that runs ends first

 private:
  void loop(unsigned worker);
  bool look_out(std::uint32_t seen, std::uint64_t nanoseconds);

  std::function<bool(unsigned)> step_;
  std::vector<std::thread> threads_;
  std::atomic<std::uint32_t> calls_ = 0;  // of wake(), so that none is missed
  std::atomic<std::uint32_t> sleepers_ = 0;
  std::atomic<std::uint32_t> lookouts_ = 0;  // workers that will see a call without being woken
  std::atomic<bool> stopping_ = false;
};

}  // namespace sdmacc::device
