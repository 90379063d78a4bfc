// SPDX-License-Identifier: MIT
// Claims: who has which queue numbers, semaphores, device memory and aperture ranges of one device.
// A Program takes all that it needs at once or nothing. Nothing here touches the device. Entry
// points: Claims::take(), Claims::give().
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "daemon/device/device.hpp"
#include "daemon/device/range.hpp"
#include "libuapi/core/relocate.h"

namespace sdmacc::device {

inline constexpr std::uint32_t kClaimableQueues = 14;  // 14 and 15 belong to the driver
inline constexpr std::uint64_t kPage = 4096;

// Rings of one queue pair in device memory, and where the queue is.
struct RingClaim {
  std::uint32_t object = 0;
  std::uint32_t section = 0;  // M2S; S2M is the next one
  Rank rank = 0;
  std::uint32_t group = 0;
  std::uint32_t core = 0, engine = 0, queue = 0;  // engine within the core
  std::array<std::uint64_t, 2> address = {};      // SDMACC_M2S, SDMACC_S2M
  std::array<std::uint32_t, 2> length = {};       // descriptors
};

struct SlotClaim {
  std::uint32_t slot = 0;  // rank << 1 | operand
  std::uint32_t rights = 0;
  std::uint64_t offset = 0;  // in the aperture; a page stays free behind each slot
  std::uint64_t bytes = 0;
};

struct ImageClaim {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

struct SemClaim {
  std::uint32_t topsp = 0, first = 0, count = 0;
};

struct Claim {
  std::vector<sdmacc_resolved> objects;  // one an object of the Program
  std::vector<Place> places;             // by rank
  std::vector<RingClaim> rings;
  std::vector<SlotClaim> slots;
  std::vector<SemClaim> semaphores;
  std::vector<ImageClaim> images;     // by rank
  std::vector<std::uint64_t> memory;  // every block of device memory
};

// What did not fit. `holders` have some of it, in ascending order; nobody can help when there are
// none.
struct Shortage {
  std::string text;
  std::vector<LoadedId> holders;
};

class Claims {
 public:
  // `constants` is the address of the constant page.
  Claims(const sdmacc_generation& arch, std::uint64_t hbm_bytes);

  // The device's own page of constants, taken once.
  std::uint64_t take_page();
  tl::expected<Claim, Shortage> take(LoadedId id, const sdmacc_check& check,
                                     std::span<const Place> places, std::uint64_t constants);
  void give(LoadedId id, const Claim& claim);

  std::uint64_t free_memory() const;

 private:
  using Outcome = tl::expected<void, Shortage>;
  Outcome check_queues(const sdmacc_check& check, const Claim& claim) const;
  Outcome take_rings(LoadedId id, const sdmacc_check& check, Claim& claim);
  Outcome take_semaphores(LoadedId id, const sdmacc_check& check, Claim& claim);
  Outcome take_buffers(LoadedId id, const sdmacc_check& check, Claim& claim);
  Outcome take_slots(LoadedId id, const sdmacc_check& check, Claim& claim);
  // Device memory, near `core` if there is room.
  tl::expected<std::uint64_t, Shortage> take_memory(LoadedId id, std::uint32_t core,
                                                    std::uint64_t bytes, std::uint64_t align,
                                                    Claim& claim);
  Outcome take_queue(LoadedId id, std::uint32_t core, std::uint32_t* queue);
  std::size_t stack_of(std::uint64_t address) const;

  const sdmacc_generation& arch_;
  std::vector<std::array<LoadedId, kClaimableQueues>> queues_;  // by core
  std::vector<std::array<LoadedId, SDMACC_SEMAPHORES>> sems_;   // by TOP_SP
  std::vector<RangeAllocator> hbm_;                             // by stack
  RangeAllocator aperture_;
  std::map<LoadedId, std::uint64_t> memory_of_;  // bytes of device memory
  std::map<LoadedId, std::uint64_t> aperture_of_;
};

// Bytes of the image of one rank (libuapi/abi/program.h).
std::uint64_t image_bytes(const sdmacc_check& check, Rank rank);

}  // namespace sdmacc::device
