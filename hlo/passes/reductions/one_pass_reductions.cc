// Two reductions of an array, of which the second one needs the first one's result, become one of several arrays
// (hlo/analysis/one_pass_reduction.h), which reads the array once:
//
//   m = reduce(x), max                                     the denominator of a softmax, of a log-sum-exp
//   s = reduce(exponential(x - broadcast(m))), add    =>   (m, s) = reduce(x, 1), the sum scaled as the maximum grows
//
//   t = reduce(x), add                                     a mean and a variance
//   v = reduce((x - broadcast(t / n))^2), add         =>   (t, v, n) = reduce(x, 0, 1)
//
// Sums of exponentials of narrow floats are not rounded before they are added up. What the second reduction makes of
// infinite maxima stays: exp(inf - inf) is no number.
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/one_pass_reduction.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/fusion/fusion_pass.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Smaller arrays stay in a cache between two kernels.
constexpr int64_t kMinElements = int64_t{1} << 16;
// The relative error of the factor by which a sum becomes a mean.
constexpr double kMeanError = 1e-6;

// Returns what `x` is converted from, by conversions that keep every value.
const HloInstruction* Narrowest(const HloInstruction* x) {
  while (x->opcode() == HloOpcode::kConvert && IsFloatingPointType(x->operand(0)->shape().element_type()) &&
         (x->shape().element_type() == F32 || x->shape().element_type() == F64) &&
         PrimitiveTypeBitWidth(x->operand(0)->shape().element_type()) <
             PrimitiveTypeBitWidth(x->shape().element_type()))
    x = x->operand(0);
  return x;
}

const Literal* ScalarOf(const HloInstruction* x) {
  if (x->opcode() == HloOpcode::kBroadcast) x = x->operand(0);
  return x->IsConstant() && x->shape().IsScalar() ? &x->literal() : nullptr;
}

bool Is(const HloInstruction* x, double value) {
  const Literal* const literal = ScalarOf(x);
  return literal != nullptr && literal->GetAsDouble(0) == value;
}

// Returns the array of one value for each result of `reduce` that `x`, of its operand's dimensions, repeats; or null.
const HloInstruction* RepeatedAlong(const HloInstruction& reduce, const HloInstruction* x) {
  x = Narrowest(x);
  if (x->opcode() != HloOpcode::kBroadcast) return nullptr;
  std::vector<int64_t> kept;
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    if (!absl::c_linear_search(reduce.attrs<ReduceAttrs>().dimensions, d)) kept.push_back(d);
  }
  return x->attrs<BroadcastAttrs>().dimensions == kept ? Narrowest(x->operand(0)) : nullptr;
}

// Returns true if `x` reduces `array`, narrowed or not, as `second` does, by `op` from `init`.
bool IsFirst(const HloInstruction& x, HloOpcode op, double init, const HloInstruction* array,
             const HloInstruction& second) {
  return x.opcode() == HloOpcode::kReduce && x.shape().IsArray() && !x.HasControlDependencies() &&
         ShapeUtil::SameElementType(x.shape(), x.operand(0)->shape()) && ReductionOp(*x.called_computation()) == op &&
         Narrowest(x.operand(0)) == Narrowest(array) &&
         x.attrs<ReduceAttrs>().dimensions == second.attrs<ReduceAttrs>().dimensions && Is(x.operand(1), init);
}

struct Pair {
  HloInstruction* first;   // a maximum or a sum
  HloInstruction* second;  // a sum
  bool is_exponential = false;
  // A sum of exponentials subtracts 0 where the maximum is infinite.
  bool is_finite = false;
};

std::optional<Pair> ExponentialSumOf(HloInstruction* sum) {
  const HloInstruction* const exp = Narrowest(sum->operand(0));
  if (exp->opcode() != HloOpcode::kExp || exp->operand(0)->opcode() != HloOpcode::kSubtract) return std::nullopt;
  const HloInstruction* const difference = exp->operand(0);
  const HloInstruction* shift = RepeatedAlong(*sum, difference->operand(1));
  if (shift == nullptr) return std::nullopt;
  bool is_finite = false;
  if (shift->opcode() == HloOpcode::kSelect && Is(shift->operand(2), 0)) {
    // select(is-finite(m), m, 0)
    const HloInstruction* const test = shift->operand(0);
    shift = shift->operand(1);
    if (test->opcode() != HloOpcode::kIsFinite || test->operand(0) != shift) return std::nullopt;
    is_finite = true;
    shift = Narrowest(shift);
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!IsFirst(*shift, HloOpcode::kMaximum, -kInfinity, difference->operand(0), *sum)) return std::nullopt;
  return Pair{const_cast<HloInstruction*>(shift), sum, /*is_exponential=*/true, is_finite};
}

std::optional<Pair> MomentsOf(HloInstruction* sum) {
  const HloInstruction* const square = sum->operand(0);
  if (square->opcode() != HloOpcode::kMultiply || square->operand(0) != square->operand(1)) return std::nullopt;
  const HloInstruction* const difference = square->operand(0);
  if (difference->opcode() != HloOpcode::kSubtract) return std::nullopt;
  const HloInstruction* const mean = RepeatedAlong(*sum, difference->operand(1));
  if (mean == nullptr || mean->operand_count() != 2) return std::nullopt;
  // The mean is a multiple of the sum of the same type.
  const HloInstruction *total = mean->operand(0), *factor = mean->operand(1);
  if (mean->opcode() == HloOpcode::kMultiply && ScalarOf(total) != nullptr) std::swap(total, factor);
  const Literal* const number = ScalarOf(factor);
  if (number == nullptr || total->shape().element_type() != sum->shape().element_type()) return std::nullopt;
  const double count = static_cast<double>(ShapeUtil::ElementsIn(square->shape())) /
                       static_cast<double>(ShapeUtil::ElementsIn(sum->shape()));
  const double scaled = mean->opcode() == HloOpcode::kMultiply ? number->GetAsDouble(0) * count
                        : mean->opcode() == HloOpcode::kDivide ? number->GetAsDouble(0) / count
                                                               : 0;
  if (std::abs(scaled - 1) > kMeanError || !IsFirst(*total, HloOpcode::kAdd, 0, difference->operand(0), *sum))
    return std::nullopt;
  return Pair{const_cast<HloInstruction*>(total), sum};
}

class OnePassReductions : public FusionPass {
 public:
  explicit OnePassReductions(std::function<bool(const HloInstruction&)> accepts) : accepts_(std::move(accepts)) {}
  absl::string_view name() const override { return "one-pass-reductions"; }

 private:
  absl::StatusOr<bool> FuseComputation(HloComputation* computation, const PassContext& context) override {
    bool changed = false;
    for (HloInstruction* reduce : computation->MakePostOrder()) {
      if (!IsCandidate(*reduce)) continue;
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      std::optional<Pair> pair = ExponentialSumOf(reduce);
      if (!pair.has_value()) pair = MomentsOf(reduce);
      if (!pair.has_value()) continue;
      HILO_RETURN_IF_ERROR(Replace(computation, *pair));
      changed = true;
    }
    return changed;
  }

  bool IsCandidate(const HloInstruction& x) const {
    return x.opcode() == HloOpcode::kReduce && x.shape().IsArray() && !x.IsDead() && !x.HasControlDependencies() &&
           (x.shape().element_type() == F32 || x.shape().element_type() == F64) &&
           ShapeUtil::SameElementType(x.shape(), x.operand(0)->shape()) &&
           ReductionOp(*x.called_computation()) == HloOpcode::kAdd && Is(x.operand(1), 0) &&
           ShapeUtil::ElementsIn(x.operand(0)->shape()) >= kMinElements && accepts_(x);
  }

  static absl::Status Replace(HloComputation* computation, const Pair& pair) {
    HloModule* const module = computation->parent();
    const PrimitiveType type = pair.second->shape().element_type();
    HloInstruction* const array = pair.first->operand(0);
    HloInstruction* const zero = computation->AddConstant(LiteralUtil::Zero(type));
    const auto uniform = [&](double value) -> absl::StatusOr<HloInstruction*> {
      const Shape shape = ShapeUtil::MakeShape(type, array->shape().dimensions());
      return MakeBroadcast(computation->AddConstant(LiteralUtil::FromDouble(type, value)), shape, {});
    };
    HloComputation* combine = nullptr;
    std::vector<HloInstruction*> arrays = {array}, inits = {pair.first->operand(1), zero};
    if (pair.is_exponential) {
      HILO_ASSIGN_OR_RETURN(combine, AddExponentialSum(module, array->shape().element_type(), type));
    } else {
      HILO_ASSIGN_OR_RETURN(combine, AddMoments(module, type));
      // -0 changes nothing, of either sign, that it is added to.
      HILO_ASSIGN_OR_RETURN(arrays.emplace_back(), uniform(-0.0));
      inits.push_back(zero);
    }
    HILO_ASSIGN_OR_RETURN(arrays.emplace_back(), uniform(1));
    arrays.insert(arrays.end(), inits.begin(), inits.end());
    auto attributes = std::make_unique<ReduceAttrs>();
    attributes->dimensions = pair.second->attrs<ReduceAttrs>().dimensions;
    HILO_ASSIGN_OR_RETURN(HloInstruction* const both,
                          computation->AddOp(HloOpcode::kReduce, arrays, std::move(attributes), {&combine, 1}));
    HILO_ASSIGN_OR_RETURN(HloInstruction* const first, MakeTupleElement(both, 0));
    HILO_ASSIGN_OR_RETURN(HloInstruction * second, MakeTupleElement(both, 1));
    if (pair.is_exponential) {
      HILO_ASSIGN_OR_RETURN(second, OfInfiniteMaxima(first, second, pair.is_finite));
    }
    // The first one is gone with the second one if nothing else reads it.
    HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(pair.first, first));
    return computation->ReplaceInstruction(pair.second, second);
  }

  // Returns `sum` where the maximum is finite, and what the exponentials less infinities add up to where it is not:
  // those of infinities alone if 0 is subtracted there.
  static absl::StatusOr<HloInstruction*> OfInfiniteMaxima(HloInstruction* maximum, HloInstruction* sum,
                                                          bool is_finite) {
    HloComputation* const computation = sum->parent();
    HILO_ASSIGN_OR_RETURN(HloInstruction* const finite, computation->AddOp(HloOpcode::kIsFinite, {maximum}));
    HILO_ASSIGN_OR_RETURN(HloInstruction * other,
                          MakeUniform(sum, is_finite ? 0 : std::numeric_limits<double>::quiet_NaN()));
    if (is_finite) {
      HloInstruction* wide = maximum;
      if (!ShapeUtil::SameElementType(maximum->shape(), sum->shape())) {
        HILO_ASSIGN_OR_RETURN(wide, computation->AddOp(HloOpcode::kConvert, {maximum}, nullptr, {}, &sum->shape()));
      }
      HILO_ASSIGN_OR_RETURN(other, MakeBinary(HloOpcode::kMaximum, wide, other));
    }
    return computation->AddOp(HloOpcode::kSelect, {finite, sum, other});
  }

  const std::function<bool(const HloInstruction&)> accepts_;
};

}  // namespace

std::unique_ptr<HloPass> MakeOnePassReductions(std::function<bool(const HloInstruction& reduce)> accepts) {
  return std::make_unique<OnePassReductions>(std::move(accepts));
}

}  // namespace hilo
