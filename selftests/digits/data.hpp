// SPDX-License-Identifier: MIT
// The handwritten digits: a CSV file with 64 pixels (0 … 16) and a label (0 … 9) in each line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace digits {

inline constexpr std::size_t kPixels = 64, kClasses = 10;

struct Row {
  float pixels[kPixels];  // 0 … 1
  std::uint32_t label;
};

// Empty, and a text in `error` that names the line, when the file is not as above.
std::vector<Row> read_csv(const std::string& path, std::string& error);

// Every fifth row is held out; the others are dealt to the workers in turn.
std::vector<Row> held_out(std::span<const Row> rows);
std::vector<Row> share_of(std::span<const Row> rows, std::uint32_t rank, std::uint32_t ranks);

}  // namespace digits
