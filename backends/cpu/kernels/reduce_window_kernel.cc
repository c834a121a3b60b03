// Reduce-windows: running reductions in one pass, all others window by window as a loop over their results.
#include "backends/cpu/kernels/prefix_scan.h"

namespace hilo::cpu {

absl::StatusOr<Kernel> ReduceWindowKernel(FunctionEmitter& f, const HloInstruction* instruction) {
  if (CanRun(f.context().numerics(), *HeroOf(instruction))) return PrefixScanKernel(f, instruction);
  return LoopKernel(f, instruction);
}

}  // namespace hilo::cpu
