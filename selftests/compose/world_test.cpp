// SPDX-License-Identifier: MIT
// Placement of ranks on a device, and the names and spellings of the shared enumerations.
#include "daemon/world/world.hpp"

#include <gtest/gtest.h>

#include "libuapi/abi/generation.h"

namespace sdmacc::test {
namespace {

const sdmacc_generation& cayman() {
  return *sdmacc_generation_at(1);
}
const sdmacc_generation& sunda() {
  return *sdmacc_generation_at(0);
}

std::vector<std::uint32_t> topsps(const Result<std::vector<Place>>& places) {
  std::vector<std::uint32_t> list;
  if (!places)
    ADD_FAILURE() << places.error().text();
  else
    for (const Place& place : *places) list.push_back(place.topsp);
  return list;
}

TEST(Placement, UpToTheCoresEachRankHasACore) {
  const std::vector<std::uint32_t> idle(cayman().topsps, 0);
  const auto places = place_ranks(cayman(), 8, idle);
  ASSERT_TRUE(places);
  for (std::uint32_t r = 0; r < 8; ++r) EXPECT_EQ((*places)[r], (Place{0, r, 2 * r}));
  EXPECT_EQ(topsps(place_ranks(sunda(), 2, std::vector<std::uint32_t>(6, 0))),
            (std::vector<std::uint32_t>{0, 3}));
}

TEST(Placement, TheLeastLoadedTopSpOfTheCoreThenTheLowest) {
  std::vector<std::uint32_t> load(cayman().topsps, 0);
  load[0] = 1;  // core 0: 1 is idle
  load[2] = load[3] = 2;
  load[4] = 1;
  load[5] = 3;
  EXPECT_EQ(topsps(place_ranks(cayman(), 3, load)), (std::vector<std::uint32_t>{1, 2, 4}));
}

TEST(Placement, AboveTheCoresRankRIsOnTopSpR) {
  std::vector<std::uint32_t> load(cayman().topsps, 0);
  load[0] = 9;
  const auto places = place_ranks(cayman(), 9, load);
  ASSERT_TRUE(places);
  for (std::uint32_t r = 0; r < 9; ++r) EXPECT_EQ((*places)[r], (Place{0, r / 2, r}));
  EXPECT_EQ(place_ranks(cayman(), 16, load)->back(), (Place{0, 7, 15}));
}

TEST(Placement, RefusesWithTheNumbers) {
  const auto many = place_ranks(cayman(), 17, std::vector<std::uint32_t>(16, 0));
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, Errc::NoSpace);
  EXPECT_EQ(many.error().context,
            "17 ranks do not fit one cayman: 8 cores with 16 TOP_SPs, one rank each");
  EXPECT_EQ(place_ranks(cayman(), 0, std::vector<std::uint32_t>(16, 0)).error().code,
            Errc::Invalid);
  EXPECT_EQ(place_ranks(cayman(), 2, {}).error().code, Errc::Internal);
}

TEST(WorldPrint, SaysWhoIsWhereAndThePolicy) {
  World world;
  world.name = "g";
  world.group_id = 3;
  world.generation = 1;
  world.arch = &cayman();
  world.places = {{0, 0, 0}, {0, 1, 3}};
  world.policy.force_alg = Alg::Mesh;
  world.policy.force_mesh = 2;
  world.policy.order_rank = true;
  EXPECT_EQ(
      to_string(world),
      "group \"g\" id 3 generation 1 on cayman, 2 ranks\n"
      "  r0: device 0 core 0 TOP_SP 0\n"
      "  r1: device 0 core 1 TOP_SP 3\n"
      "policy host: engines 1 channels 1 slice 65536 B window 16777216 B alg MESH t2 order rank\n");
}

TEST(Types, NamesAreTheSpecs) {
  EXPECT_EQ(name(Collective::AllToAllV), "ALL_TO_ALL_V");
  EXPECT_EQ(name(ReduceOp::Fma), "FMA");
  EXPECT_EQ(name(DType::Fp8e4), "FP8E4");
  EXPECT_EQ(name(Alg::TwoStepPodMesh), "TWO_STEP_POD_MESH");
  EXPECT_EQ(name(MeshType::Full), "FULL_MESH");
  EXPECT_EQ(name(static_cast<DType>(0x10)), "?");
}

TEST(Types, EveryNameParsesInLowerCaseOnly) {
  EXPECT_EQ(*parse_reduce_op("min"), ReduceOp::Min);
  EXPECT_EQ(*parse_dtype("bf16"), DType::Bf16);
  EXPECT_EQ(*parse_alg("single_step_mesh"), Alg::SingleStepMesh);
  EXPECT_EQ(parse_reduce_op("ADD").error().context,
            "\"ADD\" is no reduce operation; it can be add, fma, max, min");
  EXPECT_FALSE(parse_alg("invalid"));
  EXPECT_FALSE(parse_dtype(""));
}

TEST(Types, SizesAndTheReducibleSet) {
  std::uint32_t reducible_types = 0, bytes = 0;
  for (std::uint32_t i = 1; i <= 15; ++i) {
    reducible_types += reducible(static_cast<DType>(i));
    bytes += element_bytes(static_cast<DType>(i));
  }
  EXPECT_EQ(reducible_types, 7u);
  EXPECT_EQ(bytes, 8u + 1 + 1 + 2 + 2 + 2 + 2 + 4 + 4 + 4 + 4 + 8 + 1 + 1 + 1);
  EXPECT_EQ(element_bytes(DType::Fp32r), 4u);
  EXPECT_FALSE(reducible(DType::Int32));
  EXPECT_EQ(element_bytes(static_cast<DType>(0)), 0u);
}

}  // namespace
}  // namespace sdmacc::test
