// SPDX-License-Identifier: MIT
// The words of the verifier: what a fault's text says, and each way in which a Schedule is no
// Schedule.
#include <gmock/gmock.h>

#include <functional>

#include "daemon/compose/verify.hpp"
#include "selftests/compose/shapes.hpp"

namespace sdmacc::test {
namespace {

Schedule three_rank_mesh() {
  return built(algorithm_by_id("mesh-t2"), shape(3, 96));
}

// The texts say it whole.
TEST(ComposeFaultTexts, TextsNameStepsSignalsAndRanks) {
  Schedule s = three_rank_mesh();
  s.lanes[1].steps[2].src.erase(s.lanes[1].steps[2].src.begin() + 2);
  EXPECT_EQ(find_fault(s)->text, "r0.out[32+32] holds a sum without the input of r2");
  s = three_rank_mesh();
  s.lanes[1].steps[2].src.push_back(s.lanes[1].steps[2].src[0]);
  EXPECT_EQ(find_fault(s)->text, "r0.out[32+32] holds a sum more than once that of r0");
  s = three_rank_mesh();
  s.lanes[2].steps[3].posts.erase(s.lanes[2].steps[3].posts.begin());
  EXPECT_EQ(find_fault(s)->text,
            "r0 c0 step 4 (SYNC) waits for r0.Z (has 2, needs 3), and no step that could still run "
            "posts it");
  s = three_rank_mesh();
  std::erase_if(s.lanes[1].steps[3].waits, [](const Wait&) { return true; });
  std::erase_if(s.lanes[1].steps[2].posts, [](const Post&) { return true; });
  EXPECT_EQ(
      find_fault(s)->text,
      "r1 c0 step 3 (REDUCE_WRITE) reads r1.out[32+32] while r1 c0 step 2 (REDUCE_COPY) may still "
      "write it: no signal orders them");
  s = three_rank_mesh();
  s.lanes[1].steps[4].posts.push_back({0, 2});
  EXPECT_EQ(find_fault(s)->text, "r0.A ends at 2: posted 4 times, waited for 2 times");
  s = three_rank_mesh();
  s.lanes[0].steps[3].src[0] = {0, Space::Out, 0, 64, 32};
  EXPECT_EQ(find_fault(s)->kind, FaultKind::Race);
  s = three_rank_mesh();
  for (Range& range : s.lanes[0].steps[2].src) range.first = 32;
  s.lanes[0].steps[2].dst[0].first = 0;
  EXPECT_EQ(find_fault(s)->text, "r0.out[0+32] holds the result of the elements from 32");
  s = three_rank_mesh();
  s.lanes[0].steps[2].src[1].first = 33;
  EXPECT_EQ(find_fault(s)->text,
            "r0 c0 step 2 (REDUCE_COPY) adds r0.in[0+31] and r1.in[33+31], which hold different "
            "elements, "
            "from 0 and 33");
  const auto result = verify(s);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().stage, Stage::Compose);
  EXPECT_THAT(result.error().context,
              ::testing::StartsWith("MESH schedule, out of place: wrong result: r0"));
}

struct MalformedCase {
  const char* text;
  std::function<void(Schedule&)> change;
};

TEST(ComposeFaultTexts, MalformedSchedules) {
  const std::vector<MalformedCase> cases = {
      {"ALL_GATHER has no meaning to check here, only ALL_REDUCE has",
       [](Schedule& s) { s.collective = Collective::AllGather; }},
      {"0 ranks", [](Schedule& s) { s.ranks = 0; }},
      {"64 elements in and 96 out for 96", [](Schedule& s) { s.in_elements = 64; }},
      {"1 scales for ADD of 3 ranks", [](Schedule& s) { s.scales = {1}; }},
      {"signal 0 (A) is of r3 c0, outside 3 ranks and 1 channels",
       [](Schedule& s) { s.signals[0].owner = 3; }},
      {"lane r3 c0: outside 3 ranks and 1 channels", [](Schedule& s) { s.lanes[0].rank = 3; }},
      {"lane r0 c0: there is another one", [](Schedule& s) { s.lanes[1].rank = 0; }},
      {"r0 c0 step 0 (LOCAL_HNDSHK): joined to nothing",
       [](Schedule& s) { s.lanes[0].steps[0].joined = true; }},
      {"r0 c0 step 1 (GLOBAL_HNDSHK): joined, but waits for a signal",
       [](Schedule& s) {
         s.lanes[0].steps[0].posts.clear();
         s.lanes[0].steps[1].joined = true;
       }},
      {"r0 c0 step 2 (REDUCE_COPY): posts, but the next step is of the same group",
       [](Schedule& s) {
         s.lanes[0].steps[3].joined = true;
         s.lanes[0].steps[3].waits.clear();
       }},
      {"r0 c0 step 1 (GLOBAL_HNDSHK): waits for signal 9 of 9",
       [](Schedule& s) { s.lanes[0].steps[1].waits[0].signal = 9; }},
      {"r0 c0 step 1 (GLOBAL_HNDSHK): empty wait for r0.A",
       [](Schedule& s) { s.lanes[0].steps[1].waits[0].count = 0; }},
      {"r0 c0 step 1 (GLOBAL_HNDSHK): waits for r1.A, which is another rank's",
       [](Schedule& s) { s.lanes[0].steps[1].waits[0].signal = 3; }},
      {"r0 c0 step 1 (GLOBAL_HNDSHK): waits for r0.A twice",
       [](Schedule& s) {
         s.lanes[0].steps[1].waits.push_back({0, 1});
       }},
      {"r0 c0 step 0 (LOCAL_HNDSHK): posts signal 77 of 9",
       [](Schedule& s) { s.lanes[0].steps[0].posts[0].signal = 77; }},
      {"r0 c0 step 0 (LOCAL_HNDSHK): empty post of r1.A",
       [](Schedule& s) { s.lanes[0].steps[0].posts[0].count = 0; }},
      {"r0 c0 step 2 (REDUCE_COPY): 0 sources and 1 destinations",
       [](Schedule& s) { s.lanes[0].steps[2].src.clear(); }},
      {"r0 c0 step 2 (REDUCE_COPY): 3 sources and 1 destinations",
       [](Schedule& s) { s.lanes[0].steps[2].kind = Kind::Copy; }},
      {"r0 c0 step 2 (REDUCE_COPY): 3 sources and 1 destinations",
       [](Schedule& s) { s.lanes[0].steps[2].kind = Kind::Sync; }},
      {"r0 c0 step 2 (REDUCE_COPY): r3.in[0+32] of 3 ranks",
       [](Schedule& s) { s.lanes[0].steps[2].src[1].rank = 3; }},
      {"r0 c0 step 2 (REDUCE_COPY): r1.tmp0[0+32] of 0 TMPs",
       [](Schedule& s) { s.lanes[0].steps[2].src[1].space = Space::Tmp; }},
      {"r0 c0 step 2 (REDUCE_COPY): r1.in[80+32] is outside its 96 elements",
       [](Schedule& s) { s.lanes[0].steps[2].src[1].first = 80; }},
      {"r0 c0 step 2 (REDUCE_COPY): r1.in[18446744073709551615+32] is outside its 96 elements",
       [](Schedule& s) { s.lanes[0].steps[2].src[1].first = ~0ull; }},
      {"r0 c0 step 2 (REDUCE_COPY): r1.in[0+31] beside a range of 32",
       [](Schedule& s) { s.lanes[0].steps[2].src[1].count = 31; }},
      {"r0 c0 step 3 (REDUCE_WRITE): writes r1.out[0+32] and r1.out[0+32]",
       [](Schedule& s) { s.lanes[0].steps[3].dst[1].rank = 1; }},
      {"r0 c0 step 3 (REDUCE_WRITE): reads r0.out[0+32] and writes r0.out[1+32], shifted",
       [](Schedule& s) {
         s.lanes[0].steps[3].dst[0] = {0, Space::Out, 0, 1, 32};
       }},
  };
  for (const MalformedCase& c : cases) {
    Schedule s = three_rank_mesh();
    c.change(s);
    const auto fault = find_fault(s);
    ASSERT_TRUE(fault) << c.text;
    EXPECT_EQ(fault->kind, FaultKind::Malformed);
    EXPECT_EQ(fault->text, c.text);
  }
  // Two channels of one rank.
  Schedule s = built(algorithm_by_id("ring"), shape(2, 64, 2));
  s.lanes[1].steps[1].waits[0].signal = s.lanes[0].steps[1].waits[0].signal;
  EXPECT_EQ(find_fault(s)->text,
            "r0 c1 step 1 (send): waits for r0.c0.credit, and so does channel 0");
}

TEST(ComposeFaultTexts, OverlapThatOnlyInPlaceHas) {
  Schedule s = built(algorithm_by_id("mesh-t0"), shape(2, 64));
  Step& step = s.lanes[0].steps[1];
  for (Range& range : step.dst) range.first = 1;
  EXPECT_EQ(find_fault(s, {false, 2})->kind, FaultKind::Race) << "with the other half";
  EXPECT_EQ(find_fault(s, {true, 2})->text,
            "r0 c0 step 1 (REDUCE_COPY): reads r0.in[0+32] and writes r0.out[1+32], shifted");
}

}  // namespace
}  // namespace sdmacc::test
