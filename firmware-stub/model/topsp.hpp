// SPDX-License-Identifier: MIT
// TopSp: one TOP_SP, its RAM and local registers, and the firmware that runs on it. Towards the
// firmware it is the Port; its handles are resumed one at a time (docs/device.md §3).
// Entry points: write_register(), suspend(), restart().
#pragma once

#include <array>
#include <coroutine>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "firmware-stub/model/engine.hpp"
#include "firmware-stub/model/memory.hpp"
#include "firmware-stub/model/scheduler.hpp"
#include "firmware-stub/model/semaphores.hpp"
#include "firmware-stub/model/view.hpp"
#include "firmware-stub/ncfw/firmware.hpp"
#include "firmware-stub/ncfw/port.hpp"

namespace sdmacc::model {

class Soc;

class TopSp final : public Work, public ncfw::Port {
 public:
  TopSp(Soc& soc, std::uint32_t number);
  ~TopSp() override;

  // At claim; the firmware must be idle.
  void set_context(const Context& context);
  unsigned context() const { return context_number_.load(std::memory_order_acquire); }

  // Local registers, by the offset that they are named with (0x615a0).
  std::uint32_t read_register(std::uint64_t offset) const;
  Refusal write_register(std::uint64_t offset, std::uint32_t value);

  const Memory& ram() const { return ram_; }

  // The firmware's coroutines are destroyed, and made again from memory alone. Between the two its
  // semaphores count on. Not from inside pump().
  void suspend();
  void restart();
  void reset();  // as at power-up; nothing else may run

  // ncfw::Port. Called by the firmware, or by a test that stands in for it, between runs or in one.
  bool read(std::uint64_t address, void* to, std::size_t bytes) override;
  bool write(std::uint64_t address, const void* from, std::size_t bytes) override;
  std::span<std::byte> local_ram() override { return {ram_.data(), ram_.size()}; }
  Signal signal(std::uint64_t read_address, std::uint32_t amount) override;
  bool wait(const ncfw::SemaphoreWait& wait, std::coroutine_handle<> waiter,
            bool* refused) override;
  void spawn(std::coroutine_handle<> task) override;
  void forget_all() override;
  void report_status(std::uint32_t entries) override;
  void report_failure(const ncfw::Failure& failure) override;

 private:
  // A handle that is parked on a semaphore or ready to be resumed.
  struct Handle final : EventSemaphores::Waiter {
    void release() override { owner->make_ready(*this, owner->released_); }

    TopSp* owner = nullptr;
    std::coroutine_handle<> coroutine;
    EventSemaphores* block = nullptr;  // that it waits or waited on; null: spawned
    std::uint32_t id = 0;
    bool used = false;
  };
  enum Order : std::uint32_t {
    kInit = 1,
    kStop = 2,
    kSuspend = 4,
    kRestart = 8,
    kForgetImage = 16
  };

  Next run() override;
  void make_ready(Handle& handle, std::deque<Handle*>& list);
  Next next_run();
  Handle* take_ready();
  Handle& new_handle(std::coroutine_handle<> coroutine);
  void order(std::uint32_t what);
  void obey(std::uint32_t orders);
  bool semaphore(std::uint64_t read_address, std::uint32_t window, Rights need, Target* out);

  Soc& soc_;
  const std::uint32_t number_;
  Memory ram_;
  RegisterFile registers_;
  std::unique_ptr<ncfw::Firmware> firmware_;
  std::atomic<unsigned> context_number_ = 0;
  std::atomic<std::uint32_t> orders_ = 0;  // for the worker that next runs this

  std::array<Span, 8> spans_;
  View view_;
  std::deque<Handle> handles_;  // whoever runs the firmware allocates and frees
  std::vector<Handle*> free_;
  std::mutex mutex_;
  std::deque<Handle*> released_;  // the last first
  std::deque<Handle*> spawned_;   // the first first, after those
};

}  // namespace sdmacc::model
