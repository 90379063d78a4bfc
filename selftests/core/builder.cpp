// SPDX-License-Identifier: MIT
// Programs written by hand, see builder.hpp. Descriptors, words and fields are spelled out as
// numbers where the documents give numbers, so that a wrong header is noticed.
#include "selftests/core/builder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "libuapi/abi/algo.h"
#include "libuapi/abi/generation.h"
#include "libuapi/abi/topsp.h"
#include "libuapi/abi/udma.h"

namespace sdmacc::test {
namespace {

constexpr std::uint32_t kFirst = 1u << 26, kLast = 1u << 27, kMeta = 1u << 23, kRingId = 1u << 24;
constexpr std::uint32_t kBarrier = 1u << 26;
constexpr std::uint32_t kCopy = 0x01080003;

struct Rings {
  std::vector<sdmacc_desc> m2s, s2m;
};

// One rank on its way: an SP, its SEM range, a TMP buffer and one queue group.
struct Node {
  std::uint32_t sp = 0, sem = 0, buf = 0, in = 0, out = 0;
  std::vector<std::uint32_t> rings;  // objects, by engine
  std::vector<Rings> descs;
  std::vector<sdmacc_ctrl_entry> ctrl;
  std::vector<std::uint64_t> slot;  // words of the list
  std::vector<std::byte> algo;
  std::vector<sdmacc_reloc> algo_relocs;
};

// Numbers of the semaphores in each rank's range.
enum Sem : std::uint32_t { kRecv, kSend, kDone, kPeer, kEventA, kEventZ, kLocal, kSems };

class Builder {
 public:
  Builder(std::uint32_t ranks, const Shape& shape, bool secondary_has_rings)
      : shape_(shape), nodes_(ranks) {
    p_.arch_id = shape.arch_id;
    p_.ranks = ranks;
    p_.channels = 1;
    p_.title = "hand-made";
    const std::uint64_t bytes = shape.count * 4;
    object({});
    for (Rank r = 0; r < ranks; ++r) {
      Node& n = nodes_[r];
      n.algo.resize(arch().algo_bytes);
      n.sp = object({SDMACC_OBJECT_SP, 0, 0, 0, r});
      n.in = object({SDMACC_OBJECT_SLOT, 1, bytes, n.sp, r * 2});
      n.out = object({SDMACC_OBJECT_SLOT, 3, bytes, n.sp, r * 2 + 1});
      n.buf = object({SDMACC_OBJECT_BUF, 3, bytes, n.sp, 0});
      n.sem = object({SDMACC_OBJECT_SEM, 0, kSems + shape.completions, n.sp, 0});
      if (r > 0 && !secondary_has_rings) continue;
      for (std::uint32_t e = 0; e < shape.engines; ++e)
        n.rings.push_back(object({SDMACC_OBJECT_RING, 0, 0, n.sp, e}));
      n.descs.resize(shape.engines);
    }
    constant_ = object({SDMACC_OBJECT_CONST, 0, 128, 0, 0});
  }

  Node& node(Rank r) { return nodes_[r]; }
  const sdmacc_generation& arch() const { return *sdmacc_generation_by_arch(shape_.arch_id); }
  std::uint32_t ranks() const { return p_.ranks; }

  static std::uint64_t at(std::uint32_t object, std::uint64_t element) {
    return std::uint64_t{object} << 40 | element * 4;
  }

  void copy(Rings& q, std::uint64_t from, std::uint64_t to, std::uint32_t bytes, bool barrier) {
    q.m2s.push_back({bytes | kRingId | kFirst | kLast, kCopy | (barrier ? kBarrier : 0), from});
    q.s2m.push_back({bytes | kRingId | kFirst | kLast, 0, to});
  }
  void inc(Rings& q, Rank owner, std::uint32_t sem) {
    copy(q, at(constant_, 0), at(nodes_[owner].sem, sem), 4, false);
  }
  // Sum of `sources` into each of `destinations`, with the write barrier. scales: FMA, one a
  // source.
  void sum(Rings& q, const std::vector<std::uint64_t>& sources, const std::vector<float>& scales,
           const std::vector<std::uint64_t>& destinations, std::uint32_t bytes) {
    const std::uint32_t op = shape_.fma ? 0x02100000 : 0x02000000;
    const std::uint32_t word1 = op | 0xa << 8 | 0xa << 12 | 0xb << 16 | kBarrier | 3;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::uint64_t scale = std::bit_cast<std::uint32_t>(scales[i]);
      const std::uint64_t words = shape_.fma ? scale << 32 | 1u << 24 | 2u << 26 | bytes : bytes;
      if (i == 0 || shape_.fma)
        q.m2s.push_back({kMeta | kRingId | (i == 0 ? kFirst : 0), word1, words});
      q.m2s.push_back({bytes | kRingId | (i + 1 == sources.size() ? kLast : 0), 0, sources[i]});
    }
    for (std::size_t i = 0; i < destinations.size(); ++i)
      q.s2m.push_back(
          {bytes | kRingId | (i == 0 ? kFirst : 0) | (i + 1 == destinations.size() ? kLast : 0), 0,
           destinations[i]});
  }
  void words(Rank r, std::uint32_t m2s, std::uint32_t s2m, std::uint32_t times) {
    nodes_[r].slot.push_back(std::uint64_t{m2s} << 48 | std::uint64_t{s2m} << 32 | times);
  }

  // ALGO fields.
  void sem_field(Rank r, std::size_t offset, Rank owner, std::uint32_t sem) {
    nodes_[r].algo_relocs.push_back(
        {0, SDMACC_RELOC_SEM_READ64, offset, nodes_[owner].sem, 0, sem});
  }
  void bcast_fields(Rank r, std::size_t offset) {
    auto& relocs = nodes_[r].algo_relocs;
    const std::uint32_t ring = nodes_[r].rings.back();
    relocs.push_back({0, SDMACC_RELOC_BCAST_M2S64, offset, ring, 0, 0});
    relocs.push_back({0, SDMACC_RELOC_BCAST_S2M64, offset + 8, ring, 0, 0});
    relocs.push_back({0, SDMACC_RELOC_BCAST_MASK32, offset + 16, ring, 0, 0});
  }
  void byte(Rank r, std::size_t offset, std::uint8_t value) {
    nodes_[r].algo[offset] = std::byte{value};
  }
  void word(Rank r, std::size_t offset, std::uint32_t value) {
    std::memcpy(nodes_[r].algo.data() + offset, &value, sizeof value);
  }
  void entry(Rank r, std::uint8_t algo, std::uint32_t low) {
    sdmacc_ctrl_entry e{};
    e.header = 1;
    e.algo = algo;
    e.u.channel_list = low;
    nodes_[r].ctrl.push_back(e);
  }
  void ring_channel(Rank r, Rank previous) {
    sem_field(r, 56, r, kRecv);
    sem_field(r, 64, r, kSend);
    sem_field(r, 72, previous, kSend);
    sem_field(r, 80, r, kDone);
  }

  Program finish() {
    for (Rank r = 0; r < p_.ranks; ++r) add_sp(r);
    for (Rank r = 0; r < p_.ranks; ++r)
      for (std::size_t e = 0; e < nodes_[r].rings.size(); ++e) {
        const Rings& q = nodes_[r].descs[e];
        const auto m2s = section(SDMACC_SECTION_RING_M2S, nodes_[r].rings[e], q.m2s);
        section(SDMACC_SECTION_RING_S2M, nodes_[r].rings[e], q.s2m);
        p_.origins.push_back({m2s, 0, static_cast<std::uint32_t>(q.m2s.size()), r, 0, 7, 0});
      }
    return std::move(p_);
  }

 private:
  std::uint32_t object(const sdmacc_object& o) {
    p_.objects.push_back(o);
    return static_cast<std::uint32_t>(p_.objects.size()) - 1;
  }

  template <typename T>
  std::uint32_t section(std::uint32_t kind, std::uint32_t object, const std::vector<T>& items) {
    p_.data.resize((p_.data.size() + 15) / 16 * 16);
    p_.sections.push_back({kind, object, p_.data.size(), items.size() * sizeof(T)});
    const auto* bytes = reinterpret_cast<const std::byte*>(items.data());
    p_.data.insert(p_.data.end(), bytes, bytes + items.size() * sizeof(T));
    return static_cast<std::uint32_t>(p_.sections.size()) - 1;
  }

  void add_sp(Rank r) {
    Node& n = nodes_[r];
    const bool last = r + 1 == p_.ranks;
    for (auto& e : n.ctrl) e.algo |= 0x80;
    n.ctrl.back().algo &= 0x7f;
    n.ctrl.back().flags = static_cast<std::uint8_t>((last ? 1 : 4) | (r > 0 ? 2 : 0));
    section(SDMACC_SECTION_CTRL, n.sp, n.ctrl);
    add_slot(n);
    const std::uint32_t algo = section(SDMACC_SECTION_ALGO, n.sp, n.algo);
    for (sdmacc_reloc& reloc : n.algo_relocs) {
      reloc.section = algo;
      p_.relocations.push_back(reloc);
    }
    add_neff(r);
  }

  // List 0; with short windows each window holds one word.
  void add_slot(Node& n) {
    const std::size_t room = shape_.short_windows ? 1 : 126;
    std::vector<std::uint64_t> all(32 * 128);
    std::size_t window = 0, used = 0;
    for (const std::uint64_t w : n.slot) {
      if (used == room) {
        all[window + used] = 0xfffefffe00000000;
        all[window + used + 1] = all.size() * 8;
        window = all.size();
        used = 0;
        all.resize(all.size() + 128);
      }
      all[window + used++] = w;
    }
    const std::uint32_t slot = section(SDMACC_SECTION_SLOT, n.sp, all);
    for (std::uint32_t i = 0; i < shape_.completions; ++i)
      p_.relocations.push_back(
          {slot, SDMACC_RELOC_SEM_INC64, (window + used + i) * 8, n.sem, 0, kLocal + i});
  }

  void add_neff(Rank r) {
    std::vector<std::byte> neff(3592);
    const std::uint32_t op_num = static_cast<std::uint32_t>(nodes_[r].ctrl.size());
    std::memcpy(neff.data() + 3584, &op_num, 4);
    neff[3588] = std::byte{1};
    neff[3590] = static_cast<std::byte>(shape_.completions);
    neff[3591] = static_cast<std::byte>(r == 0 ? 1 : 0);
    const std::uint32_t s = section(SDMACC_SECTION_NEFF, nodes_[r].sp, neff), sp = nodes_[r].sp;
    auto reloc = [&](std::uint64_t offset, std::uint32_t kind, std::uint32_t object,
                     std::uint64_t addend) {
      p_.relocations.push_back({s, kind, offset, object, 0, addend});
    };
    reloc(2144, SDMACC_RELOC_SPAD_SLOT64, sp, 0);
    reloc(2192, SDMACC_RELOC_SPAD_CTRL64, sp, 0);
    reloc(3544, SDMACC_RELOC_SEM_READ64, sp, 0);
    if (r + 1 < p_.ranks) {
      reloc(3552, SDMACC_RELOC_SEM_READ64, nodes_[r + 1].sp, 0);
      reloc(3560, SDMACC_RELOC_SEM_READ64, nodes_[r + 1].sp, 1);
    }
    if (r > 0) reloc(3568, SDMACC_RELOC_SEM_READ64, sp, 1);
  }

  const Shape shape_;
  std::vector<Node> nodes_;
  std::uint32_t constant_ = 0;
  Program p_;
};

float scale(Rank r) {
  return static_cast<float>(r + 1);
}

}  // namespace

Program ring_program(std::uint32_t ranks, const Shape& shape) {
  Builder b(ranks, shape, true);
  const std::uint64_t half = shape.count / (2 * ranks), share = half / shape.engines;
  const auto bytes = static_cast<std::uint32_t>(share * 4);
  for (Rank r = 0; r < ranks; ++r) {
    const Rank next = (r + 1) % ranks;
    Node &n = b.node(r), &to = b.node(next);
    for (std::uint32_t e = 0; e < shape.engines; ++e) {
      Rings& q = n.descs[e];
      for (std::uint64_t h = 0; h < 2 && ranks == 2;
           ++h) {  // RS: the other's chunk goes to the other
        const std::uint64_t first = next * 2 * half + h * half + e * share;
        if (shape.fma)  // meets its scale here; the partial has scale 1
          b.sum(q, {b.at(n.in, first)}, {scale(r)}, {b.at(to.buf, h * half + e * share)}, bytes);
        else
          b.copy(q, b.at(n.in, first), b.at(to.buf, h * half + e * share), bytes, true);
        b.inc(q, next, kRecv);
        b.inc(q, r, kDone);
      }
      for (std::uint64_t h = 0; h < 2; ++h) {  // the own chunk: sum, to both
        const std::uint64_t first = (ranks == 2 ? r : 0) * 2 * half + h * half + e * share;
        if (ranks == 2) {
          b.sum(q, {b.at(n.buf, h * half + e * share), b.at(n.in, first)}, {1.0f, scale(r)},
                {b.at(n.out, first), b.at(to.out, first)}, bytes);
          b.inc(q, next, kRecv);
        } else {
          b.sum(q, {b.at(n.in, first)}, {1.0f}, {b.at(n.out, first)}, bytes);
        }
        b.inc(q, r, kDone);
      }
    }
    if (ranks == 2) {
      b.words(r, shape.fma ? 4 : 3, 3, 2);
      b.words(r, shape.fma ? 6 : 5, 4, 2);
      b.words(r, 0, 0, 2);  // the arrivals that nobody passes on
    } else {
      b.words(r, 3, 2, 2);
    }
    b.ring_channel(r, next);
    b.bcast_fields(r, 120);
    b.entry(r, 0, 1);
  }
  return b.finish();
}

Program mesh_program(const Shape& shape) {
  Builder b(2, shape, true);
  const std::uint64_t piece = shape.count / (2 * shape.slices), share = piece / shape.engines;
  for (Rank r = 0; r < 2; ++r) {
    Node &n = b.node(r), &peer = b.node(1 - r);
    for (std::uint64_t s = 0; s < shape.slices; ++s) {
      for (std::uint32_t e = 0; e < shape.engines; ++e) {
        const std::uint64_t first = (2 * s + r) * piece + e * share;
        b.sum(n.descs[e], {b.at(b.node(0).in, first), b.at(b.node(1).in, first)},
              {scale(0), scale(1)}, {b.at(n.out, first), b.at(peer.out, first)},
              static_cast<std::uint32_t>(share * 4));
        b.inc(n.descs[e], 1 - r, kEventZ);
        b.inc(n.descs[e], r, kEventZ);
      }
      b.words(r, shape.fma ? 6 : 5, 4, 1);
      b.entry(r, 0x02, 0xffff0000);  // MESH, FULL; shift 0, mask 0xffff
    }
    const std::size_t events = 0x1280;
    b.sem_field(r, events + 0x28, 1 - r, kEventA);  // 0: LOCAL_HNDSHK
    b.byte(r, events + 0x4c, 2);
    b.byte(r, events + 0x4e, 1);
    b.bcast_fields(r, events + 80);  // 1: REDUCE_COPY
    b.sem_field(r, events + 80 + 0x40, r, kEventA);
    b.word(r, events + 80 + 0x48, 1);
    b.byte(r, events + 80 + 0x4c, 8);
    b.byte(r, events + 80 + 0x4d, 1);
    b.byte(r, events + 80 + 0x4f, 1);
    b.sem_field(r, events + 160 + 0x40, r, kEventZ);  // 2: SYNC
    b.word(r, events + 160 + 0x48, 2 * shape.engines);
    b.byte(r, events + 160 + 0x4f, 1);
  }
  return b.finish();
}

Program kangaring_program(const Shape& shape) {
  Builder b(2, shape, false);
  const std::uint64_t half = shape.count / 2, share = half / shape.engines;
  Node &n = b.node(0), &mate = b.node(1);
  for (std::uint64_t h = 0; h < 2; ++h)
    for (std::uint32_t e = 0; e < shape.engines; ++e) {
      const std::uint64_t first = h * half + e * share;
      b.sum(n.descs[e], {b.at(n.in, first), b.at(mate.in, first)}, {scale(0), scale(1)},
            {b.at(n.out, first), b.at(mate.out, first)}, static_cast<std::uint32_t>(share * 4));
      b.inc(n.descs[e], 0, kDone);
    }
  b.words(0, shape.fma ? 5 : 4, 3, 2);
  b.ring_channel(0, 0);  // a ring of one unit
  for (Rank r = 0; r < 2; ++r) {
    b.sem_field(r, 88, r, kPeer);
    b.sem_field(r, 96, 1 - r, kPeer);
    b.byte(r, 143, r == 0 ? 1 : 0);
    b.byte(r, 144, 1);
    b.entry(r, 3, 1);
  }
  b.bcast_fields(0, 120);
  return b.finish();
}

Image flatten(const Program& p) {
  Image image;
  sdmacc_program_header h{};
  h.magic = 0x52504453;
  h.version = 1;
  h.arch_id = p.arch_id;
  h.sections = static_cast<std::uint32_t>(p.sections.size());
  h.objects = static_cast<std::uint32_t>(p.objects.size());
  h.relocations = static_cast<std::uint32_t>(p.relocations.size());
  h.data_size = p.data.size();
  image.size = 32 + 24 * std::uint64_t{h.sections} + 24 * std::uint64_t{h.objects} +
               32 * std::uint64_t{h.relocations} + h.data_size;
  image.words.resize(image.size / 8 + 1);
  auto* to = reinterpret_cast<std::byte*>(image.words.data());
  auto put = [&to](const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
    to += bytes;
  };
  put(&h, sizeof h);
  put(p.sections.data(), 24 * p.sections.size());
  put(p.objects.data(), 24 * p.objects.size());
  put(p.relocations.data(), 32 * p.relocations.size());
  put(p.data.data(), p.data.size());
  return image;
}

std::uint32_t find_section(const Program& p, std::uint32_t kind, Rank rank, std::uint32_t engine) {
  for (std::uint32_t i = 0; i < p.sections.size(); ++i) {
    const sdmacc_object& o = p.objects[p.sections[i].object];
    if (p.sections[i].kind != kind) continue;
    if (o.kind == SDMACC_OBJECT_SP ? o.index == rank
                                   : p.objects[o.parent].index == rank && o.index == engine)
      return i;
  }
  return kNoIndex;
}

}  // namespace sdmacc::test
