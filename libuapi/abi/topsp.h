/* SPDX-License-Identifier: MIT */
/*
 * TOP_SP: block layout, memory map, the CTRL and SLOT scratchpads, neff_configs and the
 * notification record. Offsets marked "ours" are not published.
 */
#ifndef SDMACC_ABI_TOPSP_H
#define SDMACC_ABI_TOPSP_H

#include <stddef.h>
#include <stdint.h>

#include "libuapi/abi/assert.h"

#define SDMACC_TOPSP_SIZE 0x400000u
#define SDMACC_TOPSP_EVTSEM 0x000000u
#define SDMACC_TOPSP_RAM 0x100000u
#define SDMACC_TOPSP_RAM_SIZE 0x100000u
#define SDMACC_TOPSP_CORE \
  0x200000u /* local registers are given as offsets from here, e.g. 0x615a0 */
#define SDMACC_TOPSP_CORE_SIZE 0x100000u

/* RAM map, offsets from SDMACC_TOPSP_RAM. timestamp_inc is published, the rest is ours. */
#define SDMACC_RAM_TIMESTAMP_INC 0x00004u
#define SDMACC_RAM_DRAM_IMAGE 0x10000u
#define SDMACC_RAM_ALGO_CONFIGS 0x20000u
#define SDMACC_RAM_NEFF_CONFIGS 0x28000u
#define SDMACC_RAM_CTRL 0x30000u
#define SDMACC_RAM_SLOT 0x40000u
#define SDMACC_RAM_USED 0x48000u
#define SDMACC_CTRL_SPAD_BYTES 0x1000u
#define SDMACC_SLOT_SPAD_BYTES 0x8000u
#define SDMACC_CTRL_ENTRIES 512u

/* Inside the DRAM image. */
#define SDMACC_DRAM_DISPATCH_TABLE 0xb0u
#define SDMACC_DISPATCH_WORDS 12u
#define SDMACC_DRAM_NEFF_CTX_V2 0x3060u
#define SDMACC_DRAM_NEFF_CTX_V3 0x4280u
#define SDMACC_DRAM_ALGO_CTX_V2 0x30c0u
#define SDMACC_DRAM_ALGO_CTX_V3 0x42e0u
#define SDMACC_DRAM_IMAGE_BYTES_V2 14016u
#define SDMACC_DRAM_IMAGE_BYTES_V3 19968u

/* Handler ids, our contents of the dispatch table. */
enum sdmacc_handler {
  SDMACC_HANDLER_ERROR = 0,
  SDMACC_HANDLER_RING = 1,
  SDMACC_HANDLER_HIER = 2,
  SDMACC_HANDLER_MESH = 3,
};

/* CTRL entry: a 1-byte header and a 7-byte cc_op record. */
struct sdmacc_ctrl_entry {
  uint8_t header; /* bit 0: cc_op */
  uint8_t algo;   /* algo_type 3:0, algo_sub_type 6:4, trigger_next 7 */
  uint8_t flags;  /* SDMACC_CTRL_* below */
  uint8_t reserved;
  union {
    uint32_t channel_list; /* ring family: bit c = ring channel c takes part */
    struct {
      uint16_t sema_shift_offset;
      uint16_t sema_mask;
    } mesh;
  } u;
};
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_ctrl_entry) == 8, "CTRL entry");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_ctrl_entry, algo) == 1, "CTRL algo");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_ctrl_entry, flags) == 2, "CTRL flags");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_ctrl_entry, u) == 4, "CTRL union");

#define SDMACC_CTRL_CC_OP 0x01u
#define SDMACC_CTRL_ALGO_MASK 0x0fu
#define SDMACC_CTRL_SUB_SHIFT 4
#define SDMACC_CTRL_SUB_MASK 0x70u
#define SDMACC_CTRL_TRIGGER_NEXT 0x80u
#define SDMACC_CTRL_REPORTER 0x01u
#define SDMACC_CTRL_RING_WAIT_COMPLETE 0x02u
#define SDMACC_CTRL_RING_SEND_COMPLETE 0x04u
#define SDMACC_CTRL_SAFE_MODE 0x08u
#define SDMACC_CTRL_UNIQUE_TENSORS 0x10u

static inline uint8_t sdmacc_ctrl_algo(uint32_t algo_type, uint32_t sub_type, int trigger_next) {
  return (uint8_t)((algo_type & 0xfu) | (sub_type & 7u) << SDMACC_CTRL_SUB_SHIFT |
                   (trigger_next ? SDMACC_CTRL_TRIGGER_NEXT : 0u));
}

/* SLOT words. */
#define SDMACC_SLOT_CONTINUE 0xfffefffe00000000ull

static inline uint64_t sdmacc_slot_word(uint32_t m2s, uint32_t s2m, uint32_t times) {
  return (uint64_t)m2s << 48 | (uint64_t)s2m << 32 | times;
}
static inline uint32_t sdmacc_slot_m2s(uint64_t w) {
  return (uint32_t)(w >> 48);
}
static inline uint32_t sdmacc_slot_s2m(uint64_t w) {
  return (uint32_t)(w >> 32) & 0xffffu;
}
static inline uint32_t sdmacc_slot_times(uint64_t w) {
  return (uint32_t)w;
}
static inline int sdmacc_slot_is_continue(uint64_t w) {
  return w >> 32 == 0xfffefffeu;
}
static inline int sdmacc_slot_is_end(uint64_t w) {
  return w >> 48 == 0 && (w >> 32 & 0xffffu) != 0;
}
#define SDMACC_SLOT_MAX_COUNT 0xfffdu /* of m2s and s2m; larger ones are markers */
#define SDMACC_SLOT_MAX_TIMES 0xffffu
#define SDMACC_COMPLETION_ADDRESSES 4u

/* neff_configs, published offsets; the gap between the tables is reserved. */
struct sdmacc_neff_configs {
  uint64_t dma_alloc_bitmap[8];      /* @0 */
  uint8_t desc_count[2080];          /* @64 */
  uint64_t slot_spad_base[6];        /* @2144: SoC address of SLOT; only [0] is used */
  uint64_t ctrl_spad_base;           /* @2192 */
  uint8_t barrier_configs[296];      /* @2200 */
  uint8_t basic_block_configs[1048]; /* @2496 */
  uint64_t trigger;                  /* @3544: own trigger semaphore, READ window */
  uint64_t trigger_next;             /* @3552: next TOP_SP's trigger semaphore, 0 in the last */
  uint64_t complete;                 /* @3560: next TOP_SP's completion semaphore, 0 in the last */
  uint64_t complete_prev;     /* @3568: own completion semaphore, waited for; 0 in the leader */
  uint64_t tpb_stop_sema;     /* @3576 */
  uint32_t op_num;            /* @3584: CTRL entries */
  uint16_t function_n;        /* @3588 */
  uint8_t tpb_compl_addr_num; /* @3590: END words a list ends with */
  uint8_t flags;              /* @3591: SDMACC_NEFF_* */
};
#define SDMACC_NEFF_LEADER 0x01u
#define SDMACC_NEFF_CC_NOP 0x02u
#define SDMACC_NEFF_HOST_CC 0x04u
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_neff_configs) == 3592, "neff_configs");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_neff_configs, slot_spad_base) == 2144,
                     "slot_spad_base");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_neff_configs, ctrl_spad_base) == 2192,
                     "ctrl_spad_base");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_neff_configs, barrier_configs) == 2200,
                     "barrier_configs");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_neff_configs, basic_block_configs) == 2496,
                     "basic_block_configs");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_neff_configs, trigger) == 3544, "trigger");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_neff_configs, trigger_next) == 3552, "trigger_next");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_neff_configs, complete) == 3560, "complete");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_neff_configs, complete_prev) == 3568, "complete_prev");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_neff_configs, tpb_stop_sema) == 3576, "tpb_stop_sema");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_neff_configs, op_num) == 3584, "op_num");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_neff_configs, function_n) == 3588, "function_n");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_neff_configs, tpb_compl_addr_num) == 3590,
                     "tpb_compl_addr_num");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_neff_configs, flags) == 3591, "flags");

struct sdmacc_basic_block_configs {
  uint8_t table[1024];
  uint64_t switch_completed; /* @1024 */
  uint64_t pring_base;       /* @1032 */
  uint64_t pring_total_desc; /* @1040 */
};
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_basic_block_configs) == 1048, "basic_block_configs");

struct sdmacc_barrier_step {
  uint16_t m2s, s2m;        /* @0 */
  uint32_t barrier_sema[8]; /* @4: four u64, low word first */
  uint32_t target[4];       /* @36 */
};
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_barrier_step) == 52, "barrier step");

/* Notification record, 16 bytes. */
struct sdmacc_notification {
  uint16_t metadata0;
  uint8_t metadata1;
  uint8_t header; /* type 4:0, software overflow 5, hardware overflow 6, phase 7 */
  uint32_t metadata2;
  uint64_t timestamp; /* 1 ps */
};
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_notification) == 16, "notification");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_notification, metadata2) == 4,
                     "notification metadata2");

#endif
