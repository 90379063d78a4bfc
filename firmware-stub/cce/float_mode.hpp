// SPDX-License-Identifier: MIT
// Rounding to nearest even with subnormals kept, for the length of a scope. A host program may have
// turned on flush-to-zero (any library linked with -ffast-math does) or another rounding direction;
// results must not depend on it. Entry point: DefaultFloatMode.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace sdmacc::cce {

#if defined(__SSE__)
class DefaultFloatMode {
 public:
  DefaultFloatMode() : saved_(_mm_getcsr()) {
    if ((saved_ & kControl) != kDefault) _mm_setcsr(kDefault);
  }
  ~DefaultFloatMode() {
    if ((saved_ & kControl) != kDefault) _mm_setcsr(saved_);
  }
  DefaultFloatMode(const DefaultFloatMode&) = delete;
  DefaultFloatMode& operator=(const DefaultFloatMode&) = delete;

 private:
  static constexpr unsigned kControl = 0xFFC0;  // FTZ, rounding, exception masks, DAZ
  static constexpr unsigned kDefault = 0x1F80;  // nearest even, all exceptions masked
  unsigned saved_;
};
#else
class DefaultFloatMode {
 public:
  DefaultFloatMode() {}  // user-provided, so that a scope object is not "unused"
};
#endif

}  // namespace sdmacc::cce
