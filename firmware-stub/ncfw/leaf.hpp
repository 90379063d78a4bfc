// SPDX-License-Identifier: MIT
// Leaf: the three primitives that every handler is made of (wait, signal, snapshot), and the
// doorbell store, as awaitables of one coroutine. `co_await` of anything that can fail gives its
// value; a failure is reported and the coroutine is never resumed.
//
// progress.wait[slot] says what the coroutine waits for while it does; after a failure, what it
// waited for then.
#pragma once

#include <coroutine>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "firmware-stub/ncfw/sequencer.hpp"

namespace sdmacc::ncfw {

// By SoC address, for code that is not a coroutine.
Checked<void> store(Port&, std::uint64_t address, std::uint32_t value);
Checked<void> signal(Port&, std::uint64_t semaphore, std::uint32_t amount);
// Two adjacent 32-bit registers as one value, taken when the high one did not change meanwhile.
Checked<std::uint64_t> snapshot(Port&, std::uint64_t address);

class Leaf {
 public:
  // `unit` names the channel or event in failures.
  Leaf(Sequencer& sequencer, std::uint32_t slot, std::uint32_t unit)
      : sequencer_(sequencer), slot_(slot), unit_(unit) {}
  void set_unit(std::uint32_t unit) { unit_ = unit; }

  template <typename T>
  class Check {
   public:
    Check(Leaf& leaf, Checked<T> result) : leaf_(leaf), result_(std::move(result)) {}
    bool await_ready() const { return result_.has_value(); }
    void await_suspend(std::coroutine_handle<>) { leaf_.fail(result_.error()); }
    T await_resume() {
      if constexpr (!std::is_void_v<T>) return *std::move(result_);
    }

   private:
    Leaf& leaf_;
    Checked<T> result_;
  };

  class Wait {
   public:
    Wait(Leaf& leaf, const SemaphoreWait& what) : leaf_(leaf), what_(what) {}
    bool await_ready() const { return false; }
    bool await_suspend(std::coroutine_handle<> self) { return leaf_.park(what_, self); }
    void await_resume() { leaf_.sequencer_.ram.store(field::wait(leaf_.slot_), {}); }

   private:
    Leaf& leaf_;
    SemaphoreWait what_;
  };

  class Breath {
   public:
    explicit Breath(Sequencer& sequencer) : sequencer_(sequencer) {}
    bool await_ready() const { return ++sequencer_.breaths % kBreaths != 0; }
    void await_suspend(std::coroutine_handle<> self) { sequencer_.ram.port().spawn(self); }
    void await_resume() const {}

   private:
    static constexpr std::uint32_t kBreaths = 256;
    Sequencer& sequencer_;
  };

  template <typename T>
  Check<T> check(Checked<T> result) {
    return Check<T>(*this, std::move(result));
  }
  // Memory must already say that this is what is waited for.
  Wait wait(const SemaphoreWait& what) { return Wait(*this, what); }
  Wait wait(std::uint64_t semaphore, std::uint32_t count) { return wait({semaphore, count}); }
  Check<void> signal(std::uint64_t semaphore, std::uint32_t amount) {
    return check(ncfw::signal(sequencer_.ram.port(), semaphore, amount));
  }
  // Arms descriptors on every engine of the queue, S2M first; nothing when both counts are 0.
  Check<void> fire(const Broadcast& queue, std::uint32_t m2s, std::uint32_t s2m);
  // Lets others run now and then, so that memory in which every wait is already satisfied cannot
  // keep a thread. Stands before a wait, when memory already describes that wait.
  Breath breathe() { return Breath(sequencer_); }

 private:
  bool park(const SemaphoreWait& what, std::coroutine_handle<> self);
  void fail(Failure failure);

  Sequencer& sequencer_;
  std::uint32_t slot_;
  std::uint32_t unit_;
};

}  // namespace sdmacc::ncfw
