/* SPDX-License-Identifier: MIT */
/*
 * The opcodes: the first byte of an instruction word, their names, and which of them are
 * placeholders of the compiler. Where a real and a pseudo opcode share a name, the pseudo one is
 * PSEUDO_.
 */
#ifndef SDMACC_ABI_OPCODES_H
#define SDMACC_ABI_OPCODES_H

#include <stddef.h>

/* X(opcode, name) of every opcode that has a name. */
#define SDMACC_ISA_OPCODES(X)     \
  X(0x85, CUSTOM_OP_HEADER)       \
  X(0x86, CUSTOM_OP_PAYLOAD)      \
  X(0xa0, EVENT_SEMAPHORE)        \
  X(0xa1, HALT)                   \
  X(0xa2, DRAIN)                  \
  X(0xa3, INSTR_FLUSH)            \
  X(0xa4, NOP)                    \
  X(0xa5, WRITE)                  \
  X(0xa6, NOTIFY)                 \
  X(0xa7, MOVE)                   \
  X(0xa8, ALU_OP)                 \
  X(0xa9, COMPARE_BRANCH)         \
  X(0xaa, TENSOR_LOAD)            \
  X(0xab, TENSOR_STORE)           \
  X(0xb0, EVT_SEM_RANGE_CLEAR)    \
  X(0xb1, SET_ORDERING)           \
  X(0xb2, MOVE_SHAPE)             \
  X(0xb3, POLL_SEM)               \
  X(0xb4, TEST_EVENT_SEM)         \
  X(0xb5, BR_PREFETCH_HINT)       \
  X(0xb7, UCODE_CONFIG)           \
  X(0xb8, DMA_MEMCPY)             \
  X(0xbb, DMA_INDIRECT)           \
  X(0xbd, DMA_TRANSPOSE)          \
  X(0xbe, GET_SEQUENCE_BOUNDS)    \
  X(0xbf, SB2SB_COLLECTIVE)       \
  X(0xc1, DMA_TRIGGER)            \
  X(0xc2, DMA_REARM)              \
  X(0xc3, DMA_BARRIER)            \
  X(0xc4, DMA_MEMCPY_FULL_IND)    \
  X(0xc5, SEMAPHORE_SET)          \
  X(0xc6, LOAD_ACT_FUNC_SET)      \
  X(0xc7, TRIGGER_ALL_REDUCE)     \
  X(0xc8, TRIGGER_COLLECTIVE)     \
  X(0xc9, READ_VAR_ADDR)          \
  X(0xca, EMBEDDING_UPDATE)       \
  X(0xcb, SEND_RECV)              \
  X(0xcc, BRANCH_LABEL)           \
  X(0xcd, PSEUDO_TENSOR_STORE)    \
  X(0xce, PSEUDO_TENSOR_LOAD)     \
  X(0xcf, DMASWAP_QUEUE_SET)      \
  X(0xd0, SET_RNG_SEED)           \
  X(0xd1, FUNCTION_BEGIN)         \
  X(0xd2, FUNCTION_RETURN)        \
  X(0xd3, FUNCTION_CALL)          \
  X(0xd4, DMA_DIRECT2D)           \
  X(0xd5, SYNC_BARRIER)           \
  X(0xd8, CORE_BARRIER)           \
  X(0xd9, TRIGGER_COLLECTIVE2)    \
  X(0xda, EXTENSION)              \
  X(0xdb, CUR_PROCESSING_RANK_ID) \
  X(0xdc, GID_LOAD)               \
  X(0xdd, BRANCH_PREFETCH_HINT)   \
  X(0xde, TENSOR_COMPLETION)      \
  X(0xdf, INST)                   \
  X(0xf0, EXTENDED_INST)          \
  X(0xf1, DMA_GATHER_TRANSPOSE)   \
  X(0xff, INVALID)

enum sdmacc_op {
#define SDMACC_ISA_ENUMERATOR(code, name) SDMACC_OP_##name = code,
  SDMACC_ISA_OPCODES(SDMACC_ISA_ENUMERATOR)
#undef SDMACC_ISA_ENUMERATOR
};

/* Top three bits 0b110: a placeholder of the compiler that never reaches an engine. 0xBF is real.
 */
static inline int sdmacc_isa_is_pseudo(unsigned op) {
  return (op & 0xe0u) == 0xc0u;
}

/* "TRIGGER_COLLECTIVE" for 0xC8; NULL for an opcode without a name. */
static inline const char* sdmacc_name_op(unsigned op) {
  switch (op) {
#define SDMACC_ISA_NAME(code, name) \
  case code:                        \
    return #name;
    SDMACC_ISA_OPCODES(SDMACC_ISA_NAME)
#undef SDMACC_ISA_NAME
    default:
      return NULL;
  }
}

#endif
