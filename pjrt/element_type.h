#ifndef HILO_PJRT_ELEMENT_TYPE_H_
#define HILO_PJRT_ELEMENT_TYPE_H_

#include "absl/status/statusor.h"
#include "hilo/primitive_type.h"
#include "pjrt/abi.h"

namespace hilo::pjrt {

// PJRT_Buffer_Type_INVALID for types that no buffer can have.
PJRT_Buffer_Type BufferTypeOf(PrimitiveType type);
// Errors: InvalidArgument for numbers that are not an array type.
absl::StatusOr<PrimitiveType> PrimitiveTypeOf(PJRT_Buffer_Type type);

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_ELEMENT_TYPE_H_
