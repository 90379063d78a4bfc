// SPDX-License-Identifier: MIT
// lower: Operation → Plan by the four pure stages select, compose, verify, emit; and the cache of
// Plans, so that an operation is lowered once and run many times.
#pragma once

#include <list>
#include <map>

#include "daemon/compose/schedule.hpp"
#include "daemon/device/plan.hpp"
#include "daemon/match/operation.hpp"
#include "daemon/select/rules.hpp"
#include "daemon/world/world.hpp"

namespace sdmacc {

// Pure; any thread. The operation's count is at least 1.
Result<PlanRef> lower(const Operation& operation, const World& world, const Rules& rules);

// Everything of an operation and its world that a Plan depends on; tensors and places are not among
// it.
struct PlanKey {
  Collective collective;
  ReduceOp op;
  DType dtype;
  std::uint64_t count;
  std::uint32_t ranks;
  std::vector<float> scales;  // FMA only
  auto operator<=>(const PlanKey&) const = default;
};
PlanKey plan_key(const Operation& operation);

// Least recently used Plans go when their Programs take more than `limit_bytes`.
class PlanCache {
 public:
  explicit PlanCache(std::size_t limit_bytes) : limit_(limit_bytes) {}
  PlanRef find(const PlanKey& key);
  void insert(const PlanKey& key, PlanRef plan);

 private:
  struct Entry {
    PlanRef plan;
    std::size_t bytes;
    std::list<PlanKey>::iterator used;
  };
  std::size_t limit_, bytes_ = 0;
  std::map<PlanKey, Entry> entries_;
  std::list<PlanKey> order_;  // least recently used first
};

}  // namespace sdmacc
