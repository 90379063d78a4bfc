// SPDX-License-Identifier: MIT
// Faults in the sections of an SP: CTRL entries, ring channels and mesh events, SLOT lists,
// neff_configs.
#include "selftests/core/fault_cases.hpp"

namespace sdmacc::test {
namespace {

Program mesh() {
  return mesh_program();
}
Program kanga() {
  return kangaring_program();
}
Program ring2_short() {
  return ring_program(2, {.short_windows = true});
}

// A second channel beside channel 0 of rank 0, like it.
void add_channel(Draft& d, std::uint8_t id, std::uint8_t list) {
  const std::uint64_t base = 148ull * id;
  const std::uint32_t sem = d.object_index(SDMACC_OBJECT_SEM),
                      ring = d.object_index(SDMACC_OBJECT_RING);
  for (const std::uint64_t offset : {56, 64, 72, 80})
    d.add_reloc(kAlgo, base + offset, SDMACC_RELOC_SEM_READ64, sem);
  d.add_reloc(kAlgo, base + 120, SDMACC_RELOC_BCAST_M2S64, ring);
  d.add_reloc(kAlgo, base + 128, SDMACC_RELOC_BCAST_S2M64, ring);
  d.add_reloc(kAlgo, base + 136, SDMACC_RELOC_BCAST_MASK32, ring);
  d.channel(id).channel_id = id;
  d.channel(id).spad_slot_idx = list;
}

std::vector<FaultCase> ctrl_cases() {
  return {
      SDMACC_CASE(CTRL_HEADER, "bit 1", ring2, { d.ctrl(0).header |= 2; }),
      SDMACC_CASE(CTRL_ALGO, "11", ring2, { d.ctrl(0).algo = 11; }),
      SDMACC_CASE(CTRL_ALGO, "15", ring2, { d.ctrl(0).algo = 15; }),
      SDMACC_CASE(CTRL_ALGO, "HIER", ring2, { d.ctrl(0).algo = 1; }),
      SDMACC_CASE(CTRL_ALGO, "sub-type of a ring", ring2, { d.ctrl(0).algo |= 1 << 4; }),
      SDMACC_CASE(CTRL_ALGO, "sub-type of a mesh", mesh, { d.ctrl(0).algo |= 5 << 4; }),
      SDMACC_CASE(CTRL_RESERVED, "byte 3", ring2, { d.ctrl(0).reserved = 1; }),
      SDMACC_CASE(CTRL_RESERVED, "flag 5", ring2, { d.ctrl(0).flags |= 0x20; }),
      SDMACC_CASE(CTRL_RESERVED, "safe_mode", ring2, { d.ctrl(0).flags |= SDMACC_CTRL_SAFE_MODE; }),
      SDMACC_CASE(CTRL_RESERVED, "NOP with a channel list", ring2, { d.ctrl(0).header = 0; }),
      SDMACC_CASE(CTRL_RESERVED, "NOP with an algorithm", mesh,
                  {
                    d.ctrl(0).header = 0;
                    d.ctrl(0).u.channel_list = 0;
                  }),
      SDMACC_CASE(CTRL_TRIGGER, "set in the last", ring2, { d.ctrl(0).algo |= 0x80; }),
      SDMACC_CASE(CTRL_TRIGGER, "clear in the first", mesh, { d.ctrl(0).algo &= 0x7f; }),
      SDMACC_CASE(CTRL_REPORTER, "in the first SP", ring2, { d.ctrl(0).flags |= 1; }),
      SDMACC_CASE(CTRL_REPORTER, "not in the last SP", ring2, { d.ctrl(0, 1).flags &= 0xfe; }),
      SDMACC_CASE(CTRL_REPORTER, "not in the last entry", mesh, { d.ctrl(0, 1).flags |= 1; }),
      SDMACC_CASE(CTRL_CHAIN, "leader waits", ring2, { d.ctrl(0).flags |= 2; }),
      SDMACC_CASE(CTRL_CHAIN, "leader does not send", ring2, { d.ctrl(0).flags = 0; }),
      SDMACC_CASE(CTRL_CHAIN, "last sends", ring2, { d.ctrl(0, 1).flags |= 4; }),
      SDMACC_CASE(CTRL_CHAIN, "in the first entry", mesh, { d.ctrl(0).flags = 4; }),
      SDMACC_CASE(CTRL_CHANNELS, "empty", ring2, { d.ctrl(0).u.channel_list = 0; }),
      SDMACC_CASE(CTRL_CHANNELS, "not configured", ring2, { d.ctrl(0).u.channel_list = 3; }),
      SDMACC_CASE(CTRL_CHANNELS, "ring as kangaring", ring2, { d.ctrl(0).algo = 3; }),
      SDMACC_CASE(CTRL_CHANNELS, "kangaring as ring", kanga, { d.ctrl(0).algo = 0; }),
      SDMACC_CASE(CTRL_MASK, "0", mesh, { d.ctrl(0).u.mesh.sema_mask = 0; }),
      SDMACC_CASE(CTRL_MASK, "hole", mesh, { d.ctrl(0).u.mesh.sema_mask = 5; }),
      SDMACC_CASE(CTRL_MASK, "shift 32", mesh, { d.ctrl(0).u.mesh.sema_shift_offset = 32; }),
      SDMACC_CASE(CTRL_MASK, "shift 64", mesh, { d.ctrl(0).u.mesh.sema_shift_offset = 64; }),
      SDMACC_CASE(CTRL_MASK, "beyond bit 31", mesh, { d.ctrl(0).u.mesh.sema_shift_offset = 17; }),
  };
}

std::vector<FaultCase> algo_cases() {
  return {
      SDMACC_CASE(ALGO_RESERVED, "neighbour", ring2, { d.channel().next_neigh.type = 1; }),
      SDMACC_CASE(ALGO_RESERVED, "peers of a ring", ring2, { d.channel().kring_mine.lo = 1; }),
      SDMACC_CASE(ALGO_RESERVED, "fold_n", ring2, { d.channel().fold_n = 1; }),
      SDMACC_CASE(ALGO_RESERVED, "channel's end", ring2, { d.channel().reserved[2] = 1; }),
      SDMACC_CASE(ALGO_RESERVED, "hier", ring2, { d.at<std::uint64_t>(kAlgo, 0x3440) = 1; }),
      SDMACC_CASE(ALGO_RESERVED, "event without a mesh", ring2, { d.event(0).event_type = 2; }),
      SDMACC_CASE(ALGO_RESERVED, "event after SYNC", mesh, { d.event(3).event_type = 2; }),
      SDMACC_CASE(ALGO_RESERVED, "broadcast that is not fired", mesh,
                  { d.event(1).bcast[1].mask = 1; }),
      SDMACC_CASE(ALGO_RESERVED, "second direct trigger", mesh,
                  { d.event(0).direct_trigger_sema[1].lo = 1; }),
      SDMACC_CASE(
          RELOC_UNASKED, "peer of a ring", ring2,
          { d.add_reloc(kAlgo, 88, SDMACC_RELOC_SEM_READ64, d.object_index(SDMACC_OBJECT_SEM)); }),
      SDMACC_CASE(RELOC_UNASKED, "second direct trigger", mesh,
                  {
                    d.add_reloc(kAlgo, 0x1280 + 0x30, SDMACC_RELOC_SEM_READ64,
                                d.object_index(SDMACC_OBJECT_SEM));
                  }),
      SDMACC_CASE(RELOC_MISSING, "an empty channel with an id", ring2,
                  { d.channel(1).channel_id = 1; }),
      SDMACC_CASE(RELOC_MISSING, "a third peer", kanga, { d.channel().kangaring_num_peers = 3; }),
      SDMACC_CASE(RELOC_MISSING, "a second broadcast", mesh, { d.event(1).dma_trigger = 2; }),
      SDMACC_CASE(
          RELOC_OWNER, "waits for another's semaphore", mesh,
          { d.reloc(kAlgo, 0x1280 + 80 + 0x40).object = d.object_index(SDMACC_OBJECT_SEM, 1); }),
      SDMACC_CASE(CHANNEL_ID, "1 in channel 0", ring2, { d.channel().channel_id = 1; }),
      SDMACC_CASE(CHANNEL_SLOT, "32", ring2, { d.channel().spad_slot_idx = 32; }),
      SDMACC_CASE(CHANNEL_SLOT, "twice", ring2,
                  {
                    add_channel(d, 1, 0);
                    d.ctrl(0).u.channel_list = 3;
                  }),
      SDMACC_CASE(CHANNEL_SLOT, "that of the mesh", mesh,
                  {
                    add_channel(d, 0, 0);
                    d.ctrl(0) = {1, 0x80, 0, 0, {1}};
                  }),
      SDMACC_CASE(CHANNEL_PEERS, "2", kanga, { d.channel().kangaring_num_peers = 2; }),
      SDMACC_CASE(CHANNEL_PEERS, "4", kanga, { d.channel().kangaring_num_peers = 4; }),
      SDMACC_CASE(CHANNEL_PEERS, "primary of none", ring2,
                  { d.channel().kangaring_is_primary = 1; }),
      SDMACC_CASE(CHANNEL_PEERS, "primary 2", kanga, { d.channel().kangaring_is_primary = 2; }),
      SDMACC_CASE(CHANNEL_GROUP, "two channels on one", ring2,
                  {
                    add_channel(d, 1, 1);
                    d.ctrl(0).u.channel_list = 3;
                  }),
      SDMACC_CASE(CHANNEL_GROUP, "two groups in one broadcast", ring2_e2,
                  {
                    d.object(SDMACC_OBJECT_RING, 1).index |= 1 << 8;
                    d.reloc(kAlgo, 128).object = d.object_index(SDMACC_OBJECT_RING);
                  }),
      SDMACC_CASE(CHANNEL_UNUSED, "no entry lists it", ring2, { add_channel(d, 1, 1); }),
      SDMACC_CASE(EVENT_COUNT, "three broadcasts", mesh, { d.event(1).dma_trigger = 3; }),
      SDMACC_CASE(EVENT_COUNT, "four semaphores", mesh, { d.event(0).direct_trigger = 4; }),
      SDMACC_CASE(EVENT_COUNT, "wait 2", mesh, { d.event(1).wait_event = 2; }),
      SDMACC_CASE(EVENT_WAIT, "0", mesh, { d.event(1).wait_val = 0; }),
      SDMACC_CASE(EVENT_WAIT, "above the mask", mesh, { d.event(1).wait_val = 0x10000; }),
      SDMACC_CASE(EVENT_WAIT, "above the second entry's mask", mesh,
                  { d.ctrl(1).u.mesh.sema_mask = 1; }),
      SDMACC_CASE(EVENT_WAIT, "value without a wait", mesh, { d.event(0).wait_val = 1; }),
      SDMACC_CASE(EVENT_TYPE, "19", mesh, { d.event(0).event_type = 19; }),
      SDMACC_CASE(EVENT_TYPE, "53", mesh, { d.event(0).event_type = 53; }),
      SDMACC_CASE(EVENT_SYNC, "fires", mesh, { d.event(0).event_type = 0; }),
      SDMACC_CASE(EVENT_SYNC, "none", mesh,
                  {
                    for (std::uint32_t e = 2; e < 108; ++e) d.event(e).event_type = 1;
                  }),
      SDMACC_CASE(CHANNEL_GROUP, "a mesh event on a ring's group", mesh,
                  {
                    add_channel(d, 0, 1);
                    d.ctrl(0) = {1, 0x80, 0, 0, {1}};
                  }),
  };
}

std::vector<FaultCase> slot_cases() {
  return {
      SDMACC_CASE(SLOT_WORD, "times 0", ring2, { d.slot(0) &= ~0xffffull; }),
      SDMACC_CASE(SLOT_WORD, "times 65536", ring2, { d.slot(0) += 0x10000; }),
      SDMACC_CASE(SLOT_WORD, "END address in clear", ring2, { d.slot(0) &= 0x0000ffffffffffff; }),
      SDMACC_CASE(SLOT_WORD, "M2S alone", ring2, { d.slot(0) &= ~0xffff00000000ull; }),
      SDMACC_CASE(SLOT_WORD, "count of a marker", ring2, { d.slot(0) |= 0xffffull << 48; }),
      SDMACC_CASE(SLOT_WORD, "secondary fires", kanga,
                  {
                    d.at<std::uint64_t>(kSlot, 8, 1) = 0;
                    d.reloc(kSlot, 0, 1).offset = 8;
                    d.at<std::uint64_t>(kSlot, 0, 1) = 1ull << 48 | 1ull << 32 | 1;
                  }),
      SDMACC_CASE(SLOT_CONTINUE, "with a low half", ring2_short, { d.slot(1) |= 1; }),
      SDMACC_CASE(SLOT_CONTINUE, "backward", ring2_short, { d.slot(2) = 0; }),
      SDMACC_CASE(SLOT_CONTINUE, "misaligned", ring2_short, { d.slot(2) += 8; }),
      SDMACC_CASE(SLOT_CONTINUE, "beyond the section", ring2_short, { d.slot(2) = 1 << 20; }),
      SDMACC_CASE(SLOT_CONTINUE, "in the last word", ring2,
                  {
                    for (std::uint32_t i = 3; i < 127; ++i) d.slot(i) = 1;
                    d.slot(127) = 0xfffefffe00000000;
                    d.drop_reloc(kSlot, 24);
                  }),
      SDMACC_CASE(SLOT_END, "none", ring2, { d.drop_reloc(kSlot, 24); }),
      SDMACC_CASE(SLOT_END, "a full window", ring2,
                  {
                    for (std::uint32_t i = 3; i < 128; ++i) d.slot(i) = 1;
                    d.drop_reloc(kSlot, 24);
                  }),
      SDMACC_CASE(SLOT_END, "five words", ring2,
                  {
                    for (std::uint64_t i = 1; i < 5; ++i)
                      d.add_reloc(kSlot, 24 + 8 * i, SDMACC_RELOC_SEM_INC64,
                                  d.object_index(SDMACC_OBJECT_SEM));
                  }),
      SDMACC_CASE(
          SLOT_END, "as many as the other list has", ring2,
          {
            // A list that nobody runs, but an END is an END.
            d.add_reloc(kSlot, 1024, SDMACC_RELOC_SEM_INC64, d.object_index(SDMACC_OBJECT_SEM));
            d.add_reloc(kSlot, 1032, SDMACC_RELOC_SEM_INC64, d.object_index(SDMACC_OBJECT_SEM));
          }),
      SDMACC_CASE(SLOT_UNUSED, "after END", ring2, { d.slot(4) = 1; }),
      SDMACC_CASE(SLOT_UNUSED, "after CONTINUE", ring2_short, { d.slot(3) = 1; }),
      SDMACC_CASE(SLOT_UNUSED, "in an empty window", ring2, { d.slot(129) = 1; }),
      SDMACC_CASE(SLOT_LIST, "empty window", ring2, { d.channel().spad_slot_idx = 1; }),
      SDMACC_CASE(SLOT_LIST, "window beyond the section", ring2,
                  {
                    d.channel().spad_slot_idx = 31;
                    d.p.sections[1].size = 31 * 1024;
                  }),
      SDMACC_CASE(SLOT_LIST, "joins another list", ring2_short,
                  {
                    d.slot(128) = 1;  // list 1 goes on where list 0 does
                    d.slot(129) = 0xfffefffe00000000;
                    d.slot(130) = 32 * 1024;
                    add_channel(d, 1, 1);
                    d.ctrl(0).u.channel_list = 3;
                    const std::uint32_t ring = static_cast<std::uint32_t>(d.p.objects.size());
                    d.p.objects.push_back(
                        {SDMACC_OBJECT_RING, 0, 0, d.object_index(SDMACC_OBJECT_SP), 1 << 8});
                    for (const std::uint64_t offset : {120, 128, 136})
                      d.reloc(kAlgo, 148 + offset).object = ring;
                    const std::uint64_t end = d.p.data.size();
                    d.p.sections.push_back({SDMACC_SECTION_RING_M2S, ring, end, 0});
                    d.p.sections.push_back({SDMACC_SECTION_RING_S2M, ring, end, 0});
                  }),
      SDMACC_CASE(
          SLOT_WINDOW, "nobody's", ring2,
          { d.add_reloc(kSlot, 1024, SDMACC_RELOC_SEM_INC64, d.object_index(SDMACC_OBJECT_SEM)); }),
      SDMACC_CASE(SLOT_SUM, "too many", ring2, { d.slot(0) += 1; }),
      SDMACC_CASE(SLOT_SUM, "too few M2S", ring2, { d.slot(1) -= 1ull << 48; }),
      SDMACC_CASE(SLOT_SUM, "too few S2M", ring2, { d.slot(1) -= 1ull << 32; }),
      SDMACC_CASE(SLOT_SUM, "a ring that nothing fires", ring2_e2,
                  { d.object(SDMACC_OBJECT_RING, 0).index |= 1 << 8; }),
      SDMACC_CASE(SLOT_EVENTS, "times 2", mesh, { d.slot(0) += 1; }),
      SDMACC_CASE(SLOT_EVENTS, "a word less than the entries need", mesh,
                  {
                    d.slot(1) = 0;
                    d.reloc(kSlot, 16).offset = 8;
                  }),
      SDMACC_CASE(SLOT_EVENTS, "no event fires", mesh,
                  {
                    d.event(1).dma_trigger = 0;
                    for (const std::uint64_t offset : {0, 8, 16})
                      d.drop_reloc(kAlgo, 0x1280 + 80 + offset);
                  }),
  };
}

std::vector<FaultCase> neff_cases() {
  return {
      SDMACC_CASE(NEFF_RESERVED, "bitmap", ring2, { d.neff().dma_alloc_bitmap[0] = 1; }),
      SDMACC_CASE(NEFF_RESERVED, "second SLOT base", ring2, { d.neff().slot_spad_base[1] = 1; }),
      SDMACC_CASE(NEFF_RESERVED, "barrier", ring2, { d.neff().barrier_configs[0] = 1; }),
      SDMACC_CASE(NEFF_RESERVED, "leader's complete_prev", ring2, { d.neff().complete_prev = 1; }),
      SDMACC_CASE(NEFF_RESERVED, "last SP's trigger_next", ring2, { d.neff(1).trigger_next = 1; }),
      SDMACC_CASE(NEFF_RESERVED, "stop semaphore", ring2, { d.neff().tpb_stop_sema = 1; }),
      SDMACC_CASE(RELOC_UNASKED, "leader's complete_prev", ring2,
                  {
                    d.add_reloc(kNeff, 3568, SDMACC_RELOC_SEM_READ64,
                                d.object_index(SDMACC_OBJECT_SP), 1);
                  }),
      SDMACC_CASE(NEFF_OP_NUM, "2", ring2, { d.neff().op_num = 2; }),
      SDMACC_CASE(NEFF_FUNCTIONS, "0", ring2, { d.neff().function_n = 0; }),
      SDMACC_CASE(NEFF_COMPLETIONS, "0", ring2, { d.neff().tpb_compl_addr_num = 0; }),
      SDMACC_CASE(NEFF_FLAGS, "no leader", ring2, { d.neff().flags = 0; }),
      SDMACC_CASE(NEFF_FLAGS, "two leaders", ring2, { d.neff(1).flags = 1; }),
      SDMACC_CASE(NEFF_FLAGS, "NOP mode", ring2, { d.neff().flags |= SDMACC_NEFF_CC_NOP; }),
  };
}

}  // namespace

std::vector<FaultCase> sp_fault_cases() {
  std::vector<FaultCase> all;
  for (auto* some : {ctrl_cases, algo_cases, slot_cases, neff_cases})
    for (FaultCase& c : some()) all.push_back(std::move(c));
  return all;
}

}  // namespace sdmacc::test
