// SPDX-License-Identifier: MIT
// emit: golden prints of small Programs; every Program passes the loader's check, on every
// generation, for one and several engines; images round trip; a Schedule that no handler runs is
// refused.
#include "daemon/emit/emit.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "daemon/compose/compose.hpp"
#include "libuapi/abi/generation.h"
#include "libuapi/core/validate.h"

namespace sdmacc {
namespace {

World world_of(std::uint32_t ranks, std::uint32_t arch = 0x0c, std::uint32_t engines = 1) {
  World w;
  w.arch = sdmacc_generation_by_arch(arch);
  w.policy.engines = engines;
  for (std::uint32_t r = 0; r < ranks; ++r) w.places.push_back({0, r % w.arch->cores, r});
  return w;
}

const AlgorithmInfo& algorithm(std::string_view id) {
  for (const AlgorithmInfo& info : algorithms())
    if (info.id == id) return info;
  SDMACC_ASSERT(!"no such algorithm");
}

Shape shape(std::string_view id, std::uint32_t ranks, std::uint64_t count, std::uint64_t slice,
            ReduceOp op = ReduceOp::Add, DType dtype = DType::Fp32) {
  Shape s;
  s.ranks = ranks;
  s.count = count;
  s.slice_elements = slice;
  s.op = op;
  s.dtype = dtype;
  s.sub_type = algorithm(id).sub_type;
  if (id == "kangaring") s.secondaries = ranks % 4 == 0 ? 3 : 1;
  if (op == ReduceOp::Fma) s.scales.assign(ranks, 0.5f);
  return s;
}

Program program_of(std::string_view id, const Shape& s, const World& w) {
  auto schedule = algorithm(id).build(s);
  SDMACC_ASSERT(schedule.has_value());
  auto program = emit(*schedule, w);
  SDMACC_ASSERT(program.has_value());
  return std::move(*program);
}

std::string fault_of(const Program& program, std::uint32_t arch) {
  const auto image = program.image();
  static sdmacc_check check;
  sdmacc_view view;
  sdmacc_fault fault;
  if (sdmacc_program_parse(image.data(), image.size(), &view, &fault) != 0)
    return sdmacc_fault_text(fault.code);
  if (sdmacc_validate(&check, &view, sdmacc_generation_by_arch(arch)) == 0) return "";
  return fmt::format("section {} offset {}: {} ({:#x})", check.fault.section, check.fault.offset,
                     sdmacc_fault_text(check.fault.code), check.fault.value);
}

struct Golden {
  const char* file;
  const char* id;
  std::uint32_t ranks;
  std::uint64_t count, slice;
  ReduceOp op;
  DType dtype;
};
const Golden kGolden[] = {
    {"ring-2", "ring", 2, 8, 8, ReduceOp::Add, DType::Fp32},
    {"ring-3-fma-bf16", "ring", 3, 7, 4, ReduceOp::Fma, DType::Bf16},
    {"kangaring-4", "kangaring", 4, 8, 8, ReduceOp::Max, DType::Fp16},
    {"kangaring-6", "kangaring", 6, 12, 12, ReduceOp::Add, DType::Bf16},
    {"mesh-t0", "mesh-t0", 2, 10, 6, ReduceOp::Min, DType::Fp32},
    {"mesh-t2-5", "mesh-t2", 5, 10, 10, ReduceOp::Add, DType::Fp32},
    {"single-step-mesh-3", "single-step-mesh", 3, 6, 6, ReduceOp::Add, DType::Fp8e4},
};

TEST(EmitGolden, Programs) {
  const bool update = std::getenv("SDMACC_UPDATE_GOLDEN") != nullptr;
  for (const Golden& g : kGolden) {
    const std::string path = std::string(SDMACC_GOLDEN_DIR) + "/" + g.file + ".txt";
    const std::string text = to_string(
        program_of(g.id, shape(g.id, g.ranks, g.count, g.slice, g.op, g.dtype), world_of(g.ranks)));
    if (update) {
      std::ofstream(path) << text;
      continue;
    }
    std::ifstream file(path);
    ASSERT_TRUE(file) << path;
    std::stringstream want;
    want << file.rdbuf();
    EXPECT_EQ(text, want.str()) << g.file;
  }
}

TEST(Emit, EveryProgramPassesTheLoadersCheck) {
  for (const AlgorithmInfo& info : algorithms())
    for (const std::uint32_t ranks : {1u, 2u, 3u, 4u, 5u, 8u, 16u})
      for (const std::uint64_t count : {1ull, 2ull, 17ull, 257ull, 5000ull})
        for (const std::uint32_t channels : {1u, 3u})
          for (const std::uint32_t engines : {1u, 2u, 16u})
            for (const ReduceOp op : {ReduceOp::Add, ReduceOp::Fma})
              for (const std::uint32_t arch : {0x05u, 0x0cu, 0x14u, 0x1cu}) {
                if (ranks > sdmacc_generation_by_arch(arch)->topsps) continue;
                Shape s = shape(info.id, ranks, count, 512, op,
                                count % 2 == 0 ? DType::Fp32 : DType::Fp8e5);
                s.channels = channels;
                if (info.refuses(s)) continue;
                const Program p = program_of(info.id, s, world_of(ranks, arch, engines));
                EXPECT_EQ(fault_of(p, arch), "") << p.title << " channels " << channels
                                                 << " engines " << engines << " arch " << arch;
              }
}

TEST(Emit, ImageRoundTrip) {
  const Program p = program_of("ring", shape("ring", 3, 100, 50), world_of(3));
  const auto image = p.image();
  const auto back = parse_image(image);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->image(), image);
  EXPECT_EQ(back->ranks, 3u);
  EXPECT_EQ(back->arch_id, 0x0cu);
}

TEST(Emit, BadImages) {
  const auto image = program_of("ring", shape("ring", 2, 8, 8), world_of(2)).image();
  auto error = [&](std::size_t offset, std::uint8_t value) {
    auto broken = image;
    broken[offset] = std::byte{value};
    const auto p = parse_image(broken);
    return p ? std::string() : p.error().text();
  };
  EXPECT_EQ(error(0, 0), "load: magic is 0x52504400, must be 0x52504453 (invalid)");
  EXPECT_EQ(error(4, 9), "load: version 9 is unknown, this is 1 (unsupported)");
  EXPECT_NE(error(15, 0xff), "");  // number of sections
  EXPECT_NE(error(24, 0xff), "");  // size of data
  EXPECT_FALSE(parse_image(std::span(image).first(31)));
  EXPECT_FALSE(parse_image(std::span(image).first(image.size() - 1)));
}

// Every descriptor that moves data or signals belongs to a step of the lane that made it.
TEST(Emit, OriginsCoverTheRings) {
  const Program p = program_of("ring", shape("ring", 4, 4096, 1024), world_of(4));
  for (std::uint32_t s = 0; s < p.sections.size(); ++s) {
    if (p.sections[s].kind != SDMACC_SECTION_RING_M2S) continue;
    for (std::uint32_t d = 0; d < p.sections[s].size / sizeof(sdmacc_desc); ++d)
      ASSERT_NE(p.origin(s, d), nullptr) << s << " " << d;
  }
  EXPECT_EQ(p.origin(0, 0), nullptr);
}

TEST(Emit, RefusesWhatNoHandlerRuns) {
  auto refusal = [](auto break_it) {
    auto schedule = algorithm("ring").build(shape("ring", 2, 64, 64));
    break_it(*schedule);
    const auto p = emit(*schedule, world_of(2));
    return p ? std::string() : p.error().text();
  };
  EXPECT_EQ(refusal([](Schedule& s) {
              s.lanes[0].steps[2].waits.erase(s.lanes[0].steps[2].waits.begin());
            }),
            "emit: [2]: rank 0 channel 0: a step that does not wait for one credit and one "
            "arrival, which the ring handler does not do (internal)");
  EXPECT_EQ(refusal([](Schedule& s) { s.lanes[1].steps[3].posts.pop_back(); }),
            "emit: [3]: rank 1 channel 0: a step that keeps its credit, which the ring handler "
            "does not do (internal)");
  EXPECT_EQ(refusal([](Schedule& s) { s.lanes[0].steps[0].posts[1].count = 3; }),
            "emit: [0]: rank 0 channel 0: the prologue does not post its own recv twice and the "
            "predecessor's credit four times, which the ring "
            "handler does not do (internal)");
  EXPECT_EQ(refusal([](Schedule& s) { s.alg = Alg::Hier; }),
            "emit: no handler runs HIER by itself (unsupported)");
  EXPECT_EQ(refusal([](Schedule& s) { s.count = 0; }),
            "emit: count 0 has no Program: nothing moves (invalid)");
  EXPECT_NE(refusal([](Schedule& s) { s.ranks = 3; }), "");
}

TEST(Emit, MeshTapesMustBeEqual) {
  auto schedule = algorithm("mesh-t2").build(shape("mesh-t2", 2, 64, 32));
  const std::size_t events = schedule->lanes[0].steps.size() / 2;
  schedule->lanes[0].steps[events + 1].waits.clear();
  const auto p = emit(*schedule, world_of(2));
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().text(),
            "emit: [0]: event 1 of slice 1 differs from the first slice's (internal)");
}

TEST(Emit, LimitsAreNamed) {
  const auto slices = algorithm("mesh-t2").build(shape("mesh-t2", 2, 513, 1));
  const auto p = emit(*slices, world_of(2));
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().text(), "emit: [0]: 513 slices, CTRL has 512 entries (no space)");
  const auto big = algorithm("ring").build(shape("ring", 2, 1ull << 31, 1ull << 31));
  const auto q = emit(*big, world_of(2));
  ASSERT_FALSE(q);
  EXPECT_NE(q.error().text().find("at most 65533 fit a SLOT word"), std::string::npos)
      << q.error().text();
}

}  // namespace
}  // namespace sdmacc
