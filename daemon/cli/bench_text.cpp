// SPDX-License-Identifier: MIT
// Implements bench.hpp: sizes and rows.
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "daemon/cli/bench.hpp"
#include "daemon/cli/command.hpp"

namespace sdmacc::cli {
namespace {

constexpr std::size_t kMostSizes = 1000;

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(at, from), text.size());
    parts.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

std::string lower_case(std::string_view name) {
  std::string out(name);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return out;
}

}  // namespace

Result<std::vector<std::uint64_t>> parse_sizes(std::string_view text) {
  std::vector<std::uint64_t> sizes;
  for (const std::string_view range : split(text, ',')) {
    const auto parts = split(range, ':');
    if (parts.size() > 3) return usage("{} has more than first:last:factor", range);
    SDMACC_TRY(const std::uint64_t first, parse_size(parts[0]));
    std::uint64_t last = first, factor = 2;
    if (parts.size() > 1) {
      SDMACC_TRY(last, parse_size(parts[1]));
    }
    if (parts.size() > 2) {
      SDMACC_TRY(factor, parse_size(parts[2]));
    }
    if (last < first) return usage("{} ends before it begins", range);
    if (factor < 2) return usage("{}: the factor is {}, must be at least 2", range, factor);
    if (first == 0 && last > 0) return usage("{} would never leave 0", range);
    for (std::uint64_t size = first;; size *= factor) {
      sizes.push_back(size);
      if (size == 0 || size > last / factor) break;
      if (sizes.size() > kMostSizes) return usage("{} are more than {} sizes", text, kMostSizes);
    }
  }
  return sizes;
}

double algorithm_bandwidth(const BenchRow& row) {
  return row.time_us > 0 ? static_cast<double>(row.bytes) / row.time_us / 1e3 : 0;
}

double bus_bandwidth(const BenchRow& row, std::uint32_t ranks) {
  return algorithm_bandwidth(row) * 2 * (ranks - 1) / ranks;
}

std::string bench_head(const BenchSetting& s) {
  return fmt::format(
      "# all-reduce of {} processes, {}{}; GB = 10^9 bytes, busbw = algbw * 2(n-1)/n\n"
      "#{:>13} {:>13} {:>7} {:>7} {:>11} {:>9} {:>9} {:>7}\n"
      "#{:>13} {:>13} {:>7} {:>7} {:>11} {:>9} {:>9} {:>7}\n",
      s.ranks, s.in_place ? "in place" : "out of place", s.alg.empty() ? "" : ", " + s.alg, "size",
      "count", "type", "redop", "time", "algbw", "busbw", "#wrong", "(B)", "(elements)", "", "",
      "(us)", "(GB/s)", "(GB/s)", "");
}

std::string bench_line(const BenchSetting& s, const BenchRow& row) {
  return fmt::format(" {:>13} {:>13} {:>7} {:>7} {:>11.2f} {:>9.3f} {:>9.3f} {:>7}\n", row.bytes,
                     row.count, lower_case(name(s.dtype)), lower_case(name(s.op)), row.time_us,
                     algorithm_bandwidth(row), bus_bandwidth(row, s.ranks),
                     s.checked ? fmt::format("{}", row.wrong) : "N/A");
}

std::string bench_json(const BenchSetting& s, const BenchRow& row) {
  nlohmann::ordered_json out{{"collective", "all_reduce"},
                             {"ranks", s.ranks},
                             {"dtype", lower_case(name(s.dtype))},
                             {"op", lower_case(name(s.op))},
                             {"in_place", s.in_place},
                             {"bytes", row.bytes},
                             {"count", row.count},
                             {"time_us", row.time_us},
                             {"algbw", algorithm_bandwidth(row)},
                             {"busbw", bus_bandwidth(row, s.ranks)}};
  out["wrong"] = s.checked ? nlohmann::ordered_json(row.wrong) : nlohmann::ordered_json();
  if (!s.alg.empty()) out["alg"] = s.alg;
  return out.dump() + "\n";
}

}  // namespace sdmacc::cli
