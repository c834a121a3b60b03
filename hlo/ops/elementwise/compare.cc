// compare: six directions under IEEE order or the total order of floats.
#include <bit>
#include <cmath>

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/linalg/wide_elements.h"
#include "hlo/ops/table/checks.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/total_order.h"

namespace hilo {
namespace {

// compare_c3
absl::Status CheckComparisonType(const OpView& op, PrimitiveType type, ComparisonType comparison) {
  const bool fits = comparison == ComparisonType::kDefault ||
                    (comparison == ComparisonType::kFloat && InTypeClass(type, kFloat | kComplex)) ||
                    (comparison == ComparisonType::kTotalOrder && InTypeClass(type, kFloat)) ||
                    (comparison == ComparisonType::kSigned && InTypeClass(type, kSignedInt)) ||
                    (comparison == ComparisonType::kUnsigned && InTypeClass(type, kUnsignedInt | kBool));
  if (fits) return absl::OkStatus();
  return InvalidOp(op, "type = ", FieldToText(comparison), " does not apply to ", PrimitiveTypeName(type), " operands");
}

// An integer in the total order (total_order.h).
int64_t TotalOrderKey(double x) {
  const int64_t bits = std::bit_cast<int64_t>(x);
  return bits < 0 ? bits ^ INT64_MAX : bits;
}
int64_t TotalOrderKey(float x) {
  const int32_t bits = std::bit_cast<int32_t>(x);
  return bits < 0 ? bits ^ INT32_MAX : bits;
}

template <typename W>
using CompareLoop = void (*)(const W* x, const W* y, bool* out, int64_t n);

template <typename W, typename F>
CompareLoop<W> LoopOver(F) {
  return [](const W* x, const W* y, bool* out, int64_t n) {
    for (int64_t i = 0; i < n; ++i) out[i] = F{}(x[i], y[i]);
  };
}

// Compares Key{}(x) with Key{}(y).
template <typename W, typename Key>
CompareLoop<W> LoopOfDirection(ComparisonDirection direction, Key) {
  switch (direction) {
    case ComparisonDirection::kEq: return LoopOver<W>([](const W& x, const W& y) { return Key{}(x) == Key{}(y); });
    case ComparisonDirection::kNe: return LoopOver<W>([](const W& x, const W& y) { return Key{}(x) != Key{}(y); });
    default: break;
  }
  if constexpr (!is_complex<W>) {
    switch (direction) {
      case ComparisonDirection::kGe: return LoopOver<W>([](W x, W y) { return Key{}(x) >= Key{}(y); });
      case ComparisonDirection::kGt: return LoopOver<W>([](W x, W y) { return Key{}(x) > Key{}(y); });
      case ComparisonDirection::kLe: return LoopOver<W>([](W x, W y) { return Key{}(x) <= Key{}(y); });
      default: return LoopOver<W>([](W x, W y) { return Key{}(x) < Key{}(y); });
    }
  }
  return nullptr;
}

template <typename W>
CompareLoop<W> FindLoop(const CompareAttrs& attributes, PrimitiveType type) {
  if constexpr (std::is_floating_point_v<W>) {
    if (attributes.type == ComparisonType::kTotalOrder && NanIsFirst(type)) {
      return LoopOfDirection<W>(attributes.direction, [](W x) { return std::isnan(x) ? INT64_MIN : TotalOrderKey(x); });
    }
    if (attributes.type == ComparisonType::kTotalOrder) {
      return LoopOfDirection<W>(attributes.direction, [](W x) { return TotalOrderKey(x); });
    }
  }
  return LoopOfDirection<W>(attributes.direction, [](const W& x) { return x; });
}

}  // namespace

absl::StatusOr<bool> CompareAttrs::ParseField(absl::string_view name, absl::string_view text) {
  if (name != "order") return Attributes<CompareAttrs>::ParseField(name, text);
  if (text != "TOTAL" && text != "PARTIAL") return InvalidArgument("expected TOTAL or PARTIAL, got ", text);
  type = text == "TOTAL" ? ComparisonType::kTotalOrder : ComparisonType::kDefault;
  return true;
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kCompare>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckArrayOperands(op));
  HILO_RETURN_IF_ERROR(CheckSameElementTypes(op));  // compare_c1
  // compare_c2
  if (!ShapeUtil::SameDimensions(op.operand(0), op.operand(1))) {
    return InvalidOp(op, "operands must have the same dimensions, got ", op.operand(0).ToString(), " and ",
                     op.operand(1).ToString());
  }
  const PrimitiveType type = op.operand(0).element_type();
  const CompareAttrs& attributes = op.attrs<CompareAttrs>();
  HILO_RETURN_IF_ERROR(CheckComparisonType(op, type, attributes.type));
  if (IsComplexType(type) && attributes.direction != ComparisonDirection::kEq &&
      attributes.direction != ComparisonDirection::kNe) {
    return InvalidOp(op, "complex operands have no order; direction must be EQ or NE, got ",
                     FieldToText(attributes.direction));
  }
  return ElementwiseShape(op, PRED);
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kCompare>(const OpView& op, const Shape& shape, Operands operands) {
  auto result = Literal::Create(shape);
  if (!result.ok()) return result;
  HILO_RETURN_IF_ERROR(WideTypeSwitch(operands[0]->shape().element_type(), [&](auto tag) {
    using W = typename decltype(tag)::type;
    return ForEachBlock(op, result->element_count(),
                        FindLoop<W>(op.attrs<CompareAttrs>(), op.operand(0).element_type()), WideWriter<bool>(&*result),
                        WideReader<W>(*operands[0]), WideReader<W>(*operands[1]));
  }));
  return result;
}

}  // namespace hilo
