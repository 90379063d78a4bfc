// SPDX-License-Identifier: MIT
// What one conformance case is, and running one: compose → verify → emit → load → bind → run,
// compared bit by bit with the interpreter, on exact-sum inputs with the mathematical result, and
// by the device's own counters with the Schedule's traffic.
#pragma once

#include <string>

#include "daemon/compose/compose.hpp"
#include "daemon/device/device.hpp"

namespace sdmacc {

struct Case {
  const AlgorithmInfo* algorithm = nullptr;
  std::uint32_t secondaries = 0;
  std::uint32_t ranks = 1;
  std::uint64_t count = 0;
  DType dtype = DType::Fp32;
  ReduceOp op = ReduceOp::Add;
  bool in_place = false;
  std::uint32_t channels = 1;
  std::uint64_t slice = 0;  // elements
  std::uint32_t engines = 1;
};

struct AlgorithmCase {
  const AlgorithmInfo* info;
  std::uint32_t secondaries;
};
std::vector<AlgorithmCase> algorithm_cases();  // kangaring once for 1 and once for 3 secondaries

std::string to_string(const Case& c);
Shape shape_of(const Case& c);
// "" when it passed; else what differed. `runs` back-to-back runs of one loaded Program.
std::string run_case(Device& device, const Case& c, std::uint64_t seed, std::uint32_t runs = 2);

}  // namespace sdmacc
