// SPDX-License-Identifier: MIT
// Faults in the header and the three tables. The sections of ring2: CTRL, SLOT, ALGO, NEFF of rank
// 0, of rank 1, then M2S and S2M of each ring; its relocations start with the END word of rank 0.
#include <algorithm>
#include <utility>

#include "selftests/core/fault_cases.hpp"

namespace sdmacc::test {

#define RAW(code, what, ...)                                          \
  FaultCase {                                                         \
    SDMACC_FAULT_##code, what, ring2, [](Draft & d) __VA_ARGS__, true \
  }

std::vector<FaultCase> table_fault_cases() {
  return {
      RAW(IMAGE_SIZE, "a byte more", { ++*d.image_size; }),
      RAW(IMAGE_SIZE, "a byte less", { --*d.image_size; }),
      RAW(IMAGE_SIZE, "half a header", { *d.image_size = 16; }),
      RAW(IMAGE_SIZE, "more data than there is", { d.header->data_size += 16; }),
      RAW(MAGIC, "magic", { d.header->magic ^= 1; }),
      RAW(VERSION, "version", { d.header->version = 2; }),
      RAW(ARCH, "another generation", { d.header->arch_id = 0x14; }),
      RAW(COUNT, "sections", { d.header->sections = 0xffffffff; }),
      RAW(COUNT, "objects", { d.header->objects = 0xffffffff; }),
      RAW(COUNT, "relocations", { d.header->relocations = 0xffffffff; }),
      RAW(COUNT, "data", { d.header->data_size = ~0ull; }),
      SDMACC_CASE(OBJECT_FIRST, "entry 0", ring2, { d.p.objects[0].size = 1; }),
      SDMACC_CASE(OBJECT_FIRST, "its kind", ring2, { d.p.objects[0].kind = SDMACC_OBJECT_CONST; }),
      SDMACC_CASE(OBJECT_FIRST, "its rights", ring2, { d.p.objects[0].rights = 1; }),
      SDMACC_CASE(OBJECT_FIRST, "its parent", ring2, { d.p.objects[0].parent = 1; }),
      SDMACC_CASE(OBJECT_FIRST, "its index", ring2, { d.p.objects[0].index = 1; }),
      SDMACC_CASE(OBJECT_FIRST, "empty table, zeros behind it", ring2,
                  {
                    d.p.objects.clear();
                    d.p.relocations.clear();
                    std::fill(d.p.data.begin(), d.p.data.end(), std::byte{0});
                  }),
      SDMACC_CASE(OBJECT_KIND, "kind 7", ring2, { d.object(SDMACC_OBJECT_BUF).kind = 7; }),
      SDMACC_CASE(OBJECT_KIND, "a second empty entry", ring2,
                  { d.object(SDMACC_OBJECT_BUF) = {}; }),
      SDMACC_CASE(OBJECT_RIGHTS, "execute", ring2, { d.object(SDMACC_OBJECT_BUF).rights = 4; }),
      SDMACC_CASE(OBJECT_RIGHTS, "write to constants", ring2,
                  { d.object(SDMACC_OBJECT_CONST).rights = 2; }),
      SDMACC_CASE(OBJECT_SIZE, "empty BUF", ring2, { d.object(SDMACC_OBJECT_BUF).size = 0; }),
      SDMACC_CASE(OBJECT_SIZE, "BUF beyond the offset", ring2,
                  { d.object(SDMACC_OBJECT_BUF).size = (1ull << 40) + 1; }),
      SDMACC_CASE(OBJECT_SIZE, "248 semaphores", ring2,
                  { d.object(SDMACC_OBJECT_SEM).size = 248; }),
      SDMACC_CASE(OBJECT_SIZE, "two pages of constants", ring2,
                  { d.object(SDMACC_OBJECT_CONST).size = 256; }),
      SDMACC_CASE(OBJECT_SIZE, "SP with a size", ring2, { d.object(SDMACC_OBJECT_SP).size = 1; }),
      SDMACC_CASE(OBJECT_PARENT, "BUF without", ring2, { d.object(SDMACC_OBJECT_BUF).parent = 0; }),
      SDMACC_CASE(OBJECT_PARENT, "BUF of a BUF", ring2,
                  { d.object(SDMACC_OBJECT_BUF).parent = d.object_index(SDMACC_OBJECT_BUF); }),
      SDMACC_CASE(OBJECT_PARENT, "RING beyond the table", ring2,
                  { d.object(SDMACC_OBJECT_RING).parent = 999; }),
      SDMACC_CASE(OBJECT_PARENT, "SP of an SP", ring2,
                  { d.object(SDMACC_OBJECT_SP, 1).parent = 1; }),
      SDMACC_CASE(OBJECT_INDEX, "SP 1 first", ring2, { d.object(SDMACC_OBJECT_SP).index = 1; }),
      SDMACC_CASE(OBJECT_INDEX, "SP 0 twice", ring2, { d.object(SDMACC_OBJECT_SP, 1).index = 0; }),
      SDMACC_CASE(OBJECT_INDEX, "one SP more, 0 again", ring2,
                  {
                    d.p.objects.push_back({SDMACC_OBJECT_SP, 0, 0, 0, 0});
                  }),
      SDMACC_CASE(OBJECT_INDEX, "one SP more, 3 after 1", ring2,
                  {
                    d.p.objects.push_back({SDMACC_OBJECT_SP, 0, 0, 0, 3});
                  }),
      SDMACC_CASE(OBJECT_INDEX, "33 SPs", ring2,
                  {
                    for (std::uint32_t i = 2; i < 33; ++i)
                      d.p.objects.push_back({SDMACC_OBJECT_SP, 0, 0, 0, i});
                  }),
      SDMACC_CASE(OBJECT_INDEX, "a slot of another rank", ring2,
                  { d.object(SDMACC_OBJECT_SLOT).index = 2; }),
      SDMACC_CASE(OBJECT_INDEX, "engine 16", ring2, { d.object(SDMACC_OBJECT_RING).index = 16; }),
      SDMACC_CASE(OBJECT_INDEX, "group 32", ring2,
                  { d.object(SDMACC_OBJECT_RING).index = 32 << 8; }),
      SDMACC_CASE(OBJECT_INDEX, "constants 1", ring2, { d.object(SDMACC_OBJECT_CONST).index = 1; }),
      SDMACC_CASE(OBJECT_INDEX, "semaphores 1", ring2, { d.object(SDMACC_OBJECT_SEM).index = 1; }),
      SDMACC_CASE(OBJECT_TWICE, "slot", ring2, { d.object(SDMACC_OBJECT_SLOT, 1).index = 0; }),
      SDMACC_CASE(OBJECT_TWICE, "ring", ring2_e2, { d.object(SDMACC_OBJECT_RING, 1).index = 0; }),
      SDMACC_CASE(OBJECT_TWICE, "semaphores", ring2,
                  { d.p.objects.push_back(d.object(SDMACC_OBJECT_SEM)); }),
      SDMACC_CASE(OBJECT_TWICE, "constants", ring2,
                  { d.p.objects.push_back(d.object(SDMACC_OBJECT_CONST)); }),
      SDMACC_CASE(NO_SP, "only the empty entry", ring2, { d.p.objects.resize(1); }),
      SDMACC_CASE(SECTION_KIND, "kind 0", ring2, { d.p.sections[0].kind = 0; }),
      SDMACC_CASE(SECTION_KIND, "LEVEL", ring2, { d.p.sections[0].kind = SDMACC_SECTION_LEVEL; }),
      SDMACC_CASE(SECTION_OBJECT, "CTRL of a BUF", ring2,
                  { d.p.sections[0].object = d.object_index(SDMACC_OBJECT_BUF); }),
      SDMACC_CASE(SECTION_OBJECT, "beyond the table", ring2, { d.p.sections[0].object = 999; }),
      SDMACC_CASE(SECTION_ALIGN, "8", ring2, { d.p.sections[1].offset += 8; }),
      SDMACC_CASE(SECTION_PLACE, "overlap", ring2, { d.p.sections[2].offset -= 16; }),
      SDMACC_CASE(SECTION_PLACE, "order", ring2, { std::swap(d.p.sections[0], d.p.sections[1]); }),
      SDMACC_CASE(SECTION_PLACE, "offset beyond the data", ring2,
                  { d.p.sections.back().offset = 1 << 30; }),
      SDMACC_CASE(SECTION_PLACE, "size beyond the data", ring2,
                  { d.p.sections.back().size = ~0ull - 15; }),
      SDMACC_CASE(SECTION_SIZE, "half a CTRL entry", ring2, { d.p.sections[0].size = 4; }),
      SDMACC_CASE(SECTION_SIZE, "513 CTRL entries", ring2,
                  {
                    for (auto& s : d.p.sections) s.offset += s.offset > 0 ? 8192 : 0;
                    d.p.data.insert(d.p.data.begin() + 8, 8192, {});
                    d.p.sections[0].size = 513 * 8;
                  }),
      SDMACC_CASE(SECTION_SIZE, "half a window", ring2, { d.p.sections[1].size -= 512; }),
      SDMACC_CASE(SECTION_SIZE, "ALGO of Sunda", ring2, { d.p.sections[2].size = 0x2228; }),
      SDMACC_CASE(SECTION_SIZE, "NEFF", ring2, { d.p.sections[3].size -= 8; }),
      SDMACC_CASE(SECTION_SIZE, "half a descriptor", ring2, { d.p.sections.back().size -= 8; }),
      SDMACC_CASE(SECTION_TWICE, "CTRL", ring2,
                  { d.p.sections[4].object = d.p.sections[0].object; }),
      SDMACC_CASE(SECTION_TWICE, "ring", ring2_e2,
                  {
                    d.p.sections[10].object = d.p.sections[8].object;
                    d.p.sections[11].object = d.p.sections[8].object;
                  }),
      SDMACC_CASE(SECTION_MISSING, "NEFF", ring2,
                  { d.p.sections.erase(d.p.sections.begin() + 3); }),
      SDMACC_CASE(SECTION_MISSING, "ring", ring2,
                  { d.p.sections.resize(d.p.sections.size() - 2); }),
      SDMACC_CASE(SECTION_PAIR, "S2M of another ring", ring2,
                  { d.p.sections[9].object = d.p.sections[11].object; }),
      SDMACC_CASE(SECTION_PAIR, "M2S at the end", ring2, { d.p.sections.pop_back(); }),
      SDMACC_CASE(SECTION_PAIR, "S2M alone", ring2,
                  { d.p.sections[8].kind = SDMACC_SECTION_RING_S2M; }),
      SDMACC_CASE(SECTION_PAIR, "M2S twice", ring2,
                  { d.p.sections[9].kind = SDMACC_SECTION_RING_M2S; }),
      SDMACC_CASE(SECTION_PAIR, "S2M first", ring2,
                  { d.p.sections.erase(d.p.sections.begin(), d.p.sections.begin() + 9); }),
      SDMACC_CASE(RING_UNEVEN, "engine 1 has less", ring2_e2, { d.p.sections[10].size -= 16; }),
      SDMACC_CASE(RELOC_SECTION, "beyond the table", ring2,
                  { d.p.relocations.back().section = 999; }),
      SDMACC_CASE(RELOC_ORDER, "swapped", ring2,
                  { std::swap(d.p.relocations[1], d.p.relocations[2]); }),
      SDMACC_CASE(RELOC_ORDER, "twice", ring2, { d.p.relocations[2] = d.p.relocations[1]; }),
      SDMACC_CASE(RELOC_ORDER, "sections", ring2,
                  { std::swap(d.p.relocations[0], d.p.relocations[1]); }),
      SDMACC_CASE(RELOC_KIND, "kind 9", ring2, { d.p.relocations[0].kind = 9; }),
      SDMACC_CASE(RELOC_KIND, "LEVEL64", ring2,
                  { d.p.relocations[0].kind = SDMACC_RELOC_LEVEL64; }),
      SDMACC_CASE(RELOC_PLACE, "misaligned", ring2, { d.p.relocations[0].offset += 2; }),
      SDMACC_CASE(RELOC_PLACE, "beyond the section", ring2,
                  { d.p.relocations.back().offset = 3588; }),
      SDMACC_CASE(RELOC_RESERVED, "reserved", ring2, { d.p.relocations[0].reserved = 1; }),
      SDMACC_CASE(RELOC_OBJECT, "END at an SP", ring2,
                  { d.p.relocations[0].object = d.object_index(SDMACC_OBJECT_SP); }),
      SDMACC_CASE(RELOC_OBJECT, "beyond the table", ring2, { d.p.relocations[0].object = 999; }),
      SDMACC_CASE(RELOC_OBJECT, "fixed semaphore in a channel", ring2,
                  {
                    auto& r = d.reloc(kAlgo, 56);
                    r.object = d.object_index(SDMACC_OBJECT_SP);
                    r.addend = 0;
                  }),
      SDMACC_CASE(RELOC_ADDEND, "semaphore beyond the range", ring2,
                  { d.reloc(kAlgo, 56).addend = 8; }),
      SDMACC_CASE(RELOC_ADDEND, "fixed id 2", ring2, { d.reloc(kNeff, 3544).addend = 2; }),
      SDMACC_CASE(RELOC_ADDEND, "completion as trigger", ring2,
                  { d.reloc(kNeff, 3544).addend = 1; }),
      SDMACC_CASE(RELOC_ADDEND, "broadcast", ring2, { d.reloc(kAlgo, 120).addend = 1; }),
      SDMACC_CASE(RELOC_MISSING, "recv_sema", ring2, { d.drop_reloc(kAlgo, 56); }),
      SDMACC_CASE(RELOC_MISSING, "broadcast mask", ring2, { d.drop_reloc(kAlgo, 136); }),
      SDMACC_CASE(RELOC_MISSING, "trigger", ring2, { d.drop_reloc(kNeff, 3544); }),
      SDMACC_CASE(RELOC_MISFIT, "sides swapped", ring2,
                  { d.reloc(kAlgo, 120).kind = SDMACC_RELOC_BCAST_S2M64; }),
      SDMACC_CASE(RELOC_MISFIT, "INC address in a channel", ring2,
                  { d.reloc(kAlgo, 56).kind = SDMACC_RELOC_SEM_INC64; }),
      SDMACC_CASE(RELOC_OWNER, "another's recv_sema", ring2,
                  { d.reloc(kAlgo, 56).object = d.object_index(SDMACC_OBJECT_SEM, 1); }),
      SDMACC_CASE(RELOC_OWNER, "another's trigger", ring2,
                  { d.reloc(kNeff, 3544).object = d.object_index(SDMACC_OBJECT_SP, 1); }),
      SDMACC_CASE(RELOC_OWNER, "another's queues", ring2,
                  { d.reloc(kAlgo, 120).object = d.object_index(SDMACC_OBJECT_RING, 1); }),
      SDMACC_CASE(RELOC_OWNER, "END at another's semaphore", ring2,
                  { d.p.relocations[0].object = d.object_index(SDMACC_OBJECT_SEM, 1); }),
      SDMACC_CASE(RELOC_UNASKED, "in a ring", ring2,
                  {
                    d.p.relocations.push_back(
                        {8, SDMACC_RELOC_SEM_INC64, 8, d.object_index(SDMACC_OBJECT_SEM), 0, 0});
                  }),
      SDMACC_CASE(
          RELOC_UNASKED, "in CTRL", ring2,
          { d.add_reloc(kCtrl, 0, SDMACC_RELOC_SEM_READ64, d.object_index(SDMACC_OBJECT_SEM)); }),
      SDMACC_CASE(
          RELOC_UNASKED, "in a bitmap of NEFF", ring2,
          { d.add_reloc(kNeff, 0, SDMACC_RELOC_SEM_READ64, d.object_index(SDMACC_OBJECT_SEM)); }),
      SDMACC_CASE(RELOC_UNASKED, "the end of NEFF", ring2,
                  {
                    d.add_reloc(kNeff, 3584, SDMACC_RELOC_SEM_READ64,
                                d.object_index(SDMACC_OBJECT_SEM));
                  }),
      SDMACC_CASE(
          RELOC_UNASKED, "across a field", ring2,
          { d.add_reloc(kAlgo, 60, SDMACC_RELOC_SEM_READ64, d.object_index(SDMACC_OBJECT_SEM)); }),
      SDMACC_CASE(
          RELOC_UNASKED, "a step word", ring2,
          { d.add_reloc(kSlot, 1016, SDMACC_RELOC_SEM_INC64, d.object_index(SDMACC_OBJECT_SEM)); }),
      SDMACC_CASE(RELOC_UNASKED, "hier", ring2,
                  {
                    d.add_reloc(kAlgo, 0x3440, SDMACC_RELOC_SEM_READ64,
                                d.object_index(SDMACC_OBJECT_SEM));
                  }),
      SDMACC_CASE(FIELD_SET, "recv_sema", ring2, { d.channel().recv_sema.lo = 1; }),
      SDMACC_CASE(FIELD_SET, "mask", ring2, { d.channel().apb.mask = 0x100; }),
      SDMACC_CASE(FIELD_SET, "trigger", ring2, { d.neff().trigger = 1; }),
  };
}

}  // namespace sdmacc::test
