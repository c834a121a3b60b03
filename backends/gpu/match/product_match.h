// Products, convolutions and transposes as kernels see them: rows, columns and depth.
#ifndef HILO_BACKENDS_GPU_MATCH_PRODUCT_MATCH_H_
#define HILO_BACKENDS_GPU_MATCH_PRODUCT_MATCH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/gpu/match/operands.h"
#include "base/math.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/ir/kernel_config.h"

namespace hilo::gpu {

// How a block computes a tile of the results of a product (emitters/products/tiled_product.h).
struct ProductTile {
  int64_t threads = 0;
  int64_t rows = 0, columns = 0;          // of the tile
  int64_t strip = 0;                      // depth that is in shared memory at a time
  int64_t own_rows = 0, own_columns = 0;  // results of a thread, or of a warp or warp group if tensor cores multiply
  int64_t lhs_group = 1, rhs_group = 1;   // adjacent elements of an operand that a thread loads together
  // Strips in shared memory that asynchronous copies fill; 0: two that threads fill, having loaded or made the
  // elements.
  int64_t copied_strips = 0;
  // Warp groups multiply (emitters/products/warp_group.h): own_rows and own_columns are theirs. Else warps, or threads.
  bool by_warp_groups = false;
  int64_t step = 1;  // depth of one multiplication; 1: by threads, else by tensor cores

  bool uses_tensor_cores() const { return step > 1; }
  // A KernelConfig has `step` as its width and the rest as its tile.
  static ProductTile Of(const KernelConfig& config);
  std::vector<int64_t> ToList() const;
};

// A convolution as an implicit product of matrices.
struct ConvolutionSizes {
  int64_t groups = 1;
  int64_t images = 1;                    // of a group, in the result
  int64_t in_features = 1;               // of a group
  int64_t out_features = 1;              // of a group
  std::vector<int64_t> positions, taps;  // spatial

  explicit ConvolutionSizes(const HloInstruction& convolution);
  int64_t rows() const { return images * Product(positions); }
  int64_t depth() const { return in_features * Product(taps); }
};

// A ragged dot whose groups are consecutive rows, each with its own matrix on the right: these are the batch of the
// rhs.
struct GroupedRows {
  DotSide lhs, rhs;

  int64_t rows() const { return lhs.free_sizes[0]; }
  int64_t groups() const { return rhs.batch_sizes[0]; }
};
// Returns nullopt for other ragged dots, and without groups.
std::optional<GroupedRows> GroupedRowsOf(const HloInstruction& ragged_dot);

// A ragged dot whose groups are consecutive parts of the one contracting dimension: these are the batch of the result,
// as of gradients of matrices that groups of rows have for their own.
struct GroupedDepth {
  DotSide lhs, rhs;
  int64_t groups = 0;

  int64_t depth() const { return lhs.contracting_sizes[0]; }
};
// Returns nullopt for other ragged dots, and without groups or elements.
std::optional<GroupedDepth> GroupedDepthOf(const HloInstruction& ragged_dot);

// Returns the result dimension of a transpose that is minor-most in the operand; -1 if it is minor-most in both.
int64_t TransposedRowDimension(const HloInstruction& transpose);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_PRODUCT_MATCH_H_
