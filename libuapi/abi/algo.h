/* SPDX-License-Identifier: MIT */
/*
 * algo_configs and algo_ctx: what the firmware reads about rings, mesh events and levels, and where
 * it keeps its progress. algo_configs = [ring 32 x 148][mesh events x 80][hier u64]; offsets that
 * differ by generation are in generation.h. Addresses of semaphores are READ-window SoC addresses;
 * all structs have 4-byte alignment, so 64-bit fields are lo/hi pairs.
 */
#ifndef SDMACC_ABI_ALGO_H
#define SDMACC_ABI_ALGO_H

#include <stddef.h>
#include <stdint.h>

#include "libuapi/abi/assert.h"

struct sdmacc_u64 {
  uint32_t lo, hi;
};

static inline uint64_t sdmacc_u64_get(struct sdmacc_u64 v) {
  return (uint64_t)v.hi << 32 | v.lo;
}

static inline struct sdmacc_u64 sdmacc_u64_make(uint64_t v) {
  struct sdmacc_u64 r;

  r.lo = (uint32_t)v;
  r.hi = (uint32_t)(v >> 32);
  return r;
}

/* dma_apb_bcast: where a doorbell store goes and which engines it reaches. */
struct sdmacc_apb_bcast {
  struct sdmacc_u64 m2s_tail; /* broadcast address of the M2S tail increment */
  struct sdmacc_u64 s2m_tail;
  uint32_t mask; /* ~engines << 16 | 0x100 */
};
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_apb_bcast) == 20, "apb bcast");

#define SDMACC_BCAST_ENABLE 0x100u
/* engines: bitmap over all engines of the device side; the core's 16 are taken. */
static inline uint32_t sdmacc_bcast_mask(uint64_t engines, uint32_t core) {
  return (uint32_t)(~(engines >> (core << 4)) & 0xffffu) << 16 | SDMACC_BCAST_ENABLE;
}
static inline uint32_t sdmacc_bcast_engines(uint32_t mask) {
  return ~(mask >> 16) & 0xffffu;
}

struct sdmacc_neighbour {
  struct sdmacc_u64 net_idx_addrs[3];
  uint8_t fold_n;
  uint8_t type; /* 0 local, 1 P2P, 2 P2P over pod link */
  uint8_t reserved[2];
};
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_neighbour) == 28, "neighbour");

#define SDMACC_KRING_PEERS 3u
struct sdmacc_ring_channel {
  struct sdmacc_neighbour next_neigh; /* @0 */
  struct sdmacc_neighbour prev_neigh; /* @28 */
  struct sdmacc_u64 recv_sema;        /* @56: own; predecessor's data descriptors INC it */
  struct sdmacc_u64 send_sema;        /* @64: own; credits from the successor */
  struct sdmacc_u64 post_sema;        /* @72: the predecessor's send_sema */
  struct sdmacc_u64 dma_compl;        /* @80: own; this rank's engines INC it */
  struct sdmacc_u64 kring_mine;       /* @88 */
  struct sdmacc_u64 kring_peers[SDMACC_KRING_PEERS]; /* @96 */
  struct sdmacc_apb_bcast apb;                       /* @120 */
  uint8_t channel_id;                                /* @140 */
  uint8_t spad_slot_idx;                             /* @141 */
  uint8_t fold_n;                                    /* @142 */
  uint8_t kangaring_is_primary;                      /* @143 */
  uint8_t kangaring_num_peers;                       /* @144: 1 or 3, 0 when not a kangaring */
  uint8_t reserved[3];
};
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_ring_channel) == 148, "ring channel");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_ring_channel, prev_neigh) == 28, "prev_neigh");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_ring_channel, recv_sema) == 56, "recv_sema");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_ring_channel, send_sema) == 64, "send_sema");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_ring_channel, post_sema) == 72, "post_sema");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_ring_channel, dma_compl) == 80, "dma_compl");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_ring_channel, kring_mine) == 88, "kring");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_ring_channel, apb) == 120, "apb");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_ring_channel, channel_id) == 140, "channel_id");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_ring_channel, kangaring_num_peers) == 144, "num_peers");
#define SDMACC_RING_CHANNELS 32u

struct sdmacc_mesh_event {
  struct sdmacc_apb_bcast bcast[2];         /* @0x00 */
  struct sdmacc_u64 direct_trigger_sema[3]; /* @0x28 */
  struct sdmacc_u64 event_wait_sema;        /* @0x40 */
  uint32_t wait_val;                        /* @0x48 */
  uint8_t event_type;                       /* @0x4c */
  uint8_t dma_trigger;                      /* @0x4d: 0 … 2 broadcasts */
  uint8_t direct_trigger;                   /* @0x4e: 0 … 3 semaphores */
  uint8_t wait_event;                       /* @0x4f */
};
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_mesh_event) == 80, "mesh event");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_mesh_event, direct_trigger_sema) == 0x28,
                     "direct_trigger_sema");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_mesh_event, event_wait_sema) == 0x40,
                     "event_wait_sema");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_mesh_event, wait_val) == 0x48, "wait_val");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_mesh_event, event_type) == 0x4c, "event_type");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_mesh_event, wait_event) == 0x4f, "wait_event");

#define SDMACC_ALGO_RING_OFFSET 0x0u
#define SDMACC_ALGO_MESH_OFFSET 0x1280u
SDMACC_STATIC_ASSERT(SDMACC_RING_CHANNELS * sizeof(struct sdmacc_ring_channel) ==
                         SDMACC_ALGO_MESH_OFFSET,
                     "ring region");

/* algo_ctx */
struct sdmacc_ring_ctx {
  uint16_t recv_cnt;    /* @0: chunks received */
  uint16_t send_credit; /* @2: credits granted to the predecessor */
  uint16_t repeat_cnt;  /* @4: repeats left of the SLOT item */
  uint16_t m2s_val;     /* @6 */
  uint16_t s2m_val;     /* @8 */
  uint16_t step;        /* @10: ours: min(steps issued, 3), which the credit rule needs */
  uint8_t window[2];    /* @12: ours: SLOT window in 1024-byte units of the section */
  uint8_t slot_idx;     /* @14: next word in the window */
  uint8_t run_state;    /* @15: enum sdmacc_ring_state */
};
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_ring_ctx) == 16, "ring ctx");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_ring_ctx, slot_idx) == 14, "slot_idx");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_ring_ctx, run_state) == 15, "run_state");
#define SDMACC_CTX_RING 0x000u
#define SDMACC_CTX_HIER 0x200u /* u8 run_state, 3 bytes reserved */
#define SDMACC_CTX_MESH 0x204u /* u16 event_index */
#define SDMACC_CTX_BYTES 0x208u

/* Numbers of run states are not published; these are ours. */
enum sdmacc_ring_state {
  SDMACC_RING_IDLE = 0,
  SDMACC_RING_WAIT_PEERS = 1,  /* kangaring: kring mine */
  SDMACC_RING_WAIT_DONE = 2,   /* dma_compl of the step before */
  SDMACC_RING_WAIT_CREDIT = 3, /* send_sema */
  SDMACC_RING_WAIT_RECV = 4,   /* recv_sema */
  SDMACC_RING_WAIT_LAST = 5,   /* END: dma_compl of the last step */
  SDMACC_RING_WAIT_RESET = 6,  /* END: the two credits that stay */
  SDMACC_RING_DONE = 7,
};

enum sdmacc_hier_state {
  SDMACC_HIER_IDLE = 0,
  SDMACC_HIER_INTRA_RS = 1,
  SDMACC_HIER_INTER = 2,
  SDMACC_HIER_INTRA_AG = 3,
  SDMACC_HIER_DONE = 4,
};

/* Level table behind the 8-byte hierarchical handle; ours. */
#define SDMACC_LEVEL_MAGIC 0x564c4453u /* "SDLV" */
#define SDMACC_LEVEL_VERSION 1u
struct sdmacc_level_header {
  uint32_t magic;
  uint32_t version;
  uint32_t count;
  uint32_t reserved;
};
struct sdmacc_level {
  uint8_t scope; /* enc_comm_type */
  uint8_t op;    /* enc_op_type */
  uint8_t algo;  /* enc_alg_type */
  uint8_t sub_type;
  union {
    uint32_t channels; /* ring family: bitmap */
    struct {
      uint16_t first_event, events;
    } mesh;
  } u;
  uint32_t slice; /* elements */
};
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_level_header) == 16, "level header");
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_level) == 12, "level");

#endif
