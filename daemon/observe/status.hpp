// SPDX-License-Identifier: MIT
// status: what the daemon is doing, for people who wait for it. The pipeline fills a StatusInput,
// status_json() makes the machine's form of it and status_text() the person's: who is missing comes
// first. Pure functions; no sockets.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "daemon/device/device.hpp"
#include "daemon/device/plan.hpp"
#include "daemon/match/match.hpp"
#include "daemon/server/view.hpp"
#include "daemon/world/world.hpp"

namespace sdmacc {

// Of the JSON; a reader refuses any other.
inline constexpr int kStatusVersion = 1;

// A group's Program on the device.
struct RunningStatus {
  PlanRef plan;
  std::uint64_t window = 0, windows = 0;  // the window that runs, counted from 1, of how many
  bool active = true;                     // false: loaded, and between two runs
  std::optional<Inspection> inspection;   // nothing when the device could not be looked at
};

// What the pipeline knows of an active group.
struct GroupStatus {
  server::GroupId id = 0;
  std::vector<Place> places;                       // by rank
  std::optional<Matcher::Waiting> waiting;         // the oldest operation that is not complete
  std::optional<server::Clock::time_point> since;  // when the first of its ranks arrived
  std::size_t lowering = 0;                        // complete operations that have no Program yet
  std::size_t queued = 0;                          // those that have one and wait for their TOP_SPs
  std::optional<RunningStatus> running;
};

struct StatusInput {
  server::View view;
  std::vector<GroupStatus>
      groups;          // by any order; groups that the pipeline does not know are only in the view
  std::string device;  // one line
  server::Clock::time_point now = server::Clock::now();
};

// Keys: version, device, mapped_bytes, groups[], clients[]. Groups with missing ranks come first. A
// rank is missing when nobody holds its seat, or when the operation waits for it.
nlohmann::ordered_json status_json(const StatusInput& input);

// Unsupported when the JSON is not one of status_json().
Result<std::string> status_text(const nlohmann::ordered_json& status);

}  // namespace sdmacc
