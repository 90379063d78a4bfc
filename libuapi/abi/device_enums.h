/* SPDX-License-Identifier: MIT */
/*
 * The enumerations of what a device does and reports: neighbours, mesh events, barriers,
 * notifications, status, generations and engines. Part of libuapi/abi/enums.h, which includes this
 * file.
 */
#ifndef SDMACC_ABI_DEVICE_ENUMS_H
#define SDMACC_ABI_DEVICE_ENUMS_H

#include <stddef.h>

/* The transport of a ring neighbour. */
enum sdmacc_neigh_wire {
  SDMACC_NEIGH_WIRE_LOCAL = 0,
  SDMACC_NEIGH_WIRE_P2P = 1,
  SDMACC_NEIGH_WIRE_P2P_POD = 2, /* over a pod link, fold_n 1 */
};

enum sdmacc_topology_mode {
  SDMACC_TOPOLOGY_NULL = 0,
  SDMACC_TOPOLOGY_4_DEVS_IN_ROW = 1,
  SDMACC_TOPOLOGY_4_DEVS_IN_COLUMN = 2,
};

/* Which ranks a mesh event addresses. */
enum sdmacc_mesh_group {
  SDMACC_MESH_GROUP_SELF = 0,
  SDMACC_MESH_GROUP_INTRA_GROUP_ROOTS = 1,
  SDMACC_MESH_GROUP_INTER_GROUP_ROOTS = 2,
  SDMACC_MESH_GROUP_ALL_INTER_ROOTS = 3,
  SDMACC_MESH_GROUP_INTRA_GROUP_NEIGHBORS = 4,
  SDMACC_MESH_GROUP_INTRA_GROUP_MEMBERS = 5,
};

/* Instead of a device number. */
enum sdmacc_device_sentinel {
  SDMACC_DEVICE_NETWORK = -1,
  SDMACC_DEVICE_POD = -2,
  SDMACC_DEVICE_UNKNOWN = -3,
};

enum sdmacc_net_mark {
  SDMACC_NET_TRANSFER = 0,
  SDMACC_NET_OP_COMPLETE = 1,
  SDMACC_NET_EXEC_COMPLETE = 2,
};

/*
 * Mesh event types in the numbering of runtime 2.31; other releases number them differently, so use
 * the names. 14 to 18 are numbered by order and 19 has no known name; 23 to 52 follow the order of
 * an older release, whose family has the same size.
 */
enum sdmacc_mesh_event_type {
  SDMACC_MESH_EV_SYNC = 0,
  SDMACC_MESH_EV_GLOBAL_HNDSHK = 1,
  SDMACC_MESH_EV_LOCAL_HNDSHK = 2,
  SDMACC_MESH_EV_INTER_GRP_BRDCST = 3,
  SDMACC_MESH_EV_FN_BARRIER_FIRST = 4,
  SDMACC_MESH_EV_FN_BARRIER_LAST = 5,
  SDMACC_MESH_EV_REDUCE_LOCAL_HNDSHK = 6,
  SDMACC_MESH_EV_INTRA_GRP_BRDCST = 7,
  SDMACC_MESH_EV_REDUCE_COPY = 8,
  SDMACC_MESH_EV_REDUCE_COPY_2 = 9,
  SDMACC_MESH_EV_REDUCE_WRITE = 10,
  SDMACC_MESH_EV_INTER_GRP_BRDCST_2 = 11,
  SDMACC_MESH_EV_LOCAL_AND_POD_GRP_BRDCST = 12,
  SDMACC_MESH_EV_LOCAL_AND_POD_GRP_BRDCST_2 = 13,
  SDMACC_MESH_EV_LOCAL_HNDSHK_1 = 14,
  SDMACC_MESH_EV_LOCAL_HNDSHK_2 = 15,
  SDMACC_MESH_EV_GLOBAL_HNDSHK_1 = 16,
  SDMACC_MESH_EV_INTER_GRP_BRDCST_1 = 17,
  SDMACC_MESH_EV_INTRA_GRP_BRDCST_1 = 18,
  SDMACC_MESH_EV_2DEV_BRDCST = 20,
  SDMACC_MESH_EV_2DEV_HNDSHK = 21,
  SDMACC_MESH_EV_COPY_FROM_HOST = 22,
  SDMACC_MESH_EV_RH_STEP_0 = 23, /* step k is RH_STEP_0 + k */
  SDMACC_MESH_EV_RH_STEP_9 = 32,
  SDMACC_MESH_EV_RDH_LOCAL_HANDSHAKE = 32, /* the same number as RH_STEP_9 */
  SDMACC_MESH_EV_AXES_HANDSHAKE = 33,
  SDMACC_MESH_EV_RD_STEP_0 = 34, /* step k is RD_STEP_0 + k */
  SDMACC_MESH_EV_RD_STEP_6 = 40,
  SDMACC_MESH_EV_AXES_HANDSHAKE_2 = 41,
  SDMACC_MESH_EV_1DEV_RDH_STEP_1 = 42,
  SDMACC_MESH_EV_1DEV_RDH_STEP_2 = 43,
  SDMACC_MESH_EV_1DEV_RD_STEP_1 = 44,
  SDMACC_MESH_EV_1DEV_RD_STEP_2 = 45,
  SDMACC_MESH_EV_1DEV_RH_STEP_1 = 46,
  SDMACC_MESH_EV_2DEV_RD_STEP_0 = 47, /* step k is 2DEV_RD_STEP_0 + k */
  SDMACC_MESH_EV_2DEV_RD_STEP_4 = 51,
  SDMACC_MESH_EV_LOCAL_PEER_HANDSHAKE = 52,
  SDMACC_MESH_EV_N = 53,
};

static inline const char* sdmacc_name_mesh_event(unsigned v) {
  static const char* const names[] = {"SYNC",
                                      "GLOBAL_HNDSHK",
                                      "LOCAL_HNDSHK",
                                      "INTER_GRP_BRDCST",
                                      "FN_BARRIER_FIRST",
                                      "FN_BARRIER_LAST",
                                      "REDUCE_LOCAL_HNDSHK",
                                      "INTRA_GRP_BRDCST",
                                      "REDUCE_COPY",
                                      "REDUCE_COPY_2",
                                      "REDUCE_WRITE",
                                      "INTER_GRP_BRDCST_2",
                                      "LOCAL_AND_POD_GRP_BRDCST",
                                      "LOCAL_AND_POD_GRP_BRDCST_2",
                                      "LOCAL_HNDSHK_1",
                                      "LOCAL_HNDSHK_2",
                                      "GLOBAL_HNDSHK_1",
                                      "INTER_GRP_BRDCST_1",
                                      "INTRA_GRP_BRDCST_1",
                                      NULL,
                                      "2DEV_BRDCST",
                                      "2DEV_HNDSHK",
                                      "COPY_FROM_HOST",
                                      "RH_STEP_0",
                                      "RH_STEP_1",
                                      "RH_STEP_2",
                                      "RH_STEP_3",
                                      "RH_STEP_4",
                                      "RH_STEP_5",
                                      "RH_STEP_6",
                                      "RH_STEP_7",
                                      "RH_STEP_8",
                                      "RH_STEP_9",
                                      "AXES_HANDSHAKE",
                                      "RD_STEP_0",
                                      "RD_STEP_1",
                                      "RD_STEP_2",
                                      "RD_STEP_3",
                                      "RD_STEP_4",
                                      "RD_STEP_5",
                                      "RD_STEP_6",
                                      "AXES_HANDSHAKE_2",
                                      "1DEV_RDH_STEP_1",
                                      "1DEV_RDH_STEP_2",
                                      "1DEV_RD_STEP_1",
                                      "1DEV_RD_STEP_2",
                                      "1DEV_RH_STEP_1",
                                      "2DEV_RD_STEP_0",
                                      "2DEV_RD_STEP_1",
                                      "2DEV_RD_STEP_2",
                                      "2DEV_RD_STEP_3",
                                      "2DEV_RD_STEP_4",
                                      "LOCAL_PEER_HANDSHAKE"};

  return v < sizeof(names) / sizeof(names[0]) ? names[v] : NULL;
}

enum sdmacc_barrier_type {
  SDMACC_BARRIER_INTRA_CHIP = 0,
  SDMACC_BARRIER_INTRA_POD = 1,
  SDMACC_BARRIER_INTER_CHIP = 2,
  SDMACC_BARRIER_INTER_CHIP_RING_LOCAL = 3,
  SDMACC_BARRIER_INTER_CHIP_RING_REMOTE = 4,
  SDMACC_BARRIER_INTRA_RACK = 5,
  SDMACC_BARRIER_INTER_RACK = 6,
  SDMACC_BARRIER_TYPE_MAX = 7,
};

enum sdmacc_barrier_operation {
  SDMACC_BARRIER_ENTRY = 0,
  SDMACC_BARRIER_EXIT = 1,
  SDMACC_BARRIER_OPERATION_MAX = 2,
};

/* notification_type: which queue a record comes from. */
enum sdmacc_notif {
  SDMACC_NOTIF_TRACE = 0,
  SDMACC_NOTIF_EVENT = 1,
  SDMACC_NOTIF_ERROR = 2,
  SDMACC_NOTIF_INFER_STATUS = 3,
  SDMACC_NOTIF_DMA = 4,
  SDMACC_NOTIF_THROTTLE = 5,
  SDMACC_NOTIF_TOPSP_TRACE = 6,
  SDMACC_NOTIF_TOPSP_EVENT = 7,
  SDMACC_NOTIF_TOPSP_ERROR = 8,
  SDMACC_NOTIF_TOPSP_CC_STATUS = 9,
  SDMACC_NOTIF_MAX = 10,
};

/* The 5-bit type in the header of a notification record; an engine has four codes from its first.
 */
enum sdmacc_nq_type {
  SDMACC_NQ_DMA = 0x02,
  SDMACC_NQ_ERROR = 0x03,
  SDMACC_NQ_PE = 0x04,
  SDMACC_NQ_ACT = 0x08,
  SDMACC_NQ_POOL = 0x0c,
  SDMACC_NQ_DVE = 0x10,
  SDMACC_NQ_SP = 0x14,
  SDMACC_NQ_AXI_EVENT = 0x1b,
};

enum sdmacc_nrt_status {
  SDMACC_NRT_SUCCESS = 0,
  SDMACC_NRT_FAILURE = 1,
  SDMACC_NRT_INVALID = 2,
  SDMACC_NRT_INVALID_HANDLE = 3,
  SDMACC_NRT_RESOURCE = 4,
  SDMACC_NRT_TIMEOUT = 5,
  SDMACC_NRT_HW_ERROR = 6,
  SDMACC_NRT_QUEUE_FULL = 7,
  SDMACC_NRT_UNSUPPORTED_NEFF_VERSION = 10,
  SDMACC_NRT_UNINITIALIZED = 13,
  SDMACC_NRT_CLOSED = 14,
  SDMACC_NRT_QUEUE_EMPTY = 15,
  SDMACC_NRT_UNRECOVERABLE = 101,
  SDMACC_NRT_BAD_INPUT = 1002,
  SDMACC_NRT_COMPLETED_WITH_ERR = 1004,
  SDMACC_NRT_NC_BUSY = 1005,
  SDMACC_NRT_OOB = 1006,
  SDMACC_NRT_COLL_PENDING = 1100,
  SDMACC_NRT_HW_ERR_COLLECTIVES = 1200,
  SDMACC_NRT_HBM_UE = 1201,
  SDMACC_NRT_NC_UE = 1202,
  SDMACC_NRT_DMA_ABORT = 1203,
  SDMACC_NRT_SW_NQ_OVERFLOW = 1204,
  SDMACC_NRT_NETWORK_PROXY_FAILURE = 1206,
};

/* Generations. */
enum sdmacc_arch {
  SDMACC_ARCH_SUNDA = 0x05,
  SDMACC_ARCH_CAYMAN = 0x0c,
  SDMACC_ARCH_MARIANA = 0x14,
  SDMACC_ARCH_MARIANA_PLUS = 0x1c,
};

/* coretype of a generation. */
enum sdmacc_coretype {
  SDMACC_CORETYPE_SUNDA = 6,
  SDMACC_CORETYPE_CAYMAN = 13,
  SDMACC_CORETYPE_MARIANA = 21,
  SDMACC_CORETYPE_MARIANA_PLUS = 29,
};

static inline const char* sdmacc_name_arch(unsigned v) {
  switch (v) {
    case SDMACC_ARCH_SUNDA:
      return "SUNDA";
    case SDMACC_ARCH_CAYMAN:
      return "CAYMAN";
    case SDMACC_ARCH_MARIANA:
      return "MARIANA";
    case SDMACC_ARCH_MARIANA_PLUS:
      return "MARIANA_PLUS";
    default:
      return NULL;
  }
}

/* Engines that execute instruction streams. */
enum sdmacc_engine {
  SDMACC_ENGINE_PE = 0,
  SDMACC_ENGINE_ACT = 1,
  SDMACC_ENGINE_POOL = 2,
  SDMACC_ENGINE_DVE = 3,
  SDMACC_ENGINE_TPB_SP = 4,
  SDMACC_ENGINE_TOP_SP = 5,
};

#endif
