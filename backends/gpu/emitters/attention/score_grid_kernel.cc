#include "backends/gpu/emitters/attention/score_grid_kernel.h"

#include "absl/algorithm/container.h"
#include "backends/gpu/match/operands.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {

using codegen::Carried;
using codegen::ElementValue;
using codegen::LaneIndex;

ScoreGridKernel::ScoreGridKernel(KernelEmitter& k, const HloInstruction* instruction, const ScoreGrid& grid,
                                 GridSide own)
    : ScoreKernel(k, ScoreOperand(grid, grid.scores[0], GridSide::kLeft).operand->shape().element_type()),
      instruction_(*instruction),
      grid_(grid),
      tile_(GridTile::Of(*instruction->kernel())),
      results_(LoopResultsOf(*instruction)),
      own_(own),
      other_(OtherSide(own)),
      lines_(grid.SizeOf(own_)),
      others_(grid.SizeOf(other_)) {
  for (std::vector<LaneIndex>& at : at_) at.resize(grid.axes.size());
}

const GridMatrix& ScoreGridKernel::AddMatrix(const GridOperand& operand, bool lines_are_depth) {
  const HloInstruction* array = tile_.copies_strips ? ArrayOfOperand(operand.operand, &instruction_) : nullptr;
  return grid_lines_.Add(operand, lines_are_depth, at_[0], array);
}

void ScoreGridKernel::AddStrips(int64_t strips) {
  for (const GridOperand& operand : StripsOf(grid_, other_)) {
    const GridMatrix& matrix = AddMatrix(operand, /*lines_are_depth=*/true);
    const int64_t features = FeaturesOf(operand);
    strips_.push_back(
        {operand,
         StripLoader(k_, matrix.product, multiplier_.LayoutOf(features, tile_.strip, matrix.product.depth_is_minor),
                     multiplier_.ToCells(),
                     {.threads = tile_.threads,
                      .positions = features,
                      .strip = tile_.strip,
                      .depth = others_,
                      .group = matrix.Group(features * tile_.strip / tile_.threads),
                      .strips = strips},
                     "strip"),
         matrix.batch});
  }
}

StripLoader ScoreGridKernel::LinesLoader(const GridOperand& operand, const GridMatrix& matrix, int64_t strips) {
  const int64_t features = FeaturesOf(operand);
  return {k_,
          matrix.product,
          multiplier_.LayoutOf(tile_.lines, features, matrix.product.depth_is_minor),
          multiplier_.ToCells(),
          {.threads = tile_.threads,
           .positions = tile_.lines,
           .strip = features,
           .depth = features,
           .group = matrix.Group(GridLines::kGroupBytes),
           .strips = strips},
          "lines"};
}

ScoreGridKernel::LoadedStrip& ScoreGridKernel::StripOf(const GridOperand& operand) {
  return *absl::c_find_if(strips_, [&](const LoadedStrip& strip) { return strip.operand == operand; });
}

ScoreGridKernel::PieceOfScore ScoreGridKernel::Scores(const HloInstruction* score, int64_t piece) {
  const Strip& block = block_[absl::c_find(grid_.scores, score) - grid_.scores.begin()];
  const GridOperand operand = ScoreOperand(grid_, score, other_);
  // The lines of the strip are positions here.
  Strip strip = StripOf(operand).Current();
  strip.layout.lines_are_positions = !strip.layout.lines_are_positions;
  PieceOfScore scores;
  scores.fill(Zeros());
  for (int64_t depth = 0; depth < FeaturesOf(operand); depth += kPiece) {
    const Carried own = multiplier_.Load(block, first_in_block_, depth);
    multiplier_.Multiply({&own, 1}, strip, piece, depth, scores.data());
  }
  return scores;
}

absl::StatusOr<llvm::Value*> ScoreGridKernel::ElementOf(const HloInstruction* member,
                                                        const std::vector<LaneIndex>& at) {
  HILO_ASSIGN_OR_RETURN(const ElementValue element, k_.elements().Generate(member, grid_lines_.IndexOf(member, at)));
  return AsF32(member->shape().element_type(), element);
}

absl::Status ScoreGridKernel::SetExponential(const HloInstruction* exponential, const std::vector<LaneIndex>& at) {
  HILO_ASSIGN_OR_RETURN(llvm::Value * x, ElementOf(exponential->operand(0), at));
  k_.SetValue(exponential, As(exponential->shape().element_type(), Exponential(x)));
  return absl::OkStatus();
}

ScoreGridKernel::Element ScoreGridKernel::ElementAt(llvm::Value* first, int64_t piece, int64_t half,
                                                    int64_t in_fragment) {
  Element element{.half = half, .in_fragment = in_fragment, .at = {}, .exists = nullptr};
  llvm::Value* other = Plus(Plus(Plus(first, multiplier_.column()), piece), half * kColumns + in_fragment % 2);
  if (others_ % tile_.strip != 0) {
    element.exists = b_.CreateICmpULT(other, Int(others_));
    other = AtMost(other, others_ - 1);
  }
  element.at = at_[element.line()];
  grid_lines_.SetAxes(other_, other, &element.at);
  return element;
}

absl::Status ScoreGridKernel::SetScores(const GridPass& pass, absl::Span<const PieceOfScore> scores,
                                        const Element& element) {
  for (size_t s = 0; s < scores.size(); ++s) {
    llvm::Value* score = scores[s][element.half][element.in_fragment];
    k_.SetValue(pass.scores[s], As(pass.scores[s]->shape().element_type(), score));
  }
  for (const HloInstruction* tangent : pass.tangents) {
    // Factors of 16 bits need no more digits than the machine's.
    if (type_ == F32 || tangent->shape().element_type() == F64) continue;
    HILO_ASSIGN_OR_RETURN(llvm::Value * x, ElementOf(tangent->operand(0), element.at));
    k_.SetValue(tangent, As(tangent->shape().element_type(), Tanh(x)));
  }
  return absl::OkStatus();
}

std::optional<int64_t> ScoreGridKernel::LeafOf(const HloInstruction* array,
                                               std::vector<const HloInstruction*>* users) const {
  for (;;) {
    const auto root = absl::c_find(results_.roots, array);
    if (root != results_.roots.end()) return root - results_.roots.begin();
    if (array->user_count() != 1) return std::nullopt;
    array = array->users()[0];
    users->push_back(array);
  }
}

}  // namespace hilo::gpu
