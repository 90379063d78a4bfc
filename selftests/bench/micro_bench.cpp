// SPDX-License-Identifier: MIT
// The two costs that everything else stands on: one CCE reduction, and the lowering of one
// operation.
#include <benchmark/benchmark.h>

#include <vector>

#include "daemon/cli/target.hpp"
#include "daemon/compose/compose.hpp"
#include "daemon/compose/verify.hpp"
#include "daemon/emit/emit.hpp"
#include "daemon/select/select.hpp"
#include "firmware-stub/cce/cce.hpp"

namespace sdmacc {
namespace {

// Bytes are those that are read.
void BM_Reduce(benchmark::State& state, cce::Op op, cce::Acc acc) {
  const auto sources = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kBytes = 8192;
  std::vector<std::vector<std::byte>> memory(sources + 1, std::vector<std::byte>(kBytes));
  std::vector<const std::byte*> from;
  for (std::size_t i = 0; i < sources; ++i) from.push_back(memory[i].data());
  std::byte* to = memory.back().data();
  const std::vector<float> scales(sources, 0.5f);
  for (auto _ : state) {
    cce::reduce(op, acc, from, scales, {&to, 1}, kBytes / cce::element_size(acc));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * sources * kBytes));
  state.SetLabel(cce::active_target());
}
BENCHMARK_CAPTURE(BM_Reduce, add_fp32, cce::Op::Add, cce::Acc::Fp32r)->Arg(2)->Arg(4)->Arg(8);
BENCHMARK_CAPTURE(BM_Reduce, add_bf16, cce::Op::Add, cce::Acc::Bf16)->Arg(2)->Arg(8);
BENCHMARK_CAPTURE(BM_Reduce, add_fp8e4, cce::Op::Add, cce::Acc::Fp8e4)->Arg(2);
BENCHMARK_CAPTURE(BM_Reduce, fma_fp32, cce::Op::Fma, cce::Acc::Fp32r)->Arg(2);
BENCHMARK_CAPTURE(BM_Reduce, max_fp32, cce::Op::Max, cce::Acc::Fp32r)->Arg(2);

// Arguments: ranks, bytes.
void BM_Lower(benchmark::State& state) {
  const auto target = cli::make_target({});
  const auto world = cli::make_world(*target, static_cast<std::uint32_t>(state.range(0)));
  Operation operation;
  operation.count = static_cast<std::uint64_t>(state.range(1)) / 4;
  operation.ranks.resize(world->size());
  for (auto _ : state) {
    const auto choice = select(operation, *world, target->rules);
    const auto schedule =
        compose(operation, *choice, *world, std::min(operation.count, choice->window_elements));
    if (!verify(*schedule)) state.SkipWithError("a schedule is wrong");
    auto program = emit(*schedule, *world);
    benchmark::DoNotOptimize(program);
  }
}
BENCHMARK(BM_Lower)
    ->Args({2, 1 << 10})
    ->Args({4, 1 << 20})
    ->Args({8, 16 << 20})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sdmacc

BENCHMARK_MAIN();
