#include "hlo/passes/dimensions/column_separation.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/array_sizes.h"

namespace hilo {
namespace {

// Both kernels wait for memory.
static_assert(kMaxSeparated < kMaxRepeatedWork);
// Small instructions between a broadcast and the reduction of rows that it comes from.
constexpr size_t kMaxBetween = 16;
// Elements of an array for each one that a gather of few reads of it.
constexpr int64_t kMinPerRead = 8;
// Users of an array that are looked at for each gather.
constexpr size_t kMaxArrayUsers = 32;

bool IsLight(const HloInstruction& x) { return IsElementwise(x.opcode()) && !x.HasControlDependencies(); }
bool IsCheap(const HloInstruction& x) { return IsLight(x) && !IsExpensiveToRepeat(x); }
bool IsLightOrReshape(const HloInstruction& x) {
  return IsLight(x) || (x.opcode() == HloOpcode::kReshape && !x.HasControlDependencies());
}

// Returns true for a gather of few elements, for which anything may be computed again.
bool ReadsFew(const HloInstruction& x) {
  return x.opcode() == HloOpcode::kGather && x.operand(0)->shape().IsArray() &&
         kMinPerRead * Elements(x) <= Elements(*x.operand(0));
}

// What an operand of a reduction is computed from.
struct OperandTree {
  std::vector<HloInstruction*> members;  // users first; element-wise, or reshapes
  std::vector<HloInstruction*> broadcasts;
  int64_t bytes = 0;  // of other arrays that it reads
};

// Returns true if the tree, whose members `joins` states, has few of them.
bool FindTree(HloInstruction* operand, bool (*joins)(const HloInstruction&), OperandTree* tree) {
  std::vector<HloInstruction*> work = {operand};
  absl::flat_hash_set<const HloInstruction*> visited;
  while (!work.empty()) {
    HloInstruction* x = work.back();
    work.pop_back();
    if (!visited.insert(x).second) continue;
    if (x->opcode() == HloOpcode::kBroadcast) {
      tree->broadcasts.push_back(x);
    } else if (joins(*x)) {
      tree->members.push_back(x);
      if (static_cast<int64_t>(tree->members.size()) > kMaxSeparated) return false;
      work.insert(work.end(), x->operands().begin(), x->operands().end());
    } else if (!IsFreeToRepeat(*x)) {
      tree->bytes += ShapeUtil::ByteSizeOf(x->shape());
    }
  }
  return true;
}

// Returns true if the broadcast repeats a value of each row that comes from a reduction of rows of `size` elements in
// all.
bool IsOfRows(const HloInstruction& broadcast, int64_t size) {
  std::vector<const HloInstruction*> work = {broadcast.operand(0)};
  for (size_t i = 0; i < work.size() && i < kMaxBetween; ++i) {
    const HloInstruction& x = *work[i];
    if (x.opcode() == HloOpcode::kReduce) {
      const std::optional<RowSpace> space = RowSpaceOf(x);
      if (space.has_value() && space->rows * space->columns == size) return true;
    } else if (IsElementwise(x.opcode()) || x.opcode() == HloOpcode::kReshape || x.opcode() == HloOpcode::kBroadcast) {
      work.insert(work.end(), x.operands().begin(), x.operands().end());
    }
  }
  return false;
}

// Returns the tree of what a reduction across rows reads, if it may be computed again; nullopt if it should be read.
std::optional<OperandTree> TreeOf(HloInstruction* operand) {
  OperandTree tree;
  if (!IsCheap(*operand) || !FindTree(operand, IsCheap, &tree) ||
      tree.bytes > 2 * ShapeUtil::ByteSizeOf(operand->shape()))
    return std::nullopt;
  return tree;
}
// The same of what a gather of few elements reads.
std::optional<OperandTree> TreeOfFew(HloInstruction* operand) {
  OperandTree tree;
  if (!IsLightOrReshape(*operand) || !FindTree(operand, IsLightOrReshape, &tree)) return std::nullopt;
  return tree;
}

bool ReadsRows(HloInstruction* operand) {
  const std::optional<OperandTree> tree = TreeOf(operand);
  return tree.has_value() && absl::c_any_of(tree->broadcasts, [&](const HloInstruction* broadcast) {
           return IsOfRows(*broadcast, Elements(*operand));
         });
}

// Gives the reduction or gather a tree of its own for an operand, unless it has one.
absl::StatusOr<bool> SeparateOperand(HloInstruction* reduce, int64_t number, const std::optional<OperandTree>& tree) {
  HloInstruction* operand = reduce->mutable_operand(number);
  if (!tree.has_value()) return false;
  const absl::flat_hash_set<const HloInstruction*> members(tree->members.begin(), tree->members.end());
  const auto is_shared = [&](const HloInstruction* x) {
    return x->IsRoot() || absl::c_any_of(x->users(), [&](const HloInstruction* user) {
             return user != reduce && !members.contains(user);
           });
  };
  if (absl::c_none_of(tree->members, is_shared)) return false;
  // Operands first.
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
  for (HloInstruction* x : reduce->parent()->MakePostOrder()) {
    if (!members.contains(x)) continue;
    std::vector<HloInstruction*> operands;
    for (HloInstruction* before : x->operands()) {
      const auto copy = copies.find(before);
      operands.push_back(copy == copies.end() ? before : copy->second);
    }
    copies[x] = reduce->parent()->AddInstruction(x->CloneWithNewOperands(x->shape(), operands), x->name());
  }
  reduce->parent()->ReplaceOperand(reduce, number, copies.at(operand));
  if (operand->IsDead()) HILO_RETURN_IF_ERROR(reduce->parent()->RemoveInstructionAndUnusedOperands(operand));
  return true;
}

// Returns true if a reduction of rows reads `x`, whose kernel computes it; false if too much reads it to tell.
bool IsReducedAlongRows(const HloInstruction* x) {
  return x->users().size() <= kMaxArrayUsers && absl::c_any_of(x->users(), [](const HloInstruction* user) {
           return user->opcode() == HloOpcode::kReduce && RowSpaceOf(*user).has_value();
         });
}

}  // namespace

absl::StatusOr<bool> SeparateFewReads(HloComputation* computation, const PassContext& context) {
  bool changed = false;
  for (HloInstruction* gather : computation->MakePostOrder()) {
    if (!ReadsFew(*gather)) continue;
    HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
    HloInstruction* operand = gather->mutable_operand(0);
    const std::optional<OperandTree> tree = TreeOfFew(operand);
    if (!tree.has_value()) continue;
    // The kernel of the rows would write the operand.
    const bool is_of_rows = absl::c_any_of(
        tree->broadcasts, [&](const HloInstruction* broadcast) { return IsOfRows(*broadcast, Elements(*operand)); });
    if (!is_of_rows && absl::c_none_of(tree->members, IsReducedAlongRows)) continue;
    HILO_ASSIGN_OR_RETURN(const bool separated, SeparateOperand(gather, 0, tree));
    changed |= separated;
  }
  return changed;
}

absl::StatusOr<bool> SeparateColumns(HloComputation* computation, const PassContext& context) {
  bool changed = false;
  for (HloInstruction* reduce : computation->MakePostOrder()) {
    if (reduce->opcode() != HloOpcode::kReduce || RowSpaceOf(*reduce).has_value()) continue;
    HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
    // The other operands of a reduction that reads rows too: the kernel of these would store what they are computed
    // from.
    const auto operands = absl::MakeConstSpan(reduce->operands()).first(reduce->operand_count() / 2);
    if (absl::c_none_of(operands, ReadsRows)) continue;
    for (int64_t i = 0; i < reduce->operand_count() / 2; ++i) {
      HILO_ASSIGN_OR_RETURN(const bool separated, SeparateOperand(reduce, i, TreeOf(reduce->mutable_operand(i))));
      changed |= separated;
    }
  }
  return changed;
}

namespace {

// Returns what alone reads `x`, through up to `max_between` instructions that `joins` accepts and nothing else reads;
// null if there is no such reader.
const HloInstruction* OnlyReader(const HloInstruction* x, int64_t max_between, bool (*joins)(const HloInstruction&)) {
  for (int64_t i = 0; i <= max_between; ++i) {
    if (!joins(*x) || x->IsRoot() || x->users().empty()) return nullptr;
    const HloInstruction* user = x->users()[0];
    if (absl::c_any_of(x->users(), [&](const HloInstruction* other) { return other != user; })) return nullptr;
    if (!IsLight(*user) && !joins(*user)) return user;
    x = user;
  }
  return nullptr;
}

}  // namespace

bool IsForColumns(const HloInstruction& instruction, const RowSpace& space, int64_t max_between) {
  const HloInstruction* reader = OnlyReader(&instruction, max_between, IsCheap);
  return reader != nullptr && reader->opcode() == HloOpcode::kReduce && RowSpaceOf(*reader) != space;
}

bool IsForFewReads(const HloInstruction& instruction) {
  const HloInstruction* reader = OnlyReader(&instruction, kMaxSeparated, IsLightOrReshape);
  return reader != nullptr && ReadsFew(*reader);
}

}  // namespace hilo
