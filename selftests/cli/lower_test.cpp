// SPDX-License-Identifier: MIT
// `sdmacc lower` on a word of a shipped program (FP32 ADD all-reduce of 32 elements from tensor 3
// to tensor 4), stage by stage against golden files; and the worlds it lowers for.
#include "daemon/cli/lower.hpp"

#include <gmock/gmock.h>

#include <cstring>

#include "daemon/cli/command.hpp"
#include "libuapi/abi/isa.h"
#include "selftests/cli/golden.hpp"

namespace sdmacc::cli {
namespace {

using test::expect_golden;
using testing::HasSubstr;

std::string real_word() {
  std::string word = {'\xc8', 0x10, 0, 0, 4, 0x0a, 0x13, 0x16, 0, 0, 0, 0, 4, 0x0a, 0, 0, 3,
                      0,      0,    0, 4, 0, 0,    0,    0x20, 0, 0, 0, 0, 0, 0,    0, 1};
  word.resize(64);
  return word;
}

// The word that triggers the input queue before it.
std::string dma_word() {
  std::string word = {'\xc1', 0x10};
  word.resize(64);
  return word;
}

std::string with_count(std::uint64_t count) {
  std::string word = real_word();
  std::memcpy(word.data() + offsetof(sdmacc_isa_c8, num_elements), &count, sizeof count);
  return word;
}

LowerWorld world_of(std::uint32_t ranks) {
  auto world = derived_world({}, ranks);
  EXPECT_TRUE(world) << world.error().text();
  world->rules = test::test_rules();
  return *world;
}

std::string lowered(const std::string& words, StopAfter stage, std::uint32_t ranks = 2,
                    const std::vector<float>& scales = {}) {
  const auto text = lower_text(words, world_of(ranks), stage, scales);
  return text ? *text : text.error().text();
}

struct Stage {
  const char* name;
  StopAfter stop;
};
class LowerGolden : public testing::TestWithParam<Stage> {};

TEST_P(LowerGolden, RealWordOnTwoRanks) {
  expect_golden(std::string("lower-c8-") + GetParam().name + ".txt",
                lowered(dma_word() + real_word(), GetParam().stop));
}

INSTANTIATE_TEST_SUITE_P(Stages, LowerGolden,
                         testing::Values(Stage{"decode", StopAfter::Decode},
                                         Stage{"match", StopAfter::Match},
                                         Stage{"select", StopAfter::Select},
                                         Stage{"compose", StopAfter::Compose},
                                         Stage{"emit", StopAfter::Emit}),
                         [](const auto& case_info) { return case_info.param.name; });

TEST(Lower, NoElementsAreSaidInWords) {
  EXPECT_THAT(lowered(with_count(0), StopAfter::Match), HasSubstr("0 elements"));
  for (const StopAfter stage : {StopAfter::Select, StopAfter::Compose, StopAfter::Emit})
    EXPECT_THAT(lowered(with_count(0), stage), HasSubstr("nothing moves and no program is made"))
        << static_cast<int>(stage);
}

TEST(Lower, ALargeOperationIsCutIntoWindows) {
  // 512 KiB a window by the rules: two whole ones and a rest of 7 elements.
  const std::string text = lowered(with_count((1 << 18) + 7), StopAfter::Select, 1);
  EXPECT_THAT(text, HasSubstr("choice ring"));
  const std::string schedule = lowered(with_count((1 << 18) + 7), StopAfter::Compose, 1);
  EXPECT_THAT(schedule, HasSubstr("2 windows of 131072 elements, each:"));
  EXPECT_THAT(schedule, HasSubstr("and a last one of 7 elements:"));
}

TEST(Lower, ScalesMakeAnFma) {
  const std::string text = lowered(real_word(), StopAfter::Match, 2, {0.5f, 0.25f});
  EXPECT_THAT(text, HasSubstr("FMA"));
  EXPECT_THAT(text, HasSubstr("scale 0.25"));
  EXPECT_THAT(lowered(real_word(), StopAfter::Match, 2, {1}), HasSubstr("1 factors for 2 ranks"));
}

TEST(Lower, ErrorsNameTheWord) {
  std::string bad = real_word();
  bad[40] = 1;  // reserved
  EXPECT_THAT(lowered(dma_word() + bad, StopAfter::Decode), HasSubstr("word 1"));
  EXPECT_THAT(lowered(real_word().substr(1), StopAfter::Decode),
              HasSubstr("63 bytes are no whole number"));
  std::string extension(64, '\0');
  extension[0] = '\xda';
  EXPECT_THAT(lowered(extension, StopAfter::Decode), HasSubstr("word 0"));
}

TEST(Lower, OperationsOfAGroupAreNumbered) {
  const std::string text = lowered(real_word() + dma_word() + real_word(), StopAfter::Match);
  EXPECT_THAT(text, HasSubstr("operation 0 "));
  EXPECT_THAT(text, HasSubstr("word 1 0xc1 DMA_TRIGGER: kept"));
  EXPECT_THAT(text, HasSubstr("operation 1 "));
}

std::string world_error(const char* json) {
  const auto world = read_world({}, "w.json", json);
  return world ? "no error" : world.error().context;
}

TEST(World, FileSaysTensorsAndPlaces) {
  const auto world =
      read_world({}, "w.json", R"({"version": 1, "ranks": 2, "arch": "sunda", "group": 0,
    "places": [{"device": 0, "core": 1, "topsp": 4}, {"core": 0, "topsp": 1}],
    "tensors": [{"id": 3, "bytes": 128}, {"id": 4, "bytes": 128, "memory": 7, "offset": 4, "writable": false}],
    "policy": {"name": "neuron", "engines": 2, "slice_bytes": 4096, "order_rank": true}})");
  ASSERT_TRUE(world) << world.error().text();
  EXPECT_EQ(world->world.places[0], (Place{0, 1, 4}));
  EXPECT_EQ(world->world.policy.name, "neuron");
  EXPECT_EQ(world->world.policy.engines, 2u);
  EXPECT_TRUE(world->world.policy.order_rank);
  EXPECT_EQ(world->names.tensor(3)->bytes, 128u);
  EXPECT_NE(world->names.tensor(3)->memory, 7u);
  EXPECT_EQ(world->names.tensor(4)->memory, 7u);
  EXPECT_FALSE(world->names.tensor(5));
  EXPECT_FALSE(world->names.group_size(1));
  EXPECT_EQ(world->names.group_size(0), 2u);
  const auto text = lower_text(real_word(), *world, StopAfter::Decode);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().text(), HasSubstr("read-only"));
}

TEST(World, ErrorsNameTheKey) {
  EXPECT_EQ(world_error(R"({"version": 1, "ranks": 2})"), "no error");
  EXPECT_THAT(world_error("{"), HasSubstr("not JSON"));
  EXPECT_THAT(world_error("[]"), HasSubstr("no object"));
  EXPECT_THAT(world_error(R"({"ranks": 2})"), HasSubstr("version is 0"));
  EXPECT_THAT(world_error(R"({"version": 1, "ranks": -2})"), HasSubstr("ranks is -2"));
  EXPECT_THAT(world_error(R"({"version": 1, "ranks": 17})"), HasSubstr("17 ranks"));
  EXPECT_THAT(world_error(R"({"version": 1, "ranks": 2, "rank": 1})"), HasSubstr("rank is no key"));
  EXPECT_THAT(world_error(R"({"version": 1, "ranks": 2, "places": [{}]})"),
              HasSubstr("places are 1"));
  EXPECT_THAT(world_error(R"({"version": 1, "ranks": 1, "places": [{"core": 8}]})"),
              HasSubstr("places[0].core is 8"));
  EXPECT_THAT(world_error(R"({"version": 1, "ranks": 2, "tensors": [{"id": 1, "bytes": "x"}]})"),
              HasSubstr("tensors[0].bytes is \"x\""));
  EXPECT_THAT(world_error(R"({"version": 1, "ranks": 2, "policy": {"slices": 1}})"),
              HasSubstr("policy.slices is no key"));
  EXPECT_THAT(world_error(R"({"version": 1, "ranks": 2, "arch": "mars"})"),
              HasSubstr("mars is no generation"));
}

}  // namespace
}  // namespace sdmacc::cli
