#include "hilo/primitive_type.h"

#include <array>

#include "absl/strings/str_cat.h"

namespace hilo {
namespace {

enum class Kind : uint8_t { kNone, kPred, kSigned, kUnsigned, kFloat, kComplex };

struct TypeFacts {
  absl::string_view name;
  Kind kind = Kind::kNone;
  uint8_t bits = 0;
};

// Indexed by PrimitiveType.
constexpr std::array<TypeFacts, kPrimitiveTypeCount> kFacts = {{
    {"invalid"},
    {"pred", Kind::kPred, 1},
    {"s8", Kind::kSigned, 8},
    {"s16", Kind::kSigned, 16},
    {"s32", Kind::kSigned, 32},
    {"s64", Kind::kSigned, 64},
    {"u8", Kind::kUnsigned, 8},
    {"u16", Kind::kUnsigned, 16},
    {"u32", Kind::kUnsigned, 32},
    {"u64", Kind::kUnsigned, 64},
    {"f16", Kind::kFloat, 16},
    {"f32", Kind::kFloat, 32},
    {"f64", Kind::kFloat, 64},
    {"tuple"},
    {"opaque"},
    {"c64", Kind::kComplex, 64},
    {"bf16", Kind::kFloat, 16},
    {"token"},
    {"c128", Kind::kComplex, 128},
    {"f8e5m2", Kind::kFloat, 8},
    {"f8e4m3fn", Kind::kFloat, 8},
    {"s4", Kind::kSigned, 4},
    {"u4", Kind::kUnsigned, 4},
    {"f8e4m3b11fnuz", Kind::kFloat, 8},
    {"f8e5m2fnuz", Kind::kFloat, 8},
    {"f8e4m3fnuz", Kind::kFloat, 8},
    {"s2", Kind::kSigned, 2},
    {"u2", Kind::kUnsigned, 2},
    {"f8e4m3", Kind::kFloat, 8},
    {"f8e3m4", Kind::kFloat, 8},
    {"s1", Kind::kSigned, 1},
    {"u1", Kind::kUnsigned, 1},
    {"f4e2m1fn", Kind::kFloat, 4},
    {"f8e8m0fnu", Kind::kFloat, 8},
    {"buffer"},
}};

// A value from a file may lie outside the enumeration.
const TypeFacts& FactsOf(PrimitiveType type) {
  const int i = static_cast<int>(type);
  return kFacts[i >= 0 && i < kPrimitiveTypeCount ? i : 0];
}

}  // namespace

absl::string_view PrimitiveTypeName(PrimitiveType type) { return FactsOf(type).name; }

absl::StatusOr<PrimitiveType> PrimitiveTypeFromName(absl::string_view name) {
  for (int i = 1; i < kPrimitiveTypeCount; ++i) {
    if (kFacts[i].name == name) return static_cast<PrimitiveType>(i);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected an element type such as f32 or pred, got '", name.substr(0, 40), "'"));
}

bool IsArrayType(PrimitiveType type) { return FactsOf(type).kind != Kind::kNone; }
bool IsFloatingPointType(PrimitiveType type) { return FactsOf(type).kind == Kind::kFloat; }
bool IsComplexType(PrimitiveType type) { return FactsOf(type).kind == Kind::kComplex; }
bool IsSignedIntegralType(PrimitiveType type) { return FactsOf(type).kind == Kind::kSigned; }
bool IsUnsignedIntegralType(PrimitiveType type) { return FactsOf(type).kind == Kind::kUnsigned; }
bool IsIntegralType(PrimitiveType type) { return IsSignedIntegralType(type) || IsUnsignedIntegralType(type); }

bool IsSmallFloatType(PrimitiveType type) { return IsFloatingPointType(type) && FactsOf(type).bits < 16; }

bool IsSubByteType(PrimitiveType type) {
  return (IsIntegralType(type) || IsFloatingPointType(type)) && FactsOf(type).bits < 8;
}

int PrimitiveTypeBitWidth(PrimitiveType type) { return FactsOf(type).bits; }
int PrimitiveTypeByteSize(PrimitiveType type) { return (FactsOf(type).bits + 7) / 8; }

PrimitiveType ComplexComponentType(PrimitiveType type) {
  if (type == C64) return F32;
  if (type == C128) return F64;
  return type;
}

PrimitiveType ComplexTypeOf(PrimitiveType component) {
  if (component == F32) return C64;
  if (component == F64) return C128;
  return PRIMITIVE_TYPE_INVALID;
}

}  // namespace hilo
