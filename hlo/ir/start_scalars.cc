#include "hlo/ir/start_scalars.h"

#include <utility>

#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

absl::StatusOr<std::vector<HloInstruction*>> WithStartScalars(HloOpcode opcode, std::vector<HloInstruction*> operands,
                                                              HloComputation* computation) {
  const size_t first = opcode == HloOpcode::kDynamicSlice ? 1 : opcode == HloOpcode::kDynamicUpdateSlice ? 2 : 0;
  if (first == 0 || operands.size() != first + 1) return operands;
  HloInstruction* const starts = operands[first];
  const Shape& shape = starts->shape();
  const Shape& array = operands[0]->shape();
  if (!shape.IsArray() || shape.rank() != 1 || !array.IsArray() || shape.dimensions(0) != array.rank()) return operands;
  operands.pop_back();
  const Shape scalar = ShapeUtil::MakeShape(shape.element_type(), {});
  for (int64_t d = 0; d < array.rank(); ++d) {
    auto attributes = std::make_unique<SliceAttrs>();
    attributes->slice.push_back({d, d + 1, 1});
    HILO_ASSIGN_OR_RETURN(HloInstruction* const element,
                          computation->AddOp(HloOpcode::kSlice, {starts}, std::move(attributes)));
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(),
                          computation->AddOp(HloOpcode::kReshape, {element}, nullptr, {}, &scalar));
  }
  return operands;
}

}  // namespace hilo
