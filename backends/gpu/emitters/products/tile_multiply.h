// The multiplication of two strips in shared memory by a block: by its threads, or by the tensor cores of its warps or
// warp groups.
#ifndef HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_TILE_MULTIPLY_H_
#define HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_TILE_MULTIPLY_H_

#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/gpu/emitters/kernel_emitter.h"
#include "backends/gpu/emitters/products/strip_loader.h"
#include "backends/gpu/match/product_match.h"

namespace hilo::gpu {

class TileMultiplier {
 public:
  virtual ~TileMultiplier() = default;

  // `type` is that of the operand's elements.
  virtual StripLayout LayoutOf(PrimitiveType type, int64_t positions, bool depth_is_minor) = 0;
  // Converts an element of the operand to what its cells hold, one value per component.
  virtual codegen::Carried ToCells(PrimitiveType type, const codegen::ElementValue& element) = 0;

  // The sums of a thread.
  virtual codegen::Carried Zeros() = 0;
  // Returns the sums with the products of two strips added. All threads of the block take part. If it is asynchronous,
  // the strips are read, and the sums are there, once the sums have gone through Wait: for all multiplications but the
  // newest `pending`. What threads have stored in the strips goes through KernelEmitter::ProxyFence first.
  virtual absl::StatusOr<codegen::Carried> Multiply(const Strip& lhs, const Strip& rhs,
                                                    const codegen::Carried& sums) = 0;
  virtual bool is_asynchronous() const { return false; }
  virtual codegen::Carried Wait(const codegen::Carried& sums, int64_t /*pending*/) { return sums; }
  // Calls `body` for the thread's results, one or two in a row of the tile, with their position in it.
  using ResultBody =
      absl::FunctionRef<absl::Status(llvm::Value* row, llvm::Value* column, absl::Span<const codegen::ElementValue>)>;
  virtual absl::Status ForEachResult(const codegen::Carried& sums, ResultBody body) = 0;
};

// By multiply-adds of the threads, in ascending order of depth. Cells are of the type of the sums.
std::unique_ptr<TileMultiplier> MakeThreadMultiplier(KernelEmitter& k, const ProductTile& tile, PrimitiveType sum_type);
// By tensor cores. Cells are of the operands' type, as in memory.
std::unique_ptr<TileMultiplier> MakeTensorCoreMultiplier(KernelEmitter& k, const ProductTile& tile, PrimitiveType type);
// The same, by those of warp groups, asynchronously.
std::unique_ptr<TileMultiplier> MakeWarpGroupMultiplier(KernelEmitter& k, const ProductTile& tile, PrimitiveType type);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_TILE_MULTIPLY_H_
