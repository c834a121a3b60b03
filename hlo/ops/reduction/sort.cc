// Sort, by merging: stable always, and safe whatever the comparator answers.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/op_checks.h"
#include "hlo/ops/table/scalar_computation.h"

namespace hilo {
namespace {

// The indices of one line of the operands along the sorted dimension.
struct Line {
  int64_t start, stride, size;
};

class LineSorter {
 public:
  LineSorter(const OpView& op, Operands operands) : operands_(operands), less_(op.computations[0], Types(operands)) {}

  // The sorted order of `line`: element i of the result is element order()[i].
  absl::Status Sort(const Line& line) {
    line_ = line;
    order_.resize(line.size);
    merged_.resize(line.size);
    std::iota(order_.begin(), order_.end(), 0);
    for (int64_t width = 1; width < line.size; width *= 2) {
      for (int64_t low = 0; low < line.size; low += 2 * width) {
        HILO_RETURN_IF_ERROR(Merge(low, std::min(low + width, line.size), std::min(low + 2 * width, line.size)));
      }
      order_.swap(merged_);
    }
    return absl::OkStatus();
  }
  absl::Span<const int64_t> order() const { return order_; }

 private:
  // Parameters 2k and 2k + 1 belong to operand k.
  static std::vector<PrimitiveType> Types(Operands operands) {
    std::vector<PrimitiveType> types;
    for (const Literal* operand : operands) types.insert(types.end(), 2, operand->shape().element_type());
    return types;
  }

  absl::Status Merge(int64_t low, int64_t middle, int64_t high) {
    int64_t left = low, right = middle;
    for (int64_t out = low; out < high; ++out) {
      bool take_right = right < high;
      if (take_right && left < middle) {
        HILO_ASSIGN_OR_RETURN(take_right, Less(order_[right], order_[left]));
      }
      merged_[out] = order_[take_right ? right++ : left++];
    }
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Less(int64_t a, int64_t b) {
    for (size_t k = 0; k < operands_.size(); ++k) {
      const uint8_t* data = operands_[k]->untyped_data().data();
      const int64_t size = less_.element_size(2 * k);
      less_.SetArgument(2 * k, data + (line_.start + a * line_.stride) * size);
      less_.SetArgument(2 * k + 1, data + (line_.start + b * line_.stride) * size);
    }
    HILO_RETURN_IF_ERROR(less_.Call());
    return *less_.result(0) != 0;
  }

  Operands operands_;
  ScalarComputation less_;
  Line line_{};
  std::vector<int64_t> order_, merged_;
};

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kSort>(const OpView& op) {
  if (op.operands.empty()) return InvalidOp(op, "expected at least 1 operand, got 0");  // sort_c1
  HILO_RETURN_IF_ERROR(CheckSameDimensions(op, 0, op.operands.size(), "operands"));     // sort_c2, sort_c3
  const std::vector<int64_t>& dimensions = op.attrs<SortAttrs>().dimensions;
  if (dimensions.size() != 1) return InvalidOp(op, "dimensions = ", ListText(dimensions), " must name one dimension");
  HILO_RETURN_IF_ERROR(CheckDimensions(op, "dimensions", dimensions, op.operand(0).rank(), "operand"));  // sort_c4
  std::vector<Shape> scalars, results;
  for (const Shape* operand : op.operands) {
    scalars.emplace_back(operand->element_type(), absl::Span<const int64_t>());
    results.push_back(*operand);
  }
  std::vector<const Shape*> arguments;
  for (const Shape& scalar : scalars) arguments.insert(arguments.end(), 2, &scalar);
  HILO_RETURN_IF_ERROR(CheckArguments(op, 0, arguments));  // sort_c5
  const Shape& result = op.called[0]->result;
  if (!result.IsScalar() || result.element_type() != PRED) {
    return InvalidOp(op, "to_apply must return pred[], but returns ", result.ToString());
  }
  return CollateShapes(std::move(results));
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kSort>(const OpView& op, const Shape&, Operands operands) {
  const Shape& shape = operands[0]->shape();
  const int64_t dimension = op.attrs<SortAttrs>().dimensions[0];
  const int64_t size = shape.dimensions(dimension);
  std::vector<Literal> results;
  for (const Literal* operand : operands) {
    HILO_ASSIGN_OR_RETURN(Literal result, CopyOf(*operand));
    results.push_back(std::move(result));
  }
  if (ShapeUtil::IsZeroElementArray(shape)) return CollateLiterals(std::move(results));

  const int64_t stride = ShapeUtil::RowMajorStrides(shape.dimensions())[dimension];
  const int64_t lines = ShapeUtil::ElementsIn(shape) / size;
  LineSorter sorter(op, operands);
  for (int64_t i = 0; i < lines; ++i) {
    const Line line = {.start = i / stride * stride * size + i % stride, .stride = stride, .size = size};
    HILO_RETURN_IF_ERROR(sorter.Sort(line));
    for (size_t k = 0; k < operands.size(); ++k) {
      const int64_t bytes = PrimitiveTypeByteSize(operands[k]->shape().element_type());
      const uint8_t* from = operands[k]->untyped_data().data();
      uint8_t* to = results[k].untyped_data().data();
      for (int64_t e = 0; e < size; ++e) {
        std::memcpy(to + (line.start + e * stride) * bytes, from + (line.start + sorter.order()[e] * stride) * bytes,
                    bytes);
      }
    }
  }
  return CollateLiterals(std::move(results));
}

}  // namespace hilo
