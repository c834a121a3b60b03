// The choice of kernels: made once per compilation, for every instruction that has code of its own, and written down as
// the instruction's KernelConfig. Emitters obey it.
//
// The pass "choose-kernels" is the last of the fused stage. Once memory is assigned, CompleteKernelChoice adds what
// only the schedule and the memory determine: the kernels of copies, updates that are not in place, and sequences of
// small instructions.
//
// `width` is the number of adjacent elements that a thread processes together; of a tiled product, the depth of one
// multiplication, which tensor cores make unless it is 1. `parts` is the number of parts of a reduction or scan that
// have blocks of their own and are combined by a second launch, but for those of prefix-scan-lines. `parallel` is
// unused: all kernels are. `tile` by kind, where `block` is the number of threads per block:
//
//   attention                {block, rows of a block, keys of a strip, adjacent elements of keys, of values and, if
//                            they are in shared memory, of queries that a thread loads (else 0), 1 if asynchronous
//                            copies fill strips}
//                            of a grid of scores: {block, lines of a block, lines of a strip, 1 if copies fill them}
//   block-rows[-in-order]    {block, elements of a part, lanes that combine the parts}: a block per part of a row
//   cholesky, concatenate, pivots-to-permutation, ragged-dot, select-and-scatter, triangular-solve
//                            {block}
//   columns                  {block, adjacent lanes, elements of a part}: the block's other threads are strips
//   counted-loop             {trip count}
//   loop, update             {block}, or {block, number}: instructions in a row with equal numbers are one launch, in
//                            which each has blocks of its own
//   loop-per-result          {block, width} of each result
//   merge-sort               {block, elements of a tile, block of merges}
//   one-thread-loop          {iterations per launch}
//   prefix-scan-columns      {block, steps of a part}
//   prefix-scan-in-order     {block}: a thread per line
//   prefix-scan-lines        {block, threads of a line, elements of a part}: of several parts each is a block's
//   radix-sort               {block, passes}
//   register-rows            {block, threads of a row, groups of a thread, or 0 if the block reads its row again for
//                            each level of reductions}; parts of the rows where reductions across them are among the
//                            results
//   scatter-*                {block, threads that share elements and iterate over the same indices; of scatter-sorted,
//                            the most updates that a thread combines, or 1 for all, or kBlockSize if blocks do; of
//                            scatter-atomic in parts, which blocks with elements of their own apply, how many times
//                            each has them}, then for each operand the {block, width} of the loop that computes it, or
//                            {0, 0} if it is copied
//   sequence                 {number in its computation}: equal numbers are one kernel, of one thread
//   tiled-convolution, tiled-dot, tiled-ragged-dot
//                            {block, rows, columns, depth of a strip, rows and columns of a thread, warp or warp group,
//                            adjacent elements of each operand that a thread loads, strips that asynchronous copies
//                            fill, and 1 if warp groups multiply} (match/product_match.h)
//   tiled-transpose          {block, side, pitch}: of a tile in shared memory, in elements
//   top-k                    {block, cells of a tile}: of the first launch
//   warp-rows[-in-order]     {block, lanes of a row}
//
// Others have none: copies, what sorts generate, calls of libraries, of the host and of functions on the stream,
// collectives, control flow; fft, whose launches have a thread per element.
#ifndef HILO_BACKENDS_GPU_CHOICE_KERNEL_CHOICE_H_
#define HILO_BACKENDS_GPU_CHOICE_KERNEL_CHOICE_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/gpu/choice/kernel_facts.h"
#include "hlo/analysis/attention.h"
#include "hlo/analysis/score_grid.h"
#include "hlo/ir/kernel_config.h"
#include "hlo/memory/buffer_assignment.h"
#include "hlo/passes/dots/dot_fusion.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo::gpu {

// Returns the kernel of an instruction with a result, or an effect, of its own. A dynamic-update-slice is taken to be
// in place if its memory allows it. Errors: Unimplemented if the platform has no kernel for it.
absl::StatusOr<KernelConfig> ChooseKernel(const HloInstruction& instruction, const KernelFacts& facts);

// "choose-kernels". Needed. Overwrites configurations that the module brings along.
std::unique_ptr<HloPass> MakeKernelChoice(const KernelFacts& facts);

// Returns true if a kernel of our own, which computes what the operands are made from, takes less time than a library
// that reads the operands from memory.
bool IsOwnDotFaster(const HloInstruction& dot, const KernelFacts& facts);
// Returns true if a kernel of our own computes the attention.
bool TakesAttention(const Attention& attention, const KernelFacts& facts);
// Returns true if grids may have the dot's elements as scores, as far as the dot alone tells.
bool MayBeScore(const HloInstruction& dot, const KernelFacts& facts);
// Returns true if kernels of our own compute all products of the grid, those along either side, and take less time than
// products of the library and kernels of the rows. Each of `kernels` is the part of the grid that one computes.
bool TakesScoreGrid(const ScoreGrid& grid, absl::Span<const ScoreGrid> kernels, const KernelFacts& facts);
// The features of all products of one kernel: those of 16 lines are 96 registers of a thread. With 256 there are
// spills.
inline constexpr int64_t kMaxGridFeatures = 192;
// Returns true if one kernel computes the row group that a fusion is.
bool TakesRows(const HloInstruction& fusion, const KernelFacts& facts);
// What the kernels of dots compute besides products.
DotFusionOptions DotFusionFor(const KernelFacts& facts);

// Completes the choice for a module at kAliased. Errors: as ChooseKernel.
absl::Status CompleteKernelChoice(HloModule* module, const BufferAssignment& assignment, const KernelFacts& facts,
                                  const PassContext& context);

// Returns true if the instruction is emitted as a kernel, call or loop: it has code and memory, or an effect.
bool IsEmitted(const HloInstruction& instruction, const BufferAssignment& assignment);

// Returns true if the instruction is a dynamic-update-slice, possibly fused, whose result shares the memory of its
// operand: only the window is written.
bool UpdatesInPlace(const HloInstruction& instruction, const BufferAssignment& assignment);

// Returns true if instructions of these configurations, one after the other, are in one kernel: of a sequence, or of a
// group. Of an instruction and itself: if it is in such a kernel.
bool AreOneKernel(const KernelConfig& a, const KernelConfig& b);

// Returns true for a top-k of which the first k are selected; the others are expanded to sorts.
bool IsSelectedTopK(const HloInstruction& top_k);

// Returns true for a scatter of so many updates that it is expanded: they are sorted by where they go, so that those of
// one element follow each other in a scatter of kind `scatter-sorted`; those that replace elements are numbered instead
// (hlo/passes/expand/scatter.cc).
bool IsSortedScatter(const HloInstruction& scatter);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CHOICE_KERNEL_CHOICE_H_
