// SPDX-License-Identifier: MIT
// EmbeddedDevice from the outside: what a loaded Program's queues, firmware and counters say, and
// what an error record means in terms of ranks, channels and steps. Nothing is stopped for it.
#include <algorithm>
#include <cstring>

#include "daemon/device/embedded.hpp"
#include "firmware-stub/model/memory.hpp"

namespace sdmacc::device {
namespace {

template <typename T>
T ram_at(const model::Memory& ram, std::uint64_t offset) {
  T value;
  model::copy_shared(&value, ram.data() + offset, sizeof value);
  return value;
}

std::size_t side(model::Side s) {
  return static_cast<std::size_t>(s);
}

// "semaphore 12 of TOP_SP 3", when that is what the address is.
std::string semaphore_name(const model::Soc& soc, std::uint64_t address) {
  const model::Target target = soc.map().decode(address);
  if (target.block != model::Block::Semaphores || target.index < soc.arch().cores ||
      target.offset < SDMACC_SEM_READ)
    return {};
  return fmt::format(", semaphore {} of TOP_SP {}",
                     (target.offset - SDMACC_SEM_READ) / 4 % SDMACC_SEMAPHORES,
                     target.index - soc.arch().cores);
}

std::string place_in_schedule(Rank rank, std::string_view what, std::uint32_t number,
                              const Origin* origin) {
  std::string text = fmt::format("rank {} {} {}", rank, what, number);
  if (origin) text += fmt::format(" step {} (slice {})", origin->step, origin->slice);
  return text;
}

}  // namespace

// A queue stops in front of the packet that failed, so its M2S head finds the step for either side.
Error EmbeddedDevice::explain(const Loaded& loaded, const model::ErrorRecord& record) {
  std::string place;
  const Origin* origin = nullptr;
  if (record.source == model::Source::Queue) {
    for (const RingClaim& ring : loaded.claim.rings) {
      if (engine_number(arch_, ring) != record.block || ring.queue != record.queue) continue;
      const auto state = soc_.queue(record.block, record.queue).state();
      const std::uint32_t index = record.side == model::Side::M2s && record.index != model::kNone
                                      ? record.index
                                      : state.ring[side(model::Side::M2s)].head;
      origin = loaded.program.origin(ring.section, index);
      place =
          place_in_schedule(ring.rank, "channel", origin ? origin->channel : ring.group, origin);
    }
  } else {
    Rank rank = 0;
    while (loaded.claim.places[rank].topsp != record.block) ++rank;
    const auto& ram = soc_.topsp(record.block).ram();
    const std::uint64_t entry =
        SDMACC_RAM_CTRL + 8ull * std::min(record.index, SDMACC_CTRL_ENTRIES - 1);
    const auto ctrl = ram_at<sdmacc_ctrl_entry>(ram, entry);
    const std::uint32_t algo = ctrl.algo & SDMACC_CTRL_ALGO_MASK;
    const bool mesh = algo < SDMACC_DISPATCH_WORDS && arch_.dispatch[algo] == SDMACC_HANDLER_MESH;
    for (std::uint32_t i = 0; mesh && i < loaded.program.sections.size(); ++i) {
      const sdmacc_section& s = loaded.program.sections[i];
      if (s.kind == SDMACC_SECTION_ALGO && loaded.program.objects[s.object].index == rank)
        origin = loaded.program.origin(i, record.unit);
    }
    place = record.unit == model::kNone
                ? fmt::format("rank {}", rank)
                : place_in_schedule(rank, mesh ? "event" : "channel", record.unit, origin);
  }
  const Errc code = record.code == model::Code::MemoryFault ? Errc::MemoryFault : Errc::DeviceError;
  return {code, Stage::Device, origin ? origin->step : kNoIndex,
          fmt::format("{}: {}{}", place, model::to_string(record),
                      semaphore_name(soc_, record.address))};
}

void EmbeddedDevice::inspect_rank(const Loaded& loaded, Rank rank, Inspection& out) const {
  const std::uint32_t topsp = loaded.claim.places[rank].topsp;
  const model::Memory& memory = soc_.topsp(topsp).ram();
  out.topsps.push_back(topsp);
  std::vector<std::byte>& ram = out.ram.emplace_back(SDMACC_RAM_USED);
  model::copy_shared(ram.data(), memory.data(), ram.size());
  // Another Program's waits say nothing of this one; an idle TOP_SP waits for its trigger.
  if (const LoadedId other = running_[topsp]; other != 0 && other != loaded.id) return;
  const auto progress = ram_at<sdmacc_ncfw_progress>(
      memory, SDMACC_RAM_DRAM_IMAGE + std::uint64_t{arch_.dram_progress});
  for (std::uint32_t unit = 0; unit < SDMACC_NCFW_WAITS; ++unit) {
    const sdmacc_ncfw_wait& wait = progress.wait[unit];
    const model::Target target = soc_.map().decode(wait.address);
    if (wait.address == 0 || target.block != model::Block::Semaphores) continue;
    const auto id =
        static_cast<std::uint32_t>((target.offset - SDMACC_SEM_READ) / 4 % SDMACC_SEMAPHORES);
    out.waits.push_back(
        {rank, topsp, unit, wait.address, id, soc_.semaphores(target.index).value(id), wait.count});
  }
}

Result<Inspection> EmbeddedDevice::inspect(LoadedId id) const {
  const std::lock_guard lock(mutex_);
  SDMACC_TRY(const LoadedPtr loaded, find(id));
  Inspection out;
  for (Rank rank = 0; rank < loaded->claim.places.size(); ++rank) inspect_rank(*loaded, rank, out);
  for (const RingClaim& ring : loaded->claim.rings) {
    const std::uint32_t engine = engine_number(arch_, ring);
    const auto state = soc_.queue(engine, ring.queue).state();
    const auto &m2s = state.ring[side(model::Side::M2s)], &s2m = state.ring[side(model::Side::S2m)];
    out.queues.push_back({engine, ring.queue, m2s.head, m2s.tail, s2m.head, s2m.tail, m2s.length});
    std::vector<std::byte>& bytes = out.rings.emplace_back();
    for (std::uint32_t s = 0; s < 2; ++s) {
      const std::uint64_t size = loaded->program.sections[ring.section + s].size;
      const std::byte* from = soc_.hbm(ring.address[s], size);
      bytes.insert(bytes.end(), from, from + size);
    }
  }
  return out;
}

// What the queues counted, without the padding that completed runs moved.
std::vector<RankCounters> EmbeddedDevice::counters(LoadedId id) const {
  const std::lock_guard lock(mutex_);
  const auto it = loaded_.find(id);
  if (it == loaded_.end()) return {};
  const Loaded& loaded = *it->second;
  std::vector<RankCounters> ranks(loaded.claim.places.size());
  for (std::size_t i = 0; i < loaded.claim.rings.size(); ++i) {
    const RingClaim& ring = loaded.claim.rings[i];
    const model::Counters now = soc_.queue(engine_number(arch_, ring), ring.queue).counters();
    const model::Counters& then = loaded.counted[i];
    RankCounters& rank = ranks[ring.rank];
    const std::uint64_t words = 4 * (now.words - then.words);
    rank.descriptors += now.descriptors - then.descriptors;
    rank.packets += now.packets - then.packets;
    rank.read_bytes += now.bytes_read - then.bytes_read + words;
    rank.written_bytes += now.bytes_written - then.bytes_written + words;
    rank.semaphore_writes += now.semaphore_writes - then.semaphore_writes;
  }
  for (Rank rank = 0; rank < ranks.size(); ++rank) {
    ranks[rank].read_bytes -= loaded.runs * loaded.padding[rank].read_bytes;
    ranks[rank].written_bytes -= loaded.runs * loaded.padding[rank].written_bytes;
  }
  return ranks;
}

}  // namespace sdmacc::device
