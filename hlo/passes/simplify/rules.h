// The rules of the simplifier: a pattern on the left, its replacement on the right.
#ifndef HILO_HLO_PASSES_SIMPLIFY_RULES_H_
#define HILO_HLO_PASSES_SIMPLIFY_RULES_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/hlo_pass.h"
#include "hlo/passes/make_instruction.h"

namespace hilo::simplify {

// The replacement of `instruction`, of a compatible shape, or null if the rule does not apply.
using Rewrite = absl::StatusOr<HloInstruction*> (*)(HloInstruction* instruction);

struct Rule {
  HloOpcode opcode;
  absl::string_view text;  // "add(x, 0) => x"
  Rewrite rewrite;
  // False if signed zeros or rounding may change: left out in strict mode.
  bool exact = true;
  // True if it makes sums of products that a kernel of attention would compute: left out where the caller keeps dots.
  bool replaces_dot = false;
};

// One table per family, a file each.
absl::Span<const Rule> ArithmeticRules();
absl::Span<const Rule> MovementRules();
absl::Span<const Rule> IndexRules();
absl::Span<const Rule> ScatterRules();
absl::Span<const Rule> StructureRules();
absl::Span<const Rule> ReductionRules();
absl::Span<const Rule> WindowRules();
absl::Span<const Rule> SortRules();
// For every element-wise opcode, regardless of their `opcode`.
absl::Span<const Rule> ElementwiseRules();

// Every rule of these tables. The simplifier applies these and no others, in this order.
struct RuleEntry {
  const Rule* rule;
  bool for_elementwise = false;  // applies to every element-wise opcode rather than to rule->opcode
};
std::vector<RuleEntry> AllRules();

// A scalar of a loop's state that starts as a constant and that no iteration changes is that constant in the condition
// and the body, if no other loop shares them.
absl::StatusOr<bool> PropagateLoopConstants(HloModule* module, const PassContext& context);

// --- patterns ---

// What a rule returns that applies under this condition.
inline HloInstruction* If(bool condition, HloInstruction* replacement) { return condition ? replacement : nullptr; }

// The literal of a scalar constant, or of a scalar constant that is broadcast; null otherwise.
const Literal* UniformConstant(const HloInstruction* instruction);
// True if every element of `instruction` is `value`, exactly (-0 is not 0).
bool IsAll(const HloInstruction* instruction, double value);
// Whether it is a scalar that is broadcast.
bool IsScalarBroadcast(const HloInstruction* instruction);

}  // namespace hilo::simplify

#endif  // HILO_HLO_PASSES_SIMPLIFY_RULES_H_
