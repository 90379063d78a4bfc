// SPDX-License-Identifier: MIT
// Program: the bytes that a device runs, and where each byte came from. Made by emit; knows nothing
// of where it will be loaded. The image is the flat block of libuapi/abi/program.h, so a Program
// can be saved, loaded again, and handed to a kernel as it is.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "daemon/world/types.hpp"
#include "libuapi/abi/program.h"

namespace sdmacc {

// Descriptors [first, last) of a ring section, or mesh events [first, last) of an ALGO section,
// come from this step.
struct Origin {
  std::uint32_t section = 0;
  std::uint32_t first = 0, last = 0;
  Rank rank = 0;
  std::uint32_t channel = 0;
  std::uint32_t step = 0;  // in the Schedule's lane
  std::uint32_t slice = 0;
};

struct Program {
  std::uint32_t arch_id = 0;
  std::uint32_t ranks = 0;
  std::uint32_t channels = 0;
  std::string title;  // "ALL_REDUCE RING ADD BF16 4 ranks 1000 elements", for logs and dumps
  std::vector<sdmacc_section> sections;
  std::vector<sdmacc_object> objects;  // [0] is NONE
  std::vector<sdmacc_reloc> relocations;
  std::vector<std::byte> data;
  std::vector<Origin> origins;  // sorted by (section, first)

  std::vector<std::byte> image() const;
  // For an error record: which step owns descriptor (or event) `index` of `section`; null when none
  // does (prologue, padding).
  const Origin* origin(std::uint32_t section, std::uint32_t index) const;
};

// Refuses an image whose header, sizes or table bounds are wrong; says nothing about what the
// sections contain.
Result<Program> parse_image(std::span<const std::byte> image);

std::string to_string(
    const Program&);  // the golden form: objects, sections decoded word by word, relocations

}  // namespace sdmacc
