// SPDX-License-Identifier: MIT
// Which queue of a loaded Program is which: the rings of a Program in the order of their sections,
// with their ranks. A device lists its queues in the same order (Inspection::queues and rings). An
// S2M section follows its M2S section.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/emit/program.hpp"

namespace sdmacc::observe {

struct ProgramQueue {
  Rank rank = 0;
  std::uint32_t group = 0;   // the channel, of a ring-family Program
  std::uint32_t engine = 0;  // within the core
  std::uint32_t m2s_section = 0, s2m_section = 0;
  std::uint32_t m2s_count = 0, s2m_count = 0;  // descriptors
};
std::vector<ProgramQueue> queues_of(const Program& program);

// The step that M2S descriptor `index` belongs to, or of an earlier one when none of its own does;
// null before the first.
const Origin* step_at(const Program& program, const ProgramQueue& queue, std::uint32_t index);
// One more than the largest step of the queue's descriptors.
std::uint32_t steps_of(const Program& program, const ProgramQueue& queue);

// What an address word of a Program's descriptor names: "IN of rank 0 +64", "semaphore 3 of rank
// 1", …
std::string object_text(const Program& program, std::uint64_t word);

}  // namespace sdmacc::observe
