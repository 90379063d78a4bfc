// SPDX-License-Identifier: MIT
// Everything that memory can say and must not: each is one failure with its code, entry, unit,
// address, value and bound, and the end of all activity of the TOP_SP.
#include <gtest/gtest.h>

#include <cstring>

#include "selftests/ncfw/support.hpp"

namespace sdmacc::ncfw {
namespace {

constexpr std::uint32_t kNone = 0xffffffffu;
constexpr std::uint32_t kChannel = sizeof(sdmacc_ring_channel), kEvent = sizeof(sdmacc_mesh_event);

using Address = std::function<std::uint64_t(const World&)>;
Address ram(std::uint64_t offset) {
  return [offset](const World& world) {
    return world.ram_address(0, static_cast<std::uint32_t>(offset));
  };
}
Address sem(std::uint32_t id) {
  return [id](const World& world) { return world.sem(0, id); };
}
Address image(std::uint64_t offset) {
  return [offset](const World&) { return kMemoryBase + 64 + offset; };
}
Address channel(std::uint32_t index, std::size_t offset) {
  return ram(SDMACC_RAM_ALGO_CONFIGS + index * kChannel + offset);
}
Address event(std::uint32_t index, std::size_t offset) {
  return ram(SDMACC_RAM_ALGO_CONFIGS + SDMACC_ALGO_MESH_OFFSET + index * kEvent + offset);
}
Address ctrl(std::uint32_t entry, std::size_t offset) {
  return ram(SDMACC_RAM_CTRL + 8 * entry + offset);
}
Address neff(std::size_t offset) {
  return ram(SDMACC_RAM_NEFF_CONFIGS + offset);
}
Address slot(std::uint32_t list, std::uint32_t word) {
  return ram(SDMACC_RAM_SLOT + 1024 * list + 8 * word);
}

struct Expected {
  Code code;
  std::uint32_t entry, unit;
  Address address;
  std::uint64_t value, target;
};

// `change` edits the program before it is placed, `after` the world before the trigger.
struct Fault {
  const char* what;
  std::function<void(Program&, const World&)> change;
  Expected expected;
  std::function<void(World&)> after = {};
};

void expect_failure(World& world, const Expected& expected) {
  world.trigger(0);
  world.run();
  const auto& topsp = world.topsps[0];
  ASSERT_EQ(topsp.failures.size(), 1u);
  const Failure& failure = topsp.failures[0];
  EXPECT_STREQ(name(failure.code), name(expected.code));
  EXPECT_EQ(failure.entry, expected.entry);
  EXPECT_EQ(failure.unit, expected.unit);
  EXPECT_EQ(failure.address, expected.address(world));
  EXPECT_EQ(failure.value, expected.value);
  EXPECT_EQ(failure.target, expected.target);
  EXPECT_EQ(topsp.statuses, 0u);
  EXPECT_EQ(world.progress(0).state, SDMACC_NCFW_ERROR);
  EXPECT_EQ(world.progress(0).runs, 0u);
  const std::size_t actions = topsp.trace.size();
  world.trigger(0);
  EXPECT_EQ(world.run(), 0u);
  EXPECT_EQ(topsp.trace.size(), actions);
}

template <typename Shape>
void expect_failures(const Shape& shape, const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.what);
    World world(cayman(), 1);
    shape.set_up(world);
    world.memory.clear();
    Program program = shape.program(world, 0);
    if (fault.change) fault.change(program, world);
    place(world, 0, program);
    if (fault.after) fault.after(world);
    expect_failure(world, fault.expected);
  }
}

// Two channels of one rank; two entries, so that entry 0 must go on.
Ring two_channels() {
  Ring ring;
  ring.units = 1;
  ring.channels = 2;
  ring.steps = 4;
  ring.entries = 2;
  return ring;
}
constexpr std::uint32_t kList0 = 1, kList1 = 6;  // of the two channels

template <typename T>
std::function<void(World&)> patch(std::size_t offset, T value) {
  return [offset, value](World& world) {
    std::memcpy(world.memory.data() + 64 + offset, &value, sizeof value);
  };
}

TEST(Errors, Image) {
  using Header = sdmacc_image_header;
  constexpr std::uint64_t kMagicError = 0x12345678;
  World sample(cayman(), 1);
  const auto bytes = two_channels().program(sample, 0).image(cayman());
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::uint32_t size = header.size;
  expect_failures(
      two_channels(),
      {
          {"magic",
           {},
           {Code::BadImage, 0, kNone, image(0), kMagicError, SDMACC_IMAGE_MAGIC},
           patch(0, 0x12345678u)},
          {"version",
           {},
           {Code::BadImage, 0, kNone, image(4), 2, SDMACC_IMAGE_VERSION},
           patch(4, 2u)},
          {"reserved", {}, {Code::BadImage, 0, kNone, image(12), 1, 0}, patch(12, 1u)},
          {"reserved2", {}, {Code::BadImage, 0, kNone, image(56), 1, 0}, patch(56, 1u)},
          {"image smaller than its parts",
           {},
           {Code::BadImage, 0, kNone, image(16), 64, 63},
           patch(8, 63u)},
          {"ctrl inside the header",
           {},
           {Code::BadImage, 0, kNone, image(16), 56, size},
           patch(16, 56u)},
          {"ctrl unaligned", {}, {Code::BadImage, 0, kNone, image(16), 68, size}, patch(16, 68u)},
          {"ctrl empty", {}, {Code::BadImage, 0, kNone, image(20), 0, 8}, patch(20, 0u)},
          {"ctrl too long",
           {},
           {Code::BadImage, 0, kNone, image(20), 4104, 4096},
           patch(20, 4104u)},
          {"ctrl in half entries",
           {},
           {Code::BadImage, 0, kNone, image(20), 12, 4096},
           patch(20, 12u)},
          {"slot behind the image",
           {},
           {Code::BadImage, 0, kNone, image(24), size + 8, size},
           patch(24, size + 8)},
          {"slot out of the image",
           {},
           {Code::BadImage, 0, kNone, image(28), size, size - header.slot.offset},
           patch(28, size)},
          {"slot size overflows",
           {},
           {Code::BadImage, 0, kNone, image(28), 0xfffffff8, size - header.slot.offset},
           patch(28, 0xfffffff8u)},
          {"algo short",
           {},
           {Code::BadImage, 0, kNone, image(36), 0x3440, 0x3448},
           patch(36, 0x3440u)},
          {"algo long",
           {},
           {Code::BadImage, 0, kNone, image(36), 0x3450, 0x3448},
           patch(36, 0x3450u)},
          {"neff short", {}, {Code::BadImage, 0, kNone, image(44), 3584, 3592}, patch(44, 3584u)},
          {"level out of the image",
           {},
           {Code::BadImage, 0, kNone, image(52), 8, size - header.level.offset},
           patch(52, 8u)},
          {"no image",
           {},
           {Code::BadImage, 0, kNone, ram(0x200000 - 0x100000 + 0x61500), 0, 0},
           [](World& world) { world.configure(0, 0); }},
          {"header refused",
           {},
           {Code::Access, 0, kNone, image(0), 64, 0},
           [](World& world) { world.refused.insert(kMemoryBase + 64); }},
          {"part refused",
           {},
           {Code::Access, 0, kNone, image(64), 16, 0},
           [](World& world) { world.refused.insert(kMemoryBase + 64 + 64); }},
          {"CONFIG refused",
           {},
           {Code::Access, 0, kNone, ram(0x200000 - 0x100000 + 0x61500), 0, 0},
           [](World& world) {
             world.refused.insert(world.ram_address(0, 0x200000 - 0x100000 + 0x61500));
           }},
      });
}

TEST(Errors, Ctrl) {
  const auto entry = [](std::uint32_t index, auto edit) {
    return [index, edit](Program& program, const World&) { edit(program.ctrl[index]); };
  };
  const auto op_num = [](std::uint32_t value) {
    return [value](Program& program, const World&) { program.neff.op_num = value; };
  };
  using Entry = sdmacc_ctrl_entry;
  expect_failures(
      two_channels(),
      {
          {"op_num 0", op_num(0), {Code::BadCtrl, 0, kNone, neff(3584), 0, 512}},
          {"op_num 513", op_num(513), {Code::BadCtrl, 0, kNone, neff(3584), 513, 512}},
          {"op_num beyond the part", op_num(3), {Code::BadCtrl, 0, kNone, neff(3584), 3, 2}},
          {"header bit",
           entry(1, [](Entry& e) { e.header |= 2; }),
           {Code::BadCtrl, 1, kNone, ctrl(1, 0), 3, 1}},
          {"reserved byte",
           entry(0, [](Entry& e) { e.reserved = 1; }),
           {Code::BadCtrl, 0, kNone, ctrl(0, 3), 1, 0}},
          {"flag",
           entry(0, [](Entry& e) { e.flags |= 0x20; }),
           {Code::BadCtrl, 0, kNone, ctrl(0, 2), 0x20, 7}},
          {"last goes on",
           entry(1, [](Entry& e) { e.algo |= 0x80; }),
           {Code::BadCtrl, 1, kNone, ctrl(1, 1), 0x80, 0}},
          {"first does not",
           entry(0, [](Entry& e) { e.algo = 0; }),
           {Code::BadCtrl, 0, kNone, ctrl(0, 1), 0, 0x80}},
          {"no channels",
           entry(1, [](Entry& e) { e.u.channel_list = 0; }),
           {Code::BadCtrl, 1, kNone, ctrl(1, 4), 0, 0}},
          {"HIER",
           entry(1, [](Entry& e) { e.algo = SDMACC_ALG_HIER; }),
           {Code::BadDispatch, 1, kNone, ram(0x10000 + 0xb0 + 4), SDMACC_ALG_HIER, 11}},
          {"INVALID",
           entry(1, [](Entry& e) { e.algo = SDMACC_ALG_INVALID; }),
           {Code::BadDispatch, 1, kNone, ram(0x10000 + 0xb0 + 44), SDMACC_ALG_INVALID, 11}},
          {"beyond the table",
           entry(1, [](Entry& e) { e.algo = 12; }),
           {Code::BadDispatch, 1, kNone, ctrl(1, 1), 12, 11}},
          {"table word of no handler",
           {},
           {Code::BadDispatch, 0, kNone, ram(0x10000 + 0xb0), 0, 11},
           [](World& world) { world.poke(0, 0x10000 + 0xb0, 4u); }},
      });
}

TEST(Errors, RingChannel) {
  using Raw = sdmacc_ring_channel;
  const auto edit = [](auto change) {
    return [change](Program& program, const World& world) { change(program.channels[1], world); };
  };
  const std::uint64_t read0 = sdmacc_soc_sem(&cayman(), 0, SDMACC_SEM_READ, 8);
  const auto inc = [](sdmacc_u64& address) { address.lo += SDMACC_SEM_READ_TO_INC; };
  World sample(cayman(), 1);
  const std::uint64_t page = Ring::page(sample, 0, 1);
  std::vector<Fault> faults = {
      {"channel_id",
       edit([](Raw& c, const World&) { c.channel_id = 0; }),
       {Code::BadConfig, 0, 1, channel(1, 140), 0, 1}},
      {"spad_slot_idx",
       edit([](Raw& c, const World&) { c.spad_slot_idx = 32; }),
       {Code::BadConfig, 0, 1, channel(1, 141), 32, 31}},
      {"one list for two channels",
       edit([](Raw& c, const World&) { c.spad_slot_idx = kList0; }),
       {Code::BadConfig, 0, 1, channel(1, 141), kList0, 1u << kList0}},
      {"peers in a ring",
       edit([](Raw& c, const World&) { c.kangaring_num_peers = 1; }),
       {Code::BadConfig, 0, 1, channel(1, 144), 1, 0}},
      {"primary in a ring",
       edit([](Raw& c, const World&) { c.kangaring_is_primary = 1; }),
       {Code::BadConfig, 0, 1, channel(1, 143), 1, 0}},
      {"no recv_sema",
       edit([](Raw& c, const World&) { c.recv_sema = {}; }),
       {Code::BadConfig, 0, 1, channel(1, 56), 0, SDMACC_SEM_READ}},
      {"send_sema in the INC window",
       edit([&](Raw& c, const World&) { inc(c.send_sema); }),
       {Code::BadConfig, 0, 1, channel(1, 64), read0 + 4 * 5 + 0x800, SDMACC_SEM_READ}},
      {"post_sema in the INC window",
       edit([&](Raw& c, const World&) { inc(c.post_sema); }),
       {Code::BadConfig, 0, 1, channel(1, 72), read0 + 4 * 5 + 0x800, SDMACC_SEM_READ}},
      {"dma_compl unaligned",
       edit([](Raw& c, const World&) { ++c.dma_compl.lo; }),
       {Code::BadConfig, 0, 1, channel(1, 80), read0 + 4 * 6 + 1, SDMACC_SEM_READ}},
      {"M2S register",
       edit([](Raw& c, const World&) { c.apb.m2s_tail.lo += 4; }),
       {Code::BadConfig, 0, 1, channel(1, 120), page + 0x3c, SDMACC_Q_TAIL_INC}},
      {"S2M of another queue",
       edit([](Raw& c, const World&) { c.apb.s2m_tail.lo += 0x1000; }),
       {Code::BadConfig, 0, 1, channel(1, 128), page + 0x21038, page + 0x20038}},
      {"mask without enable",
       edit([](Raw& c, const World&) { c.apb.mask = 0; }),
       {Code::BadConfig, 0, 1, channel(1, 136), 0, 0x100}},
      {"mask of no engine",
       edit([](Raw& c, const World&) { c.apb.mask = 0xffff0100; }),
       {Code::BadConfig, 0, 1, channel(1, 136), 0xffff0100, 0x100}},
      {"mask bit",
       edit([](Raw& c, const World&) { c.apb.mask |= 1; }),
       {Code::BadConfig, 0, 1, channel(1, 136), 0xfffc0101, 0x100}},
      {"one queue with two masks",
       [](Program& program, const World&) {
         program.channels[1].apb = program.channels[0].apb;
         program.channels[1].apb.mask = sdmacc_bcast_mask(1, 0);
       },
       {Code::BadConfig, 0, 1, channel(1, 136), 0xfffe0100, 0xfffc0100}},
  };
  expect_failures(two_channels(), faults);
}

TEST(Errors, KangaringChannel) {
  using Raw = sdmacc_ring_channel;
  Ring ring = two_channels();
  ring.secondaries = 1;
  ring.channels = 2;  // TOP_SP 0 is the primary of channel 0 and the secondary of channel 1
  const auto run = [&](const char* what, auto change, const Expected& expected) {
    SCOPED_TRACE(what);
    World world(cayman(), 2);
    ring.set_up(world);
    world.memory.clear();
    Program program = ring.program(world, 0);
    change(program);
    place(world, 0, program);
    expect_failure(world, expected);
  };
  run("two peers", [](Program& p) { p.channels[0].kangaring_num_peers = 2; },
      {Code::BadConfig, 0, 0, channel(0, 144), 2, 1});
  run("no peers", [](Program& p) { p.channels[0].kangaring_num_peers = 0; },
      {Code::BadConfig, 0, 0, channel(0, 144), 0, 1});
  run("is_primary", [](Program& p) { p.channels[1].kangaring_is_primary = 2; },
      {Code::BadConfig, 0, 1, channel(1, 143), 2, 1});
  run("mine", [](Program& p) { p.channels[1].kring_mine = {}; },
      {Code::BadConfig, 0, 1, channel(1, offsetof(Raw, kring_mine)), 0, SDMACC_SEM_READ});
  run("peer", [](Program& p) { p.channels[0].kring_peers[0] = {}; },
      {Code::BadConfig, 0, 0, channel(0, offsetof(Raw, kring_peers)), 0, SDMACC_SEM_READ});
  run("third peer", [](Program& p) { p.channels[0].kangaring_num_peers = 3; },
      {Code::BadConfig, 0, 0, channel(0, offsetof(Raw, kring_peers) + 8), 0, SDMACC_SEM_READ});
}

TEST(Errors, SlotList) {
  const auto words = [](std::vector<std::uint64_t> list) {
    return [list](Program& program, const World&) { program.lists[kList1] = list; };
  };
  const std::uint64_t step = sdmacc_slot_word(3, 4, 1), more = sdmacc_slot_word(3, 4, 2);
  World sample(cayman(), 1);
  const std::uint64_t end = end_word(sample.sem(0, kLocalDone));
  const auto section =
      static_cast<std::uint32_t>(two_channels().program(sample, 0).slot_section().size() * 8);
  expect_failures(
      two_channels(),
      {
          {"empty", words({0}), {Code::BadSlot, 0, 1, slot(kList1, 0), 0, 0}},
          {"END at once", words({end}), {Code::BadSlot, 0, 1, slot(kList1, 0), 0, 2}},
          {"END after one step", words({step, end}), {Code::BadSlot, 0, 1, slot(kList1, 1), 1, 2}},
          {"no END", words({more}), {Code::BadSlot, 0, 1, slot(kList1, 1), 0, 0}},
          {"one side only",
           words({step, sdmacc_slot_word(3, 0, 1)}),
           {Code::BadSlot, 0, 1, slot(kList1, 1), sdmacc_slot_word(3, 0, 1), 0}},
          {"no times",
           words({step, sdmacc_slot_word(3, 4, 0)}),
           {Code::BadSlot, 0, 1, slot(kList1, 1), sdmacc_slot_word(3, 4, 0), 0}},
          {"too many times",
           words({step, sdmacc_slot_word(3, 4, 0x10000)}),
           {Code::BadSlot, 0, 1, slot(kList1, 1), sdmacc_slot_word(3, 4, 0x10000), 0}},
          {"END outside INC",
           words({more, end + 0x400}),
           {Code::BadSlot, 0, 1, slot(kList1, 1), end + 0x400, 0x1800}},
          {"five END words",
           words({more, end, end, end, end, end}),
           {Code::BadSlot, 0, 1, slot(kList1, 5), end, 4}},
          {"CONTINUE unaligned",
           words({step, SDMACC_SLOT_CONTINUE, 8}),
           {Code::BadSlot, 0, 1, slot(kList1, 2), 8, section}},
          {"CONTINUE outside",
           words({step, SDMACC_SLOT_CONTINUE, section}),
           {Code::BadSlot, 0, 1, slot(kList1, 2), section, section}},
          {"CONTINUE to itself",
           words({SDMACC_SLOT_CONTINUE, kList1 * 1024}),
           {Code::BadSlot, 0, 1, slot(kList1, 0), SDMACC_SLOT_CONTINUE, 0}},
      });
  // Five different completion addresses over the two channels.
  expect_failures(
      two_channels(),
      {{"completion addresses",
        [&](Program& program, const World&) {
          program.lists[kList0] = {more, end, end + 4};
          program.lists[kList1] = {more, end + 8, end + 12, end + 16};
        },
        {Code::BadSlot, 0, 1, ram(0x10000 + 0x4600 + offsetof(sdmacc_ncfw_progress, completion)),
         end + 16, 4}}});
}

TEST(Errors, SecondaryWithSteps) {
  Ring ring = two_channels();
  ring.secondaries = 1;
  World world(cayman(), 2);
  ring.set_up(world);
  Program program = ring.program(world, 1);
  program.lists[kList0].insert(program.lists[kList0].begin(), sdmacc_slot_word(1, 1, 1));
  place(world, 1, program);
  world.trigger(0);
  world.run();
  ASSERT_EQ(world.topsps[1].failures.size(), 1u);
  EXPECT_EQ(world.topsps[1].failures[0].code, Code::BadSlot);
  EXPECT_EQ(world.topsps[1].failures[0].unit, 0u);
  EXPECT_EQ(world.topsps[1].failures[0].value, sdmacc_slot_word(1, 1, 1));
}

Mesh one_rank() {
  Mesh mesh;
  mesh.ranks = 1;
  mesh.slices = 2;
  return mesh;
}

TEST(Errors, MeshEvent) {
  using Raw = sdmacc_mesh_event;
  const auto edit = [](std::uint32_t index, auto change) {
    return [index, change](Program& program, const World&) { change(program.events[index]); };
  };
  expect_failures(one_rank(),
                  {
                      {"type",
                       edit(0, [](Raw& e) { e.event_type = 53; }),
                       {Code::BadConfig, 0, 0, event(0, 0x4c), 53, 52}},
                      {"dma_trigger",
                       edit(1, [](Raw& e) { e.dma_trigger = 3; }),
                       {Code::BadConfig, 0, 1, event(1, 0x4d), 3, 2}},
                      {"direct_trigger",
                       edit(0, [](Raw& e) { e.direct_trigger = 4; }),
                       {Code::BadConfig, 0, 0, event(0, 0x4e), 4, 3}},
                      {"wait_event",
                       edit(1, [](Raw& e) { e.wait_event = 2; }),
                       {Code::BadConfig, 0, 1, event(1, 0x4f), 2, 1}},
                      {"SYNC fires",
                       edit(2, [](Raw& e) { e.dma_trigger = 1; }),
                       {Code::BadConfig, 0, 2, event(2, 0x4d), 1, 0}},
                      {"SYNC signals",
                       edit(2, [](Raw& e) { e.direct_trigger = 1; }),
                       {Code::BadConfig, 0, 2, event(2, 0x4e), 1, 0}},
                      {"trigger address",
                       edit(0, [](Raw& e) { e.direct_trigger = 1; }),
                       {Code::BadConfig, 0, 0, event(0, 0x28), 0, SDMACC_SEM_READ}},
                      {"wait address",
                       edit(1, [](Raw& e) { e.wait_event = 1, e.event_wait_sema = {}; }),
                       {Code::BadConfig, 0, 1, event(1, 0x40), 0, SDMACC_SEM_READ}},
                      {"broadcast",
                       edit(1, [](Raw& e) { e.bcast[0].mask = 0; }),
                       {Code::BadConfig, 0, 1, event(1, 16), 0, 0x100}},
                      {"second broadcast",
                       edit(1, [](Raw& e) { e.dma_trigger = 2; }),
                       {Code::BadConfig, 0, 1, event(1, 20), 0, SDMACC_Q_TAIL_INC}},
                      {"two masks",
                       edit(1,
                            [](Raw& e) {
                              e.dma_trigger = 2, e.bcast[1] = e.bcast[0],
                              e.bcast[1].mask = 0xfff00100;
                            }),
                       {Code::BadConfig, 0, 1, event(1, 36), 0xfff00100, 0xfffc0100}},
                      {"wait_val beyond the mask",
                       edit(2, [](Raw& e) { e.wait_val = 0x10000; }),
                       {Code::BadConfig, 0, 2, event(2, 0x48), 0x10000, 0xffff}},
                      {"wait_val 0",
                       edit(2, [](Raw& e) { e.wait_val = 0; }),
                       {Code::ZeroWait, 0, 2, sem(21), 0, 1}},
                      {"no SYNC",
                       [](Program& program, const World&) {
                         program.events[2].event_type = SDMACC_MESH_EV_REDUCE_WRITE;
                         program.events.resize(cayman().mesh_events, program.events[2]);
                       },
                       {Code::BadConfig, 0, 108, ram(0x10000 + 0x42e0 + 0x204), 108, 108}},
                  });
}

TEST(Errors, MeshCtrl) {
  const auto entry = [](std::uint16_t shift, std::uint16_t mask) {
    return [shift, mask](Program& program, const World&) {
      program.ctrl[1].u.mesh.sema_shift_offset = shift;
      program.ctrl[1].u.mesh.sema_mask = mask;
    };
  };
  expect_failures(one_rank(),
                  {
                      {"mask 0", entry(0, 0), {Code::BadCtrl, 1, kNone, ctrl(1, 6), 0, 0xffffffff}},
                      {"shift 32", entry(32, 1), {Code::BadCtrl, 1, kNone, ctrl(1, 4), 32, 31}},
                      {"mask out of the counter",
                       entry(17, 0xffff),
                       {Code::BadCtrl, 1, kNone, ctrl(1, 6), 0xffff, 0x7fff}},
                  });
}

TEST(Errors, MeshList) {
  const auto words = [](std::vector<std::uint64_t> list) {
    return [list](Program& program, const World&) { program.lists[0] = list; };
  };
  World sample(cayman(), 1);
  const std::uint64_t end = end_word(sample.sem(0, kLocalDone));
  expect_failures(
      one_rank(),
      {
          {"no word", words({0}), {Code::BadSlot, 0, 1, slot(0, 0), 0, 0}},
          {"END in place of a word", words({end}), {Code::BadSlot, 0, 1, slot(0, 0), end, 0}},
          {"second entry has none",
           words({sdmacc_slot_word(4, 5, 1)}),
           {Code::BadSlot, 1, 1, slot(0, 1), 0, 0}},
          {"END too early",
           words({sdmacc_slot_word(4, 5, 1), end}),
           {Code::BadSlot, 1, 1, slot(0, 2), 0, 0}},
      });
}

// The mesh list is list 0, which no channel of the same program can have.
TEST(Errors, MeshAndRingOnOneList) {
  expect_failures(two_channels(), {{"list 0",
                                    [](Program& program, const World&) {
                                      program.channels[1].spad_slot_idx = 0;
                                      program.ctrl[0] = ctrl_mesh(0, 1);
                                      program.ctrl[0].algo |= SDMACC_CTRL_TRIGGER_NEXT;
                                    },
                                    {Code::BadConfig, 0, 1, channel(1, 141), 0, 1}}});
}

TEST(Errors, Accesses) {
  World sample(cayman(), 1);
  const std::uint64_t page = Ring::page(sample, 0, 0);
  const auto refuse_at = [](Address address) {
    return [address](World& world) { world.refused.insert(address(world)); };
  };
  const auto at = [](std::uint64_t address) {
    return Address([address](const World&) { return address; });
  };
  expect_failures(
      two_channels(),
      {
          {"mask",
           {},
           {Code::Access, 0, kNone, at(page + 0xf0), 0xfffc0100, 0},
           refuse_at(at(page + 0xf0))},
          {"re-arm S2M",
           {},
           {Code::Access, 0, kNone, at(page + 0x20064), 0x100, 0},
           refuse_at(at(page + 0x20064))},
          {"re-arm M2S",
           {},
           {Code::Access, 0, kNone, at(page + 0xb0), 0x100, 0},
           refuse_at(at(page + 0xb0))},
          {"S2M doorbell",
           {},
           {Code::Access, 0, 0, at(page + 0x20038), 4, 0},
           refuse_at(at(page + 0x20038))},
          {"M2S doorbell",
           {},
           {Code::Access, 0, 0, at(page + 0x38), 3, 0},
           refuse_at(at(page + 0x38))},
          {"own recv", {}, {Code::Access, 0, 0, sem(8), 4, 0}, refuse_at(sem(8))},
          {"credits", {}, {Code::Access, 0, 1, sem(13), 4, 0}, refuse_at(sem(13))},
          {"dma_compl", {}, {Code::Access, 0, 0, sem(10), 0, 2}, refuse_at(sem(10))},
          {"local completion",
           {},
           {Code::Access, 0, 0, sem(kLocalDone), 1, 0},
           refuse_at(sem(kLocalDone))},
          {"a semaphore of no TOP_SP",
           [](Program& program, const World& world) {
             program.channels[0].dma_compl = sdmacc_u64_make(world.sem(5, 10));
           },
           {Code::Access, 0, 0, [](const World& world) { return world.sem(5, 10); }, 0, 2}},
      });
}

TEST(Errors, Wrap) {
  expect_failures(two_channels(),
                  {
                      {"recv",
                       {},
                       {Code::SemaphoreWrap, 0, 0, sem(8), 4, 0},
                       [](World& world) { world.value(world.sem(0, 8)) = 0xfffffffc; }},
                      {"local completion",
                       {},
                       {Code::SemaphoreWrap, 0, 0, sem(kLocalDone), 1, 0},
                       [](World& world) { world.value(world.sem(0, kLocalDone)) = 0xffffffff; }},
                  });
}

TEST(Errors, Chain) {
  const auto last = [](std::uint8_t flags) {
    return [flags](Program& program, const World&) { program.ctrl[1].flags = flags; };
  };
  expect_failures(two_channels(),
                  {
                      {"trigger_next",
                       [](Program& program, const World&) { program.neff.trigger_next = 8; },
                       {Code::BadConfig, 0, kNone, neff(3552), 8, SDMACC_SEM_READ}},
                      {"complete_prev",
                       last(SDMACC_CTRL_RING_WAIT_COMPLETE),
                       {Code::BadConfig, 1, kNone, neff(3568), 0, 0x1000}},
                      {"complete",
                       last(SDMACC_CTRL_RING_SEND_COMPLETE),
                       {Code::BadConfig, 1, kNone, neff(3560), 0, 0x1000}},
                  });
}

// Progress that no run can have left, found when it is gone on with.
TEST(Errors, OwnMemory) {
  const std::uint32_t progress = SDMACC_RAM_DRAM_IMAGE + cayman().dram_progress;
  const std::uint32_t row = SDMACC_RAM_DRAM_IMAGE + cayman().dram_algo_ctx;
  const auto run = [&](const char* what, auto change, const Expected& expected) {
    SCOPED_TRACE(what);
    World world(cayman(), 1);
    two_channels().set_up(world);
    for (auto& [page, queue] : world.queues)
      for (auto& step : queue.steps) step.signals.clear();
    world.trigger(0);
    world.run();  // both channels wait for dma_compl
    change(world);
    world.restart(0);
    world.run();
    ASSERT_EQ(world.topsps[0].failures.size(), 1u);
    const Failure& failure = world.topsps[0].failures[0];
    EXPECT_STREQ(name(failure.code), name(expected.code));
    EXPECT_EQ(failure.unit, expected.unit);
    EXPECT_EQ(failure.address, expected.address(world));
    EXPECT_EQ(failure.value, expected.value);
    EXPECT_EQ(failure.target, expected.target);
  };
  run("state", [&](World& world) { world.poke(0, progress + 4, 77u); },
      {Code::BadConfig, 0, kNone, ram(progress + 4), 77, SDMACC_NCFW_ERROR});
  run("loading",
      [&](World& world) { world.poke(0, progress + 4, std::uint32_t{SDMACC_NCFW_LOADING}); },
      {Code::BadConfig, 0, kNone, ram(progress + 4), SDMACC_NCFW_LOADING, SDMACC_NCFW_ERROR});
  run("entry",
      [&](World& world) { world.poke(0, progress + offsetof(sdmacc_ncfw_progress, entry), 2u); },
      {Code::BadCtrl, 2, kNone, ram(progress + offsetof(sdmacc_ncfw_progress, entry)), 2, 2});
  run("run_state", [&](World& world) { world.poke(0, row + 16 + 15, std::uint8_t{99}); },
      {Code::BadConfig, 0, 1, ram(row + 16 + 15), 99, SDMACC_RING_DONE});
  run("slot_idx",
      [&](World& world) {
        world.poke(0, row + 14, std::uint8_t{128});
        world.poke(0, row + 4, std::uint16_t{0});  // repeats
        world.inc(world.sem(0, 10), 2);
      },
      {Code::BadSlot, 0, 0, slot(kList0, 0), 128, 128});
}

// A wrong channels_left cannot make the sequencer drop a channel that is still waited for.
TEST(Errors, ChannelsLeftIsOnlyShown) {
  World world(cayman(), 1);
  const Ring ring = two_channels();
  ring.set_up(world);
  world.trigger(0);
  world.run(3);
  world.poke(0,
             SDMACC_RAM_DRAM_IMAGE + cayman().dram_progress +
                 offsetof(sdmacc_ncfw_progress, channels_left),
             1u);
  world.run();
  EXPECT_EQ(trouble(world, 1), "");
}

// The own RAM refused, where there is no span of it.
TEST(Errors, OwnMemoryRefused) {
  Options options;
  options.own_span = false;
  World world(cayman(), 1, options);
  two_channels().set_up(world);
  const std::uint64_t entries =
      world.ram_address(0, SDMACC_RAM_DRAM_IMAGE + cayman().dram_algo_ctx);
  world.refused.insert(entries);
  world.trigger(0);
  world.run();
  ASSERT_EQ(world.topsps[0].failures.size(), 1u);
  EXPECT_EQ(world.topsps[0].failures[0].code, Code::Access);
  EXPECT_EQ(world.topsps[0].failures[0].address, entries);
}

}  // namespace
}  // namespace sdmacc::ncfw
