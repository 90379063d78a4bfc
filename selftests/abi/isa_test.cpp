// SPDX-License-Identifier: MIT
// Instruction words: observed ones field by field, and each structure against bytes written by
// offset.
#include "libuapi/abi/isa.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <set>

#include "libuapi/abi/enums.h"

namespace sdmacc {
namespace {

static_assert(std::endian::native == std::endian::little);

using Word = std::array<uint8_t, SDMACC_ISA_WORD_BYTES>;

template <class T>
T decode(const Word& bytes) {
  static_assert(sizeof(T) == sizeof(Word));
  return std::bit_cast<T>(bytes);
}

template <class T>
void put(Word& word, size_t at, T value) {
  std::memcpy(word.data() + at, &value, sizeof(value));
}

Word word_of(std::initializer_list<int> head) {
  Word word{};
  size_t at = 0;
  for (int byte : head) word[at++] = static_cast<uint8_t>(byte);
  return word;
}

// What follows header and events, as text.
const char* body(const Word& word) {
  return reinterpret_cast<const char*>(word.data()) + sizeof(sdmacc_isa_header) +
         sizeof(sdmacc_isa_events);
}

void expect_header(const sdmacc_isa_header& header, unsigned opcode) {
  EXPECT_EQ(header.opcode, opcode);
  EXPECT_EQ(header.inst_word_len, SDMACC_ISA_WORD_LEN);
  EXPECT_EQ(header.debug_cmd, 0);
  EXPECT_EQ(header.debug_hint, 0);
}

template <size_t kSize>
void expect_zero(const uint8_t (&bytes)[kSize]) {
  for (uint8_t byte : bytes) EXPECT_EQ(byte, 0);
}

TEST(Opcodes, ClassOfAll256) {
  for (unsigned op = 0; op < 256; ++op) {
    EXPECT_EQ(sdmacc_isa_is_pseudo(op) != 0, op >= 0xc0 && op <= 0xdf) << op;
  }
  EXPECT_FALSE(sdmacc_isa_is_pseudo(SDMACC_OP_SB2SB_COLLECTIVE));
  EXPECT_TRUE(sdmacc_isa_is_pseudo(SDMACC_OP_EXTENSION));
}

TEST(Opcodes, Numbers) {
  const std::set<unsigned> expected = {
      0x85, 0x86, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xb0,
      0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb7, 0xb8, 0xbb, 0xbd, 0xbe, 0xbf, 0xc1, 0xc2, 0xc3, 0xc4,
      0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3,
      0xd4, 0xd5, 0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xf0, 0xf1, 0xff};
  std::set<unsigned> have;
#define SDMACC_TEST_COLLECT(code, name) have.insert(SDMACC_OP_##name);
  SDMACC_ISA_OPCODES(SDMACC_TEST_COLLECT)
  EXPECT_EQ(have, expected);
  EXPECT_EQ(SDMACC_OP_TRIGGER_ALL_REDUCE, 0xc7);
  EXPECT_EQ(SDMACC_OP_TRIGGER_COLLECTIVE, 0xc8);
  EXPECT_EQ(SDMACC_OP_SEND_RECV, 0xcb);
  EXPECT_EQ(SDMACC_OP_TRIGGER_COLLECTIVE2, 0xd9);
  EXPECT_EQ(SDMACC_OP_EXTENSION, 0xda);
  EXPECT_EQ(SDMACC_OP_SB2SB_COLLECTIVE, 0xbf);
  EXPECT_EQ(SDMACC_OP_WRITE, 0xa5);
  EXPECT_EQ(SDMACC_OP_NOP, 0xa4);
}

TEST(Events, Modes) {
  EXPECT_EQ(SDMACC_WAIT_NONE, 0x00);
  EXPECT_EQ(SDMACC_WAIT_SEM_EQ, 0x01);
  EXPECT_EQ(SDMACC_WAIT_SEM_LT, 0x02);
  EXPECT_EQ(SDMACC_WAIT_SEM_LE, 0x03);
  EXPECT_EQ(SDMACC_WAIT_SEM_GT, 0x04);
  EXPECT_EQ(SDMACC_WAIT_SEM_GE, 0x05);
  EXPECT_EQ(SDMACC_WAIT_SEM_GE | SDMACC_WAIT_REGISTER, 0x85);
  EXPECT_EQ(SDMACC_WAIT_UNORDERED, 0xfe);
  EXPECT_EQ(SDMACC_UPDATE_NONE, 0x00);
  EXPECT_EQ(SDMACC_UPDATE_SEM_INC_READ, 0x03);
  EXPECT_EQ(SDMACC_UPDATE_SEM_DEC_READ, 0x04);
  EXPECT_EQ(SDMACC_UPDATE_SEM_ADD_READ, 0x05);
  EXPECT_EQ(SDMACC_UPDATE_SEM_INC_COMPLETE, 0x13);
  EXPECT_EQ(SDMACC_UPDATE_SEM_DEC_COMPLETE, 0x14);
  EXPECT_EQ(SDMACC_UPDATE_SEM_ADD_COMPLETE, 0x15);
  EXPECT_EQ(SDMACC_UPDATE_SEM_SUB_REG_READ, 0x87);
  EXPECT_EQ(SDMACC_UPDATE_SEM_SUB_REG_COMPLETE, 0x97);
  EXPECT_EQ(SDMACC_UPDATE_SEM_WRITE_REG_COMPLETE, 0x99);
}

// A word of a shipped program: FP32 ADD all-reduce of 32 elements from tensor 3 to tensor 4.
TEST(Observed, TriggerCollective) {
  const Word bytes = word_of({0xc8, 0x10, 0x00, 0x00, 0x04, 0x0a, 0x13, 0x16, 0x00, 0x00, 0x00,
                              0x00, 0x04, 0x0a, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x04, 0x00,
                              0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01});
  const auto word = decode<sdmacc_isa_c8>(bytes);
  expect_header(word.header, SDMACC_OP_TRIGGER_COLLECTIVE);
  EXPECT_EQ(word.events.wait_mode, SDMACC_WAIT_SEM_GT);
  EXPECT_EQ(word.events.wait_idx, 10);
  EXPECT_EQ(word.events.update_mode, SDMACC_UPDATE_SEM_INC_COMPLETE);
  EXPECT_EQ(word.events.update_idx, 22);
  EXPECT_EQ(word.events.semaphore_value, 0u);
  EXPECT_EQ(word.op, SDMACC_ALU_ADD);
  EXPECT_EQ(word.dtype, SDMACC_DTYPE_FP32);
  EXPECT_EQ(word.group_id, 0);
  EXPECT_EQ(word.input_tensor_id, 3u);
  EXPECT_EQ(word.output_tensor_id, 4u);
  EXPECT_EQ(word.num_elements, 32u);
  EXPECT_EQ(word.ctype, SDMACC_CTYPE_ALL_REDUCE);
  expect_zero(word.reserved);
  EXPECT_EQ(word.src_offset_elems, 0u);
  EXPECT_EQ(word.dst_offset_elems, 0u);
  // 32 elements are one of the program's 128-byte variables.
  EXPECT_EQ(word.num_elements * static_cast<unsigned>(sdmacc_dtype_dma_size(word.dtype)), 128u);
}

TEST(Observed, PoolTriggersInputQueue) {
  Word bytes = word_of({0xc1, 0x10});
  std::memcpy(bytes.data() + 12, "q_gradient_in", 13);
  const auto word = decode<sdmacc_isa_c7>(bytes);  // for its header and events
  expect_header(word.header, SDMACC_OP_DMA_TRIGGER);
  EXPECT_EQ(word.events.wait_mode, SDMACC_WAIT_NONE);
  EXPECT_EQ(sdmacc_isa_events_u64(word.events), 0u);
  EXPECT_STREQ(body(bytes), "q_gradient_in");
}

TEST(Observed, PoolTriggersOutputQueueAfterTheCollective) {
  Word bytes = word_of({0xc1, 0x10, 0x00, 0x00, 0x04, 0x16});
  std::memcpy(bytes.data() + 12, "q_gradient_out", 14);
  const auto word = decode<sdmacc_isa_c7>(bytes);
  expect_header(word.header, SDMACC_OP_DMA_TRIGGER);
  EXPECT_EQ(word.events.wait_mode, SDMACC_WAIT_SEM_GT);
  EXPECT_EQ(word.events.wait_idx, 22);
  EXPECT_EQ(word.events.update_mode, SDMACC_UPDATE_NONE);
  EXPECT_EQ(word.events.semaphore_value, 0u);
  EXPECT_STREQ(body(bytes), "q_gradient_out");
}

TEST(Observed, PoolWaitsForOutputQueue) {
  const auto word = decode<sdmacc_isa_a0>(word_of({0xa0, 0x10, 0x00, 0x00, 0x04, 0x0b}));
  expect_header(word.header, SDMACC_OP_EVENT_SEMAPHORE);
  EXPECT_EQ(word.events.wait_mode, SDMACC_WAIT_SEM_GT);
  EXPECT_EQ(word.events.wait_idx, 11);
  EXPECT_EQ(word.events.update_mode, SDMACC_UPDATE_NONE);
  EXPECT_EQ(word.events.semaphore_value, 0u);
}

TEST(Layout, TriggerAllReduce) {
  Word bytes = word_of({0xc7, 0x10});
  put<uint8_t>(bytes, 12, 8);
  put<uint8_t>(bytes, 13, 6);
  put<uint32_t>(bytes, 16, 0x01020304);
  put<uint32_t>(bytes, 20, 0x05060708);
  put<uint64_t>(bytes, 24, 0x1112131415161718);
  const auto word = decode<sdmacc_isa_c7>(bytes);
  expect_header(word.header, SDMACC_OP_TRIGGER_ALL_REDUCE);
  EXPECT_EQ(word.op, SDMACC_ALU_MAX);
  EXPECT_EQ(word.dtype, SDMACC_DTYPE_BF16);
  EXPECT_EQ(word.input_tensor_id, 0x01020304u);
  EXPECT_EQ(word.output_tensor_id, 0x05060708u);
  EXPECT_EQ(word.num_elements, 0x1112131415161718u);
  expect_zero(word.reserved0);
  expect_zero(word.reserved1);
}

TEST(Layout, TriggerCollective) {
  Word bytes = word_of({0xc8, 0x10});
  put<uint16_t>(bytes, 14, 0xabcd);
  put<uint8_t>(bytes, 32, 9);
  put<uint64_t>(bytes, 48, 0x2122232425262728);
  put<uint64_t>(bytes, 56, 0x3132333435363738);
  const auto word = decode<sdmacc_isa_c8>(bytes);
  EXPECT_EQ(word.group_id, 0xabcd);
  EXPECT_EQ(word.ctype, SDMACC_CTYPE_ALL_TO_ALL_V);
  EXPECT_EQ(word.src_offset_elems, 0x2122232425262728u);
  EXPECT_EQ(word.dst_offset_elems, 0x3132333435363738u);
}

TEST(Layout, TriggerCollective2AndExtension) {
  Word first = word_of({0xd9, 0x10});
  put<uint8_t>(first, 12, 4);
  put<uint8_t>(first, 13, 7);
  put<uint8_t>(first, 14, 3);
  put<uint8_t>(first, 15, 1);
  put<uint64_t>(first, 16, 0x1000000000000007);
  put<int32_t>(first, 24, 1);
  put<int32_t>(first, 28, -4);
  put<uint32_t>(first, 32, 64);
  put<uint32_t>(first, 36, 128);
  put<uint64_t>(first, 40, 0x1000000000000008);
  const auto d9 = decode<sdmacc_isa_d9>(first);
  expect_header(d9.header, SDMACC_OP_TRIGGER_COLLECTIVE2);
  EXPECT_EQ(d9.op, SDMACC_ALU_ADD);
  EXPECT_EQ(d9.dtype, SDMACC_DTYPE_FP16);
  EXPECT_EQ(d9.ctype, SDMACC_CTYPE_ALL_GATHER);
  EXPECT_EQ(d9.cc_dim, 1);
  EXPECT_EQ(d9.src0.addr, sdmacc_addr8_variable(7));
  EXPECT_EQ(d9.src0.step[0], 1);
  EXPECT_EQ(d9.src0.step[1], -4);
  EXPECT_EQ(d9.src0.num[0], 64u);
  EXPECT_EQ(d9.src0.num[1], 128u);
  EXPECT_EQ(d9.src1.addr, sdmacc_addr8_variable(8));

  Word second = word_of({0xda, 0x03});
  put<uint16_t>(second, 2, 0x1122);
  put<uint16_t>(second, 4, 0x3344);
  put<uint16_t>(second, 6, 0x5566);
  put<uint64_t>(second, 8, 0x1000000000000009);
  put<uint32_t>(second, 28, 77);
  put<uint64_t>(second, 32, 0x4142434445464748);
  put<uint8_t>(second, 41, 0xfd);
  const auto da = decode<sdmacc_isa_da>(second);
  EXPECT_EQ(da.opcode, SDMACC_OP_EXTENSION);
  EXPECT_EQ(da.instr_chaining, SDMACC_CHAIN_FINAL);
  EXPECT_EQ(da.group_id, 0x1122);
  EXPECT_EQ(da.channel_id, 0x3344);
  EXPECT_EQ(da.stream_id, 0x5566);
  EXPECT_EQ(da.dst.addr, sdmacc_addr8_variable(9));
  EXPECT_EQ(da.dst.num[1], 77u);
  EXPECT_EQ(da.cc_buf_start_addr, 0x4142434445464748u);
  EXPECT_EQ(da.priority & SDMACC_ISA_DA_PRIORITY_MASK, 5u);
}

TEST(Layout, SendRecv) {
  Word bytes = word_of({0xcb, 0x10});
  put<uint32_t>(bytes, 12, 5);
  put<uint64_t>(bytes, 16, 0x5152535455565758);
  put<uint8_t>(bytes, 24, 1);
  put<uint64_t>(bytes, 48, 0x100);
  put<uint64_t>(bytes, 56, 0x2000);
  const auto word = decode<sdmacc_isa_cb>(bytes);
  expect_header(word.header, SDMACC_OP_SEND_RECV);
  EXPECT_EQ(word.tensor_id, 5u);
  EXPECT_EQ(word.peer_id, 0x5152535455565758u);
  EXPECT_EQ(word.is_send, 1);
  expect_zero(word.reserved);
  EXPECT_EQ(word.offset_bytes, 0x100u);
  EXPECT_EQ(word.size_bytes, 0x2000u);
  // The two published views of the word overlap here.
  EXPECT_EQ(SDMACC_ISA_CB_COMPILER_TENSOR_ID, offsetof(sdmacc_isa_cb, peer_id));
  EXPECT_EQ(SDMACC_ISA_CB_COMPILER_TENSOR_BASE, offsetof(sdmacc_isa_cb, offset_bytes));
  EXPECT_EQ(SDMACC_ISA_CB_COMPILER_COUNT, offsetof(sdmacc_isa_cb, size_bytes));
}

TEST(Layout, Sb2sbCollective) {
  Word bytes = word_of({0xbf, 0x10});
  put<uint8_t>(bytes, 12, 6);
  put<uint8_t>(bytes, 13, 6);
  put<uint32_t>(bytes, 16, 0x02000010);
  put<int16_t>(bytes, 20, -1);
  put<uint16_t>(bytes, 26, 256);
  put<uint8_t>(bytes, 32, 1);
  put<uint8_t>(bytes, 33, 128);
  put<uint32_t>(bytes, 48, 0x00000020);
  put<uint16_t>(bytes, 62, 3);
  const auto word = decode<sdmacc_isa_bf>(bytes);
  expect_header(word.header, SDMACC_OP_SB2SB_COLLECTIVE);
  EXPECT_EQ(word.in_dtype, SDMACC_DTYPE_BF16);
  EXPECT_EQ(word.out_dtype, SDMACC_DTYPE_BF16);
  EXPECT_NE(word.src.addr & SDMACC_SBUF_PSUM_BIT, 0u);
  EXPECT_EQ(word.src.step[0], -1);
  EXPECT_EQ(word.src.num[0], SDMACC_ISA_BF_MAX_ELEMENTS);
  EXPECT_EQ(word.lnc_size_fmt, SDMACC_ISA_BF_LNC2);
  EXPECT_EQ(word.num_active_channels, SDMACC_ISA_BF_MAX_CHANNELS);
  expect_zero(word.reserved0);
  expect_zero(word.reserved1);
  EXPECT_EQ(word.dst.addr, 0x20u);
  EXPECT_EQ(word.dst.num[2], 3);
}

TEST(Address, Markers) {
  EXPECT_EQ(sdmacc_addr8_variable(0xdeadbeef), 0x10000000deadbeefu);
  EXPECT_EQ(sdmacc_addr8_marker(sdmacc_addr8_variable(3)), SDMACC_ADDR8_VARIABLE);
  for (uint64_t low = 0; low < 4; ++low) {
    EXPECT_EQ(sdmacc_addr8_marker((0x10 | low) << 56), SDMACC_ADDR8_VARIABLE);
    EXPECT_EQ(sdmacc_addr8_marker(low << 56 | 0x1234), SDMACC_ADDR8_IMMEDIATE);
  }
  EXPECT_NE(sdmacc_addr8_marker(0x1400000000000000), SDMACC_ADDR8_VARIABLE);
  EXPECT_EQ(sdmacc_addr8_marker(0x2000000000000000), SDMACC_ADDR8_TABLE);
  EXPECT_EQ(sdmacc_addr8_marker(0xc000000000000000),
            SDMACC_ADDR8_SHAPE_REGISTER | SDMACC_ADDR8_ADDRESS_REGISTER);
  EXPECT_EQ(SDMACC_ADDR8_OFFSET_REGISTER, 0x08u);
  EXPECT_EQ(SDMACC_ADDR8_WIDE, 0x04u);
}

TEST(Records, WaitThenSubtract) {
  const auto bytes = std::bit_cast<Word>(sdmacc_isa_sem_wait_sub(9, 0x01020304, 1));
  Word expected = word_of({0xa0, 0x10});
  expected[0x20] = 0x05;
  expected[0x21] = 9;
  expected[0x22] = 0x14;
  expected[0x23] = 9;
  put<uint32_t>(expected, 0x24, 0x01020304);
  put<uint32_t>(expected, 0x28, 1);
  EXPECT_EQ(bytes, expected);
}

// What is left of a trigger word: its events, and one store to the trigger semaphore's INC address.
TEST(Records, WriteTakesOverTheEvents) {
  const sdmacc_isa_events events = {SDMACC_WAIT_SEM_GT, 10, SDMACC_UPDATE_SEM_INC_COMPLETE, 22, 0};
  const auto bytes = std::bit_cast<Word>(sdmacc_isa_write(events, 0x8082c0001800, 1));
  Word expected = word_of({0xa5, 0x10, 0x00, 0x00, 0x04, 0x0a, 0x13, 0x16});
  put<uint64_t>(expected, 16, 0x8082c0001800);
  put<uint32_t>(expected, 24, 1);
  EXPECT_EQ(bytes, expected);
}

}  // namespace
}  // namespace sdmacc
