#include "hlo/analysis/reduction.h"

#include "absl/algorithm/container.h"
#include "base/math.h"
#include "hlo/analysis/arg_reduction.h"
#include "hlo/analysis/hero.h"
#include "hlo/analysis/one_pass_reduction.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

Reduction ReductionOf(const HloInstruction& instruction) {
  const HloInstruction* reduce = HeroOf(&instruction);
  Reduction r{.instruction = &instruction,
              .reduce = reduce,
              .count = reduce->operand_count() / 2,
              .input = reduce->operand(0)->shape()};
  const auto& dimensions = reduce->attrs<ReduceAttrs>().dimensions;
  for (int64_t d = 0; d < r.input.rank(); ++d) {
    const bool is_reduced = absl::c_linear_search(dimensions, d);
    (is_reduced ? r.reduced : r.kept).push_back(d);
    (is_reduced ? r.reduced_sizes : r.kept_sizes).push_back(r.input.dimensions(d));
  }
  for (int64_t i = 0; i < r.count; ++i) r.types.push_back(reduce->operand(i)->shape().element_type());
  r.rows = Product(r.kept_sizes);
  r.columns = Product(r.reduced_sizes);
  return r;
}

CombinationOrder Reduction::OrderOf(bool strict) const {
  if (count == 1 ? MayReorder(*reduce, strict) : MayReorderEach(*reduce, strict)) return CombinationOrder::kAny;
  if (!strict && IsOnePassReduction(*reduce)) return CombinationOrder::kAny;
  for (PrimitiveType type : types) {
    if (strict && !IsIntegralType(type) && type != PRED) return CombinationOrder::kSerial;
  }
  return IsArgReduction(*reduce) ? CombinationOrder::kAssociative : CombinationOrder::kSerial;
}

bool Reduction::ReducesMinor() const {
  int64_t minor = input.rank() - 1;
  while (minor > 0 && input.dimensions(minor) == 1) --minor;
  return absl::c_linear_search(reduced, minor);
}

}  // namespace hilo
