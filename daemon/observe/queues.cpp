// SPDX-License-Identifier: MIT
// Implements queues.hpp from the object and section tables of a Program.
#include "daemon/observe/queues.hpp"

#include <algorithm>
#include <iterator>

#include "libuapi/abi/udma.h"

namespace sdmacc::observe {
namespace {

Rank rank_of(const Program& program, const sdmacc_object& object) {
  return object.parent < program.objects.size() ? program.objects[object.parent].index : 0;
}

}  // namespace

std::vector<ProgramQueue> queues_of(const Program& program) {
  std::vector<ProgramQueue> queues;
  for (std::uint32_t i = 0; i + 1 < program.sections.size(); ++i) {
    const sdmacc_section& m2s = program.sections[i];
    if (m2s.kind != SDMACC_SECTION_RING_M2S || m2s.object >= program.objects.size()) continue;
    const sdmacc_object& ring = program.objects[m2s.object];
    const auto descriptors = [&](std::uint32_t section) {
      return static_cast<std::uint32_t>(program.sections[section].size / sizeof(sdmacc_desc));
    };
    queues.push_back({rank_of(program, ring), ring.index >> 8, ring.index & 0xff, i, i + 1,
                      descriptors(i), descriptors(i + 1)});
  }
  return queues;
}

const Origin* step_at(const Program& program, const ProgramQueue& queue, std::uint32_t index) {
  const auto after = std::upper_bound(
      program.origins.begin(), program.origins.end(), std::pair(queue.m2s_section, index),
      [](const auto& at, const Origin& o) { return at < std::pair(o.section, o.first); });
  if (after == program.origins.begin()) return nullptr;
  const Origin& origin = *std::prev(after);
  return origin.section == queue.m2s_section ? &origin : nullptr;
}

std::uint32_t steps_of(const Program& program, const ProgramQueue& queue) {
  std::uint32_t steps = 0;
  for (const Origin& origin : program.origins)
    if (origin.section == queue.m2s_section) steps = std::max(steps, origin.step + 1);
  return steps;
}

std::string object_text(const Program& program, std::uint64_t word) {
  const std::uint32_t index = SDMACC_ADDR_OBJECT(word);
  const std::uint64_t offset = SDMACC_ADDR_OFFSET(word);
  if (index == 0 || index >= program.objects.size()) return "";
  const sdmacc_object& object = program.objects[index];
  switch (object.kind) {
    case SDMACC_OBJECT_SLOT:
      return fmt::format("{} of rank {} +{}", (object.index & 1) != 0 ? "OUT" : "IN",
                         object.index >> 1, offset);
    case SDMACC_OBJECT_BUF:
      return fmt::format("TMP of rank {} +{}", rank_of(program, object), offset);
    case SDMACC_OBJECT_SEM:
      return fmt::format("semaphore {} of rank {}", offset / 4, rank_of(program, object));
    case SDMACC_OBJECT_CONST:
      return fmt::format("constant {}", 1ull << (offset / 4));
    default:
      return "";
  }
}

}  // namespace sdmacc::observe
