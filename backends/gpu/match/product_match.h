// Convolutions and transposes as kernels see them: rows, columns and depth.
#ifndef HILO_BACKENDS_GPU_MATCH_PRODUCT_MATCH_H_
#define HILO_BACKENDS_GPU_MATCH_PRODUCT_MATCH_H_

#include <cstdint>
#include <vector>

#include "backends/gpu/match/operands.h"
#include "base/math.h"

namespace hilo::gpu {

// A convolution as an implicit product of matrices.
struct ConvolutionSizes {
  int64_t groups = 1;
  int64_t images = 1;                 // of a group, in the result
  int64_t in_features = 1;            // of a group
  int64_t out_features = 1;           // of a group
  std::vector<int64_t> places, taps;  // spatial

  explicit ConvolutionSizes(const HloInstruction& convolution);
  int64_t rows() const { return images * Product(places); }
  int64_t depth() const { return in_features * Product(taps); }
};

// Returns the result dimension of a transpose that is minor-most in the operand; -1 if it is minor-most in both.
int64_t TransposedRowDimension(const HloInstruction& transpose);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_PRODUCT_MATCH_H_
