// Selects what may be computed row by row, and the number of threads per row.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "backends/gpu/match/row_fusion.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ir/kernel_config.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

// Elements of each array per thread; fewer where the code of each is long, as code and registers grow with both. Code
// sizes are those of the cost model, 3 for an addition.
constexpr int64_t kMostElements = 16;
constexpr int64_t kLongCode = 144, kVeryLongCode = 384, kManyArrays = 3;
constexpr int64_t kMostThreads = 1024, kWarp = 32;
constexpr int64_t kGroupBytes = 16, kMostInGroup = 8;

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

int64_t PowerOfTwoFrom(int64_t value) {
  int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

// What the members of a plan require of its threads.
struct Demand {
  int64_t code_size = 0;  // of an element
  int64_t arrays = 0;     // full ones in memory
  int64_t widest = 1;     // bytes of an element
  int64_t group = kMostInGroup;

  void AddArray(const Shape& shape, const RowSpace& space, bool in_memory = true) {
    if (!space.IsFull(shape)) return;
    if (in_memory) {
      ++arrays;
      widest = std::max<int64_t>(widest, PrimitiveTypeByteSize(shape.element_type()));
    }
    // Groups are within lines of the array.
    while (group > 1 && shape.dimensions().back() % group != 0) group /= 2;
  }
};

bool ChooseThreads(const Demand& demand, RowPlan* plan) {
  int64_t most = kMostElements;
  if (demand.code_size > kLongCode || demand.arrays > kManyArrays) most /= 2;
  if (demand.code_size > kVeryLongCode || demand.widest > 4) most /= 2;
  const int64_t columns = plan->space.columns;
  if (columns > most * kMostThreads) most *= 2;
  int64_t group = std::clamp<int64_t>(kGroupBytes / demand.widest, 1, demand.group);
  while (columns % group != 0) group /= 2;
  const int64_t groups = columns / group;
  int64_t threads = std::min(kWarp, PowerOfTwoFrom(groups));
  if (threads * most < columns) threads = PowerOfTwoFrom((columns + most - 1) / most);
  // Every thread has a group.
  while (threads > groups) threads /= 2;
  if (threads > kMostThreads) return false;
  plan->threads = threads;
  plan->group = group;
  plan->groups = (groups + threads - 1) / threads;
  return plan->groups * group <= 2 * most;
}

// Returns the plan without its numbers.
std::optional<RowPlan> DescribeRows(const HloInstruction* instruction, bool strict, Demand* demand) {
  const bool is_fusion = instruction->opcode() == HloOpcode::kFusion;
  const HloInstruction* root = is_fusion ? instruction->called_computation()->root_instruction() : instruction;
  std::vector<const HloInstruction*> order = {root};
  if (is_fusion) {
    const std::vector<HloInstruction*> all = instruction->called_computation()->MakePostOrder();
    order.assign(all.begin(), all.end());
  }
  RowPlan plan;
  absl::flat_hash_map<const HloInstruction*, int64_t> levels;  // 1 or more for what depends on a reduction
  for (const HloInstruction* member : order) {
    int64_t level = 0;
    for (const HloInstruction* operand : member->operands()) level = std::max(level, levels[operand]);
    if (member->opcode() == HloOpcode::kFusion || (member->opcode() == HloOpcode::kTuple && member != root))
      return std::nullopt;
    if (member->opcode() == HloOpcode::kReduce) {
      const std::optional<RowSpace> space = RowSpaceOf(*member);
      if (!space.has_value() || !MayReorder(*member, strict) || levels[member->operand(1)] > 0) return std::nullopt;
      if (plan.levels.empty()) plan.space = *space;
      if (plan.space != *space) return std::nullopt;
      if (static_cast<int64_t>(plan.levels.size()) <= level) plan.levels.resize(level + 1);
      plan.levels[level++].push_back(member);
      demand->AddArray(member->operand(0)->shape(), *space, /*in_memory=*/false);
    } else if (level > 0 && member->opcode() != HloOpcode::kTuple && !StaysInRow(*member, plan.space)) {
      return std::nullopt;
    }
    levels[member] = level;
    demand->code_size += CostFacts(member->opcode()).code_size;
  }
  if (plan.levels.empty()) return std::nullopt;
  for (const HloInstruction* operand : instruction->operands()) demand->AddArray(operand->shape(), plan.space);
  if (root->opcode() == HloOpcode::kTuple) {
    plan.roots.assign(root->operands().begin(), root->operands().end());
  } else {
    plan.roots = {root};
  }
  for (const HloInstruction* output : plan.roots) {
    if (!plan.space.IsFull(output->shape()) && !plan.space.IsRow(output->shape())) return std::nullopt;
    demand->AddArray(output->shape(), plan.space);
  }
  return plan;
}

}  // namespace

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

std::optional<RowPlan> PlanRows(const HloInstruction* instruction, bool strict) {
  Demand demand;
  std::optional<RowPlan> plan = DescribeRows(instruction, strict, &demand);
  if (!plan.has_value() || !ChooseThreads(demand, &*plan)) return std::nullopt;
  return plan;
}

std::optional<RowPlan> RowPlanOf(const HloInstruction* instruction) {
  Demand demand;
  std::optional<RowPlan> plan = DescribeRows(instruction, /*strict=*/false, &demand);
  if (!plan.has_value()) return std::nullopt;
  const KernelConfig& config = *instruction->kernel();
  plan->group = config.width;
  plan->threads = config.tile[1];
  plan->groups = config.tile[2];
  return plan;
}

}  // namespace hilo::gpu
