// Dots rewritten as sums, which loops over rows compute well, or as products. Argmax and argmin with indices of 64 bits
// rewritten with 32, as many as the values have. Reductions of stacked arrays rewritten as operations on these, and
// sums of which one term is not 0 as that term. Reductions of transposes rewritten without these.
//
//   dot(f32[1000,1000] m, f32[1000] v)  =>  reduce(multiply(m, broadcast(v))), whose lanes run along a row
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/arg_reduction.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/passes/dimensions/row_split.h"
#include "hlo/passes/simplify/rules.h"

namespace hilo::simplify {
namespace {

using Result = absl::StatusOr<HloInstruction*>;

// Products that justify a separate loop. 100 products of a vector in a loop, as tiles and as sums of rows, AVX-512, us:
// f32[16,16] 11.7 and 5.3, f32[25,25] 26 and 8.5, f32[31,31] 44 and 10; f64[16,16] 6.9 and 6.0.
constexpr int64_t kManyProducts = 256;

bool Contains(const std::vector<int64_t>& numbers, int64_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

// Returns the type of a dot's products and of their sums, to which its operands are converted: narrow floats are added
// up as f32, as the dot adds them up. Nullopt if the type does not hold the numbers of an operand.
std::optional<PrimitiveType> SumTypeOf(const HloInstruction& dot) {
  const PrimitiveType type = dot.shape().element_type();
  const PrimitiveType sum = IsFloatingPointType(type) && type != F64 ? F32 : type;
  for (const HloInstruction* operand : dot.operands()) {
    if (PrimitiveTypeBitWidth(operand->shape().element_type()) > PrimitiveTypeBitWidth(sum)) return std::nullopt;
  }
  return sum;
}

// One side of a dot.
struct Side {
  HloInstruction* operand;
  const std::vector<int64_t>* batch;
  const std::vector<int64_t>* contracting;

  bool IsFree(int64_t d) const { return !Contains(*batch, d) && !Contains(*contracting, d); }
};

// The dot of `matrix` with `vector`, which has no free dimension longer than 1: null if it has. The sums, of
// `sum_type`, have the order of the matrix's dimensions, and are transposed to that of the result.
Result SumOfProducts(HloInstruction* dot, PrimitiveType sum_type, const Side& matrix, const Side& vector) {
  const Shape& shape = vector.operand->shape();
  const Shape& whole = matrix.operand->shape();
  // The positions of the matrix's dimensions in the dot's result, leaving out the vector's: batch ones, then free ones.
  std::vector<int64_t> in_result;
  int64_t next_free = static_cast<int64_t>(matrix.batch->size());
  for (int64_t d = 0; d < whole.rank(); ++d) {
    if (Contains(*matrix.contracting, d)) continue;
    const auto batch = std::find(matrix.batch->begin(), matrix.batch->end(), d);
    in_result.push_back(batch != matrix.batch->end() ? batch - matrix.batch->begin() : next_free++);
  }
  std::vector<int64_t> order(in_result.size());  // of the result's dimensions in the sums
  for (size_t i = 0; i < in_result.size(); ++i) order[in_result[i]] = static_cast<int64_t>(i);
  // The vector's dimensions: sizes, and positions in the matrix.
  std::vector<int64_t> kept, positions;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (vector.IsFree(d)) {
      if (shape.dimensions(d) != 1) return nullptr;
      continue;
    }
    const std::vector<int64_t>& own = Contains(*vector.batch, d) ? *vector.batch : *vector.contracting;
    const std::vector<int64_t>& theirs = Contains(*vector.batch, d) ? *matrix.batch : *matrix.contracting;
    positions.push_back(theirs[std::find(own.begin(), own.end(), d) - own.begin()]);
    kept.push_back(shape.dimensions(d));
  }
  std::vector<int64_t> ascending(positions.size());
  std::iota(ascending.begin(), ascending.end(), 0);
  std::sort(ascending.begin(), ascending.end(), [&](int64_t a, int64_t b) { return positions[a] < positions[b]; });
  std::sort(positions.begin(), positions.end());
  Shape product_shape = whole;
  product_shape.set_element_type(sum_type);
  HloInstruction* result = nullptr;
  const auto build = [&]() -> absl::Status {
    Result wide = MakeConvert(matrix.operand, sum_type);
    if (!wide.ok()) return wide.status();
    Result narrow = MakeReshape(vector.operand, ShapeUtil::MakeShape(shape.element_type(), kept));
    if (narrow.ok()) narrow = MakeTranspose(*narrow, ascending);
    if (narrow.ok()) narrow = MakeConvert(*narrow, sum_type);
    if (narrow.ok()) narrow = MakeBroadcast(*narrow, product_shape, positions);
    if (narrow.ok()) narrow = MakeBinary(HloOpcode::kMultiply, *wide, *narrow);
    if (!narrow.ok()) return narrow.status();
    HloInstruction* zero = dot->parent()->AddConstant(LiteralUtil::Zero(sum_type));
    std::vector<int64_t> reduced = *matrix.contracting;
    std::sort(reduced.begin(), reduced.end());
    Result sum = MakeReduce(*narrow, zero, std::move(reduced),
                            MakeScalarComputation(dot->parent()->parent(), HloOpcode::kAdd, sum_type));
    if (sum.ok()) sum = MakeConvert(*sum, dot->shape().element_type());
    if (sum.ok()) sum = MakeTranspose(*sum, order);
    if (sum.ok()) sum = MakeReshape(*sum, dot->shape());
    if (!sum.ok()) return sum.status();
    result = *sum;
    return absl::OkStatus();
  };
  if (absl::Status status = build(); !status.ok()) return status;
  return result;
}

Result DotWithVector(HloInstruction* dot) {
  const DotAttrs& attrs = dot->attrs<DotAttrs>();
  const PrimitiveType type = dot->shape().element_type();
  const std::optional<PrimitiveType> sum_type = SumTypeOf(*dot);
  if (attrs.lhs_contracting_dims.empty() || PrimitiveTypeBitWidth(type) < 8 || type == PRED || !sum_type.has_value())
    return nullptr;
  const Side lhs{dot->operand(0), &attrs.lhs_batch_dims, &attrs.lhs_contracting_dims};
  const Side rhs{dot->operand(1), &attrs.rhs_batch_dims, &attrs.rhs_contracting_dims};
  for (bool swapped : {false, true}) {
    const Side& matrix = swapped ? rhs : lhs;
    if (ShapeUtil::ElementsIn(matrix.operand->shape()) < kManyProducts) continue;
    Result result = SumOfProducts(dot, *sum_type, matrix, swapped ? lhs : rhs);
    if (!result.ok() || *result != nullptr) return result;
  }
  return nullptr;
}

// `operand` as a factor of a product of `shape`: the batch dimensions come first there, and the operand's others begin
// at `first_free`.
Result FactorOf(HloInstruction* operand, const std::vector<int64_t>& batch, const Shape& shape, int64_t first_free) {
  std::vector<int64_t> order = batch, positions(batch.size());
  std::iota(positions.begin(), positions.end(), 0);
  for (int64_t d = 0; d < operand->shape().rank(); ++d) {
    if (Contains(batch, d)) continue;
    order.push_back(d);
    positions.push_back(first_free++);
  }
  Result factor = MakeConvert(operand, shape.element_type());
  if (factor.ok()) factor = MakeTranspose(*factor, order);
  return factor.ok() ? MakeBroadcast(*factor, shape, positions) : factor;
}

// A dot that sums over nothing is elementwise, and fuses. (Sums over a dimension of one element stay dots: those of a
// loop can become one dot.)
Result OuterProduct(HloInstruction* dot) {
  const DotAttrs& attrs = dot->attrs<DotAttrs>();
  const PrimitiveType type = dot->shape().element_type();
  const std::optional<PrimitiveType> sum_type = SumTypeOf(*dot);
  if (!attrs.lhs_contracting_dims.empty() || PrimitiveTypeBitWidth(type) < 8 || type == PRED || !sum_type.has_value())
    return nullptr;
  Shape shape = dot->shape();
  shape.set_element_type(*sum_type);
  Result lhs =
      FactorOf(dot->operand(0), attrs.lhs_batch_dims, shape, static_cast<int64_t>(attrs.lhs_batch_dims.size()));
  if (!lhs.ok()) return lhs;
  Result rhs = FactorOf(dot->operand(1), attrs.rhs_batch_dims, shape, dot->operand(0)->shape().rank());
  if (!rhs.ok()) return rhs;
  Result product = MakeBinary(HloOpcode::kMultiply, *lhs, *rhs);
  return product.ok() ? MakeConvert(*product, type) : product;
}

// The computation of an argmax or argmin (hlo/analysis/arg_reduction.h) with indices of another type.
Result NarrowChoice(const HloComputation& choice, PrimitiveType position, HloComputation* narrow) {
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
  for (const HloInstruction* instruction : choice.MakePostOrder()) {
    if (instruction->IsParameter()) {
      const int64_t number = instruction->parameter_number();
      Shape shape = instruction->shape();
      if (number % 2 == 1) shape.set_element_type(position);
      copies[instruction] =
          narrow->AddInstruction(HloInstruction::CreateParameter(number, std::move(shape), instruction->name()));
      continue;
    }
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* operand : instruction->operands()) operands.push_back(copies.at(operand));
    Shape shape = instruction->shape();
    if (instruction->opcode() == HloOpcode::kSelect) shape = operands[1]->shape();
    if (instruction->opcode() == HloOpcode::kTuple)
      shape = ShapeUtil::MakeTupleShape({operands[0]->shape(), operands[1]->shape()});
    copies[instruction] =
        narrow->AddInstruction(instruction->CloneWithNewOperands(std::move(shape), operands), instruction->name());
  }
  HloInstruction* root = copies.at(choice.root_instruction());
  if (absl::Status status = narrow->set_root_instruction(root); !status.ok()) return status;
  return root;
}

// Vectors of indices of 64 bits hold half as many as vectors of f32, and the indices are most of the work.
Result NarrowArgReduction(HloInstruction* reduce) {
  if (reduce->operand_count() != 4 || !reduce->operand(3)->IsConstant()) return nullptr;
  const Shape& wide = reduce->operand(1)->shape();
  if (wide.element_type() != S64 && wide.element_type() != U64) return nullptr;
  const auto fits = [](int64_t position) { return position >= 0 && position <= std::numeric_limits<int32_t>::max(); };
  const int64_t first = reduce->operand(3)->literal().GetAsInt64(0);
  if (!fits(first) || !IsArgReductionOfOneDimension(*reduce)) return nullptr;
  const int64_t dimension = reduce->attrs<ReduceAttrs>().dimensions[0];
  if (!fits(wide.dimensions(dimension))) return nullptr;
  const PrimitiveType position = wide.element_type() == S64 ? S32 : U32;
  HloComputation* parent = reduce->parent();
  HloComputation* narrow = parent->parent()->AddComputation(reduce->called_computation()->name());
  Result result = NarrowChoice(*reduce->called_computation(), position, narrow);
  if (!result.ok()) return result;
  Shape shape = wide;
  shape.set_element_type(position);
  auto iota = std::make_unique<IotaAttrs>();
  iota->iota_dimension = dimension;
  Result positions = parent->AddOp(HloOpcode::kIota, {}, std::move(iota), {}, &shape);
  if (!positions.ok()) return positions;
  HloInstruction* init = parent->AddConstant(LiteralUtil::FromDouble(position, static_cast<double>(first)));
  auto attributes = std::make_unique<ReduceAttrs>(reduce->attrs<ReduceAttrs>());
  result = parent->AddOp(HloOpcode::kReduce, {reduce->operand(0), *positions, reduce->operand(2), init},
                         std::move(attributes), {narrow});
  if (!result.ok()) return result;
  Result value = MakeTupleElement(*result, 0), index = MakeTupleElement(*result, 1);
  if (index.ok()) index = MakeConvert(*index, wide.element_type());
  if (!value.ok() || !index.ok()) return value.ok() ? index : value;
  return parent->AddOp(HloOpcode::kTuple, {*value, *index});
}

// Element-wise operations of the sum of a stack at most, and arrays of a stack.
constexpr int64_t kMaxStackOperations = 64, kMaxStacked = 9;
// Element-wise operations between a stack and its reduction, as the comparison of a search for NaN.
constexpr int kMaxAfterStack = 2;

// Returns true if the elements along `dimension` are arrays that need not be cut out of `x`.
bool IsStack(const HloInstruction& x, int64_t dimension, int steps = kMaxAfterStack) {
  if (x.opcode() == HloOpcode::kIota) return x.attrs<IotaAttrs>().iota_dimension == dimension;
  if (steps > 0 && IsElementwise(x.opcode()) && x.opcode() != HloOpcode::kMap && x.operand_count() > 0) {
    return absl::c_all_of(x.operands(), [&](const HloInstruction* operand) {
      return IsScalarBroadcast(operand) || IsStack(*operand, dimension, steps - 1);
    });
  }
  return x.opcode() == HloOpcode::kConcatenate && x.attrs<ConcatenateAttrs>().dimensions[0] == dimension &&
         absl::c_all_of(x.operands(), [&](auto* piece) { return piece->shape().dimensions(dimension) == 1; });
}

// Returns true if a stack, or what is computed from it, is of separate arrays rather than of positions alone.
bool HasArrays(const HloInstruction& stack) {
  return stack.opcode() == HloOpcode::kConcatenate ||
         (IsElementwise(stack.opcode()) &&
          absl::c_any_of(stack.operands(), [](const HloInstruction* operand) { return HasArrays(*operand); }));
}

// Returns element `k` along `dimension` of an array for which IsStack holds, or of a scalar that is broadcast, in the
// dimensions of `shape`.
Result ElementOfStack(HloInstruction* stack, int64_t dimension, int64_t k, Shape shape) {
  shape.set_element_type(stack->shape().element_type());
  if (IsScalarBroadcast(stack)) return MakeBroadcast(stack->operand(0), shape, {});
  if (IsElementwise(stack->opcode())) {
    std::vector<HloInstruction*> operands;
    for (HloInstruction* operand : stack->operands()) {
      HILO_ASSIGN_OR_RETURN(operands.emplace_back(), ElementOfStack(operand, dimension, k, shape));
    }
    return stack->parent()->AddInstruction(stack->CloneWithNewOperands(shape, operands));
  }
  if (stack->opcode() == HloOpcode::kIota && stack->attrs<IotaAttrs>().iota_dimension == dimension) {
    return MakeBroadcast(MakeIotaNumber(stack->parent(), shape.element_type(), k), shape, {});
  }
  return MakeReshape(stack->operand(k), shape);
}

// Applies a computation of element-wise operations on scalars to arrays of `shape`.
absl::StatusOr<std::vector<HloInstruction*>> ApplyToArrays(const HloComputation& scalars, HloComputation* parent,
                                                           Shape shape, absl::Span<HloInstruction* const> arguments) {
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> arrays;
  for (const HloInstruction* i : scalars.MakePostOrder()) {
    if (i->opcode() == HloOpcode::kTuple) continue;  // the root
    shape.set_element_type(i->shape().element_type());
    if (i->IsParameter()) {
      arrays[i] = arguments[i->parameter_number()];
    } else if (i->IsConstant()) {
      HILO_ASSIGN_OR_RETURN(arrays[i], MakeBroadcast(parent->AddConstant(i->literal().Clone()), shape, {}));
    } else {
      std::vector<HloInstruction*> operands;
      for (const HloInstruction* operand : i->operands()) operands.push_back(arrays.at(operand));
      arrays[i] = parent->AddInstruction(i->CloneWithNewOperands(shape, operands));
    }
  }
  const HloInstruction* root = scalars.root_instruction();
  if (root->opcode() != HloOpcode::kTuple) return std::vector<HloInstruction*>{arrays.at(root)};
  std::vector<HloInstruction*> results;
  for (const HloInstruction* element : root->operands()) results.push_back(arrays.at(element));
  return results;
}

// Returns the count of element-wise operations if `computation` has no others, on scalars; else nullopt.
std::optional<int64_t> ElementwiseOperations(const HloComputation& computation) {
  int64_t count = 0;
  for (const HloInstruction* i : computation.instructions()) {
    if (i->IsParameter() || i->IsConstant()) continue;
    if (i->opcode() == HloOpcode::kTuple && i == computation.root_instruction()) continue;
    if (!IsElementwise(i->opcode()) || i->opcode() == HloOpcode::kMap || !i->shape().IsScalar()) return std::nullopt;
    ++count;
  }
  return count;
}

// Of arrays that are stacked, as jnp.select and jnp.stack(...).max(0) do. The element-wise operations fuse.
Result UnstackedReduction(HloInstruction* reduce) {
  const std::vector<int64_t>& dimensions = reduce->attrs<ReduceAttrs>().dimensions;
  const int64_t count = reduce->operand_count() / 2;
  if (dimensions.size() != 1) return nullptr;
  const Shape& input = reduce->operand(0)->shape();
  const int64_t dimension = dimensions[0], size = input.dimensions(dimension);
  bool has_stack = false;
  for (int64_t i = 0; i < count; ++i) {
    const HloInstruction& x = *reduce->operand(i);
    const PrimitiveType type = x.shape().element_type();
    // Sums of narrow floats are wider.
    if (!IsStack(x, dimension) || (IsFloatingPointType(type) && PrimitiveTypeBitWidth(type) < 32)) return nullptr;
    has_stack = has_stack || HasArrays(x);
  }
  const std::optional<int64_t> operations = ElementwiseOperations(*reduce->called_computation());
  if (!has_stack || size < 2 || size > kMaxStacked || !operations.has_value() ||
      size * *operations > kMaxStackOperations)
    return nullptr;
  HloComputation* parent = reduce->parent();
  const Shape& shape = reduce->shape().IsTuple() ? reduce->shape().tuple_shapes(0) : reduce->shape();
  std::vector<HloInstruction*> running;
  for (int64_t i = 0; i < count; ++i) {
    Shape own = shape;
    own.set_element_type(reduce->operand(i)->shape().element_type());
    HILO_ASSIGN_OR_RETURN(running.emplace_back(), MakeBroadcast(reduce->operand(count + i), own, {}));
  }
  for (int64_t k = 0; k < size; ++k) {
    std::vector<HloInstruction*> arguments = running;
    for (int64_t i = 0; i < count; ++i) {
      HILO_ASSIGN_OR_RETURN(arguments.emplace_back(), ElementOfStack(reduce->operand(i), dimension, k, shape));
    }
    HILO_ASSIGN_OR_RETURN(running, ApplyToArrays(*reduce->called_computation(), parent, shape, arguments));
  }
  return reduce->shape().IsTuple() ? parent->AddOp(HloOpcode::kTuple, running) : running[0];
}

bool RepeatsAlong(const HloInstruction& x, int64_t dimension) {
  return x.opcode() == HloOpcode::kBroadcast && !Contains(x.attrs<BroadcastAttrs>().dimensions, dimension);
}

// Returns what `x`, for which RepeatsAlong holds, repeats, in its other dimensions.
Result WithoutDimension(HloInstruction* x, int64_t dimension) {
  std::vector<int64_t> dimensions = x->attrs<BroadcastAttrs>().dimensions;
  for (int64_t& d : dimensions) d -= d > dimension ? 1 : 0;
  return MakeBroadcast(x->operand(0), ShapeUtil::DeleteDimensions({dimension}, x->shape()), std::move(dimensions));
}

// Returns true if every element of `x` is its position along `dimension`.
bool IsPosition(const HloInstruction& x, int64_t dimension) {
  if (x.opcode() == HloOpcode::kBroadcast) {
    return x.operand(0)->opcode() == HloOpcode::kIota && x.operand(0)->shape().rank() == 1 &&
           x.attrs<BroadcastAttrs>().dimensions == std::vector<int64_t>{dimension};
  }
  return x.opcode() == HloOpcode::kIota && x.attrs<IotaAttrs>().iota_dimension == dimension;
}

// Of elements of which one is not 0, as in the gradient of a cross entropy.
Result SumOfOneHot(HloInstruction* reduce) {
  const std::vector<int64_t>& dimensions = reduce->attrs<ReduceAttrs>().dimensions;
  if (dimensions.size() != 1 || reduce->operand_count() != 2 || !IsAll(reduce->operand(1), 0) ||
      !ShapeUtil::SameElementType(reduce->shape(), reduce->operand(0)->shape()) ||
      ReductionOp(*reduce->called_computation()) != HloOpcode::kAdd)
    return nullptr;
  const int64_t dimension = dimensions[0], size = reduce->operand(0)->shape().dimensions(dimension);
  HloInstruction* select = reduce->operand(0);
  const bool is_negated = select->opcode() == HloOpcode::kNegate;
  if (is_negated) select = select->operand(0);
  if (select->opcode() != HloOpcode::kSelect ||
      !ShapeUtil::SameDimensions(select->operand(0)->shape(), select->shape()))
    return nullptr;
  HloInstruction* const compare = select->operand(0);
  if (compare->opcode() != HloOpcode::kCompare || !IsAll(select->operand(2), 0) ||
      compare->attrs<CompareAttrs>().direction != ComparisonDirection::kEq ||
      !RepeatsAlong(*select->operand(1), dimension))
    return nullptr;
  for (const int64_t side : {0, 1}) {
    HloInstruction* const position = compare->operand(1 - side);
    const PrimitiveType type = position->shape().element_type();
    if (!IsIntegralType(type) || PrimitiveTypeBitWidth(type) < 32 || size > std::numeric_limits<int32_t>::max() ||
        !IsPosition(*position, dimension) || !RepeatsAlong(*compare->operand(side), dimension))
      continue;
    HILO_ASSIGN_OR_RETURN(HloInstruction* const hot, WithoutDimension(compare->operand(side), dimension));
    HILO_ASSIGN_OR_RETURN(HloInstruction * value, WithoutDimension(select->operand(1), dimension));
    if (is_negated) {
      HILO_ASSIGN_OR_RETURN(value, reduce->parent()->AddOp(HloOpcode::kNegate, {value}));
    }
    // Where no position is meant, there is none.
    HloInstruction* inside = nullptr;
    for (const ComparisonDirection direction : {ComparisonDirection::kGe, ComparisonDirection::kLt}) {
      const bool is_low = direction == ComparisonDirection::kGe;
      HILO_ASSIGN_OR_RETURN(HloInstruction* const bound, MakeUniform(hot, is_low ? 0 : static_cast<double>(size)));
      auto attributes = std::make_unique<CompareAttrs>();
      attributes->direction = direction;
      HILO_ASSIGN_OR_RETURN(HloInstruction* const holds,
                            reduce->parent()->AddOp(HloOpcode::kCompare, {hot, bound}, std::move(attributes)));
      if (is_low) {
        inside = holds;
      } else {
        HILO_ASSIGN_OR_RETURN(inside, MakeBinary(HloOpcode::kAnd, inside, holds));
      }
    }
    HILO_ASSIGN_OR_RETURN(HloInstruction* const zero, MakeUniform(value, 0));
    return reduce->parent()->AddOp(HloOpcode::kSelect, {inside, value, zero});
  }
  return nullptr;
}

// Element-wise operations between a transpose and the reduction of what they compute.
constexpr size_t kMaxMappedOperations = 4;

// The array before `value`, if one operation makes `value` of it and of numbers that are the same for all elements;
// null if there is none, or if others read `value`.
HloInstruction* OnlyArrayOf(const HloInstruction& value) {
  if (!IsElementwise(value.opcode()) || value.opcode() == HloOpcode::kMap || value.user_count() > 1) return nullptr;
  HloInstruction* array = nullptr;
  for (HloInstruction* operand : value.operands()) {
    if (IsScalarBroadcast(operand) || operand->shape().IsScalar()) continue;
    if (array != nullptr && array != operand) return nullptr;
    array = operand;
  }
  return array;
}

// reduce(f(transpose(x))): the elements are read where they are, and only the results are transposed.
Result ReduceOfTranspose(HloInstruction* reduce) {
  if (reduce->operand_count() != 2 || !ReductionOp(*reduce->called_computation()).has_value()) return nullptr;
  std::vector<HloInstruction*> operations;  // the last one first
  HloInstruction* transpose = reduce->operand(0);
  while (transpose->opcode() != HloOpcode::kTranspose) {
    if (operations.size() == kMaxMappedOperations) return nullptr;
    operations.push_back(transpose);
    transpose = OnlyArrayOf(*transpose);
    if (transpose == nullptr) return nullptr;
  }
  if (transpose->user_count() > 1) return nullptr;
  const std::vector<int64_t>& permutation = transpose->attrs<TransposeAttrs>().dimensions;
  HloInstruction* const x = transpose->operand(0);
  HloInstruction* value = x;
  for (auto it = operations.rbegin(); it != operations.rend(); ++it) {
    const HloInstruction& operation = **it;
    const auto in_place = [&](PrimitiveType type) { return ShapeUtil::MakeShape(type, x->shape().dimensions()); };
    HloInstruction* const before = OnlyArrayOf(operation);
    std::vector<HloInstruction*> operands;
    for (HloInstruction* operand : operation.operands()) {
      if (operand == before) {
        operand = value;
      } else if (!operand->shape().IsScalar()) {
        HILO_ASSIGN_OR_RETURN(operand,
                              MakeBroadcast(operand->operand(0), in_place(operand->shape().element_type()), {}));
      }
      operands.push_back(operand);
    }
    value = reduce->parent()->AddInstruction(
        operation.CloneWithNewOperands(in_place(operation.shape().element_type()), operands));
  }
  std::vector<int64_t> reduced, kept;
  for (const int64_t d : reduce->attrs<ReduceAttrs>().dimensions) reduced.push_back(permutation[d]);
  for (int64_t d = 0; d < transpose->shape().rank(); ++d) {
    if (!Contains(reduce->attrs<ReduceAttrs>().dimensions, d)) kept.push_back(permutation[d]);
  }
  std::sort(reduced.begin(), reduced.end());
  HILO_ASSIGN_OR_RETURN(HloInstruction * result,
                        MakeReduce(value, reduce->operand(1), std::move(reduced), reduce->called_computation()));
  // The results have the kept dimensions in the order of x.
  std::vector<int64_t> sorted = kept, order;
  std::sort(sorted.begin(), sorted.end());
  for (const int64_t d : kept) order.push_back(std::find(sorted.begin(), sorted.end(), d) - sorted.begin());
  return MakeTranspose(result, std::move(order));
}

// The dimensions of the arrays that were flattened into what a few element-wise operations make `value` of; nullopt if
// these differ, if there are none, or if others read an operation. `is_computed`: set if one of the arrays is no
// parameter and the like, so that a loop over it may be fused with the reduction.
std::optional<std::vector<int64_t>> FlattenedDimensions(const HloInstruction& value, size_t* operations,
                                                        bool* is_computed) {
  if (value.opcode() == HloOpcode::kReshape) {
    const HloInstruction& array = *value.operand(0);
    *is_computed |= IsElementwise(array.opcode()) || HasTrait(array.opcode(), kMovement);
    const absl::Span<const int64_t> dimensions = array.shape().dimensions();
    return std::vector<int64_t>(dimensions.begin(), dimensions.end());
  }
  if (!IsElementwise(value.opcode()) || value.opcode() == HloOpcode::kMap || value.user_count() > 1 ||
      ++*operations > kMaxMappedOperations)
    return std::nullopt;
  std::optional<std::vector<int64_t>> dimensions;
  for (const HloInstruction* operand : value.operands()) {
    if (IsScalarBroadcast(operand)) continue;
    std::optional<std::vector<int64_t>> of_operand = FlattenedDimensions(*operand, operations, is_computed);
    if (!of_operand.has_value() || (dimensions.has_value() && *dimensions != *of_operand)) return std::nullopt;
    dimensions = std::move(of_operand);
  }
  return dimensions;
}

// Returns `value`, of FlattenedDimensions, in these dimensions.
Result Unflattened(HloInstruction* value, const std::vector<int64_t>& dimensions) {
  const Shape shape = ShapeUtil::MakeShape(value->shape().element_type(), dimensions);
  if (value->opcode() == HloOpcode::kReshape) return value->operand(0);
  if (IsScalarBroadcast(value)) return MakeBroadcast(value->operand(0), shape, {});
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : value->operands()) {
    HILO_ASSIGN_OR_RETURN(operand, Unflattened(operand, dimensions));
    operands.push_back(operand);
  }
  return value->parent()->AddInstruction(value->CloneWithNewOperands(shape, operands));
}

// reduce(f(reshape(x))) to a scalar: loops over x's own dimensions compute x without a division for each element.
Result ReduceOfFlattened(HloInstruction* reduce) {
  HloInstruction* const value = reduce->operand(0);
  if (reduce->operand_count() != 2 || !reduce->shape().IsScalar() || value->shape().rank() != 1) return nullptr;
  size_t operations = 0;
  bool is_computed = false;
  const std::optional<std::vector<int64_t>> dimensions = FlattenedDimensions(*value, &operations, &is_computed);
  if (!dimensions.has_value() || dimensions->size() < 2 || !is_computed ||
      SumsFlatRows(dimensions->back(), value->shape().element_type()))
    return nullptr;
  HILO_ASSIGN_OR_RETURN(HloInstruction * array, Unflattened(value, *dimensions));
  std::vector<int64_t> reduced(dimensions->size());
  std::iota(reduced.begin(), reduced.end(), 0);
  return MakeReduce(array, reduce->operand(1), std::move(reduced), reduce->called_computation());
}

const Rule kReductionRules[] = {
    {HloOpcode::kReduce, "reduce(f(reshape(x))), a scalar => reduce(f(x))", ReduceOfFlattened},
    {HloOpcode::kReduce, "reduce(select(position = x, y, 0)), a sum => select(0 <= x < size, y, 0)", SumOfOneHot,
     /*exact=*/false},
    {HloOpcode::kReduce, "reduce(f(transpose(x))) => transpose(reduce(f(x)))", ReduceOfTranspose, /*exact=*/false},
    {HloOpcode::kReduce, "reduce(stack(x, y, ...)) => combine(combine(init, x), y) ...", UnstackedReduction},
    {HloOpcode::kReduce, "argmax(x) of 64-bit indices => convert(argmax(x) of 32-bit indices)", NarrowArgReduction},
    {HloOpcode::kDot, "dot(x, y) => broadcast(x) * broadcast(y), no sum", OuterProduct, /*exact=*/false},
    {HloOpcode::kDot, "dot(x, vector) => reduce(x * broadcast(vector))", DotWithVector, /*exact=*/false,
     /*replaces_dot=*/true},
};

}  // namespace

absl::Span<const Rule> ReductionRules() { return kReductionRules; }

}  // namespace hilo::simplify
