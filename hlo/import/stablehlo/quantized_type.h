// Quantized element types.
#ifndef HILO_HLO_IMPORT_STABLEHLO_QUANTIZED_TYPE_H_
#define HILO_HLO_IMPORT_STABLEHLO_QUANTIZED_TYPE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "hilo/primitive_type.h"

namespace hilo::stablehlo {

// An integer i of the storage type represents (i - zero point) * scale, a number of the expressed type. There is one
// scale and zero point, or one for each block of the array: the indices along a dimension are divided into as many
// blocks as `grid` says, all of one size, so that for a block size of 1 each index has its own.
struct Quantization {
  PrimitiveType storage = PRIMITIVE_TYPE_INVALID;
  PrimitiveType expressed = PRIMITIVE_TYPE_INVALID;
  int64_t min = 0, max = 0;  // of the integers that are used
  // One each for every dimension that is divided, in ascending order of the dimensions; empty: one scale.
  std::vector<int64_t> dimensions, block_sizes, grid;
  std::vector<double> scales;        // of the blocks, the last dimension varying fastest
  std::vector<int64_t> zero_points;  // as many

  bool operator==(const Quantization&) const = default;
};

// Sets `min` and `max` to all values of the storage type, if that is an integer type.
void SetStorageRange(Quantization* quantization);

// Errors: InvalidArgument for what no quantized type can be, whatever its array.
absl::Status CheckQuantization(const Quantization& quantization);

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_QUANTIZED_TYPE_H_
