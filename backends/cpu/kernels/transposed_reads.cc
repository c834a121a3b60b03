#include "backends/cpu/kernels/transposed_reads.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

// Returns the dimension of the transpose's result that is the minor-most one of its operand.
int64_t ContiguousDim(const HloInstruction& transpose) {
  const std::vector<int64_t>& permutation = transpose.attrs<TransposeAttrs>().dimensions;
  const auto it = std::find(permutation.begin(), permutation.end(), static_cast<int64_t>(permutation.size()) - 1);
  return it - permutation.begin();
}

}  // namespace

std::optional<TransposedReads> TransposedReadsOf(const LoopResults& loop) {
  if (!loop.has_root_per_leaf() || loop.shape().rank() < 2) return std::nullopt;
  TransposedReads reads;
  std::vector<const HloInstruction*> work;
  for (const HloInstruction* root : loop.roots) {
    if (!root->shape().IsArray() || !ShapeUtil::SameDimensions(root->shape(), loop.shape())) return std::nullopt;
    work.push_back(root);
  }
  const bool fused = loop.roots[0]->parent()->IsFusion();
  absl::flat_hash_set<const HloInstruction*> seen;
  while (!work.empty()) {
    const HloInstruction* instruction = work.back();
    work.pop_back();
    if (!seen.insert(instruction).second || !instruction->shape().IsArray() || instruction->shape().rank() == 0)
      continue;
    if (instruction->opcode() == HloOpcode::kTranspose) {
      const int64_t dim = ContiguousDim(*instruction);
      // Values of one bit are no vectors in memory.
      if (dim == instruction->shape().rank() - 1 || instruction->shape().element_type() == PRED) continue;
      if (!reads.transposes.empty() && dim != reads.dim) return std::nullopt;
      reads.dim = dim;
      reads.transposes.push_back(instruction);
    } else if (fused && IsElementwise(instruction->opcode())) {
      work.insert(work.end(), instruction->operands().begin(), instruction->operands().end());
    }
  }
  if (reads.transposes.empty()) return std::nullopt;
  return reads;
}

}  // namespace hilo::cpu
