// SPDX-License-Identifier: MIT
// The check accepts the hand-made Programs and refuses each broken one with the right code; what a
// random change leaves is either valid or refused.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>

#include "libuapi/core/validate.h"
#include "selftests/core/fault_cases.hpp"

namespace sdmacc::test {
namespace {

// Parses and checks an image as a loader does.
sdmacc_fault check_image(const void* image, std::uint64_t size, std::uint32_t arch_id) {
  static auto check = std::make_unique<sdmacc_check>();
  sdmacc_view view{};
  sdmacc_fault fault{};
  if (sdmacc_program_parse(image, size, &view, &fault) != 0) return fault;
  const std::uint32_t code =
      sdmacc_validate(check.get(), &view, sdmacc_generation_by_arch(arch_id));
  EXPECT_EQ(code, check->fault.code);
  return check->fault;
}

sdmacc_fault check_program(const Program& program) {
  const Image image = flatten(program);
  return check_image(image.words.data(), image.size, program.arch_id);
}

std::string text(const sdmacc_fault& f) {
  return std::string(sdmacc_fault_name(f.code)) + " section " + std::to_string(f.section) +
         " offset " + std::to_string(f.offset) + " value " + std::to_string(f.value);
}

TEST(Validate, AcceptsTheHandMadePrograms) {
  for (const std::uint32_t arch : {0x05u, 0x0cu, 0x14u, 0x1cu})
    for (const std::uint32_t engines : {1u, 2u, 16u})
      for (const bool short_windows : {false, true})
        for (const bool fma : {false, true}) {
          const Shape shape{arch, engines, 256, 2, short_windows, engines == 2 ? 4u : 1u, fma};
          SCOPED_TRACE(testing::Message() << "arch " << arch << " engines " << engines << " short "
                                          << short_windows << " fma " << fma);
          EXPECT_EQ(check_program(ring_program(1, shape)).code, SDMACC_FAULT_NONE);
          if (arch == 0x05) continue;  // one destination only
          const sdmacc_fault ring = check_program(ring_program(2, shape));
          EXPECT_EQ(ring.code, SDMACC_FAULT_NONE) << text(ring);
          const sdmacc_fault mesh = check_program(mesh_program(shape));
          EXPECT_EQ(mesh.code, SDMACC_FAULT_NONE) << text(mesh);
          const sdmacc_fault kangaring = check_program(kangaring_program(shape));
          EXPECT_EQ(kangaring.code, SDMACC_FAULT_NONE) << text(kangaring);
        }
}

TEST(Validate, RefusesEachBrokenProgramForItsReason) {
  for (const FaultCase& c : fault_cases()) {
    SCOPED_TRACE(std::string(sdmacc_fault_name(c.code)) + ": " + c.what);
    Draft draft;
    draft.p = c.base();
    const std::uint32_t arch = draft.p.arch_id;
    ASSERT_EQ(check_program(draft.p).code, SDMACC_FAULT_NONE);
    if (!c.raw) c.damage(draft);
    Image image = flatten(draft.p);
    draft.header = reinterpret_cast<sdmacc_program_header*>(image.words.data());
    draft.image_size = &image.size;
    if (c.raw) c.damage(draft);
    const sdmacc_fault fault = check_image(image.words.data(), image.size, arch);
    EXPECT_EQ(fault.code, c.code) << text(fault);
  }
}

TEST(Validate, RefusesAnImageThatIsNotAligned) {
  const Image image = flatten(ring2());
  std::vector<std::uint64_t> shifted(image.words.size() + 1);
  auto* at = reinterpret_cast<std::byte*>(shifted.data()) + 4;
  std::memcpy(at, image.words.data(), image.size);
  EXPECT_EQ(check_image(at, image.size, 0x0c).code, SDMACC_FAULT_IMAGE_ALIGN);
}

TEST(Validate, EveryCodeHasACaseAndATextOfItsOwn) {
  std::set<std::uint32_t> covered = {SDMACC_FAULT_IMAGE_ALIGN};
  for (const FaultCase& c : fault_cases()) covered.insert(c.code);
  std::set<std::string> texts, names;
  for (std::uint32_t code = 1; code < SDMACC_FAULT_CODES; ++code) {
    EXPECT_TRUE(covered.contains(code)) << sdmacc_fault_name(code);
    EXPECT_TRUE(texts.insert(sdmacc_fault_text(code)).second) << sdmacc_fault_text(code);
    EXPECT_TRUE(names.insert(sdmacc_fault_name(code)).second);
  }
  EXPECT_STREQ(sdmacc_fault_text(SDMACC_FAULT_CODES), "unknown fault");
}

TEST(Validate, AFaultSaysWhere) {
  Draft d;
  d.p = ring2();
  d.m2s(7).addr = 0x123456789;
  const sdmacc_fault in_ring = check_program(d.p);
  EXPECT_EQ(in_ring.section, find_section(d.p, SDMACC_SECTION_RING_M2S, 0));
  EXPECT_EQ(in_ring.offset, 7u * 16);
  EXPECT_EQ(in_ring.value, 0x123456789u);

  d.p = ring2();
  d.p.sections[3].offset += 8;
  const sdmacc_fault in_table = check_program(d.p);
  EXPECT_EQ(in_table.section, SDMACC_FAULT_IN_TABLES);
  EXPECT_EQ(in_table.offset, 32u + 3 * 24);
  EXPECT_EQ(in_table.value, d.p.sections[3].offset);

  d.p = ring2();
  d.neff(1).op_num = 9;
  const sdmacc_fault in_neff = check_program(d.p);
  EXPECT_EQ(in_neff.section, find_section(d.p, kNeff, 1));
  EXPECT_EQ(in_neff.offset, 3584u);
  EXPECT_EQ(in_neff.value, 9u);
}

// Random changes, one to four at once, weighted towards the parts that have structure. The
// sanitizers watch the bounds.
TEST(Validate, SurvivesRandomChanges) {
  std::mt19937_64 random(20240607);
  const Program bases[] = {ring_program(2, {.engines = 2, .short_windows = true}), mesh_program(),
                           kangaring_program({.fma = true})};
  std::uint32_t valid = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    const Program& base = bases[random() % 3];
    Image image = flatten(base);
    auto* bytes = reinterpret_cast<std::uint8_t*>(image.words.data());
    const std::uint64_t tables = image.size - base.data.size();
    for (std::uint64_t n = 1 + random() % 4; n > 0; --n) {
      std::uint64_t at = random() % tables;
      if (random() % 2 == 0) {
        const sdmacc_section& s = base.sections[random() % base.sections.size()];
        at = tables + s.offset +
             random() % (random() % 2 == 0 ? s.size : std::min<std::uint64_t>(s.size, 256));
      }
      switch (random() % 4) {
        case 0:
          bytes[at] ^= static_cast<std::uint8_t>(1u << random() % 8);
          break;
        case 1:
          bytes[at] = static_cast<std::uint8_t>(random());
          break;
        case 2:
          bytes[at] = 0xff;
          break;
        default: {
          const std::uint64_t word = at / 8, other = random() % (image.size / 8);
          image.words[word] = image.words[other];
        }
      }
    }
    const sdmacc_fault fault =
        check_image(bytes, image.size - random() % 2 * (random() % 64), 0x0c);
    (fault.code == SDMACC_FAULT_NONE ? valid : refused) += 1;
    ASSERT_LT(fault.code, SDMACC_FAULT_CODES);
  }
  EXPECT_GT(valid, 0u);
  EXPECT_GT(refused, 10000u);
}

}  // namespace
}  // namespace sdmacc::test
