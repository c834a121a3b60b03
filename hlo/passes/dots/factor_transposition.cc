// Transposes the right factors of dots whose sums are along rows that the rows of the result would gather:
//
//   dot(f32[9,20,30] x, f32[9,40,30] y)  =>  dot(x, f32[9,30,40] transpose(y))
//
// The products of a sum keep their order.
#include <numeric>
#include <utility>

#include "hilo/status_macros.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/dots/dot_rewrite.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Returns the dot with a right factor whose dimensions are the batch ones, those of the sums, and the free ones.
absl::StatusOr<HloInstruction*> WithTransposedRhs(HloInstruction* dot) {
  const DotSide rhs = RhsOf(*dot);
  std::vector<int64_t> order = rhs.batch;
  order.insert(order.end(), rhs.contracting.begin(), rhs.contracting.end());
  order.insert(order.end(), rhs.free.begin(), rhs.free.end());
  HILO_ASSIGN_OR_RETURN(HloInstruction * transposed, MakeTranspose(dot->operand(1), std::move(order)));
  auto attributes = std::make_unique<DotAttrs>(dot->attrs<DotAttrs>());
  std::iota(attributes->rhs_batch_dims.begin(), attributes->rhs_batch_dims.end(), 0);
  std::iota(attributes->rhs_contracting_dims.begin(), attributes->rhs_contracting_dims.end(),
            static_cast<int64_t>(rhs.batch.size()));
  return dot->parent()->AddOp(HloOpcode::kDot, {dot->operand(0), transposed}, std::move(attributes), {}, &dot->shape());
}

}  // namespace

std::unique_ptr<HloPass> MakeFactorTransposition(std::function<bool(const HloInstruction& dot)> accepts) {
  return MakeDotRewrite("transpose-factors", std::move(accepts), WithTransposedRhs);
}

}  // namespace hilo
