// Factors of a sum that are one number for each of its results are multiplied with the sum:
//
//   f = f32[64] multiply(r, v)                            s = f32[64] reduce(x, 0), dimensions={0}, to_apply=add
//   y = f32[999,64] multiply(x, broadcast(f))       =>    t = f32[64] multiply(s, f)
//   t = f32[64] reduce(y, 0), to_apply=add
//
// so that the sum need not wait for what the factor waits for: one kernel then computes both sums of the gradient of a
// mean and a variance, of which one is multiplied with the other. Signs are taken out on the way.
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/fusion/fusion_pass.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Factors and signs that are taken out of one sum.
constexpr size_t kMaxFactors = 8;

// A sum whose terms are multiples of those of another sum.
struct Factors {
  std::vector<HloInstruction*> broadcasts;  // of the factors
  bool is_negated = false;
  HloInstruction* terms;  // without them
};

// Returns true if `x` has one number for each result of `reduce`, which waits for something.
bool IsFactor(const HloInstruction& reduce, const HloInstruction& x) {
  if (x.opcode() != HloOpcode::kBroadcast || x.operand(0)->IsConstant() || x.operand(0)->IsParameter()) return false;
  const std::vector<int64_t>& dimensions = x.attrs<BroadcastAttrs>().dimensions;
  return absl::c_is_sorted(dimensions) && absl::c_none_of(dimensions, [&](int64_t d) {
           return absl::c_linear_search(reduce.attrs<ReduceAttrs>().dimensions, d);
         });
}

std::optional<Factors> FactorsOf(HloInstruction* reduce) {
  Factors found{.terms = reduce->operand(0)}, best = found;
  bool is_own = true;  // for this sum alone
  for (size_t i = 0; i < kMaxFactors; ++i) {
    HloInstruction* const x = found.terms;
    is_own &= x->users().size() == 1 && !x->IsRoot();
    if (x->opcode() == HloOpcode::kNegate) {
      found.is_negated = !found.is_negated;
      found.terms = x->operand(0);
      continue;
    }
    if (x->opcode() != HloOpcode::kMultiply) break;
    const int64_t factor = IsFactor(*reduce, *x->operand(1)) ? 1 : 0;
    if (!IsFactor(*reduce, *x->operand(factor))) break;
    found.broadcasts.push_back(x->operand(factor));
    found.terms = x->operand(1 - factor);
    // Where the multiples are an array for others, the terms must not become one too.
    const bool is_cheap =
        found.terms->IsParameter() || (IsElementwise(found.terms->opcode()) && !IsExpensiveToRepeat(*found.terms));
    if (is_own || is_cheap) best = found;
  }
  return best.broadcasts.empty() ? std::nullopt : std::make_optional(best);
}

class SumFactors : public FusionPass {
 public:
  absl::string_view name() const override { return "factor-sums"; }

 private:
  absl::StatusOr<bool> FuseComputation(HloComputation* computation, const PassContext& context) override {
    bool changed = false;
    for (HloInstruction* reduce : computation->MakePostOrder()) {
      if (!IsCandidate(*reduce)) continue;
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      const std::optional<Factors> factors = FactorsOf(reduce);
      if (!factors.has_value()) continue;
      HILO_RETURN_IF_ERROR(Replace(reduce, *factors));
      changed = true;
    }
    return changed;
  }

  // Narrow floats could overflow in a sum whose terms are not scaled yet.
  static bool IsCandidate(const HloInstruction& x) {
    if (x.opcode() != HloOpcode::kReduce || !x.shape().IsArray() || x.IsDead() || x.HasControlDependencies() ||
        (x.shape().element_type() != F32 && x.shape().element_type() != F64) ||
        !ShapeUtil::SameElementType(x.shape(), x.operand(0)->shape()) ||
        ShapeUtil::IsZeroElementArray(x.operand(0)->shape()) || ReductionOp(*x.called_computation()) != HloOpcode::kAdd)
      return false;
    const HloInstruction& init = *x.operand(1);
    return init.IsConstant() && init.literal().GetAsDouble(0) == 0;
  }

  static absl::Status Replace(HloInstruction* reduce, const Factors& factors) {
    HloComputation* const computation = reduce->parent();
    const std::vector<int64_t>& reduced = reduce->attrs<ReduceAttrs>().dimensions;
    HILO_ASSIGN_OR_RETURN(HloInstruction * sum,
                          MakeReduce(factors.terms, reduce->operand(1), reduced, reduce->called_computation()));
    for (HloInstruction* broadcast : factors.broadcasts) {
      std::vector<int64_t> dimensions;  // in the result, which has no reduced ones
      for (const int64_t d : broadcast->attrs<BroadcastAttrs>().dimensions)
        dimensions.push_back(d - absl::c_count_if(reduced, [&](int64_t other) { return other < d; }));
      HloInstruction* factor = broadcast->operand(0);
      if (static_cast<int64_t>(dimensions.size()) != reduce->shape().rank()) {
        HILO_ASSIGN_OR_RETURN(factor, MakeBroadcast(factor, reduce->shape(), std::move(dimensions)));
      }
      HILO_ASSIGN_OR_RETURN(sum, MakeBinary(HloOpcode::kMultiply, sum, factor));
    }
    if (factors.is_negated) {
      HILO_ASSIGN_OR_RETURN(sum, computation->AddOp(HloOpcode::kNegate, {sum}));
    }
    return computation->ReplaceInstruction(reduce, sum);
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeSumFactors() { return std::make_unique<SumFactors>(); }

}  // namespace hilo
