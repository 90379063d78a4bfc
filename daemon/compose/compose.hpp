// SPDX-License-Identifier: MIT
// compose: Choice → Schedule, by the algorithm's one file in compose/algorithm/. The registry is
// the only list of algorithms.
#pragma once

#include <optional>
#include <span>

#include "daemon/compose/schedule.hpp"
#include "daemon/match/operation.hpp"
#include "daemon/select/choice.hpp"
#include "daemon/world/world.hpp"

namespace sdmacc {

// What an algorithm builder sees: structure only, no tensors.
struct Shape {
  Collective collective = Collective::AllReduce;
  ReduceOp op = ReduceOp::Add;
  DType dtype = DType::Fp32;
  std::uint64_t count = 0;  // elements of this window
  std::uint32_t ranks = 0;
  std::uint32_t channels = 1;
  std::uint64_t slice_elements = 0;  // of the tensor, per channel
  std::uint32_t secondaries = 0;
  std::uint8_t sub_type = 0;
  std::uint32_t max_sources = 32;      // of one Reduce step
  std::uint32_t max_destinations = 8;  // of one step: 8 with replication, 1 without
  std::vector<float> scales;           // FMA only
};

struct AlgorithmInfo {
  Alg alg;
  MeshType mesh;
  std::uint8_t sub_type;
  std::string_view id;       // "ring", "kangaring", "mesh-t0", "mesh-t2", "single-step-mesh"
  std::string_view name;     // the spec's: "RING"
  std::string_view best_at;  // one line
  std::string_view cost;     // steps, reads and writes per rank as a formula in n and C
  // Whether every element is one Reduce in ascending rank (above max_sources: one chain of them).
  bool (*order_rank)(const Shape&);
  // Empty when it can take this shape; else the rule that refuses it and why, with the numbers.
  struct Refusal {
    std::string rule, reason;
  };
  std::optional<Refusal> (*refuses)(const Shape&);
  Result<Schedule> (*build)(const Shape&);
};

std::span<const AlgorithmInfo> algorithms();
const AlgorithmInfo* find_algorithm(Alg, MeshType, std::uint8_t sub_type);

Shape shape_of(const Operation&, const Choice&, const World&, std::uint64_t window_count);
Result<Schedule> compose(const Operation&, const Choice&, const World&, std::uint64_t window_count);

}  // namespace sdmacc
