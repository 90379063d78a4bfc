// SPDX-License-Identifier: MIT
// The mesh handler: tapes that run once an entry over a list that runs on, in every order of
// events, run after run.
#include <gtest/gtest.h>

#include "selftests/ncfw/support.hpp"

namespace sdmacc::ncfw {
namespace {

std::string run_three_times(const Mesh& mesh, const Options& options = {},
                            const sdmacc_generation& arch = cayman()) {
  World world(arch, mesh.ranks, options);
  return run_times(world, mesh, 3);
}

TEST(Mesh, EndsCleanInEveryOrder) {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 4u})
    for (const std::uint32_t slices : {1u, 3u})
      for (const std::uint32_t broadcasts : {1u, 2u})
        for (const Options& order : orders()) {
          Mesh mesh;
          mesh.ranks = ranks;
          mesh.slices = slices;
          mesh.broadcasts = broadcasts;
          EXPECT_EQ(run_three_times(mesh, order), "") << ranks << " ranks, " << slices << " slices";
        }
}

TEST(Mesh, ShiftsRepeatsAndWindows) {
  for (const std::uint32_t shift : {0u, 8u, 16u})
    for (const bool repeat : {false, true})
      for (const std::uint32_t window_words : {1u, 3u, 126u})
        for (const bool ends : {false, true}) {
          Mesh mesh;
          mesh.slices = 200;
          mesh.shift = shift;
          mesh.mask = 0xff;
          mesh.repeat = repeat;
          mesh.window_words = window_words;
          mesh.ends = ends;
          EXPECT_EQ(run_three_times(mesh), "")
              << shift << " " << repeat << " " << window_words << " " << ends;
        }
}

TEST(Mesh, FiveHundredAndTwelveEntriesOnEveryGeneration) {
  for (std::uint32_t i = 0; i < SDMACC_GENERATIONS; ++i) {
    Mesh mesh;
    mesh.slices = SDMACC_CTRL_ENTRIES;
    EXPECT_EQ(run_three_times(mesh, {}, *sdmacc_generation_at(i)), "")
        << sdmacc_generation_at(i)->name;
  }
}

TEST(Mesh, WithoutASpanOfTheRam) {
  Mesh mesh;
  mesh.slices = 5;
  mesh.window_words = 2;
  Options options;
  options.own_span = false;
  EXPECT_EQ(run_three_times(mesh, options), "");
}

// A tape as long as the generation's region, whose last event is SYNC.
TEST(Mesh, LongestTape) {
  World world(cayman(), 1);
  world.boot();
  Mesh mesh;
  mesh.ranks = 1;
  Program program = mesh.program(world, 0);
  program.lists.clear();
  program.events.assign(cayman().mesh_events, {});
  for (auto& event : program.events) event.event_type = SDMACC_MESH_EV_LOCAL_HNDSHK;
  program.events.back().event_type = SDMACC_MESH_EV_SYNC;
  place(world, 0, program);
  world.trigger(0);
  world.run();
  EXPECT_EQ(trouble(world, 1), "");
}

// S2M before M2S for each broadcast, then the direct triggers; a word for each broadcast, taken in
// order.
TEST(Mesh, ExactOrderOfStores) {
  Mesh mesh;
  mesh.broadcasts = 2;
  mesh.shift = 4;
  mesh.mask = 0xff;
  World world(cayman(), 2);
  ASSERT_EQ(run_times(world, mesh, 1), "");
  const std::uint64_t a = Ring::page(world, 1, 0), b = Ring::page(world, 1, 1),
                      s2m = SDMACC_S2M_OFFSET;
  const auto store = [](std::uint64_t address, std::uint64_t value) {
    return Action{Action::Kind::Store, address, value};
  };
  const std::vector<Action> expected = {
      store(a + 0xf0, 0xfffc0100),
      store(a + s2m + 0x64, 0x100),
      store(a + 0xb0, 0x100),
      store(b + 0xf0, 0xfffc0100),
      store(b + s2m + 0x64, 0x100),
      store(b + 0xb0, 0x100),
      {Action::Kind::Signal, world.sem(0, 20), 1 << 4},
      store(a + s2m + 0x38, 5),
      store(a + 0x38, 4),
      store(b + s2m + 0x38, 6),
      store(b + 0x38, 5),
      {Action::Kind::Signal, world.sem(1, kLocalDone), 1},
      {Action::Kind::Status, 0, 1},
  };
  EXPECT_EQ(world.topsps[1].trace, expected);
}

}  // namespace
}  // namespace sdmacc::ncfw
