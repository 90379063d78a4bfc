// SPDX-License-Identifier: MIT
// The list of algorithms, and compose() itself: it finds the row, asks it whether it refuses, and
// lets it build.
#include <algorithm>
#include <array>

#include "daemon/compose/algorithm/builder.hpp"
#include "libuapi/abi/generation.h"

namespace sdmacc {

constexpr std::uint32_t kMaxSources = 32;  // of one CCE packet

std::span<const AlgorithmInfo> algorithms() {
  static const std::array<AlgorithmInfo, 5> all = {algorithm::kRing, algorithm::kKangaring,
                                                   algorithm::kMeshT0, algorithm::kMeshT2,
                                                   algorithm::kSingleStepMesh};
  return all;
}

const AlgorithmInfo* find_algorithm(Alg alg, MeshType mesh, std::uint8_t sub_type) {
  for (const AlgorithmInfo& info : algorithms()) {
    const bool form = alg != Alg::Mesh || (info.mesh == mesh && info.sub_type == sub_type);
    if (info.alg == alg && form) return &info;
  }
  return nullptr;
}

Shape shape_of(const Operation& operation, const Choice& choice, const World& world,
               std::uint64_t window_count) {
  Shape shape;
  shape.collective = operation.collective;
  shape.op = operation.op;
  shape.dtype = operation.dtype;
  shape.count = window_count;
  shape.ranks = world.size();
  shape.channels = choice.channels;
  shape.slice_elements = choice.slice_elements;
  shape.secondaries = choice.secondaries;
  shape.sub_type = choice.sub_type;
  // A packet has one META before all sources, or with FMA one before each.
  const bool fma = operation.op == ReduceOp::Fma;
  if (world.arch != nullptr) {
    shape.max_sources =
        std::min(kMaxSources, fma ? world.arch->m2s_descs / 2 : world.arch->m2s_descs - 1);
    shape.max_destinations = world.arch->max_destinations;
  }
  if (fma)
    for (const RankOperands& rank : operation.ranks) shape.scales.push_back(rank.scale);
  return shape;
}

Result<Schedule> compose(const Operation& operation, const Choice& choice, const World& world,
                         std::uint64_t window_count) {
  const AlgorithmInfo* info = find_algorithm(choice.alg, choice.mesh, choice.sub_type);
  if (info == nullptr)
    return fail(Errc::Unsupported, Stage::Compose, kNoIndex,
                "no algorithm composes {} (mesh type {}, t{})", name(choice.alg), name(choice.mesh),
                choice.sub_type);
  const Shape shape = shape_of(operation, choice, world, window_count);
  if (const auto refusal = info->refuses(shape))
    return fail(Errc::Unsupported, Stage::Compose, kNoIndex, "{}: refused by {}: {}", info->name,
                refusal->rule, refusal->reason);
  return info->build(shape);
}

}  // namespace sdmacc
