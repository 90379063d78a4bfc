// SPDX-License-Identifier: MIT
// The four operations as left folds over FP32 registers: first() takes source 0, next() each
// further source in order, finish() gives the value to narrow. NaN needs no care here beyond
// surviving, because narrowing makes every NaN the same. Included once per target by cce.cpp. Entry
// points: AddFold, FmaFold, MaxFold, MinFold.

#if defined(SDMACC_CCE_FOLD_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SDMACC_CCE_FOLD_INL_HPP
#undef SDMACC_CCE_FOLD_INL_HPP
#else
#define SDMACC_CCE_FOLD_INL_HPP
#endif

#include <cstddef>
#include <cstdint>

#include "firmware-stub/cce/codec_inl.hpp"
#include "firmware-stub/cce/fused.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sdmacc::cce::HWY_NAMESPACE {

struct AddFold {
  static constexpr bool kScaled = false;
  static HWY_INLINE Floats first(Floats x, Floats) { return x; }
  static HWY_INLINE Floats next(Floats acc, Floats x, Floats) { return hn::Add(acc, x); }
  static HWY_INLINE Floats finish(Floats acc) { return acc; }
};

// Σ scale · x with each step fused. The first is a plain product, so that its zero keeps its sign.
struct FmaFold {
  static constexpr bool kScaled = true;
  static HWY_INLINE Floats first(Floats x, Floats scale) { return hn::Mul(x, scale); }
  static HWY_INLINE Floats next(Floats acc, Floats x, Floats scale) {
#if HWY_NATIVE_FMA
    return hn::MulAdd(x, scale, acc);
#else
    constexpr size_t kLanes = hn::MaxLanes(F32());
    HWY_ALIGN float xs[kLanes], scales[kLanes], accs[kLanes];
    hn::Store(x, F32(), xs);
    hn::Store(scale, F32(), scales);
    hn::Store(acc, F32(), accs);
    for (size_t i = 0; i < kLanes; ++i) accs[i] = fused_multiply_add(xs[i], scales[i], accs[i]);
    return hn::Load(F32(), accs);
#endif
  }
  static HWY_INLINE Floats finish(Floats acc) {
    return acc;
  }
};

// Maximum and minimum compare integers whose order is that of the floats with −0 below +0; the
// CPU's own float instructions depend on the order of operands for NaN and for zeros. The map is
// its own inverse. A NaN first takes the sign that lets it win.
template <bool kMaximum>
struct ExtremeFold {
  static constexpr bool kScaled = false;
  static HWY_INLINE Floats first(Floats x, Floats) { return floats_of(key(x)); }
  static HWY_INLINE Floats next(Floats acc, Floats x, Floats) {
    const Words a = bits_of(acc);
    const Words b = key(x);
    if constexpr (kMaximum) return floats_of(hn::Max(a, b));
    return floats_of(hn::Min(a, b));
  }
  static HWY_INLINE Floats finish(Floats acc) { return floats_of(ordered(bits_of(acc))); }

 private:
  static constexpr int32_t kWinner = kMaximum ? kQuietNan : kQuietNan | kSignBit;
  static HWY_INLINE Words ordered(Words bits) {
    return hn::Xor(bits, hn::And(hn::ShiftRight<31>(bits), constant(~kSignBit)));
  }
  static HWY_INLINE Words key(Floats x) {
    return ordered(bits_of(hn::IfThenElse(hn::IsNaN(x), floats_of(constant(kWinner)), x)));
  }
};
using MaxFold = ExtremeFold<true>;
using MinFold = ExtremeFold<false>;

}  // namespace sdmacc::cce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
