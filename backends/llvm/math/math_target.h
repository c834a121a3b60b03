// The properties of a processor that the code of mathematical functions depends on.
#ifndef HILO_BACKENDS_LLVM_MATH_MATH_TARGET_H_
#define HILO_BACKENDS_LLVM_MATH_MATH_TARGET_H_

namespace hilo::codegen {

struct CpuFeatures;

struct MathTarget {
  bool has_fma = true;
  bool has_avx512 = false;

  static MathTarget Of(const CpuFeatures& cpu);
};

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_MATH_MATH_TARGET_H_
