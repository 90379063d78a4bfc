/* SPDX-License-Identifier: MIT */
/*
 * What our firmware keeps in its own memory beyond the published contexts, so that a sequencer
 * restarted from memory alone goes on, and so that a reader of the memory can say what a TOP_SP
 * waits for. Lives in the DRAM image (TOP_SP RAM + 0x10000) at sdmacc_ncfw_progress_offset.
 */
#ifndef SDMACC_ABI_NCFW_H
#define SDMACC_ABI_NCFW_H

#include <stdint.h>

#define SDMACC_NCFW_PROGRESS_MAGIC 0x50434e53u /* "SNCP" */
#define SDMACC_NCFW_PROGRESS_V2 0x3300u        /* in the DRAM image of Sunda (image 0x36c0 bytes) */
#define SDMACC_NCFW_PROGRESS_V3 0x4600u        /* of Cayman and later (image 0x4e00 bytes) */
#define SDMACC_NCFW_WAITS                                                 \
  33u /* one a ring channel, and [32] the dispatcher and the mesh handler \
       */

/* Local registers beside the published ones (offsets in the TOP_SP's local register block): where
 * the image is. Ours. */
#define SDMACC_TOPSP_CONFIG_LO_V3 0x61500u
#define SDMACC_TOPSP_CONFIG_HI_V3 0x61504u
#define SDMACC_TOPSP_CONFIG_LO_V2 0x60800u
#define SDMACC_TOPSP_CONFIG_HI_V2 0x60804u

enum sdmacc_ncfw_state {
  SDMACC_NCFW_IDLE = 0, /* waits for its trigger */
  SDMACC_NCFW_LOADING = 1,
  SDMACC_NCFW_ENTRY = 2,      /* a handler runs CTRL entry `entry` */
  SDMACC_NCFW_LOCAL_DONE = 3, /* waits for the local completions */
  SDMACC_NCFW_CHAIN = 4,      /* waits for the previous TOP_SP's completion */
  SDMACC_NCFW_ERROR = 5,      /* posted an error; only a stop leads out */
};

struct sdmacc_ncfw_wait {
  uint64_t address; /* READ-window address of the semaphore; 0 = not waiting */
  uint32_t count;   /* released when value >= count, that is value > count - 1 */
  uint32_t reserved;
};

struct sdmacc_ncfw_progress {
  uint32_t magic;
  uint32_t state;
  uint64_t image;            /* SoC address of the loaded image; 0 = none */
  uint32_t entry;            /* CTRL entry in work */
  uint32_t runs;             /* completed runs since reset */
  uint32_t channels_left;    /* ring channels of this entry that have not reached END */
  uint32_t channels_done;    /* bitmap of the entry's channels that have */
  uint32_t local_expected;   /* completions announced by END words in this run */
  uint32_t mesh_slot_window; /* like ring_ctx.slot_window, of the mesh list */
  uint16_t mesh_slot_idx;
  uint16_t mesh_step; /* where inside the event: 0 wait, 1 fire, 2 signal */
  uint32_t reserved;
  uint64_t completion[4]; /* INC addresses that END words named; 0 = unused */
  struct sdmacc_ncfw_wait wait[SDMACC_NCFW_WAITS];
};

#include "libuapi/abi/assert.h"

SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_ncfw_progress) == 48 + 32 + 16 * 33, "progress layout");

#endif
