// SPDX-License-Identifier: MIT
// decode: every carrier into one Instruction, and every rule with the text of its refusal. A case
// takes a good word and breaks one field.
#include "daemon/decode/decode.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "libuapi/abi/enums.h"
#include "libuapi/abi/isa.h"

namespace sdmacc {
namespace {

class Table final : public Names {
 public:
  std::optional<TensorInfo> tensor(std::uint32_t id) const override {
    switch (id) {
      case 3:
        return TensorInfo{4000, 1, 0, true};  // 1000 FP32
      case 4:
        return TensorInfo{4000, 2, 0, true};
      case 5:
        return TensorInfo{4000, 3, 0, false};  // read-only
      case 6:
        return TensorInfo{2000, 1, 2000, true};  // the second half of tensor 3's memory
      case 7:
        return TensorInfo{4000, 4, 2, true};  // at an odd place for FP32
      default:
        return std::nullopt;
    }
  }
  std::optional<std::uint32_t> group_size(std::uint32_t id) const override {
    return id <= 1 ? std::optional<std::uint32_t>(4) : std::nullopt;
  }
};

template <typename... Words>
std::vector<std::byte> bytes(const Words&... words) {
  std::vector<std::byte> out;
  (out.insert(out.end(), reinterpret_cast<const std::byte*>(&words),
              reinterpret_cast<const std::byte*>(&words) + sizeof words),
   ...);
  return out;
}

sdmacc_isa_c7 good_c7() {
  sdmacc_isa_c7 w{};
  w.header = sdmacc_isa_make_header(SDMACC_OP_TRIGGER_ALL_REDUCE);
  w.op = SDMACC_ALU_ADD;
  w.dtype = SDMACC_DTYPE_FP32;
  w.input_tensor_id = 3;
  w.output_tensor_id = 4;
  w.num_elements = 100;
  return w;
}

sdmacc_isa_c8 good_c8() {
  sdmacc_isa_c8 w{};
  w.header = sdmacc_isa_make_header(SDMACC_OP_TRIGGER_COLLECTIVE);
  w.op = SDMACC_ALU_MAX;
  w.dtype = SDMACC_DTYPE_BF16;
  w.group_id = 1;
  w.input_tensor_id = 3;
  w.output_tensor_id = 4;
  w.num_elements = 100;
  w.ctype = SDMACC_CTYPE_ALL_REDUCE;
  w.src_offset_elems = 7;
  w.dst_offset_elems = 9;
  return w;
}

sdmacc_isa_d9 good_d9() {
  sdmacc_isa_d9 w{};
  w.header = sdmacc_isa_make_header(SDMACC_OP_TRIGGER_COLLECTIVE2);
  w.op = SDMACC_ALU_MIN;
  w.dtype = SDMACC_DTYPE_FP16;
  w.ctype = SDMACC_CTYPE_ALL_REDUCE;
  w.src0 = {sdmacc_addr8_variable(3), {1, 25}, {25, 4}};
  return w;
}

sdmacc_isa_da good_da() {
  sdmacc_isa_da w{};
  w.opcode = SDMACC_OP_EXTENSION;
  w.instr_chaining = SDMACC_CHAIN_INITIAL;
  w.group_id = 1;
  w.channel_id = 2;
  w.stream_id = 3;
  w.dst = {sdmacc_addr8_variable(4), {1, 0}, {100, 1}};
  w.priority = 5;
  return w;
}

std::string error_of(const std::vector<std::byte>& words,
                     std::optional<float> scale = std::nullopt) {
  const auto result = decode(words, 0, Table(), scale);
  return result ? "no error: " + to_string(result->instruction) : result.error().text();
}

TEST(Decode, C7) {
  const auto d = decode(bytes(good_c7()), 0, Table());
  ASSERT_TRUE(d) << d.error().text();
  EXPECT_EQ(d->words, 1u);
  EXPECT_EQ(to_string(d->instruction),
            "word 0 0xc7 ALL_REDUCE ADD FP32 100 elements group 0: tensor 3 [0, 100) -> tensor 4 "
            "[0, 100)");
}

TEST(Decode, C8) {
  auto w = good_c8();
  w.events = {SDMACC_WAIT_SEM_GT, 10, SDMACC_UPDATE_SEM_INC_COMPLETE, 22, 0};
  const auto d = decode(bytes(w), 0, Table());
  ASSERT_TRUE(d) << d.error().text();
  EXPECT_EQ(to_string(d->instruction),
            "word 0 0xc8 ALL_REDUCE MAX BF16 100 elements group 1: tensor 3 [7, 107) -> tensor 4 "
            "[9, 109) wait mode 0x04 sem 10 value 0 "
            "update mode 0x13 sem 22");
}

// The word observed in a shipped model: an FP32 ADD all-reduce of 32 elements, tensors 3 → 4.
TEST(Decode, ObservedC8) {
  std::vector<std::byte> word(64);
  const unsigned char observed[] = {0xc8, 0x10, 0,    0, 0x04, 0x0a, 0x13, 0x16, 0, 0, 0,
                                    0,    0x04, 0x0a, 0, 0,    3,    0,    0,    0, 4, 0,
                                    0,    0,    0x20, 0, 0,    0,    0,    0,    0, 0, 1};
  std::memcpy(word.data(), observed, sizeof observed);
  const auto d = decode(word, 0, Table());
  ASSERT_TRUE(d) << d.error().text();
  EXPECT_EQ(d->instruction.count, 32u);
  EXPECT_EQ(d->instruction.dtype, DType::Fp32);
  EXPECT_EQ(d->instruction.op, ReduceOp::Add);
  EXPECT_EQ(d->instruction.events, (Events{4, 10, 0x13, 22, 0}));
}

TEST(Decode, Pair) {
  const auto d = decode(bytes(good_d9(), good_da()), 0, Table());
  ASSERT_TRUE(d) << d.error().text();
  EXPECT_EQ(d->words, 2u);
  EXPECT_EQ(to_string(d->instruction),
            "word 0 0xd9 ALL_REDUCE MIN FP16 100 elements group 1: tensor 3 [0, 100) -> tensor 4 "
            "[0, 100) channel 2 stream 3 chaining 1 "
            "priority 5");
}

TEST(Decode, FmaIsAddWithAScale) {
  const auto d = decode(bytes(good_c7()), 0, Table(), 0.25f);
  ASSERT_TRUE(d) << d.error().text();
  EXPECT_EQ(d->instruction.op, ReduceOp::Fma);
  EXPECT_EQ(d->instruction.scale, 0.25f);
  auto w = good_c7();
  w.op = SDMACC_ALU_MAX;
  EXPECT_EQ(error_of(bytes(w), 0.25f),
            "decode: word 0: op (byte 12) is 0x08 and a scale is given: FMA words say ADD (0x04) "
            "(invalid)");
}

TEST(Decode, SecondWordIsNamed) {
  auto bad = good_c7();
  bad.op = 5;
  const auto d = decode(bytes(good_c7(), bad), 1, Table());
  ASSERT_FALSE(d);
  EXPECT_EQ(d.error().index, 1u);
}

TEST(Decode, ScaledCollectives) {
  auto w = good_c8();
  w.ctype = SDMACC_CTYPE_REDUCE_SCATTER;
  w.op = SDMACC_ALU_ADD;
  const auto rs = decode(bytes(w), 0, Table());
  ASSERT_TRUE(rs) << rs.error().text();
  EXPECT_EQ(rs->instruction.src.count, 400u);
  EXPECT_EQ(rs->instruction.dst.count, 100u);
  w.ctype = SDMACC_CTYPE_ALL_GATHER;
  w.dtype = SDMACC_DTYPE_INT8;  // moves, does not reduce
  w.op = SDMACC_ALU_BYPASS;
  const auto ag = decode(bytes(w), 0, Table());
  ASSERT_TRUE(ag) << ag.error().text();
  EXPECT_EQ(ag->instruction.dst.count, 400u);
}

struct Case {
  const char* name;
  std::function<std::vector<std::byte>()> words;
  const char* text;
};

std::vector<std::byte> c7(const std::function<void(sdmacc_isa_c7&)>& break_it) {
  auto w = good_c7();
  break_it(w);
  return bytes(w);
}
std::vector<std::byte> c8(const std::function<void(sdmacc_isa_c8&)>& break_it) {
  auto w = good_c8();
  break_it(w);
  return bytes(w);
}
std::vector<std::byte> pair(const std::function<void(sdmacc_isa_d9&, sdmacc_isa_da&)>& break_it) {
  auto a = good_d9();
  auto b = good_da();
  break_it(a, b);
  return bytes(a, b);
}

const Case kCases[] = {
    {"Short",
     [] {
       auto b = bytes(good_c7());
       b.pop_back();
       return b;
     },
     "decode: word 0: 63 bytes hold no whole word 0 (invalid)"},
    {"Real", [] { return c7([](auto& w) { w.header.opcode = 0xA0; }); },
     "decode: word 0: opcode 0xa0 EVENT_SEMAPHORE is a real instruction, not a trigger of a "
     "collective (unsupported)"},
    {"OtherPseudo", [] { return c7([](auto& w) { w.header.opcode = 0xC1; }); },
     "decode: word 0: opcode 0xc1 DMA_TRIGGER is another pseudo instruction, not a trigger of a "
     "collective (unsupported)"},
    {"LoneExtension", [] { return bytes(good_da()); },
     "decode: word 0: opcode 0xda EXTENSION without a 0xd9 word before it (invalid)"},
    {"NoExtension", [] { return bytes(good_d9()); },
     "decode: word 0: opcode 0xd9 is not followed at once by its 0xda word (invalid)"},
    {"OtherAfterD9", [] { return bytes(good_d9(), good_c7(), good_da()); },
     "decode: word 0: opcode 0xd9 is not followed at once by its 0xda word (invalid)"},
    {"WordLen", [] { return c7([](auto& w) { w.header.inst_word_len = 0x20; }); },
     "decode: word 0: inst_word_len (byte 1) is 0x20, must be 0x10 (invalid)"},
    {"DebugCmd", [] { return c7([](auto& w) { w.header.debug_cmd = 1; }); },
     "decode: word 0: debug_cmd (byte 2) is 0x01, must be 0 (invalid)"},
    {"DebugHint", [] { return c7([](auto& w) { w.header.debug_hint = 2; }); },
     "decode: word 0: debug_hint (byte 3) is 0x02, must be 0 (invalid)"},
    {"WaitMode", [] { return c7([](auto& w) {
                        w.events = {6, 0, 0x13, 0, 0};
                      }); },
     "decode: word 0: events.wait_mode (byte 4) is 0x06, which is no wait mode (invalid)"},
    {"UpdateMode", [] { return c7([](auto& w) {
                          w.events = {4, 10, 0x03, 22, 0};
                        }); },
     "decode: word 0: events.update_mode (byte 6) is 0x03, must be 0x13 (increment at completion), "
     "or all events 0 (invalid)"},
    {"UpdateModeNone", [] { return c7([](auto& w) {
                              w.events = {0, 0, 0, 0, 1};
                            }); },
     "decode: word 0: events.update_mode (byte 6) is 0x00, must be 0x13 (increment at completion), "
     "or all events 0 (invalid)"},
    {"OpIllegal", [] { return c7([](auto& w) { w.op = 5; }); },
     "decode: word 0: op (byte 12) is 0x05, must be ADD (0x04), MAX (0x08) or MIN (0x09) "
     "(invalid)"},
    {"OpMult", [] { return c7([](auto& w) { w.op = 6; }); },
     "decode: word 0: op (byte 12) is 0x06 MULT, for which no SDMA compute type is known; use ADD "
     "(0x04), MAX (0x08) or MIN (0x09) (unsupported)"},
    {"OpInteger", [] { return c7([](auto& w) { w.op = 0xCF; }); },
     "decode: word 0: op (byte 12) is 0xcf, an integer form: the SDMA engines reduce floating "
     "point only (unsupported)"},
    {"OpOfGather", [] { return c8([](auto& w) { w.ctype = 3; }); },
     "decode: word 0: op (byte 12) is 0x08; ALL_GATHER takes 0 (bypass) (invalid)"},
    {"DtypeZero", [] { return c7([](auto& w) { w.dtype = 0; }); },
     "decode: word 0: dtype (byte 13) is 0x00, which is no data type (invalid)"},
    {"DtypeBig", [] { return c7([](auto& w) { w.dtype = 0x10; }); },
     "decode: word 0: dtype (byte 13) is 0x10, which is no data type (invalid)"},
    {"DtypeInteger", [] { return c7([](auto& w) { w.dtype = SDMACC_DTYPE_INT32; }); },
     "decode: word 0: dtype (byte 13) is 0x08 INT32, which moves but does not reduce; reducible "
     "are BF16, FP16, FP32, FP32R, FP8 E3/E4/E5 "
     "(unsupported)"},
    {"C7Reserved0", [] { return c7([](auto& w) { w.reserved0[1] = 1; }); },
     "decode: word 0: reserved byte 15 is 0x01, must be 0 (invalid)"},
    {"C7Reserved1", [] { return c7([](auto& w) { w.reserved1[31] = 0xff; }); },
     "decode: word 0: reserved byte 63 is 0xff, must be 0 (invalid)"},
    {"C8Reserved", [] { return c8([](auto& w) { w.reserved[0] = 3; }); },
     "decode: word 0: reserved byte 33 is 0x03, must be 0 (invalid)"},
    {"CtypeZero", [] { return c8([](auto& w) { w.ctype = 0; }); },
     "decode: word 0: ctype (byte 32) is 0x00, which is no collective type (invalid)"},
    {"CtypeBig", [] { return c8([](auto& w) { w.ctype = 10; }); },
     "decode: word 0: ctype (byte 32) is 0x0a, which is no collective type (invalid)"},
    {"CtypePermuteReduce", [] { return c8([](auto& w) { w.ctype = 6; }); },
     "decode: word 0: ctype (byte 32) is PERMUTE_REDUCE, which has no implementation in the real "
     "runtime either (unsupported)"},
    {"Group", [] { return c8([](auto& w) { w.group_id = 2; }); },
     "decode: word 0: group_id is 2, which this session has not joined (not found)"},
    {"InputUnknown", [] { return c7([](auto& w) { w.input_tensor_id = 99; }); },
     "decode: word 0: input_tensor_id is 99, which is no registered tensor (not found)"},
    {"OutputUnknown", [] { return c7([](auto& w) { w.output_tensor_id = 99; }); },
     "decode: word 0: output_tensor_id is 99, which is no registered tensor (not found)"},
    {"InputRange", [] { return c7([](auto& w) { w.num_elements = 1001; }); },
     "decode: word 0: input_tensor_id 3: elements 0 + 1001 of FP32 are outside its 4000 bytes "
     "(1000 elements) (out of range)"},
    {"Offset", [] { return c8([](auto& w) { w.dst_offset_elems = 1901; }); },
     "decode: word 0: output_tensor_id 4: elements 1901 + 100 of BF16 are outside its 4000 bytes "
     "(2000 elements) (out of range)"},
    {"OffsetOverflow", [] { return c8([](auto& w) { w.src_offset_elems = ~0ull - 50; }); },
     "decode: word 0: input_tensor_id 3: elements 18446744073709551565 + 100 of BF16 are outside "
     "its 4000 bytes (2000 elements) (out of range)"},
    {"CountOverflow", [] { return c8([](auto& w) { w.num_elements = 1ull << 63; }); },
     "decode: word 0: input_tensor_id 3: elements 7 + 9223372036854775808 of BF16 are outside its "
     "4000 bytes (2000 elements) (out of range)"},
    {"CountTimesRanks",
     [] {
       return c8([](auto& w) {
         w.ctype = 2;
         w.num_elements = 1ull << 63;
       });
     },
     "decode: word 0: num_elements 9223372036854775808 times 4 ranks does not fit 64 bits (out of "
     "range)"},
    {"ReadOnly", [] { return c7([](auto& w) { w.output_tensor_id = 5; }); },
     "decode: word 0: output_tensor_id 5 is read-only and would be written (invalid)"},
    {"Alignment", [] { return c7([](auto& w) { w.input_tensor_id = 7; }); },
     "decode: word 0: input_tensor_id 7 starts at byte 2 of its memory, not at a multiple of 4 for "
     "FP32 (invalid)"},
    {"Overlap", [] { return c8([](auto& w) { w.output_tensor_id = 3; }); },
     "decode: word 0: input tensor 3 [7, 107) and output tensor 3 [9, 109) overlap in part; in "
     "place means exactly the same elements (invalid)"},
    {"CcDim", [] { return pair([](auto& a, auto&) { a.cc_dim = 1; }); },
     "decode: word 0: cc_dim (byte 15) is 1, must be 0 (unsupported)"},
    {"Src1", [] { return pair([](auto& a, auto&) { a.src1.num[1] = 1; }); },
     "decode: word 0: reserved byte 60 is 0x01, must be 0 (invalid)"},
    {"Chaining", [] { return pair([](auto&, auto& b) { b.instr_chaining = 4; }); },
     "decode: word 1: instr_chaining (byte 1) is 4, must be 0 to 3 (invalid)"},
    {"CcBuf", [] { return pair([](auto&, auto& b) { b.cc_buf_start_addr = 0x40; }); },
     "decode: word 1: cc_buf_start_addr (byte 32) is 0x40; channel buffers are placed by the "
     "lowering, must be 0 (unsupported)"},
    {"Byte40", [] { return pair([](auto&, auto& b) { b.reserved0 = 1; }); },
     "decode: word 1: reserved byte 40 is 0x01, must be 0 (invalid)"},
    {"Priority", [] { return pair([](auto&, auto& b) { b.priority = 8; }); },
     "decode: word 1: priority (byte 41) is 0x08, bits 7:3 must be 0 (invalid)"},
    {"Byte63", [] { return pair([](auto&, auto& b) { b.reserved1[21] = 1; }); },
     "decode: word 1: reserved byte 63 is 0x01, must be 0 (invalid)"},
    {"Sbuf", [] { return pair([](auto& a, auto&) { a.src0.addr = 0x1000; }); },
     "decode: word 0: src0 address is 0x0000000000001000: only the variable-id form (top byte "
     "0x10) names a tensor here; SBUF operands belong to "
     "the 0xBF leg (unsupported)"},
    {"AddressTable", [] { return pair([](auto&, auto& b) { b.dst.addr = 0x20ull << 56; }); },
     "decode: word 1: dst address is 0x2000000000000000: only the variable-id form (top byte 0x10) "
     "names a tensor here (unsupported)"},
    {"VariableBits", [] { return pair([](auto& a, auto&) { a.src0.addr |= 1ull << 40; }); },
     "decode: word 0: src0 address is 0x1000010000000003: bits 55:32 must be 0 beside a variable "
     "id (invalid)"},
    {"Step", [] { return pair([](auto& a, auto&) { a.src0.step[0] = 2; }); },
     "decode: word 0: src0 steps are {2, 25} for {25, 4} elements; only contiguous {1, num[0]} is "
     "taken (unsupported)"},
    {"Step1", [] { return pair([](auto& a, auto&) { a.src0.step[1] = 26; }); },
     "decode: word 0: src0 steps are {1, 26} for {25, 4} elements; only contiguous {1, num[0]} is "
     "taken (unsupported)"},
    {"PairCounts", [] { return pair([](auto&, auto& b) { b.dst.num[0] = 99; }); },
     "decode: word 0: src0 has 100 and dst 99 elements, which do not fit ALL_REDUCE over 4 ranks "
     "(mismatch)"},
};

TEST(Decode, Refusals) {
  for (const Case& c : kCases) EXPECT_EQ(error_of(c.words()), c.text) << c.name;
}

// Two ids, one memory: elements 0…999 of FP16 in tensor 3 and in tensor 6, which starts at its byte
// 2000.
TEST(Decode, OverlapThroughSharedMemory) {
  auto w = good_c7();
  w.dtype = SDMACC_DTYPE_FP16;
  w.output_tensor_id = 6;
  w.num_elements = 1000;
  const auto apart = decode(bytes(w), 0, Table());
  EXPECT_TRUE(apart) << apart.error().text();
  w.num_elements = 1000;
  sdmacc_isa_c8 shifted = good_c8();
  shifted.dtype = SDMACC_DTYPE_FP16;
  shifted.output_tensor_id = 6;
  shifted.src_offset_elems = 950;
  shifted.dst_offset_elems = 0;
  EXPECT_EQ(error_of(bytes(shifted)),
            "decode: word 0: input tensor 3 [950, 1050) and output tensor 6 [0, 100) overlap in "
            "part; in place means exactly the same elements "
            "(invalid)");
}

TEST(Decode, InPlaceByTwoIdsOfOneMemory) {
  sdmacc_isa_c8 w = good_c8();
  w.output_tensor_id = 6;
  w.src_offset_elems = 1000;
  w.dst_offset_elems = 0;
  const auto d = decode(bytes(w), 0, Table());
  EXPECT_TRUE(d) << d.error().text();
}

TEST(Decode, CountZero) {
  auto w = good_c7();
  w.num_elements = 0;
  const auto d = decode(bytes(w), 0, Table());
  EXPECT_TRUE(d) << d.error().text();
}

// Any bytes give a result or an error, and a result names ranges inside its tensors.
TEST(DecodeFuzz, RandomWords) {
  std::uint64_t state = 0x9e3779b97f4a7c15ull;
  auto next = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  };
  const std::vector<std::byte> seeds[] = {bytes(good_c7()), bytes(good_c8()),
                                          bytes(good_d9(), good_da())};
  const int rounds = 200000;
  int accepted = 0;
  for (int i = 0; i < rounds; ++i) {
    auto words = seeds[next() % 3];
    for (std::uint64_t flips = next() % 4; flips > 0; --flips)
      words[next() % words.size()] = static_cast<std::byte>(next());
    const auto d = decode(words, 0, Table());
    if (!d) {
      EXPECT_FALSE(d.error().context.empty());
      continue;
    }
    ++accepted;
    for (const TensorRange& r : {d->instruction.src, d->instruction.dst}) {
      const auto info = Table().tensor(r.tensor);
      ASSERT_TRUE(info);
      ASSERT_LE((r.first + r.count) * element_bytes(d->instruction.dtype), info->bytes);
    }
  }
  EXPECT_GT(accepted, rounds / 20);
}

}  // namespace
}  // namespace sdmacc
