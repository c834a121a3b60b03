#include "hlo/analysis/precision.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo {
namespace {

constexpr int kMaxDigits = 53;
constexpr int kTf32Digits = 11;

int DigitsOfType(PrimitiveType type) {
  switch (type) {
    case BF16: return 8;
    case F16: return 11;
    case F32:
    case C64: return 24;
    default: return kMaxDigits;
  }
}

int DigitsOfShape(const Shape& shape) {
  int digits = kMaxDigits;
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape)) {
    if (leaf.shape->IsArray()) digits = std::min(digits, DigitsOfType(leaf.shape->element_type()));
  }
  return digits;
}

bool HasHighest(const std::vector<Precision>& precisions) {
  return absl::c_linear_search(precisions, Precision::kHighest);
}

bool RoundsFactorsToTf32(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kDot) return AllowsTf32(instruction.attrs<DotAttrs>());
  if (instruction.opcode() == HloOpcode::kConvolution) return AllowsTf32(instruction.attrs<ConvolutionAttrs>());
  return false;
}

}  // namespace

bool AllowsTf32(const DotAttrs& attrs) {
  if (!attrs.algorithm.empty()) return attrs.algorithm != "dot_f32_f32_f32";
  return !HasHighest(attrs.operand_precision);
}

bool AllowsTf32(const ConvolutionAttrs& attrs) { return !HasHighest(attrs.operand_precision); }

int SignificantDigits(const HloInstruction& instruction) {
  int digits = DigitsOfShape(instruction.shape());
  for (const HloInstruction* operand : instruction.operands())
    digits = std::min(digits, DigitsOfShape(operand->shape()));
  if (digits == DigitsOfType(F32) && RoundsFactorsToTf32(instruction)) return kTf32Digits;
  return digits;
}

int SignificantDigitsBehind(const HloInstruction& result) {
  int digits = kMaxDigits;
  absl::flat_hash_set<const HloInstruction*> seen = {&result};
  std::vector<const HloInstruction*> pending = {&result};
  const auto visit = [&](const HloInstruction* instruction) {
    if (seen.insert(instruction).second) pending.push_back(instruction);
  };
  while (!pending.empty()) {
    const HloInstruction* instruction = pending.back();
    pending.pop_back();
    digits = std::min(digits, SignificantDigits(*instruction));
    for (const HloInstruction* operand : instruction->operands()) visit(operand);
    for (const HloComputation* called : instruction->called_computations()) visit(called->root_instruction());
  }
  return digits;
}

}  // namespace hilo
