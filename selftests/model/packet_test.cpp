// SPDX-License-Identifier: MIT
// Each kind of packet done right, on both kinds of generation.
#include <gtest/gtest.h>

#include <numeric>

#include "selftests/model/support.hpp"

namespace sdmacc::model::test {
namespace {

constexpr std::uint64_t kA = 0x400000, kB = 0x420000, kC = 0x440000, kD = 0x460000;

class Packets : public testing::Test {
 protected:
  std::vector<std::uint8_t> bytes(std::size_t n, unsigned seed) {
    std::vector<std::uint8_t> v(n);
    std::iota(v.begin(), v.end(), static_cast<std::uint8_t>(seed));
    return v;
  }
  void expect_clean() {
    for (const ErrorRecord& e : device.errors()) ADD_FAILURE() << to_string(e);
  }

  Device device;
  Rig rig{device};
};

TEST_F(Packets, CopiesOfEveryLength) {
  for (const std::uint32_t n : {1u, 3u, 4u, 5u, 4096u, 65535u, 65536u}) {
    device.put(kA, bytes(65536, n));
    device.put(kB, std::vector<std::uint8_t>(65540, 0xee));
    rig.copy(kA, kB, n & 0xffff);
    rig.go();
    EXPECT_EQ(device.get<std::uint8_t>(kB, n), device.get<std::uint8_t>(kA, n)) << n;
    EXPECT_EQ(device.get<std::uint8_t>(kB + n, 4), std::vector<std::uint8_t>(4, 0xee)) << n;
  }
  expect_clean();
}

TEST_F(Packets, BarriersAndOtherFlagsOfACopy) {
  device.put(kA, bytes(16, 1));
  rig.copy(kA, kB, 16, SDMACC_META_COPY | SDMACC_META_WRITE_BARRIER);
  // What the public driver writes: no FIRST or LAST on the write side; DMB for scrubbing.
  rig.m2s(sdmacc_len_ctrl(16, SDMACC_LEN_FIRST | SDMACC_LEN_LAST | SDMACC_LEN_DMB, 0),
          SDMACC_META_COPY, kB);
  rig.s2m(16, kC);
  rig.m2s(sdmacc_len_ctrl(16, SDMACC_LEN_FIRST | SDMACC_LEN_LAST | SDMACC_LEN_NO_SNOOP, 0),
          SDMACC_META_COPY, kC);
  rig.s2m(sdmacc_len_ctrl(16, SDMACC_LEN_INT_EN | SDMACC_LEN_STRONG_ORDER_WR | SDMACC_LEN_FIRST, 0),
          kD);
  rig.go();
  expect_clean();
  EXPECT_EQ(device.get<std::uint8_t>(kD, 16), bytes(16, 1))
      << "in order, each reads what the one before wrote";
}

TEST_F(Packets, ACopyMayOverlapItself) {
  device.put(kA, bytes(100, 0));
  rig.copy(kA, kA + 1, 99);
  rig.go();
  expect_clean();
  EXPECT_EQ(device.get<std::uint8_t>(kA + 1, 99), bytes(99, 0));
}

TEST_F(Packets, CopiesReachEveryMemory) {
  const std::uint64_t sbuf = cayman().core_base[5],
                      ram = sdmacc_soc_topsp(&cayman(), 12) + SDMACC_TOPSP_RAM + 0x50000;
  const std::uint64_t far = cayman().hbm_base[3] + 64;
  device.put(kA, bytes(64, 3));
  rig.copy(kA, sbuf, 64);
  rig.copy(sbuf, ram, 64);
  rig.copy(ram, far, 64);
  rig.copy(SDMACC_CHIP_VALID | far, kB, 64);
  rig.go();
  expect_clean();
  EXPECT_EQ(device.get<std::uint8_t>(kB, 64), bytes(64, 3));
}

TEST_F(Packets, FourBytesToARegisterAreAWrite) {
  const auto sem = [](std::uint32_t window) { return sdmacc_soc_sem(&cayman(), 9, window, 5); };
  device.put<std::uint32_t>(kA, {7});
  for (const std::uint32_t w : {SDMACC_SEM_INC, SDMACC_SEM_INC, SDMACC_SEM_DEC, SDMACC_SEM_INC})
    rig.copy(kA, sem(w), 4);
  rig.copy(kA, cayman().core_base[0] + cayman().tpb_peripherals + 0x2700000 + SDMACC_SEM_INC + 28,
           4);
  rig.go();
  expect_clean();
  EXPECT_EQ(device.peek(sem(SDMACC_SEM_READ)), 14u);
  EXPECT_EQ(device.soc.semaphores(0).value(7), 7u);
  // And from a register.
  rig.copy(sem(SDMACC_SEM_READ), kB, 4);
  rig.copy(sem(SDMACC_SEM_READ), sdmacc_soc_sem(&cayman(), 3, SDMACC_SEM_SET, 30), 4);
  rig.go();
  expect_clean();
  EXPECT_EQ(*device.at<std::uint32_t>(kB), 14u);
  EXPECT_EQ(device.peek(sdmacc_soc_sem(&cayman(), 3, SDMACC_SEM_READ, 30)), 14u);
}

TEST_F(Packets, Replication) {
  device.put(kA, bytes(1000, 9));
  const std::uint32_t control = sdmacc_len_ctrl(1000, SDMACC_LEN_FIRST | SDMACC_LEN_LAST, 0);
  for (const std::uint32_t n : {1u, 2u, 8u}) {
    rig.m2s(control, SDMACC_META_REPLICATE | (n == 2 ? SDMACC_META_WRITE_BARRIER : 0), kA);
    for (std::uint32_t i = 0; i < n; ++i)
      rig.s2m(sdmacc_len_ctrl(
                  1000, (i == 0 ? SDMACC_LEN_FIRST : 0) | (i + 1 == n ? SDMACC_LEN_LAST : 0), 0),
              kB + (n * 8 + i) * 1000);
  }
  rig.copy(kA, kC, 16);  // the next packet begins where it should
  rig.go();
  expect_clean();
  for (const std::uint32_t n : {1u, 2u, 8u})
    for (std::uint32_t i = 0; i < n; ++i)
      EXPECT_EQ(device.get<std::uint8_t>(kB + (n * 8 + i) * 1000, 1000), bytes(1000, 9))
          << n << " " << i;
  EXPECT_EQ(device.get<std::uint8_t>(kC, 16), bytes(16, 9));
}

TEST_F(Packets, AddMaxMinInEveryShape) {
  device.put<float>(kA, {1, -5, 100});
  device.put<float>(kB, {2, -6, 50});
  device.put<float>(kC, {4, -7, 25});
  rig.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, {kA, kB, kC}, {kD, kD + 64}, 12);
  rig.compute(SDMACC_CCE_MAX, SDMACC_DTYPE_FP32, {kA, kB, kC}, {kD + 128}, 12);
  rig.compute(SDMACC_CCE_MIN, SDMACC_DTYPE_FP32, {kA, kB, kC}, {kD + 192}, 12);
  rig.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, {kA}, {kD + 256}, 12);
  rig.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, {kA, kB}, {kA}, 12);  // in place
  rig.go();
  expect_clean();
  EXPECT_EQ(device.get<float>(kD, 3), (std::vector<float>{7, -18, 175}));
  EXPECT_EQ(device.get<float>(kD + 64, 3), (std::vector<float>{7, -18, 175}));
  EXPECT_EQ(device.get<float>(kD + 128, 3), (std::vector<float>{4, -5, 100}));
  EXPECT_EQ(device.get<float>(kD + 192, 3), (std::vector<float>{1, -7, 25}));
  EXPECT_EQ(device.get<float>(kD + 256, 3), (std::vector<float>{1, -5, 100}));
  EXPECT_EQ(device.get<float>(kA, 3), (std::vector<float>{3, -11, 150}));
}

TEST_F(Packets, FmaHasAScaleForEachSource) {
  device.put<float>(kA, {1, 2});
  device.put<float>(kB, {10, 20});
  device.put<float>(kC, {100, 200});
  rig.compute(SDMACC_CCE_FMA, SDMACC_DTYPE_FP32, {kA, kB, kC}, {kD}, 8, {2, 0.5f, -1});
  rig.compute(SDMACC_CCE_FMA, SDMACC_DTYPE_FP32, {kB}, {kD + 64}, 8, {3});
  rig.go();
  expect_clean();
  EXPECT_EQ(device.get<float>(kD, 2), (std::vector<float>{-93, -186}));
  EXPECT_EQ(device.get<float>(kD + 64, 2), (std::vector<float>{30, 60}));
}

TEST_F(Packets, EveryReducibleType) {
  // 1 + 2 = 3 in each of the narrow formats.
  const struct {
    std::uint32_t dtype;
    std::uint32_t bytes;
    std::uint16_t one, two, three;
  } formats[] = {{SDMACC_DTYPE_BF16, 2, 0x3f80, 0x4000, 0x4040},
                 {SDMACC_DTYPE_FP16, 2, 0x3c00, 0x4000, 0x4200},
                 {SDMACC_DTYPE_FP8E3, 1, 0x30, 0x40, 0x48},
                 {SDMACC_DTYPE_FP8E4, 1, 0x38, 0x40, 0x44},
                 {SDMACC_DTYPE_FP8E5, 1, 0x3c, 0x40, 0x42}};
  for (const auto& f : formats) {
    std::memcpy(device.at<std::uint8_t>(kA, 2), &f.one, 2);
    std::memcpy(device.at<std::uint8_t>(kB, 2), &f.two, 2);
    device.put<std::uint16_t>(kC, {0});
    rig.compute(SDMACC_CCE_ADD, f.dtype, {kA, kB}, {kC}, f.bytes);
    rig.go();
    expect_clean();
    EXPECT_EQ(*device.at<std::uint16_t>(kC), f.three) << f.dtype;
  }
}

TEST_F(Packets, AtTheLimits) {
  constexpr std::uint32_t kBytes = 0x2000;
  std::vector<std::uint64_t> from, to;
  for (unsigned i = 0; i < 32; ++i) {
    from.push_back(kA + i * kBytes);
    device.put(from.back(), std::vector<float>(kBytes / 4, static_cast<float>(1 << i % 16)));
  }
  for (unsigned i = 0; i < 8; ++i) to.push_back(0x800000 + i * kBytes);
  rig.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, from, to, kBytes);
  rig.go();
  expect_clean();
  for (const std::uint64_t d : to)
    EXPECT_EQ(device.get<float>(d, kBytes / 4), std::vector<float>(kBytes / 4, 2 * 65535.f));
  rig.reset();
  rig.compute(SDMACC_CCE_FMA, SDMACC_DTYPE_FP32, from, {to[0]}, kBytes,
              std::vector<float>(32, 0.5f));
  rig.go();
  expect_clean();
  EXPECT_EQ(device.get<float>(to[0], kBytes / 4), std::vector<float>(kBytes / 4, 65535.f));
  EXPECT_EQ(rig.state().ring[0].head_ring_id, 2u) << "64 descriptors, the whole ring";
}

TEST_F(Packets, APacketMayWrapAroundTheRing) {
  device.put<float>(kA, {1});
  device.put<float>(kB, {2});
  for (unsigned i = 0; i < 62; ++i) rig.copy(kA, kC, 16);
  rig.go();
  rig.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, {kA, kB, kA}, {kC, kC + 16, kD}, 4);
  rig.go();
  expect_clean();
  EXPECT_EQ(*device.at<float>(kD), 4);
  EXPECT_EQ(rig.state().ring[0].head, 2u);
  EXPECT_EQ(rig.state().ring[0].head_ring_id, 2u);
  EXPECT_EQ(rig.state().ring[1].head, 1u);
}

TEST(PacketsSunda, CopyAndOneDestination) {
  Device device(sunda());
  Rig rig{device, 20, 1};
  device.put<float>(kA, {1, 2});
  device.put<float>(kB, {4, 8});
  rig.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, {kA, kB}, {kC}, 8);
  rig.copy(kC, kD, 8);
  rig.copy(kA, sdmacc_soc_sem(&sunda(), 5, SDMACC_SEM_SET, 8), 4);
  rig.go();
  for (const ErrorRecord& e : device.errors()) ADD_FAILURE() << to_string(e);
  EXPECT_EQ(device.get<float>(kD, 2), (std::vector<float>{5, 10}));
  EXPECT_EQ(device.peek(sdmacc_soc_sem(&sunda(), 5, SDMACC_SEM_READ, 8)), 0x3f800000u);
}

}  // namespace
}  // namespace sdmacc::model::test
