// The arithmetic of NVPTX that is no LLVM instruction, as functions of the host.
#ifndef HILO_BACKENDS_GPU_EMULATED_DEVICE_MATH_H_
#define HILO_BACKENDS_GPU_EMULATED_DEVICE_MATH_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "backends/llvm/jit/host_jit.h"

namespace hilo::gpu {

// The host function for an intrinsic "llvm.nvvm.<name>" with the same operands; empty if there is none. Approximate
// instructions are computed exactly.
std::string DeviceMathFunction(absl::string_view intrinsic);

// All those functions, and the conversions of 16-bit floats that the host's code generator may call.
std::vector<codegen::HostSymbol> DeviceMathSymbols();

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_DEVICE_MATH_H_
