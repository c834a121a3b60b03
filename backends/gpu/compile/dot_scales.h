// Products of scaled factors.
#ifndef HILO_BACKENDS_GPU_COMPILE_DOT_SCALES_H_
#define HILO_BACKENDS_GPU_COMPILE_DOT_SCALES_H_

#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo::gpu {

// "dot-scales": a scalar that multiplies a factor of F32 or F64 which nothing else reads multiplies the other factor
// instead, if that is much smaller: a library would read and write the larger one once more.
std::unique_ptr<HloPass> MakeDotScales();

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_DOT_SCALES_H_
