// SPDX-License-Identifier: MIT
// The ring handler over whole rings: it ends, in every order of events, with every semaphore at its
// start value, run after run.
#include <gtest/gtest.h>

#include "selftests/ncfw/support.hpp"

namespace sdmacc::ncfw {
namespace {

std::string run_three_times(const Ring& ring, const Options& options,
                            const sdmacc_generation& arch = cayman()) {
  World world(arch, ring.ranks(), options);
  return run_times(world, ring, 3);
}

TEST(Ring, EndsCleanInEveryOrder) {
  for (const std::uint32_t units : {1u, 2u, 3u, 4u})
    for (const std::uint32_t steps : {2u, 3u, 7u})
      for (const bool idle_tail : {false, true})
        for (const Options& order : orders()) {
          Ring ring;
          ring.units = units;
          ring.channels = 2;
          ring.steps = steps;
          ring.idle_tail = idle_tail;
          EXPECT_EQ(run_three_times(ring, order), "") << units << " units, " << steps << " steps";
        }
}

TEST(Ring, KangaringEndsCleanInEveryOrder) {
  for (const std::uint32_t secondaries : {1u, 3u})
    for (const std::uint32_t units : {1u, 2u, 3u})
      for (const Options& order : orders()) {
        Ring ring;
        ring.units = units;
        ring.secondaries = secondaries;
        ring.channels = 1 + secondaries;  // each member is a primary once
        EXPECT_EQ(run_three_times(ring, order), "")
            << units << " units, " << secondaries << " secondaries";
      }
}

TEST(Ring, EntriesChannelsEnginesAndEndWords) {
  for (const std::uint32_t entries : {1u, 2u, 5u})
    for (const std::uint32_t channels : {1u, 3u})
      for (const std::uint32_t engines : {1u, 16u})
        for (const std::uint32_t ends : {1u, 4u}) {
          Ring ring;
          ring.entries = entries;
          ring.channels = channels;
          ring.engines = engines;
          ring.ends = ends;
          EXPECT_EQ(run_three_times(ring, {}), "")
              << entries << " entries, " << channels << " channels, " << engines << " engines, "
              << ends << " END";
        }
}

TEST(Ring, AllChannels) {
  Ring ring;
  ring.channels = SDMACC_RING_CHANNELS;
  ring.engines = 1;
  EXPECT_EQ(run_three_times(ring, {}), "");
}

TEST(Ring, ListsOfManyWindows) {
  for (const std::uint32_t window_words : {1u, 2u, 5u, 126u})
    for (const bool repeat : {false, true})
      for (const std::uint32_t entries : {1u, 2u}) {
        Ring ring;
        ring.channels = 2;
        ring.steps = 300;
        ring.entries = entries;
        ring.ends = 2;
        ring.window_words = window_words;
        ring.repeat = repeat;
        Options options;
        options.deferred = true;
        options.seed = 1;
        EXPECT_EQ(run_three_times(ring, options), "")
            << window_words << " words a window, repeat " << repeat;
      }
}

TEST(Ring, EveryGeneration) {
  for (std::uint32_t i = 0; i < SDMACC_GENERATIONS; ++i) {
    Ring ring;
    ring.units = 3;
    EXPECT_EQ(run_three_times(ring, {}, *sdmacc_generation_at(i)), "")
        << sdmacc_generation_at(i)->name;
  }
}

TEST(Ring, WithoutASpanOfTheRam) {
  Ring ring;
  ring.units = 2;
  ring.secondaries = 1;
  ring.channels = 2;
  ring.window_words = 2;
  Options options;
  options.own_span = false;
  EXPECT_EQ(run_three_times(ring, options), "");
}

// Counters of a channel longer than 2^16 wrap, and nothing depends on them.
TEST(Ring, CountersWrap) {
  Ring ring;
  ring.units = 1;
  ring.engines = 1;
  ring.steps = 70'000;
  World world(cayman(), 1);
  EXPECT_EQ(run_times(world, ring, 1), "");
  const sdmacc_ring_ctx ctx = world.ring_ctx(0, 0);
  EXPECT_EQ(ctx.run_state, SDMACC_RING_DONE);
  EXPECT_EQ(ctx.recv_cnt, 70'000 - 65'536);
  EXPECT_EQ(ctx.send_credit, 4 + 70'000 - 2 - 65'536);
  EXPECT_EQ(ctx.step, 3);
}

// One rank's stores and signals, word for word: mask and re-arm (S2M first), the trigger passed on,
// two receives that do not come, four credits, S2M before M2S, a credit after each completion from
// step 2 on, END, chain.
TEST(Ring, ExactOrderOfStores) {
  Ring ring;
  ring.units = 2;
  ring.steps = 4;
  ring.repeat = false;
  World world(cayman(), 2);
  ASSERT_EQ(run_times(world, ring, 1), "");
  const std::uint64_t m2s = Ring::page(world, 0, 0), s2m = m2s + SDMACC_S2M_OFFSET;
  const auto store = [](std::uint64_t address, std::uint64_t value) {
    return Action{Action::Kind::Store, address, value};
  };
  const auto signal = [&](std::uint32_t topsp, std::uint32_t id, std::uint64_t amount) {
    return Action{Action::Kind::Signal, world.sem(topsp, id), amount};
  };
  const std::vector<Action> first = {
      store(m2s + 0xf0, 0xfffc0100),
      store(s2m + 0x64, 0x100),
      store(m2s + 0xb0, 0x100),
      signal(1, 0, 1),  // trigger_next
      signal(0, 8, 4),  // recv: two steps of two engines
      signal(1, 9, 4),  // credits
      store(s2m + 0x38, 4),
      store(m2s + 0x38, 3),
      store(s2m + 0x38, 4),
      store(m2s + 0x38, 3),
      store(s2m + 0x38, 4),
      store(m2s + 0x38, 3),
      signal(1, 9, 1),  // step 2 is complete
      store(s2m + 0x38, 5),
      store(m2s + 0x38, 4),
      signal(1, 9, 1),
      signal(0, kLocalDone, 1),
      signal(1, 1, 1),  // complete
  };
  EXPECT_EQ(world.topsps[0].trace, first);
  ASSERT_FALSE(world.topsps[1].trace.empty());
  EXPECT_EQ(world.topsps[1].trace.back(), (Action{Action::Kind::Status, 0, 1}));
}

// A secondary fires nothing and re-arms nothing.
TEST(Ring, ExactOrderOfASecondary) {
  Ring ring;
  ring.units = 1;
  ring.secondaries = 1;
  World world(cayman(), 2);
  ASSERT_EQ(run_times(world, ring, 1), "");
  const std::vector<Action> secondary = {
      {Action::Kind::Signal, world.sem(0, 11), 1},  // the primary's mine
      {Action::Kind::Signal, world.sem(1, kLocalDone), 1},
      {Action::Kind::Status, 0, 1},
  };
  EXPECT_EQ(world.topsps[1].trace, secondary);
  const auto& primary = world.topsps[0].trace;
  ASSERT_GE(primary.size(), 3u);
  EXPECT_EQ(primary[primary.size() - 3],
            (Action{Action::Kind::Signal, world.sem(0, kLocalDone), 1}));
  EXPECT_EQ(primary[primary.size() - 2], (Action{Action::Kind::Signal, world.sem(1, 11), 1}));
}

}  // namespace
}  // namespace sdmacc::ncfw
