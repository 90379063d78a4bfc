// SPDX-License-Identifier: MIT
// The public headers as C++20, beside the device's enumerations, whose names must not collide;
// compiling is the test.
#include "libuapi/abi/enums.h"
#include "libuapi/abi/wire.h"
#include "libuapi/client/sdmacc.h"

static_assert(SDMACC_FP32 == static_cast<int>(SDMACC_DTYPE_FP32));
static_assert(SDMACC_BF16 == static_cast<int>(SDMACC_DTYPE_BF16));
static_assert(SDMACC_FP16 == static_cast<int>(SDMACC_DTYPE_FP16));
static_assert(SDMACC_FP8_E3M4 == static_cast<int>(SDMACC_DTYPE_FP8E3));
static_assert(SDMACC_FP8_E4M3 == static_cast<int>(SDMACC_DTYPE_FP8E4));
static_assert(SDMACC_FP8_E5M2 == static_cast<int>(SDMACC_DTYPE_FP8E5));
static_assert(SDMACC_ADD == static_cast<int>(SDMACC_CCE_ADD));
static_assert(SDMACC_FMA == static_cast<int>(SDMACC_CCE_FMA));
static_assert(SDMACC_MAX == static_cast<int>(SDMACC_CCE_MAX));
static_assert(SDMACC_MIN == static_cast<int>(SDMACC_CCE_MIN));
