// SPDX-License-Identifier: MIT
// lower: the four pure stages in a row, for the window and for the rest. Entry: lower(). Tested by
// selftests/golden and conformance.
#include "daemon/lower.hpp"

#include "daemon/compose/compose.hpp"
#include "daemon/compose/verify.hpp"
#include "daemon/emit/emit.hpp"
#include "daemon/select/select.hpp"

namespace sdmacc {
namespace {

Result<std::shared_ptr<const Program>> lower_window(const Operation& operation,
                                                    const Choice& choice, const World& world,
                                                    std::uint64_t count) {
  SDMACC_TRY(const Schedule schedule, compose(operation, choice, world, count));
  SDMACC_CHECK(verify(schedule, {.in_place = false}));
  SDMACC_CHECK(verify(schedule, {.in_place = true}));
  SDMACC_TRY(Program program, emit(schedule, world));
  return std::make_shared<const Program>(std::move(program));
}

}  // namespace

Result<PlanRef> lower(const Operation& operation, const World& world, const Rules& rules) {
  Plan plan;
  SDMACC_TRY(plan.choice, select(operation, world, rules));
  plan.count = operation.count;
  plan.element = element_bytes(operation.dtype);
  plan.window = std::min(plan.choice.window_elements, operation.count);
  SDMACC_TRY(plan.whole, lower_window(operation, plan.choice, world, plan.window));
  if (const std::uint64_t rest = operation.count % plan.window; rest != 0) {
    SDMACC_TRY(plan.rest, lower_window(operation, plan.choice, world, rest));
  }
  return std::make_shared<const Plan>(std::move(plan));
}

PlanKey plan_key(const Operation& o) {
  PlanKey key{o.collective, o.op, o.dtype, o.count, static_cast<std::uint32_t>(o.ranks.size()), {}};
  if (o.op == ReduceOp::Fma)
    for (const RankOperands& r : o.ranks) key.scales.push_back(r.scale);
  return key;
}

PlanRef PlanCache::find(const PlanKey& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  order_.splice(order_.end(), order_, found->second.used);
  return found->second.plan;
}

void PlanCache::insert(const PlanKey& key, PlanRef plan) {
  if (entries_.contains(key)) return;
  std::size_t bytes = 0;
  for (const auto* program : {plan->whole.get(), plan->rest.get()})
    if (program != nullptr)
      bytes += program->data.size() + program->origins.size() * sizeof(Origin) +
               program->relocations.size() * sizeof(sdmacc_reloc);
  bytes_ += bytes;
  entries_[key] = Entry{std::move(plan), bytes, order_.insert(order_.end(), key)};
  while (bytes_ > limit_ && order_.size() > 1) {
    const auto oldest = entries_.find(order_.front());
    bytes_ -= oldest->second.bytes;
    order_.pop_front();
    entries_.erase(oldest);
  }
}

}  // namespace sdmacc
