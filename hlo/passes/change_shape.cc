#include "hlo/passes/change_shape.h"

#include "hilo/status_macros.h"

namespace hilo {

absl::Status ChangeShape(HloInstruction* kernel, const Shape& to) {
  HloComputation* const computation = kernel->parent();
  HloInstruction* const result =
      computation->AddInstruction(HloInstruction::Create(HloOpcode::kBitcast, kernel->shape(), {&kernel, 1}));
  HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(kernel, result));
  computation->ReplaceOperand(result, 0, kernel);
  *kernel->mutable_shape() = to;
  return absl::OkStatus();
}

}  // namespace hilo
