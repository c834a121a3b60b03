// NVPTX arithmetic that has no LLVM instruction, as host functions.
#ifndef HILO_BACKENDS_GPU_EMULATED_DEVICE_MATH_H_
#define HILO_BACKENDS_GPU_EMULATED_DEVICE_MATH_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "backends/llvm/jit/host_jit.h"

namespace hilo::gpu {

// Returns the host function for an intrinsic "llvm.nvvm.<name>" with the same operands; empty if there is none.
// Approximate instructions are computed exactly.
std::string DeviceMathFunction(absl::string_view intrinsic);

// Returns all those functions, and the 16-bit float conversions that the host's code generator may call.
std::vector<codegen::HostSymbol> DeviceMathSymbols();

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_DEVICE_MATH_H_
