// An IRBuilder for one floating-point type, scalar or vector, with the operations of numerical code.
#ifndef HILO_BACKENDS_LLVM_MATH_MATH_BUILDER_H_
#define HILO_BACKENDS_LLVM_MATH_MATH_BUILDER_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/llvm/math/math_target.h"
#include "llvm/IR/IRBuilder.h"

namespace hilo::codegen {

// During its lifetime the builder's fast-math flags are off: reassociation would undo the error terms.
class MathBuilder {
 public:
  using Value = llvm::Value;

  // `type` is float, double or a fixed vector of one of them.
  MathBuilder(llvm::IRBuilderBase& b, llvm::Type* type, const MathTarget& target);

  const MathTarget& target() const { return target_; }
  llvm::IRBuilderBase& ir() { return b_; }
  bool f64() const { return f64_; }
  unsigned lanes() const { return lanes_; }
  llvm::Type* type() const { return type_; }
  llvm::Type* bits_type() const { return bits_type_; }
  // Returns the type with the same number of lanes and element type `element`.
  llvm::Type* WithElement(llvm::Type* element) const;

  // Properties of the format.
  int mantissa_bits() const { return f64_ ? 52 : 23; }
  int64_t one_bits() const { return f64_ ? 0x3ff0000000000000 : 0x3f800000; }
  double min_normal() const { return f64_ ? 0x1p-1022 : 0x1p-126; }
  // Added to |x| < 2^(mantissa_bits - 1), it rounds x to an integer and leaves that integer in the low bits.
  double round_magic() const { return f64_ ? 0x1.8p52 : 0x1.8p23; }

  // `for32` in f32, `for64` in f64.
  double Pick(double for32, double for64) const { return f64_ ? for64 : for32; }
  Value* F(double value);
  Value* F(double for32, double for64) { return F(Pick(for32, for64)); }
  Value* Inf();
  Value* NaN();
  Value* I(int64_t bits);

  Value* Add(Value* a, Value* b) { return b_.CreateFAdd(a, b); }
  Value* Sub(Value* a, Value* b) { return b_.CreateFSub(a, b); }
  Value* Mul(Value* a, Value* b) { return b_.CreateFMul(a, b); }
  Value* Div(Value* a, Value* b) { return b_.CreateFDiv(a, b); }
  Value* Neg(Value* a) { return b_.CreateFNeg(a); }
  // a * b + c, rounded once where the target can.
  Value* Fma(Value* a, Value* b, Value* c);
  Value* Abs(Value* a);
  Value* Sqrt(Value* a);
  // 1 / sqrt(a) of f64 with a relative error below 2^-14, and exact for zeros and infinities; null if the target has no
  // such instruction. The same bits for every number of lanes.
  Value* RsqrtEstimate(Value* a);
  Value* Trunc(Value* a);
  Value* CopySign(Value* magnitude, Value* sign);

  Value* Lt(Value* a, Value* b) { return b_.CreateFCmpOLT(a, b); }
  Value* Gt(Value* a, Value* b) { return b_.CreateFCmpOGT(a, b); }
  Value* Ge(Value* a, Value* b) { return b_.CreateFCmpOGE(a, b); }
  Value* Eq(Value* a, Value* b) { return b_.CreateFCmpOEQ(a, b); }
  Value* IsNan(Value* a) { return b_.CreateFCmpUNO(a, a); }
  Value* And(Value* a, Value* b) { return b_.CreateAnd(a, b); }
  Value* Or(Value* a, Value* b) { return b_.CreateOr(a, b); }
  Value* Select(Value* condition, Value* a, Value* b) { return b_.CreateSelect(condition, a, b); }
  // Clamp to a bound; NaN passes through.
  Value* AtMost(Value* a, double bound) { return Select(Lt(F(bound), a), F(bound), a); }
  Value* AtLeast(Value* a, double bound) { return Select(Gt(F(bound), a), F(bound), a); }

  Value* Bits(Value* a) { return b_.CreateBitCast(a, bits_type_); }
  Value* FromBits(Value* a) { return b_.CreateBitCast(a, type_); }
  Value* Shl(Value* a, int count) { return b_.CreateShl(a, I(count)); }
  Value* Lshr(Value* a, int count) { return b_.CreateLShr(a, I(count)); }
  Value* IAdd(Value* a, Value* b) { return b_.CreateAdd(a, b); }
  Value* ISub(Value* a, Value* b) { return b_.CreateSub(a, b); }
  // Moves the low bit of integer `k` to the sign position: xor it into a float's bits to multiply by (-1)^k.
  Value* SignOfParity(Value* k) { return Shl(k, f64_ ? 63 : 31); }
  Value* FlipSign(Value* a, Value* sign_bits) { return FromBits(b_.CreateXor(Bits(a), sign_bits)); }
  Value* SignBits(Value* a) { return b_.CreateAnd(Bits(a), I(f64_ ? INT64_MIN : int64_t{0x80000000})); }

  // A constant of which an operation may read the vector in memory as its operand (MathTarget::splat_bits). One that
  // several operations use is better in a register: F.
  Value* Coefficient(double value);

  // c[0] + c[1] x + ...: Horner in x squared on the even and the odd terms, which halves the dependency
  // chain; of 16 terms or more in x^4 on four parts.
  Value* Poly(Value* x, absl::Span<const double> coefficients);

  // Elements of a table that Lookup reads; a vector of f32 that it takes has a multiple of them.
  static constexpr unsigned kTable = 8;
  // Returns table[index & 7], lane by lane, of f32 and indices of 32 bits (MathTarget::has_lookup).
  Value* Lookup(absl::Span<const double> table, Value* index);

  // a * 2^n, rounded once, for n of either sign up to twice the exponent range. `rounded` is n + round_magic().
  Value* ScaleByPowerOfTwo(Value* a, Value* n, Value* rounded);
  // The same by the processor's own instruction, for any n; null if it has none for the type.
  Value* ScaleDirectly(Value* a, Value* n);

  // What AVX-512's vfixupimm does with a lane of `value`, by the class of the same lane of `x`.
  enum class FixUp : uint32_t { kKeep = 0, kX = 1, kQuietX = 2, kNegativeNaN = 3, kMinusInfinity = 4, kInfinity = 5 };
  // Those for NaN, zero, one, -inf, inf, and other numbers below and above zero, subnormal ones included.
  struct FixUps {
    FixUp nan, zero, one, minus_infinity, infinity, negative, positive;
  };
  // Returns `value` with these changes, or null if the processor has no such instruction for the type.
  Value* FixUpByClass(Value* value, Value* x, const FixUps& changes);

  // Returns `fast`, but in the lanes where `slow` is set the result of `symbol` (of f64 operands, unless
  // `symbol_has_own_type`) for the operands. The call is in a cold block behind one branch for all lanes.
  Value* OrCall(Value* fast, Value* slow, absl::string_view symbol, absl::Span<Value* const> operands,
                bool symbol_has_own_type = false);
  // Calls `symbol` on the operands, lane by lane.
  Value* CallPerLane(absl::string_view symbol, absl::Span<Value* const> operands, bool symbol_has_own_type);

 private:
  bool HasRegisterType() const;  // of AVX-512
  Value* AllLanes() const;       // the mask of its instructions
  llvm::Function* LaneLoop(absl::string_view symbol, size_t arity, bool symbol_has_own_type);
  Value* CallScalar(llvm::IRBuilderBase& b, absl::string_view symbol, absl::Span<Value* const> operands,
                    bool symbol_has_own_type);

  llvm::IRBuilderBase& b_;
  llvm::IRBuilderBase::FastMathFlagGuard guard_;
  MathTarget target_;
  llvm::Type* type_;
  llvm::Type* bits_type_;
  bool f64_;
  unsigned lanes_;
};

// Returns `common`, or if a lane of `rare` is set the values that `emit` returns, as many and of the same types. These
// are computed in a cold block behind one branch for all lanes.
std::vector<llvm::Value*> OrRarely(llvm::IRBuilderBase& b, llvm::Value* rare, const std::vector<llvm::Value*>& common,
                                   absl::FunctionRef<std::vector<llvm::Value*>()> emit);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_MATH_MATH_BUILDER_H_
