// SPDX-License-Identifier: MIT
// Writing a Program's parts into the device. Layouts: libuapi/abi/program.h (image) and udma.h
// (registers).
#include "daemon/device/image.hpp"

#include <cstring>

namespace sdmacc::device {
namespace {

constexpr std::uint64_t kPartAlign = 64;

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kPartAlign - 1) / kPartAlign * kPartAlign;
}

const sdmacc_section& section_of(const sdmacc_check& check, Rank rank, sdmacc_sp_section part) {
  return check.view.sections[check.sp[rank].section[part] - 1];
}

void write_image(model::Soc& soc, const sdmacc_check& check, Rank rank, const ImageClaim& claim,
                 const std::byte* data) {
  std::byte* to = soc.hbm(claim.address, claim.bytes);
  sdmacc_image_header header{};
  header.magic = SDMACC_IMAGE_MAGIC;
  header.version = SDMACC_IMAGE_VERSION;
  header.size = static_cast<std::uint32_t>(claim.bytes);
  std::uint64_t at = sizeof header;
  header.level = {static_cast<std::uint32_t>(at), 0};
  const auto put = [&](sdmacc_sp_section part, sdmacc_image_part& place) {
    const sdmacc_section& section = section_of(check, rank, part);
    place = {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(section.size)};
    std::memcpy(to + at, data + section.offset, section.size);
    at += aligned(section.size);
  };
  put(SDMACC_SP_CTRL, header.ctrl);
  put(SDMACC_SP_SLOT, header.slot);
  put(SDMACC_SP_ALGO, header.algo);
  put(SDMACC_SP_NEFF, header.neff);
  std::memcpy(to, &header, sizeof header);
}

// Registers of both sides of a queue.
struct QueueRegisters {
  model::Soc& soc;
  const RingClaim& ring;

  Status write(std::uint32_t side, std::uint32_t reg, std::uint32_t value) const {
    return soc.write32(
        sdmacc_soc_queue_reg(&soc.arch(), ring.core, ring.engine,
                             side == SDMACC_M2S ? 0 : SDMACC_S2M_OFFSET, ring.queue, reg),
        value);
  }
};

constexpr std::uint32_t swctrl(std::uint32_t side) {
  return side == SDMACC_M2S ? SDMACC_Q_M2S_SWCTRL : SDMACC_Q_S2M_SWCTRL;
}

}  // namespace

std::uint64_t image_bytes(const sdmacc_check& check, Rank rank) {
  std::uint64_t bytes = sizeof(sdmacc_image_header);
  for (const auto part : {SDMACC_SP_CTRL, SDMACC_SP_SLOT, SDMACC_SP_ALGO, SDMACC_SP_NEFF})
    bytes += aligned(section_of(check, rank, part).size);
  return bytes;
}

void write_memory(model::Soc& soc, const sdmacc_check& check, const Claim& claim,
                  const std::byte* data) {
  for (Rank rank = 0; rank < claim.images.size(); ++rank)
    write_image(soc, check, rank, claim.images[rank], data);
  for (const RingClaim& ring : claim.rings)
    for (std::uint32_t side = 0; side < 2; ++side) {
      const sdmacc_section& section = check.view.sections[ring.section + side];
      const std::uint64_t bytes = std::uint64_t{ring.length[side]} * sizeof(sdmacc_desc);
      std::byte* to = soc.hbm(ring.address[side], bytes);
      std::memcpy(to, data + section.offset, section.size);
      std::memset(to + section.size, 0, bytes - section.size);
    }
}

Status open_queues(model::Soc& soc, const Claim& claim, unsigned context) {
  for (const RingClaim& ring : claim.rings) {
    const QueueRegisters registers{soc, ring};
    for (std::uint32_t side = 0; side < 2; ++side) {
      const std::uint64_t base = ring.address[side];
      SDMACC_CHECK(registers.write(side, SDMACC_Q_BASE_LO, static_cast<std::uint32_t>(base)));
      SDMACC_CHECK(registers.write(side, SDMACC_Q_BASE_HI, static_cast<std::uint32_t>(base >> 32)));
      SDMACC_CHECK(registers.write(side, SDMACC_Q_LENGTH, ring.length[side]));
      SDMACC_CHECK(registers.write(
          side, SDMACC_Q_CFG, SDMACC_Q_CFG_RESET | SDMACC_Q_CFG_PREFETCH | SDMACC_Q_CFG_SCHEDULE));
    }
    soc.queue(engine_number(soc.arch(), ring), ring.queue).set_context(soc.context(context));
  }
  SDMACC_CHECK(reset_queues(soc, claim));
  zero_semaphores(soc, claim);
  return {};
}

Status reset_queues(model::Soc& soc, const Claim& claim) {
  for (const RingClaim& ring : claim.rings)
    for (std::uint32_t side = 0; side < 2; ++side)
      SDMACC_CHECK(
          (QueueRegisters{soc, ring}.write(side, swctrl(side), SDMACC_SWCTRL_RESET_QUEUE)));
  return {};
}

Status close_queues(model::Soc& soc, const Claim& claim) {
  for (const RingClaim& ring : claim.rings) {
    const QueueRegisters registers{soc, ring};
    for (std::uint32_t side = 0; side < 2; ++side) {
      SDMACC_CHECK(registers.write(side, SDMACC_Q_CFG, SDMACC_Q_CFG_RESET));
      SDMACC_CHECK(registers.write(side, SDMACC_Q_LENGTH, 0));
    }
    const std::uint64_t mask =
        sdmacc_soc_bcast(&soc.arch(), ring.core, 0, ring.queue, SDMACC_Q_BCAST_MASK);
    SDMACC_CHECK(soc.write32(mask, 0));
  }
  SDMACC_CHECK(reset_queues(soc, claim));
  settle_queues(soc, claim);
  return {};
}

void zero_semaphores(model::Soc& soc, const Claim& claim) {
  const auto block = [&](std::uint32_t topsp) -> model::EventSemaphores& {
    return soc.semaphores(soc.arch().cores + topsp);
  };
  for (const Place& place : claim.places) {
    block(place.topsp).set(SDMACC_SEM_TRIGGER, 0);
    block(place.topsp).set(SDMACC_SEM_COMPLETION, 0);
  }
  for (const SemClaim& range : claim.semaphores)
    for (std::uint32_t i = 0; i < range.count; ++i) block(range.topsp).set(range.first + i, 0);
}

void settle_queues(model::Soc& soc, const Claim& claim) {
  for (const RingClaim& ring : claim.rings) {
    model::Queue& queue = soc.queue(engine_number(soc.arch(), ring), ring.queue);
    soc.scheduler().take(queue);
    soc.scheduler().give_back(queue);
  }
}

// Of packets that read the constant page and do not end in a semaphore: their sources, their
// destinations.
std::vector<Padding> padding(const sdmacc_check& check) {
  const sdmacc_view& view = check.view;
  std::vector<Padding> ranks(check.sps);
  const auto kind = [&](std::uint64_t word) { return view.objects[SDMACC_ADDR_OBJECT(word)].kind; };
  for (std::uint32_t i = 0; i < view.header->sections; ++i) {
    if (view.sections[i].kind != SDMACC_SECTION_RING_M2S) continue;
    Padding& rank = ranks[sdmacc_owner(&check, view.sections[i].object)];
    const auto* m2s = reinterpret_cast<const sdmacc_desc*>(view.data + view.sections[i].offset);
    const auto* s2m = reinterpret_cast<const sdmacc_desc*>(view.data + view.sections[i + 1].offset);
    const auto* end = m2s + view.sections[i].size / sizeof(sdmacc_desc);
    while (m2s < end) {
      std::uint64_t read = 0, written = 0;
      bool constant = false;
      for (bool last = false; !last; ++m2s) {
        last = m2s->len_ctrl & SDMACC_LEN_LAST;
        if (m2s->len_ctrl & SDMACC_LEN_META) continue;
        read += sdmacc_desc_bytes(m2s->len_ctrl);
        constant = kind(m2s->addr) == SDMACC_OBJECT_CONST;
      }
      const bool signal = kind(s2m->addr) == SDMACC_OBJECT_SEM;
      for (bool last = false; !last; ++s2m) {
        last = s2m->len_ctrl & SDMACC_LEN_LAST;
        written += sdmacc_desc_bytes(s2m->len_ctrl);
      }
      if (!constant || signal) continue;
      rank.read_bytes += read;
      rank.written_bytes += written;
    }
  }
  return ranks;
}

}  // namespace sdmacc::device
