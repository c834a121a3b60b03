// The properties of a processor that the code of mathematical functions depends on.
#ifndef HILO_BACKENDS_LLVM_MATH_MATH_TARGET_H_
#define HILO_BACKENDS_LLVM_MATH_MATH_TARGET_H_

namespace hilo::codegen {

struct CpuFeatures;

struct MathTarget {
  bool has_fma = true;
  bool has_avx512 = false;
  // Lanes can read elements of a register at indices of their own (MathBuilder::Lookup).
  bool has_lookup = false;
  // There are sin, cos and tan of huge numbers of f32 (jit/circular.h); otherwise those of f64 serve.
  bool has_circular_f32 = true;
  // There is an instruction for 2^x of f32, to 22 bits (ex2.approx of GPUs), which exponentials may come from.
  bool has_exp2_f32 = false;
  // Size of the vectors whose constants are in memory as whole vectors, or 0. Of a constant that all lanes share LLVM
  // keeps one element, which AVX2 broadcasts in an instruction of its own; polynomials have more constants than there
  // are registers. AVX-512 operations broadcast an operand themselves.
  int splat_bits = 0;

  // `vector_bits`: of the widest profitable registers.
  static MathTarget Of(bool has_fma, bool has_avx512, int vector_bits);
  static MathTarget Of(const CpuFeatures& cpu);
};

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_MATH_MATH_TARGET_H_
