/* SPDX-License-Identifier: MIT */
/* The public headers as C99 with every warning; compiling is the test. */
#include "libuapi/abi/wire.h"
#include "libuapi/client/sdmacc.h"

typedef int (*connect_function)(const char*, sdmacc_connection**);

connect_function header_c99(void);

connect_function header_c99(void) {
  return sdmacc_connect;
}
