// Products of two batches of matrices whose elements are computed on demand, as in dots and convolutions. A block
// computes a square tile of results. It loads a strip of each operand into shared memory, and each thread multiplies
// the elements for its own square of results; then the next strip is loaded. Elements beyond the edges are 0 on both
// sides and add nothing.
#ifndef HILO_BACKENDS_GPU_EMITTERS_TILED_PRODUCT_H_
#define HILO_BACKENDS_GPU_EMITTERS_TILED_PRODUCT_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "backends/gpu/emitters/kernel_emitter.h"
#include "hlo/ir/kernel_config.h"

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

  // Threads of a block, side of a tile, depth of a strip, and results of a thread in each dimension.
  int64_t threads = 0, side = 0, strip = 0, own = 0;
  void SetSizes(const KernelConfig& config) {
    threads = config.tile[0], side = config.tile[1], strip = config.tile[2], own = config.tile[3];
  }

  // Emits all of kernel `k`, which computes `instruction`, and launches it. Sums are in ascending order of depth.
  absl::Status EmitAndLaunch(const HloInstruction* instruction, KernelEmitter& k) const;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_TILED_PRODUCT_H_
