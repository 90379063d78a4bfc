// SPDX-License-Identifier: MIT
// Context: typed access to the TOP_SP's own memory, directly when the Port gives it and by SoC
// address when not. And Checked<T>, what every function of the firmware returns that can find
// something wrong: a T, or the Failure to report.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tl/expected.hpp>
#include <type_traits>

#include "firmware-stub/ncfw/port.hpp"
#include "firmware-stub/ncfw/state.hpp"
#include "libuapi/abi/generation.h"
#include "libuapi/abi/program.h"

namespace sdmacc::ncfw {

template <typename T>
class [[nodiscard]] Checked : public tl::expected<T, Failure> {
 public:
  using tl::expected<T, Failure>::expected;
};

// Who reports fills in the entry, and the unit when it is left out.
inline tl::unexpected<Failure> refuse(Code code, std::uint64_t address, std::uint64_t value,
                                      std::uint64_t target = 0, std::uint32_t unit = kNoUnit) {
  return tl::unexpected<Failure>(Failure{code, 0, unit, address, value, target});
}

#define SDMACC_NCFW_CHECK(expr)                                                           \
  do {                                                                                    \
    if (auto checked = (expr); !checked) return tl::unexpected<Failure>(checked.error()); \
  } while (false)

// RAM is moved in words of the largest size that divides a type; each word by a relaxed atomic.
template <typename T>
inline constexpr std::size_t kWordBytes = sizeof(T) % 8 == 0   ? 8
                                          : sizeof(T) % 4 == 0 ? 4
                                          : sizeof(T) % 2 == 0 ? 2
                                                               : 1;
template <std::size_t N>
using WordOf =
    std::conditional_t<N == 8, std::uint64_t,
                       std::conditional_t<N == 4, std::uint32_t,
                                          std::conditional_t<N == 2, std::uint16_t, std::uint8_t>>>;

template <std::size_t N>
WordOf<N> load_word(const std::byte* from) {
  using Word64 [[gnu::may_alias]] = std::uint64_t;
  using Word32 [[gnu::may_alias]] = std::uint32_t;
  using Word16 [[gnu::may_alias]] = std::uint16_t;
  if constexpr (N == 8)
    return __atomic_load_n(reinterpret_cast<const Word64*>(from), __ATOMIC_RELAXED);
  if constexpr (N == 4)
    return __atomic_load_n(reinterpret_cast<const Word32*>(from), __ATOMIC_RELAXED);
  if constexpr (N == 2)
    return __atomic_load_n(reinterpret_cast<const Word16*>(from), __ATOMIC_RELAXED);
  if constexpr (N == 1)
    return __atomic_load_n(reinterpret_cast<const std::uint8_t*>(from), __ATOMIC_RELAXED);
}

template <std::size_t N>
void store_word(std::byte* to, WordOf<N> word) {
  using Word64 [[gnu::may_alias]] = std::uint64_t;
  using Word32 [[gnu::may_alias]] = std::uint32_t;
  using Word16 [[gnu::may_alias]] = std::uint16_t;
  if constexpr (N == 8) __atomic_store_n(reinterpret_cast<Word64*>(to), word, __ATOMIC_RELAXED);
  if constexpr (N == 4) __atomic_store_n(reinterpret_cast<Word32*>(to), word, __ATOMIC_RELAXED);
  if constexpr (N == 2) __atomic_store_n(reinterpret_cast<Word16*>(to), word, __ATOMIC_RELAXED);
  if constexpr (N == 1)
    __atomic_store_n(reinterpret_cast<std::uint8_t*>(to), word, __ATOMIC_RELAXED);
}

class Context {
 public:
  Context(Port& port, const sdmacc_generation& arch, std::uint32_t topsp);

  const sdmacc_generation& arch() const { return arch_; }
  Port& port() const { return port_; }

  // SoC addresses of what belongs to this TOP_SP; of a semaphore, in the READ window.
  std::uint64_t semaphore(std::uint32_t id) const {
    return block_ + SDMACC_TOPSP_EVTSEM + sdmacc_sem_offset(SDMACC_SEM_READ, id);
  }
  std::uint64_t local_register(std::uint32_t offset) const {
    return block_ + SDMACC_TOPSP_CORE + offset;
  }
  template <typename T>
  std::uint64_t address(Field<T> field) const {
    return ram_address(base(field.region) + field.offset);
  }

  template <typename T>
  T load(Field<T> field) const {
    constexpr std::size_t kBytes = kWordBytes<T>;
    std::array<WordOf<kBytes>, sizeof(T) / kBytes> words{};
    const std::uint32_t offset = base(field.region) + field.offset;
    if (ram_ == nullptr) {
      far_read(offset, words.data(), sizeof words);
    } else {
      for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = load_word<kBytes>(ram_ + offset + i * kBytes);
    }
    return std::bit_cast<T>(words);
  }

  template <typename T>
  void store(Field<T> field, std::type_identity_t<T> value) {
    constexpr std::size_t kBytes = kWordBytes<T>;
    const auto words = std::bit_cast<std::array<WordOf<kBytes>, sizeof(T) / kBytes>>(value);
    const std::uint32_t offset = base(field.region) + field.offset;
    if (ram_ == nullptr) {
      far_write(offset, words.data(), sizeof words);
    } else {
      for (std::size_t i = 0; i < words.size(); ++i)
        store_word<kBytes>(ram_ + offset + i * kBytes, words[i]);
    }
  }

  // Copies `bytes` (a multiple of 8) from SoC memory to a region; clears 8-byte words of it.
  Checked<void> copy_in(Region region, std::uint32_t offset, std::uint64_t from,
                        std::uint32_t bytes);
  void clear(Region region, std::uint32_t offset, std::uint32_t bytes);

  // The first address of the own RAM that the Port refused; 0 = none. Only possible without a span.
  std::uint64_t refused() const { return refused_; }

 private:
  std::uint32_t base(Region region) const { return base_[static_cast<std::size_t>(region)]; }
  std::uint64_t ram_address(std::uint32_t offset) const {
    return block_ + SDMACC_TOPSP_RAM + offset;
  }
  void far_read(std::uint32_t offset, void* to, std::size_t bytes) const;
  void far_write(std::uint32_t offset, const void* from, std::size_t bytes);

  Port& port_;
  const sdmacc_generation& arch_;
  std::uint64_t block_;
  std::byte* ram_ = nullptr;
  std::array<std::uint32_t, 7> base_;  // by Region, offsets in RAM
  mutable std::uint64_t refused_ = 0;
};

}  // namespace sdmacc::ncfw
