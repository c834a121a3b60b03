// Which instructions the CPU backend emits, and how.
#ifndef HILO_BACKENDS_CPU_KERNELS_CPU_TARGET_H_
#define HILO_BACKENDS_CPU_KERNELS_CPU_TARGET_H_

#include <memory>

#include "hilo/executable.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo::cpu {

const EmissionRow& CpuEmission(HloOpcode opcode);

// Without libraries, what they compute is expanded.
std::unique_ptr<Target> CreateCpuTarget(const CompileOptions& options, bool has_libraries = true);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_CPU_TARGET_H_
