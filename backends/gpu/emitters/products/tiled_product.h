// Products of two batches of matrices whose elements are computed on demand, as in dots and convolutions. A block
// computes a tile of results. It loads a strip of each operand into shared memory, from which its threads, or the
// tensor cores of its warps, multiply; meanwhile the next strip is loaded into registers, which go to the other half of
// that memory, or asynchronous copies fill several strips ahead. Elements beyond the depth are 0 on both sides and add
// nothing; those beyond the positions are others of the matrix, whose results are not stored.
#ifndef HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_TILED_PRODUCT_H_
#define HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_TILED_PRODUCT_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/gpu/emitters/kernel_emitter.h"
#include "backends/gpu/emitters/products/strip_loader.h"
#include "backends/gpu/match/product_match.h"
#include "hlo/ir/kernel_config.h"

namespace hilo::gpu {

struct TiledProduct {
  int64_t batch = 1, depth = 0;
  ProductSide lhs, rhs;
  PrimitiveType sum_type = F32;
  // Stores the results at (m, n), (m, n + 1) and so on; n is a multiple of their number.
  std::function<absl::Status(llvm::Value* batch, llvm::Value* m, llvm::Value* n,
                             absl::Span<const codegen::ElementValue> sums)>
      store;

  // Where rows of the lhs are in groups, each with a batch of the rhs: the tiles of rows, which begin anywhere. `store`
  // decides which rows of a tile are stored.
  struct RowTile {
    llvm::Value *batch, *first;
    llvm::Value* exists;  // the same for all threads of a block
  };
  struct RowTiles {
    int64_t most = 0;  // of all groups
    std::function<absl::StatusOr<RowTile>(llvm::Value* number)> tile;
  };
  std::optional<RowTiles> row_tiles;  // nullopt: those of all rows, for each batch

  // Where each batch has a part of the depth, which begins and ends anywhere: no group of elements runs along the
  // depth.
  struct DepthRange {
    llvm::Value *begin, *end;
  };
  std::function<absl::StatusOr<DepthRange>(llvm::Value* batch)> depth_range;  // null: all batches have all of it

  // Where parts of the depth are computed on their own: memory for sums by part, batch, row and column. Null: there is
  // one part.
  llvm::Value* partial_sums = nullptr;

  // Emits all of kernel `k`, which computes `instruction` with the tile that its configuration states, and launches it.
  // Sums of threads are in ascending order of depth.
  // With partial sums it stores these, and the kernel of EmitCombination, launched next, the results.
  absl::Status EmitAndLaunch(const HloInstruction* instruction, KernelEmitter& k) const;
  // Emits all of kernel `k`, which adds up the partial sums in ascending order of depth, and launches it.
  absl::Status EmitCombination(const HloInstruction* instruction, KernelEmitter& k) const;

  int64_t TilesOfRows(const ProductTile& tile) const;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_PRODUCTS_TILED_PRODUCT_H_
