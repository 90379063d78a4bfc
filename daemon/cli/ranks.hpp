// SPDX-License-Identifier: MIT
// Ranks as processes: runs one function in a process of its own for each rank, and memory that they
// share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "libuapi/support/result.hpp"

namespace sdmacc::cli {

// Forks a process for each rank, which runs body(rank) and ends; returns when all have. Standard
// output belongs to rank 0 by convention. When a rank fails, the others get two seconds to find out
// for themselves. The error is the first cause, and names the ranks that have it. Only for a
// process with one thread, which holds no connection.
Status run_ranks(std::uint32_t ranks, const std::function<Status(std::uint32_t rank)>& body);

// Zeros that this process and those it forks share; unmapped at its end.
class SharedMemory {
 public:
  static Result<SharedMemory> make(std::size_t bytes);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;
  ~SharedMemory();

  std::byte* data() const { return data_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  SharedMemory(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  std::byte* data_;
  std::size_t bytes_;
};

}  // namespace sdmacc::cli
