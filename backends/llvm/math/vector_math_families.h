// The functions of vector_math by family, one file per family. Private to vector_math*.cc.
#ifndef HILO_BACKENDS_LLVM_MATH_VECTOR_MATH_FAMILIES_H_
#define HILO_BACKENDS_LLVM_MATH_VECTOR_MATH_FAMILIES_H_

#include "backends/llvm/math/math_builder.h"

namespace hilo::codegen {

// vector_math_exp_log.cc

inline constexpr double kLog2E = 0x1.71547652b82fep+0;

// x = 2^e (1 + f) for a positive normal x, with 1 + f in [sqrt 1/2, sqrt 2).
struct LogParts {
  llvm::Value* e;
  llvm::Value* e_bits;  // the biased exponent, an integer
  llvm::Value* f;
};
LogParts Decompose(MathBuilder& m, llvm::Value* x);

// e^x = 2^n (1 + q), |q| < 0.42. q keeps its relative precision where n = 0, so that e^x - 1 can be computed from it.
// |x| must be small enough for n to fit: at most 1100 (f64) or 160 (f32).
struct ExpParts {
  llvm::Value* n;
  llvm::Value* rounded;  // n + round_magic()
  llvm::Value* q;
};
ExpParts ReduceExp(MathBuilder& m, llvm::Value* x);
// 2^n - 1 + 2^n q = e^x - 1 for x <= 0 that is not below the point where it rounds to -1.
llvm::Value* Expm1OfNegative(MathBuilder& m, llvm::Value* x);

llvm::Value* EmitExp(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitExpm1(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitLog(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitLog1p(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitLogistic(MathBuilder& m, llvm::Value* x);

// vector_math_power.cc
// x^y for the constant exponents y that a few products, roots and quotients make; null for others.
llvm::Value* EmitPowerByRoots(MathBuilder& m, llvm::Value* x, llvm::Value* y);
llvm::Value* EmitPower(MathBuilder& m, llvm::Value* x, llvm::Value* y);

// vector_math_trig.cc
llvm::Value* EmitSin(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitCos(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitTan(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitAtan(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitAtan2(MathBuilder& m, llvm::Value* y, llvm::Value* x);
llvm::Value* EmitAsin(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitAcos(MathBuilder& m, llvm::Value* x);

// vector_math_hyperbolic.cc
llvm::Value* EmitTanh(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitSinh(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitCosh(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitAsinh(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitAcosh(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitAtanh(MathBuilder& m, llvm::Value* x);

// vector_math_special.cc
llvm::Value* EmitErf(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitCbrt(MathBuilder& m, llvm::Value* x);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_MATH_VECTOR_MATH_FAMILIES_H_
