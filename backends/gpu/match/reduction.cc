#include "backends/gpu/match/reduction.h"

#include "absl/algorithm/container.h"
#include "hlo/analysis/arg_reduction.h"
#include "hlo/analysis/prefix_scan.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {

Reduction ReductionOf(const HloInstruction& instruction) {
  const HloInstruction* reduce = HeroOf(&instruction);
  Reduction r{.instruction = &instruction,
              .reduce = reduce,
              .count = reduce->operand_count() / 2,
              .input = reduce->operand(0)->shape()};
  std::vector<bool> is_reduced(r.input.rank(), false);
  for (int64_t dimension : reduce->attrs<ReduceAttrs>().dimensions) is_reduced[dimension] = true;
  for (int64_t d = 0; d < r.input.rank(); ++d) {
    (is_reduced[d] ? r.reduced : r.kept).push_back(d);
    (is_reduced[d] ? r.reduced_sizes : r.kept_sizes).push_back(r.input.dimensions(d));
  }
  for (int64_t i = 0; i < r.count; ++i) r.types.push_back(reduce->operand(i)->shape().element_type());
  r.rows = Product(r.kept_sizes);
  r.columns = Product(r.reduced_sizes);
  return r;
}

CombinationOrder Reduction::OrderOf(bool strict) const {
  if (MayReorder(*reduce, strict)) return CombinationOrder::kAny;
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

std::optional<Scan> ScanOf(const HloInstruction& instruction) {
  const HloInstruction* hero = HeroOf(&instruction);
  const std::optional<ScanWindow> window = ScanWindowOf(*hero);
  if (!window.has_value() || ShapeUtil::IsZeroElementArray(hero->operand(0)->shape())) return std::nullopt;
  Scan s{.instruction = &instruction, .hero = hero, .from_back = window->from_back};
  const auto sizes = hero->operand(0)->shape().dimensions();
  s.count = hero->operand_count() / 2;
  s.outer = Product(sizes.first(window->dimension));
  s.size = sizes[window->dimension];
  s.inner = Product(sizes.subspan(window->dimension + 1));
  s.dimensions.assign(sizes.begin(), sizes.end());
  for (int64_t i = 0; i < s.count; ++i) s.types.push_back(hero->operand(i)->shape().element_type());
  return s;
}

}  // namespace hilo::gpu
