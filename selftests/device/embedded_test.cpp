// SPDX-License-Identifier: MIT
// The embedded device with hand-made Programs: results, repetition, several at once, room, and what
// it refuses.
#include <gtest/gtest.h>

#include "selftests/device/support.hpp"

namespace sdmacc::test {
namespace {

struct Kind {
  const char* name;
  std::uint32_t ranks;
  Program (*make)(const Shape&);
};
const Kind kKinds[] = {{"ring of 1", 1, [](const Shape& s) { return ring_program(1, s); }},
                       {"ring of 2", 2, [](const Shape& s) { return ring_program(2, s); }},
                       {"mesh", 2, [](const Shape& s) { return mesh_program(s); }},
                       {"kangaring", 2, [](const Shape& s) { return kangaring_program(s); }}};

TEST(Embedded, SumsAndCanRunAgain) {
  for (const unsigned workers : {0u, 1u, 2u})
    for (const Kind& kind : kKinds)
      for (const bool fma : {false, true})
        for (const std::uint32_t engines : {1u, 2u}) {
          SCOPED_TRACE(testing::Message() << workers << " workers, " << kind.name << ", fma " << fma
                                          << ", " << engines << " engines");
          const auto device = make_device({.workers = workers});
          const Shape shape{.engines = engines,
                            .short_windows = engines == 2,
                            .completions = engines,
                            .fma = fma};
          Tensors tensors(kind.ranks, shape.count);
          const LoadedId id = load(*device, kind.make(shape), places(kind.ranks), tensors);
          for (Ticket ticket = 1; ticket <= 5; ++ticket) {
            tensors.clear();
            const Status status = run(*device, id, ticket, workers == 0);
            ASSERT_TRUE(status) << status.error().text();
            ASSERT_EQ(tensors.wrong(fma), 0u);
          }
        }
}

TEST(Embedded, RunsOnEveryGeneration) {
  for (const std::uint32_t arch : {0x05u, 0x0cu, 0x14u, 0x1cu}) {
    const auto device = make_device({.arch = sdmacc_generation_by_arch(arch), .workers = 0});
    const std::uint32_t ranks = arch == 0x05 ? 1 : 2;
    Tensors tensors(ranks, 64);
    const LoadedId id =
        load(*device, ring_program(ranks, {.arch_id = arch}), places(ranks), tensors);
    const Status status = run(*device, id);
    ASSERT_TRUE(status) << status.error().text();
    EXPECT_EQ(tensors.wrong(), 0u);
  }
}

TEST(Embedded, OtherTensorsNeedOnlyABind) {
  const auto device = make_device();
  Tensors a(2, 64), b(2, 64);
  const LoadedId id = load(*device, ring_program(2), places(2), a);
  ASSERT_TRUE(run(*device, id));
  b.in[0][5] = 4096;
  ASSERT_TRUE(device->bind(id, b.bindings()));
  ASSERT_TRUE(run(*device, id));
  EXPECT_EQ(a.wrong() + b.wrong(), 0u);
}

TEST(Embedded, InPlace) {
  const auto device = make_device();
  Tensors t(2, 64);
  const LoadedId id = load(*device, mesh_program(), places(2), t);
  std::vector<Binding> same = t.bindings();
  same[0].address = same[1].address;
  same[2].address = same[3].address;
  t.out = t.in;
  ASSERT_TRUE(device->bind(id, same));
  ASSERT_TRUE(run(*device, id));
  EXPECT_EQ(t.wrong(), 0u);
}

// Two Programs on the same TOP_SPs take turns; each finds its own image.
TEST(Embedded, ProgramsShareTopSps) {
  const auto device = make_device();
  Tensors t(2, 64);
  const LoadedId ring = load(*device, ring_program(2), places(2), t);
  const LoadedId mesh = load(*device, mesh_program(), places(2), t);
  for (int i = 0; i < 3; ++i)
    for (const LoadedId id : {ring, mesh, mesh}) {
      t.clear();
      ASSERT_TRUE(run(*device, id));
      ASSERT_EQ(t.wrong(), 0u);
    }
  ASSERT_TRUE(device->run(ring, 9));
  const Status busy = device->run(mesh, 10);
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, Errc::Busy);
  EXPECT_EQ(busy.error().context, "program 2: TOP_SP 0 runs program 1");
  EXPECT_EQ(device->bind(ring, t.bindings()).error().code, Errc::Busy);
  EXPECT_EQ(wait_for(*device, ring, true).size(), 1u);
}

TEST(Embedded, ProgramsOnOtherTopSpsRunTogether) {
  const auto device = make_device({.workers = 2});
  std::vector<Tensors> tensors(4, Tensors(2, 4096));
  std::vector<LoadedId> ids;
  const Shape shape{.count = 4096};
  for (std::uint32_t i = 0; i < 4; ++i)
    ids.push_back(load(*device, i % 2 == 0 ? ring_program(2, shape) : mesh_program(shape),
                       places(2, 2 * i), tensors[i]));
  for (Ticket round = 0; round < 50; ++round) {
    for (Tensors& t : tensors) t.clear();
    for (const LoadedId id : ids) ASSERT_TRUE(device->run(id, round));
    std::size_t done = 0;
    while (done < ids.size()) {
      const auto some = wait_for(*device, 0, false);
      ASSERT_FALSE(some.empty());
      for (const Completion& c : some) ASSERT_TRUE(c.status) << c.status.error().text();
      done += some.size();
    }
    for (const Tensors& t : tensors) ASSERT_EQ(t.wrong(), 0u);
  }
}

// With workers beside it pump() helps and returns.
TEST(Embedded, PumpBesideWorkers) {
  const auto device = make_device({.workers = 2});
  Tensors t(2, 64);
  const LoadedId id = load(*device, ring_program(2), places(2), t);
  for (Ticket i = 0; i < 200; ++i) {
    t.clear();
    ASSERT_TRUE(device->run(id, i));
    device->pump(id);
    ASSERT_EQ(wait_for(*device, id, false).size(), 1u);
    ASSERT_EQ(t.wrong(), 0u);
  }
}

TEST(Embedded, MakesRoomByUnloadingTheLeastRecentlyUsed) {
  const auto device = make_device();
  Tensors t(1, 64);
  std::vector<LoadedId> ids;
  for (int i = 0; i < 14; ++i) ids.push_back(load(*device, ring_program(1), places(1), t));
  ASSERT_TRUE(run(*device, ids[0]));  // so ids[1] is the oldest
  const LoadedId more = load(*device, ring_program(1), places(1), t);
  EXPECT_TRUE(device->loaded(ids[0]));
  EXPECT_FALSE(device->loaded(ids[1]));
  EXPECT_TRUE(device->loaded(ids[2]));
  ASSERT_TRUE(run(*device, more));
  EXPECT_EQ(t.wrong(), 0u);
  EXPECT_EQ(device->run(ids[1], 1).error().code, Errc::NotFound);
}

TEST(Embedded, DoesNotUnloadWhatRunsOrWouldNotHelp) {
  const auto device = make_device();
  Tensors t(1, 64);
  const LoadedId elsewhere = load(*device, ring_program(1), places(1, 3), t);
  std::vector<LoadedId> ids;
  for (int i = 0; i < 14; ++i)
    ids.push_back(load(*device, ring_program(1), {{0, 0, static_cast<std::uint32_t>(i)}}, t));
  for (const LoadedId id : ids) ASSERT_TRUE(device->run(id, id));
  const auto refused = device->load(ring_program(1), places(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::NoSpace);
  EXPECT_NE(refused.error().context.find(
                "queue numbers of core 0: 1 asked, 0 of 14 free; held by program 2 (1)"),
            std::string::npos)
      << refused.error().context;
  EXPECT_TRUE(device->loaded(elsewhere));
  std::size_t done = 0;
  for (const LoadedId id : ids) device->pump(id);
  done += device->reap().size();
  EXPECT_EQ(done, 14u);
  EXPECT_TRUE(device->load(ring_program(1), places(1)));
}

TEST(Embedded, GivesEverythingBack) {
  const auto device = make_device();
  Tensors t(2, 64);
  for (int i = 0; i < 500; ++i) {
    const LoadedId id = load(*device, i % 2 == 0 ? ring_program(2) : mesh_program(), places(2), t);
    if (i % 50 == 0) {
      t.clear();
      ASSERT_TRUE(run(*device, id));
      ASSERT_EQ(t.wrong(), 0u);
    }
    device->unload(id);
    EXPECT_FALSE(device->loaded(id));
  }
}

TEST(Embedded, RefusesWithTheReason) {
  const auto device = make_device();
  Program broken = ring_program(2);
  broken.data[broken.sections[8].offset + 3] ^= std::byte{1};  // ring id
  EXPECT_EQ(
      device->load(broken, places(2)).error().text(),
      "load: section 8: byte 0: descriptor's ring id is not 1 (0xc000040, RING_ID) (invalid)");
  broken = ring_program(2);
  broken.sections[3].kind = 9;
  EXPECT_EQ(device->load(broken, places(2)).error().text(),
            "load: byte 104 of the image: unknown section kind (0x9, SECTION_KIND) (invalid)");
  EXPECT_EQ(device->load(ring_program(2), places(1)).error().context,
            "1 places for a program of 2 ranks");
  EXPECT_EQ(device->load(ring_program(2), std::vector<Place>{{0, 0, 0}, {0, 8, 1}}).error().context,
            "rank 1 on device 0 core 8 TOP_SP 1: there is one device of 8 cores and 16 TOP_SPs");
  EXPECT_EQ(device->load(ring_program(2), std::vector<Place>{{0, 0, 3}, {0, 1, 3}}).error().context,
            "ranks 0 and 1 are both on TOP_SP 3");

  Tensors t(2, 64);
  const auto id = device->load(ring_program(2), places(2));
  ASSERT_TRUE(id);
  EXPECT_EQ(device->run(*id, 1).error().context, "program 1: rank 0 IN has no tensor");
  auto bindings = t.bindings();
  bindings[3].bytes = 255;
  EXPECT_EQ(device->bind(*id, bindings).error().context,
            "rank 1 OUT: tensor of 255 bytes, the program needs 256");
  bindings[3].slot = 4;
  EXPECT_EQ(device->bind(*id, bindings).error().context, "program 1 has no slot 4");
  EXPECT_EQ(device->bind(77, {}).error().code, Errc::NotFound);
  EXPECT_EQ(make_embedded_device({.hbm_bytes = 4097}).error().code, Errc::Range);
}

TEST(Embedded, CountsWhatMoves) {
  const auto device = make_device();
  Tensors t(2, 64);
  const LoadedId id = load(*device, ring_program(2), places(2), t);
  for (int runs = 1; runs <= 3; ++runs) {
    ASSERT_TRUE(run(*device, id));
    const auto counters = device->counters(id);
    ASSERT_EQ(counters.size(), 2u);
    for (const RankCounters& c : counters) {
      EXPECT_EQ(c.descriptors, static_cast<std::uint64_t>(runs) * (16 + 14));
      EXPECT_EQ(c.packets, static_cast<std::uint64_t>(runs) * 12);
      EXPECT_EQ(c.read_bytes,
                static_cast<std::uint64_t>(runs) * 64 * 6);  // 2 copies, 2 sums of two
      EXPECT_EQ(c.written_bytes,
                static_cast<std::uint64_t>(runs) * 64 * 6);  // 2 copies, 2 sums to two
      EXPECT_EQ(c.semaphore_writes, static_cast<std::uint64_t>(runs) * 8);
    }
  }
  EXPECT_TRUE(device->counters(99).empty());
}

TEST(Embedded, DescribesItself) {
  EXPECT_EQ(make_device()->describe(),
            "embedded cayman (Trn2): 8 cores, 16 TOP_SPs, HBM 4 x 256 MiB, 0 workers");
}

}  // namespace
}  // namespace sdmacc::test
