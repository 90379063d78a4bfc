/* SPDX-License-Identifier: MIT */
/* Sizes of every structure of libuapi/abi, to be counted once in C and once in C++. */
#ifndef SDMACC_SELFTESTS_ABI_TOGETHER_H
#define SDMACC_SELFTESTS_ABI_TOGETHER_H

#include "libuapi/abi/algo.h"
#include "libuapi/abi/assert.h"
#include "libuapi/abi/device_enums.h"
#include "libuapi/abi/enums.h"
#include "libuapi/abi/evtsem.h"
#include "libuapi/abi/generation.h"
#include "libuapi/abi/isa.h"
#include "libuapi/abi/ncfw.h"
#include "libuapi/abi/opcodes.h"
#include "libuapi/abi/program.h"
#include "libuapi/abi/topsp.h"
#include "libuapi/abi/udma.h"
#include "libuapi/abi/wire.h"

#define SDMACC_TOGETHER_STRUCTS(X) \
  X(sdmacc_isa_header)             \
  X(sdmacc_isa_events)             \
  X(sdmacc_isa_tensor2d)           \
  X(sdmacc_isa_tensor3d)           \
  X(sdmacc_isa_c7)                 \
  X(sdmacc_isa_c8)                 \
  X(sdmacc_isa_d9)                 \
  X(sdmacc_isa_da)                 \
  X(sdmacc_isa_cb)                 \
  X(sdmacc_isa_bf)                 \
  X(sdmacc_isa_a0)                 \
  X(sdmacc_isa_a5)                 \
  X(sdmacc_desc)                   \
  X(sdmacc_ctrl_entry)             \
  X(sdmacc_neff_configs)           \
  X(sdmacc_basic_block_configs)    \
  X(sdmacc_barrier_step)           \
  X(sdmacc_notification)           \
  X(sdmacc_ring_channel)           \
  X(sdmacc_mesh_event)             \
  X(sdmacc_ring_ctx)               \
  X(sdmacc_ncfw_progress)          \
  X(sdmacc_program_header)         \
  X(sdmacc_section)                \
  X(sdmacc_object)                 \
  X(sdmacc_reloc)                  \
  X(sdmacc_image_header)           \
  X(sdmacc_generation)

struct sdmacc_together_size {
  const char* name;
  size_t size;
};

#ifdef __cplusplus
extern "C" {
#endif
/* Ends with a NULL name. */
const struct sdmacc_together_size* sdmacc_together_c(void);
#ifdef __cplusplus
}
#endif

#endif
