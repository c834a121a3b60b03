// Operations of the dialect chlo that broadcast their operands implicitly, or that have special attributes.
//
//   chlo.broadcast_add %a, %b : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
//   =>   add(broadcast(a), broadcast(b))
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/errors.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/dense_literal.h"
#include "hlo/import/stablehlo/op_conversion.h"
#include "hlo/import/stablehlo/op_movement.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "shape/number_text.h"

namespace hilo::stablehlo {
namespace {

constexpr absl::string_view kBroadcastPrefix = "chlo.broadcast_";

// The operands in one shape. Trailing dimensions match, as in NumPy; or broadcast_dimensions are those of the one of
// fewer dimensions.
absl::StatusOr<std::vector<HloInstruction*>> Broadcasted(OpConversion& c) {
  int64_t rank = 0;
  for (const HloInstruction* operand : c.operands) {
    if (!operand->shape().IsArray()) return InvalidArgument("expected arrays, got ", operand->shape().ToString());
    rank = std::max<int64_t>(rank, operand->shape().rank());
  }
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> given, c.Integers("broadcast_dimensions"));
  std::vector<int64_t> sizes(rank, 1);
  std::vector<std::vector<int64_t>> dims;
  for (const HloInstruction* operand : c.operands) {
    const auto own = static_cast<int64_t>(operand->shape().rank());
    std::vector<int64_t>& target = dims.emplace_back();
    if (own < rank && c.Has("broadcast_dimensions")) {
      target = given;
      if (static_cast<int64_t>(target.size()) != own) {
        return InvalidArgument("expected ", own, " broadcast_dimensions for ", operand->shape().ToString(), ", got ",
                               target.size());
      }
    } else {
      for (int64_t d = 0; d < own; ++d) target.push_back(rank - own + d);
    }
    for (int64_t d = 0; d < own; ++d) {
      const bool increases = d == 0 || target[d] > target[d - 1];
      if (target[d] < 0 || target[d] >= rank || !increases)
        return InvalidArgument("broadcast_dimensions that are not dimensions in rising order");
      const int64_t size = operand->shape().dimensions(d);
      int64_t& common = sizes[target[d]];
      if (common == 1) common = size;
      if (size != 1 && size != common) {
        return InvalidArgument("cannot broadcast ", operand->shape().ToString(), ": dimension ", d,
                               " meets one of size ", common);
      }
    }
  }
  std::vector<HloInstruction*> broadcast;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const Shape shape(c.operands[i]->shape().element_type(), sizes);
    HILO_ASSIGN_OR_RETURN(broadcast.emplace_back(), BroadcastInDim(c, c.operands[i], shape, dims[i]));
  }
  return broadcast;
}

// As the operation of the name without "broadcast_", on operands of one shape.
absl::StatusOr<Results> Broadcasting(OpConversion& c) {
  absl::string_view name = c.op.name;
  absl::ConsumePrefix(&name, kBroadcastPrefix);
  Converter convert = FindConverter(absl::StrCat("stablehlo.", name));
  if (convert == nullptr) convert = FindConverter(absl::StrCat("chlo.", name));
  if (convert == nullptr) return Unimplemented("operation ", c.op.name);
  HILO_ASSIGN_OR_RETURN(std::vector<HloInstruction*> operands, Broadcasted(c));
  OpConversion same_shapes(c.op, c.computation, std::move(operands), c.regions, &c.state);
  return convert(same_shapes);
}

absl::StatusOr<Results> ConstantLike(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_RETURN_IF_ERROR(c.ExpectResults(1));
  const Attribute* value = c.op.Find("value");
  const PrimitiveType type = c.ResultType().element;
  if (value == nullptr || c.ResultType().kind != Type::Kind::kTensor)
    return InvalidArgument("expected a number as value, and a result of its type");
  if (value->type != nullptr && value->type->element != type)
    return InvalidArgument("expected a value of the result's elements, ", ElementText(c.ResultType()), ", got ",
                           ElementText(*value->type));
  HILO_ASSIGN_OR_RETURN(Literal literal, Literal::Create(ShapeUtil::MakeScalarShape(type)));
  if (value->kind == Attribute::Kind::kFloat) {
    literal = LiteralUtil::FromDouble(type, value->number);
  } else if (value->kind == Attribute::Kind::kArray && value->elements.size() == 2 && IsComplexType(type)) {
    uint8_t* element = literal.untyped_data().data();
    for (const Attribute* part : value->elements) {
      const Literal number = LiteralUtil::FromDouble(ComplexComponentType(type), part->number);
      element = std::copy(number.untyped_data().begin(), number.untyped_data().end(), element);
    }
  } else if ((value->kind == Attribute::Kind::kInteger || value->kind == Attribute::Kind::kBool) &&
             !IsComplexType(type)) {
    const std::string number =
        type == U64 ? absl::StrCat(static_cast<uint64_t>(value->integer)) : absl::StrCat(value->integer);
    HILO_RETURN_IF_ERROR(ParseNumber(number, type, literal.untyped_data().data()));
  } else {
    return InvalidArgument("expected a number of type ", PrimitiveTypeName(type), " as value");
  }
  HloInstruction* constant = c.AddConstant(std::make_shared<const Literal>(std::move(literal)));
  const Shape shape = ShapeUtil::ChangeElementType(c.operands[0]->shape(), type);
  return c.Split(c.Add(HloOpcode::kBroadcast, {constant}, std::make_unique<BroadcastAttrs>(), {}, &shape));
}

absl::StatusOr<Results> RaggedDot(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(3));
  // Text has been taken apart, bytecode has one dictionary.
  const Attribute* numbers = c.op.Find("ragged_dot_dimension_numbers");
  const auto dimensions = [&](absl::string_view name) -> absl::StatusOr<std::vector<int64_t>> {
    if (numbers == nullptr) return c.Integers(name);
    for (const NamedAttribute& entry : numbers->entries) {
      if (entry.name == name) return IntegersOf(*entry.value);
    }
    return std::vector<int64_t>();
  };
  auto attributes = std::make_unique<RaggedDotAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->lhs_batch_dims, dimensions("lhs_batching_dimensions"));
  HILO_ASSIGN_OR_RETURN(attributes->rhs_batch_dims, dimensions("rhs_batching_dimensions"));
  HILO_ASSIGN_OR_RETURN(attributes->lhs_contracting_dims, dimensions("lhs_contracting_dimensions"));
  HILO_ASSIGN_OR_RETURN(attributes->rhs_contracting_dims, dimensions("rhs_contracting_dimensions"));
  HILO_ASSIGN_OR_RETURN(attributes->lhs_ragged_dims, dimensions("lhs_ragged_dimensions"));
  HILO_ASSIGN_OR_RETURN(attributes->rhs_group_dims, dimensions("rhs_group_dimensions"));
  HILO_ASSIGN_OR_RETURN(attributes->operand_precision, Precisions(c));
  HILO_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  return c.Split(c.Add(HloOpcode::kRaggedDot, c.operands, std::move(attributes), {}, &shape));
}

// Operands are inputs and first carries, results outputs and last carries, in HLO too. A result alone is a tuple of one
// there if its computation returns one.
absl::StatusOr<Results> Scan(OpConversion& c) {
  HILO_ASSIGN_OR_RETURN(std::vector<int64_t> segments, c.Integers("operandSegmentSizes"));
  if (segments.size() == 1) segments.push_back(0);
  const auto operands = static_cast<int64_t>(c.operands.size());
  if (segments.size() != 2 || segments[0] < 0 || segments[1] < 0 || segments[1] > operands ||
      segments[0] != operands - segments[1]) {
    return InvalidArgument("expected the numbers of inputs and inits as operandSegmentSizes");
  }
  if (c.regions.size() != 1) return InvalidArgument("expected one region");
  auto attributes = std::make_unique<ScanAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->dimensions.emplace_back(), c.Integer("dimension"));
  attributes->num_carries = segments[1];
  attributes->is_reverse = c.Flag("is_reverse");
  attributes->is_associative = c.Flag("is_associative");
  HILO_ASSIGN_OR_RETURN(HloInstruction * scan, c.Add(HloOpcode::kScan, c.operands, std::move(attributes), c.regions));
  if (!scan->shape().IsTuple()) {
    HILO_RETURN_IF_ERROR(c.ExpectResults(1));
    return Results{scan};
  }
  HILO_RETURN_IF_ERROR(c.ExpectResults(scan->shape().tuple_shapes().size()));
  Results results;
  for (size_t i = 0; i < c.op.results.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(results.emplace_back(), c.Element(scan, static_cast<int64_t>(i)));
  }
  return results;
}

constexpr ConversionRule kChloRules[] = {
    {"chlo.broadcast_add", Broadcasting},
    {"chlo.broadcast_and", Broadcasting},
    {"chlo.broadcast_atan2", Broadcasting},
    {"chlo.broadcast_compare", Broadcasting},
    {"chlo.broadcast_complex", Broadcasting},
    {"chlo.broadcast_divide", Broadcasting},
    {"chlo.broadcast_maximum", Broadcasting},
    {"chlo.broadcast_minimum", Broadcasting},
    {"chlo.broadcast_multiply", Broadcasting},
    {"chlo.broadcast_next_after", Broadcasting},
    {"chlo.broadcast_or", Broadcasting},
    {"chlo.broadcast_polygamma", Broadcasting},
    {"chlo.broadcast_power", Broadcasting},
    {"chlo.broadcast_remainder", Broadcasting},
    {"chlo.broadcast_select", Broadcasting},
    {"chlo.broadcast_shift_left", Broadcasting},
    {"chlo.broadcast_shift_right_arithmetic", Broadcasting},
    {"chlo.broadcast_shift_right_logical", Broadcasting},
    {"chlo.broadcast_subtract", Broadcasting},
    {"chlo.broadcast_xor", Broadcasting},
    {"chlo.broadcast_zeta", Broadcasting},
    {"chlo.constant_like", ConstantLike},
    {"chlo.ragged_dot", RaggedDot},
    {"chlo.scan", Scan},
};

}  // namespace

absl::Span<const ConversionRule> ChloRules() { return kChloRules; }

}  // namespace hilo::stablehlo
