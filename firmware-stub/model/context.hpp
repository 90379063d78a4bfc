// SPDX-License-Identifier: MIT
// Context: the protection table of one user of the device. At most 64 windows over the device's own
// addresses, and the extents of the host aperture with the memory behind them. The driver edits it;
// queues and firmware read it at the same time (docs/device.md §1). Context 0 needs no windows.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "libuapi/abi/program.h"
#include "libuapi/support/result.hpp"

namespace sdmacc::model {

using Rights = std::uint32_t;
inline constexpr Rights kRead = SDMACC_RIGHT_READ;
inline constexpr Rights kWrite = SDMACC_RIGHT_WRITE;

inline constexpr unsigned kContexts = 16;
inline constexpr std::size_t kMaxWindows = 64;

struct Window {
  std::uint64_t base;  // local SoC address
  std::uint64_t size;
  Rights rights;
};

struct Extent {
  std::uint64_t offset;  // in the aperture, 40 bits
  std::uint64_t size;
  Rights rights;
  // Null inside: nothing is bound. Shared by all tables that have the extent, so rebinding is one
  // store.
  std::shared_ptr<std::atomic<std::byte*>> memory;
};

// One immutable state of a context, sorted by address, entries disjoint.
struct ContextTable {
  std::vector<Window> windows;
  std::vector<Extent> extents;

  const Window* window(std::uint64_t address) const;  // that holds this byte, or null
  const Extent* extent(std::uint64_t offset) const;
};

class Context {
 public:
  explicit Context(unsigned number) : number_(number), table_(std::make_shared<ContextTable>()) {}

  unsigned number() const { return number_; }
  bool identity() const { return number_ == 0; }  // windows are not asked

  // Errors: empty, wraps, overlaps an entry, too many (Invalid, Range, Busy, NoSpace); NotFound for
  // the base or offset of no entry. Callers make sure that nothing in flight uses what they remove
  // or rebind; everything else may run.
  Status add_window(const Window& window);
  Status remove_window(std::uint64_t base);
  Status add_extent(std::uint64_t offset, std::uint64_t size, std::byte* memory, Rights rights);
  Status remove_extent(std::uint64_t offset);
  // Same size and rights, other memory (null: none). Seen by the next packet.
  Status rebind(std::uint64_t offset, std::byte* memory);
  void clear();

  struct Snapshot {
    std::shared_ptr<const ContextTable> table;
    std::uint64_t version;
  };
  Snapshot snapshot() const;
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  template <typename Edit>
  Status edit(Edit&& edit);

  const unsigned number_;
  mutable std::mutex mutex_;
  std::shared_ptr<const ContextTable> table_;
  std::atomic<std::uint64_t> version_ = 1;
};

}  // namespace sdmacc::model
