// Makes one dimension of several adjacent free ones of a dot's right factor, so that the rows of the result are long:
//
//   dot(f32[130,80] x, f32[80,60,3] y)  =>  reshape(dot(x, f32[80,180] reshape(y)))
//
// The products of a sum keep their order.
#include <algorithm>
#include <utility>

#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/dots/dot_rewrite.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Returns true if the right factor has several free dimensions, and they are adjacent in memory.
bool HasAdjacentColumns(const HloInstruction& dot) {
  const std::vector<int64_t> free = RhsOf(dot).free;
  return free.size() > 1 && free.back() - free.front() + 1 == static_cast<int64_t>(free.size());
}

absl::StatusOr<HloInstruction*> WithMergedColumns(HloInstruction* dot) {
  const DotSide rhs = RhsOf(*dot);
  const int64_t count = static_cast<int64_t>(rhs.free.size()), columns = Product(rhs.free_sizes);
  // `shape` with one dimension for `count` from `first` on.
  const auto merged = [&](const Shape& shape, int64_t first) {
    std::vector<int64_t> dimensions(shape.dimensions().begin(), shape.dimensions().end());
    dimensions.erase(dimensions.begin() + first + 1, dimensions.begin() + first + count);
    dimensions[first] = columns;
    return ShapeUtil::MakeShape(shape.element_type(), dimensions);
  };
  HILO_ASSIGN_OR_RETURN(HloInstruction * factor,
                        MakeReshape(dot->operand(1), merged(dot->operand(1)->shape(), rhs.free.front())));
  auto attributes = std::make_unique<DotAttrs>(dot->attrs<DotAttrs>());
  for (std::vector<int64_t>* dims : {&attributes->rhs_batch_dims, &attributes->rhs_contracting_dims}) {
    for (int64_t& dim : *dims) dim -= dim > rhs.free.back() ? count - 1 : 0;
  }
  const Shape shape = merged(dot->shape(), dot->shape().rank() - count);
  HILO_ASSIGN_OR_RETURN(HloInstruction * product, dot->parent()->AddOp(HloOpcode::kDot, {dot->operand(0), factor},
                                                                       std::move(attributes), {}, &shape));
  return MakeReshape(product, dot->shape());
}

}  // namespace

std::unique_ptr<HloPass> MakeColumnMerge(std::function<bool(const HloInstruction& dot)> accepts) {
  return MakeDotRewrite(
      "merge-columns",
      [accepts = std::move(accepts)](const HloInstruction& dot) { return HasAdjacentColumns(dot) && accepts(dot); },
      WithMergedColumns);
}

}  // namespace hilo
