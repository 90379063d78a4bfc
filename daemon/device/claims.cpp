// SPDX-License-Identifier: MIT
// Claims: each kind of resource is taken lowest first, so that the same loads give the same places.
// Tested by selftests/device.
#include "daemon/device/claims.hpp"

#include <algorithm>

#include "libuapi/core/ring.h"

namespace sdmacc::device {
namespace {

constexpr std::uint64_t kRingAlign = SDMACC_RING_ALIGN_DESCS * sizeof(sdmacc_desc);
constexpr std::uint64_t kApertureBytes = 1ull << SDMACC_APERTURE_BITS;

template <typename Owners>
Shortage shortage(std::string what, std::uint64_t asked, std::uint64_t free, std::uint64_t all,
                  const Owners& held) {
  Shortage s;
  s.text = fmt::format("{}: {} asked, {} of {} free", std::move(what), asked, free, all);
  const char* separator = "; held by";
  for (const auto& [id, count] : held) {
    s.text += fmt::format("{} program {} ({})", separator, id, count);
    separator = ",";
    s.holders.push_back(id);
  }
  return s;
}

std::map<LoadedId, std::uint64_t> count_owners(std::span<const LoadedId> owners) {
  std::map<LoadedId, std::uint64_t> held;
  for (const LoadedId id : owners)
    if (id != 0) ++held[id];
  return held;
}

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t align) {
  return (bytes + align - 1) / align * align;
}

}  // namespace

Claims::Claims(const sdmacc_generation& arch, std::uint64_t hbm_bytes)
    : arch_(arch), queues_(arch.cores), sems_(arch.topsps), aperture_(0, kApertureBytes) {
  for (std::uint32_t i = 0; i < arch.hbm_stacks; ++i)
    hbm_.emplace_back(arch.hbm_base[i], hbm_bytes);
}

std::uint64_t Claims::take_page() {
  return hbm_[0].take(kPage, kPage).value();
}

std::size_t Claims::stack_of(std::uint64_t address) const {
  std::size_t stack = 0;
  while (address - arch_.hbm_base[stack] >= arch_.hbm_slot) ++stack;
  return stack;
}

std::uint64_t Claims::free_memory() const {
  std::uint64_t bytes = 0;
  for (const RangeAllocator& stack : hbm_) bytes += stack.free_bytes();
  return bytes;
}

tl::expected<std::uint64_t, Shortage> Claims::take_memory(LoadedId id, std::uint32_t core,
                                                          std::uint64_t bytes, std::uint64_t align,
                                                          Claim& claim) {
  const std::size_t near = std::size_t{core} * hbm_.size() / arch_.cores;
  for (std::size_t i = 0; i < hbm_.size(); ++i) {
    RangeAllocator& stack = hbm_[(near + i) % hbm_.size()];
    if (const auto at = stack.take(bytes, align)) {
      claim.memory.push_back(*at);
      memory_of_[id] += bytes;
      return *at;
    }
  }
  std::uint64_t all = 0;
  for (const RangeAllocator& stack : hbm_) all += stack.size();
  auto others = memory_of_;
  others.erase(id);
  const bool hopeless = bytes > hbm_[0].size();
  return tl::unexpected(shortage("bytes of device memory in one piece", bytes, free_memory(), all,
                                 hopeless ? std::map<LoadedId, std::uint64_t>{} : others));
}

Claims::Outcome Claims::take_queue(LoadedId id, std::uint32_t core, std::uint32_t* queue) {
  auto& owners = queues_[core];
  const auto free = std::find(owners.begin(), owners.end(), 0);
  if (free == owners.end()) {
    auto held = count_owners(owners);
    held.erase(id);
    return tl::unexpected(
        shortage(fmt::format("queue numbers of core {}", core), 1, 0, kClaimableQueues, held));
  }
  *free = id;
  *queue = static_cast<std::uint32_t>(free - owners.begin());
  return {};
}

// Refuses what would not even fit an empty device, so that nobody is unloaded for it.
Claims::Outcome Claims::check_queues(const sdmacc_check& check, const Claim& claim) const {
  std::vector<std::uint32_t> asked(queues_.size());
  for (Rank rank = 0; rank < check.sps; ++rank)
    for (const sdmacc_group& group : check.sp[rank].groups)
      if (group.engines != 0) ++asked[claim.places[rank].core];
  for (std::size_t core = 0; core < asked.size(); ++core)
    if (asked[core] > kClaimableQueues)
      return tl::unexpected(shortage(fmt::format("queue numbers of core {}", core), asked[core],
                                     kClaimableQueues, kClaimableQueues,
                                     std::map<LoadedId, std::uint64_t>{}));
  return {};
}

// One queue number for each (SP, group), the same on all its engines: a broadcast has one number.
Claims::Outcome Claims::take_rings(LoadedId id, const sdmacc_check& check, Claim& claim) {
  const sdmacc_view& view = check.view;
  if (Outcome fits = check_queues(check, claim); !fits) return fits;
  std::map<std::pair<Rank, std::uint32_t>, std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < view.header->sections; ++i) {
    const sdmacc_section& section = view.sections[i];
    if (section.kind != SDMACC_SECTION_RING_M2S) continue;
    RingClaim ring;
    ring.object = section.object;
    ring.section = i;
    ring.rank = sdmacc_owner(&check, section.object);
    ring.group = view.objects[section.object].index >> 8;
    ring.engine = view.objects[section.object].index & 0xff;
    ring.core = claim.places[ring.rank].core;
    const auto [number, made] = numbers.try_emplace({ring.rank, ring.group}, 0);
    if (made) {
      if (Outcome taken = take_queue(id, ring.core, &number->second); !taken) {
        numbers.erase(number);
        return taken;
      }
    }
    ring.queue = number->second;
    claim.objects[ring.object] = {0, 0, ring.core, ring.queue};
    claim.rings.push_back(ring);
    RingClaim& kept = claim.rings.back();
    for (std::uint32_t side = 0; side < 2; ++side) {
      const std::uint64_t descs = view.sections[i + side].size / sizeof(sdmacc_desc);
      kept.length[side] = sdmacc_ring_length(descs);
      const auto at =
          take_memory(id, kept.core, kept.length[side] * sizeof(sdmacc_desc), kRingAlign, claim);
      if (!at) return tl::unexpected(at.error());
      kept.address[side] = *at;
    }
  }
  return {};
}

Claims::Outcome Claims::take_semaphores(LoadedId id, const sdmacc_check& check, Claim& claim) {
  for (std::uint32_t i = 1; i < check.view.header->objects; ++i) {
    const sdmacc_object& object = check.view.objects[i];
    if (object.kind != SDMACC_OBJECT_SEM) continue;
    const std::uint32_t topsp = claim.places[sdmacc_owner(&check, i)].topsp;
    auto& owners = sems_[topsp];
    const auto begin = owners.begin() + SDMACC_SEM_FIRST_FREE,
               end = owners.begin() + SDMACC_SEM_LAST_FREE + 1;
    const auto first = std::search_n(begin, end, object.size, LoadedId{0});
    if (first == end)
      return tl::unexpected(
          shortage(fmt::format("semaphores of TOP_SP {} in one piece", topsp), object.size,
                   static_cast<std::uint64_t>(std::count(begin, end, LoadedId{0})),
                   static_cast<std::uint64_t>(end - begin), count_owners({begin, end})));
    std::fill_n(first, object.size, id);
    const auto number = static_cast<std::uint32_t>(first - owners.begin());
    claim.semaphores.push_back({topsp, number, static_cast<std::uint32_t>(object.size)});
    claim.objects[i].address = sdmacc_soc_sem(&arch_, topsp, SDMACC_SEM_READ, number);
  }
  return {};
}

Claims::Outcome Claims::take_buffers(LoadedId id, const sdmacc_check& check, Claim& claim) {
  for (std::uint32_t i = 1; i < check.view.header->objects; ++i) {
    const sdmacc_object& object = check.view.objects[i];
    if (object.kind == SDMACC_OBJECT_SP) claim.objects[i].topsp = claim.places[object.index].topsp;
    if (object.kind != SDMACC_OBJECT_BUF) continue;
    const std::uint32_t core = claim.places[sdmacc_owner(&check, i)].core;
    const auto at = take_memory(id, core, round_up(object.size, kPage), kPage, claim);
    if (!at) return tl::unexpected(at.error());
    claim.objects[i].address = *at;
  }
  for (Rank rank = 0; rank < check.sps; ++rank) {
    ImageClaim image;
    image.bytes = image_bytes(check, rank);
    const auto at = take_memory(id, claim.places[rank].core, image.bytes, kPage, claim);
    if (!at) return tl::unexpected(at.error());
    image.address = *at;
    claim.images.push_back(image);
  }
  return {};
}

Claims::Outcome Claims::take_slots(LoadedId id, const sdmacc_check& check, Claim& claim) {
  for (std::uint32_t i = 1; i < check.view.header->objects; ++i) {
    const sdmacc_object& object = check.view.objects[i];
    if (object.kind != SDMACC_OBJECT_SLOT) continue;
    const std::uint64_t bytes = round_up(object.size, kPage) + kPage;
    const auto at = aperture_.take(bytes, kPage);
    if (!at) {
      auto others = aperture_of_;
      others.erase(id);
      return tl::unexpected(shortage("bytes of the host aperture", bytes, aperture_.free_bytes(),
                                     aperture_.size(), others));
    }
    aperture_of_[id] += bytes;
    claim.slots.push_back({object.index, object.rights, *at, object.size});
    claim.objects[i].address = arch_.host_aperture | *at;
  }
  return {};
}

tl::expected<Claim, Shortage> Claims::take(LoadedId id, const sdmacc_check& check,
                                           std::span<const Place> places, std::uint64_t constants) {
  Claim claim;
  claim.objects.resize(check.view.header->objects);
  claim.places.assign(places.begin(), places.end());
  for (std::uint32_t i = 1; i < check.view.header->objects; ++i)
    if (check.view.objects[i].kind == SDMACC_OBJECT_CONST) claim.objects[i].address = constants;
  for (const auto part :
       {&Claims::take_rings, &Claims::take_semaphores, &Claims::take_buffers, &Claims::take_slots})
    if (Outcome taken = (this->*part)(id, check, claim); !taken) {
      give(id, claim);
      return tl::unexpected(std::move(taken.error()));
    }
  return claim;
}

void Claims::give(LoadedId id, const Claim& claim) {
  for (auto& owners : queues_) std::replace(owners.begin(), owners.end(), id, LoadedId{0});
  for (auto& owners : sems_) std::replace(owners.begin(), owners.end(), id, LoadedId{0});
  for (const std::uint64_t at : claim.memory) hbm_[stack_of(at)].give(at);
  for (const SlotClaim& slot : claim.slots) aperture_.give(slot.offset);
  memory_of_.erase(id);
  aperture_of_.erase(id);
}

}  // namespace sdmacc::device
