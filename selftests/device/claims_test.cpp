// SPDX-License-Identifier: MIT
// Claims: lowest first, all or nothing, and who is in the way.
#include "daemon/device/claims.hpp"

#include <gtest/gtest.h>

#include "selftests/core/builder.hpp"
#include "selftests/device/support.hpp"

namespace sdmacc::test {
namespace {

using device::Claim;
using device::Claims;
using device::Shortage;

const sdmacc_generation& cayman() {
  return *sdmacc_generation_by_arch(0x0c);
}

struct Checked {
  Image image;
  sdmacc_view view{};
  std::unique_ptr<sdmacc_check> check = std::make_unique<sdmacc_check>();
  explicit Checked(const Program& program) : image(flatten(program)) {
    sdmacc_fault fault{};
    EXPECT_EQ(sdmacc_program_parse(image.words.data(), image.size, &view, &fault), 0u);
    EXPECT_EQ(sdmacc_validate(check.get(), &view, &cayman()), 0u);
  }
};

TEST(Claims, TakesTheLowestAndGivesItBack) {
  Claims claims(cayman(), 1 << 20);
  const Checked ring(ring_program(2, {.engines = 2}));
  const std::uint64_t free = claims.free_memory();
  const auto a = claims.take(1, *ring.check, places(2), 0x77);
  ASSERT_TRUE(a);
  ASSERT_EQ(a->rings.size(), 4u);
  EXPECT_EQ(a->rings[0].queue, 0u);
  EXPECT_EQ(a->rings[1].queue, 0u);  // the same number on both engines
  EXPECT_EQ(a->rings[1].engine, 1u);
  EXPECT_EQ(a->rings[3].core, 1u);
  EXPECT_EQ(a->semaphores[0].first, 8u);
  EXPECT_EQ(a->semaphores[1].topsp, 2u);
  EXPECT_EQ(a->slots.size(), 4u);
  EXPECT_EQ(a->slots[1].offset, 0x2000u);  // a page and a guard page each
  EXPECT_EQ(a->rings[0].length[SDMACC_M2S], 32u);

  const auto b = claims.take(2, *ring.check, places(2), 0x77);
  ASSERT_TRUE(b);
  EXPECT_EQ(b->rings[0].queue, 1u);
  EXPECT_EQ(b->semaphores[0].first, 16u);
  for (const std::uint64_t at : b->memory)
    EXPECT_EQ(std::count(a->memory.begin(), a->memory.end(), at), 0) << at;

  claims.give(1, *a);
  const auto c = claims.take(3, *ring.check, places(2), 0x77);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->memory, a->memory);
  EXPECT_EQ(c->rings[0].queue, 0u);
  claims.give(2, *b);
  claims.give(3, *c);
  EXPECT_EQ(claims.free_memory(), free);
}

TEST(Claims, ResolvesEachObject) {
  Claims claims(cayman(), 1 << 20);
  const std::uint64_t page = claims.take_page();
  const Program program = ring_program(2);
  const Checked ring(program);
  const auto a =
      claims.take(1, *ring.check, places(2, 4), page);  // cores 4 and 5, TOP_SPs 8 and 10
  ASSERT_TRUE(a);
  for (std::uint32_t i = 1; i < program.objects.size(); ++i) {
    const sdmacc_resolved& o = a->objects[i];
    switch (program.objects[i].kind) {
      case SDMACC_OBJECT_CONST:
        EXPECT_EQ(o.address, page);
        break;
      case SDMACC_OBJECT_SLOT:
        EXPECT_EQ(o.address >> 40, 1u << 6);
        break;
      case SDMACC_OBJECT_BUF:
        EXPECT_EQ(o.address >> 40, 1u << 7);
        break;  // the other die's memory
      case SDMACC_OBJECT_RING:
        EXPECT_TRUE(o.core == 4 || o.core == 5);
        break;
      case SDMACC_OBJECT_SP:
        EXPECT_EQ(o.topsp, 8 + 2 * program.objects[i].index);
        break;
      default:
        EXPECT_TRUE(o.address == 0x808280001020 || o.address == 0x808300001020) << o.address;
    }
  }
}

TEST(Claims, AFullCoreNamesItsHolders) {
  Claims claims(cayman(), 16 << 20);
  const Checked ring(ring_program(1));
  std::vector<Claim> taken;
  for (LoadedId id = 1; id <= 14; ++id) {
    auto claim = claims.take(id, *ring.check, places(1), 0);
    ASSERT_TRUE(claim);
    taken.push_back(std::move(*claim));
  }
  const std::uint64_t free = claims.free_memory();
  const auto refused = claims.take(15, *ring.check, places(1), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().holders.size(), 14u);
  EXPECT_EQ(
      refused.error().text.find(
          "queue numbers of core 0: 1 asked, 0 of 14 free; held by program 1 (1), program 2 (1)"),
      0u)
      << refused.error().text;
  EXPECT_EQ(claims.free_memory(), free);  // all or nothing
  EXPECT_TRUE(claims.take(15, *ring.check, places(1, 1), 0));
  claims.give(7, taken[6]);
  const auto again = claims.take(16, *ring.check, places(1), 0);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->rings[0].queue, 6u);
}

TEST(Claims, SemaphoresComeInOnePiece) {
  Claims claims(cayman(), 16 << 20);
  Program half = ring_program(1), most = ring_program(1);
  for (auto [program, size] : {std::pair{&half, 120}, std::pair{&most, 128}})
    for (auto& o : program->objects)
      if (o.kind == SDMACC_OBJECT_SEM) o.size = static_cast<std::uint64_t>(size);
  const Checked small(half), large(most);
  const auto a = claims.take(1, *small.check, places(1), 0);
  ASSERT_TRUE(a && claims.take(2, *small.check, places(1), 0));
  claims.give(1, *a);
  const auto refused = claims.take(3, *large.check, places(1), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().text,
      "semaphores of TOP_SP 0 in one piece: 128 asked, 127 of 247 free; held by program 2 (120)");
  EXPECT_EQ(refused.error().holders, std::vector<LoadedId>{2});
}

TEST(Claims, WhatNeverFitsNamesNobody) {
  Claims claims(cayman(), 1 << 20);
  const Checked ring(ring_program(1));
  ASSERT_TRUE(claims.take(1, *ring.check, places(1), 0));
  Program big = ring_program(1);
  for (auto& o : big.objects)
    if (o.kind == SDMACC_OBJECT_BUF) o.size = 2 << 20;
  const auto refused = claims.take(2, *Checked(big).check, places(1), 0);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().holders.empty());
  EXPECT_EQ(refused.error().text.find("bytes of device memory in one piece: 2097152 asked"), 0u)
      << refused.error().text;
}

TEST(Claims, AFullStackIsLeftForTheNext) {
  Claims claims(cayman(), 1 << 20);
  Program big = ring_program(1);
  for (auto& o : big.objects)
    if (o.kind == SDMACC_OBJECT_BUF) o.size = 600 << 10;
  const Checked ring(big);
  std::vector<std::uint64_t> stacks;
  for (LoadedId id = 1; id <= 4; ++id) {
    const auto claim = claims.take(id, *ring.check, places(1), 0);
    ASSERT_TRUE(claim);
    for (std::uint32_t i = 0; i < big.objects.size(); ++i)
      if (big.objects[i].kind == SDMACC_OBJECT_BUF)
        stacks.push_back(claim->objects[i].address >> 20);
  }
  EXPECT_EQ(stacks, (std::vector<std::uint64_t>{0, 0x40000, 0x8000000, 0x8040000}));
  EXPECT_FALSE(claims.take(5, *ring.check, places(1), 0));
}

}  // namespace
}  // namespace sdmacc::test
