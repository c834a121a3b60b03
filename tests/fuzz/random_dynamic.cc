// Dimensions that are smaller than their bounds. What has them is used here only, and comes back as arrays without.
#include "absl/strings/str_cat.h"
#include "hlo/ops/movement/dimension_size_attributes.h"
#include "tests/fuzz/random_grower.h"

namespace hilo::fuzz {
namespace {

HloInstruction* Size(Grower& g, Scope& scope, int64_t size) {
  return g.Constant(scope, LiteralUtil::FromDouble(S32, static_cast<double>(size)))->instruction;
}

std::unique_ptr<DimensionSizeAttrs> Dimension(int64_t d) {
  auto attributes = std::make_unique<DimensionSizeAttrs>();
  attributes->dimensions = {d};
  return attributes;
}

// A size, and a sum over all dimensions or, where they are still there, all elements again.
bool Use(Grower& g, Scope& scope, HloInstruction* array, int64_t dimension, bool has_all) {
  const PrimitiveType type = array->shape().element_type();
  if (type != PRED && g.random.Chance(50)) {
    const Value* negated = g.Add(scope, HloOpcode::kNegate, {array});
    if (negated != nullptr) array = negated->instruction;
  }
  g.Add(scope, HloOpcode::kGetDimensionSize, {array}, Dimension(dimension));
  if (!has_all || g.random.Chance(50)) {
    auto attributes = std::make_unique<ReduceAttrs>();
    for (int64_t d = 0; d < array->shape().rank(); ++d) attributes->dimensions.push_back(d);
    HloInstruction* init = g.Like(scope, {}, type);
    return g.Add(scope, HloOpcode::kReduce, {array, init}, std::move(attributes),
                 {g.Combiner(type, g.CombinerOpcode(type))});
  }
  const Shape whole = ShapeUtil::MakeStaticShape(array->shape());
  HloInstruction* now = array;
  for (int64_t d = 0; d < whole.rank(); ++d) {
    if (!now->shape().is_dynamic_dimension(d)) continue;
    const Value* grown =
        g.Add(scope, HloOpcode::kSetDimensionSize, {now, Size(g, scope, whole.dimensions(d))}, Dimension(d));
    if (grown == nullptr) return false;
    now = grown->instruction;
  }
  return true;
}

bool SetDimensionSizeOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() >= 1; });
  if (x == nullptr) return false;
  HloInstruction* operand = x->instruction;
  const int64_t d = g.random.Below(operand->shape().rank());
  HloInstruction* size = Size(g, scope, g.random.Below(operand->shape().dimensions(d) + 1));
  const Value* smaller = g.Add(scope, HloOpcode::kSetDimensionSize, {operand, size}, Dimension(d));
  return smaller != nullptr && Use(g, scope, smaller->instruction, d, true);
}

bool DynamicReshapeOp(Grower& g, Scope& scope) {
  const Value* x = g.Pick(scope, [](const Value& v) { return v.shape().IsArray() && v.shape().rank() == 2; });
  if (x == nullptr) return false;
  HloInstruction* operand = x->instruction;
  const int64_t rows = operand->shape().dimensions(1), columns = operand->shape().dimensions(0);
  Shape shape = ShapeUtil::MakeShape(operand->shape().element_type(), {rows, columns});
  shape.set_dynamic_dimension(0, true);
  shape.set_dynamic_dimension(1, true);
  const Value* reshaped =
      g.Add(scope, HloOpcode::kDynamicReshape,
            {operand, Size(g, scope, g.random.Below(rows + 1)), Size(g, scope, g.random.Below(columns + 1))}, nullptr,
            {}, &shape);
  return reshaped != nullptr && Use(g, scope, reshaped->instruction, g.random.Below(2), false);
}

}  // namespace

absl::Span<const Kind> DynamicKinds() {
  static constexpr Kind kKinds[] = {{1, &SetDimensionSizeOp}, {1, &DynamicReshapeOp}};
  return kKinds;
}

}  // namespace hilo::fuzz
