// SPDX-License-Identifier: MIT
// Both ends of the two rings in the memory of a session, whose layout and rules are in abi/wire.h.
// What the other side wrote is hostile: an entry is copied once and only the copy is used.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "libuapi/abi/wire.h"

namespace sdmacc::wire {

// Store and load are sequentially consistent, so that "publish, then look whether the other side
// sleeps" and "announce sleep, then look for an entry" cannot both miss.
template <typename T>
void store(T& shared, T value) {
  std::atomic_ref<T>(shared).store(value, std::memory_order_seq_cst);
}
template <typename T>
T load(T& shared) {
  return std::atomic_ref<T>(shared).load(std::memory_order_seq_cst);
}

template <typename Entry>
class RingWriter {
 public:
  RingWriter() = default;
  RingWriter(Entry* entries, std::uint32_t count) : entries_(entries), mask_(count - 1) {}

  // The caller knows by counting answers that the place is free.
  void put(Entry entry) {
    Entry& place = entries_[next_ & mask_];
    constexpr std::size_t skip = sizeof(entry.sequence);
    std::memcpy(reinterpret_cast<std::byte*>(&place) + skip,
                reinterpret_cast<const std::byte*>(&entry) + skip, sizeof(Entry) - skip);
    store(place.sequence, ++next_);
  }

 private:
  Entry* entries_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t next_ = 0;
};

template <typename Entry>
class RingReader {
 public:
  RingReader() = default;
  RingReader(Entry* entries, std::uint32_t count) : entries_(entries), mask_(count - 1) {}

  bool ready() const { return sequence() == next_ + 1; }

  // The place of the next entry holds neither it nor what was there a round before.
  bool broken() const {
    const std::uint64_t found = sequence();
    return found != next_ + 1 && found != (next_ > mask_ ? next_ - mask_ : 0);
  }

  std::uint64_t sequence() const { return load(entries_[next_ & mask_].sequence); }
  std::uint64_t expected() const { return next_ + 1; }

  // Only when ready().
  Entry take() {
    static_assert(sizeof(Entry) % 8 == 0 && alignof(Entry) == 8);
    std::uint64_t copy[sizeof(Entry) / 8];
    auto* from = reinterpret_cast<std::uint64_t*>(&entries_[next_ & mask_]);
    for (std::size_t i = 0; i < std::size(copy); ++i) {
      copy[i] = std::atomic_ref<std::uint64_t>(from[i]).load(std::memory_order_relaxed);
    }
    ++next_;
    Entry out;
    std::memcpy(&out, copy, sizeof(out));
    return out;
  }

 private:
  Entry* entries_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t next_ = 0;
};

// The parts of a session's memory.
struct SessionMemory {
  sdmacc_memory_header* header = nullptr;
  sdmacc_submit_entry* submits = nullptr;
  sdmacc_complete_entry* completes = nullptr;
  std::uint32_t entries = 0;

  static constexpr std::size_t bytes_for(std::uint32_t entries) {
    return sizeof(sdmacc_memory_header) +
           entries * (sizeof(sdmacc_submit_entry) + sizeof(sdmacc_complete_entry));
  }

  // For the daemon: lays the memory out, which is all zeros. entries is a power of two.
  static SessionMemory create(std::span<std::byte> memory, std::uint32_t entries) {
    auto* header = reinterpret_cast<sdmacc_memory_header*>(memory.data());
    header->magic = SDMACC_MEMORY_MAGIC;
    header->version = 1;
    header->entries = entries;
    header->submit_offset = sizeof(sdmacc_memory_header);
    header->complete_offset =
        static_cast<std::uint32_t>(sizeof(*header) + entries * sizeof(sdmacc_submit_entry));
    return at(memory, *header);
  }

  // For a client: nothing when the header does not fit the memory.
  static std::optional<SessionMemory> open(std::span<std::byte> memory) {
    if (memory.size() < sizeof(sdmacc_memory_header)) return std::nullopt;
    sdmacc_memory_header header;
    std::memcpy(&header, memory.data(), sizeof(header));
    const std::uint32_t n = header.entries;
    if (header.magic != SDMACC_MEMORY_MAGIC || header.version != 1 || n == 0 || n > (1u << 16) ||
        (n & (n - 1)) != 0 || header.submit_offset % 64 != 0 || header.complete_offset % 64 != 0 ||
        std::uint64_t{header.submit_offset} + n * sizeof(sdmacc_submit_entry) > memory.size() ||
        std::uint64_t{header.complete_offset} + n * sizeof(sdmacc_complete_entry) > memory.size()) {
      return std::nullopt;
    }
    return at(memory, header);
  }

 private:
  static SessionMemory at(std::span<std::byte> memory, const sdmacc_memory_header& header) {
    SessionMemory out;
    out.header = reinterpret_cast<sdmacc_memory_header*>(memory.data());
    out.submits = reinterpret_cast<sdmacc_submit_entry*>(memory.data() + header.submit_offset);
    out.completes =
        reinterpret_cast<sdmacc_complete_entry*>(memory.data() + header.complete_offset);
    out.entries = header.entries;
    return out;
  }
};

}  // namespace sdmacc::wire
