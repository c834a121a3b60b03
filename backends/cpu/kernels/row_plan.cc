#include "backends/cpu/kernels/row_plan.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/kernels/function_lanes.h"
#include "hlo/analysis/compared_values.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

// Vectors of the shortest rows: those of shorter ones are mostly combined lanes. Of many rows, which threads share, one
// kernel is faster than several nevertheless. Measured, softmax on two threads: f32[2048,48] 22.9 -> 14.2 us; on one
// thread f32[64,33] 1.16 -> 1.33.
constexpr int64_t kMinVectors = 4, kMinVectorsOfManyRows = 2, kManyRows = 1024;
// Elements of the longest rows, of which the arrays of a group fit into the second cache.
constexpr int64_t kMaxColumns = 1 << 15;

// Returns true if one loop over a row can compute both reductions.
bool SumsTogether(const HloInstruction& a, const HloInstruction& b) {
  return ShapeUtil::SameDimensions(a.operand(0)->shape(), b.operand(0)->shape()) &&
         a.attrs<ReduceAttrs>().dimensions == b.attrs<ReduceAttrs>().dimensions;
}

// Computes what each phase evaluates: up to reductions, and up to what earlier phases keep.
void Evaluate(CachedRowsPlan* plan) {
  absl::flat_hash_set<const HloInstruction*> kept;
  for (RowPhase& phase : plan->phases) {
    phase.evaluated.clear();
    phase.is_expensive = false;
    std::vector<const HloInstruction*> work;
    for (const HloInstruction* reduce : phase.reduces)
      work.insert(work.end(), reduce->operands().begin(), reduce->operands().end());
    if (phase.reduces.empty()) work = plan->group.roots;
    while (!work.empty()) {
      const HloInstruction* member = work.back();
      work.pop_back();
      if (!phase.evaluated.insert(member).second || kept.contains(member) || member->opcode() == HloOpcode::kReduce)
        continue;
      if (!phase.reduces.empty() && IsExpensiveToRepeat(*member) &&
          ShapeUtil::SameDimensions(member->shape(), phase.reduces[0]->operand(0)->shape()))
        phase.is_expensive = true;
      work.insert(work.end(), member->operands().begin(), member->operands().end());
    }
    for (const KeptRow& keep : phase.keeps) kept.insert(keep.member);
  }
}

// Returns a result that can keep `member` and keeps nothing yet.
std::optional<int64_t> FreeLeaf(const CachedRowsPlan& plan, const HloInstruction& member) {
  for (size_t leaf = 0; leaf < plan.group.roots.size(); ++leaf) {
    const auto keeps_leaf = [&](const KeptRow& keep) { return keep.leaf == static_cast<int64_t>(leaf); };
    const bool taken = std::any_of(plan.phases.begin(), plan.phases.end(), [&](const RowPhase& phase) {
      return std::any_of(phase.keeps.begin(), phase.keeps.end(), keeps_leaf);
    });
    const Shape& shape = plan.group.roots[leaf]->shape();
    if (!taken && ShapeUtil::SameDimensions(shape, member.shape()) &&
        shape.element_type() == member.shape().element_type())
      return static_cast<int64_t>(leaf);
  }
  return std::nullopt;
}

// Keeps what several phases evaluate and is expensive, or compared with a result of it. Returns false if no memory can.
bool KeepRepeated(const HloComputation& computation, CachedRowsPlan* plan) {
  const absl::flat_hash_set<const HloInstruction*> compared = ValuesComparedWithResults(computation);
  Evaluate(plan);
  // Users first: what they need need not be kept then.
  for (auto it = plan->group.members.rbegin(); it != plan->group.members.rend(); ++it) {
    const HloInstruction& member = **it;
    if (member.IsParameter() || !plan->group.space.IsFull(member.shape()) || member.opcode() == HloOpcode::kReduce ||
        !(IsExpensiveToRepeat(member) || compared.contains(&member)))
      continue;
    RowPhase* first = nullptr;
    int times = 0;
    for (RowPhase& phase : plan->phases) {
      if (!phase.evaluated.contains(&member)) continue;
      if (times++ == 0) first = &phase;
    }
    if (times < 2) continue;
    const std::optional<int64_t> leaf = FreeLeaf(*plan, member);
    if (!leaf.has_value() || !ShapeUtil::SameDimensions(member.shape(), first->reduces[0]->operand(0)->shape()))
      return false;
    first->keeps.push_back({&member, *leaf});
    Evaluate(plan);
  }
  return true;
}

}  // namespace

std::optional<CachedRowsPlan> PlanCachedRows(const HloInstruction& instruction, const codegen::TargetTraits& target,
                                             bool strict) {
  if (instruction.opcode() != HloOpcode::kFusion) return std::nullopt;
  std::optional<RowGroup> group = RowGroupOf(instruction, strict);
  if (!group.has_value() || !group->columns.empty() || group->space.columns > kMaxColumns) return std::nullopt;
  CachedRowsPlan plan{.group = *std::move(group), .width = 1 << 20};
  const int64_t columns = plan.group.space.columns;
  // Results are written along the row; what only feeds a reduction may have other dimensions, such as groups of a row
  // with a scale each.
  for (const HloInstruction* root : plan.group.roots) {
    if (plan.group.space.IsFull(root->shape()) && root->shape().dimensions().back() != columns) return std::nullopt;
  }
  for (const auto& level : plan.group.levels) {
    for (const HloInstruction* reduce : level) {
      if (reduce->operand(0)->shape().dimensions().back() != columns) return std::nullopt;
    }
  }
  const auto use = [&](const HloInstruction& array) {
    plan.width = std::min(plan.width, codegen::PreferredWidth(&array, target));
  };
  for (const auto& level : plan.group.levels) {
    const size_t first = plan.phases.size();
    for (const HloInstruction* reduce : level) {
      const PrimitiveType type = reduce->shape().element_type();
      const std::optional<HloOpcode> opcode = ReductionOp(*reduce->called_computation());
      if (!opcode.has_value() || !IdentityOf(*opcode, type).has_value() || IsSmallFloatType(type)) return std::nullopt;
      use(*reduce->operand(0));
      const auto together =
          std::find_if(plan.phases.begin() + static_cast<ptrdiff_t>(first), plan.phases.end(),
                       [&](const RowPhase& phase) { return SumsTogether(*phase.reduces[0], *reduce); });
      if (together != plan.phases.end()) {
        together->reduces.push_back(reduce);
      } else {
        plan.phases.push_back({.reduces = {reduce}});
      }
    }
  }
  for (const HloInstruction* root : plan.group.roots) {
    if (plan.group.space.IsFull(root->shape())) use(*root);
  }
  plan.phases.push_back({.reduces = {}});
  const int64_t least = plan.group.space.rows >= kManyRows ? kMinVectorsOfManyRows : kMinVectors;
  if (plan.width == 1 || columns < least * plan.width || !KeepRepeated(*instruction.called_computation(), &plan))
    return std::nullopt;
  plan.vectors = static_cast<int>(VectorsOfFunctions(instruction, columns, plan.width, target));
  plan.width *= plan.vectors;
  return plan;
}

}  // namespace hilo::cpu
