// SPDX-License-Identifier: MIT
// Context: where the regions of a generation lie, and the way to them by SoC address. Entry:
// Context::Context.
#include "firmware-stub/ncfw/context.hpp"

#include <algorithm>

namespace sdmacc::ncfw {

Context::Context(Port& port, const sdmacc_generation& arch, std::uint32_t topsp)
    : port_(port), arch_(arch), block_(sdmacc_soc_topsp(&arch, topsp)) {
  if (const auto ram = port.local_ram(); ram.size() >= SDMACC_RAM_USED) ram_ = ram.data();
  const auto set = [this](Region region, std::uint32_t offset) {
    base_[static_cast<std::size_t>(region)] = offset;
  };
  set(Region::Dram, SDMACC_RAM_DRAM_IMAGE);
  set(Region::Progress, SDMACC_RAM_DRAM_IMAGE + arch.dram_progress);
  set(Region::AlgoCtx, SDMACC_RAM_DRAM_IMAGE + arch.dram_algo_ctx);
  set(Region::Algo, SDMACC_RAM_ALGO_CONFIGS);
  set(Region::Neff, SDMACC_RAM_NEFF_CONFIGS);
  set(Region::Ctrl, SDMACC_RAM_CTRL);
  set(Region::Slot, SDMACC_RAM_SLOT);
}

Checked<void> Context::copy_in(Region region, std::uint32_t offset, std::uint64_t from,
                               std::uint32_t bytes) {
  alignas(8) std::array<std::byte, SDMACC_SLOT_WINDOW_BYTES> part;
  for (std::uint32_t done = 0; done < bytes;) {
    const std::uint32_t now = std::min<std::uint32_t>(bytes - done, part.size());
    if (!port_.read(from + done, part.data(), now)) return refuse(Code::Access, from + done, now);
    const std::uint32_t to = base(region) + offset + done;
    if (ram_ == nullptr) {
      far_write(to, part.data(), now);
    } else {
      for (std::uint32_t i = 0; i < now; i += 8)
        store_word<8>(ram_ + to + i, load_word<8>(part.data() + i));
    }
    done += now;
  }
  return {};
}

void Context::clear(Region region, std::uint32_t offset, std::uint32_t bytes) {
  for (std::uint32_t i = 0; i < bytes; i += 8) store(Field<std::uint64_t>{region, offset + i}, 0);
}

void Context::far_read(std::uint32_t offset, void* to, std::size_t bytes) const {
  if (!port_.read(ram_address(offset), to, bytes) && refused_ == 0) refused_ = ram_address(offset);
}

void Context::far_write(std::uint32_t offset, const void* from, std::size_t bytes) {
  if (!port_.write(ram_address(offset), from, bytes) && refused_ == 0)
    refused_ = ram_address(offset);
}

}  // namespace sdmacc::ncfw
