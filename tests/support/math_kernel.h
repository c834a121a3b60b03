// A function of vector_math as a loop over arrays, for its tests and benchmarks.
#ifndef HILO_TESTS_SUPPORT_MATH_KERNEL_H_
#define HILO_TESTS_SUPPORT_MATH_KERNEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/llvm/elements/small_float_emit.h"
#include "backends/llvm/jit/host_jit.h"
#include "backends/llvm/math/vector_math.h"

namespace hilo::codegen {

// Reads x[0, n) and y[0, n) (y only for functions of two operands), writes out[0, n).
using MathKernel = void(const void* x, const void* y, void* out, int64_t n);

struct MathKernelSpec {
  HloOpcode function = HloOpcode::kExp;
  bool f64 = false;
  int width = 1;  // lanes per step; n must be a multiple
};

// Builds the module "math_kernel" with one function of that name.
absl::StatusOr<HostModule> BuildMathKernel(HostJit& jit, const MathKernelSpec& spec);

// Converts f32 to the raw bits of `format` (one uint16_t per element for formats of 16 bits, else one uint8_t), or
// back.
absl::StatusOr<HostModule> BuildConversionKernel(HostJit& jit, const FloatFormat& format, bool to_f32, int width);

}  // namespace hilo::codegen

#endif  // HILO_TESTS_SUPPORT_MATH_KERNEL_H_
