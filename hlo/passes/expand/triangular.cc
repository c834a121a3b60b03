// cholesky and triangular-solve => loops over the columns of batches of matrices, of which each step updates whole
// matrices: no step depends on the size.
//
//   l = f32[n,n] cholesky(a)   =>   w = (s64[], f32[n,n]) while((0, a)), body={row j is the rest of column j of a, less
//                                   the products of the rows before, divided by the root of its first element}
#include <limits>

#include "hilo/status_macros.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo {
namespace {

// The sizes of a batch of matrices.
struct Matrices {
  int64_t batch, rows, columns;
};

// As [batch, rows, columns], in a type in which sums are kept.
PrimitiveType TypeOfSums(PrimitiveType type) { return type == F16 || type == BF16 ? F32 : type; }
XlaOp AsBatch(XlaOp x, const Shape& shape, int64_t batch) {
  const int64_t rank = shape.rank();
  const XlaOp wide = ConvertElementType(x, TypeOfSums(shape.element_type()));
  return Reshape(wide, {batch, shape.dimensions(rank - 2), shape.dimensions(rank - 1)});
}
int64_t BatchOf(const Shape& shape) {
  int64_t batch = 1;
  for (int64_t d = 0; d < shape.rank() - 2; ++d) batch *= shape.dimensions(d);
  return batch;
}

XlaOp Conjugate(XlaOp x, PrimitiveType type) { return IsComplexType(type) ? Complex(Real(x), Neg(Imag(x))) : x; }
XlaOp Transposed(XlaOp x) { return Transpose(x, {0, 2, 1}); }
XlaOp Zero(XlaBuilder* b) { return ConstantR0<int64_t>(b, 0); }
XlaOp Row(XlaOp x, XlaOp at, const Matrices& m) {
  return DynamicSlice(x, {Zero(x.builder()), at, Zero(x.builder())}, {m.batch, 1, m.columns});
}
XlaOp Column(XlaOp x, XlaOp at, const Matrices& m) {
  return DynamicSlice(x, {Zero(x.builder()), Zero(x.builder()), at}, {m.batch, m.rows, 1});
}
XlaOp WithRow(XlaOp x, XlaOp row, XlaOp at) {
  return DynamicUpdateSlice(x, row, {Zero(x.builder()), at, Zero(x.builder())});
}
XlaOp Filled(XlaBuilder* b, PrimitiveType type, double value, absl::Span<const int64_t> dimensions) {
  return Broadcast(ConstantLiteral(b, LiteralUtil::FromDouble(type, value)), dimensions);
}

absl::StatusOr<XlaOp> SumOverRows(XlaOp x, PrimitiveType type) {
  XlaBuilder add("add");
  const Shape scalar = ShapeUtil::MakeScalarShape(type);
  Add(Parameter(&add, 0, scalar, "x"), Parameter(&add, 1, scalar, "y"));
  HILO_ASSIGN_OR_RETURN(const XlaComputation sum, add.Build());
  return Reduce(x, ConstantLiteral(x.builder(), LiteralUtil::Zero(type)), sum, {1});
}

// Runs `body` (step, state) for the steps from 0 to `steps`, on arrays of these shapes; it updates the state.
template <typename Body>
absl::StatusOr<std::vector<XlaOp>> ForSteps(int64_t steps, std::vector<XlaOp> initial, const Body& body) {
  XlaBuilder* const outer = initial[0].builder();
  std::vector<Shape> shapes = {ShapeUtil::MakeScalarShape(S64)};
  for (const XlaOp op : initial) {
    HILO_ASSIGN_OR_RETURN(Shape shape, outer->GetShape(op));
    ShapeUtil::ClearLayouts(&shape);
    shapes.push_back(std::move(shape));
  }
  initial.insert(initial.begin(), Zero(outer));
  const Shape state(std::move(shapes));
  XlaBuilder c("condition");
  const XlaOp step = GetTupleElement(Parameter(&c, 0, state, "state"), 0);
  HILO_ASSIGN_OR_RETURN(const XlaComputation condition, c.Build(Lt(step, ConstantR0<int64_t>(&c, steps))));
  XlaBuilder b("body");
  const XlaOp all = Parameter(&b, 0, state, "state");
  std::vector<XlaOp> values;
  for (size_t i = 1; i < initial.size(); ++i) values.push_back(GetTupleElement(all, static_cast<int64_t>(i)));
  const XlaOp at = GetTupleElement(all, 0);
  HILO_RETURN_IF_ERROR(body(at, &values));
  values.insert(values.begin(), Add(at, ConstantR0<int64_t>(&b, 1)));
  HILO_ASSIGN_OR_RETURN(const XlaComputation loop_body, b.Build(Tuple(&b, values)));
  const XlaOp loop = While(condition, loop_body, Tuple(outer, initial));
  std::vector<XlaOp> results;
  for (size_t i = 1; i < initial.size(); ++i) results.push_back(GetTupleElement(loop, static_cast<int64_t>(i)));
  return results;
}

}  // namespace

absl::StatusOr<XlaOp> ExpandCholesky(const HloInstruction& instruction, XlaBuilder* builder,
                                     absl::Span<const XlaOp> operands) {
  const Shape& shape = instruction.shape();
  if (ShapeUtil::IsZeroElementArray(shape)) return operands[0];
  const bool lower = instruction.attrs<CholeskyAttrs>().lower;
  const PrimitiveType type = TypeOfSums(shape.element_type());
  const PrimitiveType real = IsComplexType(type) ? ComplexComponentType(type) : type;
  const int64_t n = shape.dimensions(shape.rank() - 1);
  const Matrices m{.batch = BatchOf(shape), .rows = n, .columns = n};
  // Row j of the state is column j of the lower factor once it has been computed, and before that of the lower
  // triangle.
  XlaOp columns = AsBatch(operands[0], shape, m.batch);
  columns = lower ? Transposed(columns) : Conjugate(columns, type);
  const auto step = [&](XlaOp j, std::vector<XlaOp>* state) -> absl::Status {
    XlaBuilder* const b = j.builder();
    const XlaOp done = Lt(Iota(b, ShapeUtil::MakeShape(S64, {m.batch, n, n}), 1), j);
    const XlaOp factor = Select(done, (*state)[0], Filled(b, type, 0, {m.batch, n, n}));
    const XlaOp products = Mul(factor, Conjugate(Column(factor, j, m), type));
    HILO_ASSIGN_OR_RETURN(const XlaOp sum, SumOverRows(products, type));
    const XlaOp rest = Sub(Row((*state)[0], j, m), Reshape(sum, {m.batch, 1, n}));
    const XlaOp diagonal = DynamicSlice(rest, {Zero(b), Zero(b), j}, {m.batch, 1, 1});
    const XlaOp pivot = IsComplexType(type) ? Real(diagonal) : diagonal;
    const XlaOp root = Sqrt(Select(Gt(pivot, Filled(b, real, 0, {m.batch, 1, 1})), pivot,
                                   Filled(b, real, std::numeric_limits<double>::quiet_NaN(), {m.batch, 1, 1})));
    const XlaOp number = Iota(b, ShapeUtil::MakeShape(S64, {m.batch, 1, n}), 2);
    const XlaOp wide = BroadcastInDim(Reshape(root, {m.batch}), {m.batch, 1, n}, {0});
    const XlaOp divisor = IsComplexType(type) ? Complex(wide, Sub(wide, wide)) : wide;
    const XlaOp column =
        Select(Gt(number, j), Div(rest, divisor), Select(Eq(number, j), divisor, Filled(b, type, 0, {m.batch, 1, n})));
    (*state)[0] = WithRow((*state)[0], column, j);
    return absl::OkStatus();
  };
  HILO_ASSIGN_OR_RETURN(const std::vector<XlaOp> factor, ForSteps(n, {columns}, step));
  // One pivot that is not positive makes all of its matrix NaN: the last one has been made NaN by any of them.
  const XlaOp last = Slice(factor[0], {0, n - 1, n - 1}, {m.batch, n, n});
  const XlaOp pivot = BroadcastInDim(Reshape(IsComplexType(type) ? Real(last) : last, {m.batch}), {m.batch, n, n}, {0});
  const XlaOp whole = Select(
      Ne(pivot, pivot), Filled(builder, type, std::numeric_limits<double>::quiet_NaN(), {m.batch, n, n}), factor[0]);
  const XlaOp result = lower ? Transposed(whole) : Conjugate(whole, type);
  return Reshape(ConvertElementType(result, shape.element_type()), shape.dimensions());
}

absl::StatusOr<XlaOp> ExpandTriangularSolve(const HloInstruction& instruction, XlaBuilder* /*builder*/,
                                            absl::Span<const XlaOp> operands) {
  const TriangularSolveAttrs& attrs = instruction.attrs<TriangularSolveAttrs>();
  const Shape& shape = instruction.shape();
  if (ShapeUtil::IsZeroElementArray(shape)) return operands[1];
  const Shape& a_shape = instruction.operand(0)->shape();
  const PrimitiveType type = TypeOfSums(shape.element_type());
  const int64_t n = a_shape.dimensions(a_shape.rank() - 1), batch = BatchOf(shape);
  // x op(a) = b is op(a)^T x^T = b^T, and an upper matrix is a lower one from the other end.
  const bool transposed = (attrs.transpose_a != TransposeKind::kNoTranspose) == attrs.left_side;
  const bool backwards = attrs.lower == transposed;
  XlaOp a = AsBatch(operands[0], a_shape, batch), b = AsBatch(operands[1], shape, batch);
  if (attrs.transpose_a == TransposeKind::kAdjoint) a = Conjugate(a, type);
  if (transposed) a = Transposed(a);
  if (!attrs.left_side) b = Transposed(b);
  if (backwards) {
    a = Rev(a, {1, 2});
    b = Rev(b, {1});
  }
  const int64_t columns = ShapeUtil::ElementsIn(shape) / (batch * n);
  const Matrices m{.batch = batch, .rows = n, .columns = columns};
  const Matrices square{.batch = batch, .rows = n, .columns = n};
  const auto step = [&](XlaOp j, std::vector<XlaOp>* state) -> absl::Status {
    const XlaOp x = (*state)[0], matrix = (*state)[1];
    XlaOp row = Row(x, j, m);
    if (!attrs.unit_diagonal) {
      const XlaOp diagonal = DynamicSlice(matrix, {Zero(x.builder()), j, j}, {batch, 1, 1});
      row = Div(row, BroadcastInDim(Reshape(diagonal, {batch}), {batch, 1, columns}, {0}));
    }
    const XlaOp behind = Gt(Iota(x.builder(), ShapeUtil::MakeShape(S64, {batch, n, columns}), 1), j);
    const XlaOp products = Mul(Column(matrix, j, square), row);
    (*state)[0] = WithRow(Select(behind, Sub(x, products), x), row, j);
    return absl::OkStatus();
  };
  HILO_ASSIGN_OR_RETURN(const std::vector<XlaOp> solved, ForSteps(n, {b, a}, step));
  XlaOp x = solved[0];
  if (backwards) x = Rev(x, {1});
  if (!attrs.left_side) x = Transposed(x);
  return Reshape(ConvertElementType(x, shape.element_type()), shape.dimensions());
}

}  // namespace hilo
