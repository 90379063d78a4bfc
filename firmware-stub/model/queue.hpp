// SPDX-License-Identifier: MIT
// Queue: one queue pair of an SDMA engine. Registers are written by anybody at any time; packets
// are executed by one worker at a time, in order (docs/device.md §2). Entry points: write(),
// state().
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "firmware-stub/model/counters.hpp"
#include "firmware-stub/model/packet.hpp"
#include "firmware-stub/model/scheduler.hpp"

namespace sdmacc::model {

class Soc;

struct QueueState {
  struct Ring {
    std::uint64_t base = 0;
    std::uint32_t length = 0;  // descriptors
    bool enabled = false;
    std::uint32_t head = 0, head_ring_id = 0;  // next descriptor to execute
    std::uint32_t tail = 0, tail_ring_id = 0;  // first that is not armed
    std::uint64_t armed = 0;                   // between them
  };
  std::array<Ring, 2> ring;  // by Side
  unsigned context = 0;
  bool stopped = false;
  ErrorRecord error;  // the last one; code None when there was none since reset
};

class Queue final : public Work {
 public:
  Queue(Soc& soc, std::uint32_t engine, std::uint32_t number);
  ~Queue() override;

  // At claim; the queue must be quiet.
  void set_context(const Context& context);
  unsigned context() const { return context_number_.load(std::memory_order_acquire); }

  // Register `reg` of the queue's page. False: not one that the queue has itself.
  bool read(Side side, std::uint32_t reg, std::uint32_t* value) const;
  bool write(Side side, std::uint32_t reg, std::uint32_t value);

  QueueState state() const;
  Counters counters() const { return counters_.get(); }
  void reset();  // as at power-up, context and counters too; the queue must be quiet

 private:
  struct Ring {
    std::uint64_t base = 0;
    std::uint32_t length = 0;
    std::uint32_t config = SDMACC_Q_CFG_RESET;
    bool resetting = false;  // the worker has not yet seen that the head is 0
    bool stopped = false;
    std::atomic<std::uint64_t> head = 0;  // descriptors executed since reset; the worker's
    std::atomic<std::uint64_t> tail = 0;  // descriptors armed since reset

    std::uint64_t done() const { return resetting ? 0 : head.load(std::memory_order_relaxed); }
    std::uint64_t armed() const { return tail.load(std::memory_order_relaxed) - done(); }
    bool enabled() const;
  };

  Next run() override;
  bool begin();
  Outcome step();
  void stop(const Fault& fault);
  bool runnable() const;  // under the lock, as all of these
  void edited() { edits_.fetch_add(1, std::memory_order_release); }
  Refusal doorbell(Ring& ring, std::uint32_t count);
  void reset_ring(Ring& ring);
  ErrorRecord record(const Fault& fault) const;

  Soc& soc_;
  const std::uint32_t engine_;
  const std::uint32_t number_;
  mutable std::mutex mutex_;
  std::array<Ring, 2> rings_;
  const Context* context_;
  std::atomic<unsigned> context_number_ = 0;
  std::atomic<std::uint32_t> edits_ = 1;  // register writes that a running worker must know of
  ErrorRecord error_;
  LiveCounters counters_;

  // The worker's.
  struct Running;
  std::unique_ptr<Running> running_;
};

}  // namespace sdmacc::model
