// SPDX-License-Identifier: MIT
// Builder: numbers the objects, packs SLOT lists into windows, fills neff_configs and puts the
// sections together in one fixed order. Tested by selftests/emit.
#include "daemon/emit/builder.hpp"

#include <algorithm>

namespace sdmacc::emitter {
namespace {

constexpr std::uint64_t kTmpAlign = 64;
constexpr std::uint64_t kPaddingBytes = 64;

template <typename T>
void put_at(std::vector<std::byte>& bytes, std::uint64_t offset, const T& value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

}  // namespace

Builder::Builder(const Schedule& schedule, const World& world)
    : s_(schedule),
      w_(world),
      element_(element_bytes(schedule.dtype)),
      engines_(world.policy.engines) {
  std::uint64_t offset = 0;
  for (const std::uint64_t elements : s_.tmp_elements) {
    tmp_offset_.push_back(offset);
    offset += (elements * element_ + kTmpAlign - 1) / kTmpAlign * kTmpAlign;
  }
  tmp_offset_.push_back(offset);
  sems_of_rank_.assign(s_.ranks, 0);
  for (const Signal& signal : s_.signals) sem_number_.push_back(sems_of_rank_[signal.owner]++);

  p_.arch_id = arch().arch_id;
  p_.ranks = s_.ranks;
  p_.channels = s_.channels;
  p_.objects.push_back({});
  for (Rank r = 0; r < s_.ranks; ++r) p_.objects.push_back({SDMACC_OBJECT_SP, 0, 0, 0, r});
  for (Rank r = 0; r < s_.ranks; ++r) {
    p_.objects.push_back(
        {SDMACC_OBJECT_SLOT, SDMACC_RIGHT_READ, s_.in_elements * element_, sp_object(r), r << 1});
    p_.objects.push_back({SDMACC_OBJECT_SLOT, SDMACC_RIGHT_READ | SDMACC_RIGHT_WRITE,
                          s_.out_elements * element_, sp_object(r), r << 1 | 1});
  }
  for (Rank r = 0; r < s_.ranks; ++r)
    p_.objects.push_back({SDMACC_OBJECT_SEM, 0, sems_of_rank_[r] + 1u, sp_object(r), 0});
  p_.objects.push_back({SDMACC_OBJECT_CONST, 0, 128, 0, 0});
  for (Rank r = 0; r < s_.ranks; ++r)
    p_.objects.push_back({SDMACC_OBJECT_BUF, SDMACC_RIGHT_READ | SDMACC_RIGHT_WRITE,
                          offset + kPaddingBytes * engines_, sp_object(r), 0});
  sps_.resize(s_.ranks);
  for (Sp& sp : sps_) sp.algo.resize(arch().algo_bytes);
}

std::uint64_t Builder::address(const Range& range, std::uint64_t skip) const {
  const std::uint64_t bytes = (range.first + skip) * element_;
  switch (range.space) {
    case Space::In:
      return SDMACC_ADDR(slot_object(range.rank, false), bytes);
    case Space::Out:
      return SDMACC_ADDR(slot_object(range.rank, true), bytes);
    case Space::Tmp:
      break;
  }
  return SDMACC_ADDR(buf_object(range.rank), tmp_offset_[range.tmp] + bytes);
}

std::uint64_t Builder::constant(std::uint32_t power) const {
  return SDMACC_ADDR(constant_object(), 4 * power);
}

std::uint64_t Builder::padding(Rank rank, std::uint32_t engine) const {
  return SDMACC_ADDR(buf_object(rank), tmp_offset_.back() + engine * kPaddingBytes);
}

std::uint64_t Builder::semaphore(std::uint32_t signal) const {
  return SDMACC_ADDR(sem_object(s_.signals[signal].owner), 4 * sem_number_[signal]);
}

Patch Builder::semaphore_read(std::uint32_t signal, std::uint64_t offset) const {
  return {SDMACC_RELOC_SEM_READ64, sem_object(s_.signals[signal].owner), offset,
          sem_number_[signal]};
}

Group& Builder::group(Rank rank, std::uint32_t channel) {
  auto [at, made] = groups_.try_emplace({rank, channel});
  if (made) {
    at->second.first_object = static_cast<std::uint32_t>(p_.objects.size());
    at->second.rings.resize(engines_);
    // Channels start on different engines, so that one engine a channel still spreads them.
    const std::uint32_t start = channel * engines_ % arch().engines_per_core;
    for (std::uint32_t e = 0; e < engines_; ++e)
      p_.objects.push_back({SDMACC_OBJECT_RING, 0, 0, sp_object(rank),
                            channel << 8 | (start + e) % arch().engines_per_core});
  }
  return at->second;
}

sdmacc_ring_channel& Builder::ring_channel(Rank rank, std::uint32_t channel) {
  return reinterpret_cast<sdmacc_ring_channel*>(sps_[rank].algo.data())[channel];
}

sdmacc_mesh_event& Builder::mesh_event(Rank rank, std::uint32_t event) {
  return reinterpret_cast<sdmacc_mesh_event*>(sps_[rank].algo.data() +
                                              SDMACC_ALGO_MESH_OFFSET)[event];
}

void Builder::relocate_semaphore(Rank rank, std::uint64_t offset, std::uint32_t signal) {
  sps_[rank].algo_patches.push_back(semaphore_read(signal, offset));
}

void Builder::relocate_bcast(Rank rank, std::uint64_t offset, std::uint32_t channel) {
  const std::uint32_t ring = group(rank, channel).first_object;
  auto& patches = sps_[rank].algo_patches;
  patches.push_back(
      {SDMACC_RELOC_BCAST_M2S64, ring, offset + offsetof(sdmacc_apb_bcast, m2s_tail), 0});
  patches.push_back(
      {SDMACC_RELOC_BCAST_S2M64, ring, offset + offsetof(sdmacc_apb_bcast, s2m_tail), 0});
  patches.push_back(
      {SDMACC_RELOC_BCAST_MASK32, ring, offset + offsetof(sdmacc_apb_bcast, mask), 0});
}

Status Builder::finish_list(Rank rank, std::uint32_t list,
                            const std::vector<std::uint64_t>& words) {
  Sp& sp = sps_[rank];
  if (sp.slot.empty()) sp.slot.resize(std::size_t{SDMACC_SLOT_LISTS} * SDMACC_SLOT_WINDOW_WORDS);
  constexpr std::size_t kUsable =
      SDMACC_SLOT_WINDOW_WORDS - 2;  // the last two are CONTINUE and where to
  std::size_t window = std::size_t{list} * SDMACC_SLOT_WINDOW_WORDS, used = 0;
  auto put = [&](std::uint64_t word) {
    if (used == kUsable) {
      const std::size_t next = sp.slot.size();
      sp.slot.resize(next + SDMACC_SLOT_WINDOW_WORDS);
      sp.slot[window + used] = SDMACC_SLOT_CONTINUE;
      sp.slot[window + used + 1] = next * sizeof(std::uint64_t);
      window = next;
      used = 0;
    }
    sp.slot[window + used++] = word;
  };
  for (const std::uint64_t word : words) put(word);
  put(0);
  sp.slot_patches.push_back({SDMACC_RELOC_SEM_INC64, sem_object(rank),
                             (window + used - 1) * sizeof(std::uint64_t), sems_of_rank_[rank]});
  ++sp.completions;
  if (sp.slot.size() * sizeof(std::uint64_t) > 0xffffull * SDMACC_SLOT_WINDOW_BYTES)
    return fail(Errc::NoSpace, Stage::Emit, rank,
                "SLOT lists of rank {} need {} bytes, at most {} fit", rank,
                sp.slot.size() * sizeof(std::uint64_t), 0xffffull * SDMACC_SLOT_WINDOW_BYTES);
  return {};
}

std::uint32_t Builder::add_section(std::uint32_t kind, std::uint32_t object, const void* bytes,
                                   std::size_t size) {
  p_.data.resize((p_.data.size() + 15) / 16 * 16);
  p_.sections.push_back({kind, object, p_.data.size(), size});
  const auto* from = static_cast<const std::byte*>(bytes);
  p_.data.insert(p_.data.end(), from, from + size);
  return static_cast<std::uint32_t>(p_.sections.size()) - 1;
}

void Builder::add_relocations(std::uint32_t section, std::vector<Patch> patches) {
  std::sort(patches.begin(), patches.end(),
            [](const Patch& a, const Patch& b) { return a.offset < b.offset; });
  for (const Patch& p : patches)
    p_.relocations.push_back({section, p.kind, p.offset, p.object, 0, p.addend});
}

void Builder::add_neff(Rank rank) {
  const Sp& sp = sps_[rank];
  sdmacc_neff_configs neff{};
  neff.op_num = static_cast<std::uint32_t>(sp.ctrl.size());
  neff.function_n = 1;
  neff.tpb_compl_addr_num = 1;
  neff.flags = rank == 0 ? SDMACC_NEFF_LEADER : 0;
  const bool last = rank + 1 == s_.ranks;
  const std::uint32_t self = sp_object(rank), next = sp_object(rank + 1);
  std::vector<Patch> patches = {
      {SDMACC_RELOC_SPAD_SLOT64, self, offsetof(sdmacc_neff_configs, slot_spad_base), 0},
      {SDMACC_RELOC_SPAD_CTRL64, self, offsetof(sdmacc_neff_configs, ctrl_spad_base), 0},
      {SDMACC_RELOC_SEM_READ64, self, offsetof(sdmacc_neff_configs, trigger), SDMACC_SEM_TRIGGER},
  };
  if (!last) {
    patches.push_back({SDMACC_RELOC_SEM_READ64, next, offsetof(sdmacc_neff_configs, trigger_next),
                       SDMACC_SEM_TRIGGER});
    patches.push_back({SDMACC_RELOC_SEM_READ64, next, offsetof(sdmacc_neff_configs, complete),
                       SDMACC_SEM_COMPLETION});
  }
  if (rank > 0)
    patches.push_back({SDMACC_RELOC_SEM_READ64, self, offsetof(sdmacc_neff_configs, complete_prev),
                       SDMACC_SEM_COMPLETION});
  add_relocations(add_section(SDMACC_SECTION_NEFF, self, &neff, sizeof neff), std::move(patches));
}

void Builder::add_rings() {
  for (auto& [key, group] : groups_)
    for (std::uint32_t e = 0; e < engines_; ++e) {
      Ring& ring = group.rings[e];
      const std::uint32_t object = group.first_object + e;
      const std::uint32_t section = add_section(SDMACC_SECTION_RING_M2S, object, ring.m2s.data(),
                                                ring.m2s.size() * sizeof(sdmacc_desc));
      add_section(SDMACC_SECTION_RING_S2M, object, ring.s2m.data(),
                  ring.s2m.size() * sizeof(sdmacc_desc));
      for (Origin& origin : ring.origins) {
        origin.section = section;
        p_.origins.push_back(origin);
      }
    }
}

Result<Program> Builder::finish() {
  for (Rank r = 0; r < s_.ranks; ++r) {
    Sp& sp = sps_[r];
    const bool last = r + 1 == s_.ranks;
    for (std::size_t i = 0; i + 1 < sp.ctrl.size(); ++i)
      sp.ctrl[i].algo |= SDMACC_CTRL_TRIGGER_NEXT;
    sp.ctrl.back().flags = static_cast<std::uint8_t>((last ? SDMACC_CTRL_REPORTER : 0) |
                                                     (r > 0 ? SDMACC_CTRL_RING_WAIT_COMPLETE : 0) |
                                                     (last ? 0 : SDMACC_CTRL_RING_SEND_COMPLETE));
    add_section(SDMACC_SECTION_CTRL, sp_object(r), sp.ctrl.data(),
                sp.ctrl.size() * sizeof(sdmacc_ctrl_entry));
    add_relocations(add_section(SDMACC_SECTION_SLOT, sp_object(r), sp.slot.data(),
                                sp.slot.size() * sizeof(std::uint64_t)),
                    sp.slot_patches);
    add_relocations(add_section(SDMACC_SECTION_ALGO, sp_object(r), sp.algo.data(), sp.algo.size()),
                    sp.algo_patches);
    add_neff(r);
  }
  add_rings();
  p_.data.resize((p_.data.size() + 15) / 16 * 16);
  p_.title = fmt::format("{} {} {} {} ranks {} elements {}", name(s_.collective), name(s_.alg),
                         name(s_.op), s_.ranks, s_.count, name(s_.dtype));
  return std::move(p_);
}

}  // namespace sdmacc::emitter
