// SPDX-License-Identifier: MIT
// The vocabulary that every stage shares: ids, and the spec's enumerations as C++ types whose
// values are the wire values of libuapi/abi/enums.h. Each prints by name().
#pragma once

#include <cstdint>
#include <string_view>

#include "libuapi/support/result.hpp"

namespace sdmacc {

using Rank = std::uint32_t;  // place in a group, 0 … n − 1

enum class Collective : std::uint8_t {  // ctype of the words
  AllReduce = 1,
  ReduceScatter = 2,
  AllGather = 3,
  AllToAll = 4,
  Permute = 5,
  PermuteReduce = 6,
  PermuteImplicit = 7,
  PermuteReduceImplicit = 8,
  AllToAllV = 9,
};

enum class ReduceOp : std::uint8_t { Add = 0, Fma = 1, Max = 2, Min = 3 };  // SDMA_CCETYPE

enum class DType : std::uint8_t {
  Uint64 = 1,
  Int8 = 2,
  Uint8 = 3,
  Int16 = 4,
  Uint16 = 5,
  Bf16 = 6,
  Fp16 = 7,
  Int32 = 8,
  Uint32 = 9,
  Fp32 = 0xA,
  Fp32r = 0xB,
  Int64 = 0xC,
  Fp8e3 = 0xD,
  Fp8e4 = 0xE,
  Fp8e5 = 0xF,
};

enum class Alg : std::uint8_t {  // enc_alg_type
  Ring = 0,
  Hier = 1,
  Mesh = 2,
  Kangaring = 3,
  SingleCycleRing = 4,
  IntraRdh = 5,
  SingleStepMesh = 6,
  InterRdh = 7,
  TwoStepPodMesh = 8,
  LatencyOptMesh = 9,
  BwOptMesh = 10,
  Invalid = 11,
};

enum class MeshType : std::uint8_t { Full = 0, Grouped = 1, Trn2 = 2, Switch = 3, Invalid = 4 };

std::string_view name(Collective);  // "ALL_REDUCE"
std::string_view name(ReduceOp);    // "ADD"
std::string_view name(DType);       // "BF16"
std::string_view name(Alg);         // "RING"
std::string_view name(MeshType);    // "FULL_MESH"

// Spellings that the command line and files take: lower case, without prefix ("add", "fp32",
// "bf16", "ring", "all_reduce").
Result<ReduceOp> parse_reduce_op(std::string_view);
Result<DType> parse_dtype(std::string_view);
Result<Alg> parse_alg(std::string_view);

// Bytes of one element of a tensor. FP32R tensors are FP32 in memory, so 4; the DMA byte-size table
// has 0 there, and nothing below this function may size a transfer by FP32R.
std::uint32_t element_bytes(DType);
// The six types that a CCE descriptor can reduce, FP32 counting as FP32R (S0 §5).
bool reducible(DType);

}  // namespace sdmacc
