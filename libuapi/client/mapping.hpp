// SPDX-License-Identifier: MIT
// Mapping: a range of a file as shared memory, at any byte offset. For libsdmacc and the daemon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "libuapi/support/result.hpp"

namespace sdmacc::wire {

class Mapping {
 public:
  // `what` names the range in errors. NoSpace when there is no memory for it.
  static Result<Mapping> map(int fd, std::uint64_t offset, std::uint64_t bytes, bool writable,
                             Stage stage, const char* what);

  Mapping() = default;
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::byte* data() const { return pages_ + skipped_; }
  std::uint64_t page_bytes() const { return page_bytes_; }  // of all pages that it touches

 private:
  std::byte* pages_ = nullptr;
  std::uint64_t skipped_ = 0;
  std::uint64_t page_bytes_ = 0;
};

}  // namespace sdmacc::wire
