// SPDX-License-Identifier: MIT
// The address map: every block of every generation, its edges, routing bits, and what is nowhere.
#include <gtest/gtest.h>

#include "firmware-stub/model/decode.hpp"

namespace sdmacc::model {
namespace {

constexpr std::uint64_t kHbm = 64 << 20;
constexpr std::uint64_t kApertureBytes = 1ull << 40;

struct Expected {
  std::uint64_t base;
  std::uint64_t size;
  Block block;
  std::uint32_t index;
};

std::vector<Expected> blocks(const sdmacc_generation& g) {
  std::vector<Expected> all;
  for (std::uint32_t i = 0; i < g.hbm_stacks; ++i)
    all.push_back({g.hbm_base[i], kHbm, Block::Hbm, i});
  all.push_back({g.host_aperture, kApertureBytes, Block::Host, 0});
  for (std::uint32_t c = 0; c < g.cores; ++c) {
    all.push_back({g.core_base[c], kSbufBytes, Block::Sbuf, c});
    all.push_back({g.core_base[c] + g.tpb_peripherals + 0x2700000, 0x2000, Block::Semaphores, c});
    all.push_back({g.bcast_base[c], kBroadcastBytes, Block::Broadcast, c});
    for (std::uint32_t e = 0; e < 16; ++e)
      all.push_back({g.engine_base[c] + e * g.engine_stride, 0x40000, Block::Engine, c * 16 + e});
  }
  for (std::uint32_t t = 0; t < g.topsps; ++t) {
    const std::uint64_t base = sdmacc_soc_topsp(&g, t);
    all.push_back({base, 0x2000, Block::Semaphores, g.cores + t});
    all.push_back({base + 0x100000, 0x100000, Block::TopSpRam, t});
    all.push_back({base + 0x200000, 0x100000, Block::TopSpCore, t});
  }
  return all;
}

class Decode : public testing::TestWithParam<std::uint32_t> {
 protected:
  const sdmacc_generation& arch = *sdmacc_generation_at(GetParam());
  AddressMap map{arch, kHbm, 3};
};

TEST_P(Decode, FindsEachBlockFromFirstToLastByte) {
  for (const Expected& e : blocks(arch)) {
    for (const std::uint64_t offset :
         {std::uint64_t{0}, std::uint64_t{4}, e.size / 2, e.size - 1}) {
      const Target t = map.decode(e.base + offset);
      ASSERT_EQ(t.block, e.block) << std::hex << e.base << " + " << offset;
      EXPECT_EQ(t.index, e.index) << std::hex << e.base + offset;
      EXPECT_EQ(t.offset, offset);
      EXPECT_GE(t.left, e.size - offset);
      EXPECT_EQ(t.local, e.base + offset);
    }
  }
}

TEST_P(Decode, BlocksDoNotOverlap) {
  const auto all = blocks(arch);
  for (const Expected& a : all)
    for (const Expected& b : all)
      EXPECT_FALSE(a.base < b.base && b.base < a.base + a.size)
          << std::hex << a.base << " " << b.base;
}

TEST_P(Decode, BetweenTheBlocksIsNothing) {
  std::vector<std::uint64_t> nowhere = {
      ~0ull,
      arch.host_aperture + kApertureBytes,
      arch.hbm_base[0] + kHbm,
      sdmacc_soc_topsp(&arch, 0) + 0x2000,
      sdmacc_soc_topsp(&arch, 0) + 0x300000,
      sdmacc_soc_topsp(&arch, arch.topsps - 1) + arch.topsp_stride,
      arch.topsp_base - 4,
      arch.core_base[0] + kSbufBytes};
  for (const std::uint64_t address : nowhere)
    EXPECT_EQ(map.decode(address).block, Block::None) << std::hex << address;
}

TEST_P(Decode, HbmEndsWhereTheOptionOrTheSlotEnds) {
  const AddressMap large(arch, 1ull << 60, 0);
  EXPECT_EQ(large.decode(arch.hbm_base[1] + arch.hbm_slot - 1).block, Block::Hbm);
  EXPECT_EQ(large.decode(arch.hbm_base[1] + arch.hbm_slot - 1).left, 1u);
  EXPECT_EQ(map.decode(arch.hbm_base[1] + kHbm - 1).block, Block::Hbm);
  EXPECT_EQ(map.decode(arch.hbm_base[1] + kHbm).block, Block::None);
}

TEST_P(Decode, RoutingBits) {
  const std::uint64_t local = sdmacc_soc_sem(&arch, 1, SDMACC_SEM_INC, 9);
  const auto chip = [&](std::uint64_t id) { return SDMACC_CHIP_VALID | id << 48 | local; };
  EXPECT_EQ(map.decode(chip(3)).block, Block::Semaphores);
  EXPECT_EQ(map.decode(chip(3)).local, local);
  EXPECT_EQ(map.decode(chip(4)).block, Block::Remote);
  EXPECT_EQ(map.decode(chip(4)).index, 4u);
  EXPECT_EQ(map.decode(chip(63)).index, 63u);
  EXPECT_EQ(map.decode(local | 1ull << 53).block, Block::Semaphores);
  EXPECT_EQ(map.decode(local | 1ull << 53).local, local);
  EXPECT_EQ(map.decode(local | 1ull << 52 | 2ull << 50).block, Block::Neighbour);
  EXPECT_EQ(map.decode(local | 1ull << 52 | 2ull << 50).index, 2u);
  EXPECT_EQ(map.decode(local | 1ull << 50).block, Block::None) << "port bits without bit 52";
  for (unsigned bit = 55; bit < 64; ++bit) {
    EXPECT_EQ(map.decode(local | 1ull << bit).block, Block::None) << bit;
    EXPECT_EQ(map.decode(chip(3) | 1ull << bit).block, Block::None) << bit;
    EXPECT_EQ(map.decode(chip(4) | 1ull << bit).block, Block::None) << bit;
  }
}

INSTANTIATE_TEST_SUITE_P(Generations, Decode, testing::Range(0u, SDMACC_GENERATIONS),
                         [](const auto& test) {
                           const auto* g = sdmacc_generation_at(test.param);
                           return std::string(g->name == std::string("mariana+") ? "mariana_plus"
                                                                                 : g->name);
                         });

// The numbers that the public sources print, not derived from the row.
TEST(DecodeCayman, PublishedAddresses) {
  const AddressMap map(*sdmacc_generation_by_arch(0x0c), kHbm, 0);
  const auto is = [&](std::uint64_t address, Block block, std::uint32_t index,
                      std::uint64_t offset) {
    const Target t = map.decode(address);
    EXPECT_EQ(t.block, block) << std::hex << address;
    EXPECT_EQ(t.index, index) << std::hex << address;
    EXPECT_EQ(t.offset, offset) << std::hex << address;
  };
  is(0x8082C0001814, Block::Semaphores, 8 + 9, 0x1814);  // TOP_SP 9, INC 5
  is(0x280270181c, Block::Semaphores, 0, 0x181c);        // core 0, INC 7
  is(0x807802701000, Block::Semaphores, 7, 0x1000);
  is(0x82802615a0, Block::TopSpCore, 0, 0x615a0);
  is(0x1002084038, Block::Broadcast, 0, 0x4038);
  is(0x5004000000, Block::Engine, 32, 0);
  is(0x805005f01038, Block::Engine, 127, 0x1038);
  is(0x804000000000, Block::Hbm, 3, 0);
  is(0x400000001000, Block::Host, 0, 0x1000);
}

TEST(DecodeSunda, PublishedAddresses) {
  const AddressMap map(*sdmacc_generation_by_arch(0x05), kHbm, 0);
  EXPECT_EQ(map.decode(0xfffd1660848).block, Block::TopSpCore);
  EXPECT_EQ(map.decode(0xfffd1660848).index, 5u);
  EXPECT_EQ(map.decode(0xfffd1660848).offset, 0x60848u);
  EXPECT_EQ(map.decode(0xfffc6701800).block, Block::Semaphores);
  EXPECT_EQ(map.decode(0xfffc6701800).index, 1u);
  EXPECT_EQ(map.decode(0xffff07c1038).block, Block::Engine);
  EXPECT_EQ(map.decode(0xffff07c1038).index, 19u);
  EXPECT_EQ(map.decode(0x100000000000).block, Block::Host);
}

}  // namespace
}  // namespace sdmacc::model
