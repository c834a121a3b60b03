// Host ops of Fourier transforms and linear algebra.
#ifndef HILO_BACKENDS_CPU_HOST_OPS_LINEAR_ALGEBRA_OPS_H_
#define HILO_BACKENDS_CPU_HOST_OPS_LINEAR_ALGEBRA_OPS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "backends/cpu/host_ops/host_op.h"

namespace hilo::cpu {

absl::StatusOr<std::unique_ptr<HostOp>> MakeCholeskyOp(const HloInstruction& instruction,
                                                       const CompileOptions& options);
absl::StatusOr<std::unique_ptr<HostOp>> MakeFftOp(const HloInstruction& instruction, const CompileOptions& options);
absl::StatusOr<std::unique_ptr<HostOp>> MakeTriangularSolveOp(const HloInstruction& instruction,
                                                              const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_HOST_OPS_LINEAR_ALGEBRA_OPS_H_
