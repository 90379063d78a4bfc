// SPDX-License-Identifier: MIT
// Element formats as seen by a vector register: a codec widens one register of packed elements
// (32-bit words) to kParts registers of FP32 and narrows them back, rounding to nearest even. Which
// element lands in which part does not matter, as long as narrow() undoes widen(). Included once
// per target by cce.cpp. Entry points: Fp32Codec, Bf16Codec, Fp16Codec, Fp8Codec.

#if defined(SDMACC_CCE_CODEC_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SDMACC_CCE_CODEC_INL_HPP
#undef SDMACC_CCE_CODEC_INL_HPP
#else
#define SDMACC_CCE_CODEC_INL_HPP
#endif

#include <bit>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sdmacc::cce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using I32 = hn::RebindToSigned<F32>;
using Floats = hn::Vec<F32>;
using Words = hn::Vec<I32>;  // signed: every field compared below is positive

inline constexpr int32_t kSignBit = INT32_MIN;
inline constexpr int32_t kInfinity = 0x7F800000;
inline constexpr int32_t kQuietNan = 0x7FC00000;

HWY_INLINE Words constant(int32_t value) {
  return hn::Set(I32(), value);
}
HWY_INLINE Words bits_of(Floats x) {
  return hn::BitCast(I32(), x);
}
HWY_INLINE Floats floats_of(Words x) {
  return hn::BitCast(F32(), x);
}

// Every NaN becomes the one positive quiet NaN without payload.
HWY_INLINE Floats canonical(Floats x) {
  return hn::IfThenElse(hn::IsNaN(x), floats_of(constant(kQuietNan)), x);
}

struct Fp32Codec {
  static constexpr size_t kParts = 1;

  static HWY_INLINE void widen(Words word, Floats* parts) { parts[0] = floats_of(word); }
  static HWY_INLINE Words narrow(const Floats* parts) { return bits_of(canonical(parts[0])); }
};

// The upper half of FP32. Rounding adds half a unit in integers, which carries into the exponent
// and up to infinity as it should; the CPU's own BF16 conversion flushes subnormals.
struct Bf16Codec {
  static constexpr size_t kParts = 2;

  static HWY_INLINE void widen(Words word, Floats* parts) {
    parts[0] = floats_of(hn::ShiftLeft<16>(word));
    parts[1] = floats_of(hn::And(word, constant(kUpper)));
  }
  static HWY_INLINE Words narrow(const Floats* parts) {
    const hn::RebindToUnsigned<I32> u32;
    const auto low = hn::ShiftRight<16>(hn::BitCast(u32, rounded(parts[0])));
    return hn::Or(hn::BitCast(I32(), low), hn::And(rounded(parts[1]), constant(kUpper)));
  }

 private:
  static constexpr int32_t kUpper = INT32_MIN / 0x8000;  // 0xFFFF0000
  static HWY_INLINE Words rounded(Floats x) {
    const Words bits = bits_of(canonical(x));
    const Words odd = hn::And(hn::ShiftRight<16>(bits), constant(1));
    return hn::Add(bits, hn::Add(odd, constant(0x7FFF)));
  }
};

// IEEE-like small formats: sign, exponent field, fraction; the all-ones exponent holds infinity and
// NaN, the zero one subnormals.
template <int kExponentBits, int kFractionBits>
struct SmallFloatCodec {
  static constexpr int kBits = 1 + kExponentBits + kFractionBits;
  static constexpr size_t kParts = 32 / kBits;

  static HWY_INLINE void widen(Words word, Floats* parts) {
    parts[0] = widen_one(word);
    parts[1] = widen_one(hn::ShiftRight<kBits>(word));
    if constexpr (kParts == 4) {
      parts[2] = widen_one(hn::ShiftRight<kBits * 2>(word));
      parts[3] = widen_one(hn::ShiftRight<kBits * 3>(word));
    }
  }
  static HWY_INLINE Words narrow(const Floats* parts) {
    Words word = hn::Or(narrow_one(parts[0]), hn::ShiftLeft<kBits>(narrow_one(parts[1])));
    if constexpr (kParts == 4) {
      const Words upper = hn::Or(hn::ShiftLeft<kBits * 2>(narrow_one(parts[2])),
                                 hn::ShiftLeft<kBits * 3>(narrow_one(parts[3])));
      word = hn::Or(word, upper);
    }
    return word;
  }

 private:
  static constexpr int kShift = 23 - kFractionBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int32_t kMagnitude = (1 << (kBits - 1)) - 1;
  static constexpr int32_t kTop = ((1 << kExponentBits) - 1) << kFractionBits;  // infinity
  static constexpr int32_t kRebias = (127 - kBias) << 23;
  // The smallest normal value, as FP32: adding it and subtracting it as a float normalises.
  static constexpr int32_t kSmallest = (128 - kBias) << 23;
  // A power of two whose unit in the last place is our smallest subnormal: adding it rounds there.
  static constexpr int32_t kAligner = (127 + 24 - kBias - kFractionBits) << 23;

  // Element in the low bits of each word; the bits above it are ignored.
  static HWY_INLINE Floats widen_one(Words element) {
    const Words sign = hn::And(hn::ShiftLeft<32 - kBits>(element), constant(kSignBit));
    const Words magnitude = hn::ShiftLeft<kShift>(hn::And(element, constant(kMagnitude)));
    const Words normal = hn::Add(magnitude, constant(kRebias));
    const Words subnormal = bits_of(hn::Sub(floats_of(hn::Add(magnitude, constant(kSmallest))),
                                            floats_of(constant(kSmallest))));
    const Words special = hn::Or(magnitude, constant(kInfinity));
    const auto is_special = hn::Gt(magnitude, constant((kTop << kShift) - 1));
    const auto is_subnormal = hn::Lt(magnitude, constant(1 << 23));
    const Words value =
        hn::IfThenElse(is_subnormal, subnormal, hn::IfThenElse(is_special, special, normal));
    return floats_of(hn::Or(value, sign));
  }

  static HWY_INLINE Words narrow_one(Floats x) {
    const Words bits = bits_of(canonical(x));
    const Words magnitude = hn::And(bits, constant(~kSignBit));
    const Words odd = hn::And(hn::ShiftRight<kShift>(magnitude), constant(1));
    const Words half = hn::Add(odd, constant((1 << (kShift - 1)) - 1 - kRebias));
    const Words normal = hn::Min(hn::ShiftRight<kShift>(hn::Add(magnitude, half)), constant(kTop));
    const Words aligned = bits_of(hn::Add(floats_of(magnitude), floats_of(constant(kAligner))));
    const Words subnormal = hn::Sub(aligned, constant(kAligner));
    const auto is_subnormal = hn::Lt(magnitude, constant(kSmallest));
    const auto is_nan = hn::Gt(magnitude, constant(kInfinity));
    const Words value = hn::IfThenElse(is_nan, constant(kTop | 1 << (kFractionBits - 1)),
                                       hn::IfThenElse(is_subnormal, subnormal, normal));
    const Words sign = hn::And(hn::ShiftRight<32 - kBits>(bits), constant(kMagnitude + 1));
    return hn::Or(value, sign);
  }
};

template <int kExponentBits>
using Fp8Codec = SmallFloatCodec<kExponentBits, 7 - kExponentBits>;

#if HWY_CAP_GE256 && !defined(HWY_DISABLE_F16C)
// The CPU's own FP16 conversion is exact and rounds to nearest even, subnormals included.
struct Fp16Codec {
  static constexpr size_t kParts = 2;
  using F16 = hn::Rebind<hwy::float16_t, F32>;
  using U16 = hn::RebindToUnsigned<F16>;
  using Both = hn::Repartition<uint16_t, F32>;

  static HWY_INLINE void widen(Words word, Floats* parts) {
    const auto halves = hn::BitCast(Both(), word);
    parts[0] = hn::PromoteTo(F32(), hn::BitCast(F16(), hn::LowerHalf(U16(), halves)));
    parts[1] = hn::PromoteTo(F32(), hn::BitCast(F16(), hn::UpperHalf(U16(), halves)));
  }
  static HWY_INLINE Words narrow(const Floats* parts) {
    return hn::BitCast(I32(), hn::Combine(Both(), narrow_one(parts[1]), narrow_one(parts[0])));
  }

 private:
  static HWY_INLINE hn::Vec<U16> narrow_one(Floats x) {
    return hn::BitCast(U16(), hn::DemoteTo(F16(), canonical(x)));
  }
};
#else
using Fp16Codec = SmallFloatCodec<5, 10>;
#endif

}  // namespace sdmacc::cce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
