// SPDX-License-Identifier: MIT
// Implements types.hpp: one table per enumeration gives both the printed name and what the command
// line takes.
#include "daemon/world/types.hpp"

#include <array>
#include <cctype>
#include <span>
#include <string>

namespace sdmacc {
namespace {

template <typename E>
struct Entry {
  E value;
  std::string_view name;
};

constexpr Entry<Collective> kCollectives[] = {
    {Collective::AllReduce, "ALL_REDUCE"},
    {Collective::ReduceScatter, "REDUCE_SCATTER"},
    {Collective::AllGather, "ALL_GATHER"},
    {Collective::AllToAll, "ALL_TO_ALL"},
    {Collective::Permute, "PERMUTE"},
    {Collective::PermuteReduce, "PERMUTE_REDUCE"},
    {Collective::PermuteImplicit, "PERMUTE_IMPLICIT"},
    {Collective::PermuteReduceImplicit, "PERMUTE_REDUCE_IMPLICIT"},
    {Collective::AllToAllV, "ALL_TO_ALL_V"},
};

constexpr Entry<ReduceOp> kReduceOps[] = {
    {ReduceOp::Add, "ADD"}, {ReduceOp::Fma, "FMA"}, {ReduceOp::Max, "MAX"}, {ReduceOp::Min, "MIN"}};

struct TypeEntry {
  DType value;
  std::string_view name;
  std::uint32_t bytes;
  bool reducible;
};

constexpr TypeEntry kTypes[] = {
    {DType::Uint64, "UINT64", 8, false}, {DType::Int8, "INT8", 1, false},
    {DType::Uint8, "UINT8", 1, false},   {DType::Int16, "INT16", 2, false},
    {DType::Uint16, "UINT16", 2, false}, {DType::Bf16, "BF16", 2, true},
    {DType::Fp16, "FP16", 2, true},      {DType::Int32, "INT32", 4, false},
    {DType::Uint32, "UINT32", 4, false}, {DType::Fp32, "FP32", 4, true},
    {DType::Fp32r, "FP32R", 4, true},    {DType::Int64, "INT64", 8, false},
    {DType::Fp8e3, "FP8E3", 1, true},    {DType::Fp8e4, "FP8E4", 1, true},
    {DType::Fp8e5, "FP8E5", 1, true},
};

constexpr Entry<Alg> kAlgs[] = {
    {Alg::Ring, "RING"},
    {Alg::Hier, "HIER"},
    {Alg::Mesh, "MESH"},
    {Alg::Kangaring, "KANGARING"},
    {Alg::SingleCycleRing, "SINGLE_CYCLE_RING"},
    {Alg::IntraRdh, "INTRA_RDH"},
    {Alg::SingleStepMesh, "SINGLE_STEP_MESH"},
    {Alg::InterRdh, "INTER_RDH"},
    {Alg::TwoStepPodMesh, "TWO_STEP_POD_MESH"},
    {Alg::LatencyOptMesh, "LATENCY_OPT_MESH"},
    {Alg::BwOptMesh, "BW_OPT_MESH"},
    {Alg::Invalid, "INVALID"},
};

constexpr Entry<MeshType> kMeshTypes[] = {{MeshType::Full, "FULL_MESH"},
                                          {MeshType::Grouped, "GROUPED_MESH"},
                                          {MeshType::Trn2, "MESH_TRN2"},
                                          {MeshType::Switch, "MESH_SWITCH"},
                                          {MeshType::Invalid, "INVALID"}};

template <typename Table, typename E>
std::string_view name_in(const Table& table, E value) {
  for (const auto& entry : table)
    if (entry.value == value) return entry.name;
  return "?";
}

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// The printed names in lower case are the spellings; the error lists them all.
template <typename Table>
auto parse_in(const Table& table, std::string_view what, std::string_view text)
    -> Result<std::remove_cvref_t<decltype(table[0].value)>> {
  std::string spellings;
  for (const auto& entry : table) {
    if (entry.name == "INVALID") continue;
    std::string spelling;
    for (const char c : entry.name) spelling += lower(c);
    if (spelling == text) return entry.value;
    spellings += (spellings.empty() ? "" : ", ") + spelling;
  }
  return fail(Errc::Invalid, Stage::None, kNoIndex, "\"{}\" is no {}; it can be {}", text, what,
              spellings);
}

const TypeEntry& entry_of(DType type) {
  for (const TypeEntry& entry : kTypes)
    if (entry.value == type) return entry;
  static constexpr TypeEntry kNone = {DType{}, "?", 0, false};
  return kNone;
}

}  // namespace

std::string_view name(Collective value) {
  return name_in(kCollectives, value);
}
std::string_view name(ReduceOp value) {
  return name_in(kReduceOps, value);
}
std::string_view name(DType value) {
  return name_in(kTypes, value);
}
std::string_view name(Alg value) {
  return name_in(kAlgs, value);
}
std::string_view name(MeshType value) {
  return name_in(kMeshTypes, value);
}

Result<ReduceOp> parse_reduce_op(std::string_view text) {
  return parse_in(kReduceOps, "reduce operation", text);
}
Result<DType> parse_dtype(std::string_view text) {
  return parse_in(kTypes, "data type", text);
}
Result<Alg> parse_alg(std::string_view text) {
  return parse_in(kAlgs, "algorithm", text);
}

std::uint32_t element_bytes(DType type) {
  return entry_of(type).bytes;
}
bool reducible(DType type) {
  return entry_of(type).reducible;
}

}  // namespace sdmacc
