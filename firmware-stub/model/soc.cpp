// SPDX-License-Identifier: MIT
// Puts the blocks together, routes accesses to them, and acts on all of them at once.
#include "firmware-stub/model/soc.hpp"

#include <cstring>

#include "firmware-stub/cce/cce.hpp"
#include "firmware-stub/model/guard.hpp"

namespace sdmacc::model {

Soc::Soc(const sdmacc_generation& arch, const SocOptions& options)
    : arch_(arch), map_(arch, options.hbm_bytes, options.chip), scheduler_(options.workers) {
  SDMACC_ASSERT(arch.max_destinations >= 1 && arch.max_destinations <= cce::kMaxDestinations);
  SDMACC_ASSERT(options.hbm_bytes > 0);
  install_guard();
  for (unsigned i = 0; i < kContexts; ++i) contexts_.push_back(std::make_unique<Context>(i));
  for (std::uint32_t i = 0; i < arch.hbm_stacks; ++i) hbm_.emplace_back(options.hbm_bytes);
  for (std::uint32_t i = 0; i < arch.cores; ++i) sbuf_.emplace_back(kSbufBytes);
  for (std::uint32_t i = 0; i < map_.semaphore_blocks(); ++i)
    semaphores_.push_back(std::make_unique<EventSemaphores>());
  for (std::uint32_t i = 0; i < map_.engines(); ++i)
    engines_.push_back(std::make_unique<Engine>(*this, i, arch.queues));
  for (std::uint32_t i = 0; i < arch.cores; ++i)
    broadcasts_.push_back(std::make_unique<Broadcast>(*this, i));
  for (std::uint32_t i = 0; i < arch.topsps; ++i)
    topsps_.push_back(std::make_unique<TopSp>(*this, i));
}

Soc::~Soc() {
  SDMACC_ASSERT(!scheduler_.on_worker());
}

const Memory& Soc::memory(const Target& target) const {
  switch (target.block) {
    case Block::Hbm:
      return hbm_[target.index];
    case Block::Sbuf:
      return sbuf_[target.index];
    default:
      return topsps_[target.index]->ram();
  }
}

Refusal Soc::load(const Target& t, std::uint32_t* value) {
  switch (t.block) {
    case Block::Semaphores:
      if (semaphores_[t.index]->read(static_cast<std::uint32_t>(t.offset), value) !=
          EventSemaphores::Result::Ok)
        return {Code::Decode, 4};
      return {};
    case Block::Engine:
      *value = engines_[t.index]->read(t.offset);
      return {};
    case Block::Broadcast:
      *value = broadcasts_[t.index]->read(t.offset);
      return {};
    case Block::TopSpCore:
      *value = topsps_[t.index]->read_register(t.offset);
      return {};
    default:
      return {Code::Decode, 4};
  }
}

Refusal Soc::store(const Target& t, std::uint32_t value, const Context& writer) {
  switch (t.block) {
    case Block::Semaphores: {
      std::uint32_t counter = 0;
      switch (semaphores_[t.index]->write(static_cast<std::uint32_t>(t.offset), value, &counter)) {
        case EventSemaphores::Result::Ok:
          return {};
        case EventSemaphores::Result::NoRegister:
          return {Code::Decode, 4};
        case EventSemaphores::Result::Wraps:
          return {Code::SemaphoreWrap, counter, value};
      }
      return {};
    }
    case Block::Engine:
      engines_[t.index]->write(t.offset, value);
      return {};
    case Block::Broadcast:
      return broadcasts_[t.index]->write(t.offset, value, writer);
    case Block::TopSpCore:
      return topsps_[t.index]->write_register(t.offset, value);
    default:
      return {Code::Decode, 4};
  }
}

Status Soc::access(std::uint64_t address, std::size_t bytes, Rights need, void* to,
                   const void* from) {
  Span span;
  View view(*this, {&span, 1});
  view.set_context(*contexts_[0]);
  view.refresh();
  Reach reach;
  Refusal refusal;
  if (const Code code = view.reach(0, address, bytes, need, &reach); code != Code::None) {
    refusal = access_refusal(code, reach, bytes, need);
  } else if (reach.memory) {
    auto move = [&] {
      to ? copy_shared(to, reach.memory, bytes) : copy_shared(reach.memory, from, bytes);
    };
    if (guarded(move) != 0) refusal = {Code::MemoryFault};
  } else {
    std::uint32_t word = 0;
    if (from) std::memcpy(&word, from, sizeof word);
    refusal = from ? store(reach.target, word, *contexts_[0]) : load(reach.target, &word);
    if (to && !refusal) std::memcpy(to, &word, sizeof word);
  }
  if (!refusal) return {};
  ErrorRecord e;
  e.code = refusal.code;
  e.address = address;
  e.value = refusal.value;
  e.target = refusal.target;
  return fail(Errc::DeviceError, Stage::Device, kNoIndex, "{}", to_string(e));
}

Result<std::uint32_t> Soc::read32(std::uint64_t address) {
  std::uint32_t value = 0;
  SDMACC_CHECK(access(address, sizeof value, kRead, &value, nullptr));
  return value;
}

Status Soc::write32(std::uint64_t address, std::uint32_t value) {
  return access(address, sizeof value, kWrite, nullptr, &value);
}

Status Soc::read(std::uint64_t address, void* to, std::size_t bytes) {
  return access(address, bytes, kRead, to, nullptr);
}

Status Soc::write(std::uint64_t address, const void* from, std::size_t bytes) {
  return access(address, bytes, kWrite, nullptr, from);
}

std::byte* Soc::hbm(std::uint64_t address, std::uint64_t size) {
  const Target t = map_.decode(address);
  return t.block == Block::Hbm && size <= t.left ? hbm_[t.index].data() + t.offset : nullptr;
}

void Soc::post(const Notification& notification) const {
  if (on_notification) on_notification(notification);
}

void Soc::quiesce(unsigned context) {
  const auto wait_for = [&](Work& work) {
    scheduler_.take(work);
    scheduler_.give_back(work);
  };
  for (auto& topsp : topsps_)
    if (topsp->context() == context) wait_for(*topsp);
  for (auto& engine : engines_)
    for (std::uint32_t q = 0; q < engine->queues(); ++q)
      if (engine->queue(q).context() == context) wait_for(engine->queue(q));
}

void Soc::suspend_firmware() {
  for (auto& topsp : topsps_) topsp->suspend();
}

void Soc::restart_firmware() {
  for (auto& topsp : topsps_) topsp->restart();
}

void Soc::reset() {
  for (auto& topsp : topsps_) topsp->reset();
  for (auto& engine : engines_) engine->reset();
  for (auto& broadcast : broadcasts_) broadcast->reset();
  for (auto& block : semaphores_) block->clear();
  for (auto& memory : sbuf_) memory.clear();
}

Counters Soc::counters() const {
  Counters sum;
  for (const auto& engine : engines_)
    for (std::uint32_t q = 0; q < engine->queues(); ++q) sum += engine->queue(q).counters();
  return sum;
}

}  // namespace sdmacc::model
