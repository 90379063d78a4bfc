// SPDX-License-Identifier: MIT
// disasm: a Program as text, word by word with the relocations in place: the golden form of the
// emit stage.
#include <bit>
#include <cstring>
#include <map>

#include "daemon/emit/program.hpp"
#include "libuapi/abi/algo.h"
#include "libuapi/abi/enums.h"
#include "libuapi/abi/generation.h"
#include "libuapi/abi/topsp.h"
#include "libuapi/abi/udma.h"

namespace sdmacc {
namespace {

const char* or_unknown(const char* name) {
  return name != nullptr ? name : "?";
}

class Printer {
 public:
  explicit Printer(const Program& program) : p_(program) {
    for (const sdmacc_reloc& r : p_.relocations) relocations_[{r.section, r.offset}] = &r;
  }

  std::string run() {
    line("program {}", p_.title);
    line("objects");
    for (std::size_t i = 1; i < p_.objects.size(); ++i) object(i);
    for (std::uint32_t i = 0; i < p_.sections.size(); ++i) section(i);
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  template <typename T>
  T at(const sdmacc_section& s, std::uint64_t offset) const {
    T value{};
    if (offset + sizeof(T) <= s.size && s.offset + offset + sizeof(T) <= p_.data.size())
      std::memcpy(&value, p_.data.data() + s.offset + offset, sizeof value);
    return value;
  }
  Rank rank_of(std::uint32_t index) const {
    if (index >= p_.objects.size()) return 0;
    const sdmacc_object& o = p_.objects[index];
    return o.kind == SDMACC_OBJECT_SP ? o.index : rank_of_parent(o);
  }
  Rank rank_of_parent(const sdmacc_object& o) const {
    return o.parent < p_.objects.size() ? p_.objects[o.parent].index : 0;
  }

  void object(std::size_t i) {
    const sdmacc_object& o = p_.objects[i];
    const std::string rights = fmt::format("{}{}", o.rights & SDMACC_RIGHT_READ ? "r" : "-",
                                           o.rights & SDMACC_RIGHT_WRITE ? "w" : "-");
    switch (o.kind) {
      case SDMACC_OBJECT_SP:
        line("  {:3} SP    rank {}", i, o.index);
        break;
      case SDMACC_OBJECT_SLOT:
        line("  {:3} SLOT  rank {} {:3} {} {} bytes", i, o.index >> 1, o.index & 1 ? "OUT" : "IN",
             rights, o.size);
        break;
      case SDMACC_OBJECT_SEM:
        line("  {:3} SEM   rank {} {} semaphores", i, rank_of_parent(o), o.size);
        break;
      case SDMACC_OBJECT_CONST:
        line("  {:3} CONST {} bytes", i, o.size);
        break;
      case SDMACC_OBJECT_BUF:
        line("  {:3} BUF   rank {} {} {} bytes", i, rank_of_parent(o), rights, o.size);
        break;
      case SDMACC_OBJECT_RING:
        line("  {:3} RING  rank {} group {} engine {}", i, rank_of_parent(o), o.index >> 8,
             o.index & 0xff);
        break;
      default:
        line("  {:3} kind {}", i, o.kind);
    }
  }

  // "sem r1.3", "OUT r0 +16", …
  std::string address(std::uint64_t word) const {
    const std::uint32_t index = SDMACC_ADDR_OBJECT(word);
    const std::uint64_t offset = SDMACC_ADDR_OFFSET(word);
    if (index == 0 || index >= p_.objects.size()) return fmt::format("{:#x}", word);
    const sdmacc_object& o = p_.objects[index];
    switch (o.kind) {
      case SDMACC_OBJECT_SLOT:
        return fmt::format("{} r{} +{}", o.index & 1 ? "OUT" : "IN", o.index >> 1, offset);
      case SDMACC_OBJECT_SEM:
        return fmt::format("INC sem r{}.{}", rank_of_parent(o), offset / 4);
      case SDMACC_OBJECT_BUF:
        return fmt::format("BUF r{} +{}", rank_of_parent(o), offset);
      case SDMACC_OBJECT_CONST:
        return fmt::format("const {}", 1ull << (offset / 4));
      default:
        return fmt::format("object {} +{}", index, offset);
    }
  }

  std::string relocated(std::uint32_t section, std::uint64_t offset, std::uint64_t raw) const {
    const auto found = relocations_.find({section, offset});
    if (found == relocations_.end()) return raw == 0 ? "-" : fmt::format("{:#x}", raw);
    const sdmacc_reloc& r = *found->second;
    const sdmacc_object* o = r.object < p_.objects.size() ? &p_.objects[r.object] : nullptr;
    const Rank rank = rank_of(r.object);
    switch (r.kind) {
      case SDMACC_RELOC_SEM_READ64:
        return o != nullptr && o->kind == SDMACC_OBJECT_SP
                   ? fmt::format("fixed r{}.{}", rank, r.addend)
                   : fmt::format("sem r{}.{}", rank, r.addend);
      case SDMACC_RELOC_SEM_INC64:
        return fmt::format("INC sem r{}.{}", rank, r.addend);
      case SDMACC_RELOC_BCAST_M2S64:
        return fmt::format("m2s tail r{} group {}", rank, o->index >> 8);
      case SDMACC_RELOC_BCAST_S2M64:
        return fmt::format("s2m tail r{} group {}", rank, o->index >> 8);
      case SDMACC_RELOC_BCAST_MASK32:
        return fmt::format("mask r{} group {}", rank, o->index >> 8);
      case SDMACC_RELOC_SPAD_CTRL64:
        return fmt::format("CTRL r{}", rank);
      case SDMACC_RELOC_SPAD_SLOT64:
        return fmt::format("SLOT r{}", rank);
      case SDMACC_RELOC_LEVEL64:
        return fmt::format("LEVEL r{}", rank);
      default:
        return fmt::format("relocation kind {}", r.kind);
    }
  }

  void section(std::uint32_t i) {
    const sdmacc_section& s = p_.sections[i];
    const Rank rank = rank_of(s.object);
    switch (s.kind) {
      case SDMACC_SECTION_CTRL:
        line("[{}] CTRL rank {}", i, rank);
        ctrl(s);
        break;
      case SDMACC_SECTION_SLOT:
        line("[{}] SLOT rank {} {} bytes", i, rank, s.size);
        slot(i, s);
        break;
      case SDMACC_SECTION_ALGO:
        line("[{}] ALGO rank {}", i, rank);
        algo(i, s);
        break;
      case SDMACC_SECTION_NEFF:
        line("[{}] NEFF rank {}", i, rank);
        neff(i, s);
        break;
      case SDMACC_SECTION_RING_M2S:
      case SDMACC_SECTION_RING_S2M:
        line("[{}] RING {} rank {} group {} engine {}", i,
             s.kind == SDMACC_SECTION_RING_M2S ? "M2S" : "S2M", rank,
             s.object < p_.objects.size() ? p_.objects[s.object].index >> 8 : 0,
             s.object < p_.objects.size() ? p_.objects[s.object].index & 0xff : 0);
        ring(i, s);
        break;
      default:
        line("[{}] kind {} of {} bytes", i, s.kind, s.size);
    }
  }

  void ctrl(const sdmacc_section& s) {
    for (std::uint64_t k = 0; k * 8 < s.size; ++k) {
      const auto e = at<sdmacc_ctrl_entry>(s, k * 8);
      std::string flags;
      if (e.algo & SDMACC_CTRL_TRIGGER_NEXT) flags += " trigger_next";
      if (e.flags & SDMACC_CTRL_REPORTER) flags += " reporter";
      if (e.flags & SDMACC_CTRL_RING_WAIT_COMPLETE) flags += " wait_complete";
      if (e.flags & SDMACC_CTRL_RING_SEND_COMPLETE) flags += " send_complete";
      line("  {:3} cc_op {} algo {} sub {} word {:#010x}{}", k, e.header & SDMACC_CTRL_CC_OP,
           or_unknown(sdmacc_name_alg(e.algo & SDMACC_CTRL_ALGO_MASK)),
           (e.algo & SDMACC_CTRL_SUB_MASK) >> SDMACC_CTRL_SUB_SHIFT, e.u.channel_list, flags);
    }
  }

  void slot(std::uint32_t i, const sdmacc_section& s) {
    for (std::uint64_t w = 0; w * 8 < s.size; ++w) {
      const auto word = at<std::uint64_t>(s, w * 8);
      const std::string where =
          fmt::format("{}.{}", w / SDMACC_SLOT_WINDOW_WORDS, w % SDMACC_SLOT_WINDOW_WORDS);
      if (relocations_.contains({i, w * 8}))
        line("  {} END {}", where, relocated(i, w * 8, word));
      else if (sdmacc_slot_is_continue(word)) {
        line("  {} CONTINUE at window {}", where,
             at<std::uint64_t>(s, w * 8 + 8) / SDMACC_SLOT_WINDOW_BYTES);
        ++w;
      } else if (word != 0)
        line("  {} m2s {} s2m {} times {}", where, sdmacc_slot_m2s(word), sdmacc_slot_s2m(word),
             sdmacc_slot_times(word));
    }
  }

  std::string field(std::uint32_t i, const sdmacc_section& s, std::uint64_t offset) const {
    return relocated(i, offset, at<std::uint64_t>(s, offset));
  }

  void algo(std::uint32_t i, const sdmacc_section& s) {
    for (std::uint64_t c = 0; c < SDMACC_RING_CHANNELS; ++c) {
      const std::uint64_t base = c * sizeof(sdmacc_ring_channel);
      auto f = [&](std::size_t offset) { return field(i, s, base + offset); };
      const auto channel = at<sdmacc_ring_channel>(s, base);
      const bool primary =
          relocations_.contains({i, base + offsetof(sdmacc_ring_channel, recv_sema)});
      if (!primary && !relocations_.contains({i, base + offsetof(sdmacc_ring_channel, kring_mine)}))
        continue;
      line("  channel {} id {} slot list {} primary {} peers {}", c, channel.channel_id,
           channel.spad_slot_idx, channel.kangaring_is_primary, channel.kangaring_num_peers);
      if (primary) {
        line("    recv {}, send {}, post {}, dma_compl {}",
             f(offsetof(sdmacc_ring_channel, recv_sema)),
             f(offsetof(sdmacc_ring_channel, send_sema)),
             f(offsetof(sdmacc_ring_channel, post_sema)),
             f(offsetof(sdmacc_ring_channel, dma_compl)));
        bcast(i, s, base + offsetof(sdmacc_ring_channel, apb));
      }
      if (channel.kangaring_num_peers == 0) continue;
      std::string peers;
      for (std::size_t k = 0; k < (channel.kangaring_is_primary ? channel.kangaring_num_peers : 1u);
           ++k)
        peers += ", peer " + f(offsetof(sdmacc_ring_channel, kring_peers) + k * sizeof(sdmacc_u64));
      line("    kring mine {}{}", f(offsetof(sdmacc_ring_channel, kring_mine)), peers);
    }
    bool ended = s.size <= SDMACC_ALGO_MESH_OFFSET || at<std::uint32_t>(s, 140) != 0;
    for (std::uint64_t e = 0; !ended; ++e) {
      const std::uint64_t base = SDMACC_ALGO_MESH_OFFSET + e * sizeof(sdmacc_mesh_event);
      const auto event = at<sdmacc_mesh_event>(s, base);
      ended = event.event_type == SDMACC_MESH_EV_SYNC || base + 2 * sizeof event > s.size;
      if (ended && event.wait_event == 0 && e == 0) break;  // no tape here
      std::string triggers;
      for (std::size_t k = 0; k < event.direct_trigger; ++k)
        triggers += ", INC " + field(i, s,
                                     base + offsetof(sdmacc_mesh_event, direct_trigger_sema) +
                                         k * sizeof(sdmacc_u64));
      line("  event {} {}{}{}{}", e, or_unknown(sdmacc_name_mesh_event(event.event_type)),
           event.wait_event
               ? fmt::format(", wait {} >= {}",
                             field(i, s, base + offsetof(sdmacc_mesh_event, event_wait_sema)),
                             event.wait_val)
               : "",
           event.dma_trigger ? fmt::format(", {} dma", event.dma_trigger) : "", triggers);
      for (std::size_t k = 0; k < event.dma_trigger; ++k)
        bcast(i, s, base + k * sizeof(sdmacc_apb_bcast));
    }
  }

  void bcast(std::uint32_t i, const sdmacc_section& s, std::uint64_t base) {
    line("    {}, {}, {}", field(i, s, base), field(i, s, base + 8),
         relocated(i, base + 16, at<std::uint32_t>(s, base + 16)));
  }

  void neff(std::uint32_t i, const sdmacc_section& s) {
    const auto n = at<sdmacc_neff_configs>(s, 0);
    auto f = [&](std::size_t offset) { return field(i, s, offset); };
    line("  op_num {} compl_addr_num {} flags {:#x}", n.op_num, n.tpb_compl_addr_num, n.flags);
    line("  trigger {}, trigger_next {}, complete {}, complete_prev {}",
         f(offsetof(sdmacc_neff_configs, trigger)), f(offsetof(sdmacc_neff_configs, trigger_next)),
         f(offsetof(sdmacc_neff_configs, complete)),
         f(offsetof(sdmacc_neff_configs, complete_prev)));
    line("  ctrl_spad_base {}, slot_spad_base {}", f(offsetof(sdmacc_neff_configs, ctrl_spad_base)),
         f(offsetof(sdmacc_neff_configs, slot_spad_base)));
  }

  void ring(std::uint32_t i, const sdmacc_section& s) {
    const bool m2s = s.kind == SDMACC_SECTION_RING_M2S;
    std::uint64_t step = ~0ull;
    for (std::uint64_t k = 0; k * 16 < s.size; ++k) {
      const auto d = at<sdmacc_desc>(s, k * 16);
      if (const Origin* o = p_.origin(i, static_cast<std::uint32_t>(k));
          o != nullptr && o->step != step) {
        step = o->step;
        line("  step {} slice {}", step, o->slice);
      }
      const std::string flags = fmt::format("{}{}", d.len_ctrl & SDMACC_LEN_FIRST ? " FIRST" : "",
                                            d.len_ctrl & SDMACC_LEN_LAST ? " LAST" : "");
      if (m2s && (d.len_ctrl & SDMACC_LEN_META) != 0) {
        const auto word2 = static_cast<std::uint32_t>(d.addr);
        line("    {:3} {:08x} {:08x} META{} {} {} -> {} acc {} {} bytes{}{}", k, d.len_ctrl,
             d.meta_ctrl, flags, or_unknown(sdmacc_name_cce_type(sdmacc_meta_sub(d.meta_ctrl))),
             type(d.meta_ctrl >> SDMACC_CCE_IN_SHIFT), type(d.meta_ctrl >> SDMACC_CCE_OUT_SHIFT),
             type(d.meta_ctrl >> SDMACC_CCE_ACC_SHIFT), word2 & SDMACC_CCE_LENGTH_MASK,
             word2 >> 24 ? fmt::format(" scale {}", std::bit_cast<float>(
                                                        static_cast<std::uint32_t>(d.addr >> 32)))
                         : "",
             barrier(d));
      } else {
        line("    {:3} {:08x} {:08x} {}{} {} bytes{}", k, d.len_ctrl, d.meta_ctrl, address(d.addr),
             flags, sdmacc_desc_bytes(d.len_ctrl), m2s ? barrier(d) : "");
      }
    }
  }
  static const char* type(std::uint32_t nibble) {
    return or_unknown(sdmacc_name_dtype(nibble & SDMACC_CCE_DTYPE_MASK));
  }
  static const char* barrier(const sdmacc_desc& d) {
    return d.meta_ctrl & SDMACC_META_WRITE_BARRIER ? " barrier" : "";
  }

  const Program& p_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, const sdmacc_reloc*> relocations_;
  std::string out_;
};

}  // namespace

std::string to_string(const Program& program) {
  return Printer(program).run();
}

}  // namespace sdmacc
