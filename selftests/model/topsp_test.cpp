// SPDX-License-Identifier: MIT
// A TOP_SP as the firmware's Port, its registers, and the real firmware's birth and death.
#include <gtest/gtest.h>

#include "libuapi/abi/ncfw.h"
#include "selftests/model/support.hpp"

namespace sdmacc::model::test {
namespace {

using Signal = ncfw::Port::Signal;

class TopSps : public testing::Test {
 protected:
  static std::uint64_t sem(std::uint32_t topsp, std::uint32_t id) {
    return sdmacc_soc_sem(&cayman(), topsp, SDMACC_SEM_READ, id);
  }
  std::uint32_t value(std::uint32_t topsp, std::uint32_t id) {
    return device.soc.semaphores(8 + topsp).value(id);
  }
  std::uint32_t waiting(std::uint32_t topsp, std::uint32_t id) {
    return device.soc.semaphores(8 + topsp).waiting(id);
  }

  // Waits for each in turn and logs its name after each.
  Script waiter(std::string name, std::vector<ncfw::SemaphoreWait> waits) {
    for (const auto& w : waits) {
      co_await PortWait{port, w};
      log += name;
    }
  }

  Device device;
  TopSp& port{device.soc.topsp(2)};
  std::string log;
};

TEST_F(TopSps, AHandleWaitsAndGoesOn) {
  Script a = waiter("a", {{sem(2, 10), 2}, {sem(5, 11), 1}});
  port.spawn(a.handle());
  EXPECT_EQ(log, "");
  device.pump();
  EXPECT_EQ(waiting(2, 10), 1u);
  EXPECT_EQ(port.signal(sem(2, 10), 1), Signal::Ok);
  device.pump();
  EXPECT_EQ(log, "");
  EXPECT_EQ(port.signal(sem(2, 10), 4), Signal::Ok);
  EXPECT_EQ(log, "") << "resumed by a worker, not by who signals";
  device.pump();
  EXPECT_EQ(log, "a");
  EXPECT_EQ(value(2, 10), 3u);
  device.poke(sdmacc_soc_sem(&cayman(), 5, SDMACC_SEM_SET, 11), 1);
  device.pump();
  EXPECT_EQ(log, "aa");
  EXPECT_TRUE(a.done());
}

TEST_F(TopSps, ASatisfiedWaitGoesOnAtOnce) {
  device.soc.semaphores(8 + 2).set(10, 7);
  Script a = waiter("a", {{sem(2, 10), 2}, {sem(2, 10), 5}, {sem(2, 10), 1}});
  port.spawn(a.handle());
  device.pump();
  EXPECT_EQ(log, "aa");
  EXPECT_EQ(value(2, 10), 0u);
  port.forget_all();
}

TEST_F(TopSps, ReleasedHandlesRunBeforeSpawnedOnes) {
  Script a = waiter("a", {{sem(2, 10), 1}}), b = waiter("b", {{sem(2, 11), 1}}),
         c = waiter("c", {{sem(2, 12), 1}});
  port.spawn(a.handle());
  port.spawn(b.handle());
  device.pump();
  device.soc.semaphores(8 + 2).set(12, 1);
  port.spawn(c.handle());
  port.signal(sem(2, 10), 1);
  port.signal(sem(2, 11), 1);
  device.pump();
  EXPECT_EQ(log, "bac");
}

TEST_F(TopSps, AHandleThatSpawnsItselfGivesWay) {
  struct Breath {
    ncfw::Port& port;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> self) { port.spawn(self); }
    void await_resume() const {}
  };
  bool stop = false;
  const auto breathe = [&]() -> Script {
    while (!stop) co_await Breath{port};
  };
  Script a = breathe();
  port.spawn(a.handle());
  ASSERT_TRUE(device.soc.pump(0));
  Rig rig{device};
  rig.copy(0x400000, 0x500000, 16);
  rig.arm();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(device.soc.pump(0));
  EXPECT_EQ(device.soc.counters().packets, 1u);
  stop = true;
  device.pump();
  EXPECT_TRUE(a.done());
}

TEST_F(TopSps, WaitsThatCannotBe) {
  bool refused = false;
  const auto handle = std::noop_coroutine();
  const auto no = [&](ncfw::SemaphoreWait w) {
    refused = false;
    EXPECT_FALSE(port.wait(w, handle, &refused));
    EXPECT_TRUE(refused);
  };
  no({sem(2, 10), 0});
  no({sem(2, 10), 1, 32});
  no({sem(2, 0) - 4, 1});
  no({sdmacc_soc_sem(&cayman(), 2, SDMACC_SEM_SET, 10), 1});
  no({sdmacc_soc_sem(&cayman(), 2, SDMACC_SEM_INC, 10), 1});
  no({sem(2, 10) + 1, 1});
  no({0x400000, 1});
  no({0x90000000000, 1});
  EXPECT_EQ(port.signal(0x400000, 1), Signal::Refused);
  EXPECT_EQ(port.signal(sem(2, 255) + 4, 1), Signal::Refused);
  EXPECT_EQ(port.signal(sem(2, 9), 0xffffffff), Signal::Ok);
  EXPECT_EQ(port.signal(sem(2, 9), 1), Signal::Wrap);
}

TEST_F(TopSps, AccessesGoThroughTheContext) {
  Context& context = device.soc.context(4);
  port.set_context(context);
  EXPECT_EQ(port.context(), 4u);
  std::uint32_t word = 5;
  bool refused = false;
  EXPECT_FALSE(port.read(0x400000, &word, 4));
  EXPECT_FALSE(port.write(0x400000, &word, 4));
  EXPECT_EQ(port.signal(sem(2, 10), 1), Signal::Refused);
  ASSERT_TRUE(context.add_window({0x400000, 16, kRead}));
  EXPECT_TRUE(port.read(0x400000, &word, 4));
  EXPECT_FALSE(port.write(0x400000, &word, 4));
  EXPECT_FALSE(port.read(0x400000, &word, 17));
  ASSERT_TRUE(context.add_window({sdmacc_soc_sem(&cayman(), 2, SDMACC_SEM_INC, 10), 4, kWrite}));
  EXPECT_EQ(port.signal(sem(2, 10), 1), Signal::Ok);
  // A wait reads the counter and decrements it.
  const auto handle = std::noop_coroutine();
  ASSERT_TRUE(context.add_window({sem(2, 10), 4, kRead}));
  EXPECT_FALSE(port.wait({sem(2, 10), 1}, handle, &refused));
  EXPECT_TRUE(refused);
  ASSERT_TRUE(context.add_window({sdmacc_soc_sem(&cayman(), 2, SDMACC_SEM_DEC, 10), 4, kWrite}));
  EXPECT_TRUE(port.wait({sem(2, 10), 1}, handle, &refused));
  EXPECT_FALSE(refused);
  // Its own RAM as an address needs a window as everything does.
  const std::uint64_t ram = sdmacc_soc_topsp(&cayman(), 2) + SDMACC_TOPSP_RAM;
  EXPECT_FALSE(port.read(ram, &word, 4));
  ASSERT_TRUE(context.add_window({ram, SDMACC_TOPSP_RAM_SIZE, kRead | kWrite}));
  EXPECT_TRUE(port.read(ram + SDMACC_RAM_TIMESTAMP_INC, &word, 4));
  EXPECT_EQ(word, 0x400u);
  EXPECT_EQ(port.local_ram().size(), SDMACC_TOPSP_RAM_SIZE);
}

TEST_F(TopSps, RegistersThroughThePort) {
  const std::uint32_t mask = sdmacc_bcast_mask(1, 0);
  std::uint32_t got = 0;
  const std::uint64_t at = sdmacc_soc_bcast(&cayman(), 0, 0, 3, SDMACC_Q_BCAST_MASK);
  EXPECT_TRUE(port.write(at, &mask, 4));
  EXPECT_TRUE(port.read(at, &got, 4));
  EXPECT_EQ(got, mask);
  EXPECT_FALSE(port.write(at, &mask, 2));
  EXPECT_FALSE(port.write(sdmacc_soc_bcast(&cayman(), 0, 0, 5, SDMACC_Q_TAIL_INC), &got, 4))
      << "has no mask";
}

TEST_F(TopSps, ForgettingGivesBackWhatWasReleasedAndNotResumed) {
  Script parked = waiter("p", {{sem(2, 10), 2}}), released = waiter("r", {{sem(2, 11), 3, 4, 0xf}});
  Script spawned = waiter("s", {{sem(2, 12), 1}});
  port.spawn(parked.handle());
  port.spawn(released.handle());
  device.pump();
  port.spawn(spawned.handle());
  device.soc.semaphores(8 + 2).set(11, 0x47);
  EXPECT_EQ(value(2, 11), 0x17u) << "released: 3 << 4 is taken";
  EXPECT_EQ(waiting(2, 10), 1u);
  port.forget_all();
  EXPECT_EQ(value(2, 11), 0x47u);
  EXPECT_EQ(waiting(2, 10), 0u);
  device.pump();
  EXPECT_EQ(log, "");
  port.signal(sem(2, 10), 2);
  device.pump();
  EXPECT_EQ(log, "");
  // All of it can be used again.
  Script again = waiter("a", {{sem(2, 10), 2}, {sem(2, 11), 4, 4, 0xf}});
  port.spawn(again.handle());
  device.pump();
  EXPECT_EQ(log, "aa");
}

TEST_F(TopSps, ForgettingLeavesOthersAlone) {
  TopSp& other = device.soc.topsp(3);
  Script a = waiter("a", {{sem(2, 10), 1}});
  bool refused = false;
  std::string* text = &log;
  const auto make = [](TopSp& p, std::uint64_t at, std::string* l) -> Script {
    co_await PortWait{p, {at, 1}};
    *l += "o";
  };
  Script o = make(other, sem(2, 10), text);
  other.spawn(o.handle());
  port.spawn(a.handle());
  device.pump();
  EXPECT_EQ(waiting(2, 10), 2u);
  port.forget_all();
  EXPECT_EQ(waiting(2, 10), 1u);
  port.signal(sem(2, 10), 1);
  device.pump();
  EXPECT_EQ(log, "o");
  EXPECT_FALSE(refused);
}

TEST_F(TopSps, Reports) {
  port.report_status(3);
  ASSERT_EQ(device.statuses().size(), 1u);
  EXPECT_EQ(device.statuses()[0].topsp, 2u);
  EXPECT_EQ(device.statuses()[0].entries, 3u);
  port.report_failure({ncfw::Code::BadSlot, 7, 9, 0x1234, 5, 6});
  ASSERT_EQ(device.code(), Code::FirmwareSlot);
  EXPECT_EQ(to_string(device.errors()[0]),
            "TOP_SP 2 entry 7 unit 9, context 0: SLOT word at 0x1234 is bad: 0x5, due 0x6 "
            "(firmware_slot)");
}

TEST_F(TopSps, HostTriggerIncrementsSemaphoreZero) {
  const std::uint64_t core = sdmacc_soc_topsp(&cayman(), 2) + SDMACC_TOPSP_CORE;
  device.poke(core + 0x615a0, 1);
  device.poke(core + 0x615a0, 1);
  EXPECT_EQ(value(2, 0), 2u);
  device.poke(core + 0x615a0, 0);
  EXPECT_EQ(value(2, 0), 2u);
  EXPECT_EQ(device.peek(core + 0x615a0), 0u);
  device.soc.semaphores(8 + 2).set(0, 0xffffffff);
  EXPECT_FALSE(device.soc.write32(core + 0x615a0, 1));
  device.poke(core + SDMACC_TOPSP_CONFIG_LO_V3, 0x5000);
  EXPECT_EQ(device.peek(core + SDMACC_TOPSP_CONFIG_LO_V3), 0x5000u);
  device.poke(core + 0x615c0, 1);  // no firmware yet
}

// --- With the real firmware: its states are its own tests' matter.

class Firmware : public TopSps {
 protected:
  using Progress = sdmacc_ncfw_progress;
  std::uint64_t block(std::uint32_t topsp) { return sdmacc_soc_topsp(&cayman(), topsp); }
  Progress progress(std::uint32_t topsp) {
    Progress p;
    EXPECT_TRUE(device.soc.read(
        block(topsp) + SDMACC_TOPSP_RAM + SDMACC_RAM_DRAM_IMAGE + cayman().dram_progress, &p,
        sizeof p));
    return p;
  }
  void init(std::uint32_t topsp) {
    device.poke(block(topsp) + SDMACC_TOPSP_CORE + cayman().csr_init, 1);
  }
};

TEST_F(Firmware, InitStartsItAndStopKeepsSemaphores) {
  EXPECT_EQ(progress(2).magic, 0u);
  init(2);
  EXPECT_EQ(progress(2).magic, SDMACC_NCFW_PROGRESS_MAGIC);
  device.pump();
  EXPECT_EQ(progress(2).state, std::uint32_t{SDMACC_NCFW_IDLE});
  EXPECT_EQ(waiting(2, 0), 1u);
  std::uint32_t word = 0;
  ASSERT_TRUE(device.soc.read(
      block(2) + SDMACC_TOPSP_RAM + SDMACC_RAM_DRAM_IMAGE + SDMACC_DRAM_DISPATCH_TABLE, &word, 4));
  EXPECT_EQ(word, std::uint32_t{SDMACC_HANDLER_RING});

  // No image: the trigger ends in an error, and only a stop leads out.
  device.poke(block(2) + SDMACC_TOPSP_CORE + cayman().csr_host_trigger, 1);
  device.pump();
  ASSERT_EQ(device.code(), Code::FirmwareImage);
  EXPECT_EQ(device.errors()[0].block, 2u);
  EXPECT_EQ(device.errors()[0].source, Source::TopSp);
  EXPECT_EQ(progress(2).state, std::uint32_t{SDMACC_NCFW_ERROR});
  device.soc.semaphores(8 + 2).set(77, 5);
  device.poke(block(2) + SDMACC_TOPSP_CORE + cayman().csr_stop, 1);
  device.pump();
  EXPECT_EQ(progress(2).state, std::uint32_t{SDMACC_NCFW_IDLE});
  EXPECT_EQ(value(2, 77), 5u);
  EXPECT_EQ(waiting(2, 0), 1u);
}

TEST_F(Firmware, SuspendedItHasNoWaitsAndRestartedItHasThemAgain) {
  for (std::uint32_t t : {0u, 2u, 15u}) init(t);
  device.pump();
  device.soc.suspend_firmware();
  for (std::uint32_t t : {0u, 2u, 15u}) EXPECT_EQ(waiting(t, 0), 0u) << t;
  device.soc.restart_firmware();
  device.pump();
  for (std::uint32_t t : {0u, 2u, 15u}) EXPECT_EQ(waiting(t, 0), 1u) << t;
  EXPECT_EQ(waiting(1, 0), 0u) << "was never started";
  EXPECT_EQ(device.code(), Code::None);
}

TEST_F(Firmware, ATriggerThatWasReleasedAndNotResumedSurvivesARestart) {
  init(2);
  device.pump();
  device.poke(block(2) + SDMACC_TOPSP_CORE + cayman().csr_host_trigger, 1);
  EXPECT_EQ(value(2, 0), 0u);
  device.soc.suspend_firmware();
  EXPECT_EQ(value(2, 0), 1u);
  device.pump();
  EXPECT_EQ(device.code(), Code::None);
  device.soc.restart_firmware();
  device.pump();
  EXPECT_EQ(device.code(), Code::FirmwareImage) << "the trigger was seen";
}

TEST_F(Firmware, WritingTheHighHalfOfConfigForgetsTheImage) {
  init(2);
  device.pump();
  const std::uint64_t image = block(2) + SDMACC_TOPSP_RAM + SDMACC_RAM_DRAM_IMAGE +
                              cayman().dram_progress + offsetof(Progress, image);
  device.poke(image, 0x5000);
  const std::uint64_t core = block(2) + SDMACC_TOPSP_CORE;
  device.poke(core + cayman().csr_config_lo, 0x5000);
  EXPECT_EQ(progress(2).image, 0x5000u);
  device.poke(core + cayman().csr_config_hi, 0);
  EXPECT_EQ(progress(2).image, 0u);
}

TEST_F(Firmware, AProgramMayWriteTheRegistersToo) {
  init(2);
  device.pump();
  Rig rig{device};
  *device.at<std::uint32_t>(0x400000) = 1;
  rig.copy(0x400000, block(3) + SDMACC_TOPSP_CORE + cayman().csr_init, 4);
  rig.copy(0x400000, block(2) + SDMACC_TOPSP_CORE + cayman().csr_host_trigger, 4);
  rig.go();
  EXPECT_EQ(waiting(3, 0), 1u);
  ASSERT_EQ(device.code(), Code::FirmwareImage);
  rig.copy(0x400000, block(2) + SDMACC_TOPSP_CORE + cayman().csr_stop, 4);
  rig.go();
  EXPECT_EQ(progress(2).state, std::uint32_t{SDMACC_NCFW_IDLE});
}

TEST_F(Firmware, ResetEndsIt) {
  init(2);
  device.pump();
  device.soc.reset();
  EXPECT_EQ(waiting(2, 0), 0u);
  EXPECT_EQ(progress(2).magic, 0u);
  device.pump();
  init(2);
  device.pump();
  EXPECT_EQ(waiting(2, 0), 1u);
}

TEST(FirmwareSunda, HasItsOwnRegisters) {
  Device device(sunda());
  const std::uint64_t core = sdmacc_soc_topsp(&sunda(), 5) + SDMACC_TOPSP_CORE;
  device.poke(core + sunda().csr_init, 1);
  device.pump();
  EXPECT_EQ(device.soc.semaphores(2 + 5).waiting(0), 1u);
  device.poke(core + 0x60848, 1);
  device.pump();
  EXPECT_EQ(device.code(), Code::FirmwareImage);
  device.poke(core + 0x6084c, 1);
  device.pump();
  EXPECT_EQ(device.soc.semaphores(2 + 5).waiting(0), 1u);
}

}  // namespace
}  // namespace sdmacc::model::test
