// SPDX-License-Identifier: MIT
// What a compute packet may ask for: the words of its META descriptor, rule by rule.
#include "firmware-stub/model/packet.hpp"
#include "libuapi/abi/enums.h"

namespace sdmacc::model {
namespace {

constexpr std::uint32_t kFields =
    SDMACC_META_CLASS_MASK | SDMACC_META_SUB_MASK | 0xfff00u | SDMACC_META_WRITE_BARRIER;

}  // namespace

Refusal check_compute(const sdmacc_desc& meta, const sdmacc_generation& arch, Packet* p) {
  const std::uint32_t word1 = meta.meta_ctrl;
  const auto word2 = static_cast<std::uint32_t>(meta.addr);
  const auto word3 = static_cast<std::uint32_t>(meta.addr >> 32);
  const std::uint32_t type = sdmacc_meta_sub(word1);
  if (type > SDMACC_CCE_MIN) return {Code::SubType, word1, type};
  if (const std::uint32_t wrong = (word1 & ~kFields) ^ SDMACC_CCE_BLOCK)
    return {Code::ComputeControl, word1, wrong};

  const bool fma = type == SDMACC_CCE_FMA;
  const std::uint32_t in = word1 >> SDMACC_CCE_IN_SHIFT & SDMACC_CCE_DTYPE_MASK;
  const std::uint32_t out = word1 >> SDMACC_CCE_OUT_SHIFT & SDMACC_CCE_DTYPE_MASK;
  const std::uint32_t acc = word1 >> SDMACC_CCE_ACC_SHIFT & SDMACC_CCE_DTYPE_MASK;
  if (fma && out != SDMACC_DTYPE_FP32) return {Code::ScaleType, out, SDMACC_DTYPE_FP32};
  if (in == SDMACC_DTYPE_FP32R || out == SDMACC_DTYPE_FP32R)
    return {Code::ByteSizeZero, SDMACC_DTYPE_FP32R, 0};
  if (!fma && in != out) return {Code::InOut, in, out};
  p->acc = static_cast<cce::Acc>(acc);
  p->element = static_cast<std::uint32_t>(cce::element_size(p->acc));
  if (p->element == 0) return {Code::AccumulateType, acc, 0};
  const std::uint32_t due = in == SDMACC_DTYPE_FP32 ? std::uint32_t{SDMACC_DTYPE_FP32R} : in;
  if (acc != due) return {Code::AccumulateMatch, in, due};

  const std::uint32_t selectors = fma ? SDMACC_FMA_SELECTORS : 0;
  if ((word2 & ~SDMACC_CCE_LENGTH_MASK) != selectors) return {Code::FmaSelectors, word2, selectors};
  if (!fma && word3 != 0) return {Code::ScaleWord, word3, 0};
  p->op = static_cast<cce::Op>(type);
  p->length = word2 & SDMACC_CCE_LENGTH_MASK;
  if (p->length == 0) return {Code::ComputeLength, 0, 0};
  if (p->length > arch.packet_bytes) return {Code::TooManyBytes, p->length, arch.packet_bytes};
  if (p->length % p->element != 0) return {Code::PartialElement, p->length, p->element};
  if (p->length / p->element > arch.element_limit)
    return {Code::TooManyElements, p->length / p->element, arch.element_limit};
  return {};
}

}  // namespace sdmacc::model
