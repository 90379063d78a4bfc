// SPDX-License-Identifier: MIT
// Port: all that the firmware can reach. The model implements it for each TOP_SP; tests implement
// it over plain memory. The firmware never blocks a thread: it suspends on a semaphore and the
// model resumes it. Handles of one TOP_SP are never resumed concurrently, and never from inside a
// call of this interface.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sdmacc::ncfw {

// Wait for ((value >> shift) & mask) ≥ count; `count << shift` is subtracted, atomically with the
// release.
struct SemaphoreWait {
  std::uint64_t address = 0;  // READ window
  std::uint32_t count = 1;    // ≥ 1: the comparison is value > count − 1
  std::uint32_t shift = 0;
  std::uint32_t mask = 0xffffffffu;
};

// What went wrong, for the ERROR notification.
enum class Code : std::uint32_t {
  None = 0,
  BadImage = 1,       // header, part or address of the image
  BadCtrl = 2,        // CTRL entry, or their number
  BadSlot = 3,        // SLOT word, or a list that breaks off
  BadConfig = 4,      // ring channel, mesh event, neff_configs, or the sequencer's own memory
  BadDispatch = 5,    // the algo_type leads to no handler
  Access = 6,         // the port refused an address
  SemaphoreWrap = 7,  // a signal would leave 0 … 2^32 − 1
  ZeroWait = 8,       // a wait for ≥ 0
};
const char* name(Code);

struct Failure {
  Code code = Code::None;
  std::uint32_t entry = 0;    // CTRL entry
  std::uint32_t unit = 0;     // channel (ring) or event (mesh); 0xffffffff when neither
  std::uint64_t address = 0;  // what was accessed, or the semaphore
  std::uint64_t value = 0;    // offending value
  std::uint64_t target = 0;   // what it should have been, or the wait's count
};

class Port {
 public:
  virtual ~Port() = default;
  // By SoC address, through this TOP_SP's context; false when the access is refused. Register space
  // takes aligned 4-byte accesses.
  virtual bool read(std::uint64_t address, void* to, std::size_t bytes) = 0;
  virtual bool write(std::uint64_t address, const void* from, std::size_t bytes) = 0;
  // This TOP_SP's own RAM, 16-byte aligned, when it can be had as a span: an access to it needs no
  // context. Empty: read() and write() are used. The firmware's loads and stores are relaxed
  // atomics, so a reader on another thread that does the same sees no torn field.
  virtual std::span<std::byte> local_ram() { return {}; }
  enum class Signal { Ok, Refused, Wrap };
  // Adds to a semaphore given by its READ-window address.
  virtual Signal signal(std::uint64_t read_address, std::uint32_t amount) = 0;
  // True: satisfied and consumed, go on. False: `waiter` is parked; it is resumed after
  // consumption. `refused` set: no such semaphore, nothing is parked.
  virtual bool wait(const SemaphoreWait& wait, std::coroutine_handle<> waiter, bool* refused) = 0;
  // Makes `task` runnable soon (not from inside this call).
  virtual void spawn(std::coroutine_handle<> task) = 0;
  // Forgets every parked or spawned handle of this TOP_SP. A wait that was released, but whose
  // handle has not been resumed yet, gives back what it consumed (count << shift is added again):
  // the sequencer's memory still says that it waits, and when it is restarted it waits again.
  // Called from outside any handle by suspend(), and from inside the running one when it fails.
  virtual void forget_all() = 0;
  virtual void report_status(std::uint32_t entries) = 0;  // the TOPSP_CC_STATUS notification
  // Neither report may call the Firmware back; do that after the handle has returned.
  virtual void report_failure(const Failure&) = 0;
};

}  // namespace sdmacc::ncfw
