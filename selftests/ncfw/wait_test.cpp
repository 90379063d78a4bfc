// SPDX-License-Identifier: MIT
// What each wait asks for, to the last count, and what memory says while it lasts.
#include <gtest/gtest.h>

#include "selftests/ncfw/support.hpp"

namespace sdmacc::ncfw {
namespace {

constexpr std::uint32_t kRecv = 8, kSend = 9, kDone = 10, kMine = 11;  // ids of channel 0

// A ring of one rank and four engines whose queues signal nothing: the test does.
struct Held {
  explicit Held(std::uint32_t steps = 3, std::uint32_t units = 1) : world(cayman(), units) {
    Ring ring;
    ring.units = units;
    ring.engines = 4;
    ring.steps = steps;
    ring.set_up(world);
    for (auto& [page, queue] : world.queues)
      for (auto& step : queue.steps) step.signals.clear();
    world.run();
  }
  void expect_wait(std::uint32_t id, std::uint32_t count, sdmacc_ring_state state) {
    const auto wait = world.progress(0).wait[0];
    EXPECT_EQ(wait.address, world.sem(0, id));
    EXPECT_EQ(wait.count, count);
    EXPECT_EQ(world.ring_ctx(0, 0).run_state, state);
  }
  // One count less than `count` changes nothing; the last one does, and all are consumed.
  void release(std::uint32_t id, std::uint32_t count) {
    const auto before = world.topsps[0].trace.size();
    if (count > 1) world.inc(world.sem(0, id), count - 1);
    world.run();
    EXPECT_EQ(world.topsps[0].trace.size(), before);
    EXPECT_EQ(world.progress(0).wait[0].address, world.sem(0, id));
    EXPECT_EQ(world.value(world.sem(0, id)), count - 1);
    world.inc(world.sem(0, id), 1);
    world.run();
    EXPECT_EQ(world.value(world.sem(0, id)), 0u);
  }
  std::size_t doorbells() const {
    std::size_t count = 0;
    for (const Action& action : world.topsps[0].trace)
      count += (action.address & 0xfff) == SDMACC_Q_TAIL_INC;
    return count;
  }

  World world;
};

TEST(Wait, TriggerIsOne) {
  Held held;
  const auto idle = held.world.progress(0);
  EXPECT_EQ(idle.state, SDMACC_NCFW_IDLE);
  EXPECT_EQ(idle.wait[32].address, held.world.sem(0, SDMACC_SEM_TRIGGER));
  EXPECT_EQ(idle.wait[32].count, 1u);
  EXPECT_TRUE(held.world.topsps[0].trace.empty());
  held.world.trigger(0);
  held.world.run();
  EXPECT_EQ(held.world.progress(0).state, SDMACC_NCFW_ENTRY);
  EXPECT_EQ(held.world.progress(0).wait[32].address, 0u);
  EXPECT_EQ(held.world.value(held.world.sem(0, SDMACC_SEM_TRIGGER)), 0u);
}

TEST(Wait, EveryWaitOfAChannel) {
  Held held(4);
  held.world.trigger(0);
  held.world.run();
  held.expect_wait(kDone, 4, SDMACC_RING_WAIT_DONE);  // of step 0
  EXPECT_EQ(held.doorbells(), 2u);
  held.release(kDone, 4);
  held.expect_wait(kDone, 4, SDMACC_RING_WAIT_DONE);  // of step 1; both first receives are used up
  EXPECT_EQ(held.doorbells(), 4u);
  held.release(kDone, 4);
  held.expect_wait(kRecv, 4, SDMACC_RING_WAIT_RECV);  // of step 2
  EXPECT_EQ(held.doorbells(), 4u);
  held.release(kRecv, 4);
  held.expect_wait(kDone, 4, SDMACC_RING_WAIT_DONE);
  EXPECT_EQ(held.doorbells(), 6u);
  // Three credits were taken of four; step 3 takes the fourth, and one comes with the completion of
  // step 2.
  EXPECT_EQ(held.world.value(held.world.sem(0, kSend)), 1u);
  held.release(kDone, 4);
  EXPECT_EQ(held.world.value(held.world.sem(0, kSend)), 1u);
  held.expect_wait(kRecv, 4, SDMACC_RING_WAIT_RECV);  // of step 3
  held.release(kRecv, 4);
  held.expect_wait(kDone, 4, SDMACC_RING_WAIT_LAST);
  held.world.value(held.world.sem(0, kSend)) = 0;
  held.release(kDone, 4);
  held.expect_wait(kSend, 2, SDMACC_RING_WAIT_RESET);
  EXPECT_EQ(held.world.value(held.world.sem(0, kSend)), 1u);
  EXPECT_EQ(held.world.progress(0).channels_left, 1u);
  held.world.inc(held.world.sem(0, kSend));
  held.world.run();
  EXPECT_EQ(held.world.ring_ctx(0, 0).run_state, SDMACC_RING_DONE);
  EXPECT_EQ(held.world.progress(0).state, SDMACC_NCFW_IDLE);
  EXPECT_EQ(held.world.progress(0).channels_done, 1u);
  EXPECT_EQ(held.world.topsps[0].statuses, 1u);
}

TEST(Wait, CreditIsOne) {
  Held held(4, 2);
  held.world.topsps[1].firmware->suspend();  // the successor grants nothing
  held.world.trigger(0);
  held.world.run();
  held.expect_wait(kSend, 1, SDMACC_RING_WAIT_CREDIT);
  EXPECT_EQ(held.doorbells(), 0u);
  held.release(kSend, 1);
  held.expect_wait(kDone, 4, SDMACC_RING_WAIT_DONE);
  EXPECT_EQ(held.doorbells(), 2u);
}

TEST(Wait, PrimaryWaitsForAllSecondaries) {
  for (const std::uint32_t secondaries : {1u, 3u}) {
    Ring ring;
    ring.units = 1;
    ring.secondaries = secondaries;
    World world(cayman(), ring.ranks());
    ring.set_up(world);
    for (std::uint32_t other = 1; other < ring.ranks(); ++other)
      world.topsps[other].firmware->suspend();
    world.trigger(0);
    world.run();
    const auto wait = world.progress(0).wait[0];
    EXPECT_EQ(wait.address, world.sem(0, kMine));
    EXPECT_EQ(wait.count, secondaries);
    EXPECT_EQ(world.ring_ctx(0, 0).run_state, SDMACC_RING_WAIT_PEERS);
    world.inc(world.sem(0, kMine), secondaries - 1);
    world.run();
    EXPECT_EQ(world.progress(0).wait[0].address, world.sem(0, kMine));
    world.inc(world.sem(0, kMine), 1);
    world.run();
    EXPECT_EQ(world.ring_ctx(0, 0).run_state, SDMACC_RING_DONE);
  }
}

TEST(Wait, ChainWaitsForThePredecessor) {
  World world(cayman(), 2);
  world.boot();
  Program program;
  program.ctrl = {ctrl_nop()};
  chain(program, world, 1, 2);
  place(world, 1, program);
  world.trigger(1);
  world.run();
  EXPECT_EQ(world.progress(1).state, SDMACC_NCFW_CHAIN);
  EXPECT_EQ(world.progress(1).wait[32].address, world.sem(1, SDMACC_SEM_COMPLETION));
  EXPECT_EQ(world.progress(1).wait[32].count, 1u);
  EXPECT_EQ(world.topsps[1].statuses, 0u);
  world.inc(world.sem(1, SDMACC_SEM_COMPLETION));
  world.run();
  EXPECT_EQ(world.topsps[1].statuses, 1u);
  EXPECT_EQ(world.residue(), "");
}

// A mesh event's field of the semaphore is compared and consumed alone.
TEST(Wait, MeshEventComparesAField) {
  Mesh mesh;
  mesh.shift = 8;
  mesh.mask = 0xff;
  World world(cayman(), 2);
  mesh.set_up(world);
  world.topsps[1].firmware->suspend();
  const std::uint64_t ready = world.sem(0, 20);
  world.inc(ready, 0x5f00ff);  // 0x5f lies above the field, 0xff below
  world.trigger(0);
  world.run();
  EXPECT_EQ(world.progress(0).wait[32].address, ready);
  EXPECT_EQ(world.progress(0).wait[32].count, 0x100u);
  EXPECT_EQ(world.progress(0).mesh_step, 0);
  world.inc(ready, 1);
  world.run();
  EXPECT_EQ(world.value(ready), 0x5f0000u);
  EXPECT_EQ(world.progress(0).wait[32].address, world.sem(0, 21));  // SYNC: 2 ranks of 2 engines
  EXPECT_EQ(world.progress(0).wait[32].count, 0x400u);
  world.inc(world.sem(0, 21), 0x1ff);  // the own queue gave 2
  world.run();
  EXPECT_EQ(world.progress(0).state, SDMACC_NCFW_ENTRY);
  world.inc(world.sem(0, 21), 1);
  world.run();
  EXPECT_EQ(world.progress(0).state, SDMACC_NCFW_IDLE);
  EXPECT_EQ(world.value(world.sem(0, 21)), 0u);
}

}  // namespace
}  // namespace sdmacc::ncfw
