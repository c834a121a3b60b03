#include <cmath>

#include "hlo/passes/simplify/rules.h"

namespace hilo::simplify {
namespace {

using Result = absl::StatusOr<HloInstruction*>;

bool IsInteger(const HloInstruction* x) { return IsIntegralType(x->shape().element_type()); }
bool IsReal(const HloInstruction* x) { return IsFloatingPointType(x->shape().element_type()); }

HloInstruction* If(bool condition, HloInstruction* replacement) { return condition ? replacement : nullptr; }

// The power of two that divides exactly: 1/c is then exact, and x / c is x * (1/c).
std::optional<double> ExactReciprocal(const HloInstruction* x) {
  const Literal* literal = UniformConstant(x);
  if (literal == nullptr || !IsReal(x) || IsSmallFloatType(x->shape().element_type())) return std::nullopt;
  const double value = literal->GetAsDouble(0);
  int exponent;
  if (!std::isfinite(value) || std::fabs(std::frexp(value, &exponent)) != 0.5) return std::nullopt;
  if (exponent < -12 || exponent > 12) return std::nullopt;  // far from the ends of every type's range
  return 1.0 / value;
}

const Rule kRules[] = {
    {HloOpcode::kAdd, "add(x, 0) => x, integers",
     [](HloInstruction* i) -> Result { return If(IsInteger(i) && IsAll(i->operand(1), 0), i->operand(0)); }},
    {HloOpcode::kAdd, "add(0, x) => x, integers",
     [](HloInstruction* i) -> Result { return If(IsInteger(i) && IsAll(i->operand(0), 0), i->operand(1)); }},
    {HloOpcode::kAdd, "add(x, -0) => x", [](HloInstruction* i) -> Result { return If(IsAll(i->operand(1), -0.0), i->operand(0)); }},
    {HloOpcode::kAdd, "add(x, 0) => x", [](HloInstruction* i) -> Result { return If(IsAll(i->operand(1), 0), i->operand(0)); },
     /*exact=*/false},
    {HloOpcode::kAdd, "add(0, x) => x", [](HloInstruction* i) -> Result { return If(IsAll(i->operand(0), 0), i->operand(1)); },
     /*exact=*/false},
    {HloOpcode::kSubtract, "subtract(x, 0) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(1), 0), i->operand(0)); }},
    {HloOpcode::kMultiply, "multiply(x, 1) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(1), 1), i->operand(0)); }},
    {HloOpcode::kMultiply, "multiply(1, x) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(0), 1), i->operand(1)); }},
    {HloOpcode::kMultiply, "multiply(x, 0) => 0, integers",
     [](HloInstruction* i) -> Result { return If(IsInteger(i) && IsAll(i->operand(1), 0), i->operand(1)); }},
    {HloOpcode::kDivide, "divide(x, 1) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(1), 1), i->operand(0)); }},
    {HloOpcode::kDivide, "divide(x, 2^n) => multiply(x, 2^-n)",
     [](HloInstruction* i) -> Result {
       const std::optional<double> reciprocal = ExactReciprocal(i->operand(1));
       if (!reciprocal.has_value()) return nullptr;
       auto factor = MakeUniform(i->operand(1), *reciprocal);
       if (!factor.ok()) return factor.status();
       return MakeBinary(HloOpcode::kMultiply, i->operand(0), *factor);
     }},
    {HloOpcode::kPower, "power(x, 1) => x",
     [](HloInstruction* i) -> Result { return If(IsReal(i) && IsAll(i->operand(1), 1), i->operand(0)); }},
    {HloOpcode::kPower, "power(x, 2) => multiply(x, x)",
     [](HloInstruction* i) -> Result {
       if (!IsReal(i) || !IsAll(i->operand(1), 2)) return nullptr;
       return MakeBinary(HloOpcode::kMultiply, i->operand(0), i->operand(0));
     },
     /*exact=*/false},
    {HloOpcode::kNegate, "negate(negate(x)) => x",
     [](HloInstruction* i) -> Result {
       return i->operand(0)->opcode() == HloOpcode::kNegate ? i->operand(0)->operand(0) : nullptr;
     }},
    {HloOpcode::kNot, "not(not(x)) => x",
     [](HloInstruction* i) -> Result {
       return i->operand(0)->opcode() == HloOpcode::kNot ? i->operand(0)->operand(0) : nullptr;
     }},
    {HloOpcode::kAnd, "and(x, true) => x",
     [](HloInstruction* i) -> Result { return If(i->shape().element_type() == PRED && IsAll(i->operand(1), 1), i->operand(0)); }},
    {HloOpcode::kAnd, "and(true, x) => x",
     [](HloInstruction* i) -> Result { return If(i->shape().element_type() == PRED && IsAll(i->operand(0), 1), i->operand(1)); }},
    {HloOpcode::kOr, "or(x, false) => x", [](HloInstruction* i) -> Result { return If(IsAll(i->operand(1), 0), i->operand(0)); }},
    {HloOpcode::kOr, "or(false, x) => x", [](HloInstruction* i) -> Result { return If(IsAll(i->operand(0), 0), i->operand(1)); }},
    {HloOpcode::kXor, "xor(x, 0) => x", [](HloInstruction* i) -> Result { return If(IsAll(i->operand(1), 0), i->operand(0)); }},
    {HloOpcode::kSelect, "select(true, x, y) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(0), 1), i->operand(1)); }},
    {HloOpcode::kSelect, "select(false, x, y) => y",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(0), 0), i->operand(2)); }},
    {HloOpcode::kSelect, "select(p, x, x) => x",
     [](HloInstruction* i) -> Result { return If(i->operand(1) == i->operand(2), i->operand(1)); }},
    {HloOpcode::kConvert, "convert(x) => x, of the same type",
     [](HloInstruction* i) -> Result { return If(ShapeUtil::SameElementType(i->shape(), i->operand(0)->shape()), i->operand(0)); }},
    {HloOpcode::kBitcastConvert, "bitcast-convert(x) => x, of the same type",
     [](HloInstruction* i) -> Result { return If(ShapeUtil::Compatible(i->shape(), i->operand(0)->shape()), i->operand(0)); }},
    {HloOpcode::kReal, "real(complex(x, y)) => x",
     [](HloInstruction* i) -> Result {
       return i->operand(0)->opcode() == HloOpcode::kComplexNumber ? i->operand(0)->operand(0) : nullptr;
     }},
    {HloOpcode::kImag, "imag(complex(x, y)) => y",
     [](HloInstruction* i) -> Result {
       return i->operand(0)->opcode() == HloOpcode::kComplexNumber ? i->operand(0)->operand(1) : nullptr;
     }},
};

}  // namespace

absl::Span<const Rule> ArithmeticRules() { return kRules; }

}  // namespace hilo::simplify
