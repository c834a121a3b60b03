// Sorts of lists whose elements lie apart become sorts along rows, between transposes:
//
//   sort(f32[1000,20] x), dimensions={0}
//     =>  transpose(sort(f32[20,1000] transpose(x)), dimensions={1})
//
// Lists are then read and written as they are in memory, and threads that sort different ones share no lines of a
// cache.
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "hilo/status_macros.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/fusion/fusion_pass.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Exchanges dimension `d` and the last one.
absl::StatusOr<HloInstruction*> Exchanged(HloInstruction* array, int64_t d) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < array->shape().rank(); ++i) order.push_back(i);
  std::swap(order[d], order.back());
  return MakeTranspose(array, std::move(order));
}

absl::Status SortAlongRows(HloInstruction* sort) {
  HloComputation* const computation = sort->parent();
  const int64_t d = sort->attrs<SortAttrs>().dimensions[0];
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : sort->operands()) {
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), Exchanged(operand, d));
  }
  auto attributes = std::make_unique<SortAttrs>(sort->attrs<SortAttrs>());
  attributes->dimensions = {sort->operand(0)->shape().rank() - 1};
  HloComputation* const called[] = {sort->called_computation()};
  HILO_ASSIGN_OR_RETURN(HloInstruction * rows,
                        computation->AddOp(HloOpcode::kSort, operands, std::move(attributes), called));
  rows->CopyOriginFrom(*sort);
  if (!sort->shape().IsTuple()) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * result, Exchanged(rows, d));
    HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(sort, result));
    return computation->RemoveInstructionAndUnusedOperands(sort);
  }
  std::vector<HloInstruction*> results;
  for (int64_t i = 0; i < sort->operand_count(); ++i) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * element, MakeTupleElement(rows, i));
    HILO_ASSIGN_OR_RETURN(results.emplace_back(), Exchanged(element, d));
  }
  const std::vector<HloInstruction*> users(sort->users().begin(), sort->users().end());
  for (HloInstruction* user : users) {
    if (user->opcode() != HloOpcode::kGetTupleElement || user->HasControlDependencies()) continue;
    HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(user, results[user->attrs<GetTupleElementAttrs>().index]));
    HILO_RETURN_IF_ERROR(computation->RemoveInstruction(user));
  }
  if (sort->IsRoot() || !sort->users().empty()) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * tuple, computation->AddOp(HloOpcode::kTuple, results));
    HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(sort, tuple));
  }
  return computation->RemoveInstructionAndUnusedOperands(sort);
}

class SortTransposition : public FusionPass {
 public:
  explicit SortTransposition(std::function<bool(const HloInstruction& sort)> accepts) : accepts_(std::move(accepts)) {}
  absl::string_view name() const override { return "sort-rows"; }

 private:
  absl::StatusOr<bool> FuseComputation(HloComputation* computation, const PassContext& context) override {
    std::vector<HloInstruction*> sorts;
    for (HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() != HloOpcode::kSort || instruction->HasControlDependencies()) continue;
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      if (accepts_(*instruction)) sorts.push_back(instruction);
    }
    for (HloInstruction* sort : sorts) HILO_RETURN_IF_ERROR(SortAlongRows(sort));
    return !sorts.empty();
  }

  const std::function<bool(const HloInstruction& sort)> accepts_;
};

}  // namespace

std::unique_ptr<HloPass> MakeSortTransposition(std::function<bool(const HloInstruction& sort)> accepts) {
  return std::make_unique<SortTransposition>(std::move(accepts));
}

}  // namespace hilo
