// SPDX-License-Identifier: MIT
// decode: the three carriers of a collective. Entry: decode(). Tested by selftests/decode and
// selftests/golden.
#include "daemon/decode/decode.hpp"

#include <cstring>

#include "daemon/decode/fields.hpp"
#include "libuapi/abi/enums.h"
#include "libuapi/abi/isa.h"

namespace sdmacc {
namespace {

using namespace decoder;

template <typename T>
T word_as(std::span<const std::byte> words, std::uint32_t at) {
  static_assert(sizeof(T) == kWordBytes);
  T word;
  std::memcpy(&word, words.data() + at * kWordBytes, sizeof word);
  return word;
}

// Elements of input and output relative to the word's count (S0 §3): a reduce-scatter reads, an
// all-gather writes n times as many.
struct Scaling {
  std::uint64_t in, out;
};
Scaling scaling(Collective collective, std::uint64_t ranks) {
  switch (collective) {
    case Collective::ReduceScatter:
      return {ranks, 1};
    case Collective::AllGather:
      return {1, ranks};
    case Collective::AllToAll:
    case Collective::AllToAllV:
      return {ranks, ranks};
    case Collective::AllReduce:
    case Collective::Permute:
    case Collective::PermuteReduce:
    case Collective::PermuteImplicit:
    case Collective::PermuteReduceImplicit:
      break;
  }
  return {1, 1};
}

struct Operand {
  std::uint32_t tensor;
  std::uint64_t first;
};

// What all carriers share once their fields are apart.
Result<Instruction> finish(Instruction i, Operand src, Operand dst, const Names& names,
                           const char* src_field, const char* dst_field) {
  const auto ranks = names.group_size(i.group);
  if (!ranks)
    return fail(Errc::NotFound, Stage::Decode, i.word,
                "group_id is {}, which this session has not joined", i.group);
  const Scaling scale = scaling(i.collective, *ranks);
  i.src = {src.tensor, src.first, 0};
  i.dst = {dst.tensor, dst.first, 0};
  if (__builtin_mul_overflow(i.count, scale.in, &i.src.count) ||
      __builtin_mul_overflow(i.count, scale.out, &i.dst.count))
    return fail(Errc::Range, Stage::Decode, i.word,
                "num_elements {} times {} ranks does not fit 64 bits", i.count, *ranks);
  SDMACC_CHECK(check_range(i.src, i.dtype, names, false, src_field, i.word));
  SDMACC_CHECK(check_range(i.dst, i.dtype, names, true, dst_field, i.word));
  SDMACC_CHECK(check_overlap(i.src, i.dst, i.dtype, names, i.word));
  return i;
}

Result<Instruction> decode_c7(const sdmacc_isa_c7& w, Instruction i, const Names& names,
                              std::optional<float> fma) {
  i.collective = Collective::AllReduce;
  SDMACC_TRY(i.op, check_op(w.op, i.collective, fma.has_value(), i.word));
  SDMACC_TRY(i.dtype, check_dtype(w.dtype, i.collective, i.word));
  SDMACC_CHECK(check_zero(w.reserved0, offsetof(sdmacc_isa_c7, reserved0), i.word));
  SDMACC_CHECK(check_zero(w.reserved1, offsetof(sdmacc_isa_c7, reserved1), i.word));
  i.count = w.num_elements;
  return finish(i, {w.input_tensor_id, 0}, {w.output_tensor_id, 0}, names, "input_tensor_id",
                "output_tensor_id");
}

Result<Instruction> decode_c8(const sdmacc_isa_c8& w, Instruction i, const Names& names,
                              std::optional<float> fma) {
  SDMACC_TRY(i.collective, check_ctype(w.ctype, offsetof(sdmacc_isa_c8, ctype), i.word));
  SDMACC_TRY(i.op, check_op(w.op, i.collective, fma.has_value(), i.word));
  SDMACC_TRY(i.dtype, check_dtype(w.dtype, i.collective, i.word));
  SDMACC_CHECK(check_zero(w.reserved, offsetof(sdmacc_isa_c8, reserved), i.word));
  i.group = w.group_id;
  i.count = w.num_elements;
  return finish(i, {w.input_tensor_id, w.src_offset_elems},
                {w.output_tensor_id, w.dst_offset_elems}, names, "input_tensor_id",
                "output_tensor_id");
}

// An operand of the pair: a tensor by its id, contiguous. Returns its elements.
Result<std::uint64_t> check_pattern(const sdmacc_isa_tensor2d& t, const char* field,
                                    std::uint32_t word) {
  const unsigned marker = sdmacc_addr8_marker(t.addr);
  if (marker != SDMACC_ADDR8_VARIABLE)
    return fail(
        Errc::Unsupported, Stage::Decode, word,
        "{} address is {:#018x}: only the variable-id form (top byte 0x10) names a tensor here{}",
        field, t.addr,
        marker == SDMACC_ADDR8_IMMEDIATE ? "; SBUF operands belong to the 0xBF leg" : "");
  if ((t.addr & ~(0xffull << SDMACC_ADDR8_MARKER_SHIFT)) >> 32 != 0)
    return fail(Errc::Invalid, Stage::Decode, word,
                "{} address is {:#018x}: bits 55:32 must be 0 beside a variable id", field, t.addr);
  if (t.num[0] != 0 &&
      (t.step[0] != 1 || (t.num[1] > 1 && static_cast<std::int64_t>(t.step[1]) != t.num[0])))
    return fail(
        Errc::Unsupported, Stage::Decode, word,
        "{} steps are {{{}, {}}} for {{{}, {}}} elements; only contiguous {{1, num[0]}} is taken",
        field, t.step[0], t.step[1], t.num[0], t.num[1]);
  return std::uint64_t{t.num[0]} * t.num[1];
}

Result<Instruction> decode_d9(const sdmacc_isa_d9& w, const sdmacc_isa_da& x, Instruction i,
                              const Names& names, std::optional<float> fma) {
  SDMACC_TRY(i.collective, check_ctype(w.ctype, offsetof(sdmacc_isa_d9, ctype), i.word));
  SDMACC_TRY(i.op, check_op(w.op, i.collective, fma.has_value(), i.word));
  SDMACC_TRY(i.dtype, check_dtype(w.dtype, i.collective, i.word));
  if (w.cc_dim != 0)
    return fail(Errc::Unsupported, Stage::Decode, i.word, "cc_dim (byte 15) is {}, must be 0",
                w.cc_dim);
  std::uint8_t src1[sizeof w.src1];
  std::memcpy(src1, &w.src1, sizeof src1);
  SDMACC_CHECK(check_zero(src1, offsetof(sdmacc_isa_d9, src1), i.word));
  const std::uint32_t ext = i.word + 1;
  if (x.instr_chaining > SDMACC_CHAIN_FINAL)
    return fail(Errc::Invalid, Stage::Decode, ext, "instr_chaining (byte 1) is {}, must be 0 to 3",
                x.instr_chaining);
  if (x.cc_buf_start_addr != 0)
    return fail(Errc::Unsupported, Stage::Decode, ext,
                "cc_buf_start_addr (byte 32) is {:#x}; channel buffers are placed by the lowering, "
                "must be 0",
                x.cc_buf_start_addr);
  SDMACC_CHECK(check_zero({&x.reserved0, 1}, offsetof(sdmacc_isa_da, reserved0), ext));
  if ((x.priority & ~SDMACC_ISA_DA_PRIORITY_MASK) != 0)
    return fail(Errc::Invalid, Stage::Decode, ext,
                "priority (byte 41) is {:#04x}, bits 7:3 must be 0", x.priority);
  SDMACC_CHECK(check_zero(x.reserved1, offsetof(sdmacc_isa_da, reserved1), ext));
  SDMACC_TRY(i.count, check_pattern(w.src0, "src0", i.word));
  SDMACC_TRY(const std::uint64_t dst_count, check_pattern(x.dst, "dst", ext));
  i.group = x.group_id;
  i.channel = x.channel_id;
  i.stream = x.stream_id;
  i.chaining = x.instr_chaining;
  i.priority = x.priority;
  // The pair gives whole operands; num_elements is the smaller side's.
  const auto ranks = names.group_size(i.group);
  const Scaling scale = scaling(i.collective, ranks.value_or(1));
  const std::uint64_t src_count = i.count;
  i.count = scale.in == 0 ? 0 : src_count / scale.in;
  if (ranks && (src_count % scale.in != 0 || dst_count != i.count * scale.out))
    return fail(Errc::Mismatch, Stage::Decode, i.word,
                "src0 has {} and dst {} elements, which do not fit {} over {} ranks", src_count,
                dst_count, name(i.collective), *ranks);
  return finish(i, {static_cast<std::uint32_t>(w.src0.addr), 0},
                {static_cast<std::uint32_t>(x.dst.addr), 0}, names, "src0", "dst");
}

}  // namespace

bool is_collective(std::byte opcode) {
  const auto op = static_cast<std::uint8_t>(opcode);
  return op == SDMACC_OP_TRIGGER_ALL_REDUCE || op == SDMACC_OP_TRIGGER_COLLECTIVE ||
         op == SDMACC_OP_TRIGGER_COLLECTIVE2;
}

Result<Decoded> decode(std::span<const std::byte> words, std::uint32_t at, const Names& names,
                       std::optional<float> fma_scale) {
  if (words.size() % kWordBytes != 0 || words.size() / kWordBytes <= at)
    return fail(Errc::Invalid, Stage::Decode, at, "{} bytes hold no whole word {}", words.size(),
                at);
  sdmacc_isa_header header{};
  std::memcpy(&header, words.data() + at * kWordBytes, sizeof header);
  if (header.opcode == SDMACC_OP_EXTENSION)
    return fail(Errc::Invalid, Stage::Decode, at,
                "opcode 0xda EXTENSION without a 0xd9 word before it");
  if (!is_collective(std::byte{header.opcode})) {
    const char* op = sdmacc_name_op(header.opcode);
    return fail(
        Errc::Unsupported, Stage::Decode, at,
        "opcode {:#04x}{}{} is {}, not a trigger of a collective", header.opcode,
        op != nullptr ? " " : "", op != nullptr ? op : "",
        sdmacc_isa_is_pseudo(header.opcode) ? "another pseudo instruction" : "a real instruction");
  }
  SDMACC_CHECK(check_header(header, at));
  sdmacc_isa_events events{};
  std::memcpy(&events, words.data() + at * kWordBytes + sizeof header, sizeof events);
  Instruction i;
  i.word = at;
  i.carrier = static_cast<Carrier>(header.opcode);
  SDMACC_TRY(i.events, check_events(events, at));
  if (fma_scale) i.scale = *fma_scale;

  Decoded out;
  if (i.carrier == Carrier::TriggerCollective2) {
    const bool follows =
        words.size() / kWordBytes > at + 1 &&
        static_cast<std::uint8_t>(words[(at + 1) * kWordBytes]) == SDMACC_OP_EXTENSION;
    if (!follows)
      return fail(Errc::Invalid, Stage::Decode, at,
                  "opcode 0xd9 is not followed at once by its 0xda word");
    out.words = 2;
    SDMACC_TRY(out.instruction,
               decode_d9(word_as<sdmacc_isa_d9>(words, at), word_as<sdmacc_isa_da>(words, at + 1),
                         i, names, fma_scale));
  } else if (i.carrier == Carrier::TriggerCollective) {
    SDMACC_TRY(out.instruction, decode_c8(word_as<sdmacc_isa_c8>(words, at), i, names, fma_scale));
  } else {
    SDMACC_TRY(out.instruction, decode_c7(word_as<sdmacc_isa_c7>(words, at), i, names, fma_scale));
  }
  return out;
}

std::string to_string(const Instruction& i) {
  auto range = [](const TensorRange& r) {
    return fmt::format("tensor {} [{}, {})", r.tensor, r.first, r.first + r.count);
  };
  std::string out = fmt::format("word {} {:#04x} {} {} {} {} elements group {}: {} -> {}", i.word,
                                static_cast<unsigned>(i.carrier), name(i.collective), name(i.op),
                                name(i.dtype), i.count, i.group, range(i.src), range(i.dst));
  if (i.src == i.dst) out += " in place";
  if (i.op == ReduceOp::Fma) out += fmt::format(" scale {}", i.scale);
  if (!(i.events == Events{}))
    out += fmt::format(" wait mode {:#04x} sem {} value {} update mode {:#04x} sem {}",
                       i.events.wait_mode, i.events.wait_idx, i.events.semaphore_value,
                       i.events.update_mode, i.events.update_idx);
  if (i.carrier == Carrier::TriggerCollective2)
    out += fmt::format(" channel {} stream {} chaining {} priority {}", i.channel, i.stream,
                       i.chaining, i.priority);
  return out;
}

}  // namespace sdmacc
