#include "hlo/analysis/contiguous_view.h"

#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"
#include "hlo/analysis/hero.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

bool IsContiguousSlice(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kSlice) {
    const auto& ranges = instruction.attrs<SliceAttrs>().slice;
    if (std::any_of(ranges.begin(), ranges.end(), [](const SliceRange& range) { return range.stride != 1; }))
      return false;
  } else if (instruction.opcode() != HloOpcode::kDynamicSlice) {
    return false;
  }
  // After the first dimension of more than one index, all are whole.
  const Shape &part = instruction.shape(), &whole = instruction.operand(0)->shape();
  bool has_many = false;
  for (int64_t d = 0; d < part.rank(); ++d) {
    if (has_many && part.dimensions(d) != whole.dimensions(d)) return false;
    has_many = has_many || part.dimensions(d) > 1;
  }
  return true;
}

bool IsContiguousView(const HloInstruction& instruction) {
  const HloInstruction* view = &instruction;
  while (view->opcode() == HloOpcode::kReshape) view = view->operand(0);
  return IsContiguousSlice(*view);
}

int64_t GatheredLine(const HloInstruction& gather) {
  const auto& attrs = gather.attrs<GatherAttrs>();
  const Shape& operand = gather.operand(0)->shape();
  int64_t line = 1, result = gather.shape().rank(), offsets = std::ssize(attrs.offset_dims);
  for (int64_t d = operand.rank() - 1; d >= 0 && offsets > 0; --d) {
    if (absl::c_linear_search(attrs.collapsed_slice_dims, d) || absl::c_linear_search(attrs.operand_batching_dims, d) ||
        attrs.offset_dims[--offsets] != --result || attrs.slice_sizes[d] != operand.dimensions(d))
      break;
    line *= operand.dimensions(d);
  }
  return line;
}

int64_t SlicedLine(const HloInstruction& slice) {
  const auto& ranges = slice.attrs<SliceAttrs>().slice;
  if (ranges.empty() || absl::c_any_of(ranges, [](const SliceRange& range) { return range.stride != 1; })) return 1;
  return std::gcd(std::gcd(ranges.back().start, slice.shape().dimensions().back()),
                  slice.operand(0)->shape().dimensions().back());
}

bool IsDotOfViews(const HloInstruction& instruction) {
  const HloInstruction& dot = *HeroOf(&instruction);
  if (dot.opcode() != HloOpcode::kDot) return false;
  if (&dot == &instruction) return true;
  const auto members = instruction.called_computation()->instructions();
  return std::all_of(members.begin(), members.end(), [&](const HloInstruction* member) {
    return member == &dot || member->IsParameter() || member->IsConstant() || IsContiguousView(*member);
  });
}

}  // namespace hilo
