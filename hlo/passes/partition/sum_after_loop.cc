// One exchange for all iterations of a loop that adds up, as gradients of what the iterations share: each device adds
// up its parts.
//
//   while (i, s = a) { s' = add(s, all-reduce(p)) }    =>    while (i, t = 0) { t' = add(t, p) }
//   r = s                                                    r = add(a, all-reduce(t))
//
// Nothing else may use what the loop has added up so far.
#include "hlo/passes/partition/sum_after_loop.h"

#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/passes/loops/loop_state.h"
#include "hlo/passes/make_instruction.h"

namespace hilo {
namespace {

constexpr int64_t kBody = 1, kCondition = 0;  // of the computations that a loop calls

// The all-reduce whose sum the term is, perhaps with its elements in another order, and nothing else; null if it is
// none.
HloInstruction* ExchangeOf(HloInstruction* term) {
  const auto is_only_here = [](const HloInstruction& op) {
    return op.users().size() == 1 && !op.HasControlDependencies();
  };
  while ((term->opcode() == HloOpcode::kTranspose || term->opcode() == HloOpcode::kReshape) && is_only_here(*term))
    term = term->mutable_operand(0);
  const bool is_exchange = term->opcode() == HloOpcode::kAllReduce && term->operand_count() == 1 &&
                           term->shape().IsArray() && is_only_here(*term) &&
                           ReductionOp(*term->called_computation()) == HloOpcode::kAdd;
  return is_exchange ? term : nullptr;
}

// How often the elements of a tuple are read.
std::vector<int> ReadsOf(const HloInstruction& tuple) {
  std::vector<int> reads(tuple.shape().tuple_shapes_size());
  for (const HloInstruction* user : tuple.users()) ++reads[user->tuple_index()];
  return reads;
}

// By element of the state: the term of what the body adds to it, operand 0 or 1 of the sum, that is exchanged. nullopt
// where the loop does not only add up.
std::vector<std::optional<int64_t>> ExchangedTerms(const HloInstruction& loop) {
  const HloInstruction &state = *loop.called_computation(kBody)->parameter_instruction(0),
                       &tested = *loop.called_computation(kCondition)->parameter_instruction(0);
  HloInstruction& root = *loop.called_computation(kBody)->root_instruction();
  const std::vector<int> reads = ReadsOf(state), tests = ReadsOf(tested);
  absl::flat_hash_map<const HloInstruction*, int> results;
  for (const HloInstruction* result : root.operands()) ++results[result];
  std::vector<std::optional<int64_t>> terms(root.operand_count());
  for (int64_t i = 0; i < root.operand_count(); ++i) {
    HloInstruction& sum = *root.mutable_operand(i);
    if (sum.opcode() != HloOpcode::kAdd || !sum.shape().IsArray() || sum.users().size() != 1 || results[&sum] != 1 ||
        sum.HasControlDependencies() || reads[i] != 1 || tests[i] != 0 ||
        !IdentityOf(HloOpcode::kAdd, sum.shape().element_type()).has_value())
      continue;
    for (const int64_t exchanged : {0, 1}) {
      const HloInstruction& carried = *sum.operand(1 - exchanged);
      const bool is_state = carried.opcode() == HloOpcode::kGetTupleElement && carried.operand(0) == &state &&
                            carried.tuple_index() == i && carried.users().size() == 1;
      if (is_state && ExchangeOf(sum.mutable_operand(exchanged)) != nullptr) terms[i] = exchanged;
    }
  }
  return terms;
}

bool IsZero(const HloInstruction& value) {
  if (value.opcode() == HloOpcode::kBroadcast) return IsZero(*value.operand(0));
  return value.IsConstant() && value.literal() == LiteralUtil::Zero(value.shape().element_type());
}

absl::StatusOr<bool> MoveSums(HloInstruction* loop) {
  HloComputation* const computation = loop->parent();
  const HloComputation& body = *loop->called_computation(kBody);
  if (body.root_instruction()->opcode() != HloOpcode::kTuple || loop->HasControlDependencies() ||
      !IsReadByElements(*loop) || !IsReadByElements(*body.parameter_instruction(0)) ||
      !IsReadByElements(*loop->called_computation(kCondition)->parameter_instruction(0)))
    return false;
  const int64_t count = body.root_instruction()->operand_count();
  const std::vector<std::optional<int64_t>> exchanged = ExchangedTerms(*loop);
  if (absl::c_none_of(exchanged, [](const auto& term) { return term.has_value(); })) return false;

  HloComputation* const new_body = computation->parent()->CloneComputation(body);
  std::vector<HloInstruction*> before, start, exchanges(count);
  for (int64_t i = 0; i < count; ++i) {
    HloInstruction* const tuple = loop->mutable_operand(0);
    before.push_back(tuple->opcode() == HloOpcode::kTuple ? tuple->mutable_operand(i) : nullptr);
    if (before[i] == nullptr) {
      HILO_ASSIGN_OR_RETURN(before[i], MakeTupleElement(tuple, i));
    }
    start.push_back(before[i]);
    if (!exchanged[i].has_value()) continue;
    const PrimitiveType type = before[i]->shape().element_type();
    if (!IsZero(*before[i])) {
      HloInstruction* const identity = computation->AddConstant(*IdentityOf(HloOpcode::kAdd, type));
      HILO_ASSIGN_OR_RETURN(start[i], MakeBroadcast(identity, before[i]->shape(), {}));
    }
    exchanges[i] = ExchangeOf(new_body->root_instruction()->mutable_operand(i)->mutable_operand(*exchanged[i]));
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * state, computation->AddOp(HloOpcode::kTuple, start));
  HloInstruction* const new_loop =
      computation->AddInstruction(loop->CloneWithNewOperands(loop->shape(), {state}), loop->name());
  new_loop->set_called_computation(kBody, new_body);
  std::vector<HloInstruction*> after;
  for (int64_t i = 0; i < count; ++i) {
    HILO_ASSIGN_OR_RETURN(after.emplace_back(), MakeTupleElement(new_loop, i));
    if (!exchanged[i].has_value()) continue;
    after[i] = computation->AddInstruction(exchanges[i]->CloneWithNewOperands(after[i]->shape(), {after[i]}),
                                           exchanges[i]->name());
    HILO_RETURN_IF_ERROR(new_body->ReplaceInstruction(exchanges[i], exchanges[i]->mutable_operand(0)));
    if (IsZero(*before[i])) continue;
    HILO_ASSIGN_OR_RETURN(after[i], MakeBinary(HloOpcode::kAdd, before[i], after[i]));
  }
  const std::vector<HloInstruction*> users(loop->users().begin(), loop->users().end());
  for (HloInstruction* user : users) {
    HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(user, after[user->tuple_index()]));
    HILO_RETURN_IF_ERROR(computation->RemoveInstruction(user));
  }
  HILO_RETURN_IF_ERROR(computation->RemoveInstructionAndUnusedOperands(loop));
  return true;
}

}  // namespace

absl::StatusOr<bool> SumAfterLoops(HloComputation* computation) {
  // A loop that is replaced is removed with its users, and with operands that nothing else reads, which come before it.
  std::vector<HloInstruction*> loops = computation->MakePostOrder();
  std::erase_if(loops, [](const HloInstruction* op) { return op->opcode() != HloOpcode::kWhile; });
  bool changed = false;
  for (HloInstruction* loop : loops) {
    if (loop->users().empty()) continue;
    HILO_ASSIGN_OR_RETURN(const bool here, MoveSums(loop));
    changed |= here;
  }
  return changed;
}

}  // namespace hilo
