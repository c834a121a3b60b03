// Infeed, outfeed, send and recv: shape checks. Their effects are outside of an evaluation.
#include <algorithm>

#include "hlo/ops/collective/transfer_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {

std::string FieldToText(const OptionalShape& value) {
  return value.has_value() ? value->ToString(/*print_layout=*/true) : "";
}
absl::Status FieldFromText(absl::string_view text, OptionalShape* value) {
  HILO_ASSIGN_OR_RETURN(Shape shape, ParseShape(text));
  value->emplace(std::move(shape));
  return absl::OkStatus();
}

namespace {

absl::Status CheckToken(const OpView& op, int64_t i) {
  if (op.operand(i).IsToken()) return absl::OkStatus();
  return InvalidOp(op, "operand ", i, " must be a token, but is ", op.operand(i).ToString());
}

// An array, or a tuple of arrays; of static dimensions.
absl::Status CheckData(const OpView& op, absl::string_view what, const Shape& data) {
  const bool is_flat = data.IsTuple() && std::all_of(data.tuple_shapes().begin(), data.tuple_shapes().end(),
                                                     [](const Shape& s) { return s.IsArray(); });
  if (!data.IsArray() && !is_flat)
    return InvalidOp(op, what, " must be an array or a tuple of arrays, but is ", data.ToString());
  if (!data.is_static()) {
    return absl::UnimplementedError(
        absl::StrCat(HloOpcodeString(op.opcode), ": ", what, " of dynamic size is not supported: ", data.ToString()));
  }
  return absl::OkStatus();
}

// (T, token[]), T being data.
absl::Status CheckStatedPair(const OpView& op) {
  if (op.stated == nullptr) return InvalidOp(op, "the result shape must be stated");
  const Shape& stated = *op.stated;
  if (!stated.IsTuple() || stated.tuple_shapes_size() != 2 || !stated.tuple_shapes(1).IsToken()) {
    return InvalidOp(op, "the result must be a tuple of the data and a token, got ", stated.ToString());
  }
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(stated));
  return CheckData(op, "the data", stated.tuple_shapes(0));
}

Shape ContextOf(const Shape& data) {
  return Shape(std::vector<Shape>{data, ShapeUtil::MakeScalarShape(U32), ShapeUtil::MakeTokenShape()});
}

// Operand 0 is the context of a send or recv: (T, u32[], token[]).
absl::Status CheckContext(const OpView& op, absl::string_view start) {
  const Shape& context = op.operand(0);
  const bool has_form = context.IsTuple() && context.tuple_shapes_size() == 3 &&
                        ShapeUtil::Compatible(context, ContextOf(context.tuple_shapes(0)));
  if (!has_form) {
    return InvalidOp(op, "operand 0 must be the context of a ", start, ", (data, u32[], token[]), but is ",
                     context.ToString());
  }
  return CheckData(op, "the data", context.tuple_shapes(0));
}

absl::Status CheckChannel(const OpView& op) {
  const auto& channel = op.attrs<TransferAttrs>().channel_id;
  if (channel.has_value() && *channel < 0) return InvalidOp(op, "channel_id = ", *channel, " is negative");
  return absl::OkStatus();
}

absl::StatusOr<Literal> NoEnvironment(const OpView& op) {
  return absl::UnimplementedError(
      absl::StrCat(HloOpcodeString(op.opcode), " reaches outside of the program, and there is nothing to reach here"));
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kInfeed>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckToken(op, 0));
  HILO_RETURN_IF_ERROR(CheckStatedPair(op));
  return WithoutLayouts(*op.stated);
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kInfeed>(const OpView& op, const Shape& shape, Operands) {
  const Shape& data = shape.tuple_shapes(0);
  if (data.IsTuple() && data.tuple_shapes_size() == 0) return Literal::Create(shape);  // reads nothing
  return NoEnvironment(op);
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kOutfeed>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckData(op, "operand 0", op.operand(0)));
  HILO_RETURN_IF_ERROR(CheckToken(op, 1));
  const OptionalShape& stated = op.attrs<OutfeedAttrs>().outfeed_shape;
  if (stated.has_value() && !ShapeUtil::Compatible(*stated, op.operand(0))) {
    return InvalidOp(op, "outfeed_shape = ", stated->ToString(), " must be the operand's shape, ",
                     op.operand(0).ToString());
  }
  return ShapeUtil::MakeTokenShape();
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kOutfeed>(const OpView& op, const Shape&, Operands) {
  return NoEnvironment(op);
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kSend>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckData(op, "operand 0", op.operand(0)));
  HILO_RETURN_IF_ERROR(CheckToken(op, 1));
  HILO_RETURN_IF_ERROR(CheckChannel(op));
  return WithoutLayouts(ContextOf(op.operand(0)));
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kSend>(const OpView& op, const Shape&, Operands) {
  return NoEnvironment(op);
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kSendDone>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckContext(op, "send"));
  HILO_RETURN_IF_ERROR(CheckChannel(op));
  return ShapeUtil::MakeTokenShape();
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kSendDone>(const OpView& op, const Shape&, Operands) {
  return NoEnvironment(op);
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kRecv>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckToken(op, 0));
  HILO_RETURN_IF_ERROR(CheckChannel(op));
  if (op.stated == nullptr) return InvalidOp(op, "the result shape must be stated");
  const Shape& stated = *op.stated;
  const bool has_form = stated.IsTuple() && stated.tuple_shapes_size() == 3 &&
                        ShapeUtil::Compatible(stated, ContextOf(stated.tuple_shapes(0)));
  if (!has_form) return InvalidOp(op, "the result must be a context, (data, u32[], token[]), got ", stated.ToString());
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(stated));
  HILO_RETURN_IF_ERROR(CheckData(op, "the data", stated.tuple_shapes(0)));
  return WithoutLayouts(stated);
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kRecv>(const OpView& op, const Shape&, Operands) {
  return NoEnvironment(op);
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kRecvDone>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckContext(op, "recv"));
  HILO_RETURN_IF_ERROR(CheckChannel(op));
  return WithoutLayouts(Shape(std::vector<Shape>{op.operand(0).tuple_shapes(0), ShapeUtil::MakeTokenShape()}));
}
template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kRecvDone>(const OpView& op, const Shape&, Operands) {
  return NoEnvironment(op);
}

}  // namespace hilo
