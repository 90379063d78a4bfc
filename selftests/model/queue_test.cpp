// SPDX-License-Identifier: MIT
// A queue's registers, its rounds, and when it runs; engine registers; the counters.
#include <gtest/gtest.h>

#include "selftests/model/support.hpp"

namespace sdmacc::model::test {
namespace {

constexpr std::uint64_t kFrom = 0x400000, kTo = 0x500000;
constexpr std::uint32_t kEnabled =
    SDMACC_Q_CFG_RESET | SDMACC_Q_CFG_PREFETCH | SDMACC_Q_CFG_SCHEDULE;

class Queues : public testing::Test {
 protected:
  void copy_word(std::uint32_t value, std::uint64_t to) {
    *device.at<std::uint32_t>(kFrom) = value;
    rig.copy(kFrom, to, 4);
  }
  std::uint32_t word(std::uint64_t address) { return *device.at<std::uint32_t>(address); }

  Device device;
  Rig rig{device, 17, 3};
};

TEST_F(Queues, RegistersReadBack) {
  for (const Side side : {Side::M2s, Side::S2m}) {
    EXPECT_EQ(rig.read(side, SDMACC_Q_BASE_LO), rig.ring_address(side));
    EXPECT_EQ(rig.read(side, SDMACC_Q_BASE_HI), 0u);
    EXPECT_EQ(rig.read(side, SDMACC_Q_LENGTH), Rig::kLength);
    EXPECT_EQ(rig.read(side, SDMACC_Q_CFG), kEnabled);
    EXPECT_EQ(rig.read(side, SDMACC_Q_HEAD), 1u << 30);
    EXPECT_EQ(rig.read(side, SDMACC_Q_TAIL), 1u << 30);
    EXPECT_EQ(rig.read(side, SDMACC_Q_TAIL_INC), 0u);
    EXPECT_EQ(rig.read(side, SDMACC_Q_STATUS), 0u);
    EXPECT_EQ(rig.read(side, side == Side::M2s ? SDMACC_Q_M2S_SWCTRL : SDMACC_Q_S2M_SWCTRL), 0u);
    // Without effect, kept as written.
    rig.write(side, SDMACC_Q_COMP_BASE_LO, 0x1234);
    EXPECT_EQ(rig.read(side, SDMACC_Q_COMP_BASE_LO), 0x1234u);
    // The low six bits of a base are zero, a length has 24 bits, positions are read-only.
    rig.write(side, SDMACC_Q_BASE_LO, 0xffffffff);
    EXPECT_EQ(rig.read(side, SDMACC_Q_BASE_LO), 0xffffffc0u);
    rig.write(side, SDMACC_Q_BASE_HI, 0x8040);
    EXPECT_EQ(rig.read(side, SDMACC_Q_BASE_HI), 0x8040u);
    rig.write(side, SDMACC_Q_LENGTH, 0xff000020);
    EXPECT_EQ(rig.read(side, SDMACC_Q_LENGTH), 0x20u);
    for (const std::uint32_t reg :
         {SDMACC_Q_HEAD, SDMACC_Q_TAIL, SDMACC_Q_STATUS, SDMACC_Q_CURRENT}) {
      const std::uint32_t before = rig.read(side, reg);
      rig.write(side, reg, 0x55);
      EXPECT_EQ(rig.read(side, reg), before) << std::hex << reg;
    }
  }
}

TEST_F(Queues, HeadAndTailOverSeveralRounds) {
  std::uint32_t total = 0;
  for (unsigned round = 0; round < 6; ++round) {
    for (const std::uint32_t n : {63u, 1u}) {
      for (std::uint32_t i = 0; i < n; ++i, ++total) copy_word(total, kTo + 4 * (total % 512));
      rig.arm();
      const std::uint32_t id = (1 + total / 64) & 3;
      EXPECT_EQ(rig.read(Side::M2s, SDMACC_Q_TAIL), total % 64 | id << 30);
      device.pump();
      for (const Side side : {Side::M2s, Side::S2m}) {
        EXPECT_EQ(rig.read(side, SDMACC_Q_HEAD), total % 64 | id << 30);
        EXPECT_EQ(rig.read(side, SDMACC_Q_CURRENT), rig.ring_address(side) + total % 64 * 16);
      }
    }
  }
  EXPECT_EQ(device.code(), Code::None);
  EXPECT_EQ(total, 6 * 64u);
  EXPECT_EQ(device.soc.counters().packets, 6 * 64u);
}

TEST_F(Queues, RunsOnlyWhenBothSidesAreArmed) {
  copy_word(7, kTo);
  rig.write(Side::S2m, SDMACC_Q_TAIL_INC, 1);
  EXPECT_TRUE(device.soc.scheduler().idle()) << "M2S has nothing";
  rig.write(Side::M2s, SDMACC_Q_TAIL_INC, 1);
  EXPECT_FALSE(device.soc.scheduler().idle());
  device.pump();
  EXPECT_EQ(word(kTo), 7u);

  copy_word(8, kTo);
  rig.write(Side::M2s, SDMACC_Q_TAIL_INC, 1);
  device.pump();
  EXPECT_EQ(word(kTo), 7u);
  rig.write(Side::S2m, SDMACC_Q_TAIL_INC, 1);
  device.pump();
  EXPECT_EQ(word(kTo), 8u);
}

TEST_F(Queues, APacketWaitsForAllItsDescriptors) {
  device.put<float>(kFrom, {1, 2});
  rig.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, {kFrom, kFrom + 4}, {kTo, kTo + 4}, 4);
  rig.write(Side::S2m, SDMACC_Q_TAIL_INC, 1);
  for (unsigned armed = 1; armed <= 3; ++armed) {
    rig.write(Side::M2s, SDMACC_Q_TAIL_INC, 1);
    device.pump();
    EXPECT_EQ(rig.state().ring[0].head, 0u) << armed;
  }
  rig.write(Side::S2m, SDMACC_Q_TAIL_INC, 1);
  device.pump();
  EXPECT_EQ(rig.state().ring[0].head, 3u);
  EXPECT_EQ(device.get<float>(kTo, 2), (std::vector<float>{3, 3}));
}

TEST_F(Queues, DisabledKeepsWhatIsArmed) {
  for (const std::uint32_t config :
       {SDMACC_Q_CFG_RESET, SDMACC_Q_CFG_PREFETCH, SDMACC_Q_CFG_SCHEDULE}) {
    rig.write(Side::S2m, SDMACC_Q_CFG, config);
    copy_word(config, kTo);
    rig.go();
    EXPECT_NE(word(kTo), config);
    rig.write(Side::S2m, SDMACC_Q_CFG, kEnabled);
    device.pump();
    EXPECT_EQ(word(kTo), config) << "enabling goes on";
  }
}

TEST_F(Queues, ResetForgetsWhatIsArmed) {
  rig.write(Side::M2s, SDMACC_Q_CFG, SDMACC_Q_CFG_RESET);
  copy_word(7, kTo);
  rig.arm();
  EXPECT_EQ(rig.state().ring[0].armed, 1u);
  rig.reset();
  EXPECT_EQ(rig.state().ring[0].armed, 0u);
  EXPECT_EQ(rig.read(Side::S2m, SDMACC_Q_TAIL), 1u << 30);
  device.pump();
  EXPECT_EQ(word(kTo), 0u);
  copy_word(9, kTo);
  rig.go();
  EXPECT_EQ(word(kTo), 9u);
}

TEST_F(Queues, SidesAreResetSeparately) {
  copy_word(7, kTo);
  rig.go();
  rig.write(Side::M2s, SDMACC_Q_M2S_SWCTRL, SDMACC_SWCTRL_RESET_QUEUE);
  EXPECT_EQ(rig.read(Side::M2s, SDMACC_Q_HEAD), 1u << 30);
  EXPECT_EQ(rig.read(Side::S2m, SDMACC_Q_HEAD), 1u | 1u << 30);
  rig.write(Side::S2m, SDMACC_Q_M2S_SWCTRL, SDMACC_SWCTRL_RESET_QUEUE);
  EXPECT_EQ(rig.read(Side::S2m, SDMACC_Q_HEAD), 1u | 1u << 30) << "0xb0 is the other side's";
  rig.write(Side::S2m, SDMACC_Q_S2M_SWCTRL, 0xff);
  EXPECT_EQ(rig.read(Side::S2m, SDMACC_Q_HEAD), 1u | 1u << 30) << "bit 8 resets";
}

TEST_F(Queues, TheRingIdStartsAgainAtOne) {
  for (unsigned run = 0; run < 3; ++run) {
    rig.reset();
    for (unsigned i = 0; i < 60; ++i) copy_word(i, kTo);
    rig.go();
  }
  EXPECT_EQ(device.code(), Code::None);
  EXPECT_EQ(device.soc.counters().packets, 180u);
}

TEST_F(Queues, AnErrorStopsUntilBothSidesAreReset) {
  copy_word(1, kTo);
  rig.desc(Side::M2s, 0).meta_ctrl = 0;
  rig.go();
  EXPECT_EQ(device.code(), Code::Class);
  EXPECT_TRUE(rig.state().stopped);
  EXPECT_EQ(rig.state().error.code, Code::Class);
  copy_word(2, kTo);
  rig.go();
  EXPECT_EQ(word(kTo), 0u);
  rig.write(Side::M2s, SDMACC_Q_M2S_SWCTRL, SDMACC_SWCTRL_RESET_QUEUE);
  EXPECT_TRUE(rig.state().stopped);
  rig.reset();
  EXPECT_FALSE(rig.state().stopped);
  EXPECT_EQ(rig.state().error.code, Code::None);
  copy_word(3, kTo);
  rig.go();
  EXPECT_EQ(word(kTo), 3u);
  EXPECT_EQ(device.errors().size(), 1u);
}

TEST_F(Queues, AnErrorLeavesTheHeadAtItsPacket) {
  copy_word(1, kTo);
  rig.copy(kFrom, SDMACC_DIE1 | 0x100000000000, 4);
  rig.go();
  ASSERT_EQ(device.code(), Code::Decode);
  EXPECT_EQ(rig.state().ring[0].head, 1u);
  EXPECT_EQ(rig.state().ring[1].head, 1u);
  EXPECT_EQ(rig.state().ring[1].armed, 1u);
}

TEST_F(Queues, ADoorbellThatCannotBe) {
  rig.write(Side::M2s, SDMACC_Q_TAIL_INC, 65);
  ASSERT_EQ(device.code(), Code::RingOverrun);
  EXPECT_EQ(device.errors()[0].value, 65u);
  EXPECT_EQ(device.errors()[0].target, 64u);
  EXPECT_EQ(device.errors()[0].side, Side::M2s);
  EXPECT_TRUE(rig.state().stopped);
  rig.write(Side::S2m, SDMACC_Q_TAIL_INC, 65);
  EXPECT_EQ(device.code(), Code::RingOverrun) << "one error a stop";
  device.forget();
  rig.reset();
  rig.write(Side::S2m, SDMACC_Q_TAIL_INC, 64);
  EXPECT_EQ(device.code(), Code::None);
  rig.write(Side::S2m, SDMACC_Q_TAIL_INC, 1);
  EXPECT_EQ(device.code(), Code::RingOverrun);
  device.forget();
  rig.reset();
  rig.write(Side::S2m, SDMACC_Q_LENGTH, 0);
  rig.write(Side::S2m, SDMACC_Q_TAIL_INC, 0xff000000);
  EXPECT_EQ(device.code(), Code::None) << "a count of 0 asks for nothing";
  rig.write(Side::S2m, SDMACC_Q_TAIL_INC, 3);
  EXPECT_EQ(device.code(), Code::RingLength);
}

TEST_F(Queues, RoomIsMadeByExecution) {
  for (unsigned i = 0; i < 64; ++i) copy_word(i, kTo);
  rig.go();
  for (unsigned i = 0; i < 64; ++i) copy_word(i, kTo);
  rig.go();
  EXPECT_EQ(device.code(), Code::None);
  EXPECT_EQ(device.soc.counters().packets, 128u);
}

TEST_F(Queues, LongQueuesGiveWayToOthers) {
  Rig other{device, 5, 0};
  for (unsigned i = 0; i < 64; ++i) copy_word(i, kTo);
  rig.go();
  // 3 rounds at once need a longer ring.
  std::vector<sdmacc_desc> m2s(200), s2m(200);
  const std::uint32_t control = sdmacc_len_ctrl(4, SDMACC_LEN_FIRST | SDMACC_LEN_LAST, 1);
  for (auto& d : m2s) d = {control, SDMACC_META_COPY, kFrom};
  for (auto& d : s2m) d = {control, 0, kTo};
  device.put(0x600000, m2s);
  device.put(0x700000, s2m);
  rig.reset();
  for (const Side side : {Side::M2s, Side::S2m}) {
    rig.write(side, SDMACC_Q_BASE_LO, side == Side::M2s ? 0x600000 : 0x700000);
    rig.write(side, SDMACC_Q_LENGTH, 200);
  }
  rig.write(Side::S2m, SDMACC_Q_TAIL_INC, 200);
  rig.write(Side::M2s, SDMACC_Q_TAIL_INC, 200);
  other.copy(kFrom, kTo + 8, 4);
  other.arm();
  *device.at<std::uint32_t>(kFrom) = 99;
  ASSERT_TRUE(device.soc.pump(0));
  EXPECT_LT(rig.state().ring[0].head, 200u);
  EXPECT_GT(rig.state().ring[0].head, 0u);
  ASSERT_TRUE(device.soc.pump(0));
  EXPECT_EQ(word(kTo + 8), 99u) << "the other queue's turn";
  device.pump();
  EXPECT_EQ(rig.state().ring[0].armed, 0u);
}

TEST_F(Queues, CountersTellDataFromWords) {
  const Counters before = device.soc.counters();
  EXPECT_EQ(before.packets, 0u);
  device.put<float>(kFrom, {1, 2, 3, 4});
  rig.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, {kFrom, kFrom + 8}, {kTo, kTo + 8, kTo + 16}, 8);
  rig.copy(kFrom, kTo, 12);
  rig.copy(kFrom, kTo, 4);
  rig.copy(kFrom, sdmacc_soc_sem(&cayman(), 0, SDMACC_SEM_SET, 9), 4);
  rig.copy(kFrom, sdmacc_soc_topsp(&cayman(), 0) + SDMACC_TOPSP_CORE + 0x10, 4);
  rig.go();
  ASSERT_EQ(device.code(), Code::None);
  const Counters c = device.soc.queue(17, 3).counters();
  EXPECT_EQ(c.packets, 5u);
  EXPECT_EQ(c.descriptors, 3u + 3u + 4 * 2u);
  EXPECT_EQ(c.bytes_read, 16u + 12u);
  EXPECT_EQ(c.bytes_written, 24u + 12u);
  EXPECT_EQ(c.words, 1u);
  EXPECT_EQ(c.semaphore_writes, 1u);
  EXPECT_EQ(c.register_writes, 1u);
  EXPECT_EQ(c.doorbells, 2u);
  Counters sum = c;
  sum += c;
  EXPECT_EQ(sum.descriptors, 2 * c.descriptors);
  EXPECT_EQ(device.soc.counters().bytes_written, c.bytes_written);
}

TEST_F(Queues, AQueueCanRingAnother) {
  Rig other{device, 40, 1};
  other.copy(kFrom + 64, kTo + 64, 4);
  *device.at<std::uint32_t>(kFrom + 64) = 5;
  *device.at<std::uint32_t>(kFrom + 4) = 1;
  for (const Side side : {Side::S2m, Side::M2s})
    rig.copy(kFrom + 4, queue_register_address(cayman(), 40, side, 1, SDMACC_Q_TAIL_INC), 4);
  rig.go();
  EXPECT_EQ(device.code(), Code::None);
  EXPECT_EQ(word(kTo + 64), 5u);
}

TEST_F(Queues, AQueueCanResetItself) {
  *device.at<std::uint32_t>(kFrom + 4) = SDMACC_SWCTRL_RESET_QUEUE;
  rig.copy(kFrom + 4, queue_register_address(cayman(), 17, Side::S2m, 3, SDMACC_Q_S2M_SWCTRL), 4);
  copy_word(6, kTo);
  rig.go();
  EXPECT_EQ(word(kTo), 0u) << "S2M has nothing armed any more";
  EXPECT_EQ(rig.read(Side::S2m, SDMACC_Q_HEAD), 1u << 30);
  EXPECT_EQ(rig.read(Side::M2s, SDMACC_Q_HEAD), 1u | 1u << 30);
}

TEST_F(Queues, RingsMayLieInHostMemory) {
  alignas(64) sdmacc_desc rings[2][4] = {};
  std::uint32_t data[2] = {77, 0};
  const std::uint64_t aperture = cayman().host_aperture;
  Context& context = device.soc.context(0);
  ASSERT_TRUE(context.add_extent(0x1000, sizeof rings, reinterpret_cast<std::byte*>(rings), kRead));
  ASSERT_TRUE(
      context.add_extent(0x8000, sizeof data, reinterpret_cast<std::byte*>(data), kRead | kWrite));
  const std::uint32_t control = sdmacc_len_ctrl(4, SDMACC_LEN_FIRST | SDMACC_LEN_LAST, 1);
  rings[0][0] = {control, SDMACC_META_COPY, aperture + 0x8000};
  rings[1][0] = {control, 0, aperture + 0x8004};
  for (const Side side : {Side::M2s, Side::S2m}) {
    const std::uint64_t base = aperture + 0x1000 + (side == Side::S2m ? sizeof rings[0] : 0);
    rig.write(side, SDMACC_Q_BASE_LO, static_cast<std::uint32_t>(base));
    rig.write(side, SDMACC_Q_BASE_HI, static_cast<std::uint32_t>(base >> 32));
    rig.write(side, SDMACC_Q_LENGTH, 4);
    rig.write(side, SDMACC_Q_TAIL_INC, 1);
  }
  device.pump();
  EXPECT_EQ(device.code(), Code::None);
  EXPECT_EQ(data[1], 77u);
}

TEST(Engines, StateAnswersAtOnce) {
  Device device;
  const std::uint64_t base = sdmacc_soc_engine(&cayman(), 2, 1);
  EXPECT_EQ(device.peek(base + SDMACC_E_M2S_STATE), 0u);
  device.poke(base + SDMACC_E_M2S_CHANGE_STATE, SDMACC_STATE_CHANGE_NORMAL);
  EXPECT_EQ(device.peek(base + SDMACC_E_M2S_STATE), SDMACC_STATE_NORMAL);
  EXPECT_EQ(device.peek(base + SDMACC_E_S2M_STATE), 0u);
  device.poke(base + SDMACC_E_M2S_STATE, 0);
  EXPECT_EQ(device.peek(base + SDMACC_E_M2S_STATE), SDMACC_STATE_NORMAL) << "read-only";
  device.poke(base + SDMACC_E_S2M_CHANGE_STATE, SDMACC_STATE_CHANGE_ABORT);
  EXPECT_EQ(device.peek(base + SDMACC_E_S2M_STATE), 0x2222u);
  device.poke(base + SDMACC_E_M2S_CHANGE_STATE, SDMACC_STATE_CHANGE_DISABLE);
  EXPECT_EQ(device.peek(base + SDMACC_E_M2S_STATE), 0u);
}

// What a driver's probe writes has no effect and can be read back; what it has not written reads as
// zero.
TEST(Engines, OtherRegistersAreKept) {
  Device device;
  const std::uint64_t base = sdmacc_soc_engine(&cayman(), 7, 15);
  for (const std::uint64_t offset : {0x310ull, 0x124ull, 0x3a300ull, 0x254ull, 0x3b460ull,
                                     0x20380ull, 0x4001cull, 0x40800ull, 0x1074ull, 0x210a0ull}) {
    EXPECT_EQ(device.peek(base + offset), 0u) << std::hex << offset;
    device.poke(base + offset, static_cast<std::uint32_t>(offset * 3));
    EXPECT_EQ(device.peek(base + offset), static_cast<std::uint32_t>(offset * 3))
        << std::hex << offset;
  }
  EXPECT_EQ(device.peek(sdmacc_soc_engine(&cayman(), 7, 14) + 0x310), 0u);
}

TEST(Engines, DeviceReset) {
  Device device;
  Rig rig{device, 3, 2};
  *device.at<std::uint32_t>(kFrom) = 1;
  rig.copy(kFrom, kTo, 4);
  rig.go();
  device.poke(sdmacc_soc_sem(&cayman(), 2, SDMACC_SEM_SET, 20), 5);
  device.poke(sdmacc_soc_engine(&cayman(), 0, 0) + 0x310, 5);
  device.poke(sdmacc_soc_bcast(&cayman(), 1, 0, 4, SDMACC_Q_BCAST_MASK), 0x100);
  device.poke(cayman().core_base[1], 9);
  device.poke(sdmacc_soc_topsp(&cayman(), 1) + SDMACC_TOPSP_RAM + 8, 9);
  device.soc.reset();
  EXPECT_EQ(*device.at<std::uint32_t>(kTo), 1u) << "HBM stays";
  EXPECT_EQ(device.peek(sdmacc_soc_sem(&cayman(), 2, SDMACC_SEM_READ, 20)), 0u);
  EXPECT_EQ(device.peek(sdmacc_soc_engine(&cayman(), 0, 0) + 0x310), 0u);
  EXPECT_EQ(device.peek(sdmacc_soc_bcast(&cayman(), 1, 0, 4, SDMACC_Q_BCAST_MASK)), 0u);
  EXPECT_EQ(device.peek(cayman().core_base[1]), 0u);
  EXPECT_EQ(device.peek(sdmacc_soc_topsp(&cayman(), 1) + SDMACC_TOPSP_RAM + 8), 0u);
  EXPECT_EQ(device.peek(sdmacc_soc_topsp(&cayman(), 1) + SDMACC_TOPSP_RAM + 4), 0x400u);
  EXPECT_EQ(rig.state().ring[0].length, 0u);
  EXPECT_EQ(rig.read(Side::M2s, SDMACC_Q_CFG), SDMACC_Q_CFG_RESET);
  EXPECT_EQ(device.soc.counters().packets, 0u);
  rig.reset();
  rig.copy(kFrom, kTo + 4, 4);
  rig.go();
  EXPECT_EQ(*device.at<std::uint32_t>(kTo + 4), 1u);
}

}  // namespace
}  // namespace sdmacc::model::test
