// Products whose sums have few terms become sums of outer products, which are element-wise and fuse with what is around
// them:
//
//   dot(f32[100000,3] x, f32[3,3] y)  =>  x[:,0] * y[0,:] + x[:,1] * y[1,:] + x[:,2] * y[2,:], broadcast
#include "backends/gpu/compile/dot_terms.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/ops/reduction/sum_type.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/dots/dot_rewrite.h"
#include "hlo/passes/make_instruction.h"

namespace hilo::gpu {
namespace {

// Terms of a sum; rows or columns, for each of which a loop makes the other factor again; results from which on
// products are worth a loop of their own, and so may be in others.
constexpr int64_t kFewTerms = 9, kFewColumns = 4, kMinResults = 4096;
// Elements of a factor of which parts are too small for loops.
constexpr int64_t kSmallFactor = 1024;

bool HasFewTerms(const HloInstruction& dot) {
  const DotSide lhs = LhsOf(dot), rhs = RhsOf(dot);
  if (lhs.contracting_sizes.size() != 1 || !IsFloatingPointType(dot.shape().element_type())) return false;
  const int64_t terms = lhs.contracting_sizes[0], columns = std::min(Product(lhs.free_sizes), Product(rhs.free_sizes));
  // Dimensions of the batch come first, as in the result.
  const auto is_in_order = [](const std::vector<int64_t>& batch) {
    for (size_t i = 0; i < batch.size(); ++i) {
      if (batch[i] != static_cast<int64_t>(i)) return false;
    }
    return true;
  };
  return is_in_order(lhs.batch) && is_in_order(rhs.batch) && terms >= 1 && terms <= kFewTerms &&
         columns <= kFewColumns && ShapeUtil::ElementsIn(dot.shape()) >= kMinResults;
}

// Returns the factor `operand`, of `side`, of term `k`, as an array of `shape` whose dimensions from `first_free` on
// are its free ones.
absl::StatusOr<HloInstruction*> Factor(HloInstruction* operand, const DotSide& side, int64_t k, const Shape& shape,
                                       int64_t first_free) {
  const int64_t summed = side.contracting[0];
  std::vector<int64_t> sizes(operand->shape().dimensions().begin(), operand->shape().dimensions().end()), positions;
  for (int64_t d = 0, free = first_free; d < operand->shape().rank(); ++d) {
    if (d != summed) positions.push_back(d < std::ssize(side.batch) ? d : free++);
  }
  HloInstruction* whole = operand;
  int64_t dimension = summed;
  Shape part = ShapeUtil::MakeShape(operand->shape().element_type(), shape.dimensions());
  const bool is_small = ShapeUtil::ElementsIn(operand->shape()) <= kSmallFactor;
  if (is_small) {
    // Repeated first: parts of small arrays would be kernels of their own.
    dimension = summed == 0 ? 0 : positions[summed - 1] + 1;
    sizes.assign(shape.dimensions().begin(), shape.dimensions().end());
    sizes.insert(sizes.begin() + dimension, operand->shape().dimensions(summed));
    std::vector<int64_t> with_sum;
    for (const int64_t position : positions) with_sum.push_back(position + (position >= dimension ? 1 : 0));
    with_sum.insert(with_sum.begin() + summed, dimension);
    HILO_ASSIGN_OR_RETURN(
        whole, MakeBroadcast(operand, ShapeUtil::MakeShape(operand->shape().element_type(), sizes), with_sum));
  } else {
    part = ShapeUtil::DeleteDimensions({summed}, operand->shape());
  }
  std::vector<SliceRange> ranges;
  for (const int64_t size : sizes) ranges.push_back({0, size, 1});
  ranges[dimension] = {k, k + 1, 1};
  HILO_ASSIGN_OR_RETURN(HloInstruction * factor, MakeSlice(whole, ranges));
  HILO_ASSIGN_OR_RETURN(factor, MakeReshape(factor, part));
  if (!ShapeUtil::SameElementType(part, shape)) {
    part.set_element_type(shape.element_type());
    HILO_ASSIGN_OR_RETURN(factor, operand->parent()->AddOp(HloOpcode::kConvert, {factor}, nullptr, {}, &part));
  }
  return is_small ? factor : MakeBroadcast(factor, shape, positions);
}

absl::StatusOr<HloInstruction*> SumOfTerms(HloInstruction* dot) {
  const DotSide lhs = LhsOf(*dot), rhs = RhsOf(*dot);
  Shape shape = ShapeUtil::MakeShape(
      SumType(lhs.operand->shape().element_type(), rhs.operand->shape().element_type(), dot->shape().element_type()),
      dot->shape().dimensions());
  const int64_t batch = std::ssize(lhs.batch), left = std::ssize(lhs.free);
  HloInstruction* sum = nullptr;
  for (int64_t k = 0; k < lhs.contracting_sizes[0]; ++k) {
    HILO_ASSIGN_OR_RETURN(HloInstruction* const x, Factor(dot->operand(0), lhs, k, shape, batch));
    HILO_ASSIGN_OR_RETURN(HloInstruction* const y, Factor(dot->operand(1), rhs, k, shape, batch + left));
    HILO_ASSIGN_OR_RETURN(HloInstruction* const term, MakeBinary(HloOpcode::kMultiply, x, y));
    if (sum == nullptr) {
      sum = term;
      continue;
    }
    HILO_ASSIGN_OR_RETURN(sum, MakeBinary(HloOpcode::kAdd, sum, term));
  }
  if (ShapeUtil::SameElementType(sum->shape(), dot->shape())) return sum;
  return dot->parent()->AddOp(HloOpcode::kConvert, {sum}, nullptr, {}, &dot->shape());
}

}  // namespace

std::unique_ptr<HloPass> MakeDotTerms() { return MakeDotRewrite("dot-terms", HasFewTerms, SumOfTerms); }

}  // namespace hilo::gpu
