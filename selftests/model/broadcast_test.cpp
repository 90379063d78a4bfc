// SPDX-License-Identifier: MIT
// Broadcast: which engines a store reaches, which registers it may name, and whose queues.
#include <gtest/gtest.h>

#include "selftests/model/support.hpp"

namespace sdmacc::model::test {
namespace {

constexpr std::uint64_t kFrom = 0x400000, kTo = 0x500000;

class Broadcasts : public testing::TestWithParam<std::uint32_t> {
 protected:
  std::uint64_t at(std::uint32_t core, Side side, std::uint32_t queue, std::uint32_t reg) {
    return sdmacc_soc_bcast(&device.soc.arch(), core, side == Side::S2m ? SDMACC_S2M_OFFSET : 0,
                            queue, reg);
  }
  std::uint32_t tail(std::uint32_t engine, Side side, std::uint32_t queue) {
    return device.soc.queue(engine, queue).state().ring[static_cast<int>(side)].tail;
  }

  Device device{*sdmacc_generation_by_arch(GetParam())};
};

TEST_P(Broadcasts, OneStoreReachesTheMaskedEngines) {
  std::vector<std::unique_ptr<Rig>> rigs;
  for (std::uint32_t e = 16; e < 32; ++e) rigs.push_back(std::make_unique<Rig>(device, e, 4));
  const Rig other_queue{device, 17, 5}, other_core{device, 1, 4};
  const std::uint32_t mask = sdmacc_bcast_mask(0x8006, 0);
  EXPECT_EQ(mask, 0x7ff90100u);
  device.poke(at(1, Side::M2s, 4, SDMACC_Q_BCAST_MASK), mask);
  EXPECT_EQ(device.peek(at(1, Side::M2s, 4, SDMACC_Q_BCAST_MASK)), mask);
  for (auto& rig : rigs) {
    *device.at<std::uint32_t>(kFrom + 64 * rig->engine) = rig->engine;
    rig->copy(kFrom + 64 * rig->engine, kTo + 64 * rig->engine, 4);
  }
  device.poke(at(1, Side::S2m, 4, SDMACC_Q_TAIL_INC), 1);
  device.poke(at(1, Side::M2s, 4, SDMACC_Q_TAIL_INC), 1);
  device.pump();
  for (auto& rig : rigs) {
    const bool reached = rig->engine == 17 || rig->engine == 18 || rig->engine == 31;
    EXPECT_EQ(tail(rig->engine, Side::M2s, 4), reached ? 1u : 0u) << rig->engine;
    EXPECT_EQ(*device.at<std::uint32_t>(kTo + 64 * rig->engine), reached ? rig->engine : 0)
        << rig->engine;
  }
  EXPECT_EQ(tail(17, Side::M2s, 5), 0u);
  EXPECT_EQ(tail(1, Side::M2s, 4), 0u);
}

TEST_P(Broadcasts, ReArmsBothSides) {
  Rig a{device, 0, 4}, b{device, 3, 4};
  for (Rig* rig : {&a, &b}) {
    rig->copy(kFrom, kTo, 16);
    rig->go();
  }
  device.poke(at(0, Side::M2s, 4, SDMACC_Q_BCAST_MASK), sdmacc_bcast_mask(0x1, 0));
  device.poke(at(0, Side::S2m, 4, SDMACC_Q_S2M_SWCTRL), SDMACC_SWCTRL_RESET_QUEUE);
  EXPECT_EQ(tail(0, Side::S2m, 4), 0u);
  EXPECT_EQ(tail(0, Side::M2s, 4), 1u);
  device.poke(at(0, Side::M2s, 4, SDMACC_Q_M2S_SWCTRL), SDMACC_SWCTRL_RESET_QUEUE);
  EXPECT_EQ(tail(0, Side::M2s, 4), 0u);
  EXPECT_EQ(tail(3, Side::M2s, 4), 1u) << "not in the mask";
}

TEST_P(Broadcasts, RefusesWhatIsNotMasked) {
  const auto refused = [&](std::uint64_t address, const char* code) {
    const Status s = device.soc.write32(address, 1);
    ASSERT_FALSE(s) << code;
    EXPECT_NE(s.error().text().find(code), std::string::npos) << s.error().text();
  };
  refused(at(0, Side::M2s, 4, SDMACC_Q_TAIL_INC), "(broadcast_mask)");
  device.poke(at(0, Side::M2s, 5, SDMACC_Q_BCAST_MASK), sdmacc_bcast_mask(1, 0));
  refused(at(0, Side::M2s, 4, SDMACC_Q_TAIL_INC), "(broadcast_mask)");
  device.poke(at(0, Side::M2s, 4, SDMACC_Q_BCAST_MASK),
              sdmacc_bcast_mask(1, 0) & ~SDMACC_BCAST_ENABLE);
  refused(at(0, Side::M2s, 4, SDMACC_Q_TAIL_INC), "(broadcast_mask)");
  device.poke(at(0, Side::M2s, 4, SDMACC_Q_BCAST_MASK), sdmacc_bcast_mask(1, 0));
  for (const std::uint32_t reg :
       {SDMACC_Q_CFG, SDMACC_Q_BASE_LO, SDMACC_Q_LENGTH, SDMACC_Q_HEAD, SDMACC_Q_S2M_SWCTRL})
    refused(at(0, Side::M2s, 4, reg), "(broadcast_register)");
  refused(at(0, Side::S2m, 4, SDMACC_Q_M2S_SWCTRL), "(broadcast_register)");
  refused(at(0, Side::S2m, 4, SDMACC_Q_BCAST_MASK), "(broadcast_register)");
  refused(device.soc.arch().bcast_base[0] + 0x38, "(broadcast_register)");
}

TEST_P(Broadcasts, ReachesQueuesOfTheWritersContextOnly) {
  Rig writer{device, 16, 0}, mine{device, 0, 4}, foreign{device, 1, 4};
  Context& context = device.soc.context(3);
  ASSERT_TRUE(context.add_window({device.soc.arch().bcast_base[0], kBroadcastBytes, kWrite}));
  ASSERT_TRUE(context.add_window({0, 64 << 20, kRead}));
  device.soc.queue(16, 0).set_context(context);
  device.soc.queue(0, 4).set_context(context);
  device.soc.queue(1, 4).set_context(device.soc.context(2));
  *device.at<std::uint32_t>(kFrom) = 1;
  device.poke(at(0, Side::M2s, 4, SDMACC_Q_BCAST_MASK), sdmacc_bcast_mask(0x1, 0));
  writer.copy(kFrom, at(0, Side::M2s, 4, SDMACC_Q_TAIL_INC), 4);
  writer.go();
  EXPECT_EQ(device.code(), Code::None);
  EXPECT_EQ(tail(0, Side::M2s, 4), 1u);
  device.poke(at(0, Side::M2s, 4, SDMACC_Q_BCAST_MASK), sdmacc_bcast_mask(0x3, 0));
  writer.copy(kFrom, at(0, Side::M2s, 4, SDMACC_Q_TAIL_INC), 4);
  writer.go();
  ASSERT_EQ(device.code(), Code::BroadcastContext);
  EXPECT_EQ(device.errors()[0].value, 1u);
  EXPECT_EQ(device.errors()[0].target, 2u);
  EXPECT_EQ(tail(0, Side::M2s, 4), 1u) << "none is reached when one may not be";
  EXPECT_EQ(tail(1, Side::M2s, 4), 0u);
}

INSTANTIATE_TEST_SUITE_P(Generations, Broadcasts,
                         testing::Values(SDMACC_ARCH_SUNDA, SDMACC_ARCH_CAYMAN),
                         [](const auto& test) {
                           return std::string(sdmacc_name_arch(test.param));
                         });

}  // namespace
}  // namespace sdmacc::model::test
