// Chooses how the CPU computes each instruction: loop shape, vector width, blocks, library calls, threads. All of these
// decisions and their thresholds are in the files *_choice.cc of this folder, one per family of kernels; emitters read
// the KernelConfig and decide nothing.
//
// What depends on where values are stored is unknown before buffers are assigned and remains a detail of emission: an
// update in place copies nothing; an unrolled kernel with a width is one vector if its arrays are in memory or are
// locals that were written as vectors.
//
// The kinds; `parts` counts what threads may share, `tile` lists the sizes in braces:
//
//   unrolled             element by element; with a width: one vector if the storage allows
//   whole-vectors        arrays of a few vectors, unrolled; of a reduction or a product too, whose lanes are results
//   loop                 one index over all elements, {elements of a part}
//   rows                 lanes along the rows of the result, a part per row
//   row-segments         rows split where they change their source, {elements of a part, 0, ends of the segments}
//   row-blocks           vectors of several short rows, {elements of a part, elements of a block, dimensions of a row}
//   narrow-rows          rows of few elements: the lanes are rows, {rows of a part}
//   tiled-transpose      tiles of rows whose operands are read along another dimension, transposed in registers
//   reduce-unrolled      element by element
//   reduce-each          result by result, {lengths of partial sums}
//   reduce-columns       lanes are adjacent results, {results of a part, vectors together, lengths of partial sums}
//   reduce-streams       as reduce-columns, a block of rows at a time, with totals in the result, {results of a part,
//                        vectors together, rows of a block}
//   reduce-rows          lanes along the reduced row, of a dot too, {accumulators, elements of a partial sum or 0}
//   reduce-short-rows    lanes are the elements of several rows, of which neighbors are combined, {results of a part}
//   cached-rows          reductions of a row and what follows, a row at a time, {accumulators, elements of a partial
//   sum
//                        or 0}
//   library-transpose    as tiled-transpose, in tiles that were compiled with Hilo, of the same tile
//   arg-reduction        argmax and argmin along a row, {accumulators}
//   prefix-scan-columns  lanes are adjacent columns, {columns of a part, running values on the stack}, or {} for all in
//                        registers
//   prefix-scan-row      a row at a time, a vector scanned by halving
//   prefix-scan-rows     interleaved rows, {rows}
//   prefix-scan-lanes    lanes are rows
//   lane-dot             few rows times a matrix, lanes along the sums, {columns of a part, columns of a tile, rows of
//   a
//                        tile}
//   library-dot          calls of a matrix product, {rows of a call, columns of a call}
//   stream-dot           few rows times a matrix that is read in blocks of rows, {columns of a part, vectors
//                        together, rows of a tile, rows of a block}
//   tiled-dot            tiles of results in registers, {rows of a part, rows of a tile, vectors of a
//                        row of a tile, products of a partial sum or 0}
//   convolution          tiles of results in registers: ConvolutionPlan::ToTile, for each phase
//   library-convolution  the same by tiles that were compiled with Hilo (convolution/)
//   concatenate          many arrays, copied piece by piece, {bytes of a part}
//   copy                 bytes, {bytes of a part}
//   update               dynamic-update-slice: {rank of the loops, columns, lanes for the copy of the operand}
//   scatter              index by index, {lanes for the copy of each operand}
//   select-and-scatter   window by window
//   sort, key-sort       by the comparison; by an unsigned key that has its order
//   lane-sort            short lists by such keys, in registers: a list a lane
//   runtime-call         a call of C++ (runtime_call.h)
#ifndef HILO_BACKENDS_CPU_KERNELS_KERNEL_CHOICE_H_
#define HILO_BACKENDS_CPU_KERNELS_KERNEL_CHOICE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "hilo/executable.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ir/kernel_config.h"
#include "hlo/passes/dots/dot_fusion.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo::codegen {
struct NumericOptions;
}

namespace hilo::cpu {

// What one thread of a processor computes in a nanosecond, by which costs are estimated (hlo/analysis/cost_model.h).
// Errors: InvalidArgument for processors that are unknown to LLVM.
absl::StatusOr<MachineFacts> MachineFactsOf(const std::string& cpu);

// Results of at most this many elements are unrolled: LLVM keeps them in registers.
inline constexpr int64_t kUnrolledElements = kRegisterElements;

// Returns true for the kinds that this backend emits.
bool IsCpuKernel(KernelKind kind);

// Returns true for instructions of sequential computations that become code of their own: false for parameters,
// constants, control flow, what only forwards its operands, and results without elements.
bool HasKernel(const HloInstruction& instruction);

// Returns the chosen kernel; null for instructions without code, whatever the text of the module stated. Emission reads
// kernels by this function.
const KernelConfig* KernelOf(const HloInstruction& instruction);

// Chooses the kernel of an instruction that has one. Depends on the instruction, what it calls and the shapes of its
// operands only. Errors: Unimplemented.
absl::StatusOr<KernelConfig> ChooseKernel(const HloInstruction& instruction, const codegen::TargetTraits& target,
                                          const codegen::NumericOptions& numerics);

// What the kernels of dots compute besides the product: library products read contiguous slices in place, and streams
// of weights are computed as they are read.
DotFusionOptions DotFusionFor(bool strict);

// Returns true for dots whose rows of the result fill more lanes if all free dimensions of the right factor are one.
bool FillsMoreLanesMerged(const HloInstruction& dot, const codegen::TargetTraits& target, bool strict);

// Returns true for dots that are computed faster, the transpose included, if the right factor is transposed so that its
// minor-most dimension is that of the result: tiles then load vectors where they would gather.
bool IsFasterTransposed(const HloInstruction& dot, const codegen::TargetTraits& target, bool strict);

// Returns true for sorts that are faster, the transposes included, along the last dimension.
bool IsFasterAlongRows(const HloInstruction& sort, const codegen::TargetTraits& target, bool strict);

// Returns the number of sections, a divisor of the number of terms, that the sums of a product of two tall matrices are
// computed in; 1 for other dots.
int64_t SectionsOf(const HloInstruction& dot);

// Returns true if sums of the rows of a matrix are faster as sums of the columns of its transpose, not counting the
// transposition.
bool IsFasterInColumns(const HloInstruction& reduce, const codegen::TargetTraits& target, bool strict);

// Chooses the kernels of the instructions that have none yet: those that copy insertion added.
absl::Status ChooseMissingKernels(HloModule* module, const CompileOptions& options);

// The pass choose-kernels, the last one of kFused. Overwrites configs that came with the module.
std::unique_ptr<HloPass> MakeKernelChoice(const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_KERNEL_CHOICE_H_
