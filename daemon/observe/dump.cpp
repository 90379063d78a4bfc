// SPDX-License-Identifier: MIT
// Puts a dump together: the RAM of each rank's TOP_SP (ram.hpp) and its rings, descriptor by
// descriptor. Tested by selftests/cli/observe_test.cpp.
#include "daemon/observe/dump.hpp"

#include <bit>

#include "daemon/observe/address.hpp"
#include "daemon/observe/queues.hpp"
#include "daemon/observe/ram.hpp"
#include "daemon/observe/read.hpp"
#include "libuapi/abi/enums.h"
#include "libuapi/abi/udma.h"

namespace sdmacc {
namespace {

using nlohmann::ordered_json;
using namespace observe;

enum class Side : std::uint8_t { M2s, S2m };

const char* class_name(std::uint32_t meta_ctrl) {
  switch (sdmacc_meta_class(meta_ctrl)) {
    case SDMACC_CLASS_DRE:
      return "DRE";
    case SDMACC_CLASS_CME:
      return "CME";
    case SDMACC_CLASS_CCE:
      return "CCE";
    default:
      return "?";
  }
}

const char* dtype(std::uint32_t meta_ctrl, unsigned shift) {
  return or_unknown(sdmacc_name_dtype(meta_ctrl >> shift & SDMACC_CCE_DTYPE_MASK));
}

// A META descriptor: the words of a compute packet.
void add_meta(ordered_json& out, const sdmacc_desc& d) {
  const auto word2 = static_cast<std::uint32_t>(d.addr);
  const std::uint32_t sub = sdmacc_meta_sub(d.meta_ctrl);
  out["class"] = class_name(d.meta_ctrl);
  out["sub_type"] = or_unknown(sdmacc_name_cce_type(sub));
  out["in_dtype"] = dtype(d.meta_ctrl, SDMACC_CCE_IN_SHIFT);
  out["out_dtype"] = dtype(d.meta_ctrl, SDMACC_CCE_OUT_SHIFT);
  out["accumulate_dtype"] = dtype(d.meta_ctrl, SDMACC_CCE_ACC_SHIFT);
  out["bytes"] = word2 & SDMACC_CCE_LENGTH_MASK;
  if (sub == SDMACC_CCE_FMA)
    out["scale"] = std::bit_cast<float>(static_cast<std::uint32_t>(d.addr >> 32));
}

ordered_json descriptor(const sdmacc_desc& d, Side side, const sdmacc_generation& arch) {
  ordered_json out;
  out["ring_id"] = (d.len_ctrl & SDMACC_LEN_RING_MASK) >> SDMACC_LEN_RING_SHIFT;
  if ((d.len_ctrl & SDMACC_LEN_FIRST) != 0) out["first"] = true;
  if ((d.len_ctrl & SDMACC_LEN_LAST) != 0) out["last"] = true;
  const bool meta = side == Side::M2s && (d.len_ctrl & SDMACC_LEN_META) != 0;
  if (meta) {
    out["meta"] = true;
    add_meta(out, d);
  } else {
    if (side == Side::M2s && d.meta_ctrl != 0) out["class"] = class_name(d.meta_ctrl);
    out["bytes"] = sdmacc_desc_bytes(d.len_ctrl);
    out["address"] = hex(d.addr);
    out["at"] = address_text(arch, d.addr);
  }
  if (side == Side::M2s && (d.meta_ctrl & SDMACC_META_WRITE_BARRIER) != 0)
    out["write_barrier"] = true;
  return out;
}

// What the Program knows of the descriptor: the step it is part of and the operand it names.
void add_origin(ordered_json& out, const Program& program, const ProgramQueue& queue, Side side,
                std::uint32_t index) {
  const std::uint32_t s = side == Side::M2s ? queue.m2s_section : queue.s2m_section;
  if (s >= program.sections.size()) return;
  const auto word =
      read<sdmacc_desc>(program.data, program.sections[s].offset + index * sizeof(sdmacc_desc));
  if (!out.contains("meta"))
    if (const std::string object = object_text(program, word.addr); !object.empty())
      out["object"] = object;
  if (side == Side::S2m) return;
  if (const Origin* origin = program.origin(s, index)) {
    out["step"] = origin->step;
    out["slice"] = origin->slice;
  }
}

struct RingSide {
  Side side;
  std::span<const std::byte> bytes;
  std::uint32_t count, head, tail;
};

class Dump {
 public:
  Dump(const Program& program, const Inspection& inspection, const sdmacc_generation& arch,
       const DumpOptions& options)
      : program_(program), inspection_(inspection), arch_(arch), queues_(queues_of(program)) {
    const std::size_t sides = 2 * std::max<std::size_t>(queues_.size(), 1);
    limit_ = std::max(options.descriptors / sides, kFewestDescriptors);
  }

  ordered_json rank(Rank rank) const {
    const Ram ram{arch_, rank < inspection_.ram.size()
                             ? std::span<const std::byte>(inspection_.ram[rank])
                             : std::span<const std::byte>()};
    std::vector<WaitView> waits;
    for (const WaitView& wait : inspection_.waits)
      if (wait.rank == rank) waits.push_back(wait);
    ordered_json out;
    out["rank"] = rank;
    if (rank < inspection_.topsps.size()) out["topsp"] = inspection_.topsps[rank];
    out["ncfw"] = ncfw(ram, waits);
    out["algo_configs"] = algo_configs(ram);
    out["algo_ctx"] = algo_ctx(ram);
    out["spad_ctrl"] = spad_ctrl(ram);
    out["slot"] = slot(ram);
    out["neff_configs"] = neff_configs(ram);
    out["rings"] = ordered_json::array();
    for (std::size_t i = 0; i < std::min(queues_.size(), inspection_.queues.size()); ++i)
      if (queues_[i].rank == rank) out["rings"].push_back(ring(i));
    return out;
  }

 private:
  static constexpr std::size_t kFewestDescriptors = 4;

  // The bytes of a queue are its M2S descriptors, then its S2M descriptors.
  ordered_json ring(std::size_t i) const {
    const ProgramQueue& queue = queues_[i];
    const QueueView& view = inspection_.queues[i];
    ordered_json out{{"channel", queue.group},
                     {"engine", view.engine},
                     {"queue", view.queue},
                     {"length", view.length}};
    if (i >= inspection_.rings.size()) return out;
    const std::span<const std::byte> m2s = inspection_.rings[i];
    const auto s2m = m2s.subspan(std::min(queue.m2s_count * sizeof(sdmacc_desc), m2s.size()));
    out["m2s"] = side({Side::M2s, m2s, queue.m2s_count, view.m2s_head, view.m2s_tail}, queue);
    out["s2m"] = side({Side::S2m, s2m, queue.s2m_count, view.s2m_head, view.s2m_tail}, queue);
    return out;
  }

  ordered_json side(const RingSide& ring, const ProgramQueue& queue) const {
    const std::uint32_t head = ring.head & SDMACC_Q_INDEX_MASK;
    ordered_json out{{"head", head},
                     {"tail", ring.tail & SDMACC_Q_INDEX_MASK},
                     {"count", ring.count},
                     {"descriptors", ordered_json::array()}};
    const auto shown = static_cast<std::uint32_t>(std::min<std::size_t>(limit_, ring.count));
    const std::uint32_t first = std::min(head - std::min(head, shown / 4), ring.count - shown);
    for (std::uint32_t i = first; i < first + shown; ++i) {
      const auto raw = read<sdmacc_desc>(ring.bytes, i * sizeof(sdmacc_desc));
      ordered_json d = descriptor(raw, ring.side, arch_);
      d["index"] = i;
      add_origin(d, program_, queue, ring.side, i);
      out["descriptors"].push_back(std::move(d));
    }
    return out;
  }

  const Program& program_;
  const Inspection& inspection_;
  const sdmacc_generation& arch_;
  const std::vector<ProgramQueue> queues_;
  std::size_t limit_ = 0;  // descriptors of one side
};

}  // namespace

ordered_json dump_json(const Program& program, const Inspection& inspection,
                       const sdmacc_generation& arch, const DumpOptions& options) {
  ordered_json out{{"version", kDumpVersion}, {"program", program.title}, {"arch", arch.name}};
  out["ranks"] = ordered_json::array();
  const Dump dump(program, inspection, arch, options);
  for (Rank rank = 0; rank < program.ranks; ++rank) out["ranks"].push_back(dump.rank(rank));
  return out;
}

}  // namespace sdmacc
