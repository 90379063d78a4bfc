// SPDX-License-Identifier: MIT
// What a queue has done since it was made, counted by the device. Bytes are those of data packets;
// a 4-byte copy from memory to memory counts as a word, because that is what pads a step.
#pragma once

#include <atomic>
#include <cstdint>

namespace sdmacc::model {

struct Counters {
  std::uint64_t doorbells = 0;         // writes of a tail increment
  std::uint64_t descriptors = 0;       // of both rings
  std::uint64_t packets = 0;           // begun; one that fails is the last
  std::uint64_t bytes_read = 0;        // all sources of data packets
  std::uint64_t bytes_written = 0;     // all their destinations
  std::uint64_t words = 0;             // 4-byte copies between memories
  std::uint64_t semaphore_writes = 0;  // 4-byte copies to an EVT_SEM block
  std::uint64_t register_writes = 0;   // … to other registers

  Counters& operator+=(const Counters& other);
};

// The live form: one thread at a time adds, any thread reads.
class LiveCounter {
 public:
  void add(std::uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }
  void clear() { value_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

struct LiveCounters {
  LiveCounter doorbells, descriptors, packets, bytes_read, bytes_written, words, semaphore_writes,
      register_writes;

  Counters get() const;
  void clear();
};

}  // namespace sdmacc::model
