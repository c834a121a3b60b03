#include "hlo/analysis/dot_sides.h"

#include "absl/algorithm/container.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

std::vector<int64_t> SizesOf(const Shape& shape, const std::vector<int64_t>& dimensions) {
  std::vector<int64_t> sizes;
  for (int64_t d : dimensions) sizes.push_back(shape.dimensions(d));
  return sizes;
}

DotSide SideOf(const HloInstruction* operand, const std::vector<int64_t>& batch,
               const std::vector<int64_t>& contracting) {
  const Shape& shape = operand->shape();
  DotSide side{.operand = operand, .batch = batch, .contracting = contracting};
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (!absl::c_linear_search(batch, d) && !absl::c_linear_search(contracting, d)) side.free.push_back(d);
  }
  side.batch_sizes = SizesOf(shape, batch);
  side.free_sizes = SizesOf(shape, side.free);
  side.contracting_sizes = SizesOf(shape, contracting);
  return side;
}

}  // namespace

DotSide LhsOf(const HloInstruction& dot) {
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  return SideOf(dot.operand(0), attrs.lhs_batch_dims, attrs.lhs_contracting_dims);
}

DotSide RhsOf(const HloInstruction& dot) {
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  return SideOf(dot.operand(1), attrs.rhs_batch_dims, attrs.rhs_contracting_dims);
}

}  // namespace hilo
