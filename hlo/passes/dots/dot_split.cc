// Long sums of products in sections:
//
//   dot(f32[100000,64] x, f32[100000,4] y), sums over dimension 0
//     =>  reduce(dot(f32[200,500,64] x, f32[200,500,4] y), dimensions={0})
//
// The rows of a section stay in a cache while all results read them, and the sections are parts for threads.

#include <utility>

#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/dots/dot_rewrite.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Returns true if the contracting dimensions are the first ones of both factors, which so can be cut in place.
bool SumsOverRows(const HloInstruction& dot) {
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  const PrimitiveType type = dot.shape().element_type();
  for (size_t d = 0; d < attrs.lhs_contracting_dims.size(); ++d) {
    if (attrs.lhs_contracting_dims[d] != static_cast<int64_t>(d)) return false;
  }
  return attrs.lhs_batch_dims.empty() && !attrs.lhs_contracting_dims.empty() &&
         attrs.lhs_contracting_dims == attrs.rhs_contracting_dims && PrimitiveTypeBitWidth(type) >= 32;
}

absl::StatusOr<HloInstruction*> InSections(HloInstruction* dot, int64_t sections) {
  HloComputation* const parent = dot->parent();
  const size_t contracting = dot->attrs<DotAttrs>().lhs_contracting_dims.size();
  std::vector<HloInstruction*> factors;
  for (HloInstruction* factor : dot->operands()) {
    const absl::Span<const int64_t> sizes = factor->shape().dimensions();
    std::vector<int64_t> cut = {sections, Product(sizes.subspan(0, contracting)) / sections};
    cut.insert(cut.end(), sizes.begin() + static_cast<ptrdiff_t>(contracting), sizes.end());
    HILO_ASSIGN_OR_RETURN(factors.emplace_back(),
                          MakeReshape(factor, ShapeUtil::MakeShape(factor->shape().element_type(), cut)));
  }
  auto attributes = std::make_unique<DotAttrs>(dot->attrs<DotAttrs>());
  attributes->lhs_batch_dims = attributes->rhs_batch_dims = {0};
  attributes->lhs_contracting_dims = attributes->rhs_contracting_dims = {1};
  const PrimitiveType type = dot->shape().element_type();
  std::vector<int64_t> sizes(dot->shape().dimensions().begin(), dot->shape().dimensions().end());
  sizes.insert(sizes.begin(), sections);
  const Shape shape = ShapeUtil::MakeShape(type, sizes);
  HILO_ASSIGN_OR_RETURN(HloInstruction * sums,
                        parent->AddOp(HloOpcode::kDot, factors, std::move(attributes), {}, &shape));
  return MakeReduce(sums, parent->AddConstant(LiteralUtil::Zero(type)), {0},
                    MakeScalarComputation(parent->parent(), HloOpcode::kAdd, type));
}

}  // namespace

std::unique_ptr<HloPass> MakeDotSplit(std::function<int64_t(const HloInstruction& dot)> sections_of) {
  return MakeDotRewrite(
      "split-dots", [sections_of](const HloInstruction& dot) { return SumsOverRows(dot) && sections_of(dot) > 1; },
      [sections_of](HloInstruction* dot) { return InSections(dot, sections_of(*dot)); });
}

}  // namespace hilo
