// SPDX-License-Identifier: MIT
// The registry, refusals by rule, and compose() from an Operation, a Choice and a World.
#include <set>

#include "daemon/compose/verify.hpp"
#include "libuapi/abi/generation.h"
#include "selftests/compose/shapes.hpp"

namespace sdmacc::test {
namespace {

struct RefusalCase {
  const char* id;
  Shape shape;
  const char* rule;
  const char* reason;
};

TEST(ComposeRefusals, NameTheRuleAndTheNumbers) {
  const auto with = [](Shape s, auto change) {
    change(s);
    return s;
  };
  const RefusalCase cases[] = {
      {"ring", with(shape(4, 10), [](Shape& s) { s.collective = Collective::AllGather; }),
       "all-reduce-only", "ALL_GATHER is not ALL_REDUCE"},
      {"ring", shape(0, 10), "at-least-one-rank", "the group has 0 ranks"},
      {"ring", shape(4, 10, 0), "channels", "0 channels, must be 1 to 32"},
      {"mesh-t2", shape(4, 10, 33), "channels", "33 channels, must be 1 to 32"},
      {"ring", shape(4, 10, 1, 0), "slice-elements", "slices of 0 elements for 10"},
      {"ring", shape(4, 1ull << 40, 1, 1), "slices",
       "1099511627776 elements in slices of 1 are too many slices"},
      {"mesh-t0", with(shape(2, 10), [](Shape& s) { s.op = ReduceOp::Fma; }), "scale-per-rank",
       "0 scales for 2 ranks"},
      {"ring", with(shape(2, 10), [](Shape& s) { s.max_sources = 1; }), "two-sources",
       "a step takes 1 sources, must take 2"},
      {"kangaring", shape(4, 10, 1, 10, 0), "kangaring.unit-size", "0 secondaries, must be 1 or 3"},
      {"kangaring", shape(6, 10, 1, 10, 2), "kangaring.unit-size", "2 secondaries, must be 1 or 3"},
      {"kangaring", shape(7, 10, 1, 10, 1), "kangaring.multiple-of-unit",
       "7 ranks are not a multiple of 2"},
      {"kangaring", shape(6, 10, 1, 10, 3), "kangaring.multiple-of-unit",
       "6 ranks are not a multiple of 4"},
      {"kangaring", with(shape(8, 10, 1, 10, 3), [](Shape& s) { s.max_sources = 4; }),
       "kangaring.sources", "4 sources a step, 5 needed"},
      {"mesh-t0", shape(1, 10), "mesh-t0.two-ranks", "1 ranks, must be 2"},
      {"mesh-t0", shape(3, 10), "mesh-t0.two-ranks", "3 ranks, must be 2"},
  };
  for (const RefusalCase& c : cases) {
    const auto refusal = algorithm_by_id(c.id).refuses(c.shape);
    ASSERT_TRUE(refusal) << c.id << " " << c.rule;
    EXPECT_EQ(refusal->rule, c.rule);
    EXPECT_EQ(refusal->reason, c.reason);
  }
}

TEST(ComposeRegistry, EveryRowIsFoundByItsChoice) {
  std::set<std::string_view> ids, names;
  for (const AlgorithmInfo& info : algorithms()) {
    EXPECT_EQ(find_algorithm(info.alg, info.mesh, info.sub_type)->id, info.id);
    EXPECT_TRUE(ids.insert(info.id).second && names.insert(info.name).second) << info.id;
    EXPECT_FALSE(info.best_at.empty() || info.cost.empty()) << info.id;
  }
  EXPECT_EQ(find_algorithm(Alg::Mesh, MeshType::Full, 1), nullptr);
  EXPECT_EQ(find_algorithm(Alg::Mesh, MeshType::Switch, 2), nullptr);
  EXPECT_EQ(find_algorithm(Alg::Hier, MeshType::Invalid, 0), nullptr);
}

TEST(ComposeStage, ComposesWhatWasChosen) {
  World world;
  world.arch = sdmacc_generation_at(1);
  world.places.resize(4);
  Operation operation;
  operation.op = ReduceOp::Fma;
  operation.dtype = DType::Bf16;
  operation.count = 5000;
  for (float scale : {1.0f, 2.0f, 3.0f, 4.0f}) operation.ranks.push_back({{}, {}, scale, 0});
  Choice choice;
  choice.alg = Alg::Kangaring;
  choice.secondaries = 1;
  choice.channels = 2;
  choice.slice_elements = 300;
  choice.window_elements = 1000;
  const auto s = compose(operation, choice, world, 1000);
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_EQ(s->alg, Alg::Kangaring);
  EXPECT_EQ(s->secondaries, 1u);
  EXPECT_EQ(s->op, ReduceOp::Fma);
  EXPECT_EQ(s->dtype, DType::Bf16);
  EXPECT_EQ(s->count, 1000u);
  EXPECT_EQ(s->ranks, 4u);
  EXPECT_EQ(s->channels, 2u);
  EXPECT_EQ(s->slices, 2u);
  EXPECT_EQ(s->scales, (std::vector<float>{1, 2, 3, 4}));
  EXPECT_TRUE(verify(*s));
  EXPECT_EQ(shape_of(operation, choice, world, 1000).max_destinations, 8u);
  EXPECT_EQ(shape_of(operation, choice, world, 1000).max_sources, 32u);
  world.arch = sdmacc_generation_at(0);
  EXPECT_EQ(shape_of(operation, choice, world, 1000).max_destinations, 1u);

  choice.secondaries = 3;
  world.places.resize(6);
  operation.ranks.resize(6);
  const auto refused = compose(operation, choice, world, 1000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::Unsupported);
  EXPECT_EQ(refused.error().context,
            "KANGARING: refused by kangaring.multiple-of-unit: 6 ranks are not a multiple of 4");
  choice.alg = Alg::Hier;
  EXPECT_EQ(compose(operation, choice, world, 1000).error().context,
            "no algorithm composes HIER (mesh type INVALID, t0)");
}

TEST(ComposeStage, NothingToMoveIsAScheduleWithoutSteps) {
  for (const AlgorithmInfo& info : algorithms()) {
    const Schedule s = built(info, shape(2, 0, 1, 0, info.alg == Alg::Kangaring ? 1 : 0));
    EXPECT_EQ(s.slices, 0u) << info.id;
    EXPECT_TRUE(verify(s)) << info.id;
  }
}

}  // namespace
}  // namespace sdmacc::test
