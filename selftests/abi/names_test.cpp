// SPDX-License-Identifier: MIT
// The spelling of the enumerators that texts, dumps and options use.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "libuapi/abi/enums.h"
#include "libuapi/abi/opcodes.h"

namespace sdmacc {
namespace {

using Name = const char* (*)(unsigned);

// The values that have a name, from all that a byte or more can hold; names must differ.
std::set<unsigned> named(Name name) {
  std::set<unsigned> values;
  std::set<std::string> seen;
  for (unsigned value = 0; value < 1024; ++value) {
    if (name(value) == nullptr) continue;
    values.insert(value);
    EXPECT_TRUE(seen.insert(name(value)).second) << name(value) << " twice";
  }
  EXPECT_EQ(name(~0u), nullptr);
  return values;
}

std::set<unsigned> up_to(unsigned last) {
  std::set<unsigned> values;
  for (unsigned value = 0; value <= last; ++value) values.insert(value);
  return values;
}

TEST(Names, ExactlyTheEnumeratorsHaveOne) {
  EXPECT_EQ(named(sdmacc_name_dtype), up_to(SDMACC_DTYPE_FP4X4));
  EXPECT_EQ(named(sdmacc_name_cce_type), up_to(SDMACC_CCE_GCE));
  EXPECT_EQ(named(sdmacc_name_ctype), up_to(SDMACC_CTYPE_ALL_TO_ALL_V));
  EXPECT_EQ(named(sdmacc_name_enc_op), up_to(SDMACC_ENC_INVALID));
  EXPECT_EQ(named(sdmacc_name_alg), up_to(SDMACC_ALG_INVALID));
  EXPECT_EQ(named(sdmacc_name_mesh_type), up_to(SDMACC_MESH_INVALID));
  std::set<unsigned> events = up_to(SDMACC_MESH_EV_LOCAL_PEER_HANDSHAKE);
  events.erase(19);
  EXPECT_EQ(named(sdmacc_name_mesh_event), events);
  EXPECT_EQ(named(sdmacc_name_arch), (std::set<unsigned>{0x05, 0x0c, 0x14, 0x1c}));
}

#define EXPECT_NAME(function, enumerator, name) EXPECT_STREQ(function(enumerator), name)

TEST(Names, DataTypes) {
  EXPECT_NAME(sdmacc_name_dtype, SDMACC_DTYPE_UINT64, "UINT64");
  EXPECT_NAME(sdmacc_name_dtype, SDMACC_DTYPE_INT8, "INT8");
  EXPECT_NAME(sdmacc_name_dtype, SDMACC_DTYPE_UINT8, "UINT8");
  EXPECT_NAME(sdmacc_name_dtype, SDMACC_DTYPE_INT16, "INT16");
  EXPECT_NAME(sdmacc_name_dtype, SDMACC_DTYPE_UINT16, "UINT16");
  EXPECT_NAME(sdmacc_name_dtype, SDMACC_DTYPE_BF16, "BF16");
  EXPECT_NAME(sdmacc_name_dtype, SDMACC_DTYPE_FP16, "FP16");
  EXPECT_NAME(sdmacc_name_dtype, SDMACC_DTYPE_INT32, "INT32");
  EXPECT_NAME(sdmacc_name_dtype, SDMACC_DTYPE_UINT32, "UINT32");
  EXPECT_NAME(sdmacc_name_dtype, SDMACC_DTYPE_FP32, "FP32");
  EXPECT_NAME(sdmacc_name_dtype, SDMACC_DTYPE_FP32R, "FP32R");
  EXPECT_NAME(sdmacc_name_dtype, SDMACC_DTYPE_INT64, "INT64");
  EXPECT_NAME(sdmacc_name_dtype, SDMACC_DTYPE_FP8E3, "FP8E3");
  EXPECT_NAME(sdmacc_name_dtype, SDMACC_DTYPE_FP8E4, "FP8E4");
  EXPECT_NAME(sdmacc_name_dtype, SDMACC_DTYPE_FP8E5, "FP8E5");
}

TEST(Names, Operations) {
  EXPECT_NAME(sdmacc_name_cce_type, SDMACC_CCE_ADD, "ADD");
  EXPECT_NAME(sdmacc_name_cce_type, SDMACC_CCE_FMA, "FMA");
  EXPECT_NAME(sdmacc_name_cce_type, SDMACC_CCE_MAX, "MAX");
  EXPECT_NAME(sdmacc_name_cce_type, SDMACC_CCE_MIN, "MIN");
  EXPECT_NAME(sdmacc_name_ctype, SDMACC_CTYPE_ALL_REDUCE, "ALL_REDUCE");
  EXPECT_NAME(sdmacc_name_ctype, SDMACC_CTYPE_REDUCE_SCATTER, "REDUCE_SCATTER");
  EXPECT_NAME(sdmacc_name_ctype, SDMACC_CTYPE_ALL_GATHER, "ALL_GATHER");
  EXPECT_NAME(sdmacc_name_ctype, SDMACC_CTYPE_ALL_TO_ALL, "ALL_TO_ALL");
  EXPECT_NAME(sdmacc_name_ctype, SDMACC_CTYPE_ALL_TO_ALL_V, "ALL_TO_ALL_V");
  EXPECT_NAME(sdmacc_name_enc_op, SDMACC_ENC_ALLGATHER, "ALLGATHER");
  EXPECT_NAME(sdmacc_name_enc_op, SDMACC_ENC_REDUCE_SCATTER, "REDUCE_SCATTER");
  EXPECT_NAME(sdmacc_name_enc_op, SDMACC_ENC_RECV, "RECV");
  EXPECT_NAME(sdmacc_name_enc_op, SDMACC_ENC_PERMUTE_REDUCE_IMPLICIT, "PERMUTE_REDUCE_IMPLICIT");
  EXPECT_NAME(sdmacc_name_enc_op, SDMACC_ENC_INVALID, "INVALID");
}

TEST(Names, Algorithms) {
  EXPECT_NAME(sdmacc_name_alg, SDMACC_ALG_RING, "RING");
  EXPECT_NAME(sdmacc_name_alg, SDMACC_ALG_HIER, "HIER");
  EXPECT_NAME(sdmacc_name_alg, SDMACC_ALG_SINGLE_CYCLE_RING, "SINGLE_CYCLE_RING");
  EXPECT_NAME(sdmacc_name_alg, SDMACC_ALG_INTRA_RDH, "INTRA_RDH");
  EXPECT_NAME(sdmacc_name_alg, SDMACC_ALG_INTER_RDH, "INTER_RDH");
  EXPECT_NAME(sdmacc_name_alg, SDMACC_ALG_BW_OPT_MESH, "BW_OPT_MESH");
  EXPECT_NAME(sdmacc_name_mesh_type, SDMACC_MESH_FULL, "FULL_MESH");
  EXPECT_NAME(sdmacc_name_mesh_type, SDMACC_MESH_SWITCH, "MESH_SWITCH");
  EXPECT_NAME(sdmacc_name_arch, SDMACC_ARCH_CAYMAN, "CAYMAN");
}

TEST(Names, ProfileAlgorithms) {
  const char* const expected[] = {"Ring",
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
  for (unsigned alg = 0; alg < SDMACC_ALG_INVALID; ++alg) {
    EXPECT_STREQ(sdmacc_profile_name_alg(alg), expected[alg]);
  }
  EXPECT_EQ(sdmacc_profile_name_alg(SDMACC_ALG_INVALID), nullptr);
}

TEST(Names, MeshEvents) {
  EXPECT_NAME(sdmacc_name_mesh_event, SDMACC_MESH_EV_SYNC, "SYNC");
  EXPECT_NAME(sdmacc_name_mesh_event, SDMACC_MESH_EV_INTRA_GRP_BRDCST, "INTRA_GRP_BRDCST");
  EXPECT_NAME(sdmacc_name_mesh_event, SDMACC_MESH_EV_REDUCE_WRITE, "REDUCE_WRITE");
  EXPECT_NAME(sdmacc_name_mesh_event, SDMACC_MESH_EV_LOCAL_HNDSHK_1, "LOCAL_HNDSHK_1");
  EXPECT_NAME(sdmacc_name_mesh_event, SDMACC_MESH_EV_2DEV_BRDCST, "2DEV_BRDCST");
  EXPECT_NAME(sdmacc_name_mesh_event, SDMACC_MESH_EV_COPY_FROM_HOST, "COPY_FROM_HOST");
  EXPECT_NAME(sdmacc_name_mesh_event, SDMACC_MESH_EV_RH_STEP_9, "RH_STEP_9");
  EXPECT_NAME(sdmacc_name_mesh_event, SDMACC_MESH_EV_RD_STEP_6, "RD_STEP_6");
  EXPECT_NAME(sdmacc_name_mesh_event, SDMACC_MESH_EV_2DEV_RD_STEP_4, "2DEV_RD_STEP_4");
  EXPECT_NAME(sdmacc_name_mesh_event, SDMACC_MESH_EV_LOCAL_PEER_HANDSHAKE, "LOCAL_PEER_HANDSHAKE");
}

TEST(Names, Opcodes) {
  EXPECT_EQ(named(sdmacc_name_op).size(), 58u);
  EXPECT_STREQ(sdmacc_name_op(0xc7), "TRIGGER_ALL_REDUCE");
  EXPECT_STREQ(sdmacc_name_op(0xc8), "TRIGGER_COLLECTIVE");
  EXPECT_STREQ(sdmacc_name_op(0xbf), "SB2SB_COLLECTIVE");
  EXPECT_EQ(sdmacc_name_op(0xd6), nullptr);
  EXPECT_EQ(sdmacc_name_op(0x00), nullptr);
}

}  // namespace
}  // namespace sdmacc
