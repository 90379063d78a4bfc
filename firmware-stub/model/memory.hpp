// SPDX-License-Identifier: MIT
// Sparse zeroed memory of the device, and copying that tolerates a concurrent reader. Pages cost
// nothing until they are written. Entry points: Memory, copy_shared().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sdmacc::model {

class Memory {
 public:
  Memory() = default;
  explicit Memory(std::uint64_t size);  // a failed reservation is a broken invariant: it aborts
  ~Memory();
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&&) = delete;

  std::byte* data() const { return pointer_.load(std::memory_order_relaxed); }
  std::uint64_t size() const { return size_; }
  // Where the pointer is kept, in the form that a Span wants it.
  const std::atomic<std::byte*>& pointer() const { return pointer_; }
  void clear();  // zero again, pages given back

 private:
  std::atomic<std::byte*> pointer_ = nullptr;
  std::uint64_t size_ = 0;
};

// memcpy in relaxed atomic words: a TOP_SP's RAM is read for dumps while its firmware writes it.
// Words of 4 bytes that both sides have aligned are never torn.
void copy_shared(void* to, const void* from, std::size_t bytes);

}  // namespace sdmacc::model
