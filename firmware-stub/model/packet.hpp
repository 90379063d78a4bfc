// SPDX-License-Identifier: MIT
// From descriptors to a packet: gathers one from the two rings of a queue and checks every rule
// that does not need memory (docs/device.md §2). Entry point: PacketReader::read().
#pragma once

#include <array>
#include <cstdint>

#include "firmware-stub/cce/cce.hpp"
#include "firmware-stub/model/error.hpp"
#include "firmware-stub/model/view.hpp"
#include "libuapi/abi/generation.h"
#include "libuapi/abi/udma.h"

namespace sdmacc::model {

// Positions of a queue's View.
inline constexpr std::size_t kSourcePosition = 0;
inline constexpr std::size_t kDestinationPosition = cce::kMaxSources;
inline constexpr std::size_t kRingPosition =
    kDestinationPosition + cce::kMaxDestinations;  // + side
inline constexpr std::size_t kQueuePositions = kRingPosition + 2;

// A place in a ring: the next descriptor to take.
struct Cursor {
  std::uint64_t base = 0;
  std::uint32_t length = 0;
  std::uint32_t index = 0;
  std::uint32_t ring_id = SDMACC_RING_FIRST_ID;
  std::uint64_t count = 0;  // descriptors taken since reset

  static Cursor at(std::uint64_t base, std::uint32_t length, std::uint64_t count);
  void advance() {
    ++count;
    if (++index == length) {
      index = 0;
      ring_id = (ring_id + 1) & 3;
    }
  }
};

struct Operand {
  std::uint64_t address;
  std::uint32_t index;  // of its descriptor
};

struct Packet {
  enum class Kind : std::uint8_t { Copy, Replicate, Compute };

  Kind kind;
  cce::Op op;
  cce::Acc acc;
  std::uint32_t element;  // bytes
  std::uint32_t length;   // bytes of each operand
  std::uint32_t sources;
  std::uint32_t destinations;
  std::array<Operand, cce::kMaxSources> source;
  std::array<Operand, cce::kMaxDestinations> destination;
  std::array<float, cce::kMaxSources> scale;
};

// Why a packet does not run, and which descriptor says so.
struct Fault : Refusal {
  Side side = Side::None;
  std::uint32_t index = kNone;
  std::uint64_t address = 0;
};

// How far an access got, as a refusal of `code`.
Refusal access_refusal(Code code, const Reach& reach, std::uint64_t size, Rights need);

enum class Outcome : std::uint8_t { Done, Blocked, Failed };

class PacketReader {
 public:
  // Cursors stand at the packet's first descriptors; armed: descriptors that may be taken.
  PacketReader(View& view, const sdmacc_generation& arch, const std::array<Cursor, 2>& cursors,
               const std::array<std::uint64_t, 2>& armed)
      : view_(view), arch_(arch), cursors_(cursors), armed_(armed) {}

  // Done: *packet is complete and the cursors stand behind it. Blocked: not all of it is armed.
  Outcome read(Packet* packet);
  const Fault& fault() const { return fault_; }
  const std::array<Cursor, 2>& cursors() const { return cursors_; }

 private:
  struct Taken {
    sdmacc_desc desc;
    std::uint32_t index;
  };

  Outcome take(Side side, Taken* out);
  Outcome fail(Side side, std::uint32_t index, Code code, std::uint64_t value,
               std::uint64_t target = 0);
  Outcome copy(const Taken& first, Packet* p);
  Outcome replicate(const Taken& first, Packet* p);
  Outcome compute(const Taken& meta, Packet* p);
  Outcome source_meta(const Taken& meta, const sdmacc_desc& first, Packet* p);
  Outcome sources(const Taken& meta, Packet* p);
  Outcome destinations(std::uint32_t limit, Packet* p);

  View& view_;
  const sdmacc_generation& arch_;
  std::array<Cursor, 2> cursors_;
  std::array<std::uint64_t, 2> armed_;
  Fault fault_;
};

// The rules for words 1 and 2 of a META descriptor; sets op, acc, element and length.
Refusal check_compute(const sdmacc_desc& meta, const sdmacc_generation& arch, Packet* packet);

}  // namespace sdmacc::model
