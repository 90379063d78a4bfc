// SPDX-License-Identifier: MIT
// Reads a structure out of bytes of unknown length; what is not there is zero.
#pragma once

#include <algorithm>
#include <cstring>

#include "daemon/observe/ram.hpp"
#include "libuapi/abi/generation.h"
#include "libuapi/abi/program.h"

namespace sdmacc::observe {

template <typename T>
T read(std::span<const std::byte> bytes, std::uint64_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value{};
  if (offset < bytes.size())
    std::memcpy(&value, bytes.data() + offset,
                std::min<std::size_t>(sizeof value, bytes.size() - offset));
  return value;
}
template <typename T>
T read(const Ram& ram, std::uint64_t offset) {
  return read<T>(ram.bytes, offset);
}

// Whether any byte is set.
template <typename T>
bool is_used(const T& value) {
  const T zero{};
  return std::memcmp(&value, &zero, sizeof value) != 0;
}

inline const char* or_unknown(const char* name) {
  return name != nullptr ? name : "?";
}

}  // namespace sdmacc::observe
