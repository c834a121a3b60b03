// The body of a loop over the elements of a result: element-wise operations, data movement, and fusions of them.
#ifndef HILO_BACKENDS_LLVM_NEST_LOOP_ELEMENTS_H_
#define HILO_BACKENDS_LLVM_NEST_LOOP_ELEMENTS_H_

#include "absl/status/status.h"
#include "backends/llvm/nest/kernel_function.h"
#include "hlo/analysis/loop_results.h"

namespace hilo::codegen {

// Emits the elements of all results at `indices` of loop.shape(). Computes all of them before it stores any, as a
// result may share the memory of an operand that another element reads.
absl::Status EmitElements(KernelFunction& f, const LoopResults& loop, absl::Span<const Index> indices);

// The same, where `indices` are one row of the results per lane, column by column: stores the rows as one run.
absl::Status EmitRowsOfLanes(KernelFunction& f, const LoopResults& loop, absl::Span<const Index> indices);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_NEST_LOOP_ELEMENTS_H_
