#include "backends/gpu/match/row_plan.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/ir/kernel_config.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

// Elements of each array per thread; fewer where the code of each is long, as code and registers grow with both. Code
// sizes are those of the cost model, 3 for an addition.
constexpr int64_t kMaxElements = 16;
constexpr int64_t kLongCode = 144, kVeryLongCode = 384, kManyArrays = 3;
constexpr int64_t kMaxThreads = 1024, kWarp = 32;
// The largest blocks have 64 registers a thread, which hold twice as many elements if little is computed from them: a
// cross entropy of 32,000 columns does not spill, one of two distributions does, and if they hold one value of each
// element from one reduction to the next, and load no other array once they hold it.
constexpr int64_t kMaxCodeOfLongRows = 96, kMaxHeldOfLongRows = 1;
constexpr int64_t kGroupBytes = 16, kMaxInGroup = 8;
constexpr int64_t kBlock = 256;
// With reductions across the rows a multiprocessor has one or two blocks, which must keep enough rows in flight, and
// leave a thread 128 registers.
constexpr int64_t kColumnBlock = 512;
// Fewer rows are not worth parts.
constexpr int64_t kMinRowsInParts = 64;
// Of what the threads of a block combine of columns in shared memory.
constexpr int64_t kMaxColumnBytes = 40 << 10;
// Shorter rows that do not fit into registers are so much code that it is better not computed again.
constexpr int64_t kMinStreamedColumns = 8192;

int64_t PowerOfTwoFrom(int64_t value) {
  int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

// What the members of a plan require of its threads.
struct Demand {
  int64_t code_size = 0;  // of an element
  int64_t arrays = 0;     // full ones in memory
  int64_t held = 0;       // values of an element from one level of reductions to the next
  int64_t late = 0;       // full arrays that nothing needs before the first reductions are there
  int64_t widest = 1;     // bytes of an element
  int64_t columns = 0;    // values of a column that are kept from row to row
  int64_t group = kMaxInGroup;

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
  int64_t most = kMaxElements;
  if (demand.code_size > kLongCode || demand.arrays > kManyArrays) most /= 2;
  if (demand.code_size > kVeryLongCode || demand.widest > 4) most /= 2;
  const int64_t columns = plan->space.columns;
  if (columns > most * kMaxThreads && demand.code_size <= kMaxCodeOfLongRows && demand.held <= kMaxHeldOfLongRows &&
      demand.late == 0)
    most *= 2;
  int64_t group = std::clamp<int64_t>(kGroupBytes / demand.widest, 1, demand.group);
  while (columns % group != 0) group /= 2;
  int64_t groups = columns / group;
  int64_t threads = std::min(kWarp, PowerOfTwoFrom(groups));
  if (threads * most < columns) threads = PowerOfTwoFrom((columns + most - 1) / most);
  // Every thread has a group. With three and more sums across the rows groups are smaller rather than threads fewer,
  // whose elements have a running value for each sum: with 16 bf16 and three sums, 48, 128 registers spill.
  constexpr int64_t kManySums = 3;
  while (threads > groups && group > 1 && demand.columns >= kManySums) {
    group /= 2;
    groups *= 2;
  }
  while (threads > groups) threads /= 2;
  if (threads > kMaxThreads) return false;
  plan->threads = threads;
  plan->group = group;
  plan->groups = (groups + threads - 1) / threads;
  return plan->groups * group <= 2 * most;
}

// Adds how many values of an element a thread holds at most from one level of reductions to a later one: those that
// several levels need, each computed by the first; and the arrays that later levels are the first to need.
void AddHeldValues(const RowGroup& group, Demand* demand) {
  const auto results = static_cast<int64_t>(group.levels.size());
  absl::flat_hash_map<const HloInstruction*, int64_t> level_of;  // of reductions
  for (size_t level = 0; level < group.levels.size(); ++level) {
    for (const HloInstruction* reduce : group.levels[level]) level_of[reduce] = static_cast<int64_t>(level);
  }
  struct Uses {
    int64_t first = std::numeric_limits<int64_t>::max(), last = -1;
    void Add(int64_t level) {
      first = std::min(first, level);
      last = std::max(last, level);
    }
  };
  absl::flat_hash_map<const HloInstruction*, Uses> uses;
  for (const HloInstruction* root : group.roots) uses[root].Add(results);
  std::vector<int64_t> held(group.levels.size(), 0);  // after each level
  for (auto it = group.members.rbegin(); it != group.members.rend(); ++it) {
    const HloInstruction* member = *it;
    const auto reduction = level_of.find(member);
    if (reduction != level_of.end()) {
      uses[member->operand(0)].Add(reduction->second);
      continue;
    }
    const Uses own = uses[member];
    if (own.last < 0) continue;
    for (const HloInstruction* operand : member->operands()) uses[operand].Add(own.first);
    if (member->IsParameter() && group.space.IsFull(member->shape()) && own.first > 0) ++demand->late;
    if (!group.space.IsFull(member->shape()) || IsFreeToRepeat(*member)) continue;
    for (int64_t level = own.first; level < own.last; ++level) ++held[level];
  }
  if (!held.empty()) demand->held = *std::max_element(held.begin(), held.end());
}

Demand DemandOf(const HloInstruction& instruction, const RowGroup& group) {
  Demand demand;
  AddHeldValues(group, &demand);
  for (const HloInstruction* member : group.members) {
    if (member->opcode() == HloOpcode::kReduce)
      demand.AddArray(member->operand(0)->shape(), group.space, /*in_memory=*/false);
    // What has one value a row is computed once for all elements of a thread.
    if (member->opcode() == HloOpcode::kReduce || group.space.IsFull(member->shape()))
      demand.code_size += CostFacts(member->opcode()).code_size;
  }
  // Running values are registers too.
  for (const HloInstruction* reduce : group.columns)
    demand.AddArray(reduce->operand(0)->shape(), group.space, /*in_memory=*/false);
  demand.columns = static_cast<int64_t>(group.columns.size());
  demand.arrays += demand.columns;
  for (const HloInstruction* operand : instruction.operands()) demand.AddArray(operand->shape(), group.space);
  for (const HloInstruction* output : group.roots) demand.AddArray(output->shape(), group.space);
  return demand;
}

// Returns true if blocks can keep what the reductions across the rows make of their parts of the rows.
bool KeepsColumns(const RowPlan& plan) {
  int64_t bytes = 0;
  for (const HloInstruction* reduce : plan.columns)
    bytes += plan.space.columns * std::max(4, PrimitiveTypeByteSize(reduce->shape().element_type()));
  return plan.space.rows >= kMinRowsInParts && plan.block == kColumnBlock &&
         (plan.BlockRows() == 1 || bytes <= kMaxColumnBytes);
}

}  // namespace

std::optional<RowPlan> PlanRows(const HloInstruction* instruction, bool strict) {
  std::optional<RowGroup> group = RowGroupOf(*instruction, strict);
  if (!group.has_value()) return std::nullopt;
  RowPlan plan{*std::move(group)};
  if (!ChooseThreads(DemandOf(*instruction, plan), &plan)) return std::nullopt;
  plan.block = std::max(plan.columns.empty() ? kBlock : kColumnBlock, plan.threads);
  return plan.columns.empty() || KeepsColumns(plan) ? std::optional(std::move(plan)) : std::nullopt;
}

std::optional<RowPlan> PlanStreamedRows(const HloInstruction* instruction, bool strict) {
  std::optional<RowGroup> group = RowGroupOf(*instruction, strict);
  if (!group.has_value() || !group->columns.empty() || group->space.columns < kMinStreamedColumns) return std::nullopt;
  RowPlan plan{*std::move(group)};
  const Demand demand = DemandOf(*instruction, plan);
  plan.group = std::clamp<int64_t>(kGroupBytes / demand.widest, 1, demand.group);
  while (plan.space.columns % plan.group != 0) plan.group /= 2;
  plan.threads = std::min(kMaxThreads, PowerOfTwoFrom(plan.space.columns / plan.group / 2 + 1));
  plan.block = plan.threads;
  plan.groups = 0;
  return plan;
}

std::optional<RowPlan> RowPlanOf(const HloInstruction* instruction) {
  std::optional<RowGroup> group = RowGroupOf(*instruction, /*strict=*/false);
  if (!group.has_value()) return std::nullopt;
  RowPlan plan{*std::move(group)};
  const KernelConfig& config = *instruction->kernel();
  plan.group = config.width;
  plan.block = config.tile[0];
  plan.threads = config.tile[1];
  plan.groups = config.tile[2];
  return plan;
}

}  // namespace hilo::gpu
