// SPDX-License-Identifier: MIT
// Makes TRIGGER_COLLECTIVE words; whether they make sense is for the daemon to say.
#include "libuapi/client/words.hpp"

#include "libuapi/abi/enums.h"
#include "libuapi/client/sdmacc.h"

namespace sdmacc::client {
namespace {

int alu_op(int op) {
  switch (op) {
    case SDMACC_ADD:
      return SDMACC_ALU_ADD;
    case SDMACC_FMA:
      return SDMACC_ALU_ADD;
    case SDMACC_MAX:
      return SDMACC_ALU_MAX;
    case SDMACC_MIN:
      return SDMACC_ALU_MIN;
    default:
      return -1;
  }
}

}  // namespace

Result<sdmacc_isa_c8> all_reduce_word(const AllReduce& what) {
  const int alu = alu_op(what.op);
  if (alu < 0) {
    return fail(Errc::Invalid, Stage::Client, kNoIndex,
                "op {} is none of ADD ({}), FMA ({}), MAX ({}), MIN ({})", what.op,
                static_cast<int>(SDMACC_ADD), static_cast<int>(SDMACC_FMA),
                static_cast<int>(SDMACC_MAX), static_cast<int>(SDMACC_MIN));
  }
  if (what.dtype < 0 || what.dtype > 0xff) {
    return fail(Errc::Invalid, Stage::Client, kNoIndex, "dtype {} does not fit its byte",
                what.dtype);
  }
  if (what.group > 0xffff) {
    return fail(Errc::Range, Stage::Client, kNoIndex, "group {} does not fit its 16 bits",
                what.group);
  }
  sdmacc_isa_c8 word{};
  word.header.opcode = 0xC8;
  word.header.inst_word_len = SDMACC_ISA_WORD_LEN;
  word.op = static_cast<std::uint8_t>(alu);
  word.dtype = static_cast<std::uint8_t>(what.dtype);
  word.group_id = static_cast<std::uint16_t>(what.group);
  word.input_tensor_id = what.in;
  word.output_tensor_id = what.out;
  word.num_elements = what.count;
  word.ctype = SDMACC_CTYPE_ALL_REDUCE;
  word.src_offset_elems = what.in_offset;
  word.dst_offset_elems = what.out_offset;
  return word;
}

}  // namespace sdmacc::client
