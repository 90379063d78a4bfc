// SPDX-License-Identifier: MIT
// Builder: the object table, sections and relocations of a Program in the making. Emitters of both
// families write through it; only here is known how objects are numbered and sections ordered.
#pragma once

#include <cstring>
#include <map>

#include "daemon/compose/schedule.hpp"
#include "daemon/emit/program.hpp"
#include "daemon/world/world.hpp"
#include "libuapi/abi/algo.h"
#include "libuapi/abi/generation.h"
#include "libuapi/abi/topsp.h"
#include "libuapi/abi/udma.h"

namespace sdmacc::emitter {

// One queue pair's descriptors, in queue order.
struct Ring {
  std::vector<sdmacc_desc> m2s, s2m;
  std::vector<Origin> origins;  // of M2S descriptors; section is filled at the end
};

// The queue pairs of one channel on one rank: one a policy engine, same queue number, same
// descriptor counts at each step.
struct Group {
  std::uint32_t first_object = 0;  // of engine 0; the others follow
  std::vector<Ring> rings;
};

// A relocatable 64-bit field of a section in the making.
struct Patch {
  std::uint32_t kind = 0, object = 0;
  std::uint64_t offset = 0, addend = 0;
};

// One TOP_SP's sections in the making.
struct Sp {
  std::vector<sdmacc_ctrl_entry> ctrl;
  std::vector<std::uint64_t> slot;
  std::vector<Patch> slot_patches;
  std::vector<std::byte> algo;
  std::vector<Patch> algo_patches;
  std::uint32_t completions = 0;  // lists, each of which ends with one END word
};

class Builder {
 public:
  Builder(const Schedule& schedule, const World& world);

  const Schedule& schedule() const { return s_; }
  const World& world() const { return w_; }
  const sdmacc_generation& arch() const { return *w_.arch; }
  std::uint32_t engines() const { return engines_; }

  // The address word of the first element of a range, `skip` elements in.
  std::uint64_t address(const Range& range, std::uint64_t skip) const;
  std::uint64_t constant(std::uint32_t power) const;  // the word 1 << power
  // Where padding may write: each engine has a place of its own, so that none write the same bytes.
  std::uint64_t padding(Rank rank, std::uint32_t engine) const;
  std::uint64_t semaphore(std::uint32_t signal) const;  // for a 4-byte write
  Patch semaphore_read(std::uint32_t signal, std::uint64_t offset) const;

  Group& group(Rank rank, std::uint32_t channel);  // made at first use
  Sp& sp(Rank rank) { return sps_[rank]; }
  sdmacc_ring_channel& ring_channel(Rank rank, std::uint32_t channel);
  sdmacc_mesh_event& mesh_event(Rank rank, std::uint32_t event);
  // Adds the relocations of a semaphore field, a broadcast field; `offset` is that of the field in
  // ALGO.
  void relocate_semaphore(Rank rank, std::uint64_t offset, std::uint32_t signal);
  void relocate_bcast(Rank rank, std::uint64_t offset, std::uint32_t channel);
  // Ends list `list` of a rank: packs `words` into windows and adds the END word.
  Status finish_list(Rank rank, std::uint32_t list, const std::vector<std::uint64_t>& words);

  Result<Program> finish();

 private:
  std::uint32_t sp_object(Rank rank) const { return 1 + rank; }
  std::uint32_t slot_object(Rank rank, bool out) const {
    return 1 + s_.ranks + 2 * rank + (out ? 1 : 0);
  }
  std::uint32_t sem_object(Rank rank) const { return 1 + 3 * s_.ranks + rank; }
  std::uint32_t constant_object() const { return 1 + 4 * s_.ranks; }
  std::uint32_t buf_object(Rank rank) const { return 2 + 4 * s_.ranks + rank; }
  std::uint32_t add_section(std::uint32_t kind, std::uint32_t object, const void* bytes,
                            std::size_t size);
  void add_relocations(std::uint32_t section, std::vector<Patch> patches);
  void add_neff(Rank rank);
  void add_rings();

  const Schedule& s_;
  const World& w_;
  std::uint32_t element_ = 0, engines_ = 1;
  std::vector<std::uint64_t> tmp_offset_;    // bytes, by TMP index; the padding word comes last
  std::vector<std::uint32_t> sem_number_;    // by signal
  std::vector<std::uint32_t> sems_of_rank_;  // the completion semaphore comes after them
  std::vector<Sp> sps_;
  std::map<std::pair<Rank, std::uint32_t>, Group> groups_;
  Program p_;
};

}  // namespace sdmacc::emitter
