// Chooses how the CPU computes each instruction: loop shape, vector width, blocks, library calls, threads. All of these
// decisions and their thresholds are in the files *_choice.cc of this folder, one per family of kernels; emitters read
// the KernelConfig and decide nothing.
//
// What depends on where values are stored is unknown before buffers are assigned and remains a detail of emission: an
// update in place copies nothing; an unrolled kernel with a width is one vector if its arrays are in memory or are
// locals that were written as vectors.
//
// docs/kernels.md lists the kinds: when each is chosen, and what `tile` and `parts` state.
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
