// SPDX-License-Identifier: MIT
// Implements data.hpp.
#include "selftests/digits/data.hpp"

#include <charconv>
#include <fstream>

namespace digits {
namespace {

constexpr std::size_t kHeldOut = 5;
constexpr float kBrightest = 16;

// The numbers of a line; nothing when one is none.
std::vector<int> numbers(const std::string& line) {
  std::vector<int> out;
  for (const char *at = line.data(), *end = at + line.size(); at < end;) {
    int value = 0;
    const auto [after, failed] = std::from_chars(at, end, value);
    if (failed != std::errc{}) return {};
    out.push_back(value);
    at = after;
    if (at < end && *at == '\r') break;
    if (at < end && *at++ != ',') return {};
  }
  return out;
}

bool make_row(const std::vector<int>& values, Row& row) {
  if (values.size() != kPixels + 1) return false;
  for (std::size_t i = 0; i < kPixels; ++i) {
    if (values[i] < 0 || values[i] > kBrightest) return false;
    row.pixels[i] = static_cast<float>(values[i]) / kBrightest;
  }
  if (values[kPixels] < 0 || values[kPixels] >= static_cast<int>(kClasses)) return false;
  row.label = static_cast<std::uint32_t>(values[kPixels]);
  return true;
}

}  // namespace

std::vector<Row> read_csv(const std::string& path, std::string& error) {
  std::ifstream file(path);
  if (!file) {
    error = path + ": cannot be read";
    return {};
  }
  std::vector<Row> rows;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    Row row{};
    if (!make_row(numbers(line), row)) {
      error = path + ": line " + std::to_string(number) +
              " is not 64 pixels from 0 to 16 and a label from 0 to 9";
      return {};
    }
    rows.push_back(row);
  }
  if (rows.size() < 100) {
    error = path + ": has " + std::to_string(rows.size()) + " rows of digits, which is too few";
    return {};
  }
  return rows;
}

std::vector<Row> held_out(std::span<const Row> rows) {
  std::vector<Row> out;
  for (std::size_t i = 0; i < rows.size(); i += kHeldOut) out.push_back(rows[i]);
  return out;
}

std::vector<Row> share_of(std::span<const Row> rows, std::uint32_t rank, std::uint32_t ranks) {
  std::vector<Row> out;
  std::size_t dealt = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (i % kHeldOut != 0 && dealt++ % ranks == rank) out.push_back(rows[i]);
  return out;
}

}  // namespace digits
