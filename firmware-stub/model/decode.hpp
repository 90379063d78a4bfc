// SPDX-License-Identifier: MIT
// The SoC address map of one device, in one place: which block an address belongs to. Bases and
// strides are the generation's row; docs/device.md §1 has the rules. Entry point:
// AddressMap::decode().
#pragma once

#include <cstdint>

#include "libuapi/abi/generation.h"

namespace sdmacc::model {

enum class Block : std::uint8_t {
  None,        // decode error
  Hbm,         // index: stack
  Sbuf,        // index: core
  TopSpRam,    // index: TOP_SP
  Host,        // the host aperture; offset has 40 bits
  Semaphores,  // index: core, or cores + TOP_SP; offset in the EVT_SEM window
  Engine,      // index: core · 16 + engine; offset in its registers
  Broadcast,   // index: core
  TopSpCore,   // index: TOP_SP; offset as local registers are named (0x615a0)
  Remote,      // index: chip id of another device
  Neighbour,   // index: port
};

struct Target {
  Block block = Block::None;
  std::uint32_t index = 0;
  std::uint64_t offset = 0;  // in the block
  std::uint64_t left = 0;    // bytes from here to the block's end
  std::uint64_t local = 0;   // the address without routing bits: what protection windows are over
};

constexpr bool is_memory(Block b) {
  return b == Block::Hbm || b == Block::Sbuf || b == Block::TopSpRam;
}
constexpr bool is_register(Block b) {
  return b == Block::Semaphores || b == Block::Engine || b == Block::Broadcast ||
         b == Block::TopSpCore;
}

inline constexpr std::uint64_t kSbufBytes = 0x2000000;
inline constexpr std::uint64_t kBroadcastBytes = 0x40000;

class AddressMap {
 public:
  // `hbm_bytes` of each stack exist, at most the generation's slot. `chip` is this device's id.
  AddressMap(const sdmacc_generation& arch, std::uint64_t hbm_bytes, std::uint32_t chip);

  Target decode(std::uint64_t address) const;

  std::uint32_t semaphore_blocks() const { return arch_.cores + arch_.topsps; }
  std::uint32_t engines() const { return arch_.cores * arch_.engines_per_core; }
  // SoC address of EVT_SEM block `index` (numbered as Target::index), where its READ window starts.
  std::uint64_t semaphore_window(std::uint32_t index) const;

 private:
  Target decode_local(std::uint64_t local) const;

  const sdmacc_generation& arch_;
  std::uint64_t hbm_bytes_;
  std::uint32_t chip_;
  std::uint64_t engine_span_;  // address space of one engine that holds registers
};

}  // namespace sdmacc::model
