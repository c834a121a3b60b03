#include "pjrt/element_type.h"

#include <iterator>

#include "base/errors.h"

namespace hilo::pjrt {
namespace {

// By PJRT_Buffer_Type.
constexpr PrimitiveType kTypes[] = {PRIMITIVE_TYPE_INVALID,
                                    PRED,
                                    S8,
                                    S16,
                                    S32,
                                    S64,
                                    U8,
                                    U16,
                                    U32,
                                    U64,
                                    F16,
                                    F32,
                                    F64,
                                    BF16,
                                    C64,
                                    C128,
                                    F8E5M2,
                                    F8E4M3FN,
                                    F8E4M3B11FNUZ,
                                    F8E5M2FNUZ,
                                    F8E4M3FNUZ,
                                    S4,
                                    U4,
                                    TOKEN,
                                    S2,
                                    U2,
                                    F8E4M3,
                                    F8E3M4,
                                    F8E8M0FNU,
                                    F4E2M1FN,
                                    S1,
                                    U1};
static_assert(std::size(kTypes) == PJRT_Buffer_Type_U1 + 1);

}  // namespace

PJRT_Buffer_Type BufferTypeOf(PrimitiveType type) {
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i] == type) return static_cast<PJRT_Buffer_Type>(i);
  }
  return PJRT_Buffer_Type_INVALID;
}

absl::StatusOr<PrimitiveType> PrimitiveTypeOf(PJRT_Buffer_Type type) {
  const auto number = static_cast<size_t>(type);
  if (number < std::size(kTypes) && IsArrayType(kTypes[number])) return kTypes[number];
  return InvalidArgument("there is no array of the element type with PJRT's number ", number);
}

}  // namespace hilo::pjrt
