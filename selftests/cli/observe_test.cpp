// SPDX-License-Identifier: MIT
// status of groups whose ranks are missing, forming and at work; dump of a Program whose memory is
// laid out here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "daemon/compose/compose.hpp"
#include "daemon/emit/emit.hpp"
#include "daemon/observe/address.hpp"
#include "daemon/observe/dump.hpp"
#include "daemon/observe/queues.hpp"
#include "daemon/observe/status.hpp"
#include "libuapi/abi/enums.h"
#include "libuapi/abi/generation.h"

namespace sdmacc {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

const sdmacc_generation& cayman() {
  return *sdmacc_generation_by_arch(0x0c);
}

World world_of(std::uint32_t ranks) {
  World world;
  world.arch = &cayman();
  for (std::uint32_t r = 0; r < ranks; ++r) world.places.push_back({0, r, 2 * r});
  return world;
}

PlanRef ring_plan(std::uint32_t ranks) {
  auto plan = std::make_shared<Plan>();
  Operation operation;
  operation.count = 64;
  operation.ranks.resize(ranks);
  plan->choice.alg = Alg::Ring;
  plan->choice.slice_elements = 32;
  const World world = world_of(ranks);
  const auto schedule = compose(operation, plan->choice, world, operation.count);
  EXPECT_TRUE(schedule) << schedule.error().text();
  auto program = emit(*schedule, world);
  EXPECT_TRUE(program) << program.error().text();
  plan->whole = std::make_shared<const Program>(std::move(*program));
  return plan;
}

// Queues of a Program that has executed `head` of its descriptors, with the bytes of the Program
// itself.
Inspection inspection_of(const Program& program, std::uint32_t head) {
  Inspection out;
  std::uint32_t number = 0;
  for (const observe::ProgramQueue& q : observe::queues_of(program)) {
    out.queues.push_back(
        {q.rank * 16 + q.engine, number++ % 14, head, head + 2, head, head + 1, 64});
    std::vector<std::byte>& bytes = out.rings.emplace_back();
    for (const std::uint32_t s : {q.m2s_section, q.s2m_section}) {
      const auto* from = program.data.data() + program.sections[s].offset;
      bytes.insert(bytes.end(), from, from + program.sections[s].size);
    }
  }
  for (Rank r = 0; r < program.ranks; ++r) {
    out.topsps.push_back(2 * r);
    out.ram.emplace_back(SDMACC_RAM_USED);
  }
  return out;
}

server::SeatView seat(Rank rank, server::SeatState state, pid_t pid, std::uint64_t submitted,
                      server::Clock::time_point last = {}) {
  server::SeatView out;
  out.rank = rank;
  out.state = state;
  out.pid = pid;
  out.submitted = submitted;
  out.last_submission = last;
  return out;
}

class StatusTest : public testing::Test {
 protected:
  StatusTest() {
    using server::SeatState;
    input_.now = server::Clock::time_point{} + 1000s;
    input_.device = "embedded cayman";
    server::GroupView forming;
    forming.id = 1;
    forming.name = "forming";
    forming.seats = {seat(0, SeatState::Waiting, 10, 0), seat(1, SeatState::Missing, 0, 0)};
    server::GroupView busy;
    busy.id = 2;
    busy.name = "busy";
    busy.state = server::GroupState::Active;
    busy.generation = 1;
    busy.seats = {seat(0, SeatState::Member, 20, 1), seat(1, SeatState::Member, 21, 1)};
    server::GroupView late;
    late.id = 3;
    late.name = "late";
    late.state = server::GroupState::Active;
    late.generation = 2;
    late.seats = {seat(0, SeatState::Member, 30, 8), seat(1, SeatState::Member, 31, 8),
                  seat(2, SeatState::Member, 32, 7, input_.now - 2500ms)};
    input_.view.groups = {busy, forming, late};
    server::SessionView client;
    client.id = 5;
    client.pid = 20;
    client.name = "trainer";
    input_.view.sessions = {client};

    GroupStatus of_late;
    of_late.id = 3;
    of_late.places = world_of(3).places;
    Matcher::Waiting waiting;
    waiting.sequence = 7;
    waiting.instruction.count = 1000;
    waiting.arrived = {0, 1};
    waiting.missing = {2};
    of_late.waiting = waiting;
    of_late.since = input_.now - 1500ms;
    GroupStatus of_busy;
    of_busy.id = 2;
    of_busy.places = world_of(2).places;
    of_busy.running = RunningStatus{ring_plan(2), 1, 1, true, std::nullopt};
    of_busy.running->inspection = inspection_of(*of_busy.running->plan->whole, 4);
    of_busy.running->inspection->waits = {
        {1, 2, 0, sdmacc_soc_sem(&cayman(), 2, SDMACC_SEM_READ, 9), 9, 0, 1}};
    input_.groups = {of_busy, of_late};
  }
  StatusInput input_;
};

TEST_F(StatusTest, MissingRanksComeFirst) {
  const ordered_json json = status_json(input_);
  ASSERT_EQ(json["groups"].size(), 3u);
  EXPECT_EQ(json["groups"][0]["name"], "forming");
  EXPECT_EQ(json["groups"][0]["missing"], ordered_json::array({1}));
  EXPECT_EQ(json["groups"][1]["name"], "late");
  EXPECT_EQ(json["groups"][1]["missing"], ordered_json::array({2}));
  EXPECT_EQ(json["groups"][1]["operation"]["arrived"], ordered_json::array({0, 1}));
  EXPECT_EQ(json["groups"][1]["operation"]["waiting_ms"], 1500);
  EXPECT_EQ(json["groups"][1]["seats"][2]["last_submission_ms"], 2500);
  EXPECT_TRUE(json["groups"][2]["missing"].empty());
}

TEST_F(StatusTest, RunningShowsWaitQueueAndStep) {
  const ordered_json running = status_json(input_)["groups"][2]["running"];
  EXPECT_EQ(running["algorithm"], "ring");
  EXPECT_EQ(running["waits"][0]["semaphore"]["id"], 9);
  EXPECT_EQ(running["waits"][0]["value"], 0);
  EXPECT_EQ(running["waits"][0]["target"], 1);
  EXPECT_EQ(running["waits"][0]["unit"], "channel 0");
  EXPECT_EQ(running["queues"][0]["m2s"]["head"], 4);
  EXPECT_EQ(running["queues"][0]["m2s"]["tail"], 6);
  const Program& program = *input_.groups[0].running->plan->whole;
  const auto queue = observe::queues_of(program)[0];
  const Origin* step = observe::step_at(program, queue, 4);
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(running["queues"][0]["step"]["step"], step->step);
  EXPECT_GT(running["queues"][0]["step"]["steps"], step->step);
}

TEST_F(StatusTest, TextNamesWhoIsMissingAndWhatIsWaitedFor) {
  const auto text = status_text(status_json(input_));
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_THAT(*text, HasSubstr("MISSING: rank 1: no process has joined"));
  EXPECT_THAT(*text,
              HasSubstr("MISSING: rank 2 (pid 32): its last submission, number 7, was 2.5 s ago"));
  EXPECT_THAT(*text, HasSubstr("operation 7: ALL_REDUCE ADD FP32 1000 elements: waits 1.5 s for "
                               "rank 2; here: ranks 0, 1"));
  EXPECT_THAT(*text,
              HasSubstr("rank 1 TOP_SP 2 channel 0 waits for semaphore 9: value 0, target 1"));
  EXPECT_THAT(*text, HasSubstr("\"trainer\""));
  EXPECT_LT(text->find("MISSING: rank 2"), text->find("group \"busy\""));
}

TEST_F(StatusTest, OtherVersionsAreRefused) {
  ordered_json json = status_json(input_);
  json["version"] = 2;
  EXPECT_FALSE(status_text(json));
  EXPECT_FALSE(status_text(ordered_json::array()));
}

TEST(Address, IsDecoded) {
  const sdmacc_generation& g = cayman();
  const auto sema = observe::semaphore(g, sdmacc_soc_sem(&g, 11, SDMACC_SEM_INC, 254));
  EXPECT_EQ(sema["topsp"], 11);
  EXPECT_EQ(sema["id"], 254);
  EXPECT_EQ(sema["window"], "INC");
  EXPECT_TRUE(observe::semaphore(g, 0).is_null());
  EXPECT_FALSE(observe::semaphore(g, 0x123).contains("id"));
  EXPECT_EQ(observe::address_text(g, g.host_aperture | 0x40), "host memory +0x40");
  EXPECT_EQ(observe::address_text(g, g.hbm_base[1] + 0x1000), "HBM 1 +0x1000");
  EXPECT_EQ(
      observe::address_text(g, sdmacc_soc_bcast(&g, 5, SDMACC_S2M_OFFSET, 3, SDMACC_Q_TAIL_INC)),
      "doorbell S2M of core 5 queue 3");
  const std::uint64_t other_chip = SDMACC_CHIP_VALID | 3ull << SDMACC_CHIP_SHIFT;
  EXPECT_EQ(observe::semaphore(g, other_chip | sdmacc_soc_sem(&g, 0, SDMACC_SEM_READ, 8))["id"], 8);
  EXPECT_EQ(observe::address_text(g, SDMACC_NEIGHBOUR_ROUTE), "");
}

template <typename T>
void put(std::vector<std::byte>& ram, std::uint64_t offset, const T& value) {
  std::memcpy(ram.data() + offset, &value, sizeof value);
}

class DumpTest : public testing::Test {
 protected:
  const PlanRef plan_ = ring_plan(2);
  const Program& program_ = *plan_->whole;
  Inspection inspection_ = inspection_of(program_, 0);
  std::vector<std::byte>& ram() { return inspection_.ram[1]; }
  ordered_json dumped() { return dump_json(program_, inspection_, cayman())["ranks"][1]; }
  std::uint64_t read(std::uint32_t sp, std::uint32_t id) {
    return sdmacc_soc_sem(&cayman(), sp, SDMACC_SEM_READ, id);
  }
};

TEST_F(DumpTest, RingChannelWithTheSpecsNames) {
  sdmacc_ring_channel channel{};
  channel.recv_sema = sdmacc_u64_make(read(2, 8));
  channel.send_sema = sdmacc_u64_make(read(2, 9));
  channel.post_sema = sdmacc_u64_make(read(0, 9));
  channel.dma_compl = sdmacc_u64_make(read(2, 10));
  channel.apb.mask = sdmacc_bcast_mask(0x3, 0);
  channel.spad_slot_idx = 3;
  channel.kangaring_is_primary = 1;
  put(ram(), SDMACC_RAM_ALGO_CONFIGS + 3 * sizeof channel, channel);
  const ordered_json ring = dumped()["algo_configs"]["ring"];
  ASSERT_EQ(ring.size(), 1u);
  EXPECT_EQ(ring[0]["channel"], 3);
  EXPECT_EQ(ring[0]["spad_slot_idx"], 3);
  EXPECT_EQ(ring[0]["kangaring_is_primary"], 1);
  EXPECT_EQ(ring[0]["recv_sema"]["topsp"], 2);
  EXPECT_EQ(ring[0]["recv_sema"]["id"], 8);
  EXPECT_EQ(ring[0]["post_sema"]["topsp"], 0);
  EXPECT_EQ(ring[0]["post_sema"]["address"], observe::hex(read(0, 9)));
  EXPECT_EQ(ring[0]["dma_compl"]["id"], 10);
  EXPECT_EQ(ring[0]["dma_apb_bcast"]["engines"], "0x0003");
}

TEST_F(DumpTest, MeshEventHierarchyAndContexts) {
  sdmacc_mesh_event event{};
  event.event_type = SDMACC_MESH_EV_REDUCE_COPY;
  event.wait_event = 1;
  event.wait_val = 5;
  event.event_wait_sema = sdmacc_u64_make(read(4, 20));
  put(ram(), SDMACC_RAM_ALGO_CONFIGS + SDMACC_ALGO_MESH_OFFSET + 2 * sizeof event, event);
  put(ram(), SDMACC_RAM_ALGO_CONFIGS + cayman().algo_hier_offset, std::uint64_t{0x1234abcd});
  const std::uint64_t ctx = SDMACC_RAM_DRAM_IMAGE + cayman().dram_algo_ctx;
  sdmacc_ring_ctx ring{};
  ring.recv_cnt = 4;
  ring.run_state = SDMACC_RING_WAIT_CREDIT;
  put(ram(), ctx + SDMACC_CTX_RING + sizeof ring, ring);
  put(ram(), ctx + SDMACC_CTX_HIER, std::uint8_t{2});
  put(ram(), ctx + SDMACC_CTX_MESH, std::uint16_t{7});
  const ordered_json json = dumped();
  const ordered_json& mesh = json["algo_configs"]["mesh"];
  ASSERT_EQ(mesh.size(), 1u);
  EXPECT_EQ(mesh[0]["event"], 2);
  EXPECT_EQ(mesh[0]["event_type_name"], "REDUCE_COPY");
  EXPECT_EQ(mesh[0]["wait_val"], 5);
  EXPECT_EQ(mesh[0]["event_wait_sema"]["id"], 20);
  EXPECT_EQ(json["algo_configs"]["hierarchical"]["__stub"], "0x000000001234ABCD");
  EXPECT_EQ(json["algo_ctx"]["ring"][0]["channel"], 1);
  EXPECT_EQ(json["algo_ctx"]["ring"][0]["recv_cnt"], 4);
  EXPECT_EQ(json["algo_ctx"]["ring"][0]["run_state_name"], "WAIT_CREDIT");
  EXPECT_EQ(json["algo_ctx"]["hierarchical"]["run_state"], 2);
  EXPECT_EQ(json["algo_ctx"]["mesh"]["event_index"], 7);
}

TEST_F(DumpTest, ScratchpadsAndConfigs) {
  const sdmacc_ctrl_entry entry{
      SDMACC_CTRL_CC_OP, sdmacc_ctrl_algo(SDMACC_ALG_MESH, 2, 1), SDMACC_CTRL_REPORTER, 0, {}};
  sdmacc_ctrl_entry mesh = entry;
  mesh.u.mesh = {12, 0xfff};
  put(ram(), SDMACC_RAM_CTRL + 8, mesh);
  const std::uint64_t words[] = {sdmacc_slot_word(5, 3, 2), 4, SDMACC_SLOT_CONTINUE, 2048};
  put(ram(), SDMACC_RAM_SLOT + 1024, words);
  put(ram(), SDMACC_RAM_SLOT, sdmacc_soc_sem(&cayman(), 2, SDMACC_SEM_INC, 11));
  sdmacc_neff_configs neff{};
  neff.op_num = 2;
  neff.flags = SDMACC_NEFF_LEADER;
  neff.trigger_next = read(4, SDMACC_SEM_TRIGGER);
  put(ram(), SDMACC_RAM_NEFF_CONFIGS, neff);
  const ordered_json json = dumped();
  ASSERT_EQ(json["spad_ctrl"].size(), 1u);
  EXPECT_EQ(json["spad_ctrl"][0]["entry"], 1);
  EXPECT_EQ(json["spad_ctrl"][0]["algo_type_name"], "MESH");
  EXPECT_EQ(json["spad_ctrl"][0]["algo_sub_type"], 2);
  EXPECT_EQ(json["spad_ctrl"][0]["trigger_next"], true);
  EXPECT_EQ(json["spad_ctrl"][0]["sema_shift_offset"], 12);
  EXPECT_EQ(json["spad_ctrl"][0]["sema_mask"], 0xfff);
  ASSERT_EQ(json["slot"].size(), 2u);
  EXPECT_EQ(json["slot"][0]["words"][0]["kind"], "END");
  EXPECT_EQ(json["slot"][0]["words"][0]["completion"]["id"], 11);
  const ordered_json& list = json["slot"][1];
  EXPECT_EQ(list["spad_slot_idx"], 1);
  ASSERT_EQ(list["words"].size(), 3u);
  EXPECT_EQ(list["words"][0]["m2s"], 5);
  EXPECT_EQ(list["words"][0]["times"], 2);
  EXPECT_EQ(list["words"][1]["kind"], "WAIT");
  EXPECT_EQ(list["words"][2]["offset"], 2048);
  EXPECT_EQ(json["neff_configs"]["op_num"], 2);
  EXPECT_EQ(json["neff_configs"]["leader"], true);
  EXPECT_EQ(json["neff_configs"]["trigger_next"]["topsp"], 4);
}

TEST_F(DumpTest, ProgressAndItsWaits) {
  sdmacc_ncfw_progress progress{};
  progress.magic = SDMACC_NCFW_PROGRESS_MAGIC;
  progress.state = SDMACC_NCFW_IDLE;
  progress.runs = 3;
  progress.wait[SDMACC_NCFW_WAITS - 1] = {read(2, SDMACC_SEM_TRIGGER), 1, 0};
  put(ram(), SDMACC_RAM_DRAM_IMAGE + cayman().dram_progress, progress);
  inspection_.waits = {{1, 2, SDMACC_NCFW_WAITS - 1, read(2, SDMACC_SEM_TRIGGER), 0, 0, 1}};
  const ordered_json ncfw = dumped()["ncfw"];
  EXPECT_EQ(ncfw["state_name"], "IDLE");
  EXPECT_EQ(ncfw["runs"], 3);
  ASSERT_EQ(ncfw["waits"].size(), 1u);
  EXPECT_EQ(ncfw["waits"][0]["unit"], "sequencer");
  EXPECT_EQ(ncfw["waits"][0]["semaphore"]["topsp"], 2);
  EXPECT_EQ(ncfw["waits"][0]["value"], 0);
  EXPECT_EQ(ncfw["waits"][0]["target"], 1);
}

TEST_F(DumpTest, DescriptorsComeFromTheDevice) {
  const ordered_json before = dumped()["rings"];
  ASSERT_FALSE(before.empty());
  const ordered_json& m2s = before[0]["m2s"];
  ASSERT_FALSE(m2s["descriptors"].empty());
  EXPECT_EQ(m2s["count"], m2s["descriptors"].size());
  bool reduces = false, names = false;
  for (const ordered_json& d : m2s["descriptors"]) {
    reduces =
        reduces || (d.value("class", "") == "CCE" && d.value("accumulate_dtype", "") == "FP32R");
    names = names || d.value("object", "").starts_with("IN of rank ");
  }
  EXPECT_TRUE(reduces);
  EXPECT_TRUE(names);
  // Another length in the device's memory is what the dump shows.
  std::size_t i = 0;
  while (observe::queues_of(program_)[i].rank != 1) ++i;
  sdmacc_desc changed;
  std::memcpy(&changed, inspection_.rings[i].data(), sizeof changed);
  changed.len_ctrl ^= SDMACC_LEN_LAST;
  put(inspection_.rings[i], 0, changed);
  EXPECT_NE(dumped()["rings"][0]["m2s"]["descriptors"][0], m2s["descriptors"][0]);
}

TEST_F(DumpTest, LongRingsAreShownRoundTheirHead) {
  inspection_.queues[0].m2s_head = 6;
  DumpOptions options;
  options.descriptors = 4 * 2 * observe::queues_of(program_).size();
  const ordered_json m2s =
      dump_json(program_, inspection_, cayman(), options)["ranks"][0]["rings"][0]["m2s"];
  ASSERT_EQ(m2s["descriptors"].size(), 4u);
  EXPECT_EQ(m2s["descriptors"][0]["index"], 5);
  EXPECT_GT(m2s["count"], 4);
}

}  // namespace
}  // namespace sdmacc
