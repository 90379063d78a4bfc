// SPDX-License-Identifier: MIT
// Mask words and the stores that they spread.
#include "firmware-stub/model/broadcast.hpp"

#include "firmware-stub/model/soc.hpp"

namespace sdmacc::model {
namespace {

bool is_mask(const QueueRegister& r) {
  return r.side == Side::M2s && r.reg == SDMACC_Q_BCAST_MASK;
}

bool can_spread(const QueueRegister& r) {
  return r.reg == SDMACC_Q_TAIL_INC ||
         r.reg == (r.side == Side::M2s ? SDMACC_Q_M2S_SWCTRL : SDMACC_Q_S2M_SWCTRL);
}

}  // namespace

std::uint32_t Broadcast::read(std::uint64_t offset) const {
  const QueueRegister r = queue_register(offset, kQueues);
  return r.queue != kNone && is_mask(r) ? masks_[r.queue].load(std::memory_order_acquire) : 0;
}

Refusal Broadcast::write(std::uint64_t offset, std::uint32_t value, const Context& writer) {
  const QueueRegister r = queue_register(offset, kQueues);
  if (r.queue == kNone) return {Code::BroadcastRegister};
  if (is_mask(r)) {
    masks_[r.queue].store(value, std::memory_order_release);
    return {};
  }
  if (!can_spread(r)) return {Code::BroadcastRegister};
  const std::uint32_t mask = masks_[r.queue].load(std::memory_order_acquire);
  if (!(mask & SDMACC_BCAST_ENABLE)) return {Code::BroadcastMask, mask};

  const std::uint32_t engines = sdmacc_bcast_engines(mask);
  const std::uint32_t first = core_ * soc_.arch().engines_per_core;
  const auto each = [&](auto&& visit) {
    for (std::uint32_t i = 0; i < soc_.arch().engines_per_core; ++i)
      if (engines >> i & 1) visit(first + i, soc_.engine(first + i).queue(r.queue));
  };
  Refusal refusal;
  each([&](std::uint32_t engine, Queue& queue) {
    if (!writer.identity() && queue.context() != writer.number())
      refusal = {Code::BroadcastContext, engine, queue.context()};
  });
  if (!refusal) each([&](std::uint32_t, Queue& queue) { queue.write(r.side, r.reg, value); });
  return refusal;
}

void Broadcast::reset() {
  for (auto& mask : masks_) mask.store(0, std::memory_order_release);
}

}  // namespace sdmacc::model
