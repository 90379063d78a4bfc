// SPDX-License-Identifier: MIT
// Moving bytes of memory that may go away: a client can punch a hole into its file or truncate it,
// and the access raises SIGBUS. Inside guarded() that becomes a return value; anywhere else the
// signal goes where it went before. Entry points: install_guard(), guarded().
#pragma once

#include <cstdint>

namespace sdmacc::model {

// Installs the process-wide handler; once, however often it is called.
void install_guard();

// Runs move(argument). Returns 0, or the host address whose access failed; then `move` was left in
// the middle, so it must own nothing. It may not call guarded().
std::uintptr_t guarded(void (*move)(void*), void* argument);

// The same for a function object.
template <typename Move>
std::uintptr_t guarded(Move& move) {
  return guarded([](void* m) { (*static_cast<Move*>(m))(); }, &move);
}

}  // namespace sdmacc::model
