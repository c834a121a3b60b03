// Computations of scalars as functions over arrays, for host ops that combine elements.
#ifndef HILO_BACKENDS_CPU_ELEMENT_FUNCTION_H_
#define HILO_BACKENDS_CPU_ELEMENT_FUNCTION_H_

#include "absl/status/statusor.h"
#include "backends/cpu/function_emitter.h"

namespace hilo::cpu {

// True if all parameters and result leaves are scalars.
bool MapsScalars(const HloComputation& computation);

// The computation as a HiloElementFunction in the module of `f`. Errors: Unimplemented.
absl::StatusOr<llvm::Function*> EmitElementFunction(FunctionEmitter& f, const HloComputation& computation);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_ELEMENT_FUNCTION_H_
