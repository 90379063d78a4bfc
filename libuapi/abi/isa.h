/* SPDX-License-Identifier: MIT */
/*
 * The instruction words of the collective path, 64 bytes each: the sync band, the carriers
 * of a collective (0xC7, 0xC8, the pair 0xD9 + 0xDA, 0xCB), the SB2SB leg 0xBF and the real records
 * that the lowering leaves behind (0xA0, 0xA5). All fields are little endian; reserved bytes are
 * zero. Operation, dtype and kind bytes are the enumerations of libuapi/abi/enums.h. No static
 * checker of the pseudo words exists, so whoever lowers them validates them.
 */
#ifndef SDMACC_ABI_ISA_H
#define SDMACC_ABI_ISA_H

#include <stddef.h>
#include <stdint.h>

#include "libuapi/abi/assert.h"
#include "libuapi/abi/opcodes.h"

#define SDMACC_ISA_SIZE(type, size) SDMACC_STATIC_ASSERT(sizeof(struct type) == (size), #type)
#define SDMACC_ISA_AT(type, field, at) \
  SDMACC_STATIC_ASSERT(offsetof(struct type, field) == (at), #type "." #field)

#define SDMACC_ISA_WORD_BYTES 64u
#define SDMACC_ISA_WORD_LEN 0x10u /* inst_word_len of every word: its length in 4-byte units */

struct sdmacc_isa_header {
  uint8_t opcode;
  uint8_t inst_word_len; /* SDMACC_ISA_WORD_LEN */
  uint8_t debug_cmd;
  uint8_t debug_hint;
};
SDMACC_ISA_SIZE(sdmacc_isa_header, 4);
SDMACC_ISA_AT(sdmacc_isa_header, opcode, 0);
SDMACC_ISA_AT(sdmacc_isa_header, inst_word_len, 1);
SDMACC_ISA_AT(sdmacc_isa_header, debug_cmd, 2);
SDMACC_ISA_AT(sdmacc_isa_header, debug_hint, 3);

/* What the word waits for. LT and LE follow from the order of the enumeration. */
enum sdmacc_wait_mode {
  SDMACC_WAIT_NONE = 0x00,
  SDMACC_WAIT_SEM_EQ = 0x01,
  SDMACC_WAIT_SEM_LT = 0x02,
  SDMACC_WAIT_SEM_LE = 0x03,
  SDMACC_WAIT_SEM_GT = 0x04,
  SDMACC_WAIT_SEM_GE = 0x05,
  SDMACC_WAIT_REGISTER = 0x80, /* flag on EQ to GE: the operand is in a register */
  SDMACC_WAIT_UNORDERED = 0xfe,
};

/* What the word does to a semaphore when its operands are read, or with COMPLETE when it has
 * completed. */
enum sdmacc_update_mode {
  SDMACC_UPDATE_NONE = 0x00,
  SDMACC_UPDATE_SEM_INC_READ = 0x03,
  SDMACC_UPDATE_SEM_DEC_READ = 0x04,
  SDMACC_UPDATE_SEM_ADD_READ = 0x05,
  SDMACC_UPDATE_SEM_INC_COMPLETE = 0x13,
  SDMACC_UPDATE_SEM_DEC_COMPLETE = 0x14,
  SDMACC_UPDATE_SEM_ADD_COMPLETE = 0x15,
  SDMACC_UPDATE_SEM_SUB_REG_READ = 0x87,
  SDMACC_UPDATE_SEM_SUB_REG_COMPLETE = 0x97,
  SDMACC_UPDATE_SEM_WRITE_REG_COMPLETE = 0x99,
};

/* The sync band. */
struct sdmacc_isa_events {
  uint8_t wait_mode;   /* enum sdmacc_wait_mode */
  uint8_t wait_idx;    /* number of the semaphore */
  uint8_t update_mode; /* enum sdmacc_update_mode; a trigger word must have SEM_INC_COMPLETE */
  uint8_t update_idx;
  uint32_t semaphore_value; /* the immediate of the wait */
};
SDMACC_ISA_SIZE(sdmacc_isa_events, 8);
SDMACC_ISA_AT(sdmacc_isa_events, wait_mode, 0);
SDMACC_ISA_AT(sdmacc_isa_events, wait_idx, 1);
SDMACC_ISA_AT(sdmacc_isa_events, update_mode, 2);
SDMACC_ISA_AT(sdmacc_isa_events, update_idx, 3);
SDMACC_ISA_AT(sdmacc_isa_events, semaphore_value, 4);

/* The band as one little-endian u64, for dumps and comparisons. */
static inline uint64_t sdmacc_isa_events_u64(struct sdmacc_isa_events e) {
  return (uint64_t)e.semaphore_value << 32 | (uint32_t)e.update_idx << 24 |
         (uint32_t)e.update_mode << 16 | (uint32_t)e.wait_idx << 8 | e.wait_mode;
}

/* Top byte of an ADDR8: what the rest is. */
#define SDMACC_ADDR8_MARKER_SHIFT 56
#define SDMACC_ADDR8_MARKER_MASK 0xfcu
#define SDMACC_ADDR8_IMMEDIATE 0x00u
#define SDMACC_ADDR8_VARIABLE 0x10u /* low 32 bits: the tensor's id */
#define SDMACC_ADDR8_TABLE 0x20u
#define SDMACC_ADDR8_SHAPE_REGISTER 0x40u
#define SDMACC_ADDR8_ADDRESS_REGISTER 0x80u /* with SHAPE_REGISTER: both */
#define SDMACC_ADDR8_OFFSET_REGISTER 0x08u  /* flag */
#define SDMACC_ADDR8_WIDE 0x04u             /* flag */
#define SDMACC_SBUF_OFFSET_MASK 0x03ffffffull
#define SDMACC_SBUF_PSUM_BIT 0x02000000ull /* PSUM when set, SBUF when clear */

static inline unsigned sdmacc_addr8_marker(uint64_t addr) {
  return (unsigned)(addr >> SDMACC_ADDR8_MARKER_SHIFT) & SDMACC_ADDR8_MARKER_MASK;
}

static inline uint64_t sdmacc_addr8_variable(uint32_t id) {
  return (uint64_t)SDMACC_ADDR8_VARIABLE << SDMACC_ADDR8_MARKER_SHIFT | id;
}

/* An address and a pattern over it: step and number of elements of each dimension. */
struct sdmacc_isa_tensor2d {
  uint64_t addr; /* ADDR8 */
  int32_t step[2];
  uint32_t num[2];
};
SDMACC_ISA_SIZE(sdmacc_isa_tensor2d, 24);
SDMACC_ISA_AT(sdmacc_isa_tensor2d, addr, 0);
SDMACC_ISA_AT(sdmacc_isa_tensor2d, step, 8);
SDMACC_ISA_AT(sdmacc_isa_tensor2d, num, 16);

struct sdmacc_isa_tensor3d {
  uint32_t addr; /* ADDR4 */
  int16_t step[3];
  uint16_t num[3];
};
SDMACC_ISA_SIZE(sdmacc_isa_tensor3d, 16);
SDMACC_ISA_AT(sdmacc_isa_tensor3d, addr, 0);
SDMACC_ISA_AT(sdmacc_isa_tensor3d, step, 4);
SDMACC_ISA_AT(sdmacc_isa_tensor3d, num, 10);

/* 0xC7 TRIGGER_ALL_REDUCE: 0xC8 with kind ALL_REDUCE, group 0 and offsets 0 (S0 section 2). */
struct sdmacc_isa_c7 {
  struct sdmacc_isa_header header;
  struct sdmacc_isa_events events;
  uint8_t op;
  uint8_t dtype;
  uint8_t reserved0[2];
  uint32_t input_tensor_id;
  uint32_t output_tensor_id;
  uint64_t num_elements;
  uint8_t reserved1[32];
};
SDMACC_ISA_SIZE(sdmacc_isa_c7, 64);
SDMACC_ISA_AT(sdmacc_isa_c7, header, 0);
SDMACC_ISA_AT(sdmacc_isa_c7, events, 4);
SDMACC_ISA_AT(sdmacc_isa_c7, op, 12);
SDMACC_ISA_AT(sdmacc_isa_c7, dtype, 13);
SDMACC_ISA_AT(sdmacc_isa_c7, reserved0, 14);
SDMACC_ISA_AT(sdmacc_isa_c7, input_tensor_id, 16);
SDMACC_ISA_AT(sdmacc_isa_c7, output_tensor_id, 20);
SDMACC_ISA_AT(sdmacc_isa_c7, num_elements, 24);
SDMACC_ISA_AT(sdmacc_isa_c7, reserved1, 32);

/* 0xC8 TRIGGER_COLLECTIVE. */
struct sdmacc_isa_c8 {
  struct sdmacc_isa_header header;
  struct sdmacc_isa_events events;
  uint8_t op;
  uint8_t dtype;
  uint16_t group_id;
  uint32_t input_tensor_id;
  uint32_t output_tensor_id;
  uint64_t num_elements;
  uint8_t ctype;
  uint8_t reserved[15];
  uint64_t src_offset_elems;
  uint64_t dst_offset_elems;
};
SDMACC_ISA_SIZE(sdmacc_isa_c8, 64);
SDMACC_ISA_AT(sdmacc_isa_c8, header, 0);
SDMACC_ISA_AT(sdmacc_isa_c8, events, 4);
SDMACC_ISA_AT(sdmacc_isa_c8, op, 12);
SDMACC_ISA_AT(sdmacc_isa_c8, dtype, 13);
SDMACC_ISA_AT(sdmacc_isa_c8, group_id, 14);
SDMACC_ISA_AT(sdmacc_isa_c8, input_tensor_id, 16);
SDMACC_ISA_AT(sdmacc_isa_c8, output_tensor_id, 20);
SDMACC_ISA_AT(sdmacc_isa_c8, num_elements, 24);
SDMACC_ISA_AT(sdmacc_isa_c8, ctype, 32);
SDMACC_ISA_AT(sdmacc_isa_c8, reserved, 33);
SDMACC_ISA_AT(sdmacc_isa_c8, src_offset_elems, 48);
SDMACC_ISA_AT(sdmacc_isa_c8, dst_offset_elems, 56);

/* 0xD9 TRIGGER_COLLECTIVE2; the next word must be its 0xDA. */
struct sdmacc_isa_d9 {
  struct sdmacc_isa_header header;
  struct sdmacc_isa_events events;
  uint8_t op;
  uint8_t dtype;
  uint8_t ctype;
  uint8_t cc_dim;
  struct sdmacc_isa_tensor2d src0;
  struct sdmacc_isa_tensor2d src1;
};
SDMACC_ISA_SIZE(sdmacc_isa_d9, 64);
SDMACC_ISA_AT(sdmacc_isa_d9, header, 0);
SDMACC_ISA_AT(sdmacc_isa_d9, events, 4);
SDMACC_ISA_AT(sdmacc_isa_d9, op, 12);
SDMACC_ISA_AT(sdmacc_isa_d9, dtype, 13);
SDMACC_ISA_AT(sdmacc_isa_d9, ctype, 14);
SDMACC_ISA_AT(sdmacc_isa_d9, cc_dim, 15);
SDMACC_ISA_AT(sdmacc_isa_d9, src0, 16);
SDMACC_ISA_AT(sdmacc_isa_d9, src1, 40);

/*
 * 0xDA EXTENSION. It has no header beyond its opcode. The knobs of an all-to-all-v share bytes 40
 * to 63 and are published without offsets: reserved here, except the priority class in byte 41.
 */
struct sdmacc_isa_da {
  uint8_t opcode;
  uint8_t instr_chaining; /* enum sdmacc_chain */
  uint16_t group_id;
  uint16_t channel_id;
  uint16_t stream_id;
  struct sdmacc_isa_tensor2d dst;
  uint64_t cc_buf_start_addr; /* the width is not published */
  uint8_t reserved0;
  uint8_t priority; /* bits 2:0: DMA priority class, v3 and later */
  uint8_t reserved1[22];
};
#define SDMACC_ISA_DA_PRIORITY_MASK 0x07u
SDMACC_ISA_SIZE(sdmacc_isa_da, 64);
SDMACC_ISA_AT(sdmacc_isa_da, opcode, 0);
SDMACC_ISA_AT(sdmacc_isa_da, instr_chaining, 1);
SDMACC_ISA_AT(sdmacc_isa_da, group_id, 2);
SDMACC_ISA_AT(sdmacc_isa_da, channel_id, 4);
SDMACC_ISA_AT(sdmacc_isa_da, stream_id, 6);
SDMACC_ISA_AT(sdmacc_isa_da, dst, 8);
SDMACC_ISA_AT(sdmacc_isa_da, cc_buf_start_addr, 32);
SDMACC_ISA_AT(sdmacc_isa_da, reserved0, 40);
SDMACC_ISA_AT(sdmacc_isa_da, priority, 41);
SDMACC_ISA_AT(sdmacc_isa_da, reserved1, 42);

/* 0xCB SEND_RECV as the runtime reads it. */
struct sdmacc_isa_cb {
  struct sdmacc_isa_header header;
  struct sdmacc_isa_events events;
  uint32_t tensor_id;
  uint64_t peer_id;
  uint8_t is_send; /* 1: SEND, 0: RECV */
  uint8_t reserved[23];
  uint64_t offset_bytes;
  uint64_t size_bytes;
};
SDMACC_ISA_SIZE(sdmacc_isa_cb, 64);
SDMACC_ISA_AT(sdmacc_isa_cb, header, 0);
SDMACC_ISA_AT(sdmacc_isa_cb, events, 4);
SDMACC_ISA_AT(sdmacc_isa_cb, tensor_id, 12);
SDMACC_ISA_AT(sdmacc_isa_cb, peer_id, 16);
SDMACC_ISA_AT(sdmacc_isa_cb, is_send, 24);
SDMACC_ISA_AT(sdmacc_isa_cb, reserved, 25);
SDMACC_ISA_AT(sdmacc_isa_cb, offset_bytes, 48);
SDMACC_ISA_AT(sdmacc_isa_cb, size_bytes, 56);

/* The compiler's encoder is described differently and the two views cannot both hold; these are its
 * offsets in a 0xCB. */
#define SDMACC_ISA_CB_COMPILER_TENSOR_ID                   \
  16u /* base of the pattern; the runtime has peer_id here \
       */
#define SDMACC_ISA_CB_COMPILER_TENSOR_BASE 48u
#define SDMACC_ISA_CB_COMPILER_COUNT 56u /* elements, not bytes */

/* 0xBF SB2SB_COLLECTIVE (S3D3), a real word of the POOL engine on v3 and later: one SBUF to SBUF
 * leg without reduction. */
struct sdmacc_isa_bf {
  struct sdmacc_isa_header header;
  struct sdmacc_isa_events events;
  uint8_t in_dtype;
  uint8_t out_dtype; /* equal to in_dtype */
  uint8_t reserved0[2];
  struct sdmacc_isa_tensor3d src;
  uint8_t lnc_size_fmt;        /* SDMACC_ISA_BF_LNC* */
  uint8_t num_active_channels; /* 1 … 128; the compiler is described to store a partition here */
  uint8_t reserved1[14];
  struct sdmacc_isa_tensor3d dst;
};
#define SDMACC_ISA_BF_LNC1 0u
#define SDMACC_ISA_BF_LNC2 1u
#define SDMACC_ISA_BF_LNC4 2u /* rejected */
#define SDMACC_ISA_BF_LNC8 3u /* rejected */
#define SDMACC_ISA_BF_MAX_CHANNELS 128u
#define SDMACC_ISA_BF_MAX_ELEMENTS 256u /* product of src.num */
SDMACC_ISA_SIZE(sdmacc_isa_bf, 64);
SDMACC_ISA_AT(sdmacc_isa_bf, header, 0);
SDMACC_ISA_AT(sdmacc_isa_bf, events, 4);
SDMACC_ISA_AT(sdmacc_isa_bf, in_dtype, 12);
SDMACC_ISA_AT(sdmacc_isa_bf, out_dtype, 13);
SDMACC_ISA_AT(sdmacc_isa_bf, reserved0, 14);
SDMACC_ISA_AT(sdmacc_isa_bf, src, 16);
SDMACC_ISA_AT(sdmacc_isa_bf, lnc_size_fmt, 32);
SDMACC_ISA_AT(sdmacc_isa_bf, num_active_channels, 33);
SDMACC_ISA_AT(sdmacc_isa_bf, reserved1, 34);
SDMACC_ISA_AT(sdmacc_isa_bf, dst, 48);

/* 0xA0 EVENT_SEMAPHORE: the sync band, and a second band of its own. */
struct sdmacc_isa_a0 {
  struct sdmacc_isa_header header;
  struct sdmacc_isa_events events;
  uint8_t reserved0[20];
  uint8_t wait_mode;
  uint8_t wait_idx;
  uint8_t update_mode;
  uint8_t update_idx;
  uint32_t wait_value;
  uint32_t update_value;
  uint8_t reserved1[20];
};
SDMACC_ISA_SIZE(sdmacc_isa_a0, 64);
SDMACC_ISA_AT(sdmacc_isa_a0, header, 0);
SDMACC_ISA_AT(sdmacc_isa_a0, events, 4);
SDMACC_ISA_AT(sdmacc_isa_a0, reserved0, 0x0c);
SDMACC_ISA_AT(sdmacc_isa_a0, wait_mode, 0x20);
SDMACC_ISA_AT(sdmacc_isa_a0, wait_idx, 0x21);
SDMACC_ISA_AT(sdmacc_isa_a0, update_mode, 0x22);
SDMACC_ISA_AT(sdmacc_isa_a0, update_idx, 0x23);
SDMACC_ISA_AT(sdmacc_isa_a0, wait_value, 0x24);
SDMACC_ISA_AT(sdmacc_isa_a0, update_value, 0x28);
SDMACC_ISA_AT(sdmacc_isa_a0, reserved1, 0x2c);

/* 0xA5 WRITE: a 32-bit store to a register. The offsets of address and value are ours. */
struct sdmacc_isa_a5 {
  struct sdmacc_isa_header header;
  struct sdmacc_isa_events events;
  uint8_t reserved0[4];
  uint64_t addr; /* SoC address */
  uint32_t value;
  uint8_t reserved1[36];
};
SDMACC_ISA_SIZE(sdmacc_isa_a5, 64);
SDMACC_ISA_AT(sdmacc_isa_a5, header, 0);
SDMACC_ISA_AT(sdmacc_isa_a5, events, 4);
SDMACC_ISA_AT(sdmacc_isa_a5, reserved0, 12);
SDMACC_ISA_AT(sdmacc_isa_a5, addr, 16);
SDMACC_ISA_AT(sdmacc_isa_a5, value, 24);
SDMACC_ISA_AT(sdmacc_isa_a5, reserved1, 28);

/* A header without debug bits. */
static inline struct sdmacc_isa_header sdmacc_isa_make_header(uint8_t op) {
  struct sdmacc_isa_header header = {op, SDMACC_ISA_WORD_LEN, 0, 0};

  return header;
}

/* 0xA0 that adds `amount` to semaphore `id` when it completes. */
static inline struct sdmacc_isa_a0 sdmacc_isa_sem_add(uint8_t id, uint32_t amount) {
  struct sdmacc_isa_a0 word = {{0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0}, 0, 0, 0, 0, 0, 0, {0}};

  word.header = sdmacc_isa_make_header(SDMACC_OP_EVENT_SEMAPHORE);
  word.update_mode = SDMACC_UPDATE_SEM_ADD_COMPLETE;
  word.update_idx = id;
  word.update_value = amount;
  return word;
}

/* 0xA0 that waits until semaphore `id` is at least `threshold`, then subtracts `amount`. */
static inline struct sdmacc_isa_a0 sdmacc_isa_sem_wait_sub(uint8_t id, uint32_t threshold,
                                                           uint32_t amount) {
  struct sdmacc_isa_a0 word = sdmacc_isa_sem_add(id, amount);

  word.wait_mode = SDMACC_WAIT_SEM_GE;
  word.wait_idx = id;
  word.wait_value = threshold;
  word.update_mode = SDMACC_UPDATE_SEM_DEC_COMPLETE;
  return word;
}

/* 0xA5 that stores `value` at `addr`, with the events of the word that it replaces. */
static inline struct sdmacc_isa_a5 sdmacc_isa_write(struct sdmacc_isa_events events, uint64_t addr,
                                                    uint32_t value) {
  struct sdmacc_isa_a5 word = {{0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0}, 0, 0, {0}};

  word.header = sdmacc_isa_make_header(SDMACC_OP_WRITE);
  word.events = events;
  word.addr = addr;
  word.value = value;
  return word;
}

#endif
