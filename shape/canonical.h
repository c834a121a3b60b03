// The one pattern that a value of fewer than 8 bits has in its byte.
#ifndef HILO_SHAPE_CANONICAL_H_
#define HILO_SHAPE_CANONICAL_H_

#include <cstdint>

#include "absl/types/span.h"
#include "shape/primitive_type.h"

namespace hilo {

// Makes each byte of an array of PRED, or of a type of fewer than 8 bits, the one that Hilo's code expects: 0 or 1,
// sign-extended, or zero-extended. Bytes from elsewhere may be others: the int4 of ml_dtypes has zeros above its four
// bits. Other types stay as they are.
void Canonicalize(PrimitiveType type, absl::Span<uint8_t> bytes);

}  // namespace hilo

#endif  // HILO_SHAPE_CANONICAL_H_
