// Products of two batches of matrices whose elements are computed on demand, as in dots and convolutions. A block
// computes a tile of 64 x 64 results. It loads a strip of each operand, 16 deep, into shared memory, and each thread
// multiplies the elements for its 4 x 4 results; then the next strip is loaded. Elements beyond the edges are 0 on both
// sides and add nothing.
#ifndef HILO_BACKENDS_GPU_EMITTERS_TILED_PRODUCT_H_
#define HILO_BACKENDS_GPU_EMITTERS_TILED_PRODUCT_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "backends/gpu/compile/kernel_emitter.h"

namespace hilo::gpu {

// One operand: lhs (m x depth) or rhs (depth x n).
struct ProductSide {
  int64_t positions = 0;  // m or n
  // True if elements that are adjacent in depth, rather than in position, are adjacent in memory.
  bool depth_is_minor = false;
  // Returns the element at a position and depth that are in range, in the type of the sums. The batch, position and
  // depth are i64.
  std::function<absl::StatusOr<codegen::ElementValue>(llvm::Value* batch, llvm::Value* position, llvm::Value* depth)>
      element;
};

struct TiledProduct {
  int64_t batch = 1, depth = 0;
  ProductSide lhs, rhs;
  PrimitiveType sum_type = F32;
  std::function<absl::Status(llvm::Value* batch, llvm::Value* m, llvm::Value* n, const codegen::ElementValue& sum)>
      store;

  static constexpr int kThreads = 256;
  // Returns true if tiles are filled well enough to be profitable.
  static bool IsWorthIt(int64_t m, int64_t n, int64_t depth) { return m >= 32 && n >= 32 && depth >= 8; }
  // The number of blocks, each of kThreads threads.
  int64_t Blocks() const;
  // Emits all of kernel `k`. Sums are in ascending order of depth.
  absl::Status Emit(KernelEmitter& k) const;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_TILED_PRODUCT_H_
