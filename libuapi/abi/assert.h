/* SPDX-License-Identifier: MIT */
/* One spelling of the compile-time assert for C99 (as an array type), C11 and C++. */
#ifndef SDMACC_ABI_ASSERT_H
#define SDMACC_ABI_ASSERT_H

#if defined(__cplusplus)
#define SDMACC_STATIC_ASSERT(cond, msg) static_assert(cond, msg)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define SDMACC_STATIC_ASSERT(cond, msg) _Static_assert(cond, msg)
#else
#define SDMACC_ASSERT_JOIN2(a, b) a##b
#define SDMACC_ASSERT_JOIN(a, b) SDMACC_ASSERT_JOIN2(a, b)
#define SDMACC_STATIC_ASSERT(cond, msg) \
  extern char SDMACC_ASSERT_JOIN(sdmacc_assert_line_, __LINE__)[(cond) ? 1 : -1]
#endif

#endif
