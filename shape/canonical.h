// The canonical byte pattern of values of fewer than 8 bits.
#ifndef HILO_SHAPE_CANONICAL_H_
#define HILO_SHAPE_CANONICAL_H_

#include <cstdint>

#include "absl/types/span.h"
#include "hilo/primitive_type.h"

namespace hilo {

// Converts each byte of an array of PRED, or of a type of fewer than 8 bits, to the one that Hilo expects: 0 or 1,
// sign-extended, or zero-extended. External bytes may differ: the int4 of ml_dtypes has zeros above its four
// bits. Other types are unchanged.
void Canonicalize(PrimitiveType type, absl::Span<uint8_t> bytes);

// The inverse, for frameworks: the bits above those of a signed integer of fewer than 8 bits become zero. Other types
// are unchanged.
void ClearUnusedBits(PrimitiveType type, absl::Span<uint8_t> bytes);

}  // namespace hilo

#endif  // HILO_SHAPE_CANONICAL_H_
