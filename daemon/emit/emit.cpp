// SPDX-License-Identifier: MIT
// emit: picks the family by algorithm and puts the Program together. Tested by selftests/emit and
// the conformance tests.
#include "daemon/emit/emit.hpp"

#include "daemon/emit/families.hpp"

namespace sdmacc {

Result<Program> emit(const Schedule& schedule, const World& world) {
  if (world.arch == nullptr || world.size() != schedule.ranks)
    return fail(Errc::Internal, Stage::Emit, kNoIndex, "schedule of {} ranks, world of {}",
                schedule.ranks, world.size());
  if (world.policy.engines == 0 || world.policy.engines > world.arch->engines_per_core)
    return fail(Errc::Invalid, Stage::Emit, kNoIndex, "{} engines a channel, must be 1 to {}",
                world.policy.engines, world.arch->engines_per_core);
  if (schedule.count == 0)
    return fail(Errc::Invalid, Stage::Emit, kNoIndex, "count 0 has no Program: nothing moves");
  emitter::Builder builder(schedule, world);
  switch (schedule.alg) {
    case Alg::Ring:
    case Alg::Kangaring:
    case Alg::SingleCycleRing:
      SDMACC_CHECK(emitter::emit_ring(builder));
      break;
    case Alg::Mesh:
    case Alg::SingleStepMesh:
    case Alg::IntraRdh:
    case Alg::InterRdh:
    case Alg::TwoStepPodMesh:
    case Alg::LatencyOptMesh:
    case Alg::BwOptMesh:
      SDMACC_CHECK(emitter::emit_mesh(builder));
      break;
    case Alg::Hier:
    case Alg::Invalid:
      return fail(Errc::Unsupported, Stage::Emit, kNoIndex, "no handler runs {} by itself",
                  name(schedule.alg));
  }
  return builder.finish();
}

namespace emitter {

std::vector<StepGroup> groups_of(const Lane& lane) {
  std::vector<StepGroup> groups;
  for (std::size_t i = 0; i < lane.steps.size(); ++i) {
    if (lane.steps[i].joined && !groups.empty())
      groups.back().last = i + 1;
    else
      groups.push_back({i, i + 1});
  }
  return groups;
}

}  // namespace emitter
}  // namespace sdmacc
