// SPDX-License-Identifier: MIT
// partition: how [0, count) is cut into slices, channels, shares and halves. The pieces are exact:
// in order, without gap or overlap, for any count; entry point piece().
#pragma once

#include <cstdint>

namespace sdmacc::pattern {

// Elements [first, first + count) of whatever was cut.
struct Piece {
  std::uint64_t first = 0, count = 0;
  constexpr std::uint64_t end() const { return first + count; }
  bool operator==(const Piece&) const = default;
};

// Boundaries fall on multiples of 32 elements, which is at least 32 bytes of every type, when each
// piece can have as much; smaller counts use the largest smaller power of two.
inline constexpr std::uint64_t kAlignment = 32;

constexpr std::uint64_t alignment(std::uint64_t count, std::uint64_t parts) {
  std::uint64_t align = kAlignment;
  while (align > 1 && count / parts < align) align /= 2;
  return align;
}

// Piece `index` of `whole` cut into `parts`, sizes within one alignment of each other; the last has
// the odd end too.
constexpr Piece piece(Piece whole, std::uint64_t parts, std::uint64_t index) {
  const std::uint64_t align = alignment(whole.count, parts);
  const std::uint64_t units = whole.count / align, least = units / parts, more = units % parts;
  const auto cut = [&](std::uint64_t i) {
    return i == parts ? whole.count : align * (least * i + (i < more ? i : more));
  };
  return {whole.first + cut(index), cut(index + 1) - cut(index)};
}

// Slices of a tensor when one slice of one of the channels covers about `slice_elements`.
constexpr std::uint64_t slice_count(std::uint64_t count, std::uint64_t channels,
                                    std::uint64_t slice_elements) {
  if (count == 0) return 0;
  const std::uint64_t share = count / channels + (count % channels != 0);
  return share / slice_elements + (share % slice_elements != 0);
}

}  // namespace sdmacc::pattern
