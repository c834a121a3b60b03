// The functions of vector_math, one file per family, and the table of the ops that they compute.
#ifndef HILO_BACKENDS_LLVM_MATH_MATH_FUNCTIONS_H_
#define HILO_BACKENDS_LLVM_MATH_MATH_FUNCTIONS_H_

#include <cstdint>

#include "hlo/ops/table/opcode_map.h"

namespace llvm {
class Value;
}

namespace hilo::codegen {

class MathBuilder;

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
// -tanh a = t / (2 + t) with t = e^(-2 a) - 1, for a >= 0 that is not above the point where it rounds to -1.
llvm::Value* MinusTanhOfPositive(MathBuilder& m, llvm::Value* a);

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

// vector_math.cc
llvm::Value* EmitCeil(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitFloor(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitRemainder(MathBuilder& m, llvm::Value* x, llvm::Value* y);
llvm::Value* EmitRoundNearestAfz(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitRoundNearestEven(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitRsqrt(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitSign(MathBuilder& m, llvm::Value* x);
llvm::Value* EmitSqrt(MathBuilder& m, llvm::Value* x);

// Whether the code accesses the bits of floats, without branches and calls: then a scalar is better computed in the
// first lane of a vector.
enum class AccessesBits : uint8_t { kNo, kYes, kInF32 };

struct UnaryMath {
  llvm::Value* (*emit)(MathBuilder& m, llvm::Value* x) = nullptr;
  AccessesBits accesses_bits = AccessesBits::kNo;
};
inline constexpr OpcodeMap<UnaryMath> kUnaryMath = {
    {HloOpcode::kAcos, {EmitAcos}},
    {HloOpcode::kAcosh, {EmitAcosh, AccessesBits::kYes}},
    {HloOpcode::kAsin, {EmitAsin}},
    {HloOpcode::kAsinh, {EmitAsinh, AccessesBits::kYes}},
    {HloOpcode::kAtanh, {EmitAtanh, AccessesBits::kYes}},
    {HloOpcode::kCbrt, {EmitCbrt, AccessesBits::kYes}},
    {HloOpcode::kCeil, {EmitCeil}},
    {HloOpcode::kCos, {EmitCos}},
    {HloOpcode::kCosh, {EmitCosh, AccessesBits::kYes}},
    {HloOpcode::kErf, {EmitErf, AccessesBits::kYes}},
    {HloOpcode::kExp, {EmitExp, AccessesBits::kYes}},
    {HloOpcode::kExpm1, {EmitExpm1, AccessesBits::kYes}},
    {HloOpcode::kFloor, {EmitFloor}},
    {HloOpcode::kLog, {EmitLog, AccessesBits::kYes}},
    {HloOpcode::kLog1p, {EmitLog1p, AccessesBits::kYes}},
    {HloOpcode::kLogistic, {EmitLogistic, AccessesBits::kYes}},
    {HloOpcode::kRoundNearestAfz, {EmitRoundNearestAfz}},
    {HloOpcode::kRoundNearestEven, {EmitRoundNearestEven}},
    {HloOpcode::kRsqrt, {EmitRsqrt}},
    {HloOpcode::kSign, {EmitSign}},
    {HloOpcode::kSin, {EmitSin}},
    {HloOpcode::kSinh, {EmitSinh, AccessesBits::kYes}},
    {HloOpcode::kSqrt, {EmitSqrt}},
    {HloOpcode::kTan, {EmitTan}},
    {HloOpcode::kTanh, {EmitTanh, AccessesBits::kYes}},
};

struct BinaryMath {
  llvm::Value* (*emit)(MathBuilder& m, llvm::Value* x, llvm::Value* y) = nullptr;
  AccessesBits accesses_bits = AccessesBits::kNo;
};
inline constexpr OpcodeMap<BinaryMath> kBinaryMath = {
    {HloOpcode::kAtan2, {EmitAtan2}},
    {HloOpcode::kPower, {EmitPower, AccessesBits::kInF32}},
    {HloOpcode::kRemainder, {EmitRemainder}},
};

constexpr bool IsMathFunction(HloOpcode opcode) {
  return kUnaryMath[opcode].emit != nullptr || kBinaryMath[opcode].emit != nullptr;
}

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_MATH_MATH_FUNCTIONS_H_
