// Factors that programs widen before they multiply them, as in x.astype(f32) @ w.astype(f32) of bf16, or in products of
// quantized numbers that are written with s32:
//
//   a = f32[m,k] convert(bf16[m,k] x)
//   b = f32[k,n] convert(bf16[k,n] w)       =>      d = f32[m,n] dot(x, w)
//   d = f32[m,n] dot(a, b)
//
// A product of two bf16 or f16 is exact in f32, that of two s8 in s32: the sums have the same terms. What moves a
// converted factor moves the narrow one.
#include "hlo/passes/dots/factor_narrowing.h"

#include <optional>
#include <utility>
#include <vector>

#include "hilo/status_macros.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

// Moves between the conversion and the dot.
constexpr size_t kMaxMoves = 4;

bool HasExactProducts(PrimitiveType narrow, PrimitiveType wide) {
  return wide == F32 ? narrow == BF16 || narrow == F16 : wide == S32 && narrow == S8;
}

// A factor as it was before its conversion.
struct NarrowFactor {
  HloInstruction* source = nullptr;    // what is converted
  std::vector<HloInstruction*> moves;  // of the converted elements, the last one first
};

std::optional<NarrowFactor> NarrowFactorOf(HloInstruction* factor) {
  static constexpr OpcodeSet kMoves = {HloOpcode::kBroadcast, HloOpcode::kReshape, HloOpcode::kTranspose};
  NarrowFactor narrow;
  const PrimitiveType wide = factor->shape().element_type();
  while (kMoves.contains(factor->opcode()) && narrow.moves.size() < kMaxMoves && !factor->HasControlDependencies()) {
    narrow.moves.push_back(factor);
    factor = factor->operand(0);
  }
  if (factor->opcode() != HloOpcode::kConvert || factor->HasControlDependencies()) return std::nullopt;
  narrow.source = factor->operand(0);
  if (!HasExactProducts(narrow.source->shape().element_type(), wide)) return std::nullopt;
  return narrow;
}

HloInstruction* WithMoves(const NarrowFactor& factor) {
  HloInstruction* moved = factor.source;
  for (auto move = factor.moves.rbegin(); move != factor.moves.rend(); ++move) {
    const Shape& wide = (*move)->shape();
    Shape shape = ShapeUtil::MakeShape(factor.source->shape().element_type(), wide.dimensions());
    ShapeUtil::SetToDefaultLayout(&shape);
    moved = (*move)->parent()->AddInstruction((*move)->CloneWithNewOperands(shape, {moved}));
  }
  return moved;
}

class FactorNarrowing : public HloPass {
 public:
  absl::string_view name() const override { return "narrow-factors"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      for (HloInstruction* dot : computation->instructions()) {
        if (dot->opcode() != HloOpcode::kDot) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        if (dot->HasControlDependencies() || !dot->attrs<DotAttrs>().algorithm.empty() ||
            dot->shape().element_type() != dot->operand(0)->shape().element_type())
          continue;
        const std::optional<NarrowFactor> lhs = NarrowFactorOf(dot->operand(0)), rhs = NarrowFactorOf(dot->operand(1));
        if (!lhs.has_value() || !rhs.has_value() ||
            lhs->source->shape().element_type() != rhs->source->shape().element_type())
          continue;
        HILO_ASSIGN_OR_RETURN(HloInstruction * narrow,
                              computation->AddOp(HloOpcode::kDot, {WithMoves(*lhs), WithMoves(*rhs)},
                                                 dot->attributes()->Clone(), {}, &dot->shape()));
        // What is converted for others stays.
        HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(dot, narrow));
        changed = true;
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeFactorNarrowing() { return std::make_unique<FactorNarrowing>(); }

}  // namespace hilo
