// SPDX-License-Identifier: MIT
// shapes: the Shapes that the compose tests build, and how a golden case is spelled.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "daemon/compose/compose.hpp"

namespace sdmacc::test {

inline const AlgorithmInfo& algorithm_by_id(std::string_view id) {
  for (const AlgorithmInfo& info : algorithms())
    if (info.id == id) return info;
  ADD_FAILURE() << "no algorithm " << id;
  return algorithms()[0];
}

inline Shape shape(std::uint32_t ranks, std::uint64_t count, std::uint32_t channels = 1,
                   std::uint64_t slice_elements = 1 << 20, std::uint32_t secondaries = 0,
                   ReduceOp op = ReduceOp::Add) {
  Shape s;
  s.op = op;
  s.count = count;
  s.ranks = ranks;
  s.channels = channels;
  s.slice_elements = slice_elements;
  s.secondaries = secondaries;
  if (op == ReduceOp::Fma)
    for (std::uint32_t r = 0; r < ranks; ++r) s.scales.push_back(0.5f + static_cast<float>(r));
  return s;
}

// Builds or fails the test.
inline Schedule built(const AlgorithmInfo& info, const Shape& s) {
  if (auto refusal = info.refuses(s)) {
    ADD_FAILURE() << info.id << " refused: " << refusal->rule << ": " << refusal->reason;
    return {};
  }
  auto schedule = info.build(s);
  if (!schedule) {
    ADD_FAILURE() << info.id << ": " << schedule.error().text();
    return {};
  }
  return *schedule;
}

}  // namespace sdmacc::test
