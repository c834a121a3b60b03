// Chains of row reductions and element-wise operations on the same rows, which one kernel can compute row by row.
//
// Softmax, layer norm, log-sum-exp and variance are of this kind, but none is treated specially. Arrays are viewed as
// rows x columns of a row-major array: *full* ones have one element per position, *row* ones one element per row. What
// follows a reduction of a row must stay in that row: element-wise instructions, reshapes, broadcasts of row arrays
// along their rows, and further reductions of rows. Reductions across the rows, such as those of a layer norm's
// gradient, may read full arrays of the chain; nothing in it reads their results.
#ifndef HILO_HLO_ANALYSIS_ROW_GROUP_H_
#define HILO_HLO_ANALYSIS_ROW_GROUP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

struct RowSpace {
  int64_t rows = 0, columns = 0;

  bool IsFull(const Shape& shape) const { return shape.IsArray() && ShapeUtil::ElementsIn(shape) == rows * columns; }
  bool IsRow(const Shape& shape) const { return shape.IsArray() && ShapeUtil::ElementsIn(shape) == rows; }
  bool operator==(const RowSpace&) const = default;
};

// Returns the space of a reduction of one array along its minor-most dimensions; nullopt for others.
std::optional<RowSpace> RowSpaceOf(const HloInstruction& reduce);

// Returns true for a reduction of one array of `space` across the rows: its result has an element per column, and its
// operation an identity.
bool ReducesColumns(const HloInstruction& reduce, const RowSpace& space);

// Returns true if element i of the result depends only on elements of the operands in the row of element i: those at
// the same position, or those of row arrays.
bool StaysInRow(const HloInstruction& instruction, const RowSpace& space);

// Returns how many adjacent elements of the result are one element of the operand; 0 if the elements of the operand are
// not repeated one after the other.
int64_t AdjacentRepeats(const HloInstruction& broadcast);

// A reduction, or a fusion with reductions inside.
struct RowGroup {
  RowSpace space;
  std::vector<const HloInstruction*> members;  // operands first
  // Reductions by level: their operands depend on earlier levels only.
  std::vector<std::vector<const HloInstruction*>> levels;
  std::vector<const HloInstruction*> columns;  // reductions across the rows, all of them results
  std::vector<const HloInstruction*> roots;    // one per output leaf: full or row arrays, or of `columns`
};
// Returns nullopt if `instruction` cannot be computed row by row.
std::optional<RowGroup> RowGroupOf(const HloInstruction& instruction, bool strict);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_ROW_GROUP_H_
