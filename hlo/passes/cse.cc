// Common subexpressions: of equal instructions (opcode, operands, attributes, shape, called computations) the first
// stays. Equal constants become one. Metadata does not count, and computations are equal if they compute the same:
// every reduction of JAX has a computation of its own. Nor does which channel a collective has: the devices exchange
// the same data but once.
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Constants beyond this many bytes are compared by identity only.
constexpr size_t kMaxConstantBytes = 1 << 16;

// An instruction with what stands for its operands, and the numbers of its called computations.
struct Expression {
  const HloInstruction* instruction;
  absl::InlinedVector<const HloInstruction*, 4> operands;
  absl::InlinedVector<int64_t, 1> called;
  std::string collective = {};  // the attributes of one but for the number of its channel; empty for others
};

bool IsCollective(const HloInstruction& instruction) {
  return HasTrait(instruction.opcode(), kCollective) && instruction.attributes() != nullptr;
}

std::string AttributesOfCollective(const HloInstruction& instruction) {
  std::string attributes;
  for (const auto& [name, text] : instruction.attributes()->ToText())
    absl::StrAppend(&attributes, name, "=", name == "channel_id" ? "" : text, ";");
  return attributes;
}

bool SameConstant(const HloInstruction& a, const HloInstruction& b) {
  if (&a.literal() == &b.literal()) return true;
  if (a.literal().shape().IsTuple() || a.literal().untyped_data().size() > kMaxConstantBytes) return false;
  return a.literal() == b.literal();
}

bool operator==(const Expression& x, const Expression& y) {
  const HloInstruction& a = *x.instruction;
  const HloInstruction& b = *y.instruction;
  if (a.opcode() != b.opcode() || !(a.shape() == b.shape())) return false;
  if (x.operands != y.operands || x.called != y.called) return false;
  if (a.IsConstant()) return SameConstant(a, b);
  if (!x.collective.empty()) return x.collective == y.collective;
  if ((a.attributes() == nullptr) != (b.attributes() == nullptr)) return false;
  return a.attributes() == nullptr || a.attributes()->Equals(*b.attributes());
}

template <typename H>
H AbslHashValue(H state, const Expression& expression) {
  const HloInstruction& instruction = *expression.instruction;
  state = H::combine(std::move(state), instruction.opcode(), instruction.shape().element_type());
  state = H::combine(std::move(state), expression.operands, expression.called);
  if (instruction.IsConstant()) {
    const Literal& literal = instruction.literal();
    const bool small = !literal.shape().IsTuple() && literal.untyped_data().size() <= kMaxConstantBytes;
    return H::combine(std::move(state), small ? literal.Hash() : reinterpret_cast<size_t>(&literal));
  }
  if (!expression.collective.empty()) {
    state = H::combine(std::move(state), expression.collective);
  } else if (instruction.attributes() != nullptr) {
    state = H::combine(std::move(state), instruction.attributes()->Hash());
  }
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

using ComputationNumbers = absl::flat_hash_map<const HloComputation*, int64_t>;

// Numbers the computations that others call, such as those of reductions; of equal roots, equal operands included, all
// have one number.
ComputationNumbers NumberCalled(const HloModule& module) {
  absl::flat_hash_map<Expression, const HloInstruction*> expressions;
  absl::flat_hash_map<const HloInstruction*, const HloInstruction*> first;
  absl::flat_hash_map<const HloInstruction*, int64_t> roots;
  ComputationNumbers numbers;
  const auto number = [&](const HloComputation& computation) {
    for (const HloInstruction* instruction : computation.MakePostOrder()) {
      // What calls others is equal to itself alone, so nothing recurses.
      const bool equals_others = !instruction->HasSideEffect() && instruction->called_computations().empty();
      Expression expression{instruction, {}, {}};
      for (const HloInstruction* operand : instruction->operands()) expression.operands.push_back(first.at(operand));
      first[instruction] =
          equals_others ? expressions.try_emplace(std::move(expression), instruction).first->second : instruction;
    }
    return roots.try_emplace(first.at(computation.root_instruction()), roots.size()).first->second;
  };
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!MayMerge(*instruction)) continue;
      for (const HloComputation* called : instruction->called_computations()) {
        if (!numbers.contains(called)) numbers[called] = number(*called);
      }
    }
  }
  return numbers;
}

class Cse : public HloPass {
 public:
  absl::string_view name() const override { return "cse"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    const ComputationNumbers numbers = NumberCalled(*module);  // first, as those called lose instructions too
    for (HloComputation* computation : module->computations()) {
      absl::flat_hash_map<Expression, HloInstruction*> first;
      for (HloInstruction* instruction : computation->MakePostOrder()) {
        if (!MayMerge(*instruction)) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        Expression expression{instruction, {instruction->operands().begin(), instruction->operands().end()}, {}};
        for (const HloComputation* called : instruction->called_computations())
          expression.called.push_back(numbers.at(called));
        if (IsCollective(*instruction)) expression.collective = AttributesOfCollective(*instruction);
        auto [it, fresh] = first.try_emplace(std::move(expression), instruction);
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
