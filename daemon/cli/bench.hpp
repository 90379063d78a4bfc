// SPDX-License-Identifier: MIT
// What the benchmark's options mean and what it prints; the measurement itself is in bench.cpp.
#pragma once

#include <string>
#include <vector>

#include "daemon/world/types.hpp"

namespace sdmacc::cli {

// "8", "1k:64M", "1k:64M:4" or several of them with commas: sizes from the first to the last, each
// `factor` (2) times the one before.
Result<std::vector<std::uint64_t>> parse_sizes(std::string_view text);

struct BenchRow {
  std::uint64_t bytes = 0, count = 0;
  double time_us = 0;  // the slowest rank's average
  std::uint64_t wrong = 0;
};
struct BenchSetting {
  std::uint32_t ranks = 4;
  DType dtype = DType::Fp32;
  ReduceOp op = ReduceOp::Add;
  bool in_place = false, checked = true;
  std::string alg;
};
// GB/s of 10^9 bytes; bus bandwidth is what a ring's links would carry: times 2(n − 1)/n.
double algorithm_bandwidth(const BenchRow& row);
double bus_bandwidth(const BenchRow& row, std::uint32_t ranks);

std::string bench_head(const BenchSetting& setting);                       // of the table
std::string bench_line(const BenchSetting& setting, const BenchRow& row);  // of the table
std::string bench_json(const BenchSetting& setting, const BenchRow& row);  // one object, one line

}  // namespace sdmacc::cli
