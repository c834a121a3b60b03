// Loops that need not run: where a scalar condition does not hold, all results keep what their memory holds.
//
//   ROOT s = pred[1000] select(b, y, x), b = pred[1000] broadcast(p), and s shares the memory of x
//
// runs nothing if p is false, as in a sieve, which updates a whole mask if one of its elements is set, or in steps of a
// solver that are not accepted.
#ifndef HILO_BACKENDS_CPU_KERNELS_KEPT_RESULTS_H_
#define HILO_BACKENDS_CPU_KERNELS_KEPT_RESULTS_H_

#include <optional>

#include "backends/cpu/functions/function_emitter.h"

namespace hilo::cpu {

// The results are kept unless the only element of `condition` is `value`.
struct KeptUnless {
  const HloInstruction* condition;
  bool value;
};

// Returns nullopt if the results of the kernel may change in any case, or if it takes less time than a branch that is
// predicted wrongly.
std::optional<KeptUnless> KeptResults(FunctionEmitter& f, const HloInstruction& instruction);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_KEPT_RESULTS_H_
