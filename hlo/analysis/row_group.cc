#include "hlo/analysis/row_group.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// Of the dimensions that have more than one index, in order.
std::vector<int64_t> LargeDimensions(const Shape& shape) {
  std::vector<int64_t> large;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimensions(d) > 1) large.push_back(d);
  }
  return large;
}

// Result element i is operand element i / (elements of the result / elements of the operand).
bool RepeatsAlongRows(const HloInstruction& broadcast) {
  const auto& dimensions = broadcast.attrs<BroadcastAttrs>().dimensions;
  const std::vector<int64_t> large = LargeDimensions(broadcast.shape());
  size_t next = 0;
  for (int64_t d = 0; d < broadcast.operand(0)->shape().rank(); ++d) {
    if (broadcast.operand(0)->shape().dimensions(d) == 1) continue;
    if (next == large.size() || dimensions[d] != large[next++]) return false;
  }
  return true;
}

}  // namespace

int64_t AdjacentRepeats(const HloInstruction& broadcast) {
  const int64_t elements = ShapeUtil::ElementsIn(broadcast.operand(0)->shape());
  return elements > 0 && RepeatsAlongRows(broadcast) ? ShapeUtil::ElementsIn(broadcast.shape()) / elements : 0;
}

std::optional<RowSpace> RowSpaceOf(const HloInstruction& reduce) {
  if (reduce.opcode() != HloOpcode::kReduce || reduce.operand_count() != 2) return std::nullopt;
  const Shape& shape = reduce.operand(0)->shape();
  std::vector<bool> reduced(shape.rank(), false);
  for (int64_t d : reduce.attrs<ReduceAttrs>().dimensions) reduced[d] = true;
  RowSpace space{.rows = 1, .columns = 1};
  for (int64_t d : LargeDimensions(shape)) {
    if (!reduced[d] && space.columns > 1) return std::nullopt;
    (reduced[d] ? space.columns : space.rows) *= shape.dimensions(d);
  }
  if (ShapeUtil::IsZeroElementArray(shape) || space.columns < 2) return std::nullopt;
  return space;
}

bool ReducesColumns(const HloInstruction& reduce, const RowSpace& space) {
  if (reduce.opcode() != HloOpcode::kReduce || reduce.operand_count() != 2) return false;
  const Shape& shape = reduce.operand(0)->shape();
  if (!space.IsFull(shape) || space.rows < 2) return false;
  const std::optional<HloOpcode> operation = ReductionOp(*reduce.called_computation());
  if (!operation.has_value() || !IdentityOf(*operation, shape.element_type()).has_value()) return false;
  // The leading dimensions, all of the rows', are reduced.
  int64_t rows = 1;
  for (int64_t d : LargeDimensions(shape)) {
    const bool is_reduced = absl::c_linear_search(reduce.attrs<ReduceAttrs>().dimensions, d);
    if (is_reduced != (rows < space.rows)) return false;
    if (is_reduced) rows *= shape.dimensions(d);
  }
  return rows == space.rows;
}

bool StaysInRow(const HloInstruction& instruction, const RowSpace& space) {
  const Shape& shape = instruction.shape();
  if (!space.IsFull(shape) && !space.IsRow(shape)) return false;
  const int64_t elements = ShapeUtil::ElementsIn(shape);
  if (instruction.opcode() == HloOpcode::kBroadcast) {
    const Shape& operand = instruction.operand(0)->shape();
    return (space.IsRow(operand) || ShapeUtil::ElementsIn(operand) == elements) && RepeatsAlongRows(instruction);
  }
  if (instruction.opcode() == HloOpcode::kReshape) return true;
  if (!IsElementwise(instruction.opcode())) return false;
  return std::all_of(instruction.operands().begin(), instruction.operands().end(), [&](const HloInstruction* operand) {
    return operand->shape().rank() == 0 || ShapeUtil::ElementsIn(operand->shape()) == elements;
  });
}

std::optional<RowGroup> RowGroupOf(const HloInstruction& instruction, bool strict) {
  const bool is_fusion = instruction.opcode() == HloOpcode::kFusion;
  const HloInstruction* root = is_fusion ? instruction.called_computation()->root_instruction() : &instruction;
  RowGroup group{.members = {root}};
  if (is_fusion) {
    const std::vector<HloInstruction*> all = instruction.called_computation()->MakePostOrder();
    group.members.assign(all.begin(), all.end());
  }
  const auto first =
      absl::c_find_if(group.members, [](const HloInstruction* member) { return RowSpaceOf(*member).has_value(); });
  if (first == group.members.end()) return std::nullopt;
  group.space = *RowSpaceOf(**first);
  absl::flat_hash_map<const HloInstruction*, size_t> levels;  // 1 or more for what depends on a reduction
  for (const HloInstruction* member : group.members) {
    size_t level = 0;
    for (const HloInstruction* operand : member->operands()) level = std::max(level, levels[operand]);
    if (member->opcode() == HloOpcode::kFusion || (member->opcode() == HloOpcode::kTuple && member != root))
      return std::nullopt;
    if (member->opcode() == HloOpcode::kReduce) {
      if (!MayReorder(*member, strict) || levels[member->operand(1)] > 0) return std::nullopt;
      if (member != root && ReducesColumns(*member, group.space)) {
        if (absl::c_any_of(member->users(), [&](const HloInstruction* user) { return user != root; }) ||
            root->opcode() != HloOpcode::kTuple)
          return std::nullopt;
        group.columns.push_back(member);
        continue;
      }
      if (RowSpaceOf(*member) != group.space) return std::nullopt;
      if (group.levels.size() <= level) group.levels.resize(level + 1);
      group.levels[level++].push_back(member);
    } else if (level > 0 && member->opcode() != HloOpcode::kTuple && !StaysInRow(*member, group.space)) {
      return std::nullopt;
    }
    levels[member] = level;
  }
  if (group.levels.empty()) return std::nullopt;
  if (root->opcode() == HloOpcode::kTuple) {
    group.roots.assign(root->operands().begin(), root->operands().end());
  } else {
    group.roots = {root};
  }
  for (const HloInstruction* output : group.roots) {
    if (!group.space.IsFull(output->shape()) && !group.space.IsRow(output->shape()) &&
        !absl::c_linear_search(group.columns, output))
      return std::nullopt;
  }
  return group;
}

}  // namespace hilo
