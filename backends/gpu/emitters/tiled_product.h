// Products of two batches of matrices whose elements are computed as they are wanted: what dots and convolutions are. A
// block does a tile of 64 x 64 results. It brings a strip of either operand into shared memory, 16 deep, and each
// thread multiplies what its 4 x 4 results need; then the next strip. Elements beyond the edges are 0 on both sides,
// which adds nothing.
#ifndef HILO_BACKENDS_GPU_EMITTERS_TILED_PRODUCT_H_
#define HILO_BACKENDS_GPU_EMITTERS_TILED_PRODUCT_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "backends/gpu/compile/kernel_emitter.h"

namespace hilo::gpu {

// Of lhs (m x depth) or rhs (depth x n).
struct ProductSide {
  int64_t positions = 0;  // m or n
  // Whether neighbours in depth, rather than in position, lie side by side in memory.
  bool depth_is_minor = false;
  // The element at a position and depth that are in range, in the type of the sums; a batch, position and depth are
  // i64.
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
  // Whether tiles are filled well enough to be worth it.
  static bool IsWorthIt(int64_t m, int64_t n, int64_t depth) { return m >= 32 && n >= 32 && depth >= 8; }
  // Blocks of kThreads threads.
  int64_t Blocks() const;
  // The whole of kernel `k`. Sums go by depth, from 0 up.
  absl::Status Emit(KernelEmitter& k) const;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_TILED_PRODUCT_H_
