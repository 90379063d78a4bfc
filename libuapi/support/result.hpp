// SPDX-License-Identifier: MIT
// Error and Result<T>: how every C++ function of the project that can fail says where and why.
// A dropped Result is a compiler warning. Nothing here throws; see error.cpp for the texts.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace sdmacc {

// Stable across the socket and the C library: append only.
enum class Errc : std::uint16_t {
  Ok = 0,
  Invalid = 1,       // a field, argument or word that no state would make legal
  Unsupported = 2,   // legal in the ISA, refused here; the text says by which rule
  NotFound = 3,      // unknown group, tensor, program, file
  Range = 4,         // an element or address range outside its object
  Mismatch = 5,      // ranks disagree on op, dtype, count or order
  PeerGone = 6,      // a rank of the group died or left
  Timeout = 7,       // deadline passed; the text names who or what was missing
  Cancelled = 8,     // aborted on request
  Revoked = 9,       // the group failed before; the text carries the first cause
  NoSpace = 10,      // queues, semaphores, memory or a configured limit used up
  DeviceError = 11,  // the device reported a fault
  MemoryFault = 12,  // client memory could not be read or written (punched hole, SIGBUS)
  Protocol = 13,     // malformed frame
  Busy = 14,
  System = 15,      // a system call failed; the text has errno
  DaemonGone = 16,  // the connection broke
  Internal = 17,    // a broken invariant: please report
};

enum class Stage : std::uint8_t {
  None,
  Server,
  Decode,
  Match,
  Select,
  Compose,
  Emit,
  Load,
  Device,
  Client,
  Cli
};

std::string_view name(Errc code);
std::string_view name(Stage stage);

inline constexpr std::uint32_t kNoIndex = 0xffffffffu;

// `index` is the offending word, rank, step, section or descriptor of `stage`; kNoIndex when there
// is none.
struct Error {
  Errc code = Errc::Internal;
  Stage stage = Stage::None;
  std::uint32_t index = kNoIndex;
  std::string context;  // lower case, no final period, with the value

  std::string text() const;  // "decode: word 3: reserved byte 14 is 0x01, must be 0 (invalid)"
};

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Status = Result<void>;

template <typename... Args>
tl::unexpected<Error> fail(Errc code, Stage stage, std::uint32_t index,
                           fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(
      Error{code, stage, index, fmt::format(format, std::forward<Args>(args)...)});
}

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

}  // namespace sdmacc

#define SDMACC_CONCAT_INNER(a, b) a##b
#define SDMACC_CONCAT(a, b) SDMACC_CONCAT_INNER(a, b)

// SDMACC_TRY(auto x, f()); returns f's error from the enclosing function, or binds its value.
#define SDMACC_TRY_INNER(tmp, decl, expr)                                   \
  auto tmp = (expr);                                                        \
  if (!tmp) return tl::unexpected<::sdmacc::Error>(std::move(tmp.error())); \
  decl = std::move(*tmp)
#define SDMACC_TRY(decl, expr) SDMACC_TRY_INNER(SDMACC_CONCAT(try_, __COUNTER__), decl, expr)
#define SDMACC_CHECK(expr)                                                \
  do {                                                                    \
    if (auto checked = (expr); !checked)                                  \
      return tl::unexpected<::sdmacc::Error>(std::move(checked.error())); \
  } while (false)
// A broken invariant, never bad input: logs and aborts in every build.
#define SDMACC_ASSERT(expr) \
  ((expr) ? static_cast<void>(0) : ::sdmacc::assertion_failed(#expr, __FILE__, __LINE__))
