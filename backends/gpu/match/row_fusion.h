// Rows that stay in registers: chains of reductions along rows and of element-wise work on the same rows, as one
// kernel.
//
// Softmax, layer norm, log-sum-exp and variance are of this kind, but nothing here knows them. Arrays are seen as rows
// x columns of a row-major array: *full* ones have an element a place, *row* ones an element a row. What follows from a
// reduction of a row must stay in that row: element-wise instructions, reshapes, broadcasts of row arrays along their
// rows, and further reductions of rows.
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

// The space of a reduction of one array along its minor-most dimensions; nullopt for others.
std::optional<RowSpace> RowSpaceOf(const HloInstruction& reduce);

// Whether element i of the result needs elements of the operands in the row of element i alone, at its very place or of
// row arrays.
bool StaysInRow(const HloInstruction& instruction, const RowSpace& space);

// How a kernel computes an instruction (a reduction, or a fusion with reductions inside) row by row. A row has
// `threads` threads, a power of two; thread t has the groups t, t + threads ... of `group` neighbouring columns,
// `groups` of them at most and one at least, all in registers.
struct RowPlan {
  RowSpace space;
  int64_t threads = 1, group = 1, groups = 1;
  // Reductions whose operands need those of earlier levels only.
  std::vector<std::vector<const HloInstruction*>> levels;
  std::vector<const HloInstruction*> roots;  // one an output leaf
};
std::optional<RowPlan> PlanRows(const HloInstruction* instruction, bool strict);

// "fuse-rows": makes fusions that PlanRows has a plan for, of one result or several.
std::unique_ptr<HloPass> MakeRowFusion(const Target* target, bool strict);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_ROW_FUSION_H_
