// SPDX-License-Identifier: MIT
// One packet for each rule that it breaks: the code, the side and the descriptor that are reported,
// and that nothing was written.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "selftests/model/support.hpp"

namespace sdmacc::model::test {
namespace {

constexpr std::uint64_t kA = 0x400000, kB = 0x420000, kTo = 0x500000;
constexpr std::uint32_t kBoth = SDMACC_LEN_FIRST | SDMACC_LEN_LAST;

void add(Rig& r) {
  r.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, {kA, kB}, {kTo, kTo + 64}, 16);
}
void add_one(Rig& r) {
  r.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, {kA, kB}, {kTo}, 16);
}
void fma(Rig& r) {
  r.compute(SDMACC_CCE_FMA, SDMACC_DTYPE_FP32, {kA, kB}, {kTo}, 16, {1, 2});
}
sdmacc_desc& m(Rig& r, std::uint32_t i) {
  return r.desc(Side::M2s, i);
}
sdmacc_desc& s(Rig& r, std::uint32_t i) {
  return r.desc(Side::S2m, i);
}
void replicate(Rig& r, unsigned n) {
  r.m2s(16 | kBoth, SDMACC_META_REPLICATE, kA);
  for (unsigned i = 0; i < n; ++i)
    r.s2m(16 | (i == 0 ? SDMACC_LEN_FIRST : 0) | (i + 1 == n ? SDMACC_LEN_LAST : 0), kTo + 16 * i);
}
std::vector<std::uint64_t> places(std::uint64_t first, unsigned n) {
  std::vector<std::uint64_t> all;
  for (unsigned i = 0; i < n; ++i) all.push_back(first + 0x2000 * i);
  return all;
}
void set_nibble(sdmacc_desc& d, unsigned shift, std::uint32_t value) {
  d.meta_ctrl = (d.meta_ctrl & ~(0xfu << shift)) | value << shift;
}

struct Case {
  const char* name;
  Code code;
  Side side;
  std::uint32_t index;
  std::function<void(Rig&)> build;
  std::uint32_t arch = SDMACC_ARCH_CAYMAN;
};

// clang-format off
const Case kCases[] = {
    // Ring ids and length control.
    {"ring_id_m2s", Code::RingId, Side::M2s, 1, [](Rig& r) { add(r); m(r, 1).len_ctrl ^= 3u << 24; }},
    {"ring_id_s2m", Code::RingId, Side::S2m, 0, [](Rig& r) { add(r); s(r, 0).len_ctrl ^= 1u << 24; }},
    {"concat", Code::ReservedBits, Side::M2s, 0, [](Rig& r) { r.copy(kA, kTo, 16); m(r, 0).len_ctrl |= SDMACC_LEN_CONCAT; }},
    {"length_extension", Code::ReservedBits, Side::M2s, 0, [](Rig& r) { r.copy(kA, kTo, 16); m(r, 0).len_ctrl |= 1u << 16; }},
    {"reserved_s2m", Code::ReservedBits, Side::S2m, 1, [](Rig& r) { add(r); s(r, 1).len_ctrl |= 1u << 22; }},
    {"meta_in_s2m", Code::ReservedBits, Side::S2m, 0, [](Rig& r) { add(r); s(r, 0).len_ctrl |= SDMACC_LEN_META; }},
    {"dmb_in_s2m", Code::ReservedBits, Side::S2m, 0, [](Rig& r) { add(r); s(r, 0).len_ctrl |= SDMACC_LEN_DMB; }},
    {"strong_order_sunda", Code::ReservedBits, Side::S2m, 0, [](Rig& r) { r.copy(kA, kTo, 16); s(r, 0).len_ctrl |= SDMACC_LEN_STRONG_ORDER_WR; }, SDMACC_ARCH_SUNDA},
    {"write_word", Code::WriteWord, Side::S2m, 0, [](Rig& r) { r.copy(kA, kTo, 16); s(r, 0).meta_ctrl = 1; }},
    // Framing.
    {"first_missing", Code::FirstMissing, Side::M2s, 0, [](Rig& r) { r.copy(kA, kTo, 16); m(r, 0).len_ctrl &= ~SDMACC_LEN_FIRST; }},
    {"first_missing_meta", Code::FirstMissing, Side::M2s, 0, [](Rig& r) { add(r); m(r, 0).len_ctrl &= ~SDMACC_LEN_FIRST; }},
    {"first_missing_s2m", Code::FirstMissing, Side::S2m, 0, [](Rig& r) { add(r); s(r, 0).len_ctrl &= ~SDMACC_LEN_FIRST; }},
    {"first_inside", Code::FirstInside, Side::M2s, 2, [](Rig& r) { add(r); m(r, 2).len_ctrl |= SDMACC_LEN_FIRST; }},
    {"first_inside_fma_meta", Code::FirstInside, Side::M2s, 2, [](Rig& r) { fma(r); m(r, 2).len_ctrl |= SDMACC_LEN_FIRST; }},
    {"first_inside_s2m", Code::FirstInside, Side::S2m, 1, [](Rig& r) { add(r); s(r, 1).len_ctrl |= SDMACC_LEN_FIRST; }},
    {"last_missing", Code::LastMissing, Side::M2s, 0, [](Rig& r) { r.copy(kA, kTo, 16); m(r, 0).len_ctrl &= ~SDMACC_LEN_LAST; }},
    {"last_missing_replicate", Code::LastMissing, Side::M2s, 0, [](Rig& r) { replicate(r, 2); m(r, 0).len_ctrl &= ~SDMACC_LEN_LAST; }},
    {"last_on_meta", Code::LastOnMeta, Side::M2s, 0, [](Rig& r) { add(r); m(r, 0).len_ctrl |= SDMACC_LEN_LAST; }},
    {"last_on_later_meta", Code::LastOnMeta, Side::M2s, 2, [](Rig& r) { fma(r); m(r, 2).len_ctrl |= SDMACC_LEN_LAST; }},
    {"meta_missing", Code::MetaMissing, Side::M2s, 0, [](Rig& r) { add(r); m(r, 0).len_ctrl &= ~SDMACC_LEN_META; }},
    {"meta_missing_fma", Code::MetaMissing, Side::M2s, 2, [](Rig& r) { fma(r); m(r, 2).len_ctrl &= ~SDMACC_LEN_META; }},
    {"meta_inside", Code::MetaInside, Side::M2s, 1, [](Rig& r) { add(r); m(r, 1).len_ctrl |= SDMACC_LEN_META; }},
    {"meta_inside_copy", Code::MetaInside, Side::M2s, 0, [](Rig& r) { r.copy(kA, kTo, 16); m(r, 0).len_ctrl |= SDMACC_LEN_META; }},
    {"meta_inside_replicate", Code::MetaInside, Side::M2s, 0, [](Rig& r) { replicate(r, 2); m(r, 0).len_ctrl |= SDMACC_LEN_META; }},
    {"length_mismatch_copy", Code::LengthMismatch, Side::S2m, 0, [](Rig& r) { r.copy(kA, kTo, 16); s(r, 0).len_ctrl ^= 1; }},
    {"length_mismatch_replicate", Code::LengthMismatch, Side::S2m, 1, [](Rig& r) { replicate(r, 2); s(r, 1).len_ctrl ^= 1; }},
    {"length_mismatch_source", Code::LengthMismatch, Side::M2s, 2, [](Rig& r) { add(r); m(r, 2).len_ctrl ^= 4; }},
    {"length_mismatch_destination", Code::LengthMismatch, Side::S2m, 0, [](Rig& r) { add(r); s(r, 0).len_ctrl ^= 4; }},
    // Class and sub-type.
    {"class_0", Code::Class, Side::M2s, 0, [](Rig& r) { r.copy(kA, kTo, 16, 0x00080003); }},
    {"class_3", Code::Class, Side::M2s, 0, [](Rig& r) { r.copy(kA, kTo, 16, 0x01880003); }},
    {"copy_control_block", Code::CopyControl, Side::M2s, 0, [](Rig& r) { r.copy(kA, kTo, 16, SDMACC_META_COPY ^ 1); }},
    {"copy_control_sub_type", Code::CopyControl, Side::M2s, 0, [](Rig& r) { r.copy(kA, kTo, 16, SDMACC_META_COPY | 1u << 20); }},
    {"stride", Code::SubType, Side::M2s, 0, [](Rig& r) { replicate(r, 2); m(r, 0).meta_ctrl = 0x00800000; }},
    {"transpose", Code::SubType, Side::M2s, 0, [](Rig& r) { replicate(r, 2); m(r, 0).meta_ctrl = 0x00900000; }},
    {"ext", Code::SubType, Side::M2s, 0, [](Rig& r) { add(r); m(r, 0).meta_ctrl |= 4u << 20; }},
    {"gce", Code::SubType, Side::M2s, 0, [](Rig& r) { add(r); m(r, 0).meta_ctrl |= 5u << 20; }},
    {"replication_sunda", Code::Replication, Side::M2s, 0, [](Rig& r) { replicate(r, 2); }, SDMACC_ARCH_SUNDA},
    // Numbers of operands.
    {"nine_copies", Code::TooManyDestinations, Side::S2m, 8, [](Rig& r) { replicate(r, 9); }},
    {"nine_destinations", Code::TooManyDestinations, Side::S2m, 8, [](Rig& r) { r.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, {kA}, places(kTo, 9), 16); }},
    {"two_destinations_sunda", Code::TooManyDestinations, Side::S2m, 1, add, SDMACC_ARCH_SUNDA},
    {"33_sources", Code::TooManySources, Side::M2s, 33, [](Rig& r) { r.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, places(kA, 33), {kTo + 0x100000}, 16); }},
    // META words.
    {"meta_length", Code::MetaLength, Side::M2s, 0, [](Rig& r) { add(r); m(r, 0).len_ctrl |= 16; }},
    {"meta_length_later", Code::MetaLength, Side::M2s, 2, [](Rig& r) { fma(r); m(r, 2).len_ctrl |= 16; }},
    {"block_bits", Code::ComputeControl, Side::M2s, 0, [](Rig& r) { add(r); m(r, 0).meta_ctrl &= ~2u; }},
    {"flag_4", Code::ComputeControl, Side::M2s, 0, [](Rig& r) { add(r); m(r, 0).meta_ctrl |= 1u << 4; }},
    {"flag_31", Code::ComputeControl, Side::M2s, 0, [](Rig& r) { add(r); m(r, 0).meta_ctrl |= 1u << 31; }},
    {"selectors_add", Code::FmaSelectors, Side::M2s, 0, [](Rig& r) { add(r); m(r, 0).addr |= SDMACC_FMA_SELECTORS; }},
    {"selectors_fma", Code::FmaSelectors, Side::M2s, 0, [](Rig& r) { fma(r); m(r, 0).addr ^= 1u << 24; }},
    {"scale_of_add", Code::ScaleWord, Side::M2s, 0, [](Rig& r) { add(r); m(r, 0).addr |= 1ull << 32; }},
    {"scale_type", Code::ScaleType, Side::M2s, 0, [](Rig& r) { fma(r); set_nibble(m(r, 0), 12, SDMACC_DTYPE_BF16); }},
    {"scale_type_fp32r", Code::ScaleType, Side::M2s, 0, [](Rig& r) { fma(r); set_nibble(m(r, 0), 12, SDMACC_DTYPE_FP32R); }},
    {"meta_changed_word1", Code::MetaChanged, Side::M2s, 2, [](Rig& r) { fma(r); m(r, 2).meta_ctrl |= SDMACC_META_WRITE_BARRIER; }},
    {"meta_changed_length", Code::MetaChanged, Side::M2s, 2, [](Rig& r) { fma(r); m(r, 2).addr ^= 4; }},
    {"source_word", Code::SourceWord, Side::M2s, 1, [](Rig& r) { add(r); m(r, 1).meta_ctrl = SDMACC_META_COPY; }},
    // Types and lengths.
    {"fp32r_input", Code::ByteSizeZero, Side::M2s, 0, [](Rig& r) { add(r); set_nibble(m(r, 0), 8, SDMACC_DTYPE_FP32R); }},
    {"fp32r_output", Code::ByteSizeZero, Side::M2s, 0, [](Rig& r) { add(r); set_nibble(m(r, 0), 12, SDMACC_DTYPE_FP32R); }},
    {"fp32r_input_fma", Code::ByteSizeZero, Side::M2s, 0, [](Rig& r) { fma(r); set_nibble(m(r, 0), 8, SDMACC_DTYPE_FP32R); }},
    {"in_out", Code::InOut, Side::M2s, 0, [](Rig& r) { add(r); set_nibble(m(r, 0), 12, SDMACC_DTYPE_BF16); }},
    {"accumulate_int32", Code::AccumulateType, Side::M2s, 0, [](Rig& r) { add(r); for (unsigned n : {8, 12, 16}) set_nibble(m(r, 0), n, SDMACC_DTYPE_INT32); }},
    {"accumulate_fp32", Code::AccumulateType, Side::M2s, 0, [](Rig& r) { add(r); set_nibble(m(r, 0), 16, SDMACC_DTYPE_FP32); }},
    {"accumulate_wider", Code::AccumulateMatch, Side::M2s, 0, [](Rig& r) { add(r); for (unsigned n : {8, 12}) set_nibble(m(r, 0), n, SDMACC_DTYPE_BF16); }},
    {"accumulate_other", Code::AccumulateMatch, Side::M2s, 0, [](Rig& r) { add(r); set_nibble(m(r, 0), 16, SDMACC_DTYPE_FP16); }},
    {"accumulate_int_in", Code::AccumulateMatch, Side::M2s, 0, [](Rig& r) { fma(r); set_nibble(m(r, 0), 8, SDMACC_DTYPE_INT32); }},
    {"length_0", Code::ComputeLength, Side::M2s, 0, [](Rig& r) { add(r); m(r, 0).addr = 0; }},
    {"partial_element", Code::PartialElement, Side::M2s, 0, [](Rig& r) { add(r); m(r, 0).addr = 18; }},
    {"too_many_bytes", Code::TooManyBytes, Side::M2s, 0, [](Rig& r) { add(r); m(r, 0).addr = 0x2004; }},
    {"too_many_elements", Code::TooManyElements, Side::M2s, 0, [](Rig& r) { r.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_BF16, {kA}, {kTo}, 0x1002); }},
    {"too_many_elements_sunda", Code::TooManyElements, Side::M2s, 0, [](Rig& r) { r.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, {kA}, {kTo}, 0x1004); }, SDMACC_ARCH_SUNDA},
    {"overlap_source", Code::Overlap, Side::S2m, 0, [](Rig& r) { add_one(r); s(r, 0).addr = kA + 4; }},
    {"overlap_before", Code::Overlap, Side::S2m, 0, [](Rig& r) { add_one(r); s(r, 0).addr = kB - 12; }},
    {"overlap_destinations", Code::Overlap, Side::S2m, 1, [](Rig& r) { add(r); s(r, 1).addr = kTo + 8; }},
    {"overlap_replicate", Code::Overlap, Side::S2m, 1, [](Rig& r) { replicate(r, 2); s(r, 1).addr = kA + 8; }},
    // Addresses.
    {"decode_source", Code::Decode, Side::M2s, 2, [](Rig& r) { add(r); m(r, 2).addr = 0x90000000000; }},
    {"decode_past_the_end", Code::Decode, Side::S2m, 1, [](Rig& r) { add(r); s(r, 1).addr = (64 << 20) - 15; }},
    {"decode_event_gap", Code::Decode, Side::S2m, 0, [](Rig& r) { r.copy(kA, sdmacc_soc_topsp(&cayman(), 0) + 0x800, 4); }},
    {"decode_read_gap", Code::Decode, Side::M2s, 0, [](Rig& r) { r.copy(sdmacc_soc_topsp(&cayman(), 0) + 0x800, kTo, 4); }},
    {"route_chip", Code::Route, Side::M2s, 0, [](Rig& r) { r.copy(SDMACC_CHIP_VALID | 5ull << 48, kTo, 16); }},
    {"route_port", Code::Route, Side::S2m, 0, [](Rig& r) { r.copy(kA, SDMACC_NEIGHBOUR_ROUTE | 3ull << 50, 16); }},
    {"aperture", Code::Aperture, Side::M2s, 0, [](Rig& r) { r.copy(cayman().host_aperture, kTo, 16); }},
    {"register_size", Code::RegisterSize, Side::S2m, 0, [](Rig& r) { r.copy(kA, sdmacc_soc_sem(&cayman(), 0, SDMACC_SEM_INC, 8), 8); }},
    {"register_alignment", Code::RegisterAlignment, Side::S2m, 0, [](Rig& r) { r.copy(kA, sdmacc_soc_sem(&cayman(), 0, SDMACC_SEM_INC, 8) + 2, 4); }},
    {"register_replicate", Code::NotMemory, Side::S2m, 0, [](Rig& r) { r.m2s(4 | kBoth, SDMACC_META_REPLICATE, kA); r.s2m(4 | kBoth, sdmacc_soc_sem(&cayman(), 0, SDMACC_SEM_INC, 8)); }},
    {"register_compute", Code::NotMemory, Side::M2s, 1, [](Rig& r) { r.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, {sdmacc_soc_sem(&cayman(), 0, SDMACC_SEM_READ, 8)}, {kTo}, 4); }},
    {"broadcast_mask", Code::BroadcastMask, Side::S2m, 0, [](Rig& r) { r.copy(kA, sdmacc_soc_bcast(&cayman(), 0, 0, 3, SDMACC_Q_TAIL_INC), 4); }},
    {"broadcast_register", Code::BroadcastRegister, Side::S2m, 0, [](Rig& r) { r.copy(kA, sdmacc_soc_bcast(&cayman(), 0, 0, 3, SDMACC_Q_LENGTH), 4); }},
};
// clang-format on

class Refusal : public testing::TestWithParam<Case> {};

TEST_P(Refusal, IsReportedAndNothingIsWritten) {
  const Case& c = GetParam();
  Device device(*sdmacc_generation_by_arch(c.arch));
  Rig rig{device, 21, 6};
  const std::vector<std::uint8_t> pattern(0x20000, 0x5a);
  device.put(kTo, pattern);
  const auto source = device.get<std::uint8_t>(kA - 64, 0x30000);
  c.build(rig);
  rig.go();
  const auto errors = device.errors();
  ASSERT_EQ(errors.size(), 1u);
  const ErrorRecord& e = errors[0];
  EXPECT_EQ(e.code, c.code) << to_string(e);
  EXPECT_EQ(e.source, Source::Queue);
  EXPECT_EQ(e.side, c.side) << to_string(e);
  EXPECT_EQ(e.index, c.index) << to_string(e);
  EXPECT_EQ(e.block, 21u);
  EXPECT_EQ(e.queue, 6u);
  const std::string text = to_string(e);
  EXPECT_EQ(text.find("engine 21 queue 6 "), 0u) << text;
  EXPECT_NE(text.find("(" + std::string(name(e.code)) + ")"), std::string::npos) << text;
  EXPECT_TRUE(rig.state().stopped);
  EXPECT_EQ(rig.state().ring[0].head, 0u);
  EXPECT_TRUE(device.get<std::uint8_t>(kTo, pattern.size()) == pattern);
  EXPECT_TRUE(device.get<std::uint8_t>(kA - 64, source.size()) == source);
  device.pump();
  EXPECT_EQ(device.errors().size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Packets, Refusal, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(RefusalLimits, DescriptorsOfTheGenerationCount) {
  sdmacc_generation small = cayman();
  small.m2s_descs = 3;
  small.s2m_descs = 1;
  Device device(small);
  Rig rig{device};
  add_one(rig);
  rig.go();
  EXPECT_EQ(device.code(), Code::None);
  rig.compute(SDMACC_CCE_ADD, SDMACC_DTYPE_FP32, {kA, kB, kA}, {kTo}, 16);
  rig.go();
  EXPECT_EQ(device.code(), Code::TooManyDescriptors);
  EXPECT_EQ(device.errors()[0].side, Side::M2s);
  device.forget();
  rig.reset();
  add(rig);
  rig.go();
  EXPECT_EQ(device.code(), Code::TooManyDescriptors);
  EXPECT_EQ(device.errors()[0].side, Side::S2m);
}

TEST(RefusalLimits, ASemaphoreThatWouldWrap) {
  Device device;
  Rig rig{device};
  const std::uint64_t inc = sdmacc_soc_sem(&cayman(), 4, SDMACC_SEM_INC, 9);
  device.poke(sdmacc_soc_sem(&cayman(), 4, SDMACC_SEM_SET, 9), 0xfffffffe);
  *device.at<std::uint32_t>(kA) = 1;
  rig.copy(kA, inc, 4);
  rig.copy(kA, inc, 4);
  rig.go();
  ASSERT_EQ(device.code(), Code::SemaphoreWrap);
  const ErrorRecord e = device.errors()[0];
  EXPECT_EQ(e.index, 1u);
  EXPECT_EQ(e.address, inc);
  EXPECT_EQ(e.value, 0xffffffffu);
  EXPECT_EQ(e.target, 1u);
  EXPECT_EQ(device.peek(sdmacc_soc_sem(&cayman(), 4, SDMACC_SEM_READ, 9)), 0xffffffffu);
  EXPECT_EQ(
      to_string(e),
      fmt::format("engine 0 queue 0 s2m descriptor 1, context 0: semaphore {:#x} holds 4294967295, "
                  "1 would wrap it (semaphore_wrap)",
                  inc));
}

TEST(RefusalLimits, TheRingItselfMustBeReachable) {
  Device device;
  using Bad = std::pair<std::uint64_t, Code>;
  for (const auto& [base, code] :
       {Bad{0x90000000000, Code::Decode}, Bad{sdmacc_soc_topsp(&cayman(), 0), Code::RegisterSize},
        Bad{cayman().host_aperture | 0x1000, Code::Aperture}}) {
    Rig rig{device};
    rig.copy(kA, kTo, 16);
    rig.write(Side::M2s, SDMACC_Q_BASE_LO, static_cast<std::uint32_t>(base));
    rig.write(Side::M2s, SDMACC_Q_BASE_HI, static_cast<std::uint32_t>(base >> 32));
    rig.go();
    ASSERT_EQ(device.code(), code);
    EXPECT_EQ(device.errors()[0].address, base);
    EXPECT_EQ(device.errors()[0].side, Side::M2s);
    EXPECT_EQ(device.errors()[0].index, 0u);
    device.forget();
  }
}

// Each code has a name and a sentence of its own, and none is unknown to this test.
TEST(ErrorTexts, AllCodes) {
  std::set<std::string> names, texts;
  unsigned found = 0;
  for (unsigned i = 1; i < 0x200; ++i) {
    ErrorRecord e;
    e.code = static_cast<Code>(i);
    if (name(e.code) == "none") continue;
    ++found;
    names.insert(std::string(name(e.code)));
    texts.insert(to_string(e));
  }
  EXPECT_EQ(names.size(), found);
  EXPECT_EQ(texts.size(), found);
  EXPECT_EQ(found, static_cast<unsigned>(Code::Overlap) + 8);
  EXPECT_EQ(from_firmware(ncfw::Code::BadImage), Code::FirmwareImage);
  EXPECT_EQ(from_firmware(ncfw::Code::ZeroWait), Code::FirmwareZeroWait);
  EXPECT_EQ(from_firmware(ncfw::Code::None), Code::None);
}

}  // namespace
}  // namespace sdmacc::model::test
