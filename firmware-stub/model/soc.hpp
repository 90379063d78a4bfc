// SPDX-License-Identifier: MIT
// Soc: the model of one device (docs/device.md). Its input is memory and registers, its output
// memory, registers and notifications; it has no threads, whoever calls pump() lends it one.
//
//   Soc soc(*sdmacc_generation_by_arch(SDMACC_ARCH_CAYMAN), {});
//   soc.on_notification = …;  soc.write32(…);  while (soc.pump(0)) {}
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "firmware-stub/model/broadcast.hpp"
#include "firmware-stub/model/context.hpp"
#include "firmware-stub/model/decode.hpp"
#include "firmware-stub/model/engine.hpp"
#include "firmware-stub/model/error.hpp"
#include "firmware-stub/model/memory.hpp"
#include "firmware-stub/model/scheduler.hpp"
#include "firmware-stub/model/semaphores.hpp"
#include "firmware-stub/model/topsp.hpp"
#include "libuapi/abi/generation.h"
#include "libuapi/support/result.hpp"

namespace sdmacc::model {

// The TOPSP_CC_STATUS notification: a run has ended.
struct CcStatus {
  std::uint32_t topsp;
  std::uint32_t entries;  // CTRL entries executed
};
using Notification = std::variant<CcStatus, ErrorRecord>;

struct SocOptions {
  std::uint64_t hbm_bytes = 256ull << 20;  // of each stack; sparse, at most the generation's slot
  std::uint32_t chip = 0;                  // id in addresses of other chips
  unsigned workers = 1;                    // how many may pump
};

class Soc {
 public:
  // `arch` outlives the Soc; it may differ from every published row.
  explicit Soc(const sdmacc_generation& arch, const SocOptions& options = {});
  ~Soc();
  Soc(const Soc&) = delete;
  Soc& operator=(const Soc&) = delete;

  // Called without locks, on the thread that pumps or writes. Set before there is work.
  std::function<void(const Notification&)> on_notification;

  // --- The host's view: context 0, with the side effects of each register. Errors: DeviceError.
  Result<std::uint32_t> read32(std::uint64_t address);
  Status write32(std::uint64_t address, std::uint32_t value);
  Status read(std::uint64_t address, void* to,
              std::size_t bytes);  // memory of any size, or a register
  Status write(std::uint64_t address, const void* from, std::size_t bytes);
  // Where device memory lies in this process; null when [address, address + size) is not within one
  // stack.
  std::byte* hbm(std::uint64_t address, std::uint64_t size);

  // --- The driver's part.
  const sdmacc_generation& arch() const { return arch_; }
  const AddressMap& map() const { return map_; }
  Context& context(unsigned number) { return *contexts_[number]; }  // < kContexts
  Engine& engine(std::uint32_t number) { return *engines_[number]; }
  Queue& queue(std::uint32_t engine, std::uint32_t number) {
    return engines_[engine]->queue(number);
  }
  TopSp& topsp(std::uint32_t number) { return *topsps_[number]; }
  EventSemaphores& semaphores(std::uint32_t block) {
    return *semaphores_[block];
  }  // as Target::index
  Scheduler& scheduler() { return scheduler_; }
  // Runs one bounded piece of work; false when there is none (Scheduler::pump).
  bool pump(unsigned worker) { return scheduler_.pump(worker); }

  // Returns when no worker executes anything of this context. What is runnable stays so: reset the
  // queues and stop the TOP_SPs first. Not from inside pump().
  void quiesce(unsigned context);
  // Destroys the coroutines of all firmware and makes them again from memory alone.
  void suspend_firmware();
  void restart_firmware();
  // As at power-up, but HBM and contexts stay. Nothing else may run.
  void reset();
  Counters counters() const;  // of all queues

  // --- What the parts of the model share.
  const Memory& memory(const Target& target) const;  // of a memory block
  Refusal load(const Target& target, std::uint32_t* value);
  Refusal store(const Target& target, std::uint32_t value, const Context& writer);
  void post(const Notification& notification) const;

 private:
  Status access(std::uint64_t address, std::size_t bytes, Rights need, void* to, const void* from);

  const sdmacc_generation& arch_;
  const AddressMap map_;
  Scheduler scheduler_;
  std::vector<std::unique_ptr<Context>> contexts_;
  std::vector<Memory> hbm_;
  std::vector<Memory> sbuf_;
  std::vector<std::unique_ptr<EventSemaphores>> semaphores_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::vector<std::unique_ptr<Broadcast>> broadcasts_;
  std::vector<std::unique_ptr<TopSp>> topsps_;
};

}  // namespace sdmacc::model
