// Common subexpressions: of equal instructions (opcode, operands, attributes, shape, called computations) the first
// stays. Equal constants become one. Metadata does not count.
#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Constants beyond this many bytes are compared by identity only.
constexpr size_t kMaxConstantBytes = 1 << 16;

struct Expression {
  const HloInstruction* instruction;
};

bool SameConstant(const HloInstruction& a, const HloInstruction& b) {
  if (&a.literal() == &b.literal()) return true;
  if (a.literal().shape().IsTuple() || a.literal().untyped_data().size() > kMaxConstantBytes) return false;
  return a.literal() == b.literal();
}

bool operator==(const Expression& x, const Expression& y) {
  const HloInstruction& a = *x.instruction;
  const HloInstruction& b = *y.instruction;
  if (a.opcode() != b.opcode() || !(a.shape() == b.shape())) return false;
  if (a.operands() != b.operands() || a.called_computations() != b.called_computations()) return false;
  if (a.IsConstant()) return SameConstant(a, b);
  if ((a.attributes() == nullptr) != (b.attributes() == nullptr)) return false;
  return a.attributes() == nullptr || a.attributes()->Equals(*b.attributes());
}

template <typename H>
H AbslHashValue(H state, const Expression& expression) {
  const HloInstruction& instruction = *expression.instruction;
  state = H::combine(std::move(state), instruction.opcode(), instruction.shape().element_type());
  for (const HloInstruction* operand : instruction.operands()) state = H::combine(std::move(state), operand);
  if (instruction.IsConstant()) {
    const Literal& literal = instruction.literal();
    const bool small = !literal.shape().IsTuple() && literal.untyped_data().size() <= kMaxConstantBytes;
    return H::combine(std::move(state), small ? literal.Hash() : reinterpret_cast<size_t>(&literal));
  }
  if (instruction.attributes() != nullptr) state = H::combine(std::move(state), instruction.attributes()->Hash());
  if (!instruction.shape().IsArray()) return state;
  for (int64_t size : instruction.shape().dimensions()) state = H::combine(std::move(state), size);
  return state;
}

bool MayMerge(const HloInstruction& instruction) {
  if (instruction.IsParameter() || instruction.HasSideEffect()) return false;
  if (instruction.opcode() == HloOpcode::kOptimizationBarrier) return false;
  if (HasTrait(instruction.opcode(), kControlFlow) || instruction.opcode() == HloOpcode::kFusion) return false;
  return !instruction.HasControlDependencies();
}

class Cse : public HloPass {
 public:
  absl::string_view name() const override { return "cse"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      absl::flat_hash_map<Expression, HloInstruction*> first;
      for (HloInstruction* instruction : computation->MakePostOrder()) {
        if (!MayMerge(*instruction)) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        auto [it, fresh] = first.try_emplace(Expression{instruction}, instruction);
        if (fresh) continue;
        HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(instruction, it->second));
        HILO_RETURN_IF_ERROR(computation->RemoveInstruction(instruction));
        changed = true;
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeCse() { return std::make_unique<Cse>(); }

}  // namespace hilo
