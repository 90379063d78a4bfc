// SPDX-License-Identifier: MIT
// Faults in the packets of a ring, which is section 8 (M2S) and 9 (S2M) of ring2: M2S has a copy at
// 0, INCs at 1 and 2, the same again, then META at 6, sources at 7 and 8, INCs; S2M has
// destinations of the sum at 6 and 7.
#include "selftests/core/fault_cases.hpp"

namespace sdmacc::test {

constexpr std::uint32_t kMetaAt = 6, kSumAt = 6;

std::vector<FaultCase> packet_fault_cases() {
  return {
      SDMACC_CASE(RING_ID, "2 on M2S", ring2, { d.m2s(0).len_ctrl ^= 3u << 24; }),
      SDMACC_CASE(RING_ID, "0 on S2M", ring2, { d.s2m(0).len_ctrl &= ~(3u << 24); }),
      SDMACC_CASE(DESC_BITS, "interrupt", ring2, { d.m2s(0).len_ctrl |= SDMACC_LEN_INT_EN; }),
      SDMACC_CASE(DESC_BITS, "CONCAT", ring2, { d.m2s(0).len_ctrl |= SDMACC_LEN_CONCAT; }),
      SDMACC_CASE(DESC_BITS, "META on S2M", ring2, { d.s2m(0).len_ctrl |= SDMACC_LEN_META; }),
      SDMACC_CASE(DESC_META, "S2M", ring2, { d.s2m(0).meta_ctrl = 1; }),
      SDMACC_CASE(DESC_META, "source", ring2, { d.m2s(kMetaAt + 1).meta_ctrl = SDMACC_META_COPY; }),
      SDMACC_CASE(PACKET_FIRST, "copy", ring2, { d.m2s(0).len_ctrl &= ~SDMACC_LEN_FIRST; }),
      SDMACC_CASE(PACKET_FIRST, "S2M of a copy", ring2,
                  { d.s2m(0).len_ctrl &= ~SDMACC_LEN_FIRST; }),
      SDMACC_CASE(PACKET_FIRST, "META", ring2, { d.m2s(kMetaAt).len_ctrl &= ~SDMACC_LEN_FIRST; }),
      SDMACC_CASE(PACKET_FIRST, "source", ring2,
                  { d.m2s(kMetaAt + 1).len_ctrl |= SDMACC_LEN_FIRST; }),
      SDMACC_CASE(PACKET_FIRST, "second META", ring2_fma,
                  { d.m2s(10).len_ctrl |= SDMACC_LEN_FIRST; }),
      SDMACC_CASE(PACKET_FIRST, "first destination", ring2,
                  { d.s2m(kSumAt).len_ctrl &= ~SDMACC_LEN_FIRST; }),
      SDMACC_CASE(PACKET_FIRST, "second destination", ring2,
                  { d.s2m(kSumAt + 1).len_ctrl |= SDMACC_LEN_FIRST; }),
      SDMACC_CASE(PACKET_LAST, "copy", ring2, { d.m2s(0).len_ctrl &= ~SDMACC_LEN_LAST; }),
      SDMACC_CASE(PACKET_LAST, "S2M of a copy", ring2, { d.s2m(0).len_ctrl &= ~SDMACC_LEN_LAST; }),
      SDMACC_CASE(PACKET_LAST, "META", ring2, { d.m2s(kMetaAt).len_ctrl |= SDMACC_LEN_LAST; }),
      SDMACC_CASE(PACKET_META, "inside a sum", ring2,
                  { d.m2s(kMetaAt + 1).len_ctrl |= SDMACC_LEN_META; }),
      SDMACC_CASE(PACKET_META, "FMA without its second", ring2_fma,
                  { d.m2s(10).len_ctrl &= ~SDMACC_LEN_META; }),
      SDMACC_CASE(PACKET_CLASS, "copy control", ring2, { d.m2s(0).meta_ctrl ^= 1u << 19; }),
      SDMACC_CASE(PACKET_CLASS, "class 0", ring2, { d.m2s(0).meta_ctrl = 0; }),
      SDMACC_CASE(PACKET_CLASS, "transpose", ring2, { d.m2s(0).meta_ctrl = 0x00900000; }),
      SDMACC_CASE(PACKET_CLASS, "META of class CME", ring2,
                  { d.m2s(kMetaAt).meta_ctrl ^= 0x03000000; }),
      SDMACC_CASE(PACKET_CLASS, "block bits", ring2, { d.m2s(kMetaAt).meta_ctrl &= ~1u; }),
      SDMACC_CASE(PACKET_CLASS, "replication on Sunda", ring1_sunda,
                  {
                    auto& m = d.m2s(2);  // the INC becomes a replication to one place
                    m.meta_ctrl = SDMACC_META_REPLICATE;
                  }),
      SDMACC_CASE(PACKET_TORN, "M2S ends in a sum", ring2,
                  { d.p.sections[8].size = (kMetaAt + 2) * 16; }),
      SDMACC_CASE(PACKET_TORN, "S2M ends before M2S", ring2, { d.p.sections[9].size -= 16; }),
      SDMACC_CASE(PACKET_TORN, "M2S ends before S2M", ring2, { d.p.sections[8].size -= 16; }),
      SDMACC_CASE(PACKET_LENGTH, "copy", ring2, { d.s2m(0).len_ctrl -= 4; }),
      SDMACC_CASE(PACKET_LENGTH, "source", ring2, { d.m2s(kMetaAt + 2).len_ctrl -= 4; }),
      SDMACC_CASE(PACKET_LENGTH, "destination", ring2, { d.s2m(kSumAt + 1).len_ctrl -= 4; }),
      SDMACC_CASE(PACKET_LENGTH, "META", ring2, { d.m2s(kMetaAt).len_ctrl |= 4; }),
      SDMACC_CASE(PACKET_SOURCES, "33", ring2, { d.repeat(8, kMetaAt + 1, 31); }),
      SDMACC_CASE(PACKET_DESTINATIONS, "9", ring2,
                  {
                    d.s2m(kSumAt + 1).len_ctrl &= ~SDMACC_LEN_LAST;
                    d.repeat(9, kSumAt + 1, 7);
                  }),
      SDMACC_CASE(PACKET_DESTINATIONS, "two on Sunda", ring1_sunda,
                  { d.s2m(0).len_ctrl &= ~SDMACC_LEN_LAST; }),
      SDMACC_CASE(CCE_LENGTH, "0", ring2, { d.m2s(kMetaAt).addr = 0; }),
      SDMACC_CASE(CCE_LENGTH, "part of an element", ring2, { d.m2s(kMetaAt).addr -= 1; }),
      SDMACC_CASE(CCE_LENGTH, "above the limit", ring2, { d.m2s(kMetaAt).addr = 0x2004; }),
      SDMACC_CASE(CCE_LENGTH, "above the element limit", ring2,
                  {
                    d.m2s(kMetaAt).meta_ctrl = 0x02000003 | 0x6 << 8 | 0x6 << 12 | 0x6 << 16;
                    d.m2s(kMetaAt).addr = 0x1002;
                  }),
      SDMACC_CASE(CCE_OP, "EXT", ring2, { d.m2s(kMetaAt).meta_ctrl |= 4u << 20; }),
      SDMACC_CASE(CCE_DTYPE, "FP32R in and out", ring2,
                  { d.m2s(kMetaAt).meta_ctrl |= 1u << 8 | 1u << 12; }),
      SDMACC_CASE(CCE_DTYPE, "FP32 accumulate", ring2, { d.m2s(kMetaAt).meta_ctrl ^= 1u << 16; }),
      SDMACC_CASE(CCE_DTYPE, "out differs", ring2, { d.m2s(kMetaAt).meta_ctrl ^= 1u << 13; }),
      SDMACC_CASE(CCE_DTYPE, "integers", ring2,
                  { d.m2s(kMetaAt).meta_ctrl = 0x02000003 | 0x8 << 8 | 0x8 << 12 | 0x8 << 16; }),
      SDMACC_CASE(CCE_DTYPE, "FMA scale", ring2_fma, { d.m2s(0).meta_ctrl ^= 1u << 13; }),
      SDMACC_CASE(CCE_WORDS, "flag bit 4", ring2, { d.m2s(kMetaAt).meta_ctrl |= 1u << 4; }),
      SDMACC_CASE(CCE_WORDS, "notify", ring2, { d.m2s(kMetaAt).meta_ctrl |= 1u << 28; }),
      SDMACC_CASE(CCE_WORDS, "selectors", ring2, { d.m2s(kMetaAt).addr |= 1u << 24; }),
      SDMACC_CASE(CCE_WORDS, "no selectors", ring2_fma, { d.m2s(0).addr &= ~(3ull << 26); }),
      SDMACC_CASE(CCE_WORDS, "scale", ring2, { d.m2s(kMetaAt).addr |= 1ull << 32; }),
      SDMACC_CASE(CCE_REPEAT, "length of the second", ring2_fma, { d.m2s(10).addr -= 4; }),
      SDMACC_CASE(CCE_REPEAT, "barrier of the second", ring2_fma,
                  { d.m2s(10).meta_ctrl ^= 1u << 26; }),
      SDMACC_CASE(ADDR_OBJECT, "0", ring2, { d.m2s(0).addr = 0; }),
      SDMACC_CASE(ADDR_OBJECT, "beyond the table", ring2, { d.m2s(0).addr = 999ull << 40; }),
      SDMACC_CASE(ADDR_OBJECT, "S2M beyond the table", ring2,
                  { d.s2m(0).addr = 0xffffffull << 40; }),
      SDMACC_CASE(ADDR_OBJECT, "read a semaphore", ring2,
                  {
                    d.object(SDMACC_OBJECT_SEM, 1).size = 240;
                    d.m2s(0).addr = d.s2m(1).addr;
                  }),
      SDMACC_CASE(ADDR_OBJECT, "write a constant", ring2, { d.s2m(0).addr = d.m2s(1).addr; }),
      SDMACC_CASE(ADDR_OBJECT, "sum into a semaphore", ring2,
                  {
                    d.object(SDMACC_OBJECT_SEM).size = 240;
                    d.s2m(kSumAt).addr =
                        static_cast<std::uint64_t>(d.object_index(SDMACC_OBJECT_SEM)) << 40;
                  }),
      SDMACC_CASE(
          ADDR_OBJECT, "an SP", ring2,
          { d.m2s(0).addr = static_cast<std::uint64_t>(d.object_index(SDMACC_OBJECT_SP)) << 40; }),
      SDMACC_CASE(ADDR_RANGE, "source past the end", ring2,
                  { d.m2s(0).addr = (d.m2s(0).addr >> 40 << 40) + 64 * 4 - 60; }),
      SDMACC_CASE(ADDR_RANGE, "destination past the end", ring2, { d.s2m(0).addr += 64 * 4; }),
      SDMACC_CASE(ADDR_RANGE, "semaphore past the range", ring2, { d.s2m(1).addr += 32; }),
      SDMACC_CASE(ADDR_RIGHT, "read without R", ring2,
                  { d.object(SDMACC_OBJECT_SLOT).rights = 2; }),
      SDMACC_CASE(ADDR_RIGHT, "write to IN", ring2,
                  {
                    d.s2m(0).addr = static_cast<std::uint64_t>(d.object_index(SDMACC_OBJECT_SLOT))
                                    << 40;
                  }),
      SDMACC_CASE(SEM_WRITE, "8 bytes", ring2,
                  {
                    d.m2s(1).len_ctrl += 4;
                    d.s2m(1).len_ctrl += 4;
                  }),
      SDMACC_CASE(
          SEM_WRITE, "from a BUF", ring2,
          { d.m2s(1).addr = static_cast<std::uint64_t>(d.object_index(SDMACC_OBJECT_BUF)) << 40; }),
      SDMACC_CASE(SEM_WRITE, "between constants", ring2, { d.m2s(1).addr += 2; }),
      SDMACC_CASE(SEM_WRITE, "between semaphores", ring2, { d.s2m(1).addr += 2; }),
      SDMACC_CASE(SEM_BARRIER, "copy", ring2, { d.m2s(0).meta_ctrl &= ~(1u << 26); }),
      SDMACC_CASE(SEM_BARRIER, "sum", ring2, { d.m2s(kMetaAt).meta_ctrl &= ~(1u << 26); }),
      SDMACC_CASE(SEM_BARRIER, "replication", ring2,
                  { d.m2s(0).meta_ctrl = SDMACC_META_REPLICATE; }),
  };
}

}  // namespace sdmacc::test
