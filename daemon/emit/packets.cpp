// SPDX-License-Identifier: MIT
// PacketWriter: CCE packets, copies and replications within the limits of the generation, and
// semaphore writes as 4-byte copies of the constant page behind a write barrier (docs/device.md
// §2). Tested by selftests/emit.
#include "daemon/emit/packets.hpp"

#include <algorithm>
#include <bit>

#include "libuapi/abi/enums.h"

namespace sdmacc::emitter {
namespace {

constexpr std::uint32_t kRingId = SDMACC_RING_FIRST_ID;

sdmacc_desc data_desc(std::uint32_t bytes, std::uint32_t flags, std::uint32_t meta,
                      std::uint64_t address) {
  return {sdmacc_len_ctrl(bytes, flags, kRingId), meta, address};
}

// FP32 is carried with FP32 in and out and FP32R as the accumulate type; every other type is all
// three.
struct Nibbles {
  std::uint32_t in_out, accumulate;
};
Nibbles nibbles(DType dtype) {
  if (dtype == DType::Fp32 || dtype == DType::Fp32r) return {SDMACC_DTYPE_FP32, SDMACC_DTYPE_FP32R};
  return {static_cast<std::uint32_t>(dtype), static_cast<std::uint32_t>(dtype)};
}

}  // namespace

PacketWriter::PacketWriter(Builder& builder, Rank rank, std::uint32_t channel)
    : b_(builder),
      group_(builder.group(rank, channel)),
      rank_(rank),
      channel_(channel),
      element_(element_bytes(builder.schedule().dtype)),
      last_packet_(builder.engines(), 0) {}

void PacketWriter::data(const Step& step, std::uint32_t index) {
  if (step.kind == Kind::Sync || step.src.empty() || step.src[0].count == 0) return;
  std::vector<std::size_t> before;
  for (const Ring& r : group_.rings) before.push_back(r.m2s.size());
  if (step.kind == Kind::Reduce)
    reduce(step);
  else
    copy(step.src[0], step.dst);
  for (std::uint32_t e = 0; e < b_.engines(); ++e)
    note_origin(ring(e), before[e], index, step.slice);
}

void PacketWriter::note_origin(Ring& ring, std::size_t first, std::uint32_t index,
                               std::uint32_t slice) {
  ring.origins.push_back({0, static_cast<std::uint32_t>(first),
                          static_cast<std::uint32_t>(ring.m2s.size()), rank_, channel_, index,
                          slice});
}

// Cuts `count` elements into one contiguous share an engine and the shares into equally many
// packets of at most `limit`.
template <typename Packet>
void PacketWriter::for_each_packet(std::uint64_t count, std::uint64_t limit, Packet packet) {
  const std::uint64_t engines = b_.engines();
  const std::uint64_t largest = (count + engines - 1) / engines;
  const std::uint64_t packets = (largest + limit - 1) / limit;
  for (std::uint64_t e = 0; e < engines; ++e) {
    const std::uint64_t low = count * e / engines, high = count * (e + 1) / engines;
    const std::uint64_t share = high - low;
    const std::uint64_t piece = (share + limit - 1) / limit == packets
                                    ? limit
                                    : std::max<std::uint64_t>(1, share / packets);
    std::uint64_t done = 0;
    for (std::uint64_t i = 0; i < packets; ++i) {
      const std::uint64_t size = i + 1 == packets ? share - done : std::min(piece, share - done);
      last_packet_[e] = ring(static_cast<std::uint32_t>(e)).m2s.size();
      if (size == 0)
        packet(ring(static_cast<std::uint32_t>(e)), Part{0, 1}, true);
      else
        packet(ring(static_cast<std::uint32_t>(e)), Part{low + done, size}, false);
      done += size;
    }
  }
  dirty_ = true;
}

void PacketWriter::reduce(const Step& step) {
  const std::uint64_t limit =
      std::min<std::uint64_t>(b_.arch().element_limit, b_.arch().packet_bytes / element_);
  const std::size_t direct = std::min<std::size_t>(step.dst.size(), b_.arch().max_destinations);
  for_each_packet(step.src[0].count, limit, [&](Ring& r, Part part, bool padding) {
    reduce_packet(r, step, direct, part, padding);
  });
  if (direct == step.dst.size()) return;
  barrier();
  copy(step.dst[0], std::span(step.dst).subspan(direct));
}

void PacketWriter::reduce_packet(Ring& ring, const Step& step, std::size_t destinations, Part part,
                                 bool padding) {
  const Schedule& s = b_.schedule();
  const bool fma = s.op == ReduceOp::Fma;
  const auto bytes = static_cast<std::uint32_t>(part.count * element_);
  const Nibbles type = nibbles(s.dtype);
  const std::uint32_t word1 =
      sdmacc_cce_word1(static_cast<std::uint32_t>(s.op), type.in_out,
                       fma ? std::uint32_t{SDMACC_DTYPE_FP32} : type.in_out, type.accumulate, 0);
  for (std::size_t i = 0; i < step.src.size(); ++i) {
    const Range& from = step.src[i];
    const bool first = i == 0, last = i + 1 == step.src.size();
    if (first || fma) {
      const float scale = from.space == Space::In && fma ? s.scales[from.rank] : 1.0f;
      const std::uint32_t word2 = bytes | (fma ? SDMACC_FMA_SELECTORS : 0u);
      ring.m2s.push_back(
          data_desc(0, SDMACC_LEN_META | (first ? SDMACC_LEN_FIRST : 0u), word1,
                    sdmacc_cce_words23(word2, fma ? std::bit_cast<std::uint32_t>(scale) : 0u)));
    }
    ring.m2s.push_back(data_desc(bytes, last ? SDMACC_LEN_LAST : 0u, 0,
                                 padding ? b_.constant(0) : b_.address(from, part.first)));
  }
  put_destinations(ring, std::span(step.dst).first(destinations), bytes, part, padding);
}

void PacketWriter::copy(const Range& from, std::span<const Range> to) {
  const std::uint64_t limit = SDMACC_DESC_MAX_BYTES / element_;
  for (std::size_t at = 0; at < to.size(); at += b_.arch().max_destinations) {
    const auto some =
        to.subspan(at, std::min<std::size_t>(b_.arch().max_destinations, to.size() - at));
    for_each_packet(from.count, limit, [&](Ring& r, Part part, bool padding) {
      copy_packet(r, from, some, part, padding);
    });
  }
}

void PacketWriter::copy_packet(Ring& ring, const Range& from, std::span<const Range> to, Part part,
                               bool padding) {
  const auto bytes = static_cast<std::uint32_t>(part.count * element_);
  const std::uint32_t meta = to.size() == 1 ? SDMACC_META_COPY : SDMACC_META_REPLICATE;
  ring.m2s.push_back(data_desc(bytes, SDMACC_LEN_FIRST | SDMACC_LEN_LAST, meta,
                               padding ? b_.constant(0) : b_.address(from, part.first)));
  put_destinations(ring, to, bytes, part, padding);
}

void PacketWriter::put_destinations(Ring& ring, std::span<const Range> to, std::uint32_t bytes,
                                    Part part, bool padding) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::uint32_t flags =
        (i == 0 ? SDMACC_LEN_FIRST : 0u) | (i + 1 == to.size() ? SDMACC_LEN_LAST : 0u);
    ring.s2m.push_back(
        data_desc(bytes, flags, 0,
                  padding ? b_.padding(rank_, engine_of(ring)) : b_.address(to[i], part.first)));
  }
}

// Marks each engine's last data packet: what follows must not overtake it.
void PacketWriter::barrier() {
  if (!dirty_) return;
  dirty_ = false;
  for (std::uint32_t e = 0; e < b_.engines(); ++e)
    for (std::size_t i = last_packet_[e]; i < ring(e).m2s.size(); ++i) {
      sdmacc_desc& d = ring(e).m2s[i];
      if (i == last_packet_[e] || (d.len_ctrl & SDMACC_LEN_META) != 0)
        d.meta_ctrl |= SDMACC_META_WRITE_BARRIER;
    }
}

void PacketWriter::post(const Post& post, std::uint32_t index, std::uint32_t slice, bool once) {
  barrier();
  for (std::uint32_t e = 0; e < b_.engines(); ++e) {
    Ring& r = ring(e);
    const std::size_t before = r.m2s.size();
    for (std::uint32_t left = post.count; left != 0; left &= left - 1) {
      const auto power = static_cast<std::uint32_t>(std::countr_zero(left));
      const bool pad = once && e > 0;
      r.m2s.push_back(data_desc(4, SDMACC_LEN_FIRST | SDMACC_LEN_LAST, SDMACC_META_COPY,
                                b_.constant(pad ? 0 : power)));
      r.s2m.push_back(data_desc(4, SDMACC_LEN_FIRST | SDMACC_LEN_LAST, 0,
                                pad ? b_.padding(rank_, e) : b_.semaphore(post.signal)));
    }
    note_origin(r, before, index, slice);
  }
}

Counts PacketWriter::take() {
  const Counts now{static_cast<std::uint32_t>(ring(0).m2s.size()),
                   static_cast<std::uint32_t>(ring(0).s2m.size())};
  const Counts since{now.m2s - taken_.m2s, now.s2m - taken_.s2m};
  taken_ = now;
  return since;
}

}  // namespace sdmacc::emitter
