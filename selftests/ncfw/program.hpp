// SPDX-License-Identifier: MIT
// Builds the images and queues that the tests run: a flat ring or kangaring of any shape, and a
// mesh tape. Entry points: Ring, Mesh.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "selftests/ncfw/fake.hpp"

namespace sdmacc::ncfw {

struct Program {
  std::vector<sdmacc_ctrl_entry> ctrl;
  std::map<std::uint32_t, std::vector<std::uint64_t>> lists;
  std::uint32_t window_words = 126;  // before CONTINUE
  std::array<sdmacc_ring_channel, SDMACC_RING_CHANNELS> channels{};
  std::vector<sdmacc_mesh_event> events;
  sdmacc_neff_configs neff{};

  std::vector<std::uint64_t> slot_section() const;
  std::vector<std::byte> image(const sdmacc_generation& arch) const;
};

sdmacc_ctrl_entry ctrl_ring(std::uint32_t algo_type, std::uint32_t channels);
sdmacc_ctrl_entry ctrl_mesh(std::uint32_t shift, std::uint32_t mask);
sdmacc_ctrl_entry ctrl_nop();
std::uint64_t end_word(std::uint64_t semaphore);

// trigger_next bits, op_num, and the chain of `count` TOP_SPs as seen by `rank`.
void chain(Program&, const World&, std::uint32_t rank, std::uint32_t count);

// Appends the image to the device memory and points CONFIG at it. Returns its address.
std::uint64_t place(World&, std::uint32_t topsp, const Program&);

inline constexpr std::uint32_t kLocalDone = 200;  // ids of local completion semaphores start here

// `units` ranks in a ring, or units of one primary and `secondaries`; rank = unit * (1 +
// secondaries) + member.
struct Ring {
  std::uint32_t units = 2, secondaries = 0, channels = 1, engines = 2;
  std::uint32_t steps = 6;  // of a channel's list, the last two send nothing
  std::uint32_t entries = 1;
  std::uint32_t ends = 1;  // END words
  std::uint32_t window_words = 126;
  bool repeat = true;      // equal successive steps share a SLOT word
  bool idle_tail = false;  // the last two steps have no counts

  std::uint32_t ranks() const { return units * (1 + secondaries); }
  std::uint32_t list(std::uint32_t channel) const { return (5 * channel + 1) % SDMACC_SLOT_LISTS; }
  std::uint32_t primary(std::uint32_t unit, std::uint32_t channel) const {
    return unit * (1 + secondaries) + channel % (1 + secondaries);
  }
  static std::uint64_t page(const World&, std::uint32_t rank, std::uint32_t channel);
  Program program(const World&, std::uint32_t rank) const;
  void add_queues(World&) const;
  // Both, for all ranks, booted and ready to be triggered.
  void set_up(World&) const;

 private:
  Queue::Step step(std::uint32_t k) const;
};

// A tape of handshake, broadcast, SYNC on every rank, once an entry.
struct Mesh {
  std::uint32_t ranks = 2, engines = 2, slices = 1;
  std::uint32_t shift = 0, mask = 0xffff;
  std::uint32_t broadcasts = 1;  // of the second event
  bool repeat = false;           // one SLOT word for all slices
  std::uint32_t window_words = 126;
  bool ends = true;

  Program program(const World&, std::uint32_t rank) const;
  void set_up(World&) const;
};

// What must hold after `runs` runs of a chain: one status each, nothing complained, failed or left
// over.
std::string trouble(const World&, std::uint32_t runs);

}  // namespace sdmacc::ncfw
