// SPDX-License-Identifier: MIT
// Implements verify.hpp: form first, then one run, then the signals' balance, then runs back to
// back in other orders.
#include "daemon/compose/verify.hpp"

#include <fmt/format.h>

#include "daemon/compose/verify/replay.hpp"

namespace sdmacc {
namespace {

using verifying::Order;

// With more lanes the clocks would cost more than they find; different orders must then come to the
// same sums.
constexpr std::size_t kClockLanes = 256;

// After a whole run a signal is at posts − waits: all steps have run once.
std::optional<Fault> find_residue(const Schedule& s) {
  std::vector<std::uint64_t> posted(s.signals.size()), waited(s.signals.size());
  for (const Lane& lane : s.lanes)
    for (const Step& step : lane.steps) {
      for (const Post& post : step.posts) posted[post.signal] += post.count;
      for (const Wait& wait : step.waits) waited[wait.signal] += wait.count;
    }
  for (std::uint32_t i = 0; i < s.signals.size(); ++i)
    if (posted[i] != waited[i])
      return Fault{FaultKind::Residue, s.signals[i].owner, s.signals[i].channel, kNoIndex,
                   fmt::format("{} ends at {}: posted {} times, waited for {} times",
                               signal_name(s, i), posted[i] - waited[i], posted[i], waited[i])};
  return std::nullopt;
}

}  // namespace

std::string_view name(FaultKind kind) {
  switch (kind) {
    case FaultKind::WrongResult:
      return "wrong result";
    case FaultKind::Deadlock:
      return "deadlock";
    case FaultKind::Race:
      return "race";
    case FaultKind::Residue:
      return "residue";
    case FaultKind::Malformed:
      return "malformed";
    case FaultKind::UnwrittenRead:
      return "unwritten read";
  }
  return "?";
}

std::optional<Fault> find_fault(const Schedule& schedule, const VerifyOptions& options) {
  if (auto fault = verifying::find_malformed(schedule, options.in_place)) return fault;
  verifying::Geometry geometry;
  if (auto fault = verifying::compile(schedule, options.in_place, geometry)) return fault;
  const verifying::Tokens tokens(schedule);
  const bool clocks = schedule.lanes.size() <= kClockLanes;
  if (auto fault = verifying::replay(geometry, tokens, {Order::Forward, 1, clocks})) return fault;
  if (auto fault = find_residue(schedule)) return fault;
  const std::uint32_t runs = options.runs;
  for (const Order order : {Order::Reverse, Order::Random})
    if (auto fault = verifying::replay(geometry, tokens, {order, runs, clocks})) return fault;
  return std::nullopt;
}

Result<void> verify(const Schedule& schedule, const VerifyOptions& options) {
  const auto fault = find_fault(schedule, options);
  if (!fault) return {};
  return fail(Errc::Internal, Stage::Compose, fault->step, "{} schedule, {}: {}: {}",
              name(schedule.alg), options.in_place ? "in place" : "out of place", name(fault->kind),
              fault->text);
}

}  // namespace sdmacc
