// SPDX-License-Identifier: MIT
// A run around its handlers: image, NOP entries, chain, status, stop, dispatch.
#include <gtest/gtest.h>

#include <cstring>

#include "selftests/ncfw/support.hpp"

namespace sdmacc::ncfw {
namespace {

Ring small(std::uint32_t units) {
  Ring ring;
  ring.units = units;
  ring.steps = 4;
  return ring;
}

TEST(Run, NothingBeforeTheTrigger) {
  World world(cayman(), 3);
  small(3).set_up(world);
  world.run();
  for (const auto& topsp : world.topsps) EXPECT_TRUE(topsp.trace.empty());
}

TEST(Run, ChainOfThreeReportsOnceAtTheEnd) {
  World world(cayman(), 3);
  std::string at_status;
  world.on_status = [&] {
    at_status = world.residue();
    for (std::uint32_t i = 0; i < 2; ++i) EXPECT_EQ(world.progress(i).state, SDMACC_NCFW_IDLE);
  };
  EXPECT_EQ(run_times(world, small(3), 1), "");
  EXPECT_EQ(at_status, "");
}

// The host may trigger the next run as soon as it sees the status.
TEST(Run, NextTriggerFromInsideTheStatus) {
  for (const Options& order : orders()) {
    World world(cayman(), 3, order);
    std::uint32_t more = 9;
    world.on_status = [&] {
      if (more-- != 0) world.trigger(0);
    };
    small(3).set_up(world);
    world.trigger(0);
    world.run();
    EXPECT_EQ(trouble(world, 10), "");
  }
}

TEST(Run, NopEntries) {
  const Ring ring = small(2);
  World world(cayman(), 2);
  world.boot();
  ring.add_queues(world);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    Program program = ring.program(world, rank);
    program.ctrl = {ctrl_nop(), ctrl_ring(SDMACC_ALG_RING, 1), ctrl_nop()};
    chain(program, world, rank, 2);
    place(world, rank, program);
  }
  world.trigger(0);
  world.run();
  EXPECT_EQ(trouble(world, 1), "");
}

TEST(Run, OnlyANop) {
  World world(cayman(), 1);
  world.boot();
  Program program;
  program.ctrl = {ctrl_nop()};
  chain(program, world, 0, 1);
  place(world, 0, program);
  world.trigger(0);
  world.run();
  EXPECT_EQ(trouble(world, 1), "");
  EXPECT_EQ(world.topsps[0].trace.size(), 1u);  // the status
}

// A ring entry and mesh entries in one program, with separate lists and queues.
TEST(Run, RingThenMesh) {
  Ring ring = small(1);
  Mesh mesh;
  mesh.ranks = 1;
  mesh.slices = 2;
  World world(cayman(), 1);
  world.boot();
  Program program = ring.program(world, 0);
  Program second = mesh.program(world, 0);
  program.lists[0] = second.lists[0];
  program.events = second.events;
  program.events[1].bcast[0].m2s_tail.lo += 0x5000;
  program.events[1].bcast[0].s2m_tail.lo += 0x5000;
  program.ctrl = {ctrl_mesh(0, 0xff), ctrl_ring(SDMACC_ALG_RING, 1), ctrl_mesh(0, 0xff)};
  chain(program, world, 0, 1);
  ring.add_queues(world);
  for (const std::uint32_t counts : {4u, 5u})
    world.queues[Ring::page(world, 0, 0) + 0x5000].steps.push_back(
        {counts, counts + 1, {{world.sem(0, 21), mesh.engines}}});
  place(world, 0, program);
  for (std::uint32_t run = 1; run <= 3; ++run) {
    world.trigger(0);
    world.run();
    ASSERT_EQ(trouble(world, run), "");
  }
}

TEST(Run, LoadsTheImageOnlyWhenItIsNotCurrent) {
  World world(cayman(), 1);
  EXPECT_EQ(run_times(world, small(1), 1), "");
  const std::uint64_t image = world.progress(0).image;
  ASSERT_EQ(image, kMemoryBase + 64);
  const std::uint32_t magic = 0;
  std::memcpy(world.memory.data() + 64, &magic, 4);
  world.trigger(0);
  world.run();
  EXPECT_EQ(trouble(world, 2), "");
  world.configure(0, image);  // the same address: another Program may be there
  world.trigger(0);
  world.run();
  ASSERT_EQ(world.topsps[0].failures.size(), 1u);
  EXPECT_EQ(world.topsps[0].failures[0].code, Code::BadImage);
}

// Two images in turn, the second with lists of many windows, which must not be what the first finds
// in SLOT.
TEST(Run, ImageSwitch) {
  const Ring one = small(2);
  Ring two = small(2);
  two.steps = 40;
  two.window_words = 3;
  two.repeat = false;
  World world(cayman(), 2);
  world.boot();
  std::uint64_t images[2][2];
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    images[0][rank] = place(world, rank, one.program(world, rank));
    images[1][rank] = place(world, rank, two.program(world, rank));
  }
  for (std::uint32_t run = 1; run <= 6; ++run) {
    world.queues.clear();
    (run % 2 ? two : one).add_queues(world);
    for (std::uint32_t rank = 0; rank < 2; ++rank) world.configure(rank, images[run % 2][rank]);
    world.trigger(0);
    world.run();
    ASSERT_EQ(trouble(world, run), "") << "run " << run;
  }
}

TEST(Run, StopForgetsTheRunAndKeepsSemaphores) {
  Ring ring = small(2);
  ring.steps = 20;
  ring.window_words = 2;
  Options options;
  options.deferred = true;
  World world(cayman(), 2, options);
  ring.set_up(world);
  for (std::size_t actions : {5u, 11u, 23u, 40u, 64u}) {
    world.trigger(0);
    world.run(actions);
    ASSERT_EQ(world.progress(0).state, SDMACC_NCFW_ENTRY);
    const std::string before = world.residue();
    for (std::uint32_t i = 0; i < 2; ++i) {
      world.topsps[i].firmware->stop();
      world.topsps[i].trace.clear();
      EXPECT_EQ(world.progress(i).image, 0u);
      EXPECT_EQ(world.progress(i).entry, 0u);
      EXPECT_EQ(world.ring_ctx(i, 0).run_state, SDMACC_RING_IDLE);
    }
    EXPECT_NE(before, "");
    world.clear_semaphores();
    world.queues.clear();
    world.run();
    for (const auto& topsp : world.topsps) EXPECT_TRUE(topsp.trace.empty());
    ring.add_queues(world);
    world.trigger(0);
    world.run();
    ASSERT_EQ(trouble(world, 1), "") << "stopped after " << actions;
    world.topsps[1].statuses = 0;
    for (std::uint32_t i = 0; i < 2; ++i) world.topsps[i].firmware->stop();
  }
}

TEST(Run, StopLeadsOutOfTheErrorState) {
  World world(cayman(), 1);
  const Ring ring = small(1);
  ring.set_up(world);
  world.refused.insert(world.sem(0, 8));
  world.trigger(0);
  world.run();
  EXPECT_EQ(world.progress(0).state, SDMACC_NCFW_ERROR);
  world.refused.clear();
  world.trigger(0);
  world.run();
  EXPECT_EQ(world.topsps[0].failures.size(), 1u);
  world.restart(0);
  world.run();
  EXPECT_EQ(world.progress(0).state, SDMACC_NCFW_ERROR);
  world.clear_semaphores();
  world.topsps[0].failures.clear();
  world.topsps[0].firmware->stop();
  world.trigger(0);
  world.run();
  EXPECT_EQ(trouble(world, 1), "");
}

// The table in memory decides, where the generation has one.
TEST(Run, DispatchesThroughTheTable) {
  for (const std::uint32_t arch : {SDMACC_ARCH_SUNDA, SDMACC_ARCH_CAYMAN}) {
    const sdmacc_generation& generation = *sdmacc_generation_by_arch(arch);
    World world(generation, 1);
    small(1).set_up(world);
    const std::uint32_t table = SDMACC_RAM_DRAM_IMAGE + SDMACC_DRAM_DISPATCH_TABLE;
    for (std::uint32_t i = 0; i < SDMACC_DISPATCH_WORDS; ++i)
      EXPECT_EQ(world.load<std::uint32_t>(0, table + 4 * i),
                generation.has_dispatch_table ? generation.dispatch[i] : 0u);
    world.poke(0, table + 4 * SDMACC_ALG_RING, std::uint32_t{SDMACC_HANDLER_ERROR});
    world.trigger(0);
    world.run();
    if (generation.has_dispatch_table) {
      ASSERT_EQ(world.topsps[0].failures.size(), 1u);
      EXPECT_EQ(world.topsps[0].failures[0].code, Code::BadDispatch);
    } else {
      EXPECT_EQ(trouble(world, 1), "");
    }
  }
}

// Waits that are all satisfied, and a list that leads back to itself, do not keep the thread.
TEST(Run, LetsOthersRun) {
  Ring ring = small(1);
  ring.idle_tail = true;
  World world(cayman(), 1);
  world.boot();
  Program program = ring.program(world, 0);
  auto& words = program.lists[ring.list(0)];
  words.assign(3, sdmacc_slot_word(0, 0, SDMACC_SLOT_MAX_TIMES));
  words.push_back(SDMACC_SLOT_CONTINUE);
  words.push_back(ring.list(0) * SDMACC_SLOT_WINDOW_BYTES);
  place(world, 0, program);
  world.value(world.sem(0, 8)) = world.value(world.sem(0, 9)) = 2'000'000'000;
  world.trigger(0);
  EXPECT_EQ(world.run(2000), 2000u);
  EXPECT_EQ(world.progress(0).state, SDMACC_NCFW_ENTRY);
  world.topsps[0].firmware->stop();
}

TEST(Run, NamesOfTheCodes) {
  EXPECT_STREQ(name(Code::BadSlot), "bad SLOT list");
  EXPECT_STREQ(name(Code::SemaphoreWrap), "semaphore wrap");
  EXPECT_STREQ(name(static_cast<Code>(99)), "unknown");
}

}  // namespace
}  // namespace sdmacc::ncfw
