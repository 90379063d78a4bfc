// SPDX-License-Identifier: MIT
// Register decode of an engine. change_state is answered at once; queues do not ask for the state.
#include "firmware-stub/model/engine.hpp"

namespace sdmacc::model {
namespace {

constexpr std::uint32_t kStateAborted =
    0x2222;  // each of the four fields: 0 idle, 1 normal, 2 abort

std::uint32_t state_after(std::uint32_t change) {
  if (change & SDMACC_STATE_CHANGE_ABORT) return kStateAborted;
  if (change & SDMACC_STATE_CHANGE_DISABLE) return 0;
  return change & SDMACC_STATE_CHANGE_NORMAL ? SDMACC_STATE_NORMAL : 0;
}

}  // namespace

QueueRegister queue_register(std::uint64_t offset, std::uint32_t queues) {
  QueueRegister r;
  r.side = offset < SDMACC_S2M_OFFSET ? Side::M2s : Side::S2m;
  const std::uint64_t in_side = offset % SDMACC_S2M_OFFSET;
  const std::uint64_t page = in_side >> 12;
  r.reg = static_cast<std::uint32_t>(in_side & 0xfff);
  if (offset < 2 * SDMACC_S2M_OFFSET && page >= 1 && page <= queues)
    r.queue = static_cast<std::uint32_t>(page - 1);
  return r;
}

std::uint32_t RegisterFile::read(std::uint64_t offset) const {
  const std::lock_guard lock(mutex_);
  const auto it = values_.find(offset);
  return it == values_.end() ? 0 : it->second;
}

void RegisterFile::write(std::uint64_t offset, std::uint32_t value) {
  const std::lock_guard lock(mutex_);
  values_[offset] = value;
}

void RegisterFile::clear() {
  const std::lock_guard lock(mutex_);
  values_.clear();
}

Engine::Engine(Soc& soc, std::uint32_t number, std::uint32_t queues) {
  for (std::uint32_t q = 0; q < queues; ++q)
    queues_.push_back(std::make_unique<Queue>(soc, number, q));
}

std::uint32_t Engine::read(std::uint64_t offset) const {
  const QueueRegister r = queue_register(offset, queues());
  std::uint32_t value = 0;
  if (r.queue != kNone && queue(r.queue).read(r.side, r.reg, &value)) return value;
  return others_.read(offset);
}

void Engine::write(std::uint64_t offset, std::uint32_t value) {
  const QueueRegister r = queue_register(offset, queues());
  if (r.queue != kNone && queue(r.queue).write(r.side, r.reg, value)) return;
  switch (offset) {
    case SDMACC_E_M2S_STATE:
    case SDMACC_E_S2M_STATE:
      return;  // read-only
    case SDMACC_E_M2S_CHANGE_STATE:
      others_.write(SDMACC_E_M2S_STATE, state_after(value));
      break;
    case SDMACC_E_S2M_CHANGE_STATE:
      others_.write(SDMACC_E_S2M_STATE, state_after(value));
      break;
    default:
      break;
  }
  others_.write(offset, value);
}

void Engine::reset() {
  for (auto& queue : queues_) queue->reset();
  others_.clear();
}

}  // namespace sdmacc::model
