#include "backends/cpu/kernels/kept_results.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "backends/cpu/functions/program_emitter.h"
#include "hlo/analysis/loop_results.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ir/kernel_config.h"

namespace hilo::cpu {
namespace {

// A branch that is predicted wrongly takes some 5 ns.
constexpr double kMinNanoseconds = 10;

bool IsLoopKind(KernelKind kind) {
  constexpr KernelKind kLoops[] = {KernelKind::kLoop,      KernelKind::kRows,       KernelKind::kRowSegments,
                                   KernelKind::kRowBlocks, KernelKind::kNarrowRows, KernelKind::kTiledTranspose};
  return absl::c_linear_search(kLoops, kind);
}

// Operands of a predicate that are looked at.
constexpr int kMaxOperands = 16;

// Returns the instruction of one element without which no element of `predicate` is true; null if there is none.
// Outside of fusions operands are arrays in memory, whose own operands may have been overwritten.
const HloInstruction* NeededScalar(const HloInstruction* predicate) {
  std::vector<const HloInstruction*> work = {predicate};
  for (int seen = 0; !work.empty() && seen < kMaxOperands; ++seen) {
    const HloInstruction* next = work.back();
    work.pop_back();
    if (ShapeUtil::ElementsIn(next->shape()) == 1) return next;
    if (!next->parent()->IsFusion()) continue;
    const HloOpcode opcode = next->opcode();
    if (opcode == HloOpcode::kAnd || opcode == HloOpcode::kBroadcast || opcode == HloOpcode::kReshape)
      work.insert(work.end(), next->operands().begin(), next->operands().end());
  }
  return nullptr;
}

// Returns true if every element of `kept`, an operand of a root, is at its index in the memory of the result.
bool IsInPlace(FunctionEmitter& f, const HloInstruction& instruction, const HloInstruction* kept, int64_t leaf) {
  const BufferAssignment& assignment = f.program().assignment();
  if (kept->parent()->IsFusion()) {
    if (!kept->IsParameter()) return false;
    kept = instruction.operand(kept->parameter_number());
  }
  if (kept->IsConstant() || !kept->shape().IsArray()) return false;
  return assignment.slice(kept, 0).SameMemory(assignment.slice(&instruction, leaf));
}

}  // namespace

std::optional<KeptUnless> KeptResults(FunctionEmitter& f, const HloInstruction& instruction) {
  const KernelConfig& config = *instruction.kernel();
  if (!IsLoopKind(config.kind) || config.nanoseconds < kMinNanoseconds) return std::nullopt;
  const LoopResults loop = LoopResultsOf(instruction);
  if (!loop.has_root_per_leaf()) return std::nullopt;
  std::optional<KeptUnless> all;
  for (size_t i = 0; i < loop.roots.size(); ++i) {
    const HloInstruction* root = loop.roots[i];
    if (root->opcode() != HloOpcode::kSelect) return std::nullopt;
    const int64_t leaf = loop.first_leaf + static_cast<int64_t>(i);
    KeptUnless one{NeededScalar(root->operand(0)), /*value=*/true};
    if (one.condition == nullptr) return std::nullopt;
    if (!IsInPlace(f, instruction, root->operand(2), leaf)) {
      // The other operand may be kept where all elements of the predicate are one.
      const HloInstruction* predicate = root->operand(0);
      while (predicate->opcode() == HloOpcode::kBroadcast || predicate->opcode() == HloOpcode::kReshape)
        predicate = predicate->operand(0);
      if (predicate != one.condition || !IsInPlace(f, instruction, root->operand(1), leaf)) return std::nullopt;
      one.value = false;
    }
    if (all && (all->condition != one.condition || all->value != one.value)) return std::nullopt;
    all = one;
  }
  return all;
}

}  // namespace hilo::cpu
