// SPDX-License-Identifier: MIT
// What can go wrong on the device, one code a rule, and the record that an ERROR notification
// carries. Entry points: ErrorRecord, to_string(). The record's layout is part of docs/device.md
// §5.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "firmware-stub/ncfw/port.hpp"

namespace sdmacc::model {

enum class Code : std::uint16_t {
  None = 0,

  // An access to an address: by a descriptor, a ring fetch, the firmware or the host.
  Decode,             // no block of the device has this address
  Route,              // goes to another chip or to a neighbour port, and nothing is connected there
  Window,             // outside every window of the context
  Aperture,           // host address outside every extent of the context
  Unbound,            // in an extent that has no memory now
  Forbidden,          // the window or extent does not allow it
  RegisterSize,       // register space takes 4 bytes at a time
  RegisterAlignment,  // … at a multiple of 4
  NotMemory,          // this packet moves bytes between memories only
  MemoryFault,        // host memory went away (SIGBUS)

  // What a register write asked for.
  SemaphoreWrap,      // counter would leave 0 … 2^32 − 1
  BroadcastMask,      // broadcast through a mask word that is not enabled: it was never written
  BroadcastRegister,  // broadcast of a register other than tail increment and software control
  BroadcastContext,   // the mask selects a queue that belongs to another context
  RingLength,         // doorbell of a ring of length 0
  RingOverrun,        // more descriptors armed than the ring has

  // The framing of a packet.
  RingId,        // descriptor's ring id is not the one of this round
  ReservedBits,  // length-control bits that nothing defines here, or that this generation lacks
  FirstMissing,  // a packet's first descriptor without FIRST
  FirstInside,   // FIRST on a later descriptor of a packet
  LastMissing,   // copy without LAST
  LastOnMeta,    // LAST on a META descriptor
  MetaMissing,   // compute packet, or FMA source, without a META descriptor before it
  MetaInside,    // META descriptor where data is due, or in the S2M ring
  WriteWord,     // word 1 of an S2M descriptor is not 0
  Class,         // operation class other than DRE, CME and CCE
  SubType,       // sub-type that this device does not execute
  CopyControl,   // meta control word of a copy
  Replication,   // more than one destination on a generation that has no replication
  LengthMismatch,
  TooManyDescriptors,
  TooManyDestinations,

  // Compute packets.
  TooManySources,
  MetaLength,       // length field of a META descriptor is not 0
  ComputeControl,   // META word 1: bits outside the fields, or block bits other than 3
  FmaSelectors,     // META word 2 above the length
  ScaleWord,        // META word 3 of a packet that has no scale
  ScaleType,        // FMA scale dtype is not FP32
  MetaChanged,      // an FMA META that differs from the packet's first in more than the scale
  SourceWord,       // word 1 of a source descriptor is not 0
  ByteSizeZero,     // FP32R as input or output
  InOut,            // input and output dtype differ
  AccumulateType,   // accumulate dtype is not one of the six
  AccumulateMatch,  // accumulate dtype does not go with the input's
  ComputeLength,    // length 0
  PartialElement,   // length is not a multiple of the element
  TooManyElements,
  TooManyBytes,
  Overlap,  // a destination partly overlaps a source or another destination

  // What the firmware reports, in the order of ncfw::Code.
  FirmwareImage = 0x101,
  FirmwareCtrl,
  FirmwareSlot,
  FirmwareConfig,
  FirmwareDispatch,
  FirmwareAccess,
  FirmwareSemaphore,
  FirmwareZeroWait,
};

Code from_firmware(ncfw::Code code);
std::string_view name(Code code);  // "ring_id"

enum class Source : std::uint8_t { Queue = 0, TopSp = 1, Host = 2 };
enum class Side : std::uint8_t { M2s = 0, S2m = 1, None = 2 };

inline constexpr std::uint32_t kNone = 0xffffffffu;

// Why something was refused, without the place.
struct Refusal {
  Code code = Code::None;
  std::uint64_t value = 0;
  std::uint64_t target = 0;

  explicit operator bool() const { return code != Code::None; }
};

// `block` is an engine (core · 16 + number) or a TOP_SP; the fields that do not apply are kNone or
// 0.
struct ErrorRecord {
  Source source = Source::Host;
  Side side = Side::None;
  Code code = Code::None;
  std::uint32_t context = 0;
  std::uint32_t block = kNone;
  std::uint32_t queue = kNone;
  std::uint32_t index = kNone;  // queue: descriptor in its ring; TOP_SP: CTRL entry
  std::uint32_t unit = kNone;   // TOP_SP: channel or mesh event
  std::uint64_t address = 0;    // what was accessed
  std::uint64_t value = 0;      // what was found
  std::uint64_t target = 0;     // what was due, or the limit
};
static_assert(sizeof(ErrorRecord) == 48);

// "engine 17 queue 3 m2s descriptor 12, context 2: ring id is 2, this round has 1 (ring_id)"
std::string to_string(const ErrorRecord& record);

}  // namespace sdmacc::model
