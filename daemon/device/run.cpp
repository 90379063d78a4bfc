// SPDX-License-Identifier: MIT
// EmbeddedDevice at work: a run from its trigger to its completion, and what ends it early. The
// protocol is docs/device.md §4 "Run".
#include <unistd.h>

#include <algorithm>

#include "daemon/device/embedded.hpp"

namespace sdmacc::device {

// The address of a rank's image into its TOP_SP, when another Program ran there last; the firmware
// then loads it.
Status EmbeddedDevice::use_image(const Loaded& loaded, Rank rank) {
  const std::uint32_t topsp = loaded.claim.places[rank].topsp;
  if (image_of_[topsp] == loaded.id) return {};
  const std::uint64_t core = sdmacc_soc_topsp(&arch_, topsp) + SDMACC_TOPSP_CORE;
  const std::uint64_t image = loaded.claim.images[rank].address;
  SDMACC_CHECK(soc_.write32(core + arch_.csr_config_lo, static_cast<std::uint32_t>(image)));
  SDMACC_CHECK(soc_.write32(core + arch_.csr_config_hi, static_cast<std::uint32_t>(image >> 32)));
  image_of_[topsp] = loaded.id;
  return {};
}

Status EmbeddedDevice::run(LoadedId id, Ticket ticket) {
  const std::lock_guard lock(mutex_);
  settle_locked();
  SDMACC_TRY(const LoadedPtr loaded, find(id));
  for (const Place& place : loaded->claim.places)
    if (const LoadedId other = running_[place.topsp]; other != 0)
      return fail(Errc::Busy, Stage::Device, kNoIndex, "program {}: TOP_SP {} runs program {}", id,
                  place.topsp, other);
  for (std::size_t i = 0; i < loaded->bound.size(); ++i)
    if (!loaded->bound[i])
      return fail(Errc::Invalid, Stage::Device, kNoIndex, "program {}: rank {} {} has no tensor",
                  id, loaded->claim.slots[i].slot >> 1,
                  loaded->claim.slots[i].slot & 1 ? "OUT" : "IN");
  for (Rank rank = 0; rank < loaded->claim.places.size(); ++rank)
    SDMACC_CHECK(use_image(*loaded, rank));
  for (const Place& place : loaded->claim.places) running_[place.topsp] = id;
  loaded->ticket = ticket;
  loaded->used = ++clock_;
  loaded->running = true;
  const std::uint64_t leader = sdmacc_soc_topsp(&arch_, loaded->claim.places[0].topsp);
  if (Status triggered = soc_.write32(leader + SDMACC_TOPSP_CORE + arch_.csr_host_trigger, 1);
      !triggered)
    stop(*loaded, std::move(triggered.error()));
  return {};
}

void EmbeddedDevice::complete(Loaded& loaded, Status status) {
  for (const Place& place : loaded.claim.places) running_[place.topsp] = 0;
  completions_.push_back({loaded.id, loaded.ticket, std::move(status)});
  loaded.running = false;
  const std::uint64_t one = 1;
  SDMACC_ASSERT(::write(event_fd_, &one, sizeof one) == sizeof one);
}

// Firmware first, so that nothing rings any more; then queues; then what they have left in
// semaphores. A TOP_SP that comes to itself again finds no trigger.
void EmbeddedDevice::stop(Loaded& loaded, Error why) {
  for (const Place& place : loaded.claim.places) soc_.topsp(place.topsp).suspend();
  SDMACC_ASSERT(reset_queues(soc_, loaded.claim));
  settle_queues(soc_, loaded.claim);
  zero_semaphores(soc_, loaded.claim);
  for (const Place& place : loaded.claim.places)
    SDMACC_ASSERT(soc_.write32(
        sdmacc_soc_topsp(&arch_, place.topsp) + SDMACC_TOPSP_CORE + arch_.csr_stop, 1));
  complete(loaded, tl::unexpected<Error>(std::move(why)));
}

void EmbeddedDevice::abort(LoadedId id) {
  const std::lock_guard lock(mutex_);
  settle_locked();
  const auto it = loaded_.find(id);
  if (it == loaded_.end() || !it->second->running) return;
  stop(*it->second,
       {Errc::Cancelled, Stage::Device, kNoIndex, fmt::format("program {} was aborted", id)});
  settle_locked();
}

std::vector<Completion> EmbeddedDevice::reap() {
  const std::lock_guard lock(mutex_);
  settle_locked();
  std::uint64_t count = 0;
  if (::read(event_fd_, &count, sizeof count) != sizeof count) return {};
  return std::exchange(completions_, {});
}

Loaded* EmbeddedDevice::running_on(std::uint32_t topsp) {
  const auto it = loaded_.find(running_[topsp]);
  return it == loaded_.end() ? nullptr : it->second.get();
}

// Whose run the record is about; null when none is.
Loaded* EmbeddedDevice::owner_of(const model::ErrorRecord& record) {
  if (record.source == model::Source::TopSp) return running_on(record.block);
  if (record.source != model::Source::Queue) return nullptr;
  for (auto& [id, loaded] : loaded_)
    for (const RingClaim& ring : loaded->claim.rings)
      if (loaded->running && engine_number(arch_, ring) == record.block &&
          ring.queue == record.queue)
        return loaded.get();
  return nullptr;
}

void EmbeddedDevice::act(const model::CcStatus& status) {
  Loaded* loaded = running_on(status.topsp);
  if (!loaded || loaded->claim.places.back().topsp != status.topsp) return;
  ++loaded->runs;
  complete(*loaded, {});
}

void EmbeddedDevice::act(const model::ErrorRecord& record) {
  if (Loaded* loaded = owner_of(record)) stop(*loaded, explain(*loaded, record));
}

// What a run that is over still had to say finds no owner. Stopping a run waits for its last
// packets, so their reports are in the list before anybody can start it again.
void EmbeddedDevice::settle_locked() {
  while (reported_.exchange(false, std::memory_order_acquire)) {
    std::vector<model::Notification> reports;
    {
      const std::lock_guard lock(reports_mutex_);
      reports.swap(reports_);
    }
    for (const model::Notification& report : reports)
      std::visit([this](const auto& what) { act(what); }, report);
  }
}

void EmbeddedDevice::settle() {
  if (!reported_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  settle_locked();
}

bool EmbeddedDevice::pump_once(unsigned worker) {
  const bool worked = soc_.pump(worker);
  settle();
  return worked;
}

// With one worker that thread does all the work, in the order in which it comes. With more, the
// last list belongs to callers.
void EmbeddedDevice::pump(LoadedId until) {
  if (options_.workers == 1) return;
  LoadedPtr loaded;
  {
    const std::lock_guard lock(mutex_);
    const auto it = loaded_.find(until);
    if (it != loaded_.end()) loaded = it->second;
  }
  const std::lock_guard lock(pump_mutex_);
  while (loaded && loaded->running && pump_once(options_.workers)) {
  }
  if (!soc_.scheduler().idle()) workers_.wake();
}

}  // namespace sdmacc::device
