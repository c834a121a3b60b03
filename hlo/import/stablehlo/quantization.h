// Operations on quantized arrays. In HLO a quantized array is the array of its integers.
#ifndef HILO_HLO_IMPORT_STABLEHLO_QUANTIZATION_H_
#define HILO_HLO_IMPORT_STABLEHLO_QUANTIZATION_H_

#include "hlo/import/stablehlo/op_conversion.h"

namespace hilo::stablehlo {

// Whether `op` has quantized operands or results whose numbers matter. Operations that move elements, or that leave
// computing to a region, work on the integers as they are.
bool ComputesOnQuantized(const Operation& op);

// Converts such an operation: its operands become floats, `convert` is applied to these, and its results are quantized.
// Products of quantized arrays are summed up as integers. Errors: those of `convert`; InvalidArgument if an array does
// not fit the scales of its type.
absl::StatusOr<Results> ConvertQuantized(OpConversion& c, Converter convert);

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_QUANTIZATION_H_
