#include "hlo/passes/loops/loop_state.h"

#include "absl/algorithm/container.h"
#include "hilo/status_macros.h"
#include "hlo/passes/make_instruction.h"

namespace hilo {
namespace {

// Replaces a tuple by one with more elements.
absl::StatusOr<HloInstruction*> Extend(HloInstruction* tuple, absl::Span<HloInstruction* const> elements) {
  std::vector<HloInstruction*> all(tuple->operands().begin(), tuple->operands().end());
  all.insert(all.end(), elements.begin(), elements.end());
  return tuple->parent()->AddOp(HloOpcode::kTuple, all);
}

}  // namespace

bool IsReadByElements(const HloInstruction& tuple) {
  return !tuple.IsRoot() && absl::c_all_of(tuple.users(), [](const HloInstruction* user) {
    return user->opcode() == HloOpcode::kGetTupleElement && !user->HasControlDependencies();
  });
}

bool IsUnchangedElement(const HloInstruction& loop, int64_t element) {
  const HloComputation& body = *loop.called_computation(1);
  if (body.root_instruction()->opcode() != HloOpcode::kTuple) return false;
  const HloInstruction& next = *body.root_instruction()->operand(element);
  return next.opcode() == HloOpcode::kGetTupleElement && next.operand(0) == body.parameter_instruction(0) &&
         next.tuple_index() == element;
}

std::optional<LoopState> LoopState::Of(HloInstruction* loop) {
  const LoopState state(loop);
  if (!loop->shape().IsTuple() || loop->operand(0)->opcode() != HloOpcode::kTuple ||
      state.root()->opcode() != HloOpcode::kTuple)
    return std::nullopt;
  if (!IsReadByElements(*loop) || !IsReadByElements(*state.state()) || !IsReadByElements(*state.condition_state()))
    return std::nullopt;
  return state;
}

int64_t LoopState::ElementOf(const HloInstruction* x) const {
  return x->opcode() == HloOpcode::kGetTupleElement && x->operand(0) == state() ? x->tuple_index() : -1;
}

bool LoopState::IsUnchanged(const HloInstruction* x) const {
  const int64_t element = ElementOf(x);
  return element >= 0 && IsUnchangedElement(*loop_, element);
}

absl::StatusOr<std::vector<HloInstruction*>> LoopState::Add(absl::Span<HloInstruction* const> inits) const {
  int64_t next_element = size();
  HILO_ASSIGN_OR_RETURN(HloInstruction * all, Extend(loop_->operands()[0], inits));
  loop_->parent()->ReplaceOperand(loop_, 0, all);
  for (HloInstruction* tuple : {loop_, state(), condition_state()}) *tuple->mutable_shape() = all->shape();
  std::vector<HloInstruction*> elements;
  for (size_t i = 0; i < inits.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(elements.emplace_back(), MakeTupleElement(state(), next_element++));
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * next, Extend(root(), elements));
  HloInstruction* last = root();
  HILO_RETURN_IF_ERROR(body()->set_root_instruction(next, /*allow_shape_change=*/true));
  HILO_RETURN_IF_ERROR(body()->RemoveInstruction(last));  // which would count as a user
  return elements;
}

}  // namespace hilo
