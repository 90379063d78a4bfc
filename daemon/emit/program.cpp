// SPDX-License-Identifier: MIT
// Program: its flat image, reading one back, and which step a descriptor came from. Tested by
// selftests/emit.
#include "daemon/emit/program.hpp"

#include <algorithm>
#include <cstring>

namespace sdmacc {
namespace {

template <typename T>
void append(std::vector<std::byte>& out, const std::vector<T>& items) {
  const auto* bytes = reinterpret_cast<const std::byte*>(items.data());
  out.insert(out.end(), bytes, bytes + items.size() * sizeof(T));
}

template <typename T>
std::span<const std::byte> take(std::span<const std::byte> from, std::vector<T>& items,
                                std::uint32_t count) {
  items.resize(count);
  if (count > 0) std::memcpy(items.data(), from.data(), count * sizeof(T));
  return from.subspan(count * sizeof(T));
}

}  // namespace

std::vector<std::byte> Program::image() const {
  sdmacc_program_header header{};
  header.magic = SDMACC_PROGRAM_MAGIC;
  header.version = SDMACC_PROGRAM_VERSION;
  header.arch_id = arch_id;
  header.sections = static_cast<std::uint32_t>(sections.size());
  header.objects = static_cast<std::uint32_t>(objects.size());
  header.relocations = static_cast<std::uint32_t>(relocations.size());
  header.data_size = data.size();
  std::vector<std::byte> out;
  out.reserve(sizeof header + sections.size() * sizeof(sdmacc_section) +
              objects.size() * sizeof(sdmacc_object) + relocations.size() * sizeof(sdmacc_reloc) +
              data.size());
  const auto* bytes = reinterpret_cast<const std::byte*>(&header);
  out.insert(out.end(), bytes, bytes + sizeof header);
  append(out, sections);
  append(out, objects);
  append(out, relocations);
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

const Origin* Program::origin(std::uint32_t section, std::uint32_t index) const {
  auto after = std::upper_bound(origins.begin(), origins.end(), std::pair{section, index},
                                [](const auto& key, const Origin& o) {
                                  return key < std::pair{o.section, o.first};
                                });
  if (after == origins.begin()) return nullptr;
  const Origin& o = *std::prev(after);
  return o.section == section && index >= o.first && index < o.last ? &o : nullptr;
}

Result<Program> parse_image(std::span<const std::byte> image) {
  sdmacc_program_header header{};
  if (image.size() < sizeof header)
    return fail(Errc::Invalid, Stage::Load, kNoIndex, "image of {} bytes has no header of {}",
                image.size(), sizeof header);
  std::memcpy(&header, image.data(), sizeof header);
  if (header.magic != SDMACC_PROGRAM_MAGIC)
    return fail(Errc::Invalid, Stage::Load, kNoIndex, "magic is {:#010x}, must be {:#010x}",
                header.magic, SDMACC_PROGRAM_MAGIC);
  if (header.version != SDMACC_PROGRAM_VERSION)
    return fail(Errc::Unsupported, Stage::Load, kNoIndex, "version {} is unknown, this is {}",
                header.version, SDMACC_PROGRAM_VERSION);
  const std::uint64_t tables = std::uint64_t{header.sections} * sizeof(sdmacc_section) +
                               std::uint64_t{header.objects} * sizeof(sdmacc_object) +
                               std::uint64_t{header.relocations} * sizeof(sdmacc_reloc);
  const std::uint64_t rest = image.size() - sizeof header;
  if (tables > rest || header.data_size != rest - tables)
    return fail(Errc::Invalid, Stage::Load, kNoIndex,
                "tables of {} and data of {} bytes do not fill an image of {}", tables,
                header.data_size, image.size());
  Program program;
  program.arch_id = header.arch_id;
  auto from = image.subspan(sizeof header);
  from = take(from, program.sections, header.sections);
  from = take(from, program.objects, header.objects);
  from = take(from, program.relocations, header.relocations);
  program.data.assign(from.begin(), from.end());
  for (std::uint32_t i = 0; i < header.sections; ++i) {
    const sdmacc_section& s = program.sections[i];
    if (s.offset > program.data.size() || s.size > program.data.size() - s.offset)
      return fail(Errc::Range, Stage::Load, i, "bytes {} + {} are outside data of {}", s.offset,
                  s.size, program.data.size());
    if (s.kind == SDMACC_SECTION_RING_M2S)
      program.channels = std::max(program.channels, s.object < program.objects.size()
                                                        ? (program.objects[s.object].index >> 8) + 1
                                                        : 0);
  }
  program.ranks = static_cast<std::uint32_t>(
      std::count_if(program.objects.begin(), program.objects.end(),
                    [](const sdmacc_object& o) { return o.kind == SDMACC_OBJECT_SP; }));
  return program;
}

}  // namespace sdmacc
