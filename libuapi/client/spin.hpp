// SPDX-License-Identifier: MIT
// How long one side of the rings looks for the other before it sleeps. Sleeping and being woken
// costs tens of microseconds where a core goes idle, spinning costs a core: so spin while that
// works, and find out now and then whether it would work again.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>

namespace sdmacc::wire {

class SpinBudget {
 public:
  using Time = std::chrono::nanoseconds;

  explicit SpinBudget(Time longest) : longest_(longest), budget_(longest) {}

  // For the wait that begins now.
  Time next() const { return failures_ >= kProbeAfter ? longest_ : budget_; }

  void succeeded() {
    failures_ = 0;
    budget_ = std::min(longest_, std::max(budget_ * 2, longest_ / 8));
  }

  void failed() {
    if (failures_ >= kProbeAfter) failures_ = 0;
    ++failures_;
    budget_ /= 2;
  }

 private:
  static constexpr int kProbeAfter = 16;

  Time longest_;
  Time budget_;
  int failures_ = 0;
};

// CPUs that this process may use.
inline unsigned usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<unsigned>(CPU_COUNT(&set));
}

inline void pause_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Looks until done() or the time is over; the last look's result. Where more threads want to run
// than there are CPUs, every look gives the CPU away, for it may be this one that the other side
// waits for.
template <typename Done>
bool spin(SpinBudget::Time budget, bool crowded, Done&& done) {
  if (done()) return true;
  if (budget <= SpinBudget::Time::zero()) return false;
  const auto end = std::chrono::steady_clock::now() + budget;
  do {
    if (crowded) {
      ::sched_yield();
      if (done()) return true;
    } else {
      for (int i = 0; i < 16; ++i) {
        pause_cpu();
        if (done()) return true;
      }
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace sdmacc::wire
