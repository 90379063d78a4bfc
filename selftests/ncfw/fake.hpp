// SPDX-License-Identifier: MIT
// A world of plain memory for the firmware: TOP_SPs with RAM and semaphores, one block of device
// memory, and queues that only know which semaphores each of their steps increments. World::run()
// is the scheduler; everything the firmware stores or signals is in a trace.
#pragma once

#include <coroutine>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "firmware-stub/ncfw/firmware.hpp"
#include "firmware-stub/ncfw/port.hpp"
#include "libuapi/abi/generation.h"
#include "libuapi/abi/program.h"

namespace sdmacc::ncfw {

inline constexpr std::uint64_t kMemoryBase = 0x4000000000;

struct Options {
  bool deferred = false;     // queues work when the scheduler says, not inside the doorbell
  bool always_park = false;  // a satisfied wait is released, but its coroutine is resumed later
  bool own_span = true;      // local_ram() gives the RAM
  bool give_back = true;     // forget_all() returns what released waits consumed, as it must
  std::optional<unsigned>
      seed;  // random choice of what runs next; otherwise first come, first served
};

struct Action {
  enum class Kind { Store, Signal, Status };
  Kind kind = Kind::Store;
  std::uint64_t address = 0, value = 0;
  bool operator==(const Action&) const = default;
};
std::string to_string(const Action&);

// What the queue of one broadcast page does: it is told by emit's descriptors in the real device.
struct Queue {
  struct Step {
    std::uint32_t m2s = 0, s2m = 0;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> signals;
  };
  std::vector<Step> steps;
  std::size_t position = 0;
  std::uint32_t m2s_armed = 0, s2m_armed = 0;
  std::uint32_t mask = 0;
  std::uint32_t rearmed = 0;  // sides re-armed since the ring was used up: 1 M2S, 2 S2M
};

class World;

class FakePort : public Port {
 public:
  FakePort(World& world, std::uint32_t topsp) : world_(world), topsp_(topsp) {}
  bool read(std::uint64_t address, void* to, std::size_t bytes) override;
  bool write(std::uint64_t address, const void* from, std::size_t bytes) override;
  std::span<std::byte> local_ram() override;
  Signal signal(std::uint64_t read_address, std::uint32_t amount) override;
  bool wait(const SemaphoreWait& wait, std::coroutine_handle<> waiter, bool* refused) override;
  void spawn(std::coroutine_handle<> task) override;
  void forget_all() override;
  void report_status(std::uint32_t entries) override;
  void report_failure(const Failure& failure) override;

 private:
  World& world_;
  std::uint32_t topsp_;
};

class World {
 public:
  World(const sdmacc_generation& arch, std::uint32_t topsps, const Options& options = {});
  ~World();

  const sdmacc_generation& arch() const { return arch_; }
  const Options& options() const { return options_; }

  std::uint64_t sem(std::uint32_t topsp, std::uint32_t id) const {
    return sdmacc_soc_sem(&arch_, topsp, SDMACC_SEM_READ, id);
  }
  std::uint32_t& value(std::uint64_t semaphore) { return semaphores_[semaphore].value; }
  void inc(std::uint64_t semaphore, std::uint32_t amount = 1);
  // Semaphores that are not 0, as text; empty when there are none.
  std::string residue() const;

  // What the host does after a stop: all semaphores 0. Nothing may wait for one that would be
  // released by it.
  void clear_semaphores() {
    for (auto& [address, semaphore] : semaphores_) semaphore.value = 0;
    work_.clear();
  }

  // A write of the CONFIG registers, with what the model does for it.
  void configure(std::uint32_t topsp, std::uint64_t image);
  void trigger(std::uint32_t topsp) { inc(sem(topsp, SDMACC_SEM_TRIGGER)); }
  void boot();
  // Destroys the firmware of a TOP_SP and makes a new one from memory.
  void restart(std::uint32_t topsp);

  // Runs until nothing can, or `actions` were done. Returns the number done.
  std::size_t run(std::size_t actions = 1'000'000);

  template <typename T>
  T load(std::uint32_t topsp, std::uint32_t ram_offset) const {
    T value;
    std::memcpy(&value, ram_of(topsp) + ram_offset, sizeof value);
    return value;
  }
  template <typename T>
  void poke(std::uint32_t topsp, std::uint32_t ram_offset, const T& value) {
    std::memcpy(ram_of(topsp) + ram_offset, &value, sizeof value);
  }
  sdmacc_ncfw_progress progress(std::uint32_t topsp) const {
    return load<sdmacc_ncfw_progress>(topsp, SDMACC_RAM_DRAM_IMAGE + arch_.dram_progress);
  }
  sdmacc_ring_ctx ring_ctx(std::uint32_t topsp, std::uint32_t channel) const {
    return load<sdmacc_ring_ctx>(topsp, SDMACC_RAM_DRAM_IMAGE + arch_.dram_algo_ctx + 16 * channel);
  }
  std::uint64_t ram_address(std::uint32_t topsp, std::uint32_t offset) const {
    return sdmacc_soc_topsp(&arch_, topsp) + SDMACC_TOPSP_RAM + offset;
  }

  struct Topsp {
    std::unique_ptr<FakePort> port;
    std::unique_ptr<Firmware> firmware;
    std::vector<Action> trace;
    std::vector<Failure> failures;
    std::uint32_t statuses = 0;
  };
  std::vector<Topsp> topsps;
  std::vector<std::byte> memory;          // device memory at kMemoryBase
  std::map<std::uint64_t, Queue> queues;  // by M2S page
  std::set<std::uint64_t> refused;        // addresses that the ports refuse
  std::vector<std::string> complaints;    // broken rules of the device
  std::function<void()> on_status;

 private:
  friend class FakePort;
  struct Waiter {
    std::uint32_t topsp;
    SemaphoreWait wait;
    std::coroutine_handle<> handle;
  };
  struct Semaphore {
    std::uint32_t value = 0;
    std::deque<Waiter> waiters;
  };
  struct Ready {
    std::uint32_t topsp;
    std::coroutine_handle<> handle;
    std::optional<SemaphoreWait> released;
  };
  struct Work {
    std::uint64_t page;
    std::size_t step;
  };

  std::byte* ram_of(std::uint32_t topsp) { return rams_[topsp].get(); }
  const std::byte* ram_of(std::uint32_t topsp) const { return rams_[topsp].get(); }
  std::byte* find(std::uint64_t address, std::size_t bytes);
  void store(std::uint32_t topsp, std::uint64_t address, std::uint32_t value);
  void ring_doorbell(std::uint64_t page, Queue& queue);
  void perform(const Work& work);
  bool take(const SemaphoreWait& wait);
  void wake(Semaphore& semaphore);
  bool exists(std::uint64_t semaphore) const;

  const sdmacc_generation& arch_;
  Options options_;
  std::vector<std::unique_ptr<std::byte[]>> rams_;
  std::map<std::uint64_t, std::uint32_t> registers_;
  std::map<std::uint64_t, Semaphore> semaphores_;
  std::deque<Ready> ready_;
  std::deque<Work> work_;
  std::mt19937 random_;
};

}  // namespace sdmacc::ncfw
