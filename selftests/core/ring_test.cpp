// SPDX-License-Identifier: MIT
// Ring arithmetic against counting one descriptor at a time.
#include "libuapi/core/ring.h"

#include <gtest/gtest.h>

namespace {

TEST(Ring, AdvanceIsCountingOneByOne) {
  for (const std::uint32_t length : {32u, 48u, 64u})
    for (std::uint32_t start = 0; start < length; ++start) {
      std::uint32_t index = start, id = 1;
      for (std::uint32_t count = 0; count < 5 * length; ++count) {
        const sdmacc_ring_pos pos = sdmacc_ring_advance({start, 1}, length, count);
        ASSERT_EQ(pos.index, index) << length << ' ' << start << ' ' << count;
        ASSERT_EQ(pos.ring_id, id);
        if (++index == length) index = 0, id = (id + 1) % 4;
      }
    }
}

TEST(Ring, AdvanceTakesTheLargestRing) {
  const std::uint32_t length = SDMACC_RING_MAX_DESCS;
  const sdmacc_ring_pos pos = sdmacc_ring_advance({length - 1, 3}, length, 0xffffffff);
  EXPECT_EQ(pos.index, (0xffffffffull + length - 1) % length);
  EXPECT_EQ(pos.ring_id, (3 + (0xffffffffull + length - 1) / length) % 4);
}

TEST(Ring, StartsAtZeroWithIdOne) {
  EXPECT_EQ(sdmacc_ring_start().index, 0u);
  EXPECT_EQ(sdmacc_ring_start().ring_id, 1u);
  EXPECT_EQ(sdmacc_ring_register({5, 2}), 0x80000005u);
}

TEST(Ring, UsedAndFreeAddUp) {
  EXPECT_EQ(sdmacc_ring_used(0, 0, 32), 0u);
  EXPECT_EQ(sdmacc_ring_free(0, 0, 32), 31u);
  EXPECT_EQ(sdmacc_ring_used(30, 2, 32), 4u);
  EXPECT_EQ(sdmacc_ring_used(2, 30, 32), 28u);
  for (std::uint32_t head = 0; head < 32; ++head)
    for (std::uint32_t tail = 0; tail < 32; ++tail)
      EXPECT_EQ(sdmacc_ring_used(head, tail, 32) + sdmacc_ring_free(head, tail, 32), 31u);
}

TEST(Ring, LengthIsAMultipleOf16AndAtLeast32) {
  EXPECT_EQ(sdmacc_ring_length(0), 32u);
  EXPECT_EQ(sdmacc_ring_length(32), 32u);
  EXPECT_EQ(sdmacc_ring_length(33), 48u);
  EXPECT_EQ(sdmacc_ring_length(48), 48u);
  EXPECT_EQ(sdmacc_ring_length(SDMACC_RING_MAX_DESCS), SDMACC_RING_MAX_DESCS);
  EXPECT_EQ(sdmacc_ring_length(SDMACC_RING_MAX_DESCS + 1ull), 0u);
  EXPECT_EQ(sdmacc_ring_length(~0ull), 0u);
}

}  // namespace
