// SPDX-License-Identifier: MIT
// One broken Program for each way in which the check can refuse one: a valid Program, and what to
// break. Entry point: fault_cases().
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libuapi/abi/generation.h"
#include "libuapi/core/fault.h"
#include "selftests/core/builder.hpp"

namespace sdmacc::test {

// A Program and what is around it, for a case to break.
struct Draft {
  Program p;
  sdmacc_program_header* header = nullptr;  // set when `raw` runs, in the flat image
  std::uint64_t* image_size = nullptr;      // of the image as it is given to the parser

  std::byte* section(std::uint32_t kind, Rank rank = 0) {
    return p.data.data() + p.sections[find_section(p, kind, rank)].offset;
  }
  template <typename T>
  T& at(std::uint32_t kind, std::uint64_t offset, Rank rank = 0) {
    return *reinterpret_cast<T*>(section(kind, rank) + offset);
  }
  sdmacc_desc& m2s(std::uint32_t i) { return at<sdmacc_desc>(SDMACC_SECTION_RING_M2S, 16 * i); }
  sdmacc_desc& s2m(std::uint32_t i) { return at<sdmacc_desc>(SDMACC_SECTION_RING_S2M, 16 * i); }
  sdmacc_ctrl_entry& ctrl(std::uint32_t i, Rank rank = 0) {
    return at<sdmacc_ctrl_entry>(SDMACC_SECTION_CTRL, 8 * i, rank);
  }
  sdmacc_ring_channel& channel(std::uint32_t c = 0, Rank rank = 0) {
    return at<sdmacc_ring_channel>(SDMACC_SECTION_ALGO, 148 * c, rank);
  }
  sdmacc_mesh_event& event(std::uint32_t e) {
    return at<sdmacc_mesh_event>(SDMACC_SECTION_ALGO, 0x1280 + 80 * e);
  }
  std::uint64_t& slot(std::uint32_t word) {
    return at<std::uint64_t>(SDMACC_SECTION_SLOT, 8 * word);
  }
  sdmacc_neff_configs& neff(Rank rank = 0) {
    return at<sdmacc_neff_configs>(SDMACC_SECTION_NEFF, 0, rank);
  }
  sdmacc_object& object(std::uint32_t kind, std::uint32_t nth = 0);
  std::uint32_t object_index(std::uint32_t kind, std::uint32_t nth = 0) const;
  // The relocation at an offset of a section of an SP.
  sdmacc_reloc& reloc(std::uint32_t kind, std::uint64_t offset, Rank rank = 0);
  // Puts `copies` of descriptor i of a ring section after it.
  void repeat(std::uint32_t section, std::uint32_t i, std::uint32_t copies);
  // Gives a section `size` bytes more, zero.
  void grow(std::uint32_t section, std::uint64_t size);
  void drop_reloc(std::uint32_t kind, std::uint64_t offset, Rank rank = 0);
  void add_reloc(std::uint32_t kind, std::uint64_t offset, std::uint32_t reloc_kind,
                 std::uint32_t object, std::uint64_t addend = 0, Rank rank = 0);
};

struct FaultCase {
  std::uint32_t code;
  std::string what;
  std::function<Program()> base;
  std::function<void(Draft&)> damage;
  bool raw = false;  // `damage` works on the flat image
};

const std::vector<FaultCase>& fault_cases();
std::vector<FaultCase> table_fault_cases();   // tables_faults.cpp
std::vector<FaultCase> packet_fault_cases();  // packet_faults.cpp
std::vector<FaultCase> sp_fault_cases();      // sp_faults.cpp

inline constexpr auto kCtrl = SDMACC_SECTION_CTRL;
inline constexpr auto kSlot = SDMACC_SECTION_SLOT;
inline constexpr auto kAlgo = SDMACC_SECTION_ALGO;
inline constexpr auto kNeff = SDMACC_SECTION_NEFF;

inline Program ring2() {
  return ring_program(2);
}
inline Program ring2_e2() {
  return ring_program(2, {.engines = 2});
}
inline Program ring2_fma() {
  return ring_program(2, {.fma = true});
}
inline Program ring1_sunda() {
  return ring_program(1, {.arch_id = 0x05});
}

#define SDMACC_CASE(code, what, base, ...)                            \
  FaultCase {                                                         \
    SDMACC_FAULT_##code, what, base, [](Draft & d) __VA_ARGS__, false \
  }

}  // namespace sdmacc::test
