/* SPDX-License-Identifier: MIT */
/* All headers in one C99 translation unit: no name twice, and the sizes as C sees them. */
#include "selftests/abi/together.h"

const struct sdmacc_together_size* sdmacc_together_c(void) {
#define SDMACC_TOGETHER_ROW(type) {#type, sizeof(struct type)},
  static const struct sdmacc_together_size sizes[] = {
      SDMACC_TOGETHER_STRUCTS(SDMACC_TOGETHER_ROW){NULL, 0}};

  return sizes;
}
