// Runtime calls of Fourier transforms and linear algebra.
#ifndef HILO_BACKENDS_CPU_RUNTIME_CALLS_LINEAR_ALGEBRA_OPS_H_
#define HILO_BACKENDS_CPU_RUNTIME_CALLS_LINEAR_ALGEBRA_OPS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "backends/cpu/runtime/runtime_call.h"

namespace hilo::cpu {

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeCholeskyOp(const HloInstruction& instruction,
                                                            const CompileOptions& options);
absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeFftOp(const HloInstruction& instruction,
                                                       const CompileOptions& options);
absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeTriangularSolveOp(const HloInstruction& instruction,
                                                                   const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_CALLS_LINEAR_ALGEBRA_OPS_H_
