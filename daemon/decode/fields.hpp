// SPDX-License-Identifier: MIT
// Checks of single fields that all carriers share. Each error names the field, its byte and the
// value.
#pragma once

#include <span>

#include "daemon/decode/decode.hpp"
#include "libuapi/abi/isa.h"

namespace sdmacc::decoder {

Status check_header(const sdmacc_isa_header&, std::uint32_t word);
Result<Events> check_events(const sdmacc_isa_events&, std::uint32_t word);
Status check_zero(std::span<const std::uint8_t> bytes, std::uint32_t first_byte,
                  std::uint32_t word);
Result<Collective> check_ctype(std::uint8_t ctype, std::uint32_t byte, std::uint32_t word);
Result<DType> check_dtype(std::uint8_t dtype, Collective, std::uint32_t word);
// `fma`: the word must say ADD.
Result<ReduceOp> check_op(std::uint8_t op, Collective, bool fma, std::uint32_t word);

// Elements [first, first + count) of tensor `id`, inside it; `field` is its name in the word.
Status check_range(const TensorRange&, DType, const Names&, bool written, const char* field,
                   std::uint32_t word);
// Input and output may be the same range exactly, or must not touch.
Status check_overlap(const TensorRange& src, const TensorRange& dst, DType, const Names&,
                     std::uint32_t word);

}  // namespace sdmacc::decoder
