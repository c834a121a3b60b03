// The choice of kernels, by family. Private to the files *_choice.cc; others call ChooseKernel().
//
// Each function returns the kernel of an instruction whose hero (hlo/analysis/hero.h) is of its family, except for what
// the cost model decides: KernelConfig::parallel.
#ifndef HILO_BACKENDS_CPU_KERNELS_CHOICE_FAMILIES_H_
#define HILO_BACKENDS_CPU_KERNELS_CHOICE_FAMILIES_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/llvm/lanes/emitter_context.h"
#include "base/math.h"
#include "hlo/analysis/loop_results.h"
#include "hlo/analysis/reduction.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/ir/kernel_config.h"

namespace hilo::cpu {

// loop_choice.cc
absl::StatusOr<KernelConfig> ChooseLoop(const HloInstruction& instruction, const codegen::TargetTraits& target);
absl::StatusOr<KernelConfig> ChooseCopy(const HloInstruction& copy, const codegen::TargetTraits& target);

// concatenation.cc
absl::StatusOr<KernelConfig> ChooseConcatenate(const HloInstruction& concatenate, const codegen::TargetTraits& target);

// Returns the number of lanes for a loop over the rows of a table of `shape` (its second minor-most dimension) that
// makes a vector of each column and stores them by IrArray::StoreColumns. Returns 1 if the columns are not few, the
// rows are too few, or this does not pay for the values of `roots`.
int NarrowArrayWidth(absl::Span<const HloInstruction* const> roots, const Shape& shape,
                     const codegen::TargetTraits& target);

// whole_vectors.cc
// For results of few vectors whose operands are read at indices that are known when all is unrolled, and for sums of
// few terms of such arrays; nullopt for others.
std::optional<KernelConfig> ChooseWholeVectors(const HloInstruction& instruction, const codegen::TargetTraits& target);
// Returns true if each of `elements` takes so much work that vectors are worth it, however the elements are read.
bool HasFunctions(const HloInstruction& instruction, int64_t elements);
// Returns the width of such vectors for a loop of any size; 0 if they do not suit.
int64_t KnownIndexWidth(const LoopResults& loop, const codegen::TargetTraits& target);
std::optional<KernelConfig> ChooseWholeVectorSums(const Reduction& reduction, const codegen::TargetTraits& target);
// For a product of small matrices whose lanes are columns of rows of the result; nullopt for others.
std::optional<KernelConfig> ChooseWholeVectorProducts(const HloInstruction& dot, const codegen::TargetTraits& target);

// reduce_choice.cc
absl::StatusOr<KernelConfig> ChooseReduce(const HloInstruction& instruction, const codegen::TargetTraits& target,
                                          const codegen::NumericOptions& numerics);
// For a fusion of a row group; nullopt for others.
std::optional<KernelConfig> ChooseCachedRows(const HloInstruction& fusion, const codegen::TargetTraits& target,
                                             const codegen::NumericOptions& numerics);
// scan_choice.cc
absl::StatusOr<KernelConfig> ChooseReduceWindow(const HloInstruction& instruction, const codegen::TargetTraits& target,
                                                const codegen::NumericOptions& numerics);

// product_choice.cc
absl::StatusOr<KernelConfig> ChooseDot(const HloInstruction& instruction, const codegen::TargetTraits& target,
                                       const codegen::NumericOptions& numerics);
absl::StatusOr<KernelConfig> ChooseConvolution(const HloInstruction& instruction, const codegen::TargetTraits& target,
                                               const codegen::NumericOptions& numerics);

// update_choice.cc
KernelConfig ChooseUpdate(const HloInstruction& instruction, const codegen::TargetTraits& target);
KernelConfig ChooseScatter(const HloInstruction& instruction, const codegen::TargetTraits& target);
KernelConfig ChooseSelectAndScatter(const HloInstruction& instruction, const codegen::TargetTraits& target);
KernelConfig ChooseSort(const HloInstruction& sort, const codegen::TargetTraits& target);

// Returns the number of lanes that fill a register with the widest of several numbers, of at least 32 bits.
template <typename Types>
int FullWidth(const codegen::TargetTraits& target, const Types& types) {
  int bits = 32;
  for (const PrimitiveType type : types) bits = std::max(bits, 8 * PrimitiveTypeByteSize(ComplexComponentType(type)));
  return std::max(1, target.vector_bits / bits);
}

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_CHOICE_FAMILIES_H_
