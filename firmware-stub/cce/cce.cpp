// SPDX-License-Identifier: MIT
// reduce() for every instruction set: this file is compiled once per Highway target, and the best
// one that the CPU has is chosen at run time. One pass over memory: a strip of each source is read,
// folded in registers, narrowed and stored to each destination before the next strip.
// Start at Kernel::run below, then fold_inl.hpp (operations) and codec_inl.hpp (formats).

#include "firmware-stub/cce/cce.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "firmware-stub/cce/float_mode.hpp"
#include "firmware-stub/cce/fused.hpp"

// Registers are kept in arrays, which targets with vectors of unknown length can't do.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
// The fallback is one lane on every compiler; emulated vectors take minutes to compile with
// sanitizers.
#define HWY_BROKEN_EMU128 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "firmware-stub/cce/cce.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "firmware-stub/cce/codec_inl.hpp"
#include "firmware-stub/cce/fold_inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sdmacc::cce::HWY_NAMESPACE {

inline constexpr size_t kVectorBytes = sizeof(float) * hn::MaxLanes(F32());

// Highway's one-lane fallback dereferences a typed pointer, so it gets an aligned copy.
HWY_INLINE Words load(const std::byte* from) {
#if HWY_TARGET == HWY_SCALAR
  int32_t word;
  std::memcpy(&word, from, sizeof word);
  return constant(word);
#else
  return hn::LoadU(I32(), reinterpret_cast<const int32_t*>(from));
#endif
}

HWY_INLINE void store(Words words, std::byte* to) {
#if HWY_TARGET == HWY_SCALAR
  const int32_t word = hn::GetLane(words);
  std::memcpy(to, &word, sizeof word);
#else
  hn::StoreU(words, I32(), reinterpret_cast<int32_t*>(to));
#endif
}

template <class Codec, class Fold>
struct Kernel {
  // A strip is this many accumulators of FP32, whatever the format.
  static constexpr size_t kAccumulators = 4;
  static constexpr size_t kLoads = kAccumulators / Codec::kParts;
  static constexpr size_t kStripBytes = kLoads * kVectorBytes;

  static HWY_INLINE void read(const std::byte* from, Floats* x) {
    for (size_t i = 0; i < kLoads; ++i) {
      Codec::widen(load(from + i * kVectorBytes), x + i * Codec::kParts);
    }
  }

  static HWY_INLINE Floats scale(std::span<const float> scales, size_t source) {
    if constexpr (Fold::kScaled) return hn::Set(F32(), scales[source]);
    return hn::Zero(F32());
  }

  static HWY_INLINE void strip(std::span<const std::byte* const> srcs,
                               std::span<const float> scales, std::span<std::byte* const> dsts,
                               size_t offset) {
    Floats acc[kAccumulators];
    read(srcs[0] + offset, acc);
    const Floats scale0 = scale(scales, 0);
    for (size_t i = 0; i < kAccumulators; ++i) acc[i] = Fold::first(acc[i], scale0);

    for (size_t source = 1; source < srcs.size(); ++source) {
      Floats x[kAccumulators];
      read(srcs[source] + offset, x);
      const Floats scale_s = scale(scales, source);
      for (size_t i = 0; i < kAccumulators; ++i) acc[i] = Fold::next(acc[i], x[i], scale_s);
    }

    Words out[kLoads];
    for (size_t i = 0; i < kAccumulators; ++i) acc[i] = Fold::finish(acc[i]);
    for (size_t i = 0; i < kLoads; ++i) out[i] = Codec::narrow(acc + i * Codec::kParts);
    for (std::byte* dst : dsts) {
      for (size_t i = 0; i < kLoads; ++i) store(out[i], dst + offset + i * kVectorBytes);
    }
  }

  // Whole strips.
  static HWY_NOINLINE void strips(std::span<const std::byte* const> srcs,
                                  std::span<const float> scales, std::span<std::byte* const> dsts,
                                  size_t bytes) {
    for (size_t offset = 0; offset < bytes; offset += kStripBytes) {
      strip(srcs, scales, dsts, offset);
    }
  }

  // The last, incomplete strip is folded in copies: memory past the end may not exist.
  static void tail(std::span<const std::byte* const> srcs, std::span<const float> scales,
                   std::span<std::byte* const> dsts, size_t offset, size_t bytes) {
    HWY_ALIGN std::byte copies[kMaxSources][kStripBytes];
    HWY_ALIGN std::byte result[kStripBytes];
    std::array<const std::byte*, kMaxSources> copied{};
    for (size_t source = 0; source < srcs.size(); ++source) {
      std::memset(copies[source], 0, kStripBytes);
      std::memcpy(copies[source], srcs[source] + offset, bytes);
      copied[source] = copies[source];
    }
    std::byte* const to[] = {result};
    strips(std::span(copied).first(srcs.size()), scales, to, kStripBytes);
    for (std::byte* dst : dsts) std::memcpy(dst + offset, result, bytes);
  }

  static void run(std::span<const std::byte* const> srcs, std::span<const float> scales,
                  std::span<std::byte* const> dsts, size_t bytes) {
    const size_t rest = bytes % kStripBytes;
    strips(srcs, scales, dsts, bytes - rest);
    if (rest != 0) tail(srcs, scales, dsts, bytes - rest, rest);
  }
};

using Run = void(std::span<const std::byte* const>, std::span<const float>,
                 std::span<std::byte* const>, size_t);

template <class Codec>
Run* kernel_for(Op op) {
  switch (op) {
    case Op::Add:
      return Kernel<Codec, AddFold>::run;
    case Op::Fma:
      return Kernel<Codec, FmaFold>::run;
    case Op::Max:
      return Kernel<Codec, MaxFold>::run;
    case Op::Min:
      return Kernel<Codec, MinFold>::run;
  }
  return nullptr;
}

// The kernel of this target; null for values outside the enums.
Run* find_kernel(Op op, Acc acc) {
  switch (acc) {
    case Acc::Bf16:
      return kernel_for<Bf16Codec>(op);
    case Acc::Fp16:
      return kernel_for<Fp16Codec>(op);
    case Acc::Fp32r:
      return kernel_for<Fp32Codec>(op);
    case Acc::Fp8e3:
      return kernel_for<Fp8Codec<3>>(op);
    case Acc::Fp8e4:
      return kernel_for<Fp8Codec<4>>(op);
    case Acc::Fp8e5:
      return kernel_for<Fp8Codec<5>>(op);
  }
  return nullptr;
}

const char* target_name() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace sdmacc::cce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sdmacc::cce {
namespace {

HWY_EXPORT(find_kernel);
HWY_EXPORT(target_name);

// One bit per target, the best lowest. The static target is always there: it needs no feature.
int64_t available_targets() {
  static const int64_t available = (hwy::SupportedTargets() & HWY_TARGETS) | HWY_STATIC_TARGET;
  return available;
}

}  // namespace

size_t element_size(Acc acc) {
  switch (acc) {
    case Acc::Bf16:
    case Acc::Fp16:
      return 2;
    case Acc::Fp32r:
      return 4;
    case Acc::Fp8e3:
    case Acc::Fp8e4:
    case Acc::Fp8e5:
      return 1;
  }
  return 0;
}

void reduce(Op op, Acc acc, std::span<const std::byte* const> srcs, std::span<const float> scales,
            std::span<std::byte* const> dsts, size_t count) {
  assert(!srcs.empty() && srcs.size() <= kMaxSources);
  assert(!dsts.empty() && dsts.size() <= kMaxDestinations);
  assert(op != Op::Fma || scales.size() >= srcs.size());
  const auto kernel = HWY_DYNAMIC_DISPATCH(find_kernel)(op, acc);
  assert(kernel != nullptr);
  const DefaultFloatMode mode;
  kernel(srcs, scales, dsts, count * element_size(acc));
}

std::vector<std::string> targets() {
  std::vector<std::string> names;
  for (int64_t left = available_targets(); left != 0; left &= left - 1) {
    names.emplace_back(hwy::TargetName(left & -left));
  }
  return names;
}

std::string active_target() {
  return HWY_DYNAMIC_DISPATCH(target_name)();
}

bool force_target(std::string_view name) {
  if (name.empty()) {
    hwy::GetChosenTarget().Update(available_targets());
    return true;
  }
  for (int64_t left = available_targets(); left != 0; left &= left - 1) {
    if (name != hwy::TargetName(left & -left)) continue;
    hwy::GetChosenTarget().Update(left & -left);
    return true;
  }
  return false;
}

}  // namespace sdmacc::cce
#endif  // HWY_ONCE
