// As of the distances to few centers:
//
//   dot(multiply(f32[262144,64] x, broadcast(f32[] a)), f32[256,64] c)  =>  dot(x, multiply(c, broadcast(a)))
#include "backends/gpu/compile/dot_scales.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/dots/dot_rewrite.h"
#include "hlo/passes/make_instruction.h"

namespace hilo::gpu {
namespace {

// How many times as large the scaled factor is at least, and its least bytes: of fewer the kernel takes no longer than
// its launch.
constexpr int64_t kMinRatio = 4, kMinScaledBytes = int64_t{1} << 20;

// Returns true if the array is in memory as it is; what computes others for one user alone scales them, too.
bool IsInMemoryAnyway(const HloInstruction& array) {
  return array.IsParameter() || array.opcode() == HloOpcode::kGetTupleElement || array.users().size() > 1;
}

// Of narrower numbers a product overflows where the other one does not, and is rounded to few digits.
bool MayScaleOther(PrimitiveType type) { return type == F32 || type == F64; }

struct Scaled {
  int64_t operand = 0;  // of the dot: 0 or 1
  HloInstruction *factor = nullptr, *scale = nullptr;
};

std::optional<Scaled> ScaledOf(const HloInstruction& dot) {
  for (int64_t i = 0; i < 2; ++i) {
    const HloInstruction *product = dot.operand(i), *other = dot.operand(1 - i);
    if (product->opcode() != HloOpcode::kMultiply || product->users().size() != 1 || product->IsRoot() ||
        product->HasControlDependencies() || !MayScaleOther(product->shape().element_type()) ||
        !ShapeUtil::SameElementType(product->shape(), other->shape()) ||
        ShapeUtil::ByteSizeOf(product->shape()) < kMinScaledBytes ||
        ShapeUtil::ElementsIn(product->shape()) < kMinRatio * ShapeUtil::ElementsIn(other->shape()))
      continue;
    for (int64_t j = 0; j < 2; ++j) {
      HloInstruction* const repeated = product->operand(j);
      if (repeated->opcode() == HloOpcode::kBroadcast && repeated->operand(0)->shape().IsScalar() &&
          IsInMemoryAnyway(*product->operand(1 - j)))
        return Scaled{.operand = i, .factor = product->operand(1 - j), .scale = repeated->operand(0)};
    }
  }
  return std::nullopt;
}

absl::StatusOr<HloInstruction*> ScaleOther(HloInstruction* dot) {
  const std::optional<Scaled> scaled = ScaledOf(*dot);
  HILO_RET_CHECK(scaled.has_value());
  HloInstruction* const other = dot->operand(1 - scaled->operand);
  HILO_ASSIGN_OR_RETURN(HloInstruction* const repeated, MakeBroadcast(scaled->scale, other->shape(), {}));
  HILO_ASSIGN_OR_RETURN(HloInstruction* const product, MakeBinary(HloOpcode::kMultiply, other, repeated));
  std::vector<HloInstruction*> operands = {scaled->factor, product};
  if (scaled->operand == 1) std::swap(operands[0], operands[1]);
  return dot->parent()->AddInstruction(dot->CloneWithNewOperands(dot->shape(), operands));
}

}  // namespace

std::unique_ptr<HloPass> MakeDotScales() {
  return MakeDotRewrite("dot-scales", [](const HloInstruction& dot) { return ScaledOf(dot).has_value(); }, ScaleOther);
}

}  // namespace hilo::gpu
