// scan => while: the state is the step, the carries, the outputs so far, and the inputs.
//
//   r = (f32[5], f32[]) scan(x, i), to_apply=f
//   =>
//   w = (s64[], f32[], f32[5], f32[5]) while((0, i, zeros, x)), condition={step < 5},
//       body={f(x[step], carry), the output updated at step}
//
// A cumulative sum, or the like by another op, is a reduce-window, for which backends have kernels, if the program
// asserts that the op is associative: y = reduce-window(x, 0), window={size=5 pad=4_0}, to_apply=add.
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/builder/add_op.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo {
namespace {

// The state of the loop: the number of each kind of values, in this order after the step.
struct State {
  Shape shape;  // a tuple
  int64_t carries, outputs, inputs;
  int64_t dimension, length;
  bool is_reverse;
};

absl::StatusOr<XlaComputation> Condition(const State& state) {
  XlaBuilder b("condition");
  const XlaOp step = GetTupleElement(Parameter(&b, 0, state.shape, "state"), 0);
  return b.Build(Lt(step, ConstantR0<int64_t>(&b, state.length)));
}

// Index `at` in the scan's dimension, 0 in the others.
std::vector<XlaOp> Starts(const State& state, XlaOp at, const Shape& shape) {
  std::vector<XlaOp> starts(shape.rank(), ConstantR0<int64_t>(at.builder(), 0));
  starts[state.dimension] = at;
  return starts;
}

absl::StatusOr<XlaComputation> Body(const State& state, const XlaComputation& to_apply, bool returns_tuple) {
  XlaBuilder b("body");
  const XlaOp all = Parameter(&b, 0, state.shape, "state");
  const XlaOp step = GetTupleElement(all, 0);
  const XlaOp at = state.is_reverse ? Sub(ConstantR0<int64_t>(&b, state.length - 1), step) : step;
  std::vector<XlaOp> arguments, next = {Add(step, ConstantR0<int64_t>(&b, 1))};
  const int64_t first_output = 1 + state.carries, first_input = first_output + state.outputs;
  for (int64_t i = 0; i < state.inputs; ++i) {
    const Shape& shape = state.shape.tuple_shapes(first_input + i);
    std::vector<int64_t> sizes(shape.dimensions().begin(), shape.dimensions().end());
    sizes[state.dimension] = 1;
    const XlaOp slice = DynamicSlice(GetTupleElement(all, first_input + i), Starts(state, at, shape), sizes);
    sizes.erase(sizes.begin() + state.dimension);
    arguments.push_back(Reshape(slice, sizes));
  }
  for (int64_t i = 0; i < state.carries; ++i) arguments.push_back(GetTupleElement(all, 1 + i));
  const XlaOp returned = Call(&b, to_apply, arguments);
  auto part = [&](int64_t i) { return returns_tuple ? GetTupleElement(returned, i) : returned; };
  for (int64_t i = 0; i < state.carries; ++i) next.push_back(part(state.outputs + i));
  for (int64_t i = 0; i < state.outputs; ++i) {
    const Shape& shape = state.shape.tuple_shapes(first_output + i);
    std::vector<int64_t> sizes(shape.dimensions().begin(), shape.dimensions().end());
    sizes[state.dimension] = 1;
    next.push_back(
        DynamicUpdateSlice(GetTupleElement(all, first_output + i), Reshape(part(i), sizes), Starts(state, at, shape)));
  }
  for (int64_t i = 0; i < state.inputs; ++i) next.push_back(GetTupleElement(all, first_input + i));
  return b.Build(Tuple(&b, next));
}

// Returns the op of a scan whose outputs and carries are op(input, carry), from an identity of the op on, if the
// program asserts that they may be computed in parts.
std::optional<HloOpcode> CumulativeOp(const HloInstruction& scan) {
  const ScanAttrs& attrs = scan.attrs<ScanAttrs>();
  const HloComputation& body = *scan.called_computation();
  const HloInstruction* root = body.root_instruction();
  if (!attrs.is_associative || attrs.num_carries != 1 || scan.operand_count() != 2 ||
      root->opcode() != HloOpcode::kTuple || root->operand_count() != 2 || root->operand(0) != root->operand(1))
    return std::nullopt;
  const std::optional<HloOpcode> op = ReductionOp(body, *root->operand(0));
  const HloInstruction* first = scan.operand(1);
  if (first->opcode() == HloOpcode::kBroadcast) first = first->operand(0);
  if (!op.has_value() || !first->IsConstant() || !first->shape().IsScalar()) return std::nullopt;
  const PrimitiveType type = first->shape().element_type();
  if (type != scan.operand(0)->shape().element_type() || !(IsFloatingPointType(type) || IsIntegralType(type)))
    return std::nullopt;
  const std::optional<Literal> identity = IdentityOf(*op, type);
  if (!identity.has_value() || first->literal().GetAsDouble(0) != identity->GetAsDouble(0)) return std::nullopt;
  return op;
}

absl::StatusOr<XlaOp> Cumulative(const HloInstruction& scan, HloOpcode op, absl::Span<const XlaOp> operands) {
  const ScanAttrs& attrs = scan.attrs<ScanAttrs>();
  const Shape& shape = scan.operand(0)->shape();
  const int64_t dimension = attrs.dimensions[0], length = shape.dimensions(dimension);
  const Shape scalar = ShapeUtil::MakeScalarShape(shape.element_type());
  XlaBuilder b("cumulative");
  AddOp(&b, op, {Parameter(&b, 0, scalar, "x"), Parameter(&b, 1, scalar, "carry")});
  HILO_ASSIGN_OR_RETURN(const XlaComputation to_apply, b.Build());
  // In the order of the steps, which the order of a window's elements is not if they run backwards.
  const auto in_order = [&](XlaOp x) { return attrs.is_reverse ? Rev(x, {dimension}) : x; };
  std::vector<int64_t> window(shape.rank(), 1);
  std::vector<std::pair<int64_t, int64_t>> padding(shape.rank(), {0, 0});
  window[dimension] = length;
  padding[dimension] = {length - 1, 0};
  const HloInstruction* first = scan.operand(1);
  if (first->opcode() == HloOpcode::kBroadcast) first = first->operand(0);
  const XlaOp outputs =
      ReduceWindowWithGeneralPadding(in_order(operands[0]), ConstantLiteral(operands[0].builder(), first->literal()),
                                     to_apply, window, {}, {}, {}, padding);
  const XlaOp last = SliceInDim(outputs, length - 1, length, 1, dimension);
  return Tuple(operands[0].builder(), {in_order(outputs), Reshape(last, scan.operand(1)->shape().dimensions())});
}

}  // namespace

absl::StatusOr<XlaOp> ExpandScan(const HloInstruction& instruction, XlaBuilder* builder,
                                 absl::Span<const XlaOp> operands) {
  const ScanAttrs& attrs = instruction.attrs<ScanAttrs>();
  const Shape& result = instruction.shape();
  if (const std::optional<HloOpcode> op = CumulativeOp(instruction);
      op.has_value() && !ShapeUtil::IsZeroElementArray(instruction.operand(0)->shape()))
    return Cumulative(instruction, *op, operands);
  const bool tuple = result.IsTuple();
  const absl::Span<const Shape> results =
      tuple ? absl::MakeConstSpan(result.tuple_shapes()) : absl::MakeConstSpan(&result, 1);
  State state{.carries = attrs.num_carries,
              .outputs = static_cast<int64_t>(results.size()) - attrs.num_carries,
              .inputs = instruction.operand_count() - attrs.num_carries,
              .dimension = attrs.dimensions[0],
              .is_reverse = attrs.is_reverse};
  state.length = instruction.operand(0)->shape().dimensions(state.dimension);

  std::vector<Shape> shapes = {ShapeUtil::MakeScalarShape(S64)};
  std::vector<XlaOp> start = {ConstantR0<int64_t>(builder, 0)};
  auto add = [&](const Shape& shape, XlaOp value) {
    shapes.push_back(shape);
    start.push_back(value);
  };
  for (int64_t i = 0; i < state.carries; ++i) add(results[state.outputs + i], operands[state.inputs + i]);
  for (int64_t i = 0; i < state.outputs; ++i) {
    add(results[i],
        Broadcast(ConstantLiteral(builder, LiteralUtil::Zero(results[i].element_type())), results[i].dimensions()));
  }
  for (int64_t i = 0; i < state.inputs; ++i) add(instruction.operand(i)->shape(), operands[i]);
  for (Shape& shape : shapes) ShapeUtil::ClearLayouts(&shape);
  state.shape = Shape(std::move(shapes));

  std::vector<XlaOp> last = start;
  if (state.length > 0) {
    HILO_ASSIGN_OR_RETURN(const XlaComputation to_apply, CalledComputation(instruction));
    HILO_ASSIGN_OR_RETURN(const XlaComputation condition, Condition(state));
    HILO_ASSIGN_OR_RETURN(const XlaComputation body, Body(state, to_apply, tuple));
    const XlaOp loop = While(condition, body, Tuple(builder, start));
    for (size_t i = 0; i < last.size(); ++i) last[i] = GetTupleElement(loop, static_cast<int64_t>(i));
  }
  std::vector<XlaOp> parts(last.begin() + 1 + state.carries, last.begin() + 1 + state.carries + state.outputs);
  parts.insert(parts.end(), last.begin() + 1, last.begin() + 1 + state.carries);
  return tuple ? Tuple(builder, parts) : parts[0];
}

}  // namespace hilo
