// Scalar computations as functions over arrays, for host operations that combine elements.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_ELEMENTWISE_FUNCTION_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_ELEMENTWISE_FUNCTION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/llvm/lanes/emitter_context.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo::codegen {

// Computes element i of each result from element i of each operand, for all i < count; a result may share memory with
// an operand.
using ElementFunction = void(const uint8_t* const* operands, uint8_t* const* results, int64_t count);

// Returns true if all parameters and result leaves are scalars.
bool MapsScalars(const HloComputation& computation);

// Emits the computation as an ElementFunction called `name` in `module`. Errors: Unimplemented.
absl::StatusOr<llvm::Function*> EmitElementFunction(llvm::Module* module, absl::string_view name,
                                                    const TargetTraits& target, const NumericOptions& numerics,
                                                    const HloComputation& computation);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_ELEMENTWISE_FUNCTION_H_
