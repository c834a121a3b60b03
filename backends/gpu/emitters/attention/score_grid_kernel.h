// What the kernels of grids of scores share (attention_gradient_emitter.cc, batch_sum_emitter.cc): the scores of a
// block's lines and a strip of the other side, and the elements that depend on them.
#ifndef HILO_BACKENDS_GPU_EMITTERS_ATTENTION_SCORE_GRID_KERNEL_H_
#define HILO_BACKENDS_GPU_EMITTERS_ATTENTION_SCORE_GRID_KERNEL_H_

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "backends/gpu/emitters/attention/grid_lines.h"
#include "backends/gpu/emitters/attention/score_kernel.h"
#include "backends/gpu/match/grid_tile.h"
#include "hlo/analysis/loop_results.h"

namespace hilo::gpu {

class ScoreGridKernel : protected ScoreKernel {
 protected:
  // An operand of the side that strips are of.
  struct LoadedStrip {
    GridOperand operand;
    StripLoader loader;
    llvm::Value* batch;
    llvm::Value* number = nullptr;  // of the strip that is added, in shared memory
    Strip Current() { return loader.StripOf(number); }
  };
  // The scores of 16 lines and kPiece lines of a strip, as lanes have them.
  using PieceOfScore = std::array<Fragment, 2>;
  // An element of a piece.
  struct Element {
    int64_t half, in_fragment;
    int64_t line() const { return in_fragment / 2; }
    std::vector<codegen::LaneIndex> at;
    llvm::Value* exists;  // null: it does
  };

  // `own`: the side of the block's lines. The arguments outlive the kernel.
  ScoreGridKernel(KernelEmitter& k, const HloInstruction* instruction, const ScoreGrid& grid, GridSide own);

  // Returns the matrix of an operand, whose lines are the depth of a product or its positions.
  const GridMatrix& AddMatrix(const GridOperand& operand, bool lines_are_depth);
  // Adds the operands of strips, each with `strips` of them in shared memory.
  void AddStrips(int64_t strips);
  // Returns what loads the block's lines of an operand with such a matrix.
  StripLoader LinesLoader(const GridOperand& operand, const GridMatrix& matrix, int64_t strips);
  LoadedStrip& StripOf(const GridOperand& operand);

  // Returns the scores of the block's lines and kPiece lines of the strip from `piece` on.
  PieceOfScore Scores(const HloInstruction* score, int64_t piece);
  // Returns an element of a member, as f32.
  absl::StatusOr<llvm::Value*> ElementOf(const HloInstruction* member, const std::vector<codegen::LaneIndex>& at);
  // Makes the exponential, as f32, the machine's: it is rounded to 16 bits in the end, or summed up.
  absl::Status SetExponential(const HloInstruction* exponential, const std::vector<codegen::LaneIndex>& at);
  // Returns an element of a piece at line `first` + `piece` of the strips' side.
  Element ElementAt(llvm::Value* first, int64_t piece, int64_t half, int64_t in_fragment);
  // Makes the scores, and hyperbolic tangents, those of an element.
  absl::Status SetScores(const GridPass& pass, absl::Span<const PieceOfScore> scores, const Element& element);
  // Returns the number of the fusion's result that `array` is stored as, and the instructions from it to there.
  std::optional<int64_t> LeafOf(const HloInstruction* array, std::vector<const HloInstruction*>* users) const;

  const HloInstruction& instruction_;
  const ScoreGrid& grid_;
  const GridTile tile_;
  const LoopResults results_;
  const GridSide own_, other_;  // the side of the block's lines, and that of the strips
  const int64_t lines_, others_;
  std::array<std::vector<codegen::LaneIndex>, kOwnLines> at_;  // by axis, with 0 for those of the strips
  GridLines grid_lines_{k_, grid_};
  std::vector<Strip> block_;  // the block's lines in shared memory, by score
  std::deque<LoadedStrip> strips_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_ATTENTION_SCORE_GRID_KERNEL_H_
