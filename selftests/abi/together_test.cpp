// SPDX-License-Identifier: MIT
// A program in C and one in C++ see the same structures.
#include "selftests/abi/together.h"

#include <gtest/gtest.h>

namespace sdmacc {
namespace {

TEST(Together, SizesAgreeBetweenLanguages) {
  const sdmacc_together_size* c = sdmacc_together_c();
  size_t rows = 0;
#define SDMACC_TOGETHER_CHECK(type)               \
  ASSERT_STREQ(c[rows].name, #type);              \
  EXPECT_EQ(c[rows].size, sizeof(type)) << #type; \
  ++rows;
  SDMACC_TOGETHER_STRUCTS(SDMACC_TOGETHER_CHECK)
  EXPECT_EQ(c[rows].name, nullptr);
}

}  // namespace
}  // namespace sdmacc
