// SPDX-License-Identifier: MIT
// A device under test, a queue with its rings in HBM, and a coroutine that stands in for firmware.
#pragma once

#include <coroutine>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <vector>

#include "firmware-stub/model/soc.hpp"
#include "libuapi/abi/enums.h"

namespace sdmacc::model::test {

const sdmacc_generation& cayman();
const sdmacc_generation& sunda();

// Numbered to go with sdmacc_soc_engine(): engine e of the device is engine e % 16 of core e / 16.
std::uint64_t queue_register_address(const sdmacc_generation& arch, std::uint32_t engine, Side side,
                                     std::uint32_t queue, std::uint32_t reg);

class Device {
 public:
  explicit Device(const sdmacc_generation& arch = cayman(), unsigned workers = 1);

  void pump();  // until there is nothing to do, as worker 0
  std::vector<ErrorRecord> errors() const;
  std::vector<CcStatus> statuses() const;
  Code code() const;  // of the only error, Code::None when there is none
  void forget();      // the notifications so far

  void poke(std::uint64_t address, std::uint32_t value);  // write32 that must succeed
  std::uint32_t peek(std::uint64_t address);
  template <typename T>
  T* at(std::uint64_t address, std::size_t count = 1) {
    return reinterpret_cast<T*>(soc.hbm(address, count * sizeof(T)));
  }
  template <typename T>
  void put(std::uint64_t address, const std::vector<T>& values) {
    std::memcpy(soc.hbm(address, values.size() * sizeof(T)), values.data(),
                values.size() * sizeof(T));
  }
  template <typename T>
  std::vector<T> get(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), soc.hbm(address, count * sizeof(T)), count * sizeof(T));
    return values;
  }

  Soc soc;

 private:
  mutable std::mutex mutex_;
  std::vector<Notification> notifications_;
};

// One queue pair and its two rings. Descriptors are appended, and armed by go().
class Rig {
 public:
  static constexpr std::uint32_t kLength = 64;

  explicit Rig(Device& device, std::uint32_t engine = 0, std::uint32_t queue = 0);

  // Writes a descriptor into the next place of a ring and returns its index. The ring id is the one
  // of the round.
  std::uint32_t m2s(std::uint32_t len_ctrl, std::uint32_t meta, std::uint64_t addr);
  std::uint32_t s2m(std::uint32_t len_ctrl, std::uint64_t addr, std::uint32_t word1 = 0);
  // The same with FIRST and LAST.
  void copy(std::uint64_t from, std::uint64_t to, std::uint32_t bytes,
            std::uint32_t meta = SDMACC_META_COPY);
  // A compute packet of n sources and d destinations.
  void compute(std::uint32_t type, std::uint32_t dtype, const std::vector<std::uint64_t>& from,
               const std::vector<std::uint64_t>& to, std::uint32_t bytes,
               const std::vector<float>& scales = {});
  // The descriptor at an index of a ring, to spoil it.
  sdmacc_desc& desc(Side side, std::uint32_t index);

  void go();     // rings both doorbells, S2M first, and pumps
  void arm();    // only rings
  void reset();  // resets, sets up and enables both sides; the rings are empty
  void write(Side side, std::uint32_t reg, std::uint32_t value);
  std::uint32_t read(Side side, std::uint32_t reg);
  QueueState state();
  std::uint64_t ring_address(Side side) const;

  const std::uint32_t engine, queue;

 private:
  std::uint32_t append(Side side, const sdmacc_desc& d);

  Device& device_;
  std::uint64_t appended_[2] = {};
  std::uint32_t unarmed_[2] = {};
};

// What a CCE packet's word 1 is for a tensor dtype.
std::uint32_t cce_word1(std::uint32_t type, std::uint32_t dtype);

// A coroutine over a Port: co_await script.wait(…). It owns its frame.
class Script {
 public:
  struct promise_type {
    Script get_return_object() {
      return Script(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  explicit Script(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Script(Script&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Script& operator=(Script&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Script() {
    if (handle_) handle_.destroy();
  }
  std::coroutine_handle<> handle() const { return handle_; }
  bool done() const { return handle_.done(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

struct PortWait {
  ncfw::Port& port;
  ncfw::SemaphoreWait what;
  bool* refused = nullptr;

  bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<> self) {
    bool no = false;
    const bool satisfied = port.wait(what, self, &no);
    if (no && refused) *refused = true;
    return !satisfied && !no;
  }
  void await_resume() const {}
};

}  // namespace sdmacc::model::test
