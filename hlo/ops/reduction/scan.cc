// Scan: applies a computation to the slices of its inputs along one dimension, with carries from step to step.
// Operands are the inputs and then the first carries; the computation takes a slice of each input, without that
// dimension, and the carries, and returns an element of each output and the next carries; results are the outputs, into
// which consist of the elements, and the last carries.
#include <cstring>

#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

// An array as [outer, length, inner] elements around its dimension `d`, in bytes.
struct Blocks {
  int64_t outer = 1, inner_bytes = 0;

  Blocks(const Shape& shape, int64_t d) : inner_bytes(PrimitiveTypeByteSize(shape.element_type())) {
    for (int64_t i = 0; i < shape.rank(); ++i) {
      if (i < d) outer *= shape.dimensions(i);
      if (i > d) inner_bytes *= shape.dimensions(i);
    }
  }
};

// Between the slices of `array` at `position` and `slice`, one way or the other.
void CopySlice(uint8_t* array, int64_t position, int64_t length, const Blocks& blocks, uint8_t* slice, bool to_array) {
  for (int64_t o = 0; o < blocks.outer; ++o) {
    uint8_t* inside = array + (o * length + position) * blocks.inner_bytes;
    uint8_t* alone = slice + o * blocks.inner_bytes;
    std::memcpy(to_array ? inside : alone, to_array ? alone : inside, blocks.inner_bytes);
  }
}

absl::Span<const Shape> PartsOf(const Shape& shape) {
  return shape.IsTuple() ? absl::MakeConstSpan(shape.tuple_shapes()) : absl::MakeConstSpan(&shape, 1);
}

std::vector<Literal> Taken(Literal literal) {
  if (literal.shape().IsTuple()) return std::move(literal).DecomposeTuple();
  std::vector<Literal> one;
  one.push_back(std::move(literal));
  return one;
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kScan>(const OpView& op) {
  const ScanAttrs& attrs = op.attrs<ScanAttrs>();
  const int64_t inputs = static_cast<int64_t>(op.operands.size()) - attrs.num_carries;
  if (attrs.dimensions.size() != 1) return InvalidOp(op, "expected one dimension, got ", ListText(attrs.dimensions));
  if (attrs.num_carries < 0 || inputs < 1) {
    return InvalidOp(op, "expected at least one input and ", attrs.num_carries, " carries, got ", op.operands.size(),
                     " operands");
  }
  const int64_t d = attrs.dimensions[0];
  std::vector<Shape> slices;
  for (int64_t i = 0; i < inputs; ++i) {
    HILO_RETURN_IF_ERROR(CheckArray(op, i, "inputs"));
    HILO_RETURN_IF_ERROR(CheckDimensions(op, "dimensions", attrs.dimensions, op.operand(i).rank(), "input"));
    if (op.operand(i).dimensions(d) != op.operand(0).dimensions(d)) {
      return InvalidOp(op, "inputs must be of one size in dimension ", d, ", but operand 0 is ",
                       op.operand(0).ToString(), " and operand ", i, " is ", op.operand(i).ToString());
    }
    slices.push_back(ShapeUtil::DeleteDimensions(attrs.dimensions, op.operand(i)));
  }
  std::vector<const Shape*> arguments;
  for (const Shape& slice : slices) arguments.push_back(&slice);
  for (int64_t i = inputs; i < static_cast<int64_t>(op.operands.size()); ++i) arguments.push_back(op.operands[i]);
  HILO_RETURN_IF_ERROR(CheckArguments(op, 0, arguments));

  const Shape& returned = op.called[0]->result;
  const absl::Span<const Shape> parts = PartsOf(returned);
  const int64_t outputs = static_cast<int64_t>(parts.size()) - attrs.num_carries;
  if (outputs < 0) {
    return InvalidOp(op, "to_apply must return ", attrs.num_carries, " carries, but returns ", returned.ToString());
  }
  std::vector<Shape> results;
  for (int64_t i = 0; i < outputs; ++i) {
    if (!parts[i].IsArray() || parts[i].rank() < d) {
      return InvalidOp(op, "an element of output ", i, " must be an array of rank ", d, " at least, but is ",
                       parts[i].ToString());
    }
    std::vector<int64_t> sizes(parts[i].dimensions().begin(), parts[i].dimensions().end());
    sizes.insert(sizes.begin() + d, op.operand(0).dimensions(d));
    results.emplace_back(parts[i].element_type(), sizes);
  }
  for (int64_t i = 0; i < attrs.num_carries; ++i) {
    const Shape& carry = op.operand(inputs + i);
    if (!ShapeUtil::Compatible(parts[outputs + i], carry)) {
      return InvalidOp(op, "carry ", i, " is ", carry.ToString(), ", but to_apply returns ",
                       parts[outputs + i].ToString());
    }
    results.push_back(carry);
  }
  return WithoutLayouts(returned.IsTuple() ? Shape(std::move(results)) : std::move(results[0]));
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kScan>(const OpView& op, const Shape& shape, Operands operands) {
  const ScanAttrs& attrs = op.attrs<ScanAttrs>();
  const int64_t inputs = static_cast<int64_t>(operands.size()) - attrs.num_carries, d = attrs.dimensions[0];
  const int64_t outputs = static_cast<int64_t>(PartsOf(shape).size()) - attrs.num_carries;
  const int64_t length = operands[0]->shape().dimensions(d);
  std::vector<Literal> slices, carries, results;
  std::vector<const Literal*> arguments;
  for (int64_t i = 0; i < inputs; ++i) {
    HILO_ASSIGN_OR_RETURN(slices.emplace_back(),
                          Literal::Create(ShapeUtil::DeleteDimensions({d}, operands[i]->shape())));
  }
  for (int64_t i = 0; i < attrs.num_carries; ++i) {
    HILO_ASSIGN_OR_RETURN(carries.emplace_back(), CopyOf(*operands[inputs + i]));
  }
  for (int64_t i = 0; i < outputs; ++i) {
    HILO_ASSIGN_OR_RETURN(results.emplace_back(), Literal::Create(PartsOf(shape)[i]));
  }
  for (int64_t step = 0; step < length; ++step) {
    const int64_t position = attrs.is_reverse ? length - 1 - step : step;
    arguments.clear();
    for (int64_t i = 0; i < inputs; ++i) {
      auto* array = const_cast<uint8_t*>(operands[i]->untyped_data().data());  // read only
      CopySlice(array, position, length, Blocks(operands[i]->shape(), d), slices[i].untyped_data().data(),
                /*to_array=*/false);
      arguments.push_back(&slices[i]);
    }
    for (const Literal& carry : carries) arguments.push_back(&carry);
    HILO_ASSIGN_OR_RETURN(Literal returned, op.computations[0](arguments));
    std::vector<Literal> parts = Taken(std::move(returned));
    for (int64_t i = 0; i < outputs; ++i) {
      CopySlice(results[i].untyped_data().data(), position, length, Blocks(results[i].shape(), d),
                parts[i].untyped_data().data(), /*to_array=*/true);
    }
    for (int64_t i = 0; i < attrs.num_carries; ++i) carries[i] = std::move(parts[outputs + i]);
  }
  for (Literal& carry : carries) results.push_back(std::move(carry));
  return shape.IsTuple() ? Literal::MakeTuple(std::move(results)) : std::move(results[0]);
}

}  // namespace hilo
