// SPDX-License-Identifier: MIT
// Implements ram.hpp: algo_configs and algo_ctx, in the shape and with the names of the firmware's
// own log: ring, mesh, hierarchical.
#include "daemon/observe/address.hpp"
#include "daemon/observe/ram.hpp"
#include "daemon/observe/read.hpp"
#include "libuapi/abi/enums.h"

namespace sdmacc::observe {
namespace {

using nlohmann::ordered_json;

ordered_json sema(const Ram& ram, sdmacc_u64 address) {
  return semaphore(ram.arch, sdmacc_u64_get(address));
}

ordered_json bcast(const sdmacc_apb_bcast& b) {
  return {{"m2s_tail", hex(sdmacc_u64_get(b.m2s_tail))},
          {"s2m_tail", hex(sdmacc_u64_get(b.s2m_tail))},
          {"mask", fmt::format("0x{:08X}", b.mask)},
          {"engines", fmt::format("0x{:04X}", sdmacc_bcast_engines(b.mask))}};
}

ordered_json neighbour(const sdmacc_neighbour& n) {
  ordered_json out{
      {"net_idx_addrs", ordered_json::array()}, {"fold_n", n.fold_n}, {"type", n.type}};
  for (const sdmacc_u64& address : n.net_idx_addrs)
    out["net_idx_addrs"].push_back(hex(sdmacc_u64_get(address)));
  return out;
}

ordered_json channel(const Ram& ram, std::uint32_t index, const sdmacc_ring_channel& c) {
  ordered_json out{{"channel", index},
                   {"channel_id", c.channel_id},
                   {"spad_slot_idx", c.spad_slot_idx},
                   {"fold_n", c.fold_n},
                   {"recv_sema", sema(ram, c.recv_sema)},
                   {"send_sema", sema(ram, c.send_sema)},
                   {"post_sema", sema(ram, c.post_sema)},
                   {"dma_compl", sema(ram, c.dma_compl)},
                   {"kangaring_is_primary", c.kangaring_is_primary},
                   {"kangaring_num_peers", c.kangaring_num_peers},
                   {"kring_mine", sema(ram, c.kring_mine)},
                   {"kring_peers", ordered_json::array()},
                   {"dma_apb_bcast", bcast(c.apb)},
                   {"next_neigh", neighbour(c.next_neigh)},
                   {"prev_neigh", neighbour(c.prev_neigh)}};
  for (const sdmacc_u64& peer : c.kring_peers)
    if (sdmacc_u64_get(peer) != 0) out["kring_peers"].push_back(sema(ram, peer));
  return out;
}

ordered_json event(const Ram& ram, std::uint32_t index, const sdmacc_mesh_event& e) {
  ordered_json out{{"event", index},
                   {"event_type", e.event_type},
                   {"event_type_name", or_unknown(sdmacc_name_mesh_event(e.event_type))},
                   {"wait_event", e.wait_event},
                   {"event_wait_sema", sema(ram, e.event_wait_sema)},
                   {"wait_val", e.wait_val},
                   {"dma_trigger", e.dma_trigger},
                   {"dma_apb_bcast", ordered_json::array()},
                   {"direct_trigger", e.direct_trigger},
                   {"direct_trigger_sema", ordered_json::array()}};
  for (const sdmacc_apb_bcast& b : e.bcast)
    if (is_used(b)) out["dma_apb_bcast"].push_back(bcast(b));
  for (const sdmacc_u64& address : e.direct_trigger_sema)
    if (sdmacc_u64_get(address) != 0) out["direct_trigger_sema"].push_back(sema(ram, address));
  return out;
}

const char* state_name(std::uint8_t state) {
  static constexpr const char* names[] = {"IDLE",      "WAIT_PEERS", "WAIT_DONE",  "WAIT_CREDIT",
                                          "WAIT_RECV", "WAIT_LAST",  "WAIT_RESET", "DONE"};
  return state < std::size(names) ? names[state] : "?";
}

}  // namespace

ordered_json algo_configs(const Ram& ram) {
  ordered_json ring = ordered_json::array(), mesh = ordered_json::array();
  for (std::uint32_t i = 0; i < SDMACC_RING_CHANNELS; ++i) {
    const auto c =
        read<sdmacc_ring_channel>(ram, SDMACC_RAM_ALGO_CONFIGS + i * sizeof(sdmacc_ring_channel));
    if (is_used(c)) ring.push_back(channel(ram, i, c));
  }
  for (std::uint32_t i = 0; i < ram.arch.mesh_events; ++i) {
    const auto e = read<sdmacc_mesh_event>(
        ram, SDMACC_RAM_ALGO_CONFIGS + SDMACC_ALGO_MESH_OFFSET + i * sizeof(sdmacc_mesh_event));
    if (is_used(e)) mesh.push_back(event(ram, i, e));
  }
  const auto handle = read<std::uint64_t>(ram, SDMACC_RAM_ALGO_CONFIGS + ram.arch.algo_hier_offset);
  ordered_json out;
  out["ring"] = std::move(ring);
  out["mesh"] = std::move(mesh);
  out["hierarchical"]["__stub"] = hex(handle);
  return out;
}

ordered_json algo_ctx(const Ram& ram) {
  const std::uint64_t base = SDMACC_RAM_DRAM_IMAGE + ram.arch.dram_algo_ctx;
  ordered_json out;
  out["ring"] = ordered_json::array();
  for (std::uint32_t i = 0; i < SDMACC_RING_CHANNELS; ++i) {
    const auto c = read<sdmacc_ring_ctx>(ram, base + SDMACC_CTX_RING + i * sizeof(sdmacc_ring_ctx));
    if (!is_used(c)) continue;
    out["ring"].push_back({{"channel", i},
                           {"recv_cnt", c.recv_cnt},
                           {"send_credit", c.send_credit},
                           {"repeat_cnt", c.repeat_cnt},
                           {"m2s_val", c.m2s_val},
                           {"s2m_val", c.s2m_val},
                           {"slot_idx", c.slot_idx},
                           {"run_state", c.run_state},
                           {"run_state_name", state_name(c.run_state)}});
  }
  out["hierarchical"]["run_state"] = read<std::uint8_t>(ram, base + SDMACC_CTX_HIER);
  out["mesh"]["event_index"] = read<std::uint16_t>(ram, base + SDMACC_CTX_MESH);
  return out;
}

}  // namespace sdmacc::observe
