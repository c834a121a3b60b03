// Applies the rules (rules.h) until none matches. Rules look at one instruction and its operands, so one walk in post
// order with repetition at each instruction does most of the work; the pipeline repeats the pass for what a later
// rewrite makes possible.
//
//   b = f32[8] broadcast(f32[] constant(1)), dimensions={}       =>   x
//   ROOT m = f32[8] multiply(x, b)
#include <algorithm>
#include <array>
#include <vector>

#include "hilo/status_macros.h"
#include "hlo/passes/simplify/rules.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace simplify {

const Literal* UniformConstant(const HloInstruction* instruction) {
  if (instruction->opcode() == HloOpcode::kBroadcast) instruction = instruction->operand(0);
  if (!instruction->IsConstant() || !instruction->shape().IsScalar()) return nullptr;
  return &instruction->literal();
}

bool IsAll(const HloInstruction* instruction, double value) {
  const Literal* literal = UniformConstant(instruction);
  if (literal == nullptr || IsComplexType(literal->shape().element_type())) return false;
  return *literal == LiteralUtil::FromDouble(literal->shape().element_type(), value) &&
         literal->GetAsDouble(0) == value;
}

bool IsScalarBroadcast(const HloInstruction* instruction) {
  return instruction->opcode() == HloOpcode::kBroadcast && instruction->operand(0)->shape().IsScalar();
}

std::vector<RuleEntry> AllRules() {
  std::vector<RuleEntry> all;
  for (const absl::Span<const Rule> rules : {ArithmeticRules(), MovementRules(), IndexRules(), ScatterRules(),
                                             StructureRules(), ReductionRules(), WindowRules(), SortRules()}) {
    for (const Rule& rule : rules) all.push_back({.rule = &rule});
  }
  for (const Rule& rule : ElementwiseRules()) all.push_back({.rule = &rule, .for_elementwise = true});
  return all;
}

}  // namespace simplify

namespace {

using simplify::Rule;

// A rule may apply repeatedly to one instruction; cycles among rules would otherwise never end.
constexpr int kMaxRewrites = 32;

// The rules of each opcode.
using RuleTable = std::array<std::vector<const Rule*>, kHloOpcodeCount>;

RuleTable MakeRuleTable(bool strict, bool keep_dots) {
  RuleTable table;
  for (const simplify::RuleEntry& entry : simplify::AllRules()) {
    if ((strict && !entry.rule->exact) || (keep_dots && entry.rule->replaces_dot)) continue;
    for (int opcode = 0; opcode < kHloOpcodeCount; ++opcode) {
      const auto of = static_cast<HloOpcode>(opcode);
      if (entry.for_elementwise ? IsElementwise(of) : of == entry.rule->opcode) table[opcode].push_back(entry.rule);
    }
  }
  return table;
}

// Tables are made once in a process.
const RuleTable& RulesFor(bool strict, bool keep_dots) {
  static const auto* const tables = new std::array<RuleTable, 4>{
      MakeRuleTable(false, false), MakeRuleTable(false, true), MakeRuleTable(true, false), MakeRuleTable(true, true)};
  return (*tables)[(strict ? 2 : 0) + (keep_dots ? 1 : 0)];
}

class Simplifier : public HloPass {
 public:
  Simplifier(bool strict, bool keep_dots) : rules_(RulesFor(strict, keep_dots)) {}
  absl::string_view name() const override { return "simplify"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    HILO_ASSIGN_OR_RETURN(bool changed, simplify::PropagateLoopConstants(module, context));
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      for (HloInstruction* instruction : computation->MakePostOrder()) {
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        if (instruction->IsDead() || !IsFree(*instruction)) continue;
        HILO_ASSIGN_OR_RETURN(bool here, Simplify(computation, instruction));
        changed |= here;
      }
    }
    return changed;
  }

 private:
  // Rules support neither dynamic sizes nor control dependencies. Operands that are tuples do not matter, and their
  // shapes may be large: each of a thousand elements reads one of a thousand elements.
  static bool IsFree(const HloInstruction& instruction) {
    auto is_static = [](const HloInstruction* operand) {
      return operand->shape().IsTuple() || operand->shape().is_static();
    };
    return instruction.shape().is_static() &&
           std::all_of(instruction.operands().begin(), instruction.operands().end(), is_static) &&
           !instruction.HasControlDependencies();
  }

  // A bitcast speaks of the memory of its operand, which must then keep its layout.
  static bool KeepsBitcasts(const HloInstruction& instruction, const HloInstruction& replacement) {
    if (instruction.shape() == replacement.shape()) return true;
    return std::none_of(instruction.users().begin(), instruction.users().end(),
                        [](const HloInstruction* user) { return user->opcode() == HloOpcode::kBitcast; });
  }

  // `instruction` may be dead afterwards but is not removed (the walk holds pointers): dce follows.
  absl::StatusOr<bool> Simplify(HloComputation* computation, HloInstruction* instruction) {
    bool changed = false;
    for (int rewrites = 0; rewrites < kMaxRewrites; ++rewrites) {
      HloInstruction* replacement = nullptr;
      for (const Rule* rule : rules_[static_cast<int>(instruction->opcode())]) {
        HILO_ASSIGN_OR_RETURN(replacement, rule->rewrite(instruction));
        if (replacement != nullptr && replacement != instruction) break;
      }
      if (replacement == nullptr || replacement == instruction || !KeepsBitcasts(*instruction, *replacement))
        return changed;
      HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(instruction, replacement));
      if (!replacement->IsParameter()) replacement->CopyOriginFrom(*instruction);
      changed = true;
      instruction = replacement;
      if (!IsFree(*instruction)) return changed;
    }
    return changed;
  }

  const RuleTable& rules_;
};

}  // namespace

std::unique_ptr<HloPass> MakeSimplifier(bool strict, bool keep_dots) {
  return std::make_unique<Simplifier>(strict, keep_dots);
}

}  // namespace hilo
