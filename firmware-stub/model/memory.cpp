// SPDX-License-Identifier: MIT
// Anonymous mappings without reservation, and the word-wise copy.
#include "firmware-stub/model/memory.hpp"

#include <sys/mman.h>

#include "libuapi/support/result.hpp"

namespace sdmacc::model {
namespace {

void* map_zeroes(void* at, std::uint64_t size) {
  const int fixed = at ? MAP_FIXED : 0;
  void* p = mmap(at, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
  SDMACC_ASSERT(p != MAP_FAILED);
  return p;
}

template <typename T>
void copy_as(void* to, const void* from) {
  std::atomic_ref<T> source(*static_cast<T*>(const_cast<void*>(from)));
  std::atomic_ref<T> sink(*static_cast<T*>(to));
  sink.store(source.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

}  // namespace

Memory::Memory(std::uint64_t size)
    : pointer_(static_cast<std::byte*>(map_zeroes(nullptr, size))), size_(size) {}

Memory::Memory(Memory&& other) noexcept
    : pointer_(other.pointer_.exchange(nullptr)), size_(other.size_) {}

Memory::~Memory() {
  if (data()) munmap(data(), size_);
}

void Memory::clear() {
  map_zeroes(data(), size_);
}

void copy_shared(void* to, const void* from, std::size_t bytes) {
  auto* t = static_cast<std::byte*>(to);
  auto* f = static_cast<const std::byte*>(from);
  const auto misaligned = [&](std::uintptr_t mask) {
    return ((reinterpret_cast<std::uintptr_t>(t) | reinterpret_cast<std::uintptr_t>(f)) & mask) !=
           0;
  };
  if (!misaligned(7))
    for (; bytes >= 8; bytes -= 8, t += 8, f += 8) copy_as<std::uint64_t>(t, f);
  if (!misaligned(3))
    for (; bytes >= 4; bytes -= 4, t += 4, f += 4) copy_as<std::uint32_t>(t, f);
  for (; bytes > 0; --bytes, ++t, ++f) copy_as<unsigned char>(t, f);
}

}  // namespace sdmacc::model
