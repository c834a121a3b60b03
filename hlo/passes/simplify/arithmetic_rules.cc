#include <cmath>
#include <limits>

#include "absl/algorithm/container.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/analysis/value_range.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/simplify/rules.h"

namespace hilo::simplify {
namespace {

using Result = absl::StatusOr<HloInstruction*>;

bool IsInteger(const HloInstruction* x) { return IsIntegralType(x->shape().element_type()); }
bool IsReal(const HloInstruction* x) { return IsFloatingPointType(x->shape().element_type()); }

// True if every element of `x` is the complex number 1 + 0i. A product with it is not exact: inf * 0i is NaN. The
// factor 1 at the end of a derivative's chain is meant as none.
bool IsComplexOne(const HloInstruction* x) {
  const Literal* literal = UniformConstant(x);
  return literal != nullptr && IsComplexType(x->shape().element_type()) &&
         *literal == LiteralUtil::One(x->shape().element_type());
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

// Whether x is a constant, or an expression of few operations on constants, which is folded to one.
bool IsOfConstants(const HloInstruction* x, int max_steps = 4) {
  if (x->IsConstant()) return true;
  const bool steps =
      IsElementwise(x->opcode()) || x->opcode() == HloOpcode::kBroadcast || x->opcode() == HloOpcode::kReshape;
  return steps && max_steps > 0 && x->operand_count() > 0 &&
         absl::c_all_of(x->operands(), [&](const HloInstruction* y) { return IsOfConstants(y, max_steps - 1); });
}

// x / c costs several times what x * (1 / c) does, which rounds once more. Of narrower types the reciprocal would be
// too coarse. What is folded costs nothing, and is the quotient that the program gives when its operations are compiled
// one by one.
Result DivideByConstant(HloInstruction* i) {
  const Literal* literal = UniformConstant(i->operand(1));
  const PrimitiveType type = i->shape().element_type();
  if (literal == nullptr || (type != F32 && type != F64) || IsOfConstants(i->operand(0))) return nullptr;
  const double value = literal->GetAsDouble(0);
  const double largest = type == F32 ? 0x1p126 : 0x1p1022;  // its reciprocal is normal
  if (!(std::fabs(value) <= largest) || !(std::fabs(value) >= 1 / largest)) return nullptr;
  auto factor = MakeUniform(i->operand(1), 1 / value);
  if (!factor.ok()) return factor.status();
  return MakeBinary(HloOpcode::kMultiply, i->operand(0), *factor);
}

// x / y^c is x * y^-c, of constants c.
Result DivideByPower(HloInstruction* i) {
  HloInstruction* power = i->operand(1);
  std::vector<HloInstruction*> above;  // broadcasts and reshapes between the two, outermost first
  while ((power->opcode() == HloOpcode::kBroadcast || power->opcode() == HloOpcode::kReshape) &&
         power->users().size() == 1) {
    above.push_back(power);
    power = power->operand(0);
  }
  const PrimitiveType type = i->shape().element_type();
  if (power->opcode() != HloOpcode::kPower || power->users().size() != 1 || (type != F32 && type != F64))
    return nullptr;
  const Literal* exponent = UniformConstant(power->operand(1));
  if (exponent == nullptr) return nullptr;
  auto negative = MakeUniform(power->operand(1), -exponent->GetAsDouble(0));
  if (!negative.ok()) return negative.status();
  auto factor = MakeBinary(HloOpcode::kPower, power->operand(0), *negative);
  for (auto it = above.rbegin(); it != above.rend() && factor.ok(); ++it) {
    factor = (*it)->opcode() == HloOpcode::kReshape
                 ? MakeReshape(*factor, (*it)->shape())
                 : MakeBroadcast(*factor, (*it)->shape(), (*it)->attrs<BroadcastAttrs>().dimensions);
  }
  if (!factor.ok()) return factor.status();
  return MakeBinary(HloOpcode::kMultiply, i->operand(0), *factor);
}

// True if no element of `x` has its sign set, except NaN.
bool HasNoSign(const HloInstruction* x, int depth = 8) {
  if (depth == 0 || !IsReal(x)) return false;
  auto has_none = [&](int64_t operand) { return HasNoSign(x->operand(operand), depth - 1); };
  if (const Literal* literal = UniformConstant(x)) return literal->GetAsDouble(0) > 0 || IsAll(x, 0);
  // Whatever the operands are; if none of them has a sign.
  static constexpr OpcodeSet kNever = {HloOpcode::kAbs, HloOpcode::kExp, HloOpcode::kLogistic};
  static constexpr OpcodeSet kIfOperandsHaveNone = {HloOpcode::kAdd,      HloOpcode::kBroadcast, HloOpcode::kDivide,
                                                    HloOpcode::kMultiply, HloOpcode::kReshape,   HloOpcode::kSqrt};
  const HloOpcode opcode = x->opcode();
  if (kNever.contains(opcode)) return true;
  if (opcode == HloOpcode::kMultiply && x->operand(0) == x->operand(1)) return true;
  if (opcode == HloOpcode::kMaximum) return has_none(0) || has_none(1);
  const bool is_sum = opcode == HloOpcode::kReduce && x->operand_count() == 2 &&
                      ReductionOp(*x->called_computation()) == HloOpcode::kAdd;
  if (!is_sum && !kIfOperandsHaveNone.contains(opcode)) return false;
  return has_none(0) && (x->operand_count() == 1 || has_none(1));
}

// sqrt(x)^c is x^(c / 2), which need not wait for the root.
Result PowerOfRoot(HloInstruction* i) {
  const HloInstruction* root = i->operand(0);
  const Literal* exponent = UniformConstant(i->operand(1));
  const PrimitiveType type = i->shape().element_type();
  if (root->opcode() != HloOpcode::kSqrt || exponent == nullptr || (type != F32 && type != F64) ||
      !HasNoSign(root->operand(0)))
    return nullptr;
  // The root's rounding counts c times.
  const double c = exponent->GetAsDouble(0);
  if (!(std::fabs(c) <= 2) || c == 0) return nullptr;
  auto half = MakeUniform(i->operand(1), c / 2);
  if (!half.ok()) return half.status();
  return MakeBinary(HloOpcode::kPower, i->operand(0)->operand(0), *half);
}

// True if every value of `narrow` is a value of `wide`, so that a conversion by way of `wide` changes nothing.
bool HoldsExactly(PrimitiveType wide, PrimitiveType narrow) {
  if (wide == narrow) return true;
  // Not every type has a 0 and a 1.
  if (narrow == PRED)
    return wide != S1 && (IsIntegralType(wide) || (IsFloatingPointType(wide) && !IsSmallFloatType(wide)));
  const int bits = PrimitiveTypeBitWidth(narrow);
  if (IsIntegralType(narrow)) {
    if (IsIntegralType(wide)) {
      const bool same_sign = IsSignedIntegralType(narrow) == IsSignedIntegralType(wide);
      return (same_sign || IsSignedIntegralType(wide)) && PrimitiveTypeBitWidth(wide) > bits;
    }
    return (wide == F32 && bits <= 16) || (wide == F64 && bits <= 32);
  }
  if (!IsFloatingPointType(narrow)) return false;
  return (wide == F64) || (wide == F32 && bits <= 16);
}

Result MergeConverts(HloInstruction* i) {
  HloInstruction* inner = i->operand(0);
  if (inner->opcode() != HloOpcode::kConvert) return nullptr;
  HloInstruction* x = inner->operand(0);
  const PrimitiveType narrow = x->shape().element_type();
  if (!HoldsExactly(inner->shape().element_type(), narrow)) return nullptr;
  if (i->shape().element_type() == narrow) return x;
  // From floats to integers conversion saturates, between integers it wraps.
  if (IsIntegralType(i->shape().element_type()) &&
      IsFloatingPointType(inner->shape().element_type()) != IsFloatingPointType(narrow))
    return nullptr;
  const Shape& shape = i->shape();
  return i->parent()->AddOp(HloOpcode::kConvert, {x}, nullptr, {}, &shape);
}

// Of integers and PRED; a float may be NaN.
Result CompareWithItself(HloInstruction* i) {
  const PrimitiveType type = i->operand(0)->shape().element_type();
  if (i->operand(0) != i->operand(1) || !(IsIntegralType(type) || type == PRED)) return nullptr;
  const ComparisonDirection direction = i->attrs<CompareAttrs>().direction;
  const bool equal = direction == ComparisonDirection::kEq || direction == ComparisonDirection::kLe ||
                     direction == ComparisonDirection::kGe;
  return MakeUniform(i, equal ? 1 : 0);
}

// Of integers whose ranges decide, as of indices from iotas, which JAX compares with zero.
Result CompareRanges(HloInstruction* i) {
  if (!IsInteger(i->operand(0))) return nullptr;
  const auto x = ValueRangeOf(*i->operand(0)), y = ValueRangeOf(*i->operand(1));
  if (!x.has_value() || !y.has_value()) return nullptr;
  const auto known = [&](bool holds, bool opposite) -> Result {
    return holds || opposite ? MakeUniform(i, holds ? 1 : 0) : nullptr;
  };
  const bool differ = x->last < y->first || x->first > y->last;
  switch (i->attrs<CompareAttrs>().direction) {
    case ComparisonDirection::kEq: return known(false, differ);
    case ComparisonDirection::kNe: return known(differ, false);
    case ComparisonDirection::kLt: return known(x->last < y->first, x->first >= y->last);
    case ComparisonDirection::kGe: return known(x->first >= y->last, x->last < y->first);
    case ComparisonDirection::kGt: return known(x->first > y->last, x->last <= y->first);
    case ComparisonDirection::kLe: return known(x->last <= y->first, x->first > y->last);
  }
  return nullptr;
}

// Of integers whose ranges tell which of the two operands it is.
Result ExtremumOfRanges(HloInstruction* i) {
  if (!IsInteger(i)) return nullptr;
  const auto x = ValueRangeOf(*i->operand(0)), y = ValueRangeOf(*i->operand(1));
  if (!x.has_value() || !y.has_value()) return nullptr;
  const bool is_maximum = i->opcode() == HloOpcode::kMaximum;
  if (x->last <= y->first) return i->operand(is_maximum ? 1 : 0);
  return If(x->first >= y->last, i->operand(is_maximum ? 0 : 1));
}

// Of integers between the bounds already.
Result ClampOfRange(HloInstruction* i) {
  if (!IsInteger(i)) return nullptr;
  const auto low = ValueRangeOf(*i->operand(0)), x = ValueRangeOf(*i->operand(1)), high = ValueRangeOf(*i->operand(2));
  return If(low.has_value() && x.has_value() && high.has_value() && low->last <= x->first && x->last <= high->first,
            i->operand(1));
}

// Of integers that are less than the divisor already.
Result RemainderOfRange(HloInstruction* i) {
  if (!IsInteger(i)) return nullptr;
  const auto x = ValueRangeOf(*i->operand(0)), y = ValueRangeOf(*i->operand(1));
  return If(x.has_value() && y.has_value() && x->first >= 0 && x->last < y->first, i->operand(0));
}

// Of indices, mostly: no processor divides vectors of 64 bits. A divisor beyond all dividends is as good as any other.
Result NarrowDivision(HloInstruction* i) {
  // Scalars of 64 bits are divided as fast as others.
  constexpr int64_t kFewestElements = 8;
  constexpr int64_t kBeyond = std::numeric_limits<int32_t>::max();
  if (i->shape().element_type() != S64 || ShapeUtil::ElementsIn(i->shape()) < kFewestElements) return nullptr;
  const auto x = ValueRangeOf(*i->operand(0)), y = ValueRangeOf(*i->operand(1));
  if (!x.has_value() || x->first <= -kBeyond || x->last >= kBeyond) return nullptr;
  HloInstruction* divisor = i->operand(1);
  if (!y.has_value() || y->first < -kBeyond || y->last > kBeyond) {
    HILO_ASSIGN_OR_RETURN(HloInstruction* const low, MakeUniform(divisor, -kBeyond));
    HILO_ASSIGN_OR_RETURN(HloInstruction* const high, MakeUniform(divisor, kBeyond));
    HILO_ASSIGN_OR_RETURN(divisor, i->parent()->AddOp(HloOpcode::kClamp, {low, divisor, high}));
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction* const narrow_x, MakeConvert(i->operand(0), S32));
  HILO_ASSIGN_OR_RETURN(HloInstruction* const narrow_y, MakeConvert(divisor, S32));
  HILO_ASSIGN_OR_RETURN(HloInstruction* const result, MakeBinary(i->opcode(), narrow_x, narrow_y));
  return MakeConvert(result, S64);
}

ComparisonDirection Inverse(ComparisonDirection direction) {
  switch (direction) {
    case ComparisonDirection::kEq: return ComparisonDirection::kNe;
    case ComparisonDirection::kNe: return ComparisonDirection::kEq;
    case ComparisonDirection::kLt: return ComparisonDirection::kGe;
    case ComparisonDirection::kGe: return ComparisonDirection::kLt;
    case ComparisonDirection::kGt: return ComparisonDirection::kLe;
    case ComparisonDirection::kLe: return ComparisonDirection::kGt;
  }
  return direction;
}

Result NotOfCompare(HloInstruction* i) {
  HloInstruction* compare = i->operand(0);
  if (compare->opcode() != HloOpcode::kCompare) return nullptr;
  const PrimitiveType type = compare->operand(0)->shape().element_type();
  if (!IsIntegralType(type) && type != PRED) return nullptr;
  auto attributes = std::make_unique<CompareAttrs>(compare->attrs<CompareAttrs>());
  attributes->direction = Inverse(attributes->direction);
  return i->parent()->AddOp(HloOpcode::kCompare, {compare->operand(0), compare->operand(1)}, std::move(attributes));
}

// x > 0 where max(x, 0) is all else that is computed from x, as in the gradient of a rectifier: max(x, 0) > 0 is the
// same, also of NaN, and x need not be kept, so the product that it comes from can be rectified where it is computed.
Result CompareOfRectified(HloInstruction* i) {
  HloInstruction* x = i->operand(0);
  const auto is_above_zero = [](const HloInstruction* compare) {
    const ComparisonDirection direction = compare->attrs<CompareAttrs>().direction;
    return (direction == ComparisonDirection::kGt || direction == ComparisonDirection::kLe) &&
           IsAll(compare->operand(1), 0);
  };
  if (!IsReal(x) || x->IsRoot() || !is_above_zero(i)) return nullptr;
  HloInstruction* rectified = nullptr;
  for (HloInstruction* user : x->users()) {
    if (user->opcode() == HloOpcode::kMaximum && (IsAll(user->operand(0), 0) || IsAll(user->operand(1), 0))) {
      rectified = user;
    } else if (user->opcode() != HloOpcode::kCompare || user->operand(0) != x || !is_above_zero(user)) {
      return nullptr;
    }
  }
  if (rectified == nullptr) return nullptr;
  return i->parent()->AddOp(HloOpcode::kCompare, {rectified, i->operand(1)}, i->attributes()->Clone());
}

Result MultiplyByMinusOne(HloInstruction* i) {
  const PrimitiveType type = i->shape().element_type();
  if (!IsSignedIntegralType(type) && (!IsReal(i) || IsSmallFloatType(type))) return nullptr;
  for (int64_t side : {0, 1}) {
    if (IsAll(i->operand(1 - side), -1)) return i->parent()->AddOp(HloOpcode::kNegate, {i->operand(side)});
  }
  return nullptr;
}

Result SelectOfNot(HloInstruction* i) {
  if (i->operand(0)->opcode() != HloOpcode::kNot) return nullptr;
  return i->parent()->AddOp(HloOpcode::kSelect, {i->operand(0)->operand(0), i->operand(2), i->operand(1)});
}

Result ComplexOfParts(HloInstruction* i) {
  const HloInstruction* real = i->operand(0);
  const HloInstruction* imaginary = i->operand(1);
  if (real->opcode() != HloOpcode::kReal || imaginary->opcode() != HloOpcode::kImag) return nullptr;
  HloInstruction* z = real->operand(0);
  return If(imaginary->operand(0) == z && IsComplexType(z->shape().element_type()), z);
}

Result Same(HloInstruction* i) { return If(i->operand(0) == i->operand(1), i->operand(0)); }

// Broadcasts of one kind below an element-wise operation: it is computed on what they repeat.
Result SinkBroadcasts(HloInstruction* i) {
  if (i->opcode() == HloOpcode::kMap || i->operand_count() == 0 || !i->shape().IsArray()) return nullptr;
  const HloInstruction* model = nullptr;  // the broadcast whose operand has the shape to compute in
  for (const HloInstruction* operand : i->operands()) {
    if (operand->opcode() != HloOpcode::kBroadcast) {
      if (operand->shape().IsScalar() && !i->shape().IsScalar()) continue;  // a scalar predicate or bound
      return nullptr;
    }
    if (model == nullptr || model->operand(0)->shape().IsScalar()) model = operand;
  }
  if (model == nullptr || 2 * ShapeUtil::ElementsIn(model->operand(0)->shape()) > ShapeUtil::ElementsIn(i->shape()))
    return nullptr;
  const std::vector<int64_t>& dimensions = model->attrs<BroadcastAttrs>().dimensions;
  const Shape& small = model->operand(0)->shape();
  for (const HloInstruction* operand : i->operands()) {
    if (operand->opcode() != HloOpcode::kBroadcast || operand->operand(0)->shape().IsScalar()) continue;
    if (!ShapeUtil::SameDimensions(operand->operand(0)->shape(), small) ||
        operand->attrs<BroadcastAttrs>().dimensions != dimensions)
      return nullptr;
  }
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : i->operands()) {
    HloInstruction* source = operand->opcode() == HloOpcode::kBroadcast ? operand->operand(0) : operand;
    if (operand->opcode() == HloOpcode::kBroadcast && source->shape().IsScalar() && !small.IsScalar()) {
      const Shape shape = ShapeUtil::MakeShape(source->shape().element_type(), small.dimensions());
      auto repeated = MakeBroadcast(source, shape, {});
      if (!repeated.ok()) return repeated.status();
      source = *repeated;
    }
    operands.push_back(source);
  }
  const Shape result = ShapeUtil::MakeShape(i->shape().element_type(), small.dimensions());
  HloInstruction* computed = i->parent()->AddInstruction(i->CloneWithNewOperands(result, operands));
  ShapeUtil::SetToDefaultLayout(computed->mutable_shape());
  return MakeBroadcast(computed, i->shape(), dimensions);
}

const Rule kElementwiseRules[] = {
    {HloOpcode::kAdd, "op(broadcast(x), broadcast(y)) => broadcast(op(x, y))", SinkBroadcasts},
};

// multiply(x, convert(p)) of a truth value, as a mask: 0 where it is false, also if x is infinite or NaN there, as XLA
// has it.
Result SelectByFactor(HloInstruction* i) {
  if (IsComplexType(i->shape().element_type())) return nullptr;
  for (const int64_t side : {1, 0}) {
    HloInstruction* const factor = i->operand(side);
    if (factor->opcode() != HloOpcode::kConvert || factor->operand(0)->shape().element_type() != PRED) continue;
    HILO_ASSIGN_OR_RETURN(HloInstruction* const zero, MakeUniform(i, 0));
    return i->parent()->AddOp(HloOpcode::kSelect, {factor->operand(0), i->operand(1 - side), zero});
  }
  return nullptr;
}

const Rule kArithmeticRules[] = {
    {HloOpcode::kAdd, "add(x, 0) => x, integers",
     [](HloInstruction* i) -> Result { return If(IsInteger(i) && IsAll(i->operand(1), 0), i->operand(0)); }},
    {HloOpcode::kAdd, "add(0, x) => x, integers",
     [](HloInstruction* i) -> Result { return If(IsInteger(i) && IsAll(i->operand(0), 0), i->operand(1)); }},
    {HloOpcode::kAdd, "add(x, -0) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(1), -0.0), i->operand(0)); }},
    {HloOpcode::kAdd, "add(x, 0) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(1), 0), i->operand(0)); },
     /*exact=*/false},
    {HloOpcode::kAdd, "add(0, x) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(0), 0), i->operand(1)); },
     /*exact=*/false},
    {HloOpcode::kSubtract, "subtract(x, x) => 0, integers",
     [](HloInstruction* i) -> Result {
       return IsInteger(i) && i->operand(0) == i->operand(1) ? MakeUniform(i, 0) : Result(nullptr);
     }},
    {HloOpcode::kSubtract, "subtract(x, 0) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(1), 0), i->operand(0)); }},
    {HloOpcode::kMultiply, "multiply(x, 1) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(1), 1), i->operand(0)); }},
    {HloOpcode::kMultiply, "multiply(1, x) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(0), 1), i->operand(1)); }},
    {HloOpcode::kMultiply, "multiply(x, 1 + 0i) => x",
     [](HloInstruction* i) -> Result { return If(IsComplexOne(i->operand(1)), i->operand(0)); }, /*exact=*/false},
    {HloOpcode::kMultiply, "multiply(1 + 0i, x) => x",
     [](HloInstruction* i) -> Result { return If(IsComplexOne(i->operand(0)), i->operand(1)); }, /*exact=*/false},
    {HloOpcode::kMultiply, "multiply(x, -1) => negate(x)", MultiplyByMinusOne},
    {HloOpcode::kMultiply, "multiply(x, convert(p)) => select(p, x, 0), of a truth value", SelectByFactor,
     /*exact=*/false},
    {HloOpcode::kMultiply, "multiply(x, 0) => 0, integers",
     [](HloInstruction* i) -> Result { return If(IsInteger(i) && IsAll(i->operand(1), 0), i->operand(1)); }},
    {HloOpcode::kDivide, "divide(x, 1) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(1), 1), i->operand(0)); }},
    {HloOpcode::kDivide, "divide(x, 1 + 0i) => x",
     [](HloInstruction* i) -> Result { return If(IsComplexOne(i->operand(1)), i->operand(0)); }, /*exact=*/false},
    {HloOpcode::kDivide, "divide(x, 2^n) => multiply(x, 2^-n)",
     [](HloInstruction* i) -> Result {
       const std::optional<double> reciprocal = ExactReciprocal(i->operand(1));
       if (!reciprocal.has_value()) return nullptr;
       auto factor = MakeUniform(i->operand(1), *reciprocal);
       if (!factor.ok()) return factor.status();
       return MakeBinary(HloOpcode::kMultiply, i->operand(0), *factor);
     }},
    {HloOpcode::kDivide, "divide(x, c) => multiply(x, 1 / c)", DivideByConstant, /*exact=*/false},
    {HloOpcode::kDivide, "divide(x, power(y, c)) => multiply(x, power(y, -c))", DivideByPower, /*exact=*/false},
    {HloOpcode::kPower, "power(x, 1) => x",
     [](HloInstruction* i) -> Result { return If(IsReal(i) && IsAll(i->operand(1), 1), i->operand(0)); }},
    {HloOpcode::kPower, "power(x, 2) => multiply(x, x)",
     [](HloInstruction* i) -> Result {
       if (!IsReal(i) || !IsAll(i->operand(1), 2)) return nullptr;
       return MakeBinary(HloOpcode::kMultiply, i->operand(0), i->operand(0));
     },
     /*exact=*/false},
    {HloOpcode::kPower, "power(sqrt(x), c) => power(x, c / 2), of squares and their like", PowerOfRoot,
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
     [](HloInstruction* i) -> Result {
       return If(i->shape().element_type() == PRED && IsAll(i->operand(1), 1), i->operand(0));
     }},
    {HloOpcode::kAnd, "and(true, x) => x",
     [](HloInstruction* i) -> Result {
       return If(i->shape().element_type() == PRED && IsAll(i->operand(0), 1), i->operand(1));
     }},
    {HloOpcode::kOr, "or(x, false) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(1), 0), i->operand(0)); }},
    {HloOpcode::kOr, "or(false, x) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(0), 0), i->operand(1)); }},
    {HloOpcode::kXor, "xor(x, 0) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(1), 0), i->operand(0)); }},
    {HloOpcode::kAnd, "and(x, x) => x", Same},
    {HloOpcode::kOr, "or(x, x) => x", Same},
    {HloOpcode::kMaximum, "maximum(x, x) => x", Same},
    {HloOpcode::kMinimum, "minimum(x, x) => x", Same},
    {HloOpcode::kMaximum, "maximum(x, -inf) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(1), -kInfinity), i->operand(0)); }},
    {HloOpcode::kMaximum, "maximum(-inf, x) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(0), -kInfinity), i->operand(1)); }},
    {HloOpcode::kMinimum, "minimum(x, inf) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(1), kInfinity), i->operand(0)); }},
    {HloOpcode::kMinimum, "minimum(inf, x) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(0), kInfinity), i->operand(1)); }},
    {HloOpcode::kNot, "not(compare(x, y)) => the opposite compare(x, y), integers", NotOfCompare},
    {HloOpcode::kCompare, "compare(x, x) => constant, integers", CompareWithItself},
    {HloOpcode::kCompare, "compare(x, y) => constant, of integers whose ranges decide", CompareRanges},
    {HloOpcode::kCompare, "compare(x, 0) => compare(maximum(x, 0), 0), where x has no other users", CompareOfRectified},
    {HloOpcode::kMaximum, "maximum(x, y) => x, of integers that are never less than y", ExtremumOfRanges},
    {HloOpcode::kMinimum, "minimum(x, y) => x, of integers that are never more than y", ExtremumOfRanges},
    {HloOpcode::kClamp, "clamp(x, y, z) => y, of integers that are between the bounds", ClampOfRange},
    {HloOpcode::kRemainder, "remainder(x, y) => x, of integers that are less than y", RemainderOfRange},
    {HloOpcode::kDivide, "divide(x, y) => in 32 bits, of integers of 64 bits that are small", NarrowDivision},
    {HloOpcode::kRemainder, "remainder(x, y) => in 32 bits, of integers of 64 bits that are small", NarrowDivision},
    {HloOpcode::kSelect, "select(not(p), x, y) => select(p, y, x)", SelectOfNot},
    {HloOpcode::kSelect, "select(true, x, y) => x",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(0), 1), i->operand(1)); }},
    {HloOpcode::kSelect, "select(false, x, y) => y",
     [](HloInstruction* i) -> Result { return If(IsAll(i->operand(0), 0), i->operand(2)); }},
    {HloOpcode::kSelect, "select(p, x, x) => x",
     [](HloInstruction* i) -> Result { return If(i->operand(1) == i->operand(2), i->operand(1)); }},
    {HloOpcode::kConvert, "convert(x) => x, of the same type",
     [](HloInstruction* i) -> Result {
       return If(ShapeUtil::SameElementType(i->shape(), i->operand(0)->shape()), i->operand(0));
     }},
    {HloOpcode::kConvert, "convert(convert(x)) => convert(x), by way of a type that holds every x", MergeConverts},
    {HloOpcode::kComplexNumber, "complex(real(z), imag(z)) => z", ComplexOfParts},
    {HloOpcode::kBitcastConvert, "bitcast-convert(x) => x, of the same type",
     [](HloInstruction* i) -> Result {
       return If(ShapeUtil::Compatible(i->shape(), i->operand(0)->shape()), i->operand(0));
     }},
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

absl::Span<const Rule> ArithmeticRules() { return kArithmeticRules; }
absl::Span<const Rule> ElementwiseRules() { return kElementwiseRules; }

}  // namespace hilo::simplify
