// Fuses chains of row reductions and element-wise operations on the same rows into one kernel that keeps rows in
// registers.
//
// Softmax, layer norm, log-sum-exp and variance are of this kind, but none is treated specially. Arrays are viewed as
// rows x columns of a row-major array: *full* ones have one element per position, *row* ones one element per row. What
// follows a reduction of a row must stay in that row: element-wise instructions, reshapes, broadcasts of row arrays
// along their rows, and further reductions of rows.
#ifndef HILO_BACKENDS_GPU_MATCH_ROW_FUSION_H_
#define HILO_BACKENDS_GPU_MATCH_ROW_FUSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hlo/passes/hlo_pass.h"

namespace hilo::gpu {

struct RowSpace {
  int64_t rows = 0, columns = 0;

  bool IsFull(const Shape& shape) const { return shape.IsArray() && ShapeUtil::ElementsIn(shape) == rows * columns; }
  bool IsRow(const Shape& shape) const { return shape.IsArray() && ShapeUtil::ElementsIn(shape) == rows; }
  bool operator==(const RowSpace&) const = default;
};

// Returns the space of a reduction of one array along its minor-most dimensions; nullopt for others.
std::optional<RowSpace> RowSpaceOf(const HloInstruction& reduce);

// Returns true if element i of the result depends only on elements of the operands in the row of element i: those at
// the same position, or those of row arrays.
bool StaysInRow(const HloInstruction& instruction, const RowSpace& space);

// How a kernel computes an instruction (a reduction, or a fusion with reductions inside) row by row. A row has
// `threads` threads, a power of two; thread t holds the groups t, t + threads ... of `group` adjacent columns, at most
// `groups` of them and at least one, all in registers.
struct RowPlan {
  RowSpace space;
  int64_t threads = 1, group = 1, groups = 1;
  // Reductions by level: their operands depend on earlier levels only.
  std::vector<std::vector<const HloInstruction*>> levels;
  std::vector<const HloInstruction*> roots;  // one per output leaf
};
// Returns nullopt if the instruction has no such kernel, or if its rows do not fit into registers.
std::optional<RowPlan> PlanRows(const HloInstruction* instruction, bool strict);
// Returns the plan of an instruction whose KernelConfig has its numbers: {block, threads, groups}, and the group as
// width.
std::optional<RowPlan> RowPlanOf(const HloInstruction* instruction);

// "fuse-rows": makes fusions for which PlanRows has a plan, with one or several results.
std::unique_ptr<HloPass> MakeRowFusion(const Target* target, bool strict);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_ROW_FUSION_H_
