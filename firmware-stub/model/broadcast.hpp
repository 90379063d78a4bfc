// SPDX-License-Identifier: MIT
// The broadcast block of a core: one store reaches the same queue register of several of its
// engines, those that the queue's mask word selects (docs/device.md §2). Entry point: write().
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "firmware-stub/model/context.hpp"
#include "firmware-stub/model/error.hpp"

namespace sdmacc::model {

class Soc;

class Broadcast {
 public:
  Broadcast(Soc& soc, std::uint32_t core) : soc_(soc), core_(core) {}

  // 4-byte accesses at an offset of the block. A store into `writer`'s queues only, unless it is
  // context 0.
  std::uint32_t read(std::uint64_t offset) const;
  Refusal write(std::uint64_t offset, std::uint32_t value, const Context& writer);
  void reset();

 private:
  static constexpr std::size_t kQueues = 16;

  Soc& soc_;
  const std::uint32_t core_;
  std::array<std::atomic<std::uint32_t>, kQueues> masks_ = {};
};

}  // namespace sdmacc::model
