/* SPDX-License-Identifier: MIT */
/*
 * The enumerations of the collective path: what an instruction word, a descriptor, a host record, a
 * scratchpad entry and a profile number. Three layers number the reduce operation and two the kind
 * of a collective differently: always convert through the functions at the end of each group.
 * sdmacc_name_*() give the spelling of an enumerator, NULL for other values. Values said to be
 * numbered by order are not published one by one.
 */
#ifndef SDMACC_ABI_ENUMS_H
#define SDMACC_ABI_ENUMS_H

#include <stddef.h>

#include "libuapi/abi/device_enums.h"

/* ALU_OP: the operation byte of an instruction word (S0 section 4a). */
enum sdmacc_alu_op {
  SDMACC_ALU_BYPASS = 0x00,
  SDMACC_ALU_BITWISE_NOT = 0x01,
  SDMACC_ALU_ARITH_SHL = 0x02,
  SDMACC_ALU_ARITH_SHR = 0x03,
  SDMACC_ALU_ADD = 0x04,
  SDMACC_ALU_SUBTRACT = 0x05,
  SDMACC_ALU_MULT = 0x06,
  SDMACC_ALU_DIVIDE = 0x07,
  SDMACC_ALU_MAX = 0x08,
  SDMACC_ALU_MIN = 0x09,
  SDMACC_ALU_BITWISE_AND = 0x0a,
  SDMACC_ALU_BITWISE_OR = 0x0b,
  SDMACC_ALU_BITWISE_XOR = 0x0c,
  SDMACC_ALU_LOGICAL_AND = 0x0d,
  SDMACC_ALU_LOGICAL_OR = 0x0e,
  SDMACC_ALU_LOGICAL_XOR = 0x0f,
  SDMACC_ALU_LOGICAL_SHL = 0x10,
  SDMACC_ALU_LOGICAL_SHR = 0x11,
  SDMACC_ALU_IS_EQUAL = 0x12,
  SDMACC_ALU_IS_GT = 0x13,
  SDMACC_ALU_IS_GE = 0x14,
  SDMACC_ALU_IS_LE = 0x15,
  SDMACC_ALU_IS_LT = 0x16,
  SDMACC_ALU_NOT_EQUAL = 0x18,
  SDMACC_ALU_ABS = 0x19,
  SDMACC_ALU_POW = 0x1a,
  SDMACC_ALU_MOD = 0x1b,
  SDMACC_ALU_RSQRT = 0x1d,
  SDMACC_ALU_ABS_MAX = 0x20,
  SDMACC_ALU_ABS_MIN = 0x21, /* v4 and later */
  SDMACC_ALU_ADD_INT = 0xc4,
  SDMACC_ALU_MOD_INT = 0xc8,
  SDMACC_ALU_MAX_INT = 0xcf,
  SDMACC_ALU_MIN_INT = 0xd0,
};

/* A load admits the operations whose bit is set: ADD, MULT, MAX, MIN. */
#define SDMACC_ALU_REDUCE_MASK 0x350u

static inline int sdmacc_alu_passes_load(unsigned op) {
  return op < 32 && (1u << op & SDMACC_ALU_REDUCE_MASK) != 0;
}

/* CCE_OP of the ISA; slot 1 is reserved for a multiply. */
enum sdmacc_isa_cce_op {
  SDMACC_ISA_CCE_ADD = 0,
  SDMACC_ISA_CCE_MAX = 2,
  SDMACC_ISA_CCE_MIN = 3,
};

/* SDMA_CCETYPE: the sub-type of a class CCE descriptor and the operation of a reduce step. */
enum sdmacc_cce_type {
  SDMACC_CCE_ADD = 0,
  SDMACC_CCE_FMA = 1,
  SDMACC_CCE_MAX = 2,
  SDMACC_CCE_MIN = 3,
  SDMACC_CCE_EXT = 4,
  SDMACC_CCE_GCE = 5,
};

/* nrt_op_type: the reduce operation of the public interface. */
enum sdmacc_nrt_op {
  SDMACC_NRT_OP_ADD = 0,
  SDMACC_NRT_OP_FMA = 1,
  SDMACC_NRT_OP_MAX = 2,
  SDMACC_NRT_OP_MIN = 3,
  SDMACC_NRT_OP_INVALID = 15,
};

/* DGE_COMPUTE_OP numbers MAX and MIN one higher; it never names the operation of a collective. */
enum sdmacc_dge_compute_op {
  SDMACC_DGE_NONE = 0,
  SDMACC_DGE_ADD = 1,
  SDMACC_DGE_MULTIPLY = 2,
  SDMACC_DGE_MAX = 3,
  SDMACC_DGE_MIN = 4,
};

/* The operation of a DMA block in a compiled model. */
enum sdmacc_kbin_op {
  SDMACC_KBIN_COPY = 0,
  SDMACC_KBIN_FMA = 1,
  SDMACC_KBIN_ADD = 2,
  SDMACC_KBIN_MIN = 3,
  SDMACC_KBIN_MAX = 4,
  SDMACC_KBIN_TRANSPOSE = 5,
};

/* ALU_OP to SDMA_CCETYPE; -1 when the operation has none. MULT passes the load mask but no code for
 * it is known. */
static inline int sdmacc_alu_to_cce_type(unsigned op) {
  switch (op) {
    case SDMACC_ALU_ADD:
      return SDMACC_CCE_ADD;
    case SDMACC_ALU_MAX:
      return SDMACC_CCE_MAX;
    case SDMACC_ALU_MIN:
      return SDMACC_CCE_MIN;
    default:
      return -1;
  }
}

/* nrt_op_type to SDMA_CCETYPE, the identity; -1 for INVALID and unknown values. */
static inline int sdmacc_nrt_op_to_cce_type(unsigned op) {
  return op <= SDMACC_NRT_OP_MIN ? (int)op : -1;
}

/* DMA block operation to SDMA_CCETYPE; -1 for COPY, TRANSPOSE and unknown values. */
static inline int sdmacc_kbin_op_to_cce_type(unsigned op) {
  switch (op) {
    case SDMACC_KBIN_FMA:
      return SDMACC_CCE_FMA;
    case SDMACC_KBIN_ADD:
      return SDMACC_CCE_ADD;
    case SDMACC_KBIN_MIN:
      return SDMACC_CCE_MIN;
    case SDMACC_KBIN_MAX:
      return SDMACC_CCE_MAX;
    default:
      return -1;
  }
}

static inline const char* sdmacc_name_cce_type(unsigned v) {
  static const char* const names[] = {"ADD", "FMA", "MAX", "MIN", "EXT", "GCE"};

  return v < sizeof(names) / sizeof(names[0]) ? names[v] : NULL;
}

/* DTYPE: one numbering for instruction words, descriptors and the public interface. */
enum sdmacc_dtype {
  SDMACC_DTYPE_INVALID = 0x00,
  SDMACC_DTYPE_UINT64 = 0x01,
  SDMACC_DTYPE_INT8 = 0x02,
  SDMACC_DTYPE_UINT8 = 0x03,
  SDMACC_DTYPE_INT16 = 0x04,
  SDMACC_DTYPE_UINT16 = 0x05,
  SDMACC_DTYPE_BF16 = 0x06,
  SDMACC_DTYPE_FP16 = 0x07,
  SDMACC_DTYPE_INT32 = 0x08,
  SDMACC_DTYPE_UINT32 = 0x09,
  SDMACC_DTYPE_FP32 = 0x0a,
  SDMACC_DTYPE_FP32R = 0x0b, /* shares its value with the reserved slot of SDMA_DTYPE */
  SDMACC_DTYPE_INT64 = 0x0c,
  SDMACC_DTYPE_FP8E3 = 0x0d,
  SDMACC_DTYPE_FP8E4 = 0x0e,
  SDMACC_DTYPE_FP8E5 = 0x0f,
  SDMACC_DTYPE_FP4X4 = 0x10, /* v4 and later, four in a 2-byte container */
};

/*
 * Bytes of an element as the DMA sizes it. FP32R belongs to the accumulate nibble only and its
 * table entry is 0: a transfer sized with it would move nothing, so it is an error here, -1, like
 * every value without an entry.
 */
static inline int sdmacc_dtype_dma_size(unsigned dtype) {
  static const signed char bytes[] = {-1, 8, 1, 1, 2, 2, 2, 2, 4, 4, 4, -1, 8, 1, 1, 1};

  return dtype < sizeof(bytes) ? bytes[dtype] : -1;
}

static inline const char* sdmacc_name_dtype(unsigned v) {
  static const char* const names[] = {"INVALID", "UINT64", "INT8",  "UINT8",  "INT16", "UINT16",
                                      "BF16",    "FP16",   "INT32", "UINT32", "FP32",  "FP32R",
                                      "INT64",   "FP8E3",  "FP8E4", "FP8E5",  "FP4X4"};

  return v < sizeof(names) / sizeof(names[0]) ? names[v] : NULL;
}

/* COLLECTIVE_TYPE: the kind byte of an instruction word (S0 section 5). */
enum sdmacc_ctype {
  SDMACC_CTYPE_INVALID = 0,
  SDMACC_CTYPE_ALL_REDUCE = 1,
  SDMACC_CTYPE_REDUCE_SCATTER = 2,
  SDMACC_CTYPE_ALL_GATHER = 3,
  SDMACC_CTYPE_ALL_TO_ALL = 4,
  SDMACC_CTYPE_PERMUTE = 5,
  SDMACC_CTYPE_PERMUTE_REDUCE = 6,
  SDMACC_CTYPE_PERMUTE_IMPLICIT = 7,
  SDMACC_CTYPE_PERMUTE_REDUCE_IMPLICIT = 8,
  SDMACC_CTYPE_ALL_TO_ALL_V = 9,
};

/* enc_op_type: the kind in the host's records and in the profile (S0 section 3). Not the numbering
 * of ctype. */
enum sdmacc_enc_op {
  SDMACC_ENC_ALLGATHER = 0,
  SDMACC_ENC_ALLREDUCE = 1,
  SDMACC_ENC_BROADCAST = 2,
  SDMACC_ENC_REDUCE = 3,
  SDMACC_ENC_REDUCE_SCATTER = 4,
  SDMACC_ENC_SEND = 5,
  SDMACC_ENC_RECV = 6,
  SDMACC_ENC_ALLTOALL = 7,
  SDMACC_ENC_PERMUTE = 8,
  SDMACC_ENC_PERMUTE_REDUCE = 9,
  SDMACC_ENC_PERMUTE_IMPLICIT = 10,
  SDMACC_ENC_PERMUTE_REDUCE_IMPLICIT = 11,
  SDMACC_ENC_ALLTOALL_V = 12,
  SDMACC_ENC_INVALID = 13,
  SDMACC_ENC_N = 13,
};

/* Kinds (bit = enc_op_type) whose input, or output, has rank_n times the element count of the word.
 */
#define SDMACC_ENC_INPUT_TIMES_RANKS_MASK 0x90u
#define SDMACC_ENC_OUTPUT_TIMES_RANKS_MASK 0x81u

/* ctype to enc_op_type; SDMACC_ENC_INVALID for INVALID and unknown values. */
static inline unsigned sdmacc_ctype_to_enc_op(unsigned ctype) {
  static const unsigned char kinds[] = {
      SDMACC_ENC_INVALID,        SDMACC_ENC_ALLREDUCE,        SDMACC_ENC_REDUCE_SCATTER,
      SDMACC_ENC_ALLGATHER,      SDMACC_ENC_ALLTOALL,         SDMACC_ENC_PERMUTE,
      SDMACC_ENC_PERMUTE_REDUCE, SDMACC_ENC_PERMUTE_IMPLICIT, SDMACC_ENC_PERMUTE_REDUCE_IMPLICIT,
      SDMACC_ENC_ALLTOALL_V};

  return ctype < sizeof(kinds) ? kinds[ctype] : (unsigned)SDMACC_ENC_INVALID;
}

static inline const char* sdmacc_name_ctype(unsigned v) {
  static const char* const names[] = {
      "INVALID",        "ALL_REDUCE",       "REDUCE_SCATTER",
      "ALL_GATHER",     "ALL_TO_ALL",       "PERMUTE",
      "PERMUTE_REDUCE", "PERMUTE_IMPLICIT", "PERMUTE_REDUCE_IMPLICIT",
      "ALL_TO_ALL_V"};

  return v < sizeof(names) / sizeof(names[0]) ? names[v] : NULL;
}

static inline const char* sdmacc_name_enc_op(unsigned v) {
  static const char* const names[] = {
      "ALLGATHER",      "ALLREDUCE",        "BROADCAST",
      "REDUCE",         "REDUCE_SCATTER",   "SEND",
      "RECV",           "ALLTOALL",         "PERMUTE",
      "PERMUTE_REDUCE", "PERMUTE_IMPLICIT", "PERMUTE_REDUCE_IMPLICIT",
      "ALLTOALL_V",     "INVALID"};

  return v < sizeof(names) / sizeof(names[0]) ? names[v] : NULL;
}

/* enc_alg_type: the algorithm of an operation or of a leg, and the algo_type nibble of a CTRL entry
 * (S0 section 6.1). */
enum sdmacc_alg {
  SDMACC_ALG_RING = 0,
  SDMACC_ALG_HIER = 1,
  SDMACC_ALG_MESH = 2,
  SDMACC_ALG_KANGARING = 3,
  SDMACC_ALG_SINGLE_CYCLE_RING = 4,
  SDMACC_ALG_INTRA_RDH = 5,
  SDMACC_ALG_SINGLE_STEP_MESH = 6,
  SDMACC_ALG_INTER_RDH = 7,
  SDMACC_ALG_TWO_STEP_POD_MESH = 8,
  SDMACC_ALG_LATENCY_OPT_MESH = 9,
  SDMACC_ALG_BW_OPT_MESH = 10,
  SDMACC_ALG_INVALID = 11,
};

static inline const char* sdmacc_name_alg(unsigned v) {
  static const char* const names[] = {"RING",
                                      "HIER",
                                      "MESH",
                                      "KANGARING",
                                      "SINGLE_CYCLE_RING",
                                      "INTRA_RDH",
                                      "SINGLE_STEP_MESH",
                                      "INTER_RDH",
                                      "TWO_STEP_POD_MESH",
                                      "LATENCY_OPT_MESH",
                                      "BW_OPT_MESH",
                                      "INVALID"};

  return v < sizeof(names) / sizeof(names[0]) ? names[v] : NULL;
}

/* The names a profile prints: two values share "RDH", two share "Mesh", and index 4 prints
 * "Invalid". NULL from 11 on. */
static inline const char* sdmacc_profile_name_alg(unsigned v) {
  static const char* const names[] = {"Ring",
                                      "Hier",
                                      "Mesh",
                                      "Kangaring",
                                      "Invalid",
                                      "RDH",
                                      "Single Step Mesh",
                                      "RDH",
                                      "UltraServer Mesh",
                                      "Mesh",
                                      "Bw Optimal Mesh"};

  return v < sizeof(names) / sizeof(names[0]) ? names[v] : NULL;
}

/* enc_alg_mesh_type, also the algo_sub_type of a mesh CTRL entry. */
enum sdmacc_mesh_type {
  SDMACC_MESH_FULL = 0,
  SDMACC_MESH_GROUPED = 1,
  SDMACC_MESH_TRN2 = 2,
  SDMACC_MESH_SWITCH = 3,
  SDMACC_MESH_INVALID = 4,
};

static inline const char* sdmacc_name_mesh_type(unsigned v) {
  static const char* const names[] = {"FULL_MESH", "GROUPED_MESH", "MESH_TRN2", "MESH_SWITCH",
                                      "INVALID"};

  return v < sizeof(names) / sizeof(names[0]) ? names[v] : NULL;
}

/* The kind of one metaring object. */
enum sdmacc_metaring {
  SDMACC_METARING_RING = 0,
  SDMACC_METARING_KANGARING = 1,
  SDMACC_METARING_SINGLE_CYCLE = 2,
  SDMACC_METARING_RDH = 3,
  SDMACC_METARING_INVALID = 4,
};

/* enc_pattern_t. */
enum sdmacc_pattern {
  SDMACC_PATTERN_RING = 0,
  SDMACC_PATTERN_MESH = 1,
  SDMACC_PATTERN_INVALID = 2,
};

/* reduction_type_t: how often a reduce step reads and writes memory; not the operation. */
enum sdmacc_reduction {
  SDMACC_RED_RING_2R1W = 0,
  SDMACC_RED_RING_2R2W = 1,
  SDMACC_RED_KANGARING_NR1W = 2,
};

/* enc_comm_type: the scope of a communicator. */
enum sdmacc_comm {
  SDMACC_COMM_INTRA = 0,
  SDMACC_COMM_INTER = 1,
  SDMACC_COMM_MAX = 2,
};

/* enc_half_chunk_index. */
enum sdmacc_half {
  SDMACC_HALF_H0 = 0,
  SDMACC_HALF_H1 = 1,
  SDMACC_HALF_COUNT = 2,
};

/* encd_neigh: the role of a neighbour in a step. */
enum sdmacc_neigh {
  SDMACC_NEIGH_LOCAL = 0,
  SDMACC_NEIGH_NEXT = 1,
  SDMACC_NEIGH_PREV = 2,
  SDMACC_NEIGH_GATEWAY = 3,
  SDMACC_NEIGH_PEER_RMTV = 4,
  SDMACC_NEIGH_PEER_RMTV2 = 5,
  SDMACC_NEIGH_PEER_LOCAL = 6,
  SDMACC_NEIGH_NEXT_PEER_RMTV = 7,
  SDMACC_NEIGH_INVALID = 8,
  SDMACC_NEIGH_NUM = 8,
};

/* Place of an instruction in a chain; the FINAL one takes over the first one's wait. */
enum sdmacc_chain {
  SDMACC_CHAIN_NONE = 0,
  SDMACC_CHAIN_INITIAL = 1,
  SDMACC_CHAIN_BODY = 2,
  SDMACC_CHAIN_FINAL = 3,
};

#endif
