// SPDX-License-Identifier: MIT
// What the loaded image says, parsed and checked: CTRL entries, ring channels, mesh events,
// broadcasts. Layouts: topsp.h, algo.h. Nothing else in the firmware trusts a value of these
// tables. A Failure names the address of the field, its value and the bound.
#pragma once

#include <array>
#include <cstdint>

#include "firmware-stub/ncfw/context.hpp"

namespace sdmacc::ncfw {

struct Ctrl {
  std::uint32_t entry = 0;
  bool cc_op = false;  // else a NOP, and only the flags mean something
  std::uint32_t algo_type = 0;
  std::uint32_t flags = 0;         // SDMACC_CTRL_*
  std::uint32_t channel_list = 0;  // ring family; the same bytes as shift and mask
  std::uint32_t shift = 0;         // mesh
  std::uint32_t mask = 0;
};

// A queue on some engines of one core, reached by one store.
struct Broadcast {
  std::uint64_t m2s_page = 0;
  std::uint64_t s2m_page = 0;
  std::uint32_t mask = 0;

  bool operator==(const Broadcast&) const = default;
};

struct Channel {
  enum class Role : std::uint8_t { Ring, Primary, Secondary };  // the latter two of a kangaring
  std::uint32_t index = 0;
  Role role = Role::Ring;
  std::uint32_t peers = 0;
  std::uint32_t list = 0;                                // SLOT list
  std::uint32_t engines = 0;                             // E
  Broadcast queue;                                       // not of a secondary, which fires nothing
  std::uint64_t recv = 0, send = 0, post = 0, done = 0;  // semaphores, READ window
  std::uint64_t mine = 0;
  std::array<std::uint64_t, SDMACC_KRING_PEERS> peer{};
};

struct Event {
  std::uint32_t index = 0;
  bool sync = false;
  std::uint32_t waits = 0, broadcasts = 0, signals = 0;
  std::uint64_t wait = 0;  // semaphore, READ window
  std::uint32_t wait_val = 0;
  std::array<Broadcast, 2> broadcast{};
  std::array<std::uint64_t, 3> signal{};
};

Checked<std::uint32_t> read_op_num(const Context&);
Checked<Ctrl> read_ctrl(const Context&, std::uint32_t entry, std::uint32_t op_num);
Checked<Channel> read_channel(const Context&, std::uint32_t channel, std::uint32_t algo_type);
Checked<Event> read_event(const Context&, std::uint32_t event);
// That a ring entry has channels.
Checked<void> check_ring_ctrl(const Context&, const Ctrl&);
// The shift and mask of a mesh entry, and that an event's wait can be satisfied under them.
Checked<void> check_mesh_ctrl(const Context&, const Ctrl&);
Checked<void> check_mesh_wait(const Context&, const Ctrl&, const Event&);
// A semaphore address out of neff_configs.
Checked<std::uint64_t> read_semaphore(const Context&, Field<std::uint64_t>);

}  // namespace sdmacc::ncfw
