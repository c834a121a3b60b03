// Element types: the numbers and names of XLA's PrimitiveType, and properties of each.
#ifndef HILO_SHAPE_PRIMITIVE_TYPE_H_
#define HILO_SHAPE_PRIMITIVE_TYPE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

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
absl::string_view PrimitiveTypeName(PrimitiveType type);

// Errors: InvalidArgument if `name` is not the HLO text name of a type.
absl::StatusOr<PrimitiveType> PrimitiveTypeFromName(absl::string_view name);

// True for numbers and PRED: types that array elements can have.
bool IsArrayType(PrimitiveType type);

bool IsFloatingPointType(PrimitiveType type);     // F64 down to F4E2M1FN; not complex
bool IsComplexType(PrimitiveType type);           // C64, C128
bool IsSignedIntegralType(PrimitiveType type);    // S1 .. S64
bool IsUnsignedIntegralType(PrimitiveType type);  // U1 .. U64; not PRED
bool IsIntegralType(PrimitiveType type);          // signed or unsigned; not PRED
// Floating-point types narrower than 16 bits: F8..., F4E2M1FN.
bool IsSmallFloatType(PrimitiveType type);
// Integer or float types of fewer than 8 bits: they occupy one byte per element in memory.
bool IsSubByteType(PrimitiveType type);

// Logical width in bits (1 for PRED and S1, 4 for F4E2M1FN, 64 for C64); 0 for types that no array has.
int PrimitiveTypeBitWidth(PrimitiveType type);
// Bytes that one element occupies in Hilo's memory: at least 1; 0 for types that no array has.
int PrimitiveTypeByteSize(PrimitiveType type);

// F32 for C64, F64 for C128; the type itself otherwise.
PrimitiveType ComplexComponentType(PrimitiveType type);
// C64 for F32, C128 for F64; PRIMITIVE_TYPE_INVALID otherwise.
PrimitiveType ComplexTypeOf(PrimitiveType component);

}  // namespace hilo

#endif  // HILO_SHAPE_PRIMITIVE_TYPE_H_
