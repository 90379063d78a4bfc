/* SPDX-License-Identifier: MIT */
/*
 * SDMA/UDMA: the 16-byte descriptor, its control words, the CCE packet words, and the queue and
 * engine registers. M2S reads memory into the stream, S2M writes the stream to memory; a transfer
 * is a pair on the two rings of one queue.
 */
#ifndef SDMACC_ABI_UDMA_H
#define SDMACC_ABI_UDMA_H

#include <stddef.h>
#include <stdint.h>

#include "libuapi/abi/assert.h"

struct sdmacc_desc {
  uint32_t len_ctrl;  /* SDMACC_LEN_* */
  uint32_t meta_ctrl; /* M2S: SDMACC_META_*; S2M: 0 */
  uint64_t addr;      /* source (M2S) or destination (S2M); for a META descriptor words 2 and 3 */
};
SDMACC_STATIC_ASSERT(sizeof(struct sdmacc_desc) == 16, "descriptor");
SDMACC_STATIC_ASSERT(offsetof(struct sdmacc_desc, addr) == 8, "descriptor address");

/* len_ctrl */
#define SDMACC_LEN_MASK 0x0000ffffu /* bytes, 0 means 65536 */
#define SDMACC_LEN_META 0x00800000u /* bit 23: a META descriptor, no data */
#define SDMACC_LEN_RING_SHIFT 24
#define SDMACC_LEN_RING_MASK 0x03000000u
#define SDMACC_LEN_FIRST 0x04000000u
#define SDMACC_LEN_LAST 0x08000000u
#define SDMACC_LEN_INT_EN 0x10000000u
#define SDMACC_LEN_NO_SNOOP 0x20000000u        /* M2S */
#define SDMACC_LEN_STRONG_ORDER_WR 0x20000000u /* S2M, v3 and later */
#define SDMACC_LEN_DMB 0x40000000u             /* M2S: data memory barrier */
#define SDMACC_LEN_CONCAT 0x80000000u
#define SDMACC_DESC_MAX_BYTES 65536u

/* meta_ctrl */
#define SDMACC_META_LAST_BLOCK 0x00000001u
#define SDMACC_META_FIRST_BLOCK 0x00000002u
#define SDMACC_META_COPY_SOURCE 0x00080000u
#define SDMACC_META_SUB_SHIFT 20
#define SDMACC_META_SUB_MASK 0x00700000u
#define SDMACC_META_CLASS_SHIFT 23
#define SDMACC_META_CLASS_MASK 0x03800000u
#define SDMACC_META_WRITE_BARRIER 0x04000000u
#define SDMACC_META_NOTIFY_MASK 0x10000000u /* v4 only */
#define SDMACC_CLASS_DRE 1u
#define SDMACC_CLASS_CME 2u
#define SDMACC_CLASS_CCE 4u
#define SDMACC_DRE_STRIDE 0u
#define SDMACC_DRE_TRANSPOSE 1u
#define SDMACC_DRE_REPLICATE 2u
#define SDMACC_META_COPY 0x01080003u      /* class CME, copy source, first and last block */
#define SDMACC_META_REPLICATE 0x00a00000u /* class DRE, replication */

/* CCE META descriptor: word 1 fields beside class, sub-type, barrier and block bits */
#define SDMACC_CCE_IN_SHIFT 8
#define SDMACC_CCE_OUT_SHIFT 12 /* for FMA: the scale's dtype */
#define SDMACC_CCE_ACC_SHIFT 16
#define SDMACC_CCE_DTYPE_MASK 0xfu
#define SDMACC_CCE_BLOCK 3u
#define SDMACC_CCE_BASE 0x02000000u
/* CCE META descriptor: word 2 */
#define SDMACC_CCE_LENGTH_MASK 0x00ffffffu
#define SDMACC_FMA_SELECTORS \
  (1u << 24 | 2u << 26) /* a = input, b = scale, c (0) = stored accumulator */

#define SDMACC_CCE_MAX_SOURCES 32u
#define SDMACC_CCE_MAX_BYTES 0x2000u
#define SDMACC_DRE_MAX_DESTINATIONS 8u

static inline uint32_t sdmacc_len_ctrl(uint32_t bytes, uint32_t flags, uint32_t ring_id) {
  return (bytes & SDMACC_LEN_MASK) | flags | (ring_id & 3u) << SDMACC_LEN_RING_SHIFT;
}

static inline uint32_t sdmacc_desc_bytes(uint32_t len_ctrl) {
  uint32_t bytes = len_ctrl & SDMACC_LEN_MASK;

  return bytes ? bytes : SDMACC_DESC_MAX_BYTES;
}

static inline uint32_t sdmacc_meta_class(uint32_t meta_ctrl) {
  return (meta_ctrl & SDMACC_META_CLASS_MASK) >> SDMACC_META_CLASS_SHIFT;
}

static inline uint32_t sdmacc_meta_sub(uint32_t meta_ctrl) {
  return (meta_ctrl & SDMACC_META_SUB_MASK) >> SDMACC_META_SUB_SHIFT;
}

/* META word 1 of a CCE packet. cce_type: SDMA_CCETYPE; out of an FMA packet is the scale's dtype.
 */
static inline uint32_t sdmacc_cce_word1(uint32_t cce_type, uint32_t in, uint32_t out, uint32_t acc,
                                        int barrier) {
  return SDMACC_CCE_BASE | cce_type << SDMACC_META_SUB_SHIFT | in << SDMACC_CCE_IN_SHIFT |
         out << SDMACC_CCE_OUT_SHIFT | acc << SDMACC_CCE_ACC_SHIFT |
         (barrier ? SDMACC_META_WRITE_BARRIER : 0u) | SDMACC_CCE_BLOCK;
}

/* A META descriptor's addr word from words 2 and 3. */
static inline uint64_t sdmacc_cce_words23(uint32_t word2, uint32_t word3) {
  return (uint64_t)word3 << 32 | word2;
}

/* Queue registers, at SDMACC_QUEUE_PAGE(q) of each side. */
#define SDMACC_QUEUE_PAGE(q) (((uint64_t)(q) + 1) << 12)
#define SDMACC_S2M_OFFSET 0x20000u
#define SDMACC_Q_CFG 0x20u
#define SDMACC_Q_CFG_PREFETCH 0x10000u
#define SDMACC_Q_CFG_SCHEDULE 0x20000u
#define SDMACC_Q_CFG_RESET 0x03000000u
#define SDMACC_Q_STATUS 0x24u
#define SDMACC_Q_BASE_LO 0x28u
#define SDMACC_Q_BASE_HI 0x2cu
#define SDMACC_Q_LENGTH 0x30u
#define SDMACC_Q_HEAD 0x34u
#define SDMACC_Q_TAIL_INC 0x38u /* the doorbell: number of descriptors, 24 bits */
#define SDMACC_Q_TAIL 0x3cu
#define SDMACC_Q_CURRENT 0x40u
#define SDMACC_Q_COMP_BASE_LO 0x44u
#define SDMACC_Q_COMP_BASE_HI 0x48u
#define SDMACC_Q_COMP_HEAD 0x4cu
#define SDMACC_Q_S2M_COMP_CFG 0x54u
#define SDMACC_Q_S2M_SWCTRL 0x64u
#define SDMACC_Q_RATE_MASK 0x74u
#define SDMACC_Q_M2S_COMP_CFG 0xa0u
#define SDMACC_Q_M2S_SWCTRL 0xb0u
#define SDMACC_Q_DATA_TAIL_INC 0xe0u
#define SDMACC_Q_BCAST_MASK 0xf0u /* ours: in the broadcast block only */
#define SDMACC_SWCTRL_RESET_QUEUE 0x100u
#define SDMACC_Q_INDEX_MASK 0x00ffffffu /* head, tail: index 23:0, ring id 31:30 */
#define SDMACC_Q_RING_ID_SHIFT 30

/* Engine registers (unit offsets). */
#define SDMACC_E_M2S_STATE 0x200u
#define SDMACC_E_M2S_CHANGE_STATE 0x204u
#define SDMACC_E_S2M_STATE 0x20200u
#define SDMACC_E_S2M_CHANGE_STATE 0x20204u
#define SDMACC_STATE_CHANGE_NORMAL 1u
#define SDMACC_STATE_CHANGE_DISABLE 2u
#define SDMACC_STATE_CHANGE_ABORT 4u
#define SDMACC_STATE_NORMAL 0x1111u

#define SDMACC_RING_ALIGN_DESCS 16u /* ring start and length: 256 bytes */
#define SDMACC_RING_MIN_DESCS 32u
#define SDMACC_RING_MAX_DESCS (0x1000000u - 16u)
#define SDMACC_RING_FIRST_ID 1u

#endif
