// One exchange for the terms of a sum, as gradients have that come by several ways: those that the devices of the same
// groups have parts of are added up as parts.
//
//   a = f32[4] all-reduce(x)                s = f32[4] add(x, y)
//   b = f32[4] all-reduce(y)          =>    a = f32[4] all-reduce(s)
//   ROOT r = f32[4] add(add(a, c), b)       ROOT r = f32[4] add(a, c)
#include "hlo/passes/partition/sum_before_exchange.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"

namespace hilo {
namespace {

// Terms of one sum that are looked at.
constexpr size_t kMaxTerms = 256;

// What exchanges have alike whose sum is one exchange of a sum; nothing for other instructions.
std::optional<std::string> ExchangeKind(const HloInstruction& op) {
  const bool is_all_reduce = op.opcode() == HloOpcode::kAllReduce;
  if ((!is_all_reduce && op.opcode() != HloOpcode::kReduceScatter) || op.operand_count() != 1 ||
      !op.shape().IsArray() || op.users().size() != 1 || op.IsRoot() || op.HasControlDependencies() ||
      ReductionOp(*op.called_computation()) != HloOpcode::kAdd)
    return std::nullopt;
  if (is_all_reduce) {
    const AllReduceAttrs& attrs = op.attrs<AllReduceAttrs>();
    return absl::StrCat("all-reduce ", attrs.channel_id.has_value(), " ", attrs.use_global_device_ids, " ",
                        FieldToText(attrs.replica_groups));
  }
  const ReduceScatterAttrs& attrs = op.attrs<ReduceScatterAttrs>();
  return absl::StrCat("reduce-scatter ", attrs.channel_id.has_value(), " ", attrs.use_global_device_ids, " ",
                      FieldToText(attrs.replica_groups), " ", attrs.dimensions[0]);
}

bool IsSum(const HloInstruction& op) {
  return op.opcode() == HloOpcode::kAdd && op.shape().IsArray() && op.shape().element_type() != PRED &&
         !op.HasControlDependencies();
}
// Whether it is a term of a longer sum, and nothing else.
bool IsPartOfSum(const HloInstruction& op) {
  return IsSum(op) && !op.IsRoot() && op.users().size() == 1 && IsSum(*op.users()[0]) &&
         op.users()[0]->operand(0) != op.users()[0]->operand(1);
}

// The terms of the sum from the first to the last.
std::vector<HloInstruction*> TermsOf(HloInstruction* sum) {
  std::vector<HloInstruction*> terms, left = {sum};
  while (!left.empty()) {
    HloInstruction* const op = left.back();
    left.pop_back();
    if (op == sum || (IsPartOfSum(*op) && terms.size() + left.size() < kMaxTerms)) {
      left.push_back(op->mutable_operand(1));
      left.push_back(op->mutable_operand(0));
    } else {
      terms.push_back(op);
    }
  }
  return terms;
}

absl::StatusOr<HloInstruction*> SumOf(const std::vector<HloInstruction*>& terms) {
  HloInstruction* sum = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(sum, MakeBinary(HloOpcode::kAdd, sum, terms[i]));
  }
  return sum;
}

// Replaces the sum if several of its terms are exchanged alike.
absl::StatusOr<bool> ExchangeSum(HloInstruction* sum) {
  const std::vector<HloInstruction*> terms = TermsOf(sum);
  std::map<std::string, std::vector<size_t>> alike;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (const std::optional<std::string> kind = ExchangeKind(*terms[i]); kind.has_value()) alike[*kind].push_back(i);
  }
  HloComputation* const computation = sum->parent();
  std::vector<HloInstruction*> left = terms;
  bool changed = false;
  for (const auto& [kind, members] : alike) {
    if (members.size() < 2) continue;
    std::vector<HloInstruction*> parts;
    for (const size_t member : members) {
      parts.push_back(terms[member]->mutable_operand(0));
      left[member] = nullptr;
    }
    HloInstruction* const first = terms[members[0]];
    HILO_ASSIGN_OR_RETURN(HloInstruction * part, SumOf(parts));
    left[members[0]] = computation->AddInstruction(first->CloneWithNewOperands(first->shape(), {part}), first->name());
    changed = true;
  }
  if (!changed) return false;
  std::erase(left, nullptr);
  HILO_ASSIGN_OR_RETURN(HloInstruction * result, SumOf(left));
  HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(sum, result));
  return true;
}

}  // namespace

absl::StatusOr<bool> SumBeforeExchange(HloComputation* computation) {
  bool changed = false;
  for (HloInstruction* op : computation->MakePostOrder()) {
    if (!IsSum(*op) || IsPartOfSum(*op)) continue;
    HILO_ASSIGN_OR_RETURN(const bool here, ExchangeSum(op));
    changed |= here;
  }
  return changed;
}

}  // namespace hilo
