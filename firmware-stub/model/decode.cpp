// SPDX-License-Identifier: MIT
// Address → block. Blocks that data paths use most are looked at first.
#include "firmware-stub/model/decode.hpp"

#include <algorithm>

namespace sdmacc::model {
namespace {

constexpr std::uint64_t kLocalMask = SDMACC_DIE1 | (SDMACC_DIE1 - 1);
constexpr std::uint64_t kPortMask = 3ull << 50;
constexpr std::uint64_t kEngineSpan =
    0x80000;  // UDMA unit and, where it follows it, the SDMA wrapper

// True when `address` is in the `size` bytes from `base`; then `*offset` is set.
bool inside(std::uint64_t address, std::uint64_t base, std::uint64_t size, std::uint64_t* offset) {
  *offset = address - base;
  return *offset < size;
}

}  // namespace

AddressMap::AddressMap(const sdmacc_generation& arch, std::uint64_t hbm_bytes, std::uint32_t chip)
    : arch_(arch),
      hbm_bytes_(std::min(hbm_bytes, arch.hbm_slot)),
      chip_(chip),
      engine_span_(std::min(arch.engine_stride, kEngineSpan)) {}

std::uint64_t AddressMap::semaphore_window(std::uint32_t index) const {
  if (index >= arch_.cores)
    return sdmacc_soc_topsp(&arch_, index - arch_.cores) + SDMACC_TOPSP_EVTSEM;
  return arch_.core_base[index] + arch_.tpb_peripherals + SDMACC_TPB_EVTSEM_OFFSET;
}

Target AddressMap::decode(std::uint64_t address) const {
  Target t;
  std::uint64_t local = address;
  if (address & SDMACC_CHIP_VALID) {
    const auto chip = static_cast<std::uint32_t>(address >> SDMACC_CHIP_SHIFT & SDMACC_CHIP_MASK);
    local &= ~(SDMACC_CHIP_VALID | SDMACC_CHIP_MASK << SDMACC_CHIP_SHIFT);
    if (chip != chip_ && local <= kLocalMask) {
      t.block = Block::Remote;
      t.index = chip;
      t.local = local;
      return t;
    }
  } else if (address & SDMACC_NEIGHBOUR_ROUTE) {
    t.block = Block::Neighbour;
    t.index = static_cast<std::uint32_t>((address & kPortMask) >> 50);
    t.local = address & kLocalMask;
    return t;
  } else {
    local &= ~SDMACC_PEB_ROUTE;
  }
  if (local <= kLocalMask) t = decode_local(local);
  t.local = local;
  return t;
}

Target AddressMap::decode_local(std::uint64_t local) const {
  const auto at = [](Block block, std::uint32_t index, std::uint64_t offset, std::uint64_t size) {
    return Target{block, index, offset, size - offset, 0};
  };
  std::uint64_t offset = 0;

  if (local & arch_.host_aperture) {
    constexpr std::uint64_t kSize = 1ull << SDMACC_APERTURE_BITS;
    if (inside(local, arch_.host_aperture, kSize, &offset))
      return at(Block::Host, 0, offset, kSize);
  }
  for (std::uint32_t i = 0; i < arch_.hbm_stacks; ++i)
    if (inside(local, arch_.hbm_base[i], hbm_bytes_, &offset))
      return at(Block::Hbm, i, offset, hbm_bytes_);

  const std::uint32_t die = local & SDMACC_DIE1 ? 1 : 0;
  const std::uint64_t from_topsp = (local & ~SDMACC_DIE1) - arch_.topsp_base;
  const std::uint64_t number = from_topsp / arch_.topsp_stride;
  if (number < arch_.topsp_per_die && number + die * arch_.topsp_per_die < arch_.topsps) {
    const auto sp = static_cast<std::uint32_t>(number) + die * arch_.topsp_per_die;
    const std::uint64_t in_block = from_topsp % arch_.topsp_stride;
    if (inside(in_block, SDMACC_TOPSP_EVTSEM, SDMACC_EVTSEM_SIZE, &offset))
      return at(Block::Semaphores, arch_.cores + sp, offset, SDMACC_EVTSEM_SIZE);
    if (inside(in_block, SDMACC_TOPSP_RAM, SDMACC_TOPSP_RAM_SIZE, &offset))
      return at(Block::TopSpRam, sp, offset, SDMACC_TOPSP_RAM_SIZE);
    if (inside(in_block, SDMACC_TOPSP_CORE, SDMACC_TOPSP_CORE_SIZE, &offset))
      return at(Block::TopSpCore, sp, offset, SDMACC_TOPSP_CORE_SIZE);
    return {};
  }
  for (std::uint32_t core = 0; core < arch_.cores; ++core) {
    if (inside(local, arch_.bcast_base[core], kBroadcastBytes, &offset))
      return at(Block::Broadcast, core, offset, kBroadcastBytes);
    if (inside(local, arch_.engine_base[core], arch_.engines_per_core * arch_.engine_stride,
               &offset)) {
      const auto engine = static_cast<std::uint32_t>(offset / arch_.engine_stride);
      offset %= arch_.engine_stride;
      if (offset >= engine_span_) return {};
      return at(Block::Engine, core * arch_.engines_per_core + engine, offset, engine_span_);
    }
    if (inside(local, semaphore_window(core), SDMACC_EVTSEM_SIZE, &offset))
      return at(Block::Semaphores, core, offset, SDMACC_EVTSEM_SIZE);
    if (inside(local, arch_.core_base[core], kSbufBytes, &offset))
      return at(Block::Sbuf, core, offset, kSbufBytes);
  }
  return {};
}

}  // namespace sdmacc::model
