// The array is read once, by the reduction that chooses:
//
//   a = (f32[n], s32[n]) reduce(x, iota, inf, 0), to_apply=argmin     a = ...
//   m = f32[n] reduce(x, inf), to_apply=minimum                   =>  m = f32[n] get-tuple-element(a), index=0
#include "backends/gpu/compile/chosen_extrema.h"

#include <cstddef>
#include <optional>

#include "absl/algorithm/container.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/arg_reduction.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"

namespace hilo::gpu {
namespace {

// Users of an array that are looked at.
constexpr size_t kMaxArrayUsers = 32;

// Returns true for a reduction of one array, by any computation, that its elements do not wait for: a softmax is in one
// kernel with its maximum.
bool IsReadByRowsAlone(const HloInstruction& reduce) {
  return absl::c_none_of(reduce.users(), [&](const HloInstruction* user) {
    return user->shape().IsArray() &&
           ShapeUtil::ElementsIn(user->shape()) == ShapeUtil::ElementsIn(reduce.operand(0)->shape());
  });
}

// Returns the reduction that chooses what `reduce` computes; null: there is none.
HloInstruction* ChoiceFor(const HloInstruction& reduce) {
  if (reduce.opcode() != HloOpcode::kReduce || reduce.operand_count() != 2 || !reduce.operand(1)->IsConstant() ||
      reduce.HasControlDependencies() || reduce.operand(0)->users().size() > kMaxArrayUsers ||
      !IsReadByRowsAlone(reduce))
    return nullptr;
  const std::optional<HloOpcode> op = ReductionOp(*reduce.called_computation());
  if (op != HloOpcode::kMaximum && op != HloOpcode::kMinimum) return nullptr;
  for (HloInstruction* user : reduce.operand(0)->users()) {
    if (user->opcode() != HloOpcode::kReduce || user->operand_count() != 4 || user->operand(0) != reduce.operand(0) ||
        user->HasControlDependencies() || !user->operand(2)->IsConstant() || !user->operand(3)->IsConstant() ||
        user->attrs<ReduceAttrs>().dimensions != reduce.attrs<ReduceAttrs>().dimensions ||
        user->operand(2)->literal() != reduce.operand(1)->literal())
      continue;
    if (ExtremumOfArgReduction(*user) == op) return user;
  }
  return nullptr;
}

class ChosenExtrema : public HloPass {
 public:
  absl::string_view name() const override { return "chosen-extrema"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      for (HloInstruction* reduce : computation->MakePostOrder()) {
        HloInstruction* const choice = ChoiceFor(*reduce);
        if (choice == nullptr) continue;
        HILO_ASSIGN_OR_RETURN(HloInstruction* const value, MakeTupleElement(choice, 0));
        HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(reduce, value));
        changed = true;
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeChosenExtrema() { return std::make_unique<ChosenExtrema>(); }

}  // namespace hilo::gpu
