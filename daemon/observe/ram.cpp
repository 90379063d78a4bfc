// SPDX-License-Identifier: MIT
// Implements ram.hpp: scratchpads, neff_configs and the firmware's own state. algo_configs and
// algo_ctx are in algo.cpp.
#include "daemon/observe/ram.hpp"

#include "daemon/observe/address.hpp"
#include "daemon/observe/read.hpp"
#include "libuapi/abi/enums.h"

namespace sdmacc::observe {
namespace {

using nlohmann::ordered_json;

const char* state_name(std::uint32_t state) {
  static constexpr const char* names[] = {"IDLE",       "LOADING", "ENTRY",
                                          "LOCAL_DONE", "CHAIN",   "ERROR"};
  return state < std::size(names) ? names[state] : "?";
}

std::string unit_name(std::uint32_t unit) {
  return unit + 1 == SDMACC_NCFW_WAITS ? "sequencer" : fmt::format("channel {}", unit);
}

bool flag(std::uint32_t word, std::uint32_t bit) {
  return (word & bit) != 0;
}

ordered_json entry_json(const sdmacc_ctrl_entry& e) {
  const std::uint32_t algo = e.algo & SDMACC_CTRL_ALGO_MASK;
  ordered_json out{{"cc_op", flag(e.header, SDMACC_CTRL_CC_OP)},
                   {"algo_type", algo},
                   {"algo_type_name", or_unknown(sdmacc_name_alg(algo))},
                   {"algo_sub_type", (e.algo & SDMACC_CTRL_SUB_MASK) >> SDMACC_CTRL_SUB_SHIFT},
                   {"trigger_next", flag(e.algo, SDMACC_CTRL_TRIGGER_NEXT)},
                   {"reporter", flag(e.flags, SDMACC_CTRL_REPORTER)},
                   {"ring_wait_complete", flag(e.flags, SDMACC_CTRL_RING_WAIT_COMPLETE)},
                   {"ring_send_complete", flag(e.flags, SDMACC_CTRL_RING_SEND_COMPLETE)},
                   {"safe_mode", flag(e.flags, SDMACC_CTRL_SAFE_MODE)},
                   {"unique_tensors", flag(e.flags, SDMACC_CTRL_UNIQUE_TENSORS)}};
  const bool ring = algo == SDMACC_ALG_RING || algo == SDMACC_ALG_KANGARING ||
                    algo == SDMACC_ALG_SINGLE_CYCLE_RING;
  if (ring) {
    out["channel_list"] = fmt::format("0x{:08X}", e.u.channel_list);
  } else {
    out["sema_shift_offset"] = e.u.mesh.sema_shift_offset;
    out["sema_mask"] = e.u.mesh.sema_mask;
  }
  return out;
}

// One word of a SLOT list; `next` is the word after it.
ordered_json word_json(std::uint64_t word, std::uint64_t next, const sdmacc_generation& arch) {
  if (sdmacc_slot_is_continue(word)) return {{"kind", "CONTINUE"}, {"offset", next}};
  if (sdmacc_slot_is_end(word)) return {{"kind", "END"}, {"completion", semaphore(arch, word)}};
  const bool fires = word >> 32 != 0;
  return {{"kind", fires ? "FIRE" : "WAIT"},
          {"m2s", sdmacc_slot_m2s(word)},
          {"s2m", sdmacc_slot_s2m(word)},
          {"times", sdmacc_slot_times(word)}};
}

}  // namespace

ordered_json spad_ctrl(const Ram& ram) {
  ordered_json out = ordered_json::array();
  for (std::uint32_t i = 0; i < SDMACC_CTRL_ENTRIES; ++i) {
    const auto e = read<sdmacc_ctrl_entry>(ram, SDMACC_RAM_CTRL + i * sizeof(sdmacc_ctrl_entry));
    if (!is_used(e)) continue;
    ordered_json entry = entry_json(e);
    entry["entry"] = i;
    out.push_back(std::move(entry));
  }
  return out;
}

ordered_json slot(const Ram& ram) {
  ordered_json out = ordered_json::array();
  for (std::uint32_t list = 0; list < SDMACC_SLOT_LISTS; ++list) {
    const std::uint64_t base = SDMACC_RAM_SLOT + list * SDMACC_SLOT_WINDOW_BYTES;
    ordered_json words = ordered_json::array();
    for (std::uint32_t i = 0; i < SDMACC_SLOT_WINDOW_WORDS; ++i) {
      const auto word = read<std::uint64_t>(ram, base + 8 * i);
      if (word == 0) break;
      ordered_json item = word_json(word, read<std::uint64_t>(ram, base + 8 * i + 8), ram.arch);
      item["slot_idx"] = i;
      words.push_back(std::move(item));
      if (sdmacc_slot_is_continue(word)) break;
    }
    if (!words.empty()) out.push_back({{"spad_slot_idx", list}, {"words", std::move(words)}});
  }
  return out;
}

ordered_json neff_configs(const Ram& ram) {
  const auto n = read<sdmacc_neff_configs>(ram, SDMACC_RAM_NEFF_CONFIGS);
  return {{"op_num", n.op_num},
          {"function_n", n.function_n},
          {"tpb_compl_addr_num", n.tpb_compl_addr_num},
          {"leader", flag(n.flags, SDMACC_NEFF_LEADER)},
          {"cc_nop", flag(n.flags, SDMACC_NEFF_CC_NOP)},
          {"host_cc", flag(n.flags, SDMACC_NEFF_HOST_CC)},
          {"ctrl_spad_base", hex(n.ctrl_spad_base)},
          {"slot_spad_base", hex(n.slot_spad_base[0])},
          {"trigger", semaphore(ram.arch, n.trigger)},
          {"trigger_next", semaphore(ram.arch, n.trigger_next)},
          {"complete", semaphore(ram.arch, n.complete)},
          {"complete_prev", semaphore(ram.arch, n.complete_prev)}};
}

ordered_json ncfw(const Ram& ram, std::span<const WaitView> waits) {
  const auto p = read<sdmacc_ncfw_progress>(ram, SDMACC_RAM_DRAM_IMAGE + ram.arch.dram_progress);
  ordered_json out{{"started", p.magic == SDMACC_NCFW_PROGRESS_MAGIC},
                   {"state", p.state},
                   {"state_name", state_name(p.state)},
                   {"image", hex(p.image)},
                   {"entry", p.entry},
                   {"runs", p.runs},
                   {"channels_left", p.channels_left},
                   {"channels_done", fmt::format("0x{:08X}", p.channels_done)},
                   {"local_expected", p.local_expected},
                   {"completion", ordered_json::array()},
                   {"waits", ordered_json::array()}};
  for (const std::uint64_t address : p.completion)
    if (address != 0) out["completion"].push_back(semaphore(ram.arch, address));
  for (std::uint32_t unit = 0; unit < SDMACC_NCFW_WAITS; ++unit) {
    const sdmacc_ncfw_wait& w = p.wait[unit];
    if (w.address == 0) continue;
    ordered_json wait{{"unit", unit_name(unit)}, {"semaphore", semaphore(ram.arch, w.address)}};
    for (const WaitView& view : waits)
      if (view.unit == unit && view.address == w.address) wait["value"] = view.value;
    wait["target"] = w.count;
    out["waits"].push_back(std::move(wait));
  }
  return out;
}

}  // namespace sdmacc::observe
