// SPDX-License-Identifier: MIT
// Device: four verbs — load, bind, run, abort — and no blocking wait. Completions come through one
// file descriptor. EmbeddedDevice runs the model in this process; another implementation drives a
// device node. Front ends differ only in construction.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "daemon/emit/program.hpp"
#include "daemon/world/world.hpp"

namespace sdmacc {

using LoadedId = std::uint32_t;  // 0 is none
using Ticket = std::uint64_t;    // the caller's; comes back in the Completion

// Memory behind one tensor slot for the next runs. The owner keeps it mapped until the binding is
// replaced or the Program unloaded.
struct Binding {
  std::uint32_t slot = 0;        // rank << 1 | operand (0 IN, 1 OUT)
  std::byte* address = nullptr;  // any alignment of the element size
  std::uint64_t bytes = 0;       // at least the slot's size
};

// One run's end. On error: what the device reported, already put into stage, step and value.
struct Completion {
  LoadedId loaded = 0;
  Ticket ticket = 0;
  Status status;
};

// Moved since the Program was loaded; equals traffic() of its Schedule times the runs.
struct RankCounters {
  std::uint64_t descriptors = 0, packets = 0, read_bytes = 0, written_bytes = 0,
                semaphore_writes = 0;
};

struct QueueView {
  std::uint32_t engine, queue, m2s_head, m2s_tail, s2m_head, s2m_tail, length;
};
struct WaitView {
  Rank rank;
  std::uint32_t topsp, unit;
  std::uint64_t address;
  std::uint32_t semaphore, value, target;
};

// A consistent enough look at a loaded Program for status and dumps: taken while it runs, nothing
// is stopped.
struct Inspection {
  std::vector<std::uint32_t> topsps;  // by rank
  std::vector<QueueView> queues;
  std::vector<WaitView> waits;  // who waits for which semaphore, its value and what it must reach
  std::vector<std::vector<std::byte>> ram;  // by rank: the TOP_SP RAM from +0 to the end of SLOT
  std::vector<std::vector<std::byte>>
      rings;  // by queue: M2S then S2M descriptors as in device memory
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const sdmacc_generation& arch() const = 0;
  virtual std::string describe() const = 0;  // one line for logs and status

  // Checks every section, claims queues, semaphores and memory, writes the images. Unloads least
  // recently used idle Programs when something does not fit; then NoSpace says what was asked, what
  // is free and who holds the rest.
  virtual Result<LoadedId> load(const Program& program, std::span<const Place> places) = 0;
  virtual Status bind(LoadedId loaded, std::span<const Binding> bindings) = 0;
  // Starts it. Every slot must be bound. Busy when it, or another Program on one of its TOP_SPs,
  // runs.
  virtual Status run(LoadedId loaded, Ticket ticket) = 0;
  // Ends a run; its Completion comes with Cancelled. Nothing when it does not run.
  virtual void abort(LoadedId loaded) = 0;
  virtual void unload(LoadedId loaded) = 0;  // must not run
  virtual bool loaded(LoadedId) const = 0;   // false when it was unloaded to make room

  virtual int completion_fd() const = 0;  // readable when reap() has something
  virtual std::vector<Completion> reap() = 0;
  // Works on the calling thread until `until` completed or no work is left: small operations need
  // no worker.
  virtual void pump(LoadedId until) = 0;

  virtual Result<Inspection> inspect(LoadedId) const = 0;
  virtual std::vector<RankCounters> counters(LoadedId) const = 0;
};

struct EmbeddedOptions {
  const sdmacc_generation* arch = nullptr;  // default Cayman
  std::uint64_t hbm_bytes = 256ull << 20;   // per stack, sparse
  unsigned workers = 2;                     // 0: only pump(); 1: deterministic order
};
Result<std::unique_ptr<Device>> make_embedded_device(const EmbeddedOptions& = {});

}  // namespace sdmacc
