// Reduce-windows that are running reductions: cumulative sums, products, maxima.
#ifndef HILO_BACKENDS_CPU_KERNELS_PREFIX_SCAN_H_
#define HILO_BACKENDS_CPU_KERNELS_PREFIX_SCAN_H_

#include "absl/status/statusor.h"
#include "backends/cpu/kernels/kernels.h"

namespace hilo::cpu {

// Returns true if each window of the reduce-window covers all elements up to its position, or all from its position on,
// in one dimension.
bool IsPrefixScan(const HloInstruction& reduce_window);

// Returns true if PrefixScanKernel satisfies the numeric options: a running reduction from the front always does, one
// from the back combines in a different order.
bool CanRun(const codegen::NumericOptions& numerics, const HloInstruction& reduce_window);

absl::StatusOr<Kernel> PrefixScanKernel(FunctionEmitter& f, const HloInstruction* instruction);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_PREFIX_SCAN_H_
