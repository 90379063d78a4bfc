// SPDX-License-Identifier: MIT
// Words and addresses with known values: descriptors, semaphores, doorbells, CTRL entries, events.
#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "libuapi/abi/algo.h"
#include "libuapi/abi/enums.h"
#include "libuapi/abi/generation.h"
#include "libuapi/abi/isa.h"
#include "libuapi/abi/topsp.h"
#include "libuapi/abi/udma.h"

namespace sdmacc {
namespace {

const sdmacc_generation& cayman() {
  return *sdmacc_generation_by_arch(SDMACC_ARCH_CAYMAN);
}

using Entry = std::array<uint8_t, 8>;

TEST(Vectors, PlainCopyOf64KiB) {
  const uint32_t len = sdmacc_len_ctrl(65536, SDMACC_LEN_FIRST | SDMACC_LEN_LAST, 1);
  EXPECT_EQ(len, 0x0d000000u);
  EXPECT_EQ(sdmacc_desc_bytes(len), 65536u);
  EXPECT_EQ(SDMACC_META_COPY, 0x01080003u);
  EXPECT_EQ(sdmacc_meta_class(SDMACC_META_COPY), SDMACC_CLASS_CME);
  EXPECT_EQ(sdmacc_meta_sub(SDMACC_META_COPY), 0u);
}

TEST(Vectors, CopyOf4KiBWithWriteBarrier) {
  const uint32_t len = sdmacc_len_ctrl(4096, SDMACC_LEN_FIRST | SDMACC_LEN_LAST, 2);
  EXPECT_EQ(len, 0x0e001000u);
  EXPECT_EQ(sdmacc_desc_bytes(len), 4096u);
  EXPECT_EQ(SDMACC_META_COPY | SDMACC_META_WRITE_BARRIER, 0x05080003u);
}

TEST(Vectors, StrongOrderWrite) {
  EXPECT_EQ(
      sdmacc_len_ctrl(4096, SDMACC_LEN_FIRST | SDMACC_LEN_LAST | SDMACC_LEN_STRONG_ORDER_WR, 1),
      0x2d001000u);
}

TEST(Vectors, CceWords) {
  // Class and sub-type of the published constants; data type nibbles are zero.
  EXPECT_EQ(sdmacc_cce_word1(SDMACC_CCE_ADD, 0, 0, 0, 0), 0x02000003u);
  EXPECT_EQ(sdmacc_cce_word1(SDMACC_CCE_FMA, 0, 0, 0, 0), 0x02100003u);
  EXPECT_EQ(sdmacc_cce_word1(SDMACC_CCE_MAX, 0, 0, 0, 0), 0x02200003u);
  EXPECT_EQ(sdmacc_cce_word1(SDMACC_CCE_MIN, 0, 0, 0, 1), 0x06300003u);
  EXPECT_EQ(sdmacc_cce_word1(SDMACC_CCE_ADD, 0xa, 0xa, 0xb, 0), 0x020baa03u);
  for (uint32_t type = SDMACC_CCE_ADD; type <= SDMACC_CCE_GCE; ++type) {
    const uint32_t word = sdmacc_cce_word1(type, 6, 6, 6, 1);
    EXPECT_EQ(sdmacc_meta_class(word), SDMACC_CLASS_CCE);
    EXPECT_EQ(sdmacc_meta_sub(word), type);
  }
  EXPECT_EQ(sdmacc_cce_words23(0x09000800, 0x3f800000), 0x3f80000009000800u);
  EXPECT_EQ(SDMACC_FMA_SELECTORS, 0x09000000u);
}

TEST(Vectors, SemaphoreThroughItsWindows) {
  EXPECT_EQ(sdmacc_soc_sem(&cayman(), 9, SDMACC_SEM_INC, 5), 0x8082c0001814u);
  EXPECT_EQ(sdmacc_soc_sem(&cayman(), 9, SDMACC_SEM_READ, 5), 0x8082c0001014u);
  EXPECT_EQ(sdmacc_soc_sem(&cayman(), 9, SDMACC_SEM_DEC, 5), 0x8082c0001c14u);
  EXPECT_EQ(sdmacc_soc_sem(&cayman(), 0, SDMACC_SEM_INC, 0), 0x8280001800u);
  EXPECT_EQ(SDMACC_SEM_READ + SDMACC_SEM_READ_TO_INC, SDMACC_SEM_INC);
  EXPECT_EQ(SDMACC_SEM_READ + SDMACC_SEM_READ_TO_DEC, SDMACC_SEM_DEC);
}

TEST(Vectors, BroadcastDoorbell) {
  EXPECT_EQ(sdmacc_soc_bcast(&cayman(), 0, 0, 3, SDMACC_Q_TAIL_INC), 0x1002084038u);
  EXPECT_EQ(sdmacc_soc_bcast(&cayman(), 0, SDMACC_S2M_OFFSET, 3, SDMACC_Q_TAIL_INC), 0x10020a4038u);
}

TEST(Vectors, BroadcastMask) {
  EXPECT_EQ(sdmacc_bcast_mask(0x0000ffff, 0), 0x00000100u);
  EXPECT_EQ(sdmacc_bcast_mask(0x0000000f, 0), 0xfff00100u);
  EXPECT_EQ(sdmacc_bcast_mask(0x000f0000, 1), 0xfff00100u);
  EXPECT_EQ(sdmacc_bcast_engines(0xfff00100), 0x000fu);
}

TEST(Vectors, CtrlEntryOfARing) {
  sdmacc_ctrl_entry entry{};
  entry.header = SDMACC_CTRL_CC_OP;
  entry.algo = sdmacc_ctrl_algo(SDMACC_ALG_RING, 0, 1);
  entry.flags = SDMACC_CTRL_REPORTER;
  entry.u.channel_list = 0xf;
  EXPECT_EQ(std::bit_cast<Entry>(entry), (Entry{0x01, 0x80, 0x01, 0, 0x0f, 0, 0, 0}));
}

TEST(Vectors, CtrlEntryOfAMesh) {
  sdmacc_ctrl_entry entry{};
  entry.header = SDMACC_CTRL_CC_OP;
  entry.algo = sdmacc_ctrl_algo(SDMACC_ALG_MESH, SDMACC_MESH_TRN2, 1);
  entry.u.mesh.sema_shift_offset = 8;
  entry.u.mesh.sema_mask = 0xff;
  EXPECT_EQ(std::bit_cast<Entry>(entry), (Entry{0x01, 0xa2, 0, 0, 0x08, 0, 0xff, 0}));
}

TEST(Vectors, CtrlFlags) {
  EXPECT_EQ(SDMACC_CTRL_REPORTER, 1u);
  EXPECT_EQ(SDMACC_CTRL_RING_WAIT_COMPLETE, 2u);
  EXPECT_EQ(SDMACC_CTRL_RING_SEND_COMPLETE, 4u);
  EXPECT_EQ(SDMACC_CTRL_SAFE_MODE, 8u);
  EXPECT_EQ(SDMACC_CTRL_UNIQUE_TENSORS, 16u);
}

TEST(Vectors, SlotWords) {
  const uint64_t word = sdmacc_slot_word(2, 1, 7);
  EXPECT_EQ(word, 0x0002000100000007u);
  EXPECT_EQ(sdmacc_slot_m2s(word), 2u);
  EXPECT_EQ(sdmacc_slot_s2m(word), 1u);
  EXPECT_EQ(sdmacc_slot_times(word), 7u);
  EXPECT_FALSE(sdmacc_slot_is_end(word));
  EXPECT_FALSE(sdmacc_slot_is_continue(word));
  EXPECT_EQ(SDMACC_SLOT_CONTINUE, 0xfffefffe00000000u);
  EXPECT_TRUE(sdmacc_slot_is_continue(SDMACC_SLOT_CONTINUE));
  EXPECT_FALSE(sdmacc_slot_is_end(SDMACC_SLOT_CONTINUE));
  // A completion address of either die ends the list; a step that only waits does not.
  EXPECT_TRUE(sdmacc_slot_is_end(sdmacc_soc_sem(&cayman(), 0, SDMACC_SEM_INC, 8)));
  EXPECT_TRUE(sdmacc_slot_is_end(sdmacc_soc_sem(&cayman(), 9, SDMACC_SEM_INC, 8)));
  EXPECT_FALSE(sdmacc_slot_is_end(sdmacc_slot_word(0, 0, 1)));
}

TEST(Vectors, Events) {
  const sdmacc_isa_events events = {SDMACC_WAIT_SEM_GT, 10, SDMACC_UPDATE_SEM_INC_COMPLETE, 22, 0};
  EXPECT_EQ(sdmacc_isa_events_u64(events), 0x0000000016130a04u);
  EXPECT_EQ(std::bit_cast<uint64_t>(events), 0x0000000016130a04u);
  const sdmacc_isa_events with_value = {1, 2, 3, 0xff, 0x89abcdef};
  EXPECT_EQ(sdmacc_isa_events_u64(with_value), 0x89abcdefff030201u);
}

TEST(Vectors, SemaphoreIncrementRecord) {
  const auto bytes = std::bit_cast<std::array<uint8_t, 64>>(sdmacc_isa_sem_add(5, 1));
  std::array<uint8_t, 64> expected{};
  expected[0x00] = 0xa0;
  expected[0x01] = 0x10;
  expected[0x22] = 0x15;
  expected[0x23] = 0x05;
  expected[0x28] = 0x01;
  EXPECT_EQ(bytes, expected);
}

TEST(Vectors, ReduceOperationMask) {
  for (unsigned op = 0; op < 256; ++op) {
    EXPECT_EQ(sdmacc_alu_passes_load(op) != 0, op == 4 || op == 6 || op == 8 || op == 9) << op;
  }
}

}  // namespace
}  // namespace sdmacc
