// Makes one dimension of those of a transpose that stay next to each other:
//
//   transpose(f32[8,32,32,64] x), dimensions={0,3,1,2}
//     =>  bitcast(f32[8,64,1024] transpose(f32[8,1024,64] bitcast(x)), dimensions={0,2,1})
//
// The bitcasts forward their operands' memory. Rows are then long, and kernels have fewer loops.
#include <algorithm>
#include <utility>

#include "hilo/status_macros.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Smaller arrays may be in registers.
constexpr int64_t kMinTransposed = 1024;

// Dimensions of the operand that are adjacent in the result, too; those of size 1 are none.
struct Run {
  int64_t first;  // of the operand's dimensions
  int64_t size;   // elements
};

// In the order of the result.
std::vector<Run> RunsOf(const HloInstruction& transpose) {
  const absl::Span<const int64_t> sizes = transpose.operand(0)->shape().dimensions();
  std::vector<Run> runs;
  int64_t next = -1;  // continues the last run
  for (const int64_t d : transpose.attrs<TransposeAttrs>().dimensions) {
    if (sizes[d] == 1) continue;
    if (d == next) {
      runs.back().size *= sizes[d];
    } else {
      runs.push_back({.first = d, .size = sizes[d]});
    }
    for (next = d + 1; next < static_cast<int64_t>(sizes.size()) && sizes[next] == 1;) ++next;
  }
  return runs;
}

absl::StatusOr<bool> MergeRuns(HloInstruction* transpose) {
  const bool is_ordered = !transpose->control_predecessors().empty() || !transpose->control_successors().empty();
  if (is_ordered || ShapeUtil::ElementsIn(transpose->shape()) < kMinTransposed) return false;
  const std::vector<Run> runs = RunsOf(*transpose);
  const auto count = static_cast<int64_t>(runs.size());
  if (count < 2 || count == transpose->shape().rank()) return false;
  std::vector<int64_t> of_operand(count), permutation(count), sizes;  // of_operand: runs in the operand's order
  for (int64_t i = 0; i < count; ++i) of_operand[i] = i;
  std::sort(of_operand.begin(), of_operand.end(), [&](int64_t a, int64_t b) { return runs[a].first < runs[b].first; });
  for (int64_t i = 0; i < count; ++i) {
    permutation[of_operand[i]] = i;
    sizes.push_back(runs[of_operand[i]].size);
  }
  HloComputation* const computation = transpose->parent();
  const auto bitcast = [&](HloInstruction* operand, const Shape& shape) {
    return computation->AddInstruction(
        HloInstruction::Create(HloOpcode::kBitcast, shape, std::vector<HloInstruction*>{operand}));
  };
  HloInstruction* const merged =
      bitcast(transpose->mutable_operand(0), ShapeUtil::MakeShape(transpose->shape().element_type(), sizes));
  HILO_ASSIGN_OR_RETURN(HloInstruction* const result, MakeTranspose(merged, std::move(permutation)));
  result->CopyOriginFrom(*transpose);
  HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(transpose, bitcast(result, transpose->shape())));
  return true;
}

class TransposeMerge : public HloPass {
 public:
  absl::string_view name() const override { return "merge-transposed-dimensions"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      for (HloInstruction* instruction : computation->MakePostOrder()) {
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        if (instruction->opcode() != HloOpcode::kTranspose) continue;
        HILO_ASSIGN_OR_RETURN(const bool merged, MergeRuns(instruction));
        changed |= merged;
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeTransposeMerge() { return std::make_unique<TransposeMerge>(); }

}  // namespace hilo
