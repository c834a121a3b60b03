// Rules for sorts.
#include <memory>
#include <vector>

#include "absl/algorithm/container.h"
#include "hilo/status_macros.h"
#include "hlo/passes/simplify/rules.h"

namespace hilo::simplify {
namespace {

using Result = absl::StatusOr<HloInstruction*>;

// Returns true if `x` is a reverse along `dimension` and no other one.
bool Reverses(const HloInstruction* x, int64_t dimension) {
  return x->opcode() == HloOpcode::kReverse && x->attrs<ReverseAttrs>().dimensions == std::vector<int64_t>{dimension};
}

// Returns true if all that reads `value`, a sort or an element of one, is a reverse along `dimension`.
bool IsReadInReverse(const HloInstruction* value, int64_t dimension) {
  return !value->IsRoot() && absl::c_all_of(value->users(), [&](auto* user) { return Reverses(user, dimension); });
}

// The comparison with both sides exchanged; null if it is one of its parameters.
HloComputation* ExchangeSides(const HloComputation& comparison) {
  if (comparison.root_instruction()->IsParameter()) return nullptr;
  HloComputation* exchanged = comparison.parent()->CloneComputation(comparison, "exchanged");
  for (HloInstruction* instruction : exchanged->instructions()) {
    for (int64_t o = 0; o < instruction->operand_count(); ++o) {
      if (!instruction->operand(o)->IsParameter()) continue;
      const int64_t other = instruction->operand(o)->parameter_number() ^ 1;
      exchanged->ReplaceOperand(instruction, o, exchanged->parameter_instruction(other));
    }
  }
  return exchanged;
}

// As JAX writes a sort in descending order. A stable sort keeps equal elements in the order of the reversed arrays, so
// that the reversed results have them in the order of the arrays themselves.
Result ReverseOfSort(HloInstruction* reverse) {
  HloInstruction* element = reverse->operand(0);
  const bool is_tuple = element->opcode() == HloOpcode::kGetTupleElement;
  HloInstruction* sort = is_tuple ? element->operand(0) : element;
  if (sort->opcode() != HloOpcode::kSort || sort->IsRoot()) return nullptr;
  const int64_t dimension = sort->attrs<SortAttrs>().dimensions[0];
  const bool is_reversed =
      Reverses(reverse, dimension) &&
      absl::c_all_of(sort->operands(), [&](auto* operand) { return Reverses(operand, dimension); }) &&
      (is_tuple ? absl::c_all_of(sort->users(), [&](auto* user) { return IsReadInReverse(user, dimension); })
                : IsReadInReverse(sort, dimension));
  if (!is_reversed) return nullptr;
  HloComputation* comparison = ExchangeSides(*sort->called_computation());
  if (comparison == nullptr) return nullptr;
  std::vector<HloInstruction*> arrays;
  for (HloInstruction* operand : sort->operands()) arrays.push_back(operand->operand(0));
  HILO_ASSIGN_OR_RETURN(HloInstruction * sorted,
                        sort->parent()->AddOp(HloOpcode::kSort, arrays, sort->attributes()->Clone(), {comparison}));
  // All results at once: the sort is not made again for the next one.
  std::vector<HloInstruction*> others;
  for (HloInstruction* user : sort->users()) {
    if (is_tuple) {
      for (HloInstruction* read : user->users()) {
        if (read != reverse) others.push_back(read);
      }
    } else if (user != reverse) {
      others.push_back(user);
    }
  }
  for (HloInstruction* other : others) {
    HloInstruction* result = sorted;
    if (is_tuple) {
      HILO_ASSIGN_OR_RETURN(result, MakeTupleElement(sorted, other->operand(0)->tuple_index()));
    }
    HILO_RETURN_IF_ERROR(sort->parent()->ReplaceAllUsesWith(other, result));
  }
  return is_tuple ? MakeTupleElement(sorted, element->tuple_index()) : sorted;
}

const Rule kSortRules[] = {
    {HloOpcode::kReverse, "reverse(sort(reverse(x), ...)) => sort(x, ...), the other way round", ReverseOfSort},
};

}  // namespace

absl::Span<const Rule> SortRules() { return kSortRules; }

}  // namespace hilo::simplify
