#include "backends/cpu/kernels/transposed_reads.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

// Elements of operands that are contiguous: enough for the vectors of a tile.
constexpr int64_t kEnoughContiguous = 16;

// Returns the dimensions of the transpose's result that are the minor-most ones of its operand: as few as have enough
// elements, all before the one that is the minor-most of the result.
std::vector<int64_t> ContiguousDims(const HloInstruction& transpose) {
  const std::vector<int64_t>& permutation = transpose.attrs<TransposeAttrs>().dimensions;
  const Shape& operand = transpose.operand(0)->shape();
  std::vector<int64_t> dims;
  int64_t elements = 1;
  for (int64_t d = operand.rank() - 1; d != permutation.back() && elements < kEnoughContiguous; --d) {
    dims.insert(dims.begin(), std::find(permutation.begin(), permutation.end(), d) - permutation.begin());
    elements *= operand.dimensions(d);
  }
  return dims;
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
      std::vector<int64_t> dims = ContiguousDims(*instruction);
      // Values of one bit are no vectors in memory.
      if (dims.empty() || instruction->shape().element_type() == PRED) continue;
      if (!reads.transposes.empty() && dims != reads.dims) return std::nullopt;
      reads.dims = std::move(dims);
      reads.transposes.push_back(instruction);
    } else if (fused && IsElementwise(instruction->opcode())) {
      work.insert(work.end(), instruction->operands().begin(), instruction->operands().end());
    }
  }
  if (reads.transposes.empty()) return std::nullopt;
  return reads;
}

}  // namespace hilo::cpu
