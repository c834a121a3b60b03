#include "backends/cpu/kernels/code_size.h"

#include <algorithm>

#include "backends/cpu/kernels/kernel_choice.h"
#include "backends/cpu/kernels/library_call.h"
#include "base/math.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/in_place.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo::cpu {
namespace {

int64_t LargestLeaf(const HloInstruction& instruction) {
  int64_t elements = 0;
  for (const auto& leaf : ShapeUtil::Leaves(instruction.shape())) {
    if (leaf.shape->IsArray()) elements = std::max(elements, ShapeUtil::ElementsIn(*leaf.shape));
  }
  return elements;
}

int64_t BodyCodeSize(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kFusion) {
    int64_t code_size = CostFacts(instruction.opcode()).code_size;
    if (HasTrait(instruction.opcode(), kControlFlow)) return code_size;
    for (const HloComputation* called : instruction.called_computations()) {
      for (const HloInstruction* inner : called->instructions()) code_size += CostFacts(inner->opcode()).code_size;
    }
    return code_size;
  }
  int64_t code_size = 0;
  for (const HloInstruction* inner : instruction.called_computation()->instructions())
    code_size += BodyCodeSize(*inner);
  return code_size;
}

}  // namespace

int64_t CodeSize(const HloInstruction& instruction, bool by_elements) {
  if (instruction.IsParameter() || instruction.IsConstant() || IsForwarding(instruction)) return 0;
  const int64_t elements = LargestLeaf(instruction);
  const int64_t body = BodyCodeSize(instruction);
  if (elements <= 1) return body + 2;
  const KernelConfig* kernel = KernelOf(instruction);
  // A transpose by tiles of the library counts as the loop that it is in functions for the linkers of other programs: a
  // program is divided alike in both, so that the same products and sums become one operation.
  if (kernel != nullptr && IsLibraryKernel(kernel->kind) && kernel->kind != KernelKind::kLibraryTranspose) return 20;
  if (instruction.opcode() == HloOpcode::kConvolution) return 300;
  if (kernel != nullptr && kernel->kind == KernelKind::kUnrolled) {
    if (!by_elements) return 2 * (body + 2);
    if (instruction.opcode() == HloOpcode::kDot) {
      return 4 + static_cast<int64_t>(std::min(DotFlops(instruction), 1000.0));
    }
    return (body + 2) * elements;
  }
  if (kernel != nullptr && kernel->kind == KernelKind::kWholeVectors)
    return 4 + CeilDiv(elements, kernel->width) * (body + 2);
  if (kernel != nullptr && kernel->kind == KernelKind::kConcatenate) return 40 + 3 * instruction.operand_count();
  if (kernel != nullptr && kernel->kind == KernelKind::kReduceUnrolled) return (body + 2) * elements;
  // A loop: its frame, a vector body and a tail.
  return 40 + 3 * body;
}

}  // namespace hilo::cpu
