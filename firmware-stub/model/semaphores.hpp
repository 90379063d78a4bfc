// SPDX-License-Identifier: MIT
// EVT_SEM: one block of 256 events and 256 counters behind four windows (libuapi/abi/evtsem.h), and
// the firmware waits that are parked on the counters. Entry points: add(), subtract(), set(),
// wait().
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "firmware-stub/model/error.hpp"
#include "libuapi/abi/evtsem.h"

namespace sdmacc::model {

class EventSemaphores {
 public:
  // A wait for ((counter >> shift) & mask) > count − 1. When it is released, count << shift is
  // subtracted and release() called, in one step. The caller owns it; it stays put while parked.
  class Waiter {
   public:
    std::uint32_t count = 1;  // ≥ 1
    std::uint32_t shift = 0;  // < 32
    std::uint32_t mask = 0xffffffffu;

   protected:
    Waiter() = default;
    ~Waiter() = default;
    // Runs under the block's lock: it may only make something runnable.
    virtual void release() = 0;

   private:
    friend class EventSemaphores;
    Waiter* next_ = nullptr;
    bool parked_ = false;
  };

  // Register access at an offset of the block; false at an offset that has no register. A write
  // that would wrap a counter changes nothing and sets *wrapped to the counter's value.
  enum class Result : std::uint8_t { Ok, NoRegister, Wraps };
  Result read(std::uint32_t offset, std::uint32_t* value) const;
  Result write(std::uint32_t offset, std::uint32_t value, std::uint32_t* counter);

  std::uint32_t value(std::uint32_t id) const;
  void set(std::uint32_t id, std::uint32_t value);
  bool add(std::uint32_t id, std::uint32_t amount);       // false: would wrap, unchanged
  bool subtract(std::uint32_t id, std::uint32_t amount);  // same

  // True: satisfied and consumed. False: parked behind those that wait already.
  bool wait(std::uint32_t id, Waiter& waiter);
  // True: it was parked and no longer is. False: it has been released, or never was parked.
  bool forget(std::uint32_t id, Waiter& waiter);
  // Number of waits parked on a counter.
  std::uint32_t waiting(std::uint32_t id) const;

  void clear();  // counters and events to zero; waits stay parked

 private:
  static bool consume(std::uint32_t& counter, const Waiter& waiter);
  void wake(std::uint32_t id);

  mutable std::mutex mutex_;
  std::array<std::uint32_t, SDMACC_SEMAPHORES> counters_ = {};
  std::array<Waiter*, SDMACC_SEMAPHORES> parked_ = {};  // oldest first
  std::array<bool, SDMACC_EVENTS> events_ = {};
};

}  // namespace sdmacc::model
