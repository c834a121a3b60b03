#include "hlo/passes/partition/split_constants.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/partition/sharding_marks.h"

namespace hilo {
namespace {

// Ops of one array that is made of constants, and copies in a computation; the rest stays shared.
constexpr size_t kMaxOps = 64;
constexpr int64_t kMaxCopies = 20000;

class Splitter {
 public:
  explicit Splitter(HloComputation* computation) : computation_(computation) {}

  absl::StatusOr<bool> Run() {
    for (HloInstruction* op : computation_->MakePostOrder()) {
      if (IsMadeOfConstants(*op)) {
        constants_.insert(op);
        continue;
      }
      if (IsRepeatedScalar(*op)) {
        repeated_.insert(op);
        continue;
      }
      // Marks of groups follow what they put into these.
      if (!ShardingGroupOf(*op).empty()) continue;
      for (int64_t i = 0; i < op->operand_count(); ++i) Split(op, i);
    }
    // The last one to be used first.
    std::vector<HloInstruction*> order = computation_->MakePostOrder();
    absl::c_reverse(order);
    for (HloInstruction* op : order) {
      if ((constants_.contains(op) || repeated_.contains(op)) && op->IsDead())
        HILO_RETURN_IF_ERROR(computation_->RemoveInstruction(op));
    }
    return copies_ > 0;
  }

 private:
  static bool IsScalar(const HloInstruction& op) { return op.shape().IsArray() && op.shape().rank() == 0; }

  bool IsMadeOfConstants(const HloInstruction& op) const {
    if (!op.shape().IsArray() || op.HasControlDependencies() || !ShardingOf(op).empty()) return false;
    if (op.IsConstant() || op.opcode() == HloOpcode::kIota) return true;
    const bool keeps = op.opcode() == HloOpcode::kBroadcast || op.opcode() == HloOpcode::kReshape ||
                       op.opcode() == HloOpcode::kSlice || IsElementwise(op.opcode());
    return keeps && op.operand_count() > 0 &&
           absl::c_all_of(op.operands(), [&](const HloInstruction* operand) { return constants_.contains(operand); });
  }
  static bool IsRepeatedScalar(const HloInstruction& op) {
    return op.opcode() == HloOpcode::kBroadcast && IsScalar(*op.operand(0)) && !op.HasControlDependencies() &&
           ShardingOf(op).empty();
  }

  // Whether nothing else uses the arrays that `value`, which `user` alone may use, is made of; also if these are too
  // many.
  static bool IsOwnOf(const HloInstruction& user, const HloInstruction& value) {
    std::vector<const HloInstruction*> arrays = {&value};
    bool is_own = !value.IsRoot() && value.users().size() == 1 && absl::c_count(user.operands(), &value) == 1;
    for (size_t i = 0; i < arrays.size(); ++i) {
      if (arrays.size() > kMaxOps) return true;
      for (const HloInstruction* operand : arrays[i]->operands()) {
        if (IsScalar(*operand) || absl::c_linear_search(arrays, operand)) continue;
        is_own &= operand->users().size() == 1 && !operand->IsRoot();
        arrays.push_back(operand);
      }
    }
    return is_own;
  }

  void Split(HloInstruction* user, int64_t i) {
    HloInstruction* const value = user->mutable_operand(i);
    if (!(constants_.contains(value) || repeated_.contains(value)) || IsScalar(*value) || copies_ >= kMaxCopies ||
        IsOwnOf(*user, *value))
      return;
    absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
    computation_->ReplaceOperand(user, i, Copy(value, &copies));
  }

  // At most kMaxOps deep.
  HloInstruction* Copy(HloInstruction* op, absl::flat_hash_map<const HloInstruction*, HloInstruction*>* copies) {
    if (IsScalar(*op)) return op;
    if (const auto known = copies->find(op); known != copies->end()) return known->second;
    std::vector<HloInstruction*> operands;
    for (HloInstruction* operand : op->operands()) operands.push_back(Copy(operand, copies));
    ++copies_;
    return (*copies)[op] = computation_->AddInstruction(op->CloneWithNewOperands(op->shape(), operands), op->name());
  }

  HloComputation* const computation_;
  absl::flat_hash_set<const HloInstruction*> constants_, repeated_;  // made of constants; other scalars repeated
  int64_t copies_ = 0;
};

}  // namespace

absl::StatusOr<bool> SplitConstants(HloComputation* computation) { return Splitter(computation).Run(); }

}  // namespace hilo
