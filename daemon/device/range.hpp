// SPDX-License-Identifier: MIT
// RangeAllocator: first fit over one stretch of addresses, lowest first, neighbours joined when
// they come back. Used for device memory and for the host aperture; it never touches what it hands
// out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace sdmacc::device {

class RangeAllocator {
 public:
  RangeAllocator(std::uint64_t base, std::uint64_t size) : size_(size), free_bytes_(size) {
    if (size > 0) free_[base] = size;
  }

  // `size` > 0, `align` a power of two. Nothing when no free stretch holds it.
  std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t align);
  void give(std::uint64_t at);  // what take() returned

  std::uint64_t size() const { return size_; }
  std::uint64_t free_bytes() const { return free_bytes_; }
  std::uint64_t taken_bytes(std::uint64_t at) const { return taken_.at(at); }

 private:
  std::uint64_t size_;
  std::uint64_t free_bytes_;
  std::map<std::uint64_t, std::uint64_t> free_;  // start → bytes, no two adjacent
  std::map<std::uint64_t, std::uint64_t> taken_;
};

}  // namespace sdmacc::device
