// SPDX-License-Identifier: MIT
// Makes the JSON of a StatusInput. Its text is in status_text.cpp. Tested by
// selftests/cli/observe_test.cpp.
#include "daemon/observe/status.hpp"

#include <algorithm>

#include "daemon/observe/address.hpp"
#include "daemon/observe/queues.hpp"
#include "daemon/select/choice.hpp"
#include "libuapi/abi/ncfw.h"
#include "libuapi/abi/udma.h"

namespace sdmacc {
namespace {

using nlohmann::ordered_json;
using server::Clock;

std::int64_t milliseconds(Clock::duration d) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
}

// Names of the server's states, which the server itself prints in error texts only.
const char* text(server::GroupState state) {
  switch (state) {
    case server::GroupState::Forming:
      return "forming";
    case server::GroupState::Active:
      return "active";
    case server::GroupState::Revoked:
      return "revoked";
  }
  return "unknown";
}
const char* text(server::SeatState state) {
  switch (state) {
    case server::SeatState::Missing:
      return "missing";
    case server::SeatState::Waiting:
      return "waiting";
    case server::SeatState::Member:
      return "member";
  }
  return "unknown";
}

const Program* program_of(const RunningStatus& running) {
  if (!running.plan) return nullptr;
  const bool last = running.window == running.windows && running.plan->rest;
  return last ? running.plan->rest.get() : running.plan->whole.get();
}

std::string algorithm_of(const Choice& choice) {
  Candidate chosen;
  chosen.alg = choice.alg;
  chosen.mesh = choice.mesh;
  chosen.sub_type = choice.sub_type;
  chosen.secondaries = choice.secondaries;
  return algorithm_id(chosen);
}

// A ring channel has a wait of its own; the last one is the dispatcher's, and the mesh handler's.
std::string unit_text(std::uint32_t unit) {
  return unit + 1 == SDMACC_NCFW_WAITS ? "sequencer" : fmt::format("channel {}", unit);
}

ordered_json wait_json(const WaitView& wait) {
  return {{"rank", wait.rank},
          {"topsp", wait.topsp},
          {"unit", unit_text(wait.unit)},
          {"semaphore", {{"id", wait.semaphore}, {"address", observe::hex(wait.address)}}},
          {"value", wait.value},
          {"target", wait.target}};
}

ordered_json queue_json(const QueueView& q) {
  const auto side = [](std::uint32_t head, std::uint32_t tail) {
    return ordered_json{{"head", head & SDMACC_Q_INDEX_MASK}, {"tail", tail & SDMACC_Q_INDEX_MASK}};
  };
  return {{"engine", q.engine},
          {"queue", q.queue},
          {"m2s", side(q.m2s_head, q.m2s_tail)},
          {"s2m", side(q.s2m_head, q.s2m_tail)},
          {"length", q.length}};
}

// The step of the next descriptor, or the last step when the queue has executed all.
void add_step(ordered_json& queue, const Program& program, const observe::ProgramQueue& of,
              const QueueView& q) {
  queue["rank"] = of.rank;
  queue["channel"] = of.group;
  const std::uint32_t head = q.m2s_head & SDMACC_Q_INDEX_MASK;
  const Origin* step = observe::step_at(program, of, head);
  if (step == nullptr) return;
  queue["step"] = {
      {"step", step->step}, {"steps", observe::steps_of(program, of)}, {"slice", step->slice}};
}

ordered_json running_json(const RunningStatus& running) {
  ordered_json out;
  if (running.plan) out["algorithm"] = algorithm_of(running.plan->choice);
  const Program* program = program_of(running);
  if (program != nullptr) out["program"] = program->title;
  out["active"] = running.active;
  out["window"] = running.window;
  out["windows"] = running.windows;
  if (!running.inspection) return out;
  out["waits"] = ordered_json::array();
  for (const WaitView& wait : running.inspection->waits) out["waits"].push_back(wait_json(wait));
  out["queues"] = ordered_json::array();
  const auto queues =
      program != nullptr ? observe::queues_of(*program) : std::vector<observe::ProgramQueue>{};
  for (std::size_t i = 0; i < running.inspection->queues.size(); ++i) {
    const QueueView& view = running.inspection->queues[i];
    ordered_json queue = queue_json(view);
    if (i < queues.size()) add_step(queue, *program, queues[i], view);
    out["queues"].push_back(std::move(queue));
  }
  return out;
}

ordered_json seat_json(const server::SeatView& seat, const Place* place, Clock::time_point now) {
  ordered_json out{{"rank", seat.rank}, {"state", text(seat.state)}};
  if (seat.state != server::SeatState::Missing) {
    out["pid"] = seat.pid;
    out["client"] = seat.session;
    out["submitted"] = seat.submitted;
    out["in_flight"] = seat.in_flight;
    if (seat.last_submission != Clock::time_point{})
      out["last_submission_ms"] = milliseconds(now - seat.last_submission);
  }
  if (place != nullptr) {
    out["device"] = place->device;
    out["core"] = place->core;
    out["topsp"] = place->topsp;
  }
  return out;
}

ordered_json operation_json(const Matcher::Waiting& waiting) {
  const Instruction& i = waiting.instruction;
  return {{"sequence", waiting.sequence},
          {"collective", name(i.collective)},
          {"op", name(i.op)},
          {"dtype", name(i.dtype)},
          {"count", i.count},
          {"arrived", waiting.arrived},
          {"missing", waiting.missing}};
}

std::vector<Rank> missing_ranks(const server::GroupView& view, const GroupStatus* status) {
  std::vector<Rank> missing;
  for (const server::SeatView& seat : view.seats)
    if (seat.state == server::SeatState::Missing) missing.push_back(seat.rank);
  if (missing.empty() && status != nullptr && status->waiting) missing = status->waiting->missing;
  return missing;
}

ordered_json group_json(const server::GroupView& view, const GroupStatus* status,
                        Clock::time_point now) {
  ordered_json out{{"name", view.name},
                   {"id", view.id},
                   {"missing", missing_ranks(view, status)},
                   {"state", text(view.state)},
                   {"generation", view.generation},
                   {"ranks", view.seats.size()}};
  if (!view.cause.empty()) out["cause"] = view.cause;
  if (status != nullptr && status->waiting) {
    out["operation"] = operation_json(*status->waiting);
    if (status->since) out["operation"]["waiting_ms"] = milliseconds(now - *status->since);
  }
  if (status != nullptr) {
    out["lowering"] = status->lowering;
    out["queued"] = status->queued;
    if (status->running) out["running"] = running_json(*status->running);
  }
  out["seats"] = ordered_json::array();
  for (const server::SeatView& seat : view.seats) {
    const bool placed = status != nullptr && seat.rank < status->places.size();
    out["seats"].push_back(seat_json(seat, placed ? &status->places[seat.rank] : nullptr, now));
  }
  return out;
}

ordered_json client_json(const server::SessionView& s) {
  return {{"id", s.id},           {"name", s.name},           {"pid", s.pid},
          {"uid", s.uid},         {"connected", s.connected}, {"groups", s.groups},
          {"tensors", s.tensors}, {"in_flight", s.in_flight}, {"mapped_bytes", s.mapped_bytes}};
}

}  // namespace

ordered_json status_json(const StatusInput& input) {
  ordered_json out{{"version", kStatusVersion},
                   {"device", input.device},
                   {"mapped_bytes", input.view.mapped_bytes},
                   {"groups", ordered_json::array()},
                   {"clients", ordered_json::array()}};
  std::vector<ordered_json> groups;
  for (const server::GroupView& view : input.view.groups) {
    const auto found = std::find_if(input.groups.begin(), input.groups.end(),
                                    [&](const GroupStatus& g) { return g.id == view.id; });
    groups.push_back(group_json(view, found != input.groups.end() ? &*found : nullptr, input.now));
  }
  std::stable_sort(groups.begin(), groups.end(), [](const ordered_json& a, const ordered_json& b) {
    return !a["missing"].empty() && b["missing"].empty();
  });
  for (ordered_json& group : groups) out["groups"].push_back(std::move(group));
  for (const server::SessionView& s : input.view.sessions) out["clients"].push_back(client_json(s));
  return out;
}

}  // namespace sdmacc
