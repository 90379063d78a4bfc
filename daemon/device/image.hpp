// SPDX-License-Identifier: MIT
// What load writes into the device: relocated rings and images in device memory, queue registers,
// zeroed semaphores; and its undoing.
#pragma once

#include <span>

#include "daemon/device/claims.hpp"
#include "firmware-stub/model/soc.hpp"

namespace sdmacc::device {

// Rings and images into claimed memory, from relocated data. Needs no lock: nobody else knows the
// memory.
void write_memory(model::Soc& soc, const sdmacc_check& check, const Claim& claim,
                  const std::byte* data);
// Queues get their rings and the context, semaphores are zero.
Status open_queues(model::Soc& soc, const Claim& claim, unsigned context);
Status reset_queues(model::Soc& soc,
                    const Claim& claim);  // heads and tails 0, ring id 1, errors forgotten
Status close_queues(model::Soc& soc, const Claim& claim);  // doorbells no longer have an effect
void zero_semaphores(model::Soc& soc, const Claim& claim);
// Waits until no worker executes a packet of these queues.
void settle_queues(model::Soc& soc, const Claim& claim);

inline std::uint32_t engine_number(const sdmacc_generation& arch, const RingClaim& ring) {
  return ring.core * arch.engines_per_core + ring.engine;
}

// Bytes that a run moves for no tensor: copies of the constant page that fill up a step.
struct Padding {
  std::uint64_t read_bytes = 0, written_bytes = 0;
};
std::vector<Padding> padding(const sdmacc_check& check);  // by rank, one run

}  // namespace sdmacc::device
