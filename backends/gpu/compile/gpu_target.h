// Which instructions the GPU backend emits, and how.
#ifndef HILO_BACKENDS_GPU_COMPILE_GPU_TARGET_H_
#define HILO_BACKENDS_GPU_COMPILE_GPU_TARGET_H_

#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo::gpu {

const EmissionRow& GpuEmission(HloOpcode opcode);

std::unique_ptr<Target> CreateGpuTarget();

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_GPU_TARGET_H_
