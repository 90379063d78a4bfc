// SPDX-License-Identifier: MIT
// The generation table: registers, firmware regions, dispatch and addresses.
#include "libuapi/abi/generation.h"

#include <gtest/gtest.h>

#include <iterator>

#include "libuapi/abi/enums.h"

namespace sdmacc {
namespace {

const unsigned kArchs[] = {SDMACC_ARCH_SUNDA, SDMACC_ARCH_CAYMAN, SDMACC_ARCH_MARIANA,
                           SDMACC_ARCH_MARIANA_PLUS};

TEST(Generation, LookUp) {
  ASSERT_EQ(SDMACC_GENERATIONS, std::size(kArchs));
  for (uint32_t i = 0; i < SDMACC_GENERATIONS; ++i) {
    EXPECT_EQ(sdmacc_generation_at(i)->arch_id, kArchs[i]);
    EXPECT_EQ(sdmacc_generation_by_arch(kArchs[i]), sdmacc_generation_at(i));
  }
  EXPECT_EQ(sdmacc_generation_at(SDMACC_GENERATIONS), nullptr);
  EXPECT_EQ(sdmacc_generation_by_arch(0), nullptr);
}

TEST(Generation, Registers) {
  for (unsigned arch : kArchs) {
    const sdmacc_generation& g = *sdmacc_generation_by_arch(arch);
    const bool v2 = arch == SDMACC_ARCH_SUNDA;
    EXPECT_EQ(g.csr_host_trigger, v2 ? 0x60848u : 0x615a0u) << arch;
    EXPECT_EQ(g.csr_stop, v2 ? 0x6084cu : 0x615c0u) << arch;
    EXPECT_EQ(g.csr_bb_switch, v2 ? 0u : 0x615e0u) << arch;
  }
}

TEST(Generation, AlgoConfigs) {
  for (unsigned arch : kArchs) {
    const sdmacc_generation& g = *sdmacc_generation_by_arch(arch);
    const bool v2 = arch == SDMACC_ARCH_SUNDA;
    EXPECT_EQ(g.mesh_events, v2 ? 50u : 108u);
    EXPECT_EQ(g.algo_hier_offset, v2 ? 0x2220u : 0x3440u);
    EXPECT_EQ(g.algo_bytes, v2 ? 0x2228u : 0x3448u);
    EXPECT_EQ(SDMACC_ALGO_MESH_OFFSET + g.mesh_events * sizeof(sdmacc_mesh_event),
              g.algo_hier_offset);
    EXPECT_EQ(g.algo_hier_offset + 8, g.algo_bytes);
  }
}

TEST(Generation, Limits) {
  for (unsigned arch : kArchs) {
    const sdmacc_generation& g = *sdmacc_generation_by_arch(arch);
    const bool v2 = arch == SDMACC_ARCH_SUNDA;
    EXPECT_EQ(g.element_limit, v2 ? 0x400u : 0x800u);
    EXPECT_EQ(g.packet_bytes, 0x2000u);
    EXPECT_EQ(g.m2s_descs, 65u);
    EXPECT_EQ(g.s2m_descs, v2 ? 64u : 60u);
    EXPECT_EQ(g.max_destinations, v2 ? 1u : 8u);
    EXPECT_EQ(g.topsps, v2 ? 6u : 16u);
    EXPECT_EQ(g.has_dispatch_table, v2 ? 0u : 1u);
  }
}

TEST(Generation, DispatchByAlgorithm) {
  for (unsigned arch : kArchs) {
    const sdmacc_generation& g = *sdmacc_generation_by_arch(arch);
    for (unsigned alg = 0; alg < SDMACC_DISPATCH_WORDS; ++alg) {
      unsigned expected = SDMACC_HANDLER_MESH;
      if (alg == SDMACC_ALG_RING || alg == SDMACC_ALG_KANGARING ||
          alg == SDMACC_ALG_SINGLE_CYCLE_RING) {
        expected = SDMACC_HANDLER_RING;
      }
      if (alg == SDMACC_ALG_HIER) expected = SDMACC_HANDLER_HIER;
      if (alg == SDMACC_ALG_INVALID) expected = SDMACC_HANDLER_ERROR;
      EXPECT_EQ(g.dispatch[alg], expected) << sdmacc_name_alg(alg);
    }
  }
}

TEST(Generation, TopspBlocks) {
  const sdmacc_generation& v3 = *sdmacc_generation_by_arch(SDMACC_ARCH_CAYMAN);
  EXPECT_EQ(sdmacc_soc_topsp(&v3, 0), 0x8280000000u);
  EXPECT_EQ(sdmacc_soc_topsp(&v3, 7), 0x8440000000u);
  EXPECT_EQ(sdmacc_soc_topsp(&v3, 8), 0x808280000000u);
  EXPECT_EQ(sdmacc_soc_topsp(&v3, 0) + SDMACC_TOPSP_CORE + v3.csr_host_trigger, 0x82802615a0u);
  const sdmacc_generation& v2 = *sdmacc_generation_by_arch(SDMACC_ARCH_SUNDA);
  EXPECT_EQ(sdmacc_soc_topsp(&v2, 0), 0xfffd0000000u);
  EXPECT_EQ(sdmacc_soc_topsp(&v2, 5) + SDMACC_TOPSP_CORE + v2.csr_host_trigger,
            0xfffd0200000u + (5u << 22) + 0x60848u);
}

TEST(Generation, BroadcastBases) {
  const sdmacc_generation& g = *sdmacc_generation_by_arch(SDMACC_ARCH_CAYMAN);
  const uint64_t bases[] = {0x1002080000, 0x1003080000, 0x5004080000, 0x5005080000};
  for (uint32_t core = 0; core < g.cores; ++core) {
    EXPECT_EQ(g.bcast_base[core], bases[core % 4] | (core < 4 ? 0 : uint64_t{1} << 47)) << core;
    EXPECT_EQ(g.bcast_base[core], g.engine_base[core] + 0x80000) << core;
  }
}

TEST(Generation, QueueRegisters) {
  const sdmacc_generation& g = *sdmacc_generation_by_arch(SDMACC_ARCH_CAYMAN);
  EXPECT_EQ(SDMACC_QUEUE_PAGE(0) + SDMACC_Q_BASE_LO, 0x1028u);
  EXPECT_EQ(SDMACC_QUEUE_PAGE(0) + SDMACC_Q_TAIL_INC, 0x1038u);
  EXPECT_EQ(SDMACC_QUEUE_PAGE(0) + SDMACC_Q_S2M_SWCTRL, 0x1064u);
  EXPECT_EQ(SDMACC_QUEUE_PAGE(0) + SDMACC_Q_M2S_SWCTRL, 0x10b0u);
  EXPECT_EQ(SDMACC_QUEUE_PAGE(0) + SDMACC_Q_DATA_TAIL_INC, 0x10e0u);
  EXPECT_EQ(sdmacc_soc_queue_reg(&g, 0, 1, SDMACC_S2M_OFFSET, 15, SDMACC_Q_TAIL_INC),
            g.engine_base[0] + g.engine_stride + 0x20000 + 0x10038);
}

}  // namespace
}  // namespace sdmacc
