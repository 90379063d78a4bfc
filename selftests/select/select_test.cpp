// SPDX-License-Identifier: MIT
// select: the rule grammar with its errors, the built-in files, and choices with their reasons.
#include "daemon/select/select.hpp"

#include <gtest/gtest.h>

#include "libuapi/abi/generation.h"

namespace sdmacc {
namespace {

constexpr std::string_view kSmall = R"(sdmacc-rules 1
# comment
precedence mesh-t2 ring   # and another
prefer all_reduce mesh-t2 ranks 3..8 bytes ..1MiB
prefer all_reduce ring bytes 64KiB..
tune all_reduce ring channels 4 slice 128KiB window 1GiB
)";

TEST(Rules, Parse) {
  const auto rules = parse_rules("x.rules", kSmall);
  ASSERT_TRUE(rules) << rules.error().text();
  EXPECT_EQ(rules->precedence, (std::vector<std::string>{"mesh-t2", "ring"}));
  ASSERT_EQ(rules->prefer.size(), 2u);
  EXPECT_EQ(rules->prefer[0].ranks.low, 3u);
  EXPECT_EQ(rules->prefer[0].ranks.high, 8u);
  EXPECT_EQ(rules->prefer[0].bytes.low, 0u);
  EXPECT_EQ(rules->prefer[0].bytes.high, 1u << 20);
  EXPECT_EQ(rules->prefer[1].bytes.high, ~std::uint64_t{0});
  EXPECT_EQ(rules->where(rules->prefer[1]), "x.rules:5");
  EXPECT_EQ(rules->tune[0].channels, 4u);
  EXPECT_EQ(rules->tune[0].slice, 128u << 10);
  EXPECT_EQ(rules->tune[0].window, 1ull << 30);
}

TEST(Rules, Errors) {
  auto error = [](std::string text) {
    const auto rules = parse_rules("f", text);
    return rules ? std::string("none") : rules.error().context;
  };
  const std::string head = "sdmacc-rules 1\n";
  EXPECT_EQ(error(""), "f: no rules: the first line must be 'sdmacc-rules 1'");
  EXPECT_EQ(error("prefer all_reduce ring\n"), "f:1: the first line must be 'sdmacc-rules 1'");
  EXPECT_EQ(error("\nsdmacc-rules 2\n"), "f:2: version '2' is unknown, this is 1");
  EXPECT_EQ(error(head + "hope all_reduce ring\n"),
            "f:2: 'hope' is unknown; known are precedence, prefer, tune");
  EXPECT_EQ(error(head + "prefer all_reduce\n"),
            "f:2: 'prefer' takes a collective and an algorithm");
  EXPECT_EQ(error(head + "prefer sum ring\n"),
            "f:2: 'sum' is no collective; known are all_reduce, reduce_scatter, all_gather");
  EXPECT_EQ(error(head + "\n#\nprefer all_reduce ring bytes\n"), "f:4: 'bytes' has no value");
  EXPECT_EQ(error(head + "prefer all_reduce ring bytes 1KB\n"),
            "f:2: '1KB' has the unit 'KB'; known are KiB, MiB, GiB");
  EXPECT_EQ(error(head + "prefer all_reduce ring bytes x\n"),
            "f:2: 'x' has the unit 'x'; known are KiB, MiB, GiB");
  EXPECT_EQ(error(head + "prefer all_reduce ring bytes 99999999999999999999\n"),
            "f:2: '99999999999999999999' is no number");
  EXPECT_EQ(error(head + "prefer all_reduce ring bytes 18014398509481984KiB\n"),
            "f:2: '18014398509481984KiB' is no number");
  EXPECT_EQ(error(head + "prefer all_reduce ring ranks 8..2\n"), "f:2: band '8..2' is empty");
  EXPECT_EQ(error(head + "prefer all_reduce ring channels 2\n"),
            "f:2: 'prefer' does not take 'channels'");
  EXPECT_EQ(error(head + "tune all_reduce ring channels 33\n"),
            "f:2: channels 33: must be 1 to 32");
  EXPECT_EQ(error(head + "tune all_reduce ring slice 0\n"), "f:2: slice 0: must be at least 1");
  EXPECT_EQ(error(head + "precedence ring\nprecedence ring\n"), "f:3: a second precedence line");
}

World world_of(std::uint32_t ranks, std::uint32_t arch = 0x0c) {
  World w;
  w.arch = sdmacc_generation_by_arch(arch);
  w.policy.max_channels = 32;
  for (std::uint32_t r = 0; r < ranks; ++r) w.places.push_back({0, r % w.arch->cores, r});
  return w;
}

Operation operation(std::uint32_t ranks, std::uint64_t count, DType dtype = DType::Fp32) {
  Operation o;
  o.count = count;
  o.dtype = dtype;
  o.ranks.resize(ranks);
  return o;
}

std::string chosen(const Result<Choice>& choice) {
  if (!choice) return choice.error().text();
  return algorithm_id(
      {choice->alg, choice->mesh, choice->sub_type, choice->secondaries, true, true, {}});
}

// The bands of the published defaults, at each edge and beside it.
TEST(Select, NeuronPolicy) {
  const Rules rules = *builtin_rules("neuron");
  const std::uint64_t edge = 56ull << 20;
  for (const auto& [ranks, bytes, want] :
       std::vector<std::tuple<std::uint32_t, std::uint64_t, std::string>>{
           {1, 4, "ring"},
           {2, 4, "mesh-t0"},
           {2, 256ull << 20, "mesh-t0"},
           {2, (256ull << 20) + 4, "ring"},
           {3, 4, "mesh-t2"},
           {8, edge - 4, "mesh-t2"},
           {8, edge, "mesh-t2"},
           {8, edge + 4, "kangaring-1"},
           {16, edge + 4, "kangaring-3"},
           {7, edge + 4, "ring"},
           {4, edge + 4, "ring"}}) {
    EXPECT_EQ(chosen(select(operation(ranks, bytes / 4), world_of(ranks), rules)), want)
        << ranks << " ranks " << bytes << " bytes";
  }
}

TEST(Select, HostPolicy) {
  const Rules rules = *builtin_rules("host");
  const std::pair<std::uint32_t, const char*> cases[] = {{1, "ring"},    {2, "kangaring-1"},
                                                         {3, "mesh-t2"}, {4, "kangaring-3"},
                                                         {5, "mesh-t2"}, {16, "mesh-t2"}};
  for (const auto& [ranks, want] : cases)
    EXPECT_EQ(chosen(select(operation(ranks, 1000), world_of(ranks), rules)), want) << ranks;
}

TEST(Select, EveryCandidateHasAReason) {
  const auto choice = select(operation(7, 1000), world_of(7), *builtin_rules("host"));
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->candidates.size(), 6u);
  for (const Candidate& c : choice->candidates) {
    ASSERT_FALSE(c.verdicts.empty());
    for (const Verdict& v : c.verdicts) EXPECT_FALSE(v.reason.empty());
  }
  EXPECT_NE(to_string(*choice).find("kangaring.multiple-of-unit: 7 ranks are not a multiple of 2"),
            std::string::npos);
}

TEST(Select, ForceLiftsPreferencesOnly) {
  World w = world_of(8);
  w.policy.force_alg = Alg::Ring;
  EXPECT_EQ(chosen(select(operation(8, 10), w, *builtin_rules("host"))), "ring");
  w = world_of(7);
  w.policy.force_alg = Alg::Kangaring;
  EXPECT_EQ(
      chosen(select(operation(7, 10), w, *builtin_rules("host"))),
      "select: kangaring-1 is forced but impossible: rule kangaring.multiple-of-unit: 7 ranks are "
      "not a multiple of 2 (unsupported)");
  w.policy.force_alg = Alg::Mesh;
  w.policy.force_mesh = 0;
  EXPECT_EQ(chosen(select(operation(7, 10), w, *builtin_rules("host"))),
            "select: mesh-t0 is forced but impossible: rule mesh-t0.two-ranks: 7 ranks, must be 2 "
            "(unsupported)");
  w.policy.force_alg = Alg::InterRdh;
  w.policy.force_mesh.reset();
  EXPECT_EQ(chosen(select(operation(7, 10), w, *builtin_rules("host"))),
            "select: INTER_RDH is forced, and nothing here composes it (unsupported)");
}

TEST(Select, OrderRankAdmitsOneReduceInAscendingRank) {
  World w = world_of(8);
  w.policy.order_rank = true;
  w.policy.force_alg = Alg::Ring;
  EXPECT_NE(chosen(select(operation(8, 10), w, *builtin_rules("host"))).find("order.rank"),
            std::string::npos);
  w.policy.force_alg.reset();
  EXPECT_EQ(chosen(select(operation(8, 10), w, *builtin_rules("host"))), "mesh-t2");
}

TEST(Select, OtherCollectivesAreRefusedByName) {
  Operation o = operation(4, 10);
  o.collective = Collective::AllGather;
  EXPECT_EQ(chosen(select(o, world_of(4), *builtin_rules("host"))),
            "select: no algorithm for ALL_GATHER yet; ALL_REDUCE runs (unsupported)");
}

TEST(Select, TuningIsBoundedByTheOperation) {
  for (const std::uint64_t count : {1ull, 63ull, 64ull, 65537ull, 40ull << 20}) {
    const auto choice = select(operation(4, count), world_of(4), *builtin_rules("host"));
    ASSERT_TRUE(choice);
    EXPECT_GE(choice->channels, 1u);
    EXPECT_LE(choice->slice_elements, count);
    EXPECT_GE(choice->slice_elements, 1u);
    EXPECT_GE(choice->window_elements, choice->slice_elements);
  }
}

TEST(Select, UnknownPolicy) {
  const auto rules = builtin_rules("x");
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().text(),
            "select: policy 'x' is unknown; known are host, neuron (not found)");
}

}  // namespace
}  // namespace sdmacc
