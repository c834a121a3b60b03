// Element types: the numbers and names of XLA's PrimitiveType, properties of each, and the C++ types of their values.
#ifndef HILO_PRIMITIVE_TYPE_H_
#define HILO_PRIMITIVE_TYPE_H_

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hilo/export.h"

namespace hilo {

// The values are those of XLA's xla_data.proto, so they can be serialized.
enum PrimitiveType : int {
  PRIMITIVE_TYPE_INVALID = 0,
  PRED = 1,
  S8 = 2,
  S16 = 3,
  S32 = 4,
  S64 = 5,
  U8 = 6,
  U16 = 7,
  U32 = 8,
  U64 = 9,
  F16 = 10,
  F32 = 11,
  F64 = 12,
  TUPLE = 13,
  OPAQUE_TYPE = 14,
  C64 = 15,
  BF16 = 16,
  TOKEN = 17,
  C128 = 18,
  F8E5M2 = 19,
  F8E4M3FN = 20,
  S4 = 21,
  U4 = 22,
  F8E4M3B11FNUZ = 23,
  F8E5M2FNUZ = 24,
  F8E4M3FNUZ = 25,
  S2 = 26,
  U2 = 27,
  F8E4M3 = 28,
  F8E3M4 = 29,
  S1 = 30,
  U1 = 31,
  F4E2M1FN = 32,
  F8E8M0FNU = 33,
  BUFFER = 34,
};
inline constexpr int kPrimitiveTypeCount = 35;

// The name in HLO text: "f32", "pred", "f8e4m3fn", "token" ...
HILO_EXPORT absl::string_view PrimitiveTypeName(PrimitiveType type);

// Errors: InvalidArgument if `name` is not the HLO text name of a type.
HILO_EXPORT absl::StatusOr<PrimitiveType> PrimitiveTypeFromName(absl::string_view name);

// True for numbers and PRED: types that array elements can have.
HILO_EXPORT bool IsArrayType(PrimitiveType type);

HILO_EXPORT bool IsFloatingPointType(PrimitiveType type);     // F64 down to F4E2M1FN; not complex
HILO_EXPORT bool IsComplexType(PrimitiveType type);           // C64, C128
HILO_EXPORT bool IsSignedIntegralType(PrimitiveType type);    // S1 .. S64
HILO_EXPORT bool IsUnsignedIntegralType(PrimitiveType type);  // U1 .. U64; not PRED
HILO_EXPORT bool IsIntegralType(PrimitiveType type);          // signed or unsigned; not PRED
// Floating-point types narrower than 16 bits: F8..., F4E2M1FN.
HILO_EXPORT bool IsSmallFloatType(PrimitiveType type);
// Integer or float types of fewer than 8 bits: they occupy one byte per element in memory.
HILO_EXPORT bool IsSubByteType(PrimitiveType type);

// Logical width in bits (1 for PRED and S1, 4 for F4E2M1FN, 64 for C64); 0 for types that no array has.
HILO_EXPORT int PrimitiveTypeBitWidth(PrimitiveType type);
// Bytes that one element occupies in Hilo's memory: at least 1; 0 for types that no array has.
HILO_EXPORT int PrimitiveTypeByteSize(PrimitiveType type);

// F32 for C64, F64 for C128; the type itself otherwise.
HILO_EXPORT PrimitiveType ComplexComponentType(PrimitiveType type);
// C64 for F32, C128 for F64; PRIMITIVE_TYPE_INVALID otherwise.
HILO_EXPORT PrimitiveType ComplexTypeOf(PrimitiveType component);

// --- The number types that C++ lacks: 16-bit and smaller floats, integers of 1, 2 and 4 bits.
//
// All of them are stored one element per byte (or two), convert exactly to float, and convert from float with
// round-to-nearest-even. They are values to store and convert; arithmetic happens in float.

// The use of special bit patterns in a small float format.
enum class FloatSpecials {
  kIeee,          // top exponent: infinity (mantissa 0) and NaN; overflow gives infinity
  kFiniteNan,     // "fn": no infinity; NaN only with all bits below the sign set; overflow gives NaN
  kFiniteOnly,    // f4e2m1fn: neither infinity nor NaN; overflow saturates, NaN of either sign gives -0, as in XLA
  kUnsignedZero,  // "fnuz": no infinity, no -0; the pattern of -0 is NaN; overflow gives NaN
  kScale,         // f8e8m0fnu: exponent only, no sign, no zero; all ones is NaN. Ties go up; non-positive values
                  // and overflow give NaN, underflow gives 2^-127
};

// Bit layout of a small float: sign (except kScale), `exponent_bits`, `mantissa_bits`.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  FloatSpecials specials;
};

// Returns the value of `bits` in `format`, exactly.
HILO_EXPORT float DecodeFloat(const FloatFormat& format, uint32_t bits);
// Rounds `value` to `format` once, to nearest, ties to even; overflow and NaN as in FloatSpecials. NaNs keep their
// sign and the top of their payload where the format has room, and become quiet.
HILO_EXPORT uint32_t EncodeFloat(const FloatFormat& format, double value);
inline uint32_t EncodeFloat(const FloatFormat& format, float value) {
  return EncodeFloat(format, static_cast<double>(value));
}
// A double that every format of at most 16 bits rounds as it would round `value` itself.
HILO_EXPORT double SignificantDouble(uint64_t magnitude, bool negative);

// A float of at most 16 bits.
template <PrimitiveType kType, typename Bits, FloatFormat kFormat>
struct SmallFloat {
  static constexpr FloatFormat format = kFormat;
  static constexpr PrimitiveType type = kType;
  Bits bits = 0;

  SmallFloat() = default;
  explicit SmallFloat(float value) : bits(static_cast<Bits>(EncodeFloat(kFormat, value))) {}
  explicit SmallFloat(double value) : bits(static_cast<Bits>(EncodeFloat(kFormat, value))) {}
  template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
  explicit SmallFloat(I value)
      : SmallFloat(value < 0 ? SignificantDouble(0 - static_cast<uint64_t>(value), true)
                             : SignificantDouble(static_cast<uint64_t>(value), false)) {}
  explicit operator float() const { return DecodeFloat(kFormat, bits); }
  explicit operator double() const { return DecodeFloat(kFormat, bits); }
  static SmallFloat FromBits(Bits b) {
    SmallFloat f;
    f.bits = b;
    return f;
  }
};

using half = SmallFloat<F16, uint16_t, FloatFormat{5, 10, 15, FloatSpecials::kIeee}>;
using bfloat16 = SmallFloat<BF16, uint16_t, FloatFormat{8, 7, 127, FloatSpecials::kIeee}>;
using f8e5m2 = SmallFloat<F8E5M2, uint8_t, FloatFormat{5, 2, 15, FloatSpecials::kIeee}>;
using f8e4m3 = SmallFloat<F8E4M3, uint8_t, FloatFormat{4, 3, 7, FloatSpecials::kIeee}>;
using f8e3m4 = SmallFloat<F8E3M4, uint8_t, FloatFormat{3, 4, 3, FloatSpecials::kIeee}>;
using f8e4m3fn = SmallFloat<F8E4M3FN, uint8_t, FloatFormat{4, 3, 7, FloatSpecials::kFiniteNan}>;
using f8e4m3b11fnuz = SmallFloat<F8E4M3B11FNUZ, uint8_t, FloatFormat{4, 3, 11, FloatSpecials::kUnsignedZero}>;
using f8e4m3fnuz = SmallFloat<F8E4M3FNUZ, uint8_t, FloatFormat{4, 3, 8, FloatSpecials::kUnsignedZero}>;
using f8e5m2fnuz = SmallFloat<F8E5M2FNUZ, uint8_t, FloatFormat{5, 2, 16, FloatSpecials::kUnsignedZero}>;
using f8e8m0fnu = SmallFloat<F8E8M0FNU, uint8_t, FloatFormat{8, 0, 127, FloatSpecials::kScale}>;
using f4e2m1fn = SmallFloat<F4E2M1FN, uint8_t, FloatFormat{2, 1, 1, FloatSpecials::kFiniteOnly}>;

// An integer of 1, 2 or 4 bits, one per byte; conversion wraps. Signed values are kept sign-extended in `value`.
template <PrimitiveType kType, int kBits, bool kSigned>
struct SmallInt {
  using Storage = std::conditional_t<kSigned, int8_t, uint8_t>;
  static constexpr PrimitiveType type = kType;
  static constexpr int bits = kBits;
  Storage value = 0;

  SmallInt() = default;
  template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
  explicit constexpr SmallInt(I v) : value(Wrap(static_cast<uint8_t>(v))) {}
  template <typename I, typename = std::enable_if_t<std::is_arithmetic_v<I>>>
  explicit constexpr operator I() const {
    return static_cast<I>(value);
  }

 private:
  static constexpr Storage Wrap(uint8_t v) {
    if constexpr (kSigned) {
      return static_cast<int8_t>(static_cast<int8_t>(v << (8 - kBits)) >> (8 - kBits));
    } else {
      return v & ((1 << kBits) - 1);
    }
  }
};

using s1 = SmallInt<S1, 1, true>;
using s2 = SmallInt<S2, 2, true>;
using s4 = SmallInt<S4, 4, true>;
using u1 = SmallInt<U1, 1, false>;
using u2 = SmallInt<U2, 2, false>;
using u4 = SmallInt<U4, 4, false>;

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

// NativeType<F32>::type is float, and so on; TypeOf<float>() is F32.
template <PrimitiveType kType>
struct NativeTypeOf;
// clang-format off
#define HILO_NATIVE_TYPES(X) \
  X(PRED, bool) X(S1, s1) X(S2, s2) X(S4, s4) X(S8, int8_t) X(S16, int16_t) X(S32, int32_t) X(S64, int64_t) X(U1, u1) \
  X(U2, u2) X(U4, u4) X(U8, uint8_t) X(U16, uint16_t) X(U32, uint32_t) X(U64, uint64_t) X(F4E2M1FN, f4e2m1fn) \
  X(F8E8M0FNU, f8e8m0fnu) X(F8E3M4, f8e3m4) X(F8E4M3, f8e4m3) X(F8E4M3FN, f8e4m3fn) X(F8E4M3B11FNUZ, f8e4m3b11fnuz) \
  X(F8E4M3FNUZ, f8e4m3fnuz) X(F8E5M2, f8e5m2) X(F8E5M2FNUZ, f8e5m2fnuz) X(F16, half) X(BF16, bfloat16) X(F32, float) \
  X(F64, double) X(C64, complex64) X(C128, complex128)
// clang-format on

template <typename T>
constexpr PrimitiveType NativeToPrimitiveType() = delete;
#define HILO_NATIVE_TYPE(primitive, native)                 \
  template <>                                               \
  struct NativeTypeOf<primitive> {                          \
    using type = native;                                    \
  };                                                        \
  template <>                                               \
  constexpr PrimitiveType NativeToPrimitiveType<native>() { \
    return primitive;                                       \
  }
HILO_NATIVE_TYPES(HILO_NATIVE_TYPE)
#undef HILO_NATIVE_TYPE

template <PrimitiveType kType>
using NativeType = typename NativeTypeOf<kType>::type;

// Calls f(NativeTag<T>{}) with the C++ type of `type`; `type` must be an array type.
template <typename T>
struct NativeTag {
  using type = T;
};
template <typename F>
auto ArrayTypeSwitch(PrimitiveType type, F&& f) {
  switch (type) {
#define HILO_CASE(primitive, native) \
  case primitive: return f(NativeTag<native>{});
    HILO_NATIVE_TYPES(HILO_CASE)
#undef HILO_CASE
    default: return f(NativeTag<bool>{});
  }
}

template <typename T>
inline constexpr bool is_small_float = false;
template <PrimitiveType kType, typename Bits, FloatFormat kFormat>
inline constexpr bool is_small_float<SmallFloat<kType, Bits, kFormat>> = true;
template <typename T>
inline constexpr bool is_small_int = false;
template <PrimitiveType kType, int kBits, bool kSigned>
inline constexpr bool is_small_int<SmallInt<kType, kBits, kSigned>> = true;
template <typename T>
inline constexpr bool is_complex = false;
template <typename T>
inline constexpr bool is_complex<std::complex<T>> = true;

}  // namespace hilo

#endif  // HILO_PRIMITIVE_TYPE_H_
