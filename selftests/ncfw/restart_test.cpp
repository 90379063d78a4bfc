// SPDX-License-Identifier: MIT
// The sequencer destroyed and started from memory, before any of a run's actions and before all of
// them: each TOP_SP then does the same stores and signals in the same order as when nothing
// disturbs it.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "selftests/ncfw/support.hpp"

namespace sdmacc::ncfw {
namespace {

// By TOP_SP and address, so that the order among the channels of one TOP_SP does not matter.
using Traces = std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Action>>;

struct Outcome {
  std::string trouble;
  std::size_t actions = 0;
  Traces by_address;
  std::vector<std::vector<Action>> by_topsp;
};

void restart_all(World& world) {
  for (std::uint32_t i = 0; i < world.topsps.size(); ++i) world.restart(i);
}

// One run of a world that `disturb` is in charge of from the trigger on.
template <typename Shape, typename Disturb>
Outcome run(const Shape& shape, std::uint32_t topsps, const Options& options, Disturb disturb) {
  World world(cayman(), topsps, options);
  Outcome outcome;
  shape.set_up(world);
  world.trigger(0);
  disturb(world);
  outcome.actions = world.run();
  outcome.trouble = trouble(world, 1);
  for (std::uint32_t i = 0; i < topsps; ++i) {
    outcome.by_topsp.push_back(world.topsps[i].trace);
    for (const Action& action : world.topsps[i].trace)
      outcome.by_address[{i, action.address}].push_back(action);
  }
  return outcome;
}

// `sequential`: one coroutine at a time does something on each TOP_SP, so the whole order must be
// the same.
template <typename Shape>
void expect_same_at_every_point(const Shape& shape, std::uint32_t topsps, bool sequential) {
  for (const Options& options : orders(0)) {
    const Outcome whole = run(shape, topsps, options, [](World&) {});
    ASSERT_EQ(whole.trouble, "");
    ASSERT_GT(whole.actions, 3u);
    const auto expect_same = [&](const Outcome& outcome) {
      ASSERT_EQ(outcome.trouble, "");
      ASSERT_EQ(outcome.by_address, whole.by_address);
      if (sequential) {
        ASSERT_EQ(outcome.by_topsp, whole.by_topsp);
      }
    };
    for (std::size_t at = 0; at <= whole.actions; ++at) {
      SCOPED_TRACE("restart after action " + std::to_string(at) + " of " +
                   std::to_string(whole.actions));
      expect_same(run(shape, topsps, options, [at](World& world) {
        world.run(at);
        restart_all(world);
      }));
      if (testing::Test::HasFatalFailure()) return;
    }
    // Often enough that most coroutines live for one wait.
    for (const std::size_t stride : {10u, 13u}) {
      SCOPED_TRACE("restart every " + std::to_string(stride * topsps) + " actions");
      expect_same(run(shape, topsps, options, [&](World& world) {
        for (std::size_t done = 0; done < 100'000 && world.run(stride * topsps) == stride * topsps;
             ++done)
          restart_all(world);
      }));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Restart, Ring) {
  Ring ring;
  ring.units = 2;
  ring.steps = 5;
  ring.ends = 2;
  ring.window_words = 2;
  expect_same_at_every_point(ring, 2, true);
}

TEST(Restart, RingOfTwoChannelsAndEntries) {
  Ring ring;
  ring.units = 2;
  ring.channels = 2;
  ring.steps = 4;
  ring.entries = 2;
  ring.idle_tail = true;
  expect_same_at_every_point(ring, 2, false);
}

TEST(Restart, Kangaring) {
  Ring ring;
  ring.units = 2;
  ring.secondaries = 1;
  ring.steps = 3;
  expect_same_at_every_point(ring, 4, true);
}

TEST(Restart, Mesh) {
  Mesh mesh;
  mesh.ranks = 2;
  mesh.slices = 5;
  mesh.broadcasts = 2;
  mesh.window_words = 3;
  expect_same_at_every_point(mesh, 2, true);
}

TEST(Restart, MeshInTheMidstOfARepeat) {
  Mesh mesh;
  mesh.ranks = 3;
  mesh.slices = 4;
  mesh.repeat = true;
  mesh.shift = 8;
  mesh.mask = 0xff;
  expect_same_at_every_point(mesh, 3, true);
}

// A port that forgot what released waits had consumed would lose it: the rule in port.hpp is
// needed.
TEST(Restart, NeedsWhatReleasedWaitsConsumed) {
  Ring ring;
  ring.units = 2;
  ring.steps = 4;
  Options options;
  options.always_park = true;
  const Outcome whole = run(ring, 2, options, [](World&) {});
  ASSERT_EQ(whole.trouble, "");
  options.give_back = false;
  std::size_t lost = 0;
  for (std::size_t at = 0; at <= whole.actions; ++at)
    lost += !run(ring, 2, options, [at](World& world) {
               world.run(at);
               restart_all(world);
             }).trouble.empty();
  EXPECT_GT(lost, whole.actions / 2);
}

// suspend() leaves the memory as it is, and nothing is resumed before restart().
TEST(Restart, SuspendTouchesNothing) {
  Ring ring;
  ring.units = 2;
  World world(cayman(), 2);
  ring.set_up(world);
  world.run();
  world.topsps[1].firmware->suspend();
  world.trigger(0);
  world.run();
  EXPECT_EQ(world.progress(0).state, SDMACC_NCFW_ENTRY);
  const sdmacc_ring_ctx before = world.ring_ctx(0, 0);
  world.topsps[0].firmware->suspend();
  world.topsps[0].firmware->suspend();
  const sdmacc_ring_ctx after = world.ring_ctx(0, 0);
  EXPECT_EQ(std::memcmp(&before, &after, sizeof before), 0);
  EXPECT_EQ(before.run_state, SDMACC_RING_WAIT_CREDIT);
  EXPECT_EQ(world.run(), 0u);
  world.topsps[0].firmware->restart();
  world.topsps[1].firmware->restart();
  world.run();
  EXPECT_EQ(trouble(world, 1), "");
}

TEST(Restart, OfMemoryThatWasNeverBooted) {
  World world(cayman(), 1);
  world.topsps[0].firmware->restart();
  ASSERT_EQ(world.topsps[0].failures.size(), 1u);
  EXPECT_EQ(world.topsps[0].failures[0].code, Code::BadConfig);
  EXPECT_EQ(world.progress(0).state, SDMACC_NCFW_ERROR);
  EXPECT_EQ(world.run(), 0u);
}

}  // namespace
}  // namespace sdmacc::ncfw
