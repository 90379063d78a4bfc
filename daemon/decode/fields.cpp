// SPDX-License-Identifier: MIT
// Field checks of the carriers. Tested by selftests/decode.
#include "daemon/decode/fields.hpp"

#include "libuapi/abi/enums.h"

namespace sdmacc::decoder {
namespace {

constexpr const char* kReducible = "BF16, FP16, FP32, FP32R, FP8 E3/E4/E5";

bool reduces(Collective c) {
  return c == Collective::AllReduce || c == Collective::ReduceScatter;
}

// Bytes of a range in its memory; nullopt when the arithmetic overflows.
struct Bytes {
  std::uint64_t memory, first, end;
};
std::optional<Bytes> bytes_of(const TensorRange& range, const TensorInfo& info,
                              std::uint64_t element) {
  std::uint64_t first = 0, length = 0, end = 0;
  if (__builtin_mul_overflow(range.first, element, &first) ||
      __builtin_mul_overflow(range.count, element, &length) ||
      __builtin_add_overflow(first, length, &end))
    return std::nullopt;
  return Bytes{info.memory, first + info.offset, end + info.offset};
}

}  // namespace

Status check_header(const sdmacc_isa_header& header, std::uint32_t word) {
  if (header.inst_word_len != SDMACC_ISA_WORD_LEN)
    return fail(Errc::Invalid, Stage::Decode, word,
                "inst_word_len (byte 1) is {:#04x}, must be {:#04x}", header.inst_word_len,
                SDMACC_ISA_WORD_LEN);
  if (header.debug_cmd != 0)
    return fail(Errc::Invalid, Stage::Decode, word, "debug_cmd (byte 2) is {:#04x}, must be 0",
                header.debug_cmd);
  if (header.debug_hint != 0)
    return fail(Errc::Invalid, Stage::Decode, word, "debug_hint (byte 3) is {:#04x}, must be 0",
                header.debug_hint);
  return {};
}

Result<Events> check_events(const sdmacc_isa_events& e, std::uint32_t word) {
  const unsigned condition = e.wait_mode & ~SDMACC_WAIT_REGISTER;
  const bool wait_known = e.wait_mode == SDMACC_WAIT_NONE || e.wait_mode == SDMACC_WAIT_UNORDERED ||
                          (condition >= SDMACC_WAIT_SEM_EQ && condition <= SDMACC_WAIT_SEM_GE);
  if (!wait_known)
    return fail(Errc::Invalid, Stage::Decode, word,
                "events.wait_mode (byte 4) is {:#04x}, which is no wait mode", e.wait_mode);
  // An API call carries no events at all; a compiler's trigger must count its completion.
  const bool none = sdmacc_isa_events_u64(e) == 0;
  if (!none && e.update_mode != SDMACC_UPDATE_SEM_INC_COMPLETE)
    return fail(Errc::Invalid, Stage::Decode, word,
                "events.update_mode (byte 6) is {:#04x}, must be {:#04x} (increment at "
                "completion), or all events 0",
                e.update_mode, static_cast<unsigned>(SDMACC_UPDATE_SEM_INC_COMPLETE));
  return Events{e.wait_mode, e.wait_idx, e.update_mode, e.update_idx, e.semaphore_value};
}

Status check_zero(std::span<const std::uint8_t> bytes, std::uint32_t first_byte,
                  std::uint32_t word) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != 0)
      return fail(Errc::Invalid, Stage::Decode, word, "reserved byte {} is {:#04x}, must be 0",
                  first_byte + i, bytes[i]);
  return {};
}

Result<Collective> check_ctype(std::uint8_t ctype, std::uint32_t byte, std::uint32_t word) {
  if (ctype == SDMACC_CTYPE_INVALID || ctype > SDMACC_CTYPE_ALL_TO_ALL_V)
    return fail(Errc::Invalid, Stage::Decode, word,
                "ctype (byte {}) is {:#04x}, which is no collective type", byte, ctype);
  if (ctype == SDMACC_CTYPE_PERMUTE_REDUCE || ctype == SDMACC_CTYPE_PERMUTE_REDUCE_IMPLICIT)
    return fail(Errc::Unsupported, Stage::Decode, word,
                "ctype (byte {}) is {}, which has no implementation in the real runtime either",
                byte, sdmacc_name_ctype(ctype));
  return static_cast<Collective>(ctype);
}

Result<DType> check_dtype(std::uint8_t dtype, Collective collective, std::uint32_t word) {
  if (dtype < SDMACC_DTYPE_UINT64 || dtype > SDMACC_DTYPE_FP8E5)
    return fail(Errc::Invalid, Stage::Decode, word,
                "dtype (byte 13) is {:#04x}, which is no data type", dtype);
  const auto type = static_cast<DType>(dtype);
  if (reduces(collective) && !reducible(type))
    return fail(Errc::Unsupported, Stage::Decode, word,
                "dtype (byte 13) is {:#04x} {}, which moves but does not reduce; reducible are {}",
                dtype, name(type), kReducible);
  return type;
}

Result<ReduceOp> check_op(std::uint8_t op, Collective collective, bool fma, std::uint32_t word) {
  if (!reduces(collective)) {
    if (op != SDMACC_ALU_BYPASS && op != SDMACC_ALU_ADD)
      return fail(Errc::Invalid, Stage::Decode, word,
                  "op (byte 12) is {:#04x}; {} takes 0 (bypass)", op, name(collective));
    return ReduceOp::Add;
  }
  if (op == SDMACC_ALU_ADD_INT || op == SDMACC_ALU_MAX_INT || op == SDMACC_ALU_MIN_INT)
    return fail(
        Errc::Unsupported, Stage::Decode, word,
        "op (byte 12) is {:#04x}, an integer form: the SDMA engines reduce floating point only",
        op);
  if (op == SDMACC_ALU_MULT)
    return fail(Errc::Unsupported, Stage::Decode, word,
                "op (byte 12) is 0x06 MULT, for which no SDMA compute type is known; use ADD "
                "(0x04), MAX (0x08) or MIN (0x09)");
  if (!sdmacc_alu_passes_load(op))
    return fail(Errc::Invalid, Stage::Decode, word,
                "op (byte 12) is {:#04x}, must be ADD (0x04), MAX (0x08) or MIN (0x09)", op);
  if (fma && op != SDMACC_ALU_ADD)
    return fail(Errc::Invalid, Stage::Decode, word,
                "op (byte 12) is {:#04x} and a scale is given: FMA words say ADD (0x04)", op);
  if (fma) return ReduceOp::Fma;
  return op == SDMACC_ALU_ADD   ? ReduceOp::Add
         : op == SDMACC_ALU_MAX ? ReduceOp::Max
                                : ReduceOp::Min;
}

Status check_range(const TensorRange& range, DType dtype, const Names& names, bool written,
                   const char* field, std::uint32_t word) {
  const auto info = names.tensor(range.tensor);
  if (!info)
    return fail(Errc::NotFound, Stage::Decode, word, "{} is {}, which is no registered tensor",
                field, range.tensor);
  const std::uint64_t element = element_bytes(dtype);
  const auto bytes = bytes_of(range, *info, element);
  if (!bytes || bytes->end - info->offset > info->bytes)
    return fail(Errc::Range, Stage::Decode, word,
                "{} {}: elements {} + {} of {} are outside its {} bytes ({} elements)", field,
                range.tensor, range.first, range.count, name(dtype), info->bytes,
                info->bytes / element);
  if (bytes->first % element != 0)
    return fail(Errc::Invalid, Stage::Decode, word,
                "{} {} starts at byte {} of its memory, not at a multiple of {} for {}", field,
                range.tensor, bytes->first, element, name(dtype));
  if (written && !info->writable)
    return fail(Errc::Invalid, Stage::Decode, word, "{} {} is read-only and would be written",
                field, range.tensor);
  return {};
}

Status check_overlap(const TensorRange& src, const TensorRange& dst, DType dtype,
                     const Names& names, std::uint32_t word) {
  const auto a = bytes_of(src, *names.tensor(src.tensor), element_bytes(dtype));
  const auto b = bytes_of(dst, *names.tensor(dst.tensor), element_bytes(dtype));
  if (a->memory != b->memory || a->first >= b->end || b->first >= a->end) return {};
  if (a->first == b->first && a->end == b->end) return {};
  return fail(Errc::Invalid, Stage::Decode, word,
              "input tensor {} [{}, {}) and output tensor {} [{}, {}) overlap in part; in place "
              "means exactly the same elements",
              src.tensor, src.first, src.first + src.count, dst.tensor, dst.first,
              dst.first + dst.count);
}

}  // namespace sdmacc::decoder
