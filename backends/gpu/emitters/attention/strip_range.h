// The strips of a grid of scores that a block needs, where a causal mask hides others.
#ifndef HILO_BACKENDS_GPU_EMITTERS_ATTENTION_STRIP_RANGE_H_
#define HILO_BACKENDS_GPU_EMITTERS_ATTENTION_STRIP_RANGE_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/gpu/emitters/kernel_emitter.h"
#include "backends/gpu/match/grid_mask.h"

namespace hilo::gpu {

// Lines of the side of the strips: both are multiples of a strip, or the end of all.
struct StripRange {
  llvm::Value *begin, *end;
};

// The block whose strips they are.
struct GridBlock {
  const ScoreGrid& grid;
  GridTile tile;
  GridSide own;
  llvm::Value* first_line;
  llvm::Value* scratch;  // shared memory that nothing else uses now, a float for each warp
  // By axis, for each of the thread's own lines. `begin_line` is called before what belongs to one is computed.
  std::vector<std::vector<codegen::LaneIndex>> at;
  std::function<void(int64_t line)> begin_line;
};

// Emits the range: without what the mask hides if the rows' maxima are so large that the exponentials there are 0. All
// threads of the block take part.
absl::StatusOr<StripRange> EmitStripRange(KernelEmitter& k, const GridBlock& block, const GridMask& mask);

// Returns the end of the strips with keys that the mask leaves to rows up to `last_row`: a multiple of `strip`, or
// `keys`. Each index in the mask's dimension has `inner` rows.
llvm::Value* VisibleEnd(KernelEmitter& k, const CausalMask& mask, llvm::Value* last_row, int64_t inner, int64_t strip,
                        int64_t keys);
// Returns the beginning of the strips with keys that the mask's window leaves to rows from `first_row` on: a multiple
// of `strip`, at most `end`. The mask has a window.
llvm::Value* VisibleBegin(KernelEmitter& k, const CausalMask& mask, llvm::Value* first_row, int64_t inner,
                          int64_t strip, llvm::Value* end);
// Returns whether the exponentials of masked logits are 0 in all rows: each thread has the least maximum of some.
// `scratch` is shared memory that nothing reads after the next barrier, a float for each warp. All threads take part.
absl::StatusOr<llvm::Value*> AreHidden(KernelEmitter& k, const CausalMask& mask, llvm::Value* least,
                                       llvm::Value* scratch, int64_t threads);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_ATTENTION_STRIP_RANGE_H_
