// SPDX-License-Identifier: MIT
// Runs that end early: what the device reports becomes one text with rank, channel and step;
// afterwards the Program runs as before.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>
#include <string_view>

#include "selftests/device/support.hpp"

namespace sdmacc::test {
namespace {

// The rings of a loaded Program, as its memory in the device says; hand-made Programs on a fresh
// device are the first claim.
std::byte* ring_memory(device::EmbeddedDevice& device, const QueueView& queue, bool s2m = false) {
  const auto state = device.soc().queue(queue.engine, queue.queue).state();
  return device.soc().hbm(state.ring[s2m ? 1 : 0].base, 16);
}

sdmacc_desc& desc(device::EmbeddedDevice& device, LoadedId id, std::size_t ring, std::size_t i,
                  bool s2m = false) {
  return reinterpret_cast<sdmacc_desc*>(
      ring_memory(device, device.inspect(id)->queues[ring], s2m))[i];
}

struct Case {
  const char* what;
  std::size_t ring, index;
  bool s2m;
  void (*damage)(sdmacc_desc&);
  const char* text;  // part of the error
};

const Case kCases[] = {
    {"ring id", 0, 0, false, [](sdmacc_desc& d) { d.len_ctrl ^= 3u << 24; },
     "rank 0 channel 0 step 7 (slice 0): engine 0 queue 0 m2s descriptor 0, context 1: ring id is "
     "2, this round has 1 (ring_id)"},
    {"length", 1, 7, true, [](sdmacc_desc& d) { d.len_ctrl -= 4; },
     "rank 1 channel 0 step 7 (slice 0): engine 16 queue 0 s2m descriptor 7, context 1: length is "
     "60, the packet's is 64 (length_mismatch)"},
    {"address", 1, 0, false, [](sdmacc_desc& d) { d.addr |= 1ull << 36; }, "(aperture)"},
    {"right", 0, 0, true, [](sdmacc_desc& d) { d.addr = 1ull << 46; }, "does not allow 0x2"},
    {"class", 0, 6, false, [](sdmacc_desc& d) { d.meta_ctrl ^= 1u << 8; },
     "rank 0 channel 0 step 7"},
    {"semaphore", 0, 1, true,
     [](sdmacc_desc& d) { d.addr += 0x400; },  // DEC of a counter that is 0
     "would wrap it (semaphore_wrap), semaphore 8 of TOP_SP 2"},
};

TEST(Fault, ABadDescriptorEndsTheRunWithItsPlace) {
  for (const unsigned workers : {0u, 2u})
    for (const Case& c : kCases) {
      // Whether the counter is 0 when it is decremented is sure only in the fixed order.
      if (workers != 0 && std::string_view(c.what) == "semaphore") continue;
      SCOPED_TRACE(testing::Message() << c.what << ", " << workers << " workers");
      const auto device = make_device({.workers = workers});
      Tensors t(2, 64);
      const LoadedId id = load(*device, ring_program(2), places(2), t);
      ASSERT_TRUE(run(*device, id, 1, workers == 0));
      sdmacc_desc& broken = desc(*device, id, c.ring, c.index, c.s2m);
      const sdmacc_desc sound = broken;
      c.damage(broken);
      for (Ticket ticket = 2; ticket < 4; ++ticket) {
        const Status status = run(*device, id, ticket, workers == 0);
        ASSERT_FALSE(status);
        EXPECT_EQ(status.error().code, Errc::DeviceError);
        EXPECT_EQ(status.error().stage, Stage::Device);
        EXPECT_EQ(status.error().index, 7u);  // the step that the hand-made Program names
        EXPECT_NE(status.error().context.find(c.text), std::string::npos) << status.error().context;
      }
      broken = sound;
      t.clear();
      const Status after = run(*device, id, 4, workers == 0);
      ASSERT_TRUE(after) << after.error().text();
      EXPECT_EQ(t.wrong(), 0u);
    }
}

TEST(Fault, TheFirmwareSaysWhichEntryAndChannel) {
  const auto device = make_device();
  Tensors t(2, 64);
  const LoadedId id = load(*device, ring_program(2), places(2), t);
  ASSERT_TRUE(run(*device, id));
  auto& soc = device->soc();
  const std::uint64_t slot = sdmacc_soc_topsp(&soc.arch(), 2) + SDMACC_TOPSP_RAM + SDMACC_RAM_SLOT;
  const std::uint64_t bad = 3ull << 48 | 3ull << 32;  // times 0
  std::uint64_t sound = 0;
  ASSERT_TRUE(soc.read(slot, &sound, 8));
  ASSERT_TRUE(soc.write(slot, &bad, 8));
  const Status status = run(*device, id);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().context.find(
                "rank 1 channel 0: TOP_SP 2 entry 0 unit 0, context 1: SLOT word at"),
            0u)
      << status.error().context;
  t.clear();
  ASSERT_TRUE(run(*device, id));  // the image is loaded anew
  EXPECT_EQ(t.wrong(), 0u);
}

TEST(Fault, AnotherProgramRunsOn) {
  const auto device = make_device({.workers = 2});
  Tensors a(2, 64), b(2, 1 << 14);
  const LoadedId bad = load(*device, ring_program(2), places(2), a);
  const LoadedId good = load(*device, ring_program(2, {.count = 1 << 13}), places(2, 4), b);
  desc(*device, bad, 0, 3).len_ctrl ^= 3u << 24;
  for (Ticket i = 0; i < 50; ++i) {
    ASSERT_TRUE(device->run(good, 1));
    ASSERT_TRUE(device->run(bad, 2));
    std::size_t done = 0;
    while (done < 2)
      for (const Completion& c : wait_for(*device, 0, false)) {
        ++done;
        EXPECT_EQ(c.status.has_value(), c.loaded == good);
      }
  }
}

// A run that cannot end: the leader's chunk never arrives, because rank 1 waits for a semaphore
// that nobody posts.
LoadedId load_stuck(device::EmbeddedDevice& device, Tensors& t) {
  const LoadedId id = load(device, ring_program(2), places(2), t);
  desc(device, id, 0, 1, true).addr += 4;  // INC of next's send_sema instead of recv_sema
  return id;
}

TEST(Fault, AbortEndsARunThatHangs) {
  for (const unsigned workers : {0u, 1u, 2u}) {
    const auto device = make_device({.workers = workers});
    Tensors t(2, 64);
    const LoadedId id = load_stuck(*device, t);
    for (Ticket ticket = 1; ticket < 4; ++ticket) {
      ASSERT_TRUE(device->run(id, ticket));
      device->pump(id);  // no work is left, or somebody else does it
      EXPECT_TRUE(device->reap().empty());
      EXPECT_EQ(device->run(id, 7).error().code, Errc::Busy);
      device->abort(id);
      const auto done = wait_for(*device, id, false);
      ASSERT_EQ(done.size(), 1u);
      EXPECT_EQ(done[0].ticket, ticket);
      EXPECT_EQ(done[0].status.error().code, Errc::Cancelled);
    }
    device->abort(id);  // does not run
    EXPECT_TRUE(device->reap().empty());
    desc(*device, id, 0, 1, true).addr -= 4;
    t.clear();
    ASSERT_TRUE(run(*device, id, 9, workers == 0));
    EXPECT_EQ(t.wrong(), 0u);
  }
}

TEST(Fault, InspectNamesWhoWaitsForWhat) {
  const auto device = make_device();
  Tensors t(2, 64);
  const LoadedId id = load_stuck(*device, t);
  ASSERT_TRUE(device->run(id, 1));
  device->pump(id);
  const auto look = device->inspect(id);
  ASSERT_TRUE(look);
  EXPECT_EQ(look->topsps, (std::vector<std::uint32_t>{0, 2}));
  ASSERT_EQ(look->queues.size(), 2u);
  EXPECT_EQ(look->queues[1].engine, 16u);
  EXPECT_EQ(look->queues[0].length, 32u);
  EXPECT_EQ(look->queues[0].m2s_head, look->queues[0].m2s_tail);
  EXPECT_GT(look->queues[0].m2s_head, 0u);
  ASSERT_EQ(look->ram.size(), 2u);
  EXPECT_EQ(look->ram[0].size(), 0x48000u);
  ASSERT_EQ(look->rings.size(), 2u);
  EXPECT_EQ(look->rings[0].size(), (16u + 14u) * 16);
  const auto stuck = std::find_if(look->waits.begin(), look->waits.end(),
                                  [](const WaitView& w) { return w.rank == 1 && w.unit == 0; });
  ASSERT_NE(stuck, look->waits.end());
  EXPECT_EQ(stuck->topsp, 2u);
  EXPECT_EQ(stuck->semaphore, 8u);  // recv_sema, the first of the range
  EXPECT_EQ(stuck->value, 0u);
  EXPECT_EQ(stuck->target, 1u);
  EXPECT_EQ(stuck->address, 0x8300000000u + 0x1000 + 4 * 8);
  device->abort(id);
  EXPECT_TRUE(device->inspect(id)->waits.empty());
  EXPECT_FALSE(device->inspect(99));
}

TEST(Fault, UnloadOfARunningProgramEndsIt) {
  const auto device = make_device();
  Tensors t(2, 64);
  const LoadedId id = load_stuck(*device, t);
  ASSERT_TRUE(device->run(id, 5));
  device->pump(id);
  device->unload(id);
  const auto done = device->reap();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status.error().code, Errc::Cancelled);
  EXPECT_FALSE(device->loaded(id));
}

TEST(Fault, MemoryThatWentAway) {
  const auto device = make_device({.workers = 1});
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const int fd = ::memfd_create("tensor", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::ftruncate(fd, static_cast<off_t>(page)), 0);
  auto* memory =
      static_cast<std::byte*>(::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  ASSERT_NE(memory, MAP_FAILED);
  Tensors t(2, 64);
  const LoadedId id = load(*device, ring_program(2), places(2), t);
  const std::vector<Binding> shared = {{2, memory, page}};
  ASSERT_TRUE(device->bind(id, shared));
  std::memcpy(memory, t.in[1].data(), 256);
  ASSERT_TRUE(run(*device, id, 1, false));
  ASSERT_EQ(::ftruncate(fd, 0), 0);
  const Status status = run(*device, id, 2, false);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Errc::MemoryFault);
  ASSERT_TRUE(device->bind(id, t.bindings()));
  t.clear();
  ASSERT_TRUE(run(*device, id, 3, false));
  EXPECT_EQ(t.wrong(), 0u);
  ::munmap(memory, page);
  ::close(fd);
}

// Aborts at any moment of a run that works; the next run always does.
TEST(Fault, AbortAtAnyMoment) {
  const auto device = make_device({.workers = 2});
  Tensors t(2, 4096);
  const LoadedId ring = load(*device, ring_program(2, {.count = 4096}), places(2), t);
  const LoadedId mesh = load(*device, mesh_program({.count = 4096}), places(2), t);
  std::size_t cancelled = 0;
  for (int i = 0; i < 400; ++i) {
    const LoadedId id = i % 3 == 0 ? mesh : ring;
    ASSERT_TRUE(device->run(id, 1));
    for (int wait = 0; wait < i * 5; ++wait) asm volatile("" ::: "memory");
    device->abort(id);
    const auto done = wait_for(*device, id, false);
    ASSERT_EQ(done.size(), 1u);
    cancelled += !done[0].status;
    if (i % 10 != 0) continue;
    t.clear();
    const Status after = run(*device, id, 2, false);
    ASSERT_TRUE(after) << i << ": " << after.error().text();
    ASSERT_EQ(t.wrong(), 0u);
  }
  EXPECT_GT(cancelled, 0u);
}

}  // namespace
}  // namespace sdmacc::test
