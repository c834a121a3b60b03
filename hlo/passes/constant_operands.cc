// Fusions that differ in scalars alone, such as x + 2 I and x + 3 I, become equal: the scalars are operands.
//
//   f { x = parameter(0)  k = constant(2)  ROOT r = multiply(x, k) }      f { x = parameter(0)  k = parameter(1) ... }
//   g { x = parameter(0)  k = constant(3)  ROOT r = multiply(x, k) }  =>  g { x = parameter(0)  k = parameter(1) ... }
//   a = fusion(x), calls=f  b = fusion(y), calls=g                        a = fusion(x, 2), calls=f  b = fusion(y, 3)
//   ...
//
// Where a backend emits such a kernel once for both, it reads the scalar from memory; elsewhere the scalar is an
// immediate, as before. Scalars stay that decide how something is computed: integers, the initial values of reductions,
// divisors, exponents, bounds, and what is compared.
#include "hlo/passes/constant_operands.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/canonical_order.h"
#include "hlo/analysis/value_numbering.h"

namespace hilo {
namespace {

bool IsArithmetic(HloOpcode opcode) {
  return opcode == HloOpcode::kAdd || opcode == HloOpcode::kSubtract || opcode == HloOpcode::kMultiply;
}

bool IsLiftable(const HloInstruction& constant) {
  if (!constant.IsConstant() || !constant.shape().IsScalar() || constant.IsRoot() ||
      !IsFloatingPointType(constant.shape().element_type()))
    return false;
  return std::all_of(constant.users().begin(), constant.users().end(), [](const HloInstruction* user) {
    if (user->opcode() != HloOpcode::kBroadcast) return IsArithmetic(user->opcode());
    return !user->IsRoot() && std::all_of(user->users().begin(), user->users().end(), [&](const HloInstruction* other) {
      return IsArithmetic(other->opcode()) || (other->opcode() == HloOpcode::kSelect && other->operand(0) != user);
    });
  });
}

struct Candidate {
  HloInstruction* fusion;
  std::vector<HloInstruction*> constants;  // that may become operands, in canonical order
};

class ConstantOperands : public HloPass {
 public:
  absl::string_view name() const override { return "lift-constants"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    ValueNumbering numbering;
    absl::flat_hash_map<std::pair<PrimitiveType, size_t>, const HloInstruction*> holes;  // by type and position
    std::vector<std::vector<Candidate>> groups;
    absl::flat_hash_map<int64_t, size_t> positions;
    for (const HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      for (HloInstruction* fusion : computation->instructions()) {
        if (fusion->opcode() != HloOpcode::kFusion) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        Candidate candidate{fusion, {}};
        const std::vector<HloInstruction*> order = CanonicalOrder(*fusion->called_computation());
        for (HloInstruction* member : order) {
          if (IsLiftable(*member)) candidate.constants.push_back(member);
        }
        if (candidate.constants.empty()) continue;
        for (const HloInstruction* member : order) {
          for (const HloComputation* called : member->called_computations()) {
            if (!numbering.HasNumber(called)) numbering.Number(*called);
          }
        }
        for (size_t i = 0; i < candidate.constants.size(); ++i) {
          const HloInstruction* constant = candidate.constants[i];
          numbering.SetFirstEqual(constant,
                                  holes.try_emplace({constant->shape().element_type(), i}, constant).first->second);
        }
        const int64_t number = numbering.Number(*fusion->called_computation());
        const auto [it, fresh] = positions.try_emplace(number, groups.size());
        if (fresh) groups.emplace_back();
        groups[it->second].push_back(std::move(candidate));
      }
    }
    bool changed = false;
    for (const std::vector<Candidate>& group : groups) {
      std::vector<size_t> differing;
      for (size_t i = 0; i < group[0].constants.size(); ++i) {
        const bool differs = std::any_of(group.begin(), group.end(), [&](const Candidate& candidate) {
          return !(candidate.constants[i]->literal() == group[0].constants[i]->literal());
        });
        if (differs) differing.push_back(i);
      }
      if (differing.empty()) continue;
      for (const Candidate& candidate : group) HILO_RETURN_IF_ERROR(Lift(candidate, differing));
      changed = true;
    }
    return changed;
  }

 private:
  // Makes operands of the constants at these positions.
  static absl::Status Lift(const Candidate& candidate, absl::Span<const size_t> positions) {
    HloInstruction* fusion = candidate.fusion;
    HloComputation* fused = fusion->called_computation();
    std::vector<HloInstruction*> operands(fusion->operands().begin(), fusion->operands().end());
    for (const size_t position : positions) {
      HloInstruction* constant = candidate.constants[position];
      const Shape shape = constant->shape();
      operands.push_back(fusion->parent()->AddInstruction(constant->CloneWithNewOperands(shape, {}), constant->name()));
      const int64_t number = fused->num_parameters();
      HloInstruction* parameter =
          fused->AddInstruction(HloInstruction::CreateParameter(number, shape, absl::StrCat("param_", number)));
      HILO_RETURN_IF_ERROR(fused->ReplaceInstruction(constant, parameter));
    }
    HloInstruction* replacement =
        fusion->parent()->AddInstruction(fusion->CloneWithNewOperands(fusion->shape(), operands), fusion->name());
    HILO_RETURN_IF_ERROR(fusion->parent()->ReplaceInstruction(fusion, replacement));
    fused->set_fusion_instruction(replacement);
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeConstantOperands() { return std::make_unique<ConstantOperands>(); }

}  // namespace hilo
