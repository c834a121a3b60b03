// The element-wise functions of XlaBuilder, and implicit broadcasting.
//
// HLO's own element-wise ops take operands of one shape. The additional forms of the builder's
// functions are expanded in two steps, so that no later stage sees them: sizes of 1 that are to be
// stretched are dropped by a reshape, then a broadcast maps the remaining dimensions to those of the
// result.
//
//   Add(f32[4], f32[1,2], {0})   becomes   a = f32[4,2] broadcast(f32[4]), dimensions={0}
//                                          r = f32[2] reshape(f32[1,2])
//                                          b = f32[4,2] broadcast(r), dimensions={1}
//                                          f32[4,2] add(a, b)
#include <algorithm>
#include <numeric>

#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hilo/xla_builder.h"
#include "hlo/builder/add_op.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

using Dimensions = std::vector<int64_t>;

std::string DimensionsText(absl::Span<const int64_t> list) { return absl::StrCat("{", absl::StrJoin(list, ","), "}"); }

XlaBuilder* BuilderOf(XlaOp a, XlaOp b) { return a.builder() != nullptr ? a.builder() : b.builder(); }

// Maps each dimension d of the operand to dimension mapping[d] of the result, stretched from 1
// where needed.
XlaOp Expand(XlaOp operand, const Shape& shape, absl::Span<const int64_t> mapping, absl::Span<const int64_t> sizes) {
  if (shape.dimensions() == sizes) return operand;
  Dimensions kept_sizes;
  auto attributes = std::make_unique<BroadcastAttrs>();
  for (size_t d = 0; d < mapping.size(); ++d) {
    if (shape.dimensions(d) != sizes[mapping[d]]) continue;
    kept_sizes.push_back(shape.dimensions(d));
    attributes->dimensions.push_back(mapping[d]);
  }
  if (kept_sizes.size() < mapping.size()) operand = Reshape(operand, kept_sizes);
  const Shape result(shape.element_type(), sizes);
  return AddOp(operand.builder(), HloOpcode::kBroadcast, {operand}, std::move(attributes), {}, &result);
}

Dimensions AllDimensions(int64_t rank) {
  Dimensions all(rank);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Rule 2: the mapping of each dimension of an operand of rank `low` to one of rank `high`.
absl::StatusOr<Dimensions> MapRanks(int64_t low, int64_t high, absl::Span<const int64_t> broadcast_dimensions) {
  if (low == 0 && broadcast_dimensions.empty()) return Dimensions();  // rule 1
  if (low == high && broadcast_dimensions.empty()) return AllDimensions(high);
  if (broadcast_dimensions.empty()) {
    return InvalidArgument("operands of rank ", low, " and ", high, " need broadcast_dimensions");
  }
  if (static_cast<int64_t>(broadcast_dimensions.size()) != low) {
    return InvalidArgument("expected broadcast_dimensions for the ", low,
                           " dimensions of the lower-ranking operand; got ", DimensionsText(broadcast_dimensions));
  }
  for (size_t i = 0; i < broadcast_dimensions.size(); ++i) {
    if (broadcast_dimensions[i] < 0 || broadcast_dimensions[i] >= high) {
      return InvalidArgument("expected broadcast_dimensions below the rank, ", high, "; got ",
                             DimensionsText(broadcast_dimensions));
    }
    if (i > 0 && broadcast_dimensions[i] <= broadcast_dimensions[i - 1]) {
      return InvalidArgument("expected strictly increasing broadcast_dimensions; got ",
                             DimensionsText(broadcast_dimensions));
    }
  }
  return Dimensions(broadcast_dimensions.begin(), broadcast_dimensions.end());
}

// Rule 3: the sizes that both operands take.
absl::Status Join(const Shape& shape, absl::Span<const int64_t> mapping, Dimensions* sizes) {
  for (size_t d = 0; d < mapping.size(); ++d) {
    int64_t& size = (*sizes)[mapping[d]];
    const int64_t other = shape.dimensions(d);
    if (size != other && size != 1 && other != 1) {
      return InvalidArgument("expected equal sizes, or a size of 1, in dimension ", mapping[d], "; got ", size, " and ",
                             other);
    }
    if (size == 1) size = other;
  }
  return absl::OkStatus();
}

absl::StatusOr<XlaOp> TryBinary(XlaBuilder& builder, HloOpcode opcode, XlaOp lhs, XlaOp rhs,
                                absl::Span<const int64_t> broadcast_dimensions,
                                std::unique_ptr<OpAttributes> attributes) {
  HILO_ASSIGN_OR_RETURN(const Shape lhs_shape, builder.GetShape(lhs));
  HILO_ASSIGN_OR_RETURN(const Shape rhs_shape, builder.GetShape(rhs));
  if (!lhs_shape.IsArray() || !rhs_shape.IsArray()) {
    return InvalidArgument(HloOpcodeString(opcode), ": expected arrays; got ", lhs_shape.ToString(), " and ",
                           rhs_shape.ToString());
  }
  if (broadcast_dimensions.empty() && ShapeUtil::SameDimensions(lhs_shape, rhs_shape)) {
    return AddOp(&builder, opcode, {lhs, rhs}, std::move(attributes));
  }
  const int64_t rank = std::max(lhs_shape.rank(), rhs_shape.rank());
  const bool lhs_is_low = lhs_shape.rank() < rhs_shape.rank();
  const Shape& low = lhs_is_low ? lhs_shape : rhs_shape;
  absl::StatusOr<Dimensions> mapping = MapRanks(low.rank(), rank, broadcast_dimensions);
  Dimensions sizes(rank, 1);
  absl::Status joined = mapping.status();
  if (joined.ok()) joined = Join(lhs_is_low ? rhs_shape : lhs_shape, AllDimensions(rank), &sizes);
  if (joined.ok()) joined = Join(low, *mapping, &sizes);
  if (!joined.ok()) {
    return InvalidArgument(HloOpcodeString(opcode), ": ", joined.message(), "; in ", lhs_shape.ToString(), " with ",
                           rhs_shape.ToString());
  }
  lhs = Expand(lhs, lhs_shape, lhs_is_low ? *mapping : AllDimensions(rank), sizes);
  rhs = Expand(rhs, rhs_shape, lhs_is_low ? AllDimensions(rank) : *mapping, sizes);
  return AddOp(&builder, opcode, {lhs, rhs}, std::move(attributes));
}

XlaOp Binary(HloOpcode opcode, XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions,
             std::unique_ptr<OpAttributes> attributes = nullptr) {
  XlaBuilder* builder = BuilderOf(lhs, rhs);
  if (builder == nullptr) return XlaOp();
  return builder->ReportErrorOrReturn(
      TryBinary(*builder, opcode, lhs, rhs, broadcast_dimensions, std::move(attributes)));
}

XlaOp Unary(HloOpcode opcode, XlaOp operand) {
  return operand.builder() == nullptr ? XlaOp() : AddOp(operand.builder(), opcode, {operand});
}

XlaOp CompareTotalOrder(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions,
                        ComparisonDirection direction) {
  XlaBuilder* builder = BuilderOf(lhs, rhs);
  if (builder == nullptr) return XlaOp();
  const absl::StatusOr<Shape> shape = builder->GetShape(lhs);
  if (!shape.ok()) return builder->ReportError(shape.status());
  // Other types have one order only.
  return Compare(lhs, rhs, broadcast_dimensions, direction,
                 IsFloatingPointType(shape->element_type()) ? ComparisonType::kTotalOrder : ComparisonType::kDefault);
}

bool IsSigned(XlaOp x) {
  if (x.builder() == nullptr) return false;
  const absl::StatusOr<Shape> shape = x.builder()->GetShape(x);
  return shape.ok() && IsSignedIntegralType(shape->element_type());
}

}  // namespace

// The functions are named in hlo_opcode.def; one that xla_builder.h does not declare does not compile.
#define HLO_UNARY(opcode, text, function, ...)                        \
  static_assert(static_cast<XlaOp (*)(XlaOp)>(&function) != nullptr); \
  XlaOp function(XlaOp operand) { return Unary(HloOpcode::opcode, operand); }
#define HLO_BINARY(opcode, text, function, ...)                                                         \
  static_assert(static_cast<XlaOp (*)(XlaOp, XlaOp, absl::Span<const int64_t>)>(&function) != nullptr); \
  XlaOp function(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions) {                \
    return Binary(HloOpcode::opcode, lhs, rhs, broadcast_dimensions);                                   \
  }
#define HLO_OP(...)
#include "hlo/ops/table/hlo_opcode.def"
#undef HLO_UNARY
#undef HLO_BINARY
#undef HLO_OP

#define HILO_DEFINE(Function, direction)                                                             \
  XlaOp Function(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions) {             \
    return Compare(lhs, rhs, broadcast_dimensions, ComparisonDirection::direction);                  \
  }                                                                                                  \
  XlaOp Function##TotalOrder(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions) { \
    return CompareTotalOrder(lhs, rhs, broadcast_dimensions, ComparisonDirection::direction);        \
  }
HILO_COMPARISON_FUNCTIONS(HILO_DEFINE)
#undef HILO_DEFINE

XlaOp Compare(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions, ComparisonDirection direction,
              ComparisonType type) {
  auto attributes = std::make_unique<CompareAttrs>();
  attributes->direction = direction;
  attributes->type = type;
  return Binary(HloOpcode::kCompare, lhs, rhs, broadcast_dimensions, std::move(attributes));
}

XlaOp Compare(XlaOp lhs, XlaOp rhs, ComparisonDirection direction) { return Compare(lhs, rhs, {}, direction); }

XlaOp operator-(XlaOp x) { return Neg(x); }
XlaOp operator~(XlaOp x) { return Not(x); }
XlaOp operator+(XlaOp x, XlaOp y) { return Add(x, y); }
XlaOp operator-(XlaOp x, XlaOp y) { return Sub(x, y); }
XlaOp operator*(XlaOp x, XlaOp y) { return Mul(x, y); }
XlaOp operator/(XlaOp x, XlaOp y) { return Div(x, y); }
XlaOp operator%(XlaOp x, XlaOp y) { return Rem(x, y); }
XlaOp operator&(XlaOp x, XlaOp y) { return And(x, y); }
XlaOp operator|(XlaOp x, XlaOp y) { return Or(x, y); }
XlaOp operator^(XlaOp x, XlaOp y) { return Xor(x, y); }
XlaOp operator<<(XlaOp x, XlaOp y) { return ShiftLeft(x, y); }
XlaOp operator>>(XlaOp x, XlaOp y) { return IsSigned(x) ? ShiftRightArithmetic(x, y) : ShiftRightLogical(x, y); }

XlaOp BroadcastInDim(XlaOp operand, absl::Span<const int64_t> out_dim_size,
                     absl::Span<const int64_t> broadcast_dimensions) {
  XlaBuilder* builder = operand.builder();
  if (builder == nullptr) return XlaOp();
  const absl::StatusOr<Shape> shape = builder->GetShape(operand);
  if (!shape.ok()) return builder->ReportError(shape.status());
  const Shape result(shape->element_type(), out_dim_size);
  absl::Status status =
      shape->IsArray() ? ShapeUtil::Validate(result) : InvalidArgument("expected an array; got ", shape->ToString());
  if (status.ok() && shape->rank() != static_cast<int64_t>(broadcast_dimensions.size())) {
    status = InvalidArgument("expected ", shape->rank(), " broadcast_dimensions; got ",
                             DimensionsText(broadcast_dimensions));
  }
  if (status.ok()) status = MapRanks(shape->rank(), result.rank(), broadcast_dimensions).status();
  for (size_t d = 0; status.ok() && d < broadcast_dimensions.size(); ++d) {
    const int64_t size = out_dim_size[broadcast_dimensions[d]];
    if (shape->dimensions(d) != size && shape->dimensions(d) != 1) {
      status =
          InvalidArgument("expected size ", size, " or 1 in operand dimension ", d, "; got ", shape->dimensions(d));
    }
  }
  if (!status.ok()) {
    return builder->ReportError(InvalidArgument("broadcast of ", shape->ToString(), " to ",
                                                DimensionsText(out_dim_size), ": ", status.message()));
  }
  return Expand(operand, *shape, broadcast_dimensions, out_dim_size);
}

}  // namespace hilo
