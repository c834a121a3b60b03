// Arrays inside MLIR attributes.
#ifndef HILO_HLO_IMPORT_STABLEHLO_DENSE_LITERAL_H_
#define HILO_HLO_IMPORT_STABLEHLO_DENSE_LITERAL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hilo/literal.h"
#include "hlo/import/stablehlo/mlir_module.h"

namespace hilo::stablehlo {

// A dense attribute as its distinct elements: a literal of shape [] for a splat (and the array is not of one
// element), else all of them. Bytes are little-endian and row-major; PRED is packed, lowest bit first, or one byte per
// element; other types of fewer than 8 bits take a byte. Errors: InvalidArgument if the bytes do not fit the type;
// ResourceExhausted if memory is short.
absl::StatusOr<Literal> DenseElements(const Attribute& dense);

// Integers of an attribute: dense ones, array<i64: ...>, or an array of integers. Errors: InvalidArgument.
absl::StatusOr<std::vector<int64_t>> IntegersOf(const Attribute& attribute);

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_DENSE_LITERAL_H_
