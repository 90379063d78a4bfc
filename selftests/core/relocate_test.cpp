// SPDX-License-Identifier: MIT
// Relocation of hand-made Programs: addresses against numbers that docs/device.md and the
// generation's published bases give.
#include "libuapi/core/relocate.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "selftests/core/fault_cases.hpp"

namespace sdmacc::test {
namespace {

constexpr std::uint64_t kDie1 = 1ull << 47;

// Rank r: TOP_SP 2 + 7 r, core 1 + 3 r, queue 3; memory far apart.
struct Relocated {
  Draft before, after;
  explicit Relocated(Program program) {
    before.p = std::move(program);
    after.p = before.p;
    const Image image = flatten(before.p);
    sdmacc_view view{};
    sdmacc_fault fault{};
    EXPECT_EQ(sdmacc_program_parse(image.words.data(), image.size, &view, &fault), 0u);
    auto check = std::make_unique<sdmacc_check>();
    EXPECT_EQ(sdmacc_validate(check.get(), &view, sdmacc_generation_by_arch(0x0c)), 0u);
    std::vector<sdmacc_resolved> objects(before.p.objects.size());
    for (std::uint32_t i = 1; i < objects.size(); ++i) {
      const sdmacc_object& o = before.p.objects[i];
      const std::uint32_t rank = sdmacc_owner(check.get(), o.kind == SDMACC_OBJECT_CONST ? 1 : i);
      objects[i].topsp = 2 + 7 * rank;
      objects[i].core = 1 + 3 * rank;
      objects[i].queue = 3;
      objects[i].address = std::uint64_t{i} << 32;
      if (o.kind == SDMACC_OBJECT_SEM) objects[i].address = sem(rank, 0x1000, 20);
    }
    sdmacc_relocate(check.get(), objects.data(),
                    reinterpret_cast<std::uint8_t*>(after.p.data.data()));
  }
  // TOP_SP 2, and 9, which is the second of die 1.
  static std::uint64_t topsp(std::uint32_t rank) {
    return rank == 0 ? 0x8300000000 : 0x82c0000000 + kDie1;
  }
  static std::uint64_t sem(std::uint32_t rank, std::uint64_t window, std::uint64_t id) {
    return topsp(rank) + window + 4 * id;
  }
};

std::uint64_t get(sdmacc_u64 v) {
  return std::uint64_t{v.hi} << 32 | v.lo;
}

TEST(Relocate, DescriptorsBecomeAddresses) {
  Relocated r(ring2());
  const std::uint64_t in = r.after.object_index(SDMACC_OBJECT_SLOT),
                      buf = r.after.object_index(SDMACC_OBJECT_BUF, 1);
  EXPECT_EQ(r.after.m2s(0).addr, (in << 32) + 32 * 4);  // chunk 1
  EXPECT_EQ(r.after.m2s(3).addr, (in << 32) + 48 * 4);
  EXPECT_EQ(r.after.s2m(3).addr, (buf << 32) + 16 * 4);
  EXPECT_EQ(r.after.s2m(1).addr, Relocated::sem(1, 0x1800, 20));  // INC of next's recv
  EXPECT_EQ(r.after.s2m(2).addr, Relocated::sem(0, 0x1800, 22));  // INC of the own dma_compl
  EXPECT_EQ(r.after.m2s(6).addr, r.before.m2s(6).addr);           // META: words, no address
  for (std::uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(r.after.m2s(i).len_ctrl, r.before.m2s(i).len_ctrl);
    EXPECT_EQ(r.after.m2s(i).meta_ctrl, r.before.m2s(i).meta_ctrl);
  }
}

TEST(Relocate, FieldsBecomeAddresses) {
  Relocated r(ring_program(2, {.engines = 2}));
  const sdmacc_ring_channel& c = r.after.channel();
  EXPECT_EQ(get(c.recv_sema), Relocated::sem(0, 0x1000, 20));
  EXPECT_EQ(get(c.send_sema), Relocated::sem(0, 0x1000, 21));
  EXPECT_EQ(get(c.post_sema), Relocated::sem(1, 0x1000, 21));
  EXPECT_EQ(get(c.apb.m2s_tail), 0x1003084038u);  // core 1, queue 3
  EXPECT_EQ(get(c.apb.s2m_tail), 0x10030a4038u);
  EXPECT_EQ(c.apb.mask, 0xfffc0100u);                                         // engines 0 and 1
  EXPECT_EQ(get(r.after.channel(0, 1).apb.m2s_tail), 0x1002084038u + kDie1);  // core 4
  EXPECT_EQ(r.after.slot(3), Relocated::sem(0, 0x1800, 26));
  EXPECT_EQ(r.after.neff().slot_spad_base[0], Relocated::topsp(0) + 0x140000);
  EXPECT_EQ(r.after.neff().ctrl_spad_base, Relocated::topsp(0) + 0x130000);
  EXPECT_EQ(r.after.neff().trigger, Relocated::sem(0, 0x1000, 0));
  EXPECT_EQ(r.after.neff().trigger_next, Relocated::sem(1, 0x1000, 0));
  EXPECT_EQ(r.after.neff().complete, Relocated::sem(1, 0x1000, 1));
  EXPECT_EQ(r.after.neff().complete_prev, 0u);
  EXPECT_EQ(r.after.neff(1).complete_prev, Relocated::sem(1, 0x1000, 1));
  EXPECT_EQ(r.after.neff(1).trigger_next, 0u);
}

TEST(Relocate, ChangesNothingElse) {
  Relocated r(mesh_program());
  const Program &a = r.before.p, &b = r.after.p;
  std::vector<bool> may(a.data.size());
  for (const sdmacc_reloc& reloc : a.relocations)
    for (std::uint64_t i = 0; i < (reloc.kind == SDMACC_RELOC_BCAST_MASK32 ? 4u : 8u); ++i)
      may[a.sections[reloc.section].offset + reloc.offset + i] = true;
  for (const sdmacc_section& s : a.sections)
    for (std::uint64_t i = 0; i < s.size; ++i)
      if (s.kind <= SDMACC_SECTION_RING_S2M && i % 16 >= 8) may[s.offset + i] = true;
  for (std::size_t i = 0; i < a.data.size(); ++i)
    ASSERT_TRUE(may[i] || a.data[i] == b.data[i]) << i;
}

}  // namespace
}  // namespace sdmacc::test
