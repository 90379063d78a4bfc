// SPDX-License-Identifier: MIT
// Every enumeration value as a number, and the conversions between the numberings.
#include "libuapi/abi/enums.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace sdmacc {
namespace {

// The enumerators, in order, have the values 0, 1, 2 …
void expect_in_order(const char* what, std::initializer_list<int> enumerators) {
  int expected = 0;
  for (int value : enumerators) EXPECT_EQ(value, expected++) << what;
}

TEST(Enums, OperationKinds) {
  expect_in_order(
      "enc_op_type",
      {SDMACC_ENC_ALLGATHER, SDMACC_ENC_ALLREDUCE, SDMACC_ENC_BROADCAST, SDMACC_ENC_REDUCE,
       SDMACC_ENC_REDUCE_SCATTER, SDMACC_ENC_SEND, SDMACC_ENC_RECV, SDMACC_ENC_ALLTOALL,
       SDMACC_ENC_PERMUTE, SDMACC_ENC_PERMUTE_REDUCE, SDMACC_ENC_PERMUTE_IMPLICIT,
       SDMACC_ENC_PERMUTE_REDUCE_IMPLICIT, SDMACC_ENC_ALLTOALL_V, SDMACC_ENC_INVALID});
  EXPECT_EQ(SDMACC_ENC_N, 13);
}

TEST(Enums, CollectiveTypes) {
  expect_in_order("ctype",
                  {SDMACC_CTYPE_INVALID, SDMACC_CTYPE_ALL_REDUCE, SDMACC_CTYPE_REDUCE_SCATTER,
                   SDMACC_CTYPE_ALL_GATHER, SDMACC_CTYPE_ALL_TO_ALL, SDMACC_CTYPE_PERMUTE,
                   SDMACC_CTYPE_PERMUTE_REDUCE, SDMACC_CTYPE_PERMUTE_IMPLICIT,
                   SDMACC_CTYPE_PERMUTE_REDUCE_IMPLICIT, SDMACC_CTYPE_ALL_TO_ALL_V});
}

TEST(Enums, CommunicatorScopes) {
  expect_in_order("enc_comm_type", {SDMACC_COMM_INTRA, SDMACC_COMM_INTER, SDMACC_COMM_MAX});
}

TEST(Enums, AluOperations) {
  EXPECT_EQ(SDMACC_ALU_BYPASS, 0);
  EXPECT_EQ(SDMACC_ALU_ADD, 0x04);
  EXPECT_EQ(SDMACC_ALU_SUBTRACT, 0x05);
  EXPECT_EQ(SDMACC_ALU_MULT, 0x06);
  EXPECT_EQ(SDMACC_ALU_DIVIDE, 0x07);
  EXPECT_EQ(SDMACC_ALU_MAX, 0x08);
  EXPECT_EQ(SDMACC_ALU_MIN, 0x09);
  EXPECT_EQ(SDMACC_ALU_BITWISE_AND, 0x0a);
  EXPECT_EQ(SDMACC_ALU_LOGICAL_AND, 0x0d);
  EXPECT_EQ(SDMACC_ALU_LOGICAL_SHR, 0x11);
  EXPECT_EQ(SDMACC_ALU_IS_EQUAL, 0x12);
  EXPECT_EQ(SDMACC_ALU_IS_LT, 0x16);
  EXPECT_EQ(SDMACC_ALU_NOT_EQUAL, 0x18);
  EXPECT_EQ(SDMACC_ALU_MOD, 0x1b);
  EXPECT_EQ(SDMACC_ALU_RSQRT, 0x1d);
  EXPECT_EQ(SDMACC_ALU_ABS_MAX, 0x20);
  EXPECT_EQ(SDMACC_ALU_ABS_MIN, 0x21);
  EXPECT_EQ(SDMACC_ALU_ADD_INT, 0xc4);
  EXPECT_EQ(SDMACC_ALU_MOD_INT, 0xc8);
  EXPECT_EQ(SDMACC_ALU_MAX_INT, 0xcf);
  EXPECT_EQ(SDMACC_ALU_MIN_INT, 0xd0);
}

TEST(Enums, ReduceOperationsOfEachLayer) {
  EXPECT_EQ(SDMACC_ISA_CCE_ADD, 0);
  EXPECT_EQ(SDMACC_ISA_CCE_MAX, 2);
  EXPECT_EQ(SDMACC_ISA_CCE_MIN, 3);
  expect_in_order("SDMA_CCETYPE", {SDMACC_CCE_ADD, SDMACC_CCE_FMA, SDMACC_CCE_MAX, SDMACC_CCE_MIN,
                                   SDMACC_CCE_EXT, SDMACC_CCE_GCE});
  expect_in_order("nrt_op_type",
                  {SDMACC_NRT_OP_ADD, SDMACC_NRT_OP_FMA, SDMACC_NRT_OP_MAX, SDMACC_NRT_OP_MIN});
  EXPECT_EQ(SDMACC_NRT_OP_INVALID, 15);
  expect_in_order("DGE_COMPUTE_OP", {SDMACC_DGE_NONE, SDMACC_DGE_ADD, SDMACC_DGE_MULTIPLY,
                                     SDMACC_DGE_MAX, SDMACC_DGE_MIN});
  expect_in_order("DMA block operation", {SDMACC_KBIN_COPY, SDMACC_KBIN_FMA, SDMACC_KBIN_ADD,
                                          SDMACC_KBIN_MIN, SDMACC_KBIN_MAX, SDMACC_KBIN_TRANSPOSE});
}

TEST(Enums, ReductionPatterns) {
  expect_in_order("reduction_type_t",
                  {SDMACC_RED_RING_2R1W, SDMACC_RED_RING_2R2W, SDMACC_RED_KANGARING_NR1W});
}

TEST(Enums, Algorithms) {
  expect_in_order("enc_alg_type",
                  {SDMACC_ALG_RING, SDMACC_ALG_HIER, SDMACC_ALG_MESH, SDMACC_ALG_KANGARING,
                   SDMACC_ALG_SINGLE_CYCLE_RING, SDMACC_ALG_INTRA_RDH, SDMACC_ALG_SINGLE_STEP_MESH,
                   SDMACC_ALG_INTER_RDH, SDMACC_ALG_TWO_STEP_POD_MESH, SDMACC_ALG_LATENCY_OPT_MESH,
                   SDMACC_ALG_BW_OPT_MESH, SDMACC_ALG_INVALID});
  expect_in_order("enc_alg_mesh_type", {SDMACC_MESH_FULL, SDMACC_MESH_GROUPED, SDMACC_MESH_TRN2,
                                        SDMACC_MESH_SWITCH, SDMACC_MESH_INVALID});
  expect_in_order("metaring",
                  {SDMACC_METARING_RING, SDMACC_METARING_KANGARING, SDMACC_METARING_SINGLE_CYCLE,
                   SDMACC_METARING_RDH, SDMACC_METARING_INVALID});
  expect_in_order("enc_pattern_t",
                  {SDMACC_PATTERN_RING, SDMACC_PATTERN_MESH, SDMACC_PATTERN_INVALID});
}

TEST(Enums, DataTypes) {
  expect_in_order("DTYPE",
                  {SDMACC_DTYPE_INVALID, SDMACC_DTYPE_UINT64, SDMACC_DTYPE_INT8, SDMACC_DTYPE_UINT8,
                   SDMACC_DTYPE_INT16, SDMACC_DTYPE_UINT16, SDMACC_DTYPE_BF16, SDMACC_DTYPE_FP16,
                   SDMACC_DTYPE_INT32, SDMACC_DTYPE_UINT32, SDMACC_DTYPE_FP32, SDMACC_DTYPE_FP32R,
                   SDMACC_DTYPE_INT64, SDMACC_DTYPE_FP8E3, SDMACC_DTYPE_FP8E4, SDMACC_DTYPE_FP8E5,
                   SDMACC_DTYPE_FP4X4});
}

TEST(Enums, Generations) {
  EXPECT_EQ(SDMACC_ARCH_SUNDA, 0x05);
  EXPECT_EQ(SDMACC_ARCH_CAYMAN, 0x0c);
  EXPECT_EQ(SDMACC_ARCH_MARIANA, 0x14);
  EXPECT_EQ(SDMACC_ARCH_MARIANA_PLUS, 0x1c);
  EXPECT_EQ(SDMACC_CORETYPE_SUNDA, 6);
  EXPECT_EQ(SDMACC_CORETYPE_CAYMAN, 13);
  EXPECT_EQ(SDMACC_CORETYPE_MARIANA, 21);
  EXPECT_EQ(SDMACC_CORETYPE_MARIANA_PLUS, 29);
}

TEST(Enums, Topology) {
  expect_in_order("half", {SDMACC_HALF_H0, SDMACC_HALF_H1, SDMACC_HALF_COUNT});
  expect_in_order("encd_neigh",
                  {SDMACC_NEIGH_LOCAL, SDMACC_NEIGH_NEXT, SDMACC_NEIGH_PREV, SDMACC_NEIGH_GATEWAY,
                   SDMACC_NEIGH_PEER_RMTV, SDMACC_NEIGH_PEER_RMTV2, SDMACC_NEIGH_PEER_LOCAL,
                   SDMACC_NEIGH_NEXT_PEER_RMTV, SDMACC_NEIGH_INVALID});
  EXPECT_EQ(SDMACC_NEIGH_NUM, 8);
  expect_in_order("neighbour wire",
                  {SDMACC_NEIGH_WIRE_LOCAL, SDMACC_NEIGH_WIRE_P2P, SDMACC_NEIGH_WIRE_P2P_POD});
  expect_in_order("topology mode", {SDMACC_TOPOLOGY_NULL, SDMACC_TOPOLOGY_4_DEVS_IN_ROW,
                                    SDMACC_TOPOLOGY_4_DEVS_IN_COLUMN});
  expect_in_order("mesh group",
                  {SDMACC_MESH_GROUP_SELF, SDMACC_MESH_GROUP_INTRA_GROUP_ROOTS,
                   SDMACC_MESH_GROUP_INTER_GROUP_ROOTS, SDMACC_MESH_GROUP_ALL_INTER_ROOTS,
                   SDMACC_MESH_GROUP_INTRA_GROUP_NEIGHBORS, SDMACC_MESH_GROUP_INTRA_GROUP_MEMBERS});
  EXPECT_EQ(SDMACC_DEVICE_NETWORK, -1);
  EXPECT_EQ(SDMACC_DEVICE_POD, -2);
  EXPECT_EQ(SDMACC_DEVICE_UNKNOWN, -3);
  expect_in_order("network mark",
                  {SDMACC_NET_TRANSFER, SDMACC_NET_OP_COMPLETE, SDMACC_NET_EXEC_COMPLETE});
  expect_in_order("instr_chaining",
                  {SDMACC_CHAIN_NONE, SDMACC_CHAIN_INITIAL, SDMACC_CHAIN_BODY, SDMACC_CHAIN_FINAL});
}

TEST(Enums, MeshEvents) {
  expect_in_order(
      "mesh event",
      {SDMACC_MESH_EV_SYNC, SDMACC_MESH_EV_GLOBAL_HNDSHK, SDMACC_MESH_EV_LOCAL_HNDSHK,
       SDMACC_MESH_EV_INTER_GRP_BRDCST, SDMACC_MESH_EV_FN_BARRIER_FIRST,
       SDMACC_MESH_EV_FN_BARRIER_LAST, SDMACC_MESH_EV_REDUCE_LOCAL_HNDSHK,
       SDMACC_MESH_EV_INTRA_GRP_BRDCST, SDMACC_MESH_EV_REDUCE_COPY, SDMACC_MESH_EV_REDUCE_COPY_2,
       SDMACC_MESH_EV_REDUCE_WRITE, SDMACC_MESH_EV_INTER_GRP_BRDCST_2,
       SDMACC_MESH_EV_LOCAL_AND_POD_GRP_BRDCST, SDMACC_MESH_EV_LOCAL_AND_POD_GRP_BRDCST_2,
       SDMACC_MESH_EV_LOCAL_HNDSHK_1, SDMACC_MESH_EV_LOCAL_HNDSHK_2, SDMACC_MESH_EV_GLOBAL_HNDSHK_1,
       SDMACC_MESH_EV_INTER_GRP_BRDCST_1, SDMACC_MESH_EV_INTRA_GRP_BRDCST_1});
  EXPECT_EQ(SDMACC_MESH_EV_2DEV_BRDCST, 20);
  EXPECT_EQ(SDMACC_MESH_EV_2DEV_HNDSHK, 21);
  EXPECT_EQ(SDMACC_MESH_EV_COPY_FROM_HOST, 22);
  EXPECT_EQ(SDMACC_MESH_EV_RH_STEP_0, 23);
  EXPECT_EQ(SDMACC_MESH_EV_RH_STEP_9, SDMACC_MESH_EV_RH_STEP_0 + 9);
  EXPECT_EQ(SDMACC_MESH_EV_RDH_LOCAL_HANDSHAKE, SDMACC_MESH_EV_RH_STEP_9);
  EXPECT_EQ(SDMACC_MESH_EV_AXES_HANDSHAKE, 33);
  EXPECT_EQ(SDMACC_MESH_EV_RD_STEP_0, 34);
  EXPECT_EQ(SDMACC_MESH_EV_RD_STEP_6, SDMACC_MESH_EV_RD_STEP_0 + 6);
  EXPECT_EQ(SDMACC_MESH_EV_AXES_HANDSHAKE_2, 41);
  EXPECT_EQ(SDMACC_MESH_EV_2DEV_RD_STEP_4, 51);
  EXPECT_EQ(SDMACC_MESH_EV_LOCAL_PEER_HANDSHAKE, 52);
}

TEST(Enums, BarriersAndReports) {
  expect_in_order("barrier_type",
                  {SDMACC_BARRIER_INTRA_CHIP, SDMACC_BARRIER_INTRA_POD, SDMACC_BARRIER_INTER_CHIP,
                   SDMACC_BARRIER_INTER_CHIP_RING_LOCAL, SDMACC_BARRIER_INTER_CHIP_RING_REMOTE,
                   SDMACC_BARRIER_INTRA_RACK, SDMACC_BARRIER_INTER_RACK, SDMACC_BARRIER_TYPE_MAX});
  expect_in_order("barrier_operation",
                  {SDMACC_BARRIER_ENTRY, SDMACC_BARRIER_EXIT, SDMACC_BARRIER_OPERATION_MAX});
  expect_in_order(
      "notification_type",
      {SDMACC_NOTIF_TRACE, SDMACC_NOTIF_EVENT, SDMACC_NOTIF_ERROR, SDMACC_NOTIF_INFER_STATUS,
       SDMACC_NOTIF_DMA, SDMACC_NOTIF_THROTTLE, SDMACC_NOTIF_TOPSP_TRACE, SDMACC_NOTIF_TOPSP_EVENT,
       SDMACC_NOTIF_TOPSP_ERROR, SDMACC_NOTIF_TOPSP_CC_STATUS, SDMACC_NOTIF_MAX});
  EXPECT_EQ(SDMACC_NQ_DMA, 0x02);
  EXPECT_EQ(SDMACC_NQ_ERROR, 0x03);
  EXPECT_EQ(SDMACC_NQ_PE, 0x04);
  EXPECT_EQ(SDMACC_NQ_ACT, 0x08);
  EXPECT_EQ(SDMACC_NQ_POOL, 0x0c);
  EXPECT_EQ(SDMACC_NQ_DVE, 0x10);
  EXPECT_EQ(SDMACC_NQ_SP, 0x14);
  EXPECT_EQ(SDMACC_NQ_AXI_EVENT, 0x1b);
  expect_in_order("NRT_STATUS", {SDMACC_NRT_SUCCESS, SDMACC_NRT_FAILURE, SDMACC_NRT_INVALID,
                                 SDMACC_NRT_INVALID_HANDLE, SDMACC_NRT_RESOURCE, SDMACC_NRT_TIMEOUT,
                                 SDMACC_NRT_HW_ERROR, SDMACC_NRT_QUEUE_FULL});
  EXPECT_EQ(SDMACC_NRT_COLL_PENDING, 1100);
  EXPECT_EQ(SDMACC_NRT_HW_ERR_COLLECTIVES, 1200);
  EXPECT_EQ(SDMACC_NRT_NETWORK_PROXY_FAILURE, 1206);
  expect_in_order("engine", {SDMACC_ENGINE_PE, SDMACC_ENGINE_ACT, SDMACC_ENGINE_POOL,
                             SDMACC_ENGINE_DVE, SDMACC_ENGINE_TPB_SP, SDMACC_ENGINE_TOP_SP});
}

TEST(Conversions, CtypeToOperationKind) {
  const unsigned expected[] = {13, 1, 4, 0, 7, 8, 9, 10, 11, 12};
  for (unsigned ctype = 0; ctype < 256; ++ctype) {
    EXPECT_EQ(sdmacc_ctype_to_enc_op(ctype), ctype < 10 ? expected[ctype] : 13u) << ctype;
  }
}

TEST(Conversions, AluOperationToCceType) {
  for (unsigned op = 0; op < 256; ++op) {
    const int expected = op == 4 ? 0 : op == 8 ? 2 : op == 9 ? 3 : -1;
    EXPECT_EQ(sdmacc_alu_to_cce_type(op), expected) << op;
  }
}

TEST(Conversions, PublicOperationToCceTypeIsTheIdentity) {
  for (unsigned op = 0; op < 256; ++op) {
    EXPECT_EQ(sdmacc_nrt_op_to_cce_type(op), op < 4 ? static_cast<int>(op) : -1) << op;
  }
}

TEST(Conversions, DmaBlockOperationToCceType) {
  const int expected[] = {-1, 1, 0, 3, 2, -1};
  for (unsigned op = 0; op < 256; ++op) {
    EXPECT_EQ(sdmacc_kbin_op_to_cce_type(op), op < 6 ? expected[op] : -1) << op;
  }
}

TEST(Conversions, IsaCceOperationsAreCceTypes) {
  EXPECT_EQ(static_cast<int>(SDMACC_ISA_CCE_ADD), static_cast<int>(SDMACC_CCE_ADD));
  EXPECT_EQ(static_cast<int>(SDMACC_ISA_CCE_MAX), static_cast<int>(SDMACC_CCE_MAX));
  EXPECT_EQ(static_cast<int>(SDMACC_ISA_CCE_MIN), static_cast<int>(SDMACC_CCE_MIN));
}

TEST(Conversions, SizeScalingOfTheKinds) {
  for (unsigned kind = 0; kind < SDMACC_ENC_N; ++kind) {
    EXPECT_EQ((SDMACC_ENC_INPUT_TIMES_RANKS_MASK >> kind & 1) != 0,
              kind == SDMACC_ENC_REDUCE_SCATTER || kind == SDMACC_ENC_ALLTOALL);
    EXPECT_EQ((SDMACC_ENC_OUTPUT_TIMES_RANKS_MASK >> kind & 1) != 0,
              kind == SDMACC_ENC_ALLGATHER || kind == SDMACC_ENC_ALLTOALL);
  }
}

TEST(DataTypeSize, Table) {
  const int bytes[16] = {-1, 8, 1, 1, 2, 2, 2, 2, 4, 4, 4, -1, 8, 1, 1, 1};
  for (unsigned dtype = 0; dtype < 256; ++dtype) {
    EXPECT_EQ(sdmacc_dtype_dma_size(dtype), dtype < 16 ? bytes[dtype] : -1) << dtype;
  }
}

TEST(DataTypeSize, Fp32rIsAnErrorAndNeverZero) {
  EXPECT_LT(sdmacc_dtype_dma_size(SDMACC_DTYPE_FP32R), 0);
  EXPECT_EQ(sdmacc_dtype_dma_size(SDMACC_DTYPE_FP32), 4);
  for (unsigned dtype = 0; dtype < 256; ++dtype) EXPECT_NE(sdmacc_dtype_dma_size(dtype), 0);
}

}  // namespace
}  // namespace sdmacc
