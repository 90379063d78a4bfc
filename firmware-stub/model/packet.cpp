// SPDX-License-Identifier: MIT
// Framing: ring ids, FIRST and LAST, who must be as long as whom. Each refusal has its own code.
#include "firmware-stub/model/packet.hpp"

#include <bit>
#include <cstring>

#include "firmware-stub/model/guard.hpp"

namespace sdmacc::model {
namespace {

constexpr std::uint32_t kCommonBits =
    SDMACC_LEN_MASK | SDMACC_LEN_RING_MASK | SDMACC_LEN_FIRST | SDMACC_LEN_LAST | SDMACC_LEN_INT_EN;

// Bits of length control that may be set. Write ordering came with the same generation as
// replication.
std::uint32_t allowed_bits(Side side, const sdmacc_generation& arch) {
  if (side == Side::M2s)
    return kCommonBits | SDMACC_LEN_META | SDMACC_LEN_NO_SNOOP | SDMACC_LEN_DMB;
  return kCommonBits | (arch.max_destinations > 1 ? SDMACC_LEN_STRONG_ORDER_WR : 0);
}

bool has(const sdmacc_desc& desc, std::uint32_t flag) {
  return (desc.len_ctrl & flag) != 0;
}

}  // namespace

Cursor Cursor::at(std::uint64_t base, std::uint32_t length, std::uint64_t count) {
  Cursor c;
  c.base = base;
  c.length = length;
  c.count = count;
  if (length > 0) {
    c.index = static_cast<std::uint32_t>(count % length);
    c.ring_id = static_cast<std::uint32_t>(SDMACC_RING_FIRST_ID + count / length) & 3;
  }
  return c;
}

Refusal access_refusal(Code code, const Reach& reach, std::uint64_t size, Rights need) {
  return {code, code == Code::Route ? reach.target.index : size, need};
}

Outcome PacketReader::fail(Side side, std::uint32_t index, Code code, std::uint64_t value,
                           std::uint64_t target) {
  fault_ = Fault{{code, value, target}, side, index, 0};
  return Outcome::Failed;
}

// The next descriptor of a side: armed, fetched, of this round.
Outcome PacketReader::take(Side side, Taken* out) {
  const auto s = static_cast<std::size_t>(side);
  Cursor& cursor = cursors_[s];
  if (armed_[s] == 0) return Outcome::Blocked;
  const std::uint64_t address = cursor.base + std::uint64_t{cursor.index} * sizeof(sdmacc_desc);
  Reach reach;
  Code code = view_.reach(kRingPosition + s, address, sizeof(sdmacc_desc), kRead, &reach);
  if (code == Code::None && !reach.memory) code = Code::NotMemory;
  if (code == Code::None) {
    auto fetch = [&] { std::memcpy(&out->desc, reach.memory, sizeof(sdmacc_desc)); };
    if (!reach.host) {
      fetch();
    } else if (guarded(fetch) != 0) {
      code = Code::MemoryFault;
    }
  }
  if (code != Code::None) {
    fault_ =
        Fault{access_refusal(code, reach, sizeof(sdmacc_desc), kRead), side, cursor.index, address};
    return Outcome::Failed;
  }
  const std::uint32_t ring_id =
      (out->desc.len_ctrl & SDMACC_LEN_RING_MASK) >> SDMACC_LEN_RING_SHIFT;
  if (ring_id != cursor.ring_id)
    return fail(side, cursor.index, Code::RingId, ring_id, cursor.ring_id);
  if (const std::uint32_t wrong = out->desc.len_ctrl & ~allowed_bits(side, arch_))
    return fail(side, cursor.index, Code::ReservedBits, out->desc.len_ctrl, wrong);
  if (side == Side::S2m && out->desc.meta_ctrl != 0)
    return fail(side, cursor.index, Code::WriteWord, out->desc.meta_ctrl);
  out->index = cursor.index;
  cursor.advance();
  --armed_[s];
  return Outcome::Done;
}

Outcome PacketReader::read(Packet* p) {
  Taken first;
  if (const Outcome o = take(Side::M2s, &first); o != Outcome::Done) return o;
  const std::uint32_t control = first.desc.len_ctrl;
  const std::uint32_t meta = first.desc.meta_ctrl;
  if (!has(first.desc, SDMACC_LEN_FIRST))
    return fail(Side::M2s, first.index, Code::FirstMissing, control);
  switch (sdmacc_meta_class(meta)) {
    case SDMACC_CLASS_CME:
      return copy(first, p);
    case SDMACC_CLASS_DRE:
      return replicate(first, p);
    case SDMACC_CLASS_CCE:
      return compute(first, p);
    default:
      return fail(Side::M2s, first.index, Code::Class, meta, sdmacc_meta_class(meta));
  }
}

Outcome PacketReader::copy(const Taken& first, Packet* p) {
  const std::uint32_t control = first.desc.len_ctrl;
  if ((first.desc.meta_ctrl & ~SDMACC_META_WRITE_BARRIER) != SDMACC_META_COPY)
    return fail(Side::M2s, first.index, Code::CopyControl, first.desc.meta_ctrl, SDMACC_META_COPY);
  if (has(first.desc, SDMACC_LEN_META))
    return fail(Side::M2s, first.index, Code::MetaInside, control);
  if (!has(first.desc, SDMACC_LEN_LAST))
    return fail(Side::M2s, first.index, Code::LastMissing, control);
  p->kind = Packet::Kind::Copy;
  p->length = sdmacc_desc_bytes(control);
  p->sources = p->destinations = 1;
  p->source[0] = {first.desc.addr, first.index};

  Taken to;
  if (const Outcome o = take(Side::S2m, &to); o != Outcome::Done) return o;
  if (sdmacc_desc_bytes(to.desc.len_ctrl) != p->length)
    return fail(Side::S2m, to.index, Code::LengthMismatch, sdmacc_desc_bytes(to.desc.len_ctrl),
                p->length);
  p->destination[0] = {to.desc.addr, to.index};
  return Outcome::Done;
}

Outcome PacketReader::replicate(const Taken& first, Packet* p) {
  const std::uint32_t control = first.desc.len_ctrl;
  const std::uint32_t meta = first.desc.meta_ctrl;
  if ((meta & ~SDMACC_META_WRITE_BARRIER) != SDMACC_META_REPLICATE)
    return fail(Side::M2s, first.index, Code::SubType, meta, sdmacc_meta_sub(meta));
  if (arch_.max_destinations == 1) return fail(Side::M2s, first.index, Code::Replication, meta);
  if (has(first.desc, SDMACC_LEN_META))
    return fail(Side::M2s, first.index, Code::MetaInside, control);
  if (!has(first.desc, SDMACC_LEN_LAST))
    return fail(Side::M2s, first.index, Code::LastMissing, control);
  p->kind = Packet::Kind::Replicate;
  p->length = sdmacc_desc_bytes(control);
  p->sources = 1;
  p->source[0] = {first.desc.addr, first.index};
  return destinations(SDMACC_DRE_MAX_DESTINATIONS, p);
}

Outcome PacketReader::compute(const Taken& meta, Packet* p) {
  const std::uint32_t control = meta.desc.len_ctrl;
  if (!has(meta.desc, SDMACC_LEN_META))
    return fail(Side::M2s, meta.index, Code::MetaMissing, control);
  if (const Refusal r = check_compute(meta.desc, arch_, p))
    return fail(Side::M2s, meta.index, r.code, r.value, r.target);
  p->kind = Packet::Kind::Compute;
  if (const Outcome o = sources(meta, p); o != Outcome::Done) return o;
  return destinations(arch_.max_destinations, p);
}

// A META descriptor as such, and as one of several in an FMA packet.
Outcome PacketReader::source_meta(const Taken& meta, const sdmacc_desc& first, Packet* p) {
  const auto changed = [&](std::uint32_t value, std::uint32_t due) {
    return fail(Side::M2s, meta.index, Code::MetaChanged, value, due);
  };
  const std::uint32_t control = meta.desc.len_ctrl;
  if (!has(meta.desc, SDMACC_LEN_META))
    return fail(Side::M2s, meta.index, Code::MetaMissing, control);
  if (has(meta.desc, SDMACC_LEN_LAST))
    return fail(Side::M2s, meta.index, Code::LastOnMeta, control);
  if ((control & SDMACC_LEN_MASK) != 0)
    return fail(Side::M2s, meta.index, Code::MetaLength, control & SDMACC_LEN_MASK);
  if (meta.desc.meta_ctrl != first.meta_ctrl) return changed(meta.desc.meta_ctrl, first.meta_ctrl);
  if (static_cast<std::uint32_t>(meta.desc.addr) != static_cast<std::uint32_t>(first.addr))
    return changed(static_cast<std::uint32_t>(meta.desc.addr),
                   static_cast<std::uint32_t>(first.addr));
  p->scale[p->sources] = std::bit_cast<float>(static_cast<std::uint32_t>(meta.desc.addr >> 32));
  return Outcome::Done;
}

Outcome PacketReader::sources(const Taken& meta, Packet* p) {
  std::uint32_t taken = 1;
  p->sources = 0;
  if (const Outcome o = source_meta(meta, meta.desc, p); o != Outcome::Done) return o;
  for (;;) {
    Taken d;
    const auto next = [&]() -> Outcome {
      if (const Outcome o = take(Side::M2s, &d); o != Outcome::Done) return o;
      if (has(d.desc, SDMACC_LEN_FIRST))
        return fail(Side::M2s, d.index, Code::FirstInside, d.desc.len_ctrl);
      if (p->sources == SDMACC_CCE_MAX_SOURCES)
        return fail(Side::M2s, d.index, Code::TooManySources, p->sources + 1,
                    SDMACC_CCE_MAX_SOURCES);
      if (++taken > arch_.m2s_descs)
        return fail(Side::M2s, d.index, Code::TooManyDescriptors, taken, arch_.m2s_descs);
      return Outcome::Done;
    };
    if (p->op == cce::Op::Fma && p->sources > 0) {
      if (const Outcome o = next(); o != Outcome::Done) return o;
      if (const Outcome o = source_meta(d, meta.desc, p); o != Outcome::Done) return o;
    }
    if (const Outcome o = next(); o != Outcome::Done) return o;
    if (has(d.desc, SDMACC_LEN_META))
      return fail(Side::M2s, d.index, Code::MetaInside, d.desc.len_ctrl);
    if (d.desc.meta_ctrl != 0) return fail(Side::M2s, d.index, Code::SourceWord, d.desc.meta_ctrl);
    if (sdmacc_desc_bytes(d.desc.len_ctrl) != p->length)
      return fail(Side::M2s, d.index, Code::LengthMismatch, sdmacc_desc_bytes(d.desc.len_ctrl),
                  p->length);
    p->source[p->sources++] = {d.desc.addr, d.index};
    if (has(d.desc, SDMACC_LEN_LAST)) return Outcome::Done;
  }
}

Outcome PacketReader::destinations(std::uint32_t limit, Packet* p) {
  for (std::uint32_t n = 0;; ++n) {
    Taken d;
    if (const Outcome o = take(Side::S2m, &d); o != Outcome::Done) return o;
    const std::uint32_t control = d.desc.len_ctrl;
    if (has(d.desc, SDMACC_LEN_FIRST) != (n == 0))
      return fail(Side::S2m, d.index, n == 0 ? Code::FirstMissing : Code::FirstInside, control);
    if (n == limit) return fail(Side::S2m, d.index, Code::TooManyDestinations, n + 1, limit);
    if (n == arch_.s2m_descs)
      return fail(Side::S2m, d.index, Code::TooManyDescriptors, n + 1, arch_.s2m_descs);
    if (sdmacc_desc_bytes(control) != p->length)
      return fail(Side::S2m, d.index, Code::LengthMismatch, sdmacc_desc_bytes(control), p->length);
    p->destination[n] = {d.desc.addr, d.index};
    if (has(d.desc, SDMACC_LEN_LAST)) {
      p->destinations = n + 1;
      return Outcome::Done;
    }
  }
}

}  // namespace sdmacc::model
