// SPDX-License-Identifier: MIT
// How fault cases break a Program, and all the cases together; see fault_cases.hpp.
#include "selftests/core/fault_cases.hpp"

#include <algorithm>

namespace sdmacc::test {

std::uint32_t Draft::object_index(std::uint32_t kind, std::uint32_t nth) const {
  for (std::uint32_t i = 0; i < p.objects.size(); ++i)
    if (p.objects[i].kind == kind && nth-- == 0) return i;
  return kNoIndex;
}

sdmacc_object& Draft::object(std::uint32_t kind, std::uint32_t nth) {
  return p.objects[object_index(kind, nth)];
}

sdmacc_reloc& Draft::reloc(std::uint32_t kind, std::uint64_t offset, Rank rank) {
  const std::uint32_t section = find_section(p, kind, rank);
  return *std::find_if(p.relocations.begin(), p.relocations.end(), [&](const sdmacc_reloc& r) {
    return r.section == section && r.offset == offset;
  });
}

void Draft::grow(std::uint32_t section, std::uint64_t size) {
  const std::uint64_t end = p.sections[section].offset + p.sections[section].size;
  p.data.insert(p.data.begin() + static_cast<std::ptrdiff_t>(end), size, std::byte{0});
  p.sections[section].size += size;
  for (std::uint32_t i = section + 1; i < p.sections.size(); ++i) p.sections[i].offset += size;
}

void Draft::repeat(std::uint32_t section, std::uint32_t i, std::uint32_t copies) {
  grow(section, std::uint64_t{copies} * 16);
  auto* descs = reinterpret_cast<sdmacc_desc*>(p.data.data() + p.sections[section].offset);
  const std::size_t count = p.sections[section].size / 16;
  std::copy_backward(descs + i + 1, descs + count - copies, descs + count);
  std::fill_n(descs + i + 1, copies, descs[i]);
}

void Draft::drop_reloc(std::uint32_t kind, std::uint64_t offset, Rank rank) {
  p.relocations.erase(p.relocations.begin() + (&reloc(kind, offset, rank) - p.relocations.data()));
}

void Draft::add_reloc(std::uint32_t kind, std::uint64_t offset, std::uint32_t reloc_kind,
                      std::uint32_t object, std::uint64_t addend, Rank rank) {
  const std::uint32_t section = find_section(p, kind, rank);
  const auto after =
      std::find_if(p.relocations.begin(), p.relocations.end(), [&](const sdmacc_reloc& r) {
        return std::pair{r.section, r.offset} > std::pair{section, offset};
      });
  p.relocations.insert(after, {section, reloc_kind, offset, object, 0, addend});
}

const std::vector<FaultCase>& fault_cases() {
  static const std::vector<FaultCase> cases = [] {
    std::vector<FaultCase> all;
    for (auto* some : {table_fault_cases, packet_fault_cases, sp_fault_cases})
      for (FaultCase& c : some()) all.push_back(std::move(c));
    return all;
  }();
  return cases;
}

}  // namespace sdmacc::test
