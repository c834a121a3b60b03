// Element by element.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "tests/fuzz/random_grower.h"

namespace hilo::fuzz {
namespace {

HloOpcode OpcodeOf(Grower& g, HloFamily family) {
  while (true) {
    const auto opcode = static_cast<HloOpcode>(g.random.Below(kHloOpcodeCount));
    if (OpcodeInfo(opcode).family == family) return opcode;
  }
}

bool Unary(Grower& g, Scope& scope) {
  const HloOpcode opcode = OpcodeOf(g, HloFamily::kUnary);
  const Value* x = g.Pick(scope, [&](const Value& v) {
    return v.shape().IsArray() && InTypeClass(v.type(), OpcodeInfo(opcode).operand_types);
  });
  return x != nullptr && g.Add(scope, opcode, {x->instruction});
}

bool Binary(Grower& g, Scope& scope) {
  static constexpr HloOpcode kUsual[] = {HloOpcode::kAdd, HloOpcode::kSubtract, HloOpcode::kMultiply,
                                         HloOpcode::kMaximum, HloOpcode::kMinimum};
  const HloOpcode opcode = g.random.Chance(40) ? g.random.Of(kUsual) : OpcodeOf(g, HloFamily::kBinary);
  const Value* x = g.Pick(scope, [&](const Value& v) {
    return v.shape().IsArray() && InTypeClass(v.type(), OpcodeInfo(opcode).operand_types);
  });
  if (x == nullptr) return false;
  HloInstruction* lhs = x->instruction;
  HloInstruction* rhs = g.Like(scope, DimsOf(lhs->shape()), lhs->shape().element_type());
  if (g.random.Chance(30)) std::swap(lhs, rhs);
  return g.Add(scope, opcode, {lhs, rhs});
}

std::unique_ptr<CompareAttrs> RandomCompare(Grower& g, PrimitiveType type) {
  auto attributes = std::make_unique<CompareAttrs>();
  attributes->direction = static_cast<ComparisonDirection>(IsComplexType(type) ? g.random.Below(2) : g.random.Below(6));
  if (IsFloatingPointType(type) && g.random.Chance(20)) attributes->type = ComparisonType::kTotalOrder;
  return attributes;
}

bool CompareOp(Grower& g, Scope& scope) {
  const Value* x = g.PickArray(scope);
  if (x == nullptr) return false;
  HloInstruction* lhs = x->instruction;
  HloInstruction* rhs = g.Like(scope, DimsOf(lhs->shape()), lhs->shape().element_type());
  return g.Add(scope, HloOpcode::kCompare, {lhs, rhs}, RandomCompare(g, lhs->shape().element_type()));
}

bool SelectOp(Grower& g, Scope& scope) {
  const Value* x = g.PickArray(scope);
  if (x == nullptr) return false;
  HloInstruction* on_true = x->instruction;
  const Dims dims = DimsOf(on_true->shape());
  HloInstruction* on_false = g.Like(scope, dims, on_true->shape().element_type());
  HloInstruction* pred = g.Like(scope, g.random.Chance(15) ? Dims{} : dims, PRED, true);
  return g.Add(scope, HloOpcode::kSelect, {pred, on_true, on_false});
}

bool ClampOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) { return v.shape().IsArray() && !IsComplexType(v.type()); });
  if (x == nullptr) return false;
  HloInstruction* operand = x->instruction;
  const PrimitiveType type = operand->shape().element_type();
  const Dims dims = g.random.Chance(50) ? Dims{} : DimsOf(operand->shape());
  HloInstruction* low = g.Like(scope, dims, type);
  return g.Add(scope, HloOpcode::kClamp, {low, operand, g.Like(scope, dims, type)});
}

bool ConvertOp(Grower& g, Scope& scope) {
  const Value* x = g.PickArray(scope);
  return x != nullptr && g.Convert(scope, *x, g.RandomType());
}

bool BitcastConvertOp(Grower& g, Scope& scope) {
  const Value* x = g.PickArray(scope);
  if (x == nullptr) return false;
  const PrimitiveType type = g.RandomType();
  const int from = PrimitiveTypeBitWidth(x->type()), to = PrimitiveTypeBitWidth(type);
  HloInstruction* operand = x->instruction;
  Dims dims = DimsOf(x->shape());
  if (from > to) {  // parts of its elements
    dims.push_back(from / to);
  } else if (from < to && !dims.empty() && dims.back() == to / from) {
    dims.pop_back();
  } else if (from < to) {
    HloInstruction* parts = g.Like(scope, {g.RandomSize(), to / from}, operand->shape().element_type());
    if (parts == nullptr) return false;
    operand = parts;
    dims = {parts->shape().dimensions(0)};
  }
  Shape shape = ShapeUtil::MakeShape(type, dims);
  return g.Add(scope, HloOpcode::kBitcastConvert, {operand}, nullptr, {}, &shape);
}

bool ReducePrecisionOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) { return IsFloatingPointType(v.type()); });
  if (x == nullptr) return false;
  auto attributes = std::make_unique<ReducePrecisionAttrs>();
  attributes->exponent_bits = 2 + g.random.Below(9);
  attributes->mantissa_bits = g.random.Below(24);
  return g.Add(scope, HloOpcode::kReducePrecision, {x->instruction}, std::move(attributes));
}

bool MapOp(Grower& g, Scope& scope) {
  const Value* x =
      g.Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.type() != PRED && !IsComplexType(v.type()); });
  if (x == nullptr) return false;
  HloInstruction* a = x->instruction;
  const PrimitiveType type = a->shape().element_type();
  HloInstruction* b = g.Like(scope, DimsOf(a->shape()), type);
  HloComputation* computation = g.Combiner(type, g.random.Chance(50) ? HloOpcode::kSubtract : HloOpcode::kMaximum);
  auto root =
      computation->AddOp(HloOpcode::kAdd, {computation->root_instruction(), computation->parameter_instruction(1)});
  if (!root.ok() || !computation->set_root_instruction(*root, true).ok()) return false;
  auto attributes = std::make_unique<MapAttrs>();
  attributes->dimensions.resize(a->shape().rank());
  std::iota(attributes->dimensions.begin(), attributes->dimensions.end(), 0);
  return g.Add(scope, HloOpcode::kMap, {a, b}, std::move(attributes), {computation});
}

bool CopyOp(Grower& g, Scope& scope) {
  const Value* x = g.PickArray(scope);
  return x != nullptr && g.Add(scope, HloOpcode::kCopy, {x->instruction});
}

bool StochasticConvertOp(Grower& g, Scope& scope) {
  static constexpr PrimitiveType kResults[] = {S8, S16, S32};
  const Value* x = g.Pick(scope, [](const Value& v) {
    return v.shape().IsArray() && v.exact() &&
           (v.type() == F32 || v.type() == BF16 || v.type() == F16 || v.type() == F64);
  });
  if (x == nullptr) return false;
  HloInstruction* operand = x->instruction;
  const Dims dims = DimsOf(operand->shape());
  const int bits = PrimitiveTypeBitWidth(operand->shape().element_type());
  HloInstruction* random = g.Like(scope, dims, bits == 64 ? U64 : bits == 32 ? U32 : U16, true);
  const Shape shape = ShapeUtil::MakeShape(g.random.Of(kResults), dims);
  return g.Add(scope, HloOpcode::kStochasticConvert, {operand, random}, nullptr, {}, &shape);
}

bool NewLeaf(Grower& g, Scope& scope) { return g.Leaf(scope, g.RandomDims(), g.RandomType()); }

}  // namespace

absl::Span<const Kind> ElementwiseKinds() {
  static constexpr Kind kKinds[] = {{10, &Unary},  {16, &Binary},   {4, &CompareOp},           {4, &SelectOp},
                                    {2, &ClampOp}, {4, &ConvertOp}, {1, &BitcastConvertOp},    {1, &ReducePrecisionOp},
                                    {1, &MapOp},   {1, &CopyOp},    {1, &StochasticConvertOp}, {3, &NewLeaf}};
  return kKinds;
}

}  // namespace hilo::fuzz
