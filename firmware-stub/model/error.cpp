// SPDX-License-Identifier: MIT
// The name and the sentence of each code. A sentence may use the fields of the record.
#include "firmware-stub/model/error.hpp"

#include <fmt/format.h>

namespace sdmacc::model {
namespace {

struct Row {
  Code code;
  std::string_view name;
  std::string_view text;  // fmt string over address, value, target
};

constexpr Row kRows[] = {
    {Code::None, "none", "no error"},
    {Code::Decode, "decode", "no block of the device has address {address:#x} ({value} bytes)"},
    {Code::Route, "route",
     "address {address:#x} leads to chip or port {value}, which is not connected"},
    {Code::Window, "window",
     "address {address:#x} ({value} bytes) is outside every window of the context"},
    {Code::Aperture, "aperture",
     "host address {address:#x} ({value} bytes) is in no extent of the context"},
    {Code::Unbound, "unbound", "host address {address:#x} has no memory bound to it"},
    {Code::Forbidden, "forbidden",
     "address {address:#x} ({value} bytes) does not allow {target:#x} (1 read, 2 write)"},
    {Code::RegisterSize, "register_size",
     "register {address:#x} is accessed with {value} bytes, must be 4"},
    {Code::RegisterAlignment, "register_alignment",
     "register {address:#x} is not at a multiple of 4"},
    {Code::NotMemory, "not_memory", "address {address:#x} is a register; this packet needs memory"},
    {Code::MemoryFault, "memory_fault", "memory behind {address:#x} cannot be reached"},
    {Code::SemaphoreWrap, "semaphore_wrap",
     "semaphore {address:#x} holds {value}, {target} would wrap it"},
    {Code::BroadcastMask, "broadcast_mask",
     "mask word of {address:#x} is {value:#x}: it was never written"},
    {Code::BroadcastRegister, "broadcast_register",
     "{address:#x} is no register that can be broadcast"},
    {Code::BroadcastContext, "broadcast_context",
     "{address:#x} reaches engine {value}, whose queue has context {target}"},
    {Code::RingLength, "ring_length", "doorbell of {value} on a ring of length 0"},
    {Code::RingOverrun, "ring_overrun", "{value} descriptors armed in a ring of {target}"},
    {Code::RingId, "ring_id", "ring id is {value}, this round has {target}"},
    {Code::ReservedBits, "reserved_bits",
     "length control {value:#x} has bits {target:#x}, which must be 0"},
    {Code::FirstMissing, "first_missing",
     "length control {value:#x} lacks FIRST, a packet begins here"},
    {Code::FirstInside, "first_inside", "length control {value:#x} has FIRST inside a packet"},
    {Code::LastMissing, "last_missing",
     "length control {value:#x} lacks LAST, a copy has one descriptor"},
    {Code::LastOnMeta, "last_on_meta", "length control {value:#x} has LAST on a META descriptor"},
    {Code::MetaMissing, "meta_missing",
     "length control {value:#x} lacks META, which must come first"},
    {Code::MetaInside, "meta_inside", "length control {value:#x} has META where data is due"},
    {Code::WriteWord, "write_word", "word 1 of a write descriptor is {value:#x}, must be 0"},
    {Code::Class, "class",
     "meta control {value:#x} has class {target}, known are 1 (DRE), 2 (copy), 4 (compute)"},
    {Code::SubType, "sub_type",
     "meta control {value:#x} has sub-type {target}, which is not executed"},
    {Code::CopyControl, "copy_control",
     "meta control of a copy is {value:#x}, must be {target:#x}"},
    {Code::Replication, "replication",
     "meta control {value:#x} replicates, which this generation cannot"},
    {Code::LengthMismatch, "length_mismatch", "length is {value}, the packet's is {target}"},
    {Code::TooManyDescriptors, "too_many_descriptors",
     "packet has {value} descriptors or more, the limit is {target}"},
    {Code::TooManyDestinations, "too_many_destinations",
     "packet has {value} destinations or more, the limit is {target}"},
    {Code::TooManySources, "too_many_sources",
     "packet has {value} sources or more, the limit is {target}"},
    {Code::MetaLength, "meta_length", "META descriptor has length {value}, must be 0"},
    {Code::ComputeControl, "compute_control",
     "META word 1 is {value:#x}: bits {target:#x} are wrong"},
    {Code::FmaSelectors, "fma_selectors",
     "META word 2 is {value:#x}, above the length it must be {target:#x}"},
    {Code::ScaleWord, "scale_word", "META word 3 is {value:#x}, must be 0: only FMA has a scale"},
    {Code::ScaleType, "scale_type", "scale dtype is {value:#x}, must be {target:#x} (FP32)"},
    {Code::MetaChanged, "meta_changed",
     "META of a later source is {value:#x}, the packet's is {target:#x}"},
    {Code::SourceWord, "source_word", "word 1 of a source is {value:#x}, must be 0"},
    {Code::ByteSizeZero, "byte_size_zero",
     "dtype {value:#x} (FP32R) is no format in memory: its byte size is 0"},
    {Code::InOut, "in_out", "input dtype is {value:#x}, output dtype {target:#x}: must be equal"},
    {Code::AccumulateType, "accumulate_type", "accumulate dtype {value:#x} cannot be reduced"},
    {Code::AccumulateMatch, "accumulate_match",
     "input dtype {value:#x} needs accumulate dtype {target:#x}"},
    {Code::ComputeLength, "compute_length", "META word 2 has length 0"},
    {Code::PartialElement, "partial_element",
     "length {value} is not a multiple of the element, {target} bytes"},
    {Code::TooManyElements, "too_many_elements",
     "packet has {value} elements, the limit is {target}"},
    {Code::TooManyBytes, "too_many_bytes", "packet has {value} bytes, the limit is {target}"},
    {Code::Overlap, "overlap", "destination {address:#x} partly overlaps {value:#x}"},
    {Code::FirmwareImage, "firmware_image",
     "image at {address:#x} is bad: {value:#x}, due {target:#x}"},
    {Code::FirmwareCtrl, "firmware_ctrl",
     "CTRL entry at {address:#x} is bad: {value:#x}, due {target:#x}"},
    {Code::FirmwareSlot, "firmware_slot",
     "SLOT word at {address:#x} is bad: {value:#x}, due {target:#x}"},
    {Code::FirmwareConfig, "firmware_config",
     "configuration at {address:#x} is bad: {value:#x}, due {target:#x}"},
    {Code::FirmwareDispatch, "firmware_dispatch", "dispatch word at {address:#x} is {value:#x}"},
    {Code::FirmwareAccess, "firmware_access", "access to {address:#x} was refused"},
    {Code::FirmwareSemaphore, "firmware_semaphore",
     "semaphore {address:#x} holds {value}, {target} would wrap it"},
    {Code::FirmwareZeroWait, "firmware_zero_wait", "wait on {address:#x} for 0"},
};

const Row& row(Code code) {
  for (const Row& r : kRows)
    if (r.code == code) return r;
  return kRows[0];
}

std::string where(const ErrorRecord& e) {
  switch (e.source) {
    case Source::Queue: {
      std::string text = fmt::format("engine {} queue {}", e.block, e.queue);
      if (e.side != Side::None) text += e.side == Side::M2s ? " m2s" : " s2m";
      if (e.index != kNone) text += fmt::format(" descriptor {}", e.index);
      return text;
    }
    case Source::TopSp: {
      std::string text = fmt::format("TOP_SP {}", e.block);
      if (e.index != kNone) text += fmt::format(" entry {}", e.index);
      if (e.unit != kNone) text += fmt::format(" unit {}", e.unit);
      return text;
    }
    case Source::Host:
      return "host";
  }
  return "unknown";
}

}  // namespace

Code from_firmware(ncfw::Code code) {
  constexpr auto kBase = static_cast<std::uint16_t>(Code::FirmwareImage) -
                         static_cast<std::uint16_t>(ncfw::Code::BadImage);
  static_assert(static_cast<unsigned>(Code::FirmwareZeroWait) ==
                kBase + static_cast<unsigned>(ncfw::Code::ZeroWait));
  if (code == ncfw::Code::None) return Code::None;
  return static_cast<Code>(kBase + static_cast<std::uint16_t>(code));
}

std::string_view name(Code code) {
  return row(code).name;
}

std::string to_string(const ErrorRecord& e) {
  const Row& r = row(e.code);
  return fmt::format("{}, context {}: {} ({})", where(e), e.context,
                     fmt::format(fmt::runtime(r.text), fmt::arg("address", e.address),
                                 fmt::arg("value", e.value), fmt::arg("target", e.target)),
                     r.name);
}

}  // namespace sdmacc::model
