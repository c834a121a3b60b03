// The lines of a grid of scores (hlo/analysis/score_grid.h) by number, and its operands as matrices of lines and
// features.
#ifndef HILO_BACKENDS_GPU_EMITTERS_ATTENTION_GRID_LINES_H_
#define HILO_BACKENDS_GPU_EMITTERS_ATTENTION_GRID_LINES_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "absl/types/span.h"
#include "backends/gpu/emitters/kernel_emitter.h"
#include "backends/gpu/emitters/products/dot_operand.h"
#include "hlo/analysis/score_grid.h"

namespace hilo::gpu {

// An operand as a matrix: its lines are the depth of a product, or its positions.
struct GridMatrix {
  DotSide side;
  ProductSide product;
  llvm::Value* batch = nullptr;  // of the block
  bool in_order = true;          // the lines are numbered as the grid's

  // Returns how many elements, at most `most`, may be loaded at once.
  int64_t Group(int64_t most) const;
};

class GridLines {
 public:
  // The most bytes that are loaded at once.
  static constexpr int64_t kGroupBytes = 16;

  // The arguments outlive the lines. Indices are by axis of the grid.
  GridLines(KernelEmitter& k, const ScoreGrid& grid) : k_(k), grid_(grid) {}

  // Sets the indices along the axes of a side from a number among its lines, or of a batch.
  void SetAxes(GridSide side, llvm::Value* number, std::vector<codegen::LaneIndex>* at);
  // Returns the row-major number of indices along some axes.
  llvm::Value* NumberOf(absl::Span<const int64_t> axes, absl::Span<const codegen::LaneIndex> at);
  // Returns the index in a member of an element of the grid.
  codegen::Index IndexOf(const HloInstruction* member, absl::Span<const codegen::LaneIndex> at) const;
  // Returns the matrix of an operand for a block whose batch has the indices `at`. `array` is what holds the operand in
  // memory; null: elements are computed. The result lives as long as these lines.
  const GridMatrix& Add(const GridOperand& operand, bool lines_are_depth, absl::Span<const codegen::LaneIndex> at,
                        const HloInstruction* array);

 private:
  std::vector<int64_t> AxesOf(GridSide side) const;

  KernelEmitter& k_;
  const ScoreGrid& grid_;
  std::deque<GridMatrix> matrices_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_ATTENTION_GRID_LINES_H_
