// SPDX-License-Identifier: MIT
// First fit with joining, see range.hpp.
#include "daemon/device/range.hpp"

#include "libuapi/support/result.hpp"

namespace sdmacc::device {

std::optional<std::uint64_t> RangeAllocator::take(std::uint64_t size, std::uint64_t align) {
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [start, bytes] = *it;
    const std::uint64_t at = (start + align - 1) & ~(align - 1);
    const std::uint64_t gap = at - start;
    if (at < start || gap > bytes || size > bytes - gap) continue;
    free_.erase(it);
    if (gap > 0) free_[start] = gap;
    if (bytes > gap + size) free_[at + size] = bytes - gap - size;
    taken_[at] = size;
    free_bytes_ -= size;
    return at;
  }
  return std::nullopt;
}

void RangeAllocator::give(std::uint64_t at) {
  const auto taken = taken_.find(at);
  SDMACC_ASSERT(taken != taken_.end());
  std::uint64_t start = at, bytes = taken->second;
  taken_.erase(taken);
  free_bytes_ += bytes;
  auto after = free_.lower_bound(start);
  if (after != free_.end() && after->first == start + bytes) {
    bytes += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == start) {
      start = before->first;
      bytes += before->second;
      free_.erase(before);
    }
  }
  free_[start] = bytes;
}

}  // namespace sdmacc::device
