// SPDX-License-Identifier: MIT
// explain, as text and JSON, against golden files: a preferred choice, a fallback, a force, and an
// algorithm that is impossible.
#include "daemon/observe/explain.hpp"

#include <gmock/gmock.h>

#include "daemon/cli/target.hpp"
#include "daemon/select/select.hpp"
#include "selftests/cli/golden.hpp"

namespace sdmacc {
namespace {

using test::expect_golden;
using testing::HasSubstr;

struct Case {
  const char* name;
  std::uint32_t ranks;
  std::uint64_t count;
  ReduceOp op = ReduceOp::Add;
  DType dtype = DType::Fp32;
  const char* alg = "";
};

class Explain : public testing::TestWithParam<Case> {
 protected:
  Explain() {
    cli::TargetOptions options;
    options.alg = GetParam().alg;
    const auto target = cli::make_target(options);
    EXPECT_TRUE(target) << target.error().text();
    auto world = cli::make_world(*target, GetParam().ranks);
    EXPECT_TRUE(world) << world.error().text();
    world_ = *world;
    operation_.op = GetParam().op;
    operation_.dtype = GetParam().dtype;
    operation_.count = GetParam().count;
    operation_.ranks.resize(GetParam().ranks);
    const auto choice = select(operation_, world_, test::test_rules());
    EXPECT_TRUE(choice) << choice.error().text();
    choice_ = *choice;
  }
  World world_;
  Operation operation_;
  Choice choice_;
};

TEST_P(Explain, Text) {
  expect_golden(std::string("explain-") + GetParam().name + ".txt",
                explain_text(operation_, world_, choice_));
}

TEST_P(Explain, Json) {
  expect_golden(std::string("explain-") + GetParam().name + ".json",
                explain_json(operation_, world_, choice_).dump(2) + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Explain,
    testing::Values(Case{"preferred", 4, 1000},
                    Case{"large", 4, 1 << 20, ReduceOp::Max, DType::Bf16},
                    Case{"odd", 7, 1 << 24, ReduceOp::Fma}, Case{"nothing", 2, 0},
                    Case{"forced", 3, 65536, ReduceOp::Add, DType::Fp8e4, "ring"}),
    [](const auto& case_info) { return case_info.param.name; });

TEST(LegsLine, HasTheRuntimesWords) {
  Legs legs;
  legs.intra_redsct = Alg::Ring;
  legs.inter_allr = Alg::Mesh;
  EXPECT_EQ(legs_line(3, legs),
            "[nec_dev 3] Hier algorithm selections - alg_intra_allg 11 alg_intra_redsct 0 "
            "alg_inter_allr 2 alg_inter_allg 11 "
            "alg_inter_redsct 11");
}

TEST(Force, OfTheImpossibleNamesTheRule) {
  cli::TargetOptions options;
  options.alg = "kangaring";
  const auto target = cli::make_target(options);
  const auto world = cli::make_world(*target, 7);
  Operation operation;
  operation.count = 8;
  operation.ranks.resize(7);
  const auto choice = select(operation, *world, test::test_rules());
  ASSERT_FALSE(choice);
  EXPECT_THAT(choice.error().context, HasSubstr("kangaring.multiple-of-unit"));
}

}  // namespace
}  // namespace sdmacc
