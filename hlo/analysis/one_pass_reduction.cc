#include "hlo/analysis/one_pass_reduction.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

using Result = absl::StatusOr<HloInstruction*>;

// Emits scalar arithmetic; the first error stays.
class Scalars {
 public:
  explicit Scalars(HloComputation* computation) : computation_(*computation) {}

  HloInstruction* Parameter(int64_t number, PrimitiveType type) {
    return computation_.AddInstruction(HloInstruction::CreateParameter(number, ShapeUtil::MakeScalarShape(type), "x"));
  }
  HloInstruction* Constant(PrimitiveType type, double value) {
    return computation_.AddConstant(LiteralUtil::FromDouble(type, value));
  }
  HloInstruction* Op(HloOpcode opcode, absl::Span<HloInstruction* const> operands,
                     std::unique_ptr<OpAttributes> attributes = nullptr, const Shape* stated = nullptr) {
    if (!status_.ok()) return nullptr;
    Result result = computation_.AddOp(opcode, operands, std::move(attributes), {}, stated);
    status_ = result.status();
    return result.ok() ? *result : nullptr;
  }
  HloInstruction* Add(HloInstruction* x, HloInstruction* y) { return Op(HloOpcode::kAdd, {x, y}); }
  HloInstruction* Subtract(HloInstruction* x, HloInstruction* y) { return Op(HloOpcode::kSubtract, {x, y}); }
  HloInstruction* Multiply(HloInstruction* x, HloInstruction* y) { return Op(HloOpcode::kMultiply, {x, y}); }
  HloInstruction* Divide(HloInstruction* x, HloInstruction* y) { return Op(HloOpcode::kDivide, {x, y}); }
  HloInstruction* Select(HloInstruction* p, HloInstruction* x, HloInstruction* y) {
    return Op(HloOpcode::kSelect, {p, x, y});
  }
  HloInstruction* Compare(ComparisonDirection direction, HloInstruction* x, HloInstruction* y) {
    auto attributes = std::make_unique<CompareAttrs>();
    attributes->direction = direction;
    return Op(HloOpcode::kCompare, {x, y}, std::move(attributes));
  }
  HloInstruction* Convert(HloInstruction* x, PrimitiveType type) {
    if (x == nullptr || x->shape().element_type() == type) return x;
    const Shape shape = ShapeUtil::MakeScalarShape(type);
    return Op(HloOpcode::kConvert, {x}, nullptr, &shape);
  }

  absl::StatusOr<HloComputation*> Finish(absl::Span<HloInstruction* const> results) {
    HloInstruction* const root = Op(HloOpcode::kTuple, results);
    HILO_RETURN_IF_ERROR(status_);
    HILO_RETURN_IF_ERROR(computation_.set_root_instruction(root));
    return &computation_;
  }

 private:
  HloComputation& computation_;
  absl::Status status_;
};

// Returns true if the computations have the same instructions in the same order.
bool AreSame(const HloComputation& a, const HloComputation& b) {
  const std::vector<HloInstruction*> of_a = a.MakePostOrder(), of_b = b.MakePostOrder();
  if (of_a.size() != of_b.size() || a.num_parameters() != b.num_parameters()) return false;
  absl::flat_hash_map<const HloInstruction*, const HloInstruction*> matches;
  for (size_t i = 0; i < of_a.size(); ++i) {
    const HloInstruction &x = *of_a[i], &y = *of_b[i];
    if (x.opcode() != y.opcode() || !ShapeUtil::Compatible(x.shape(), y.shape()) ||
        x.operand_count() != y.operand_count() || !x.called_computations().empty())
      return false;
    if (x.IsParameter() && x.parameter_number() != y.parameter_number()) return false;
    if (x.IsConstant() && !(x.literal() == y.literal())) return false;
    if (!x.IsConstant() && !x.IsParameter()) {
      if ((x.attributes() == nullptr) != (y.attributes() == nullptr)) return false;
      if (x.attributes() != nullptr && !x.attributes()->Equals(*y.attributes())) return false;
    }
    for (int64_t j = 0; j < x.operand_count(); ++j) {
      const auto match = matches.find(x.operand(j));
      if (match == matches.end() || match->second != y.operand(j)) return false;
    }
    matches[&x] = &y;
  }
  return matches.at(a.root_instruction()) == b.root_instruction();
}

}  // namespace

absl::StatusOr<HloComputation*> AddExponentialSum(HloModule* module, PrimitiveType element, PrimitiveType sum) {
  Scalars e(module->AddComputation("exponential_sum"));
  HloInstruction *m1 = e.Parameter(0, element), *s1 = e.Parameter(1, sum), *m2 = e.Parameter(2, element),
                 *s2 = e.Parameter(3, sum);
  // The sum of the smaller maximum is scaled. The difference of equal infinities is no number.
  HloInstruction* const difference = e.Subtract(e.Convert(m2, sum), e.Convert(m1, sum));
  HloInstruction* const scale =
      e.Op(HloOpcode::kExp, {e.Op(HloOpcode::kNegate, {e.Op(HloOpcode::kAbs, {difference})})});
  HloInstruction* const factor = e.Select(e.Compare(ComparisonDirection::kEq, m1, m2), e.Constant(sum, 1), scale);
  HloInstruction* const grows = e.Compare(ComparisonDirection::kGt, m2, m1);
  HloInstruction* const larger = e.Select(grows, s2, s1);
  HloInstruction* const smaller = e.Select(grows, s1, s2);
  return e.Finish({e.Op(HloOpcode::kMaximum, {m1, m2}), e.Add(larger, e.Multiply(smaller, factor))});
}

absl::StatusOr<HloComputation*> AddMoments(HloModule* module, PrimitiveType type) {
  Scalars e(module->AddComputation("moments"));
  HloInstruction *s1 = e.Parameter(0, type), *v1 = e.Parameter(1, type), *n1 = e.Parameter(2, type),
                 *s2 = e.Parameter(3, type), *v2 = e.Parameter(4, type), *n2 = e.Parameter(5, type);
  HloInstruction* const n = e.Add(n1, n2);
  // Of no elements the sum is 0, and so is the weight of their mean, whatever it is.
  HloInstruction* const one = e.Constant(type, 1);
  const auto mean = [&](HloInstruction* sum, HloInstruction* count) {
    return e.Divide(sum, e.Op(HloOpcode::kMaximum, {count, one}));
  };
  HloInstruction* const difference = e.Subtract(mean(s2, n2), mean(s1, n1));
  HloInstruction* const weight = e.Multiply(n2, e.Divide(n1, e.Op(HloOpcode::kMaximum, {n, one})));
  // Weighted first: the square of a large number from which nothing differs yet would be infinite.
  HloInstruction* const between = e.Multiply(e.Multiply(difference, weight), difference);
  return e.Finish({e.Add(s1, s2), e.Add(e.Add(v1, v2), between), n});
}

bool IsOnePassReduction(const HloInstruction& reduce) {
  const HloComputation& combine = *reduce.called_computation();
  const int64_t count = reduce.operand_count() / 2;
  if (reduce.opcode() != HloOpcode::kReduce || (count != 2 && count != 3)) return false;
  const PrimitiveType first = reduce.operand(0)->shape().element_type(),
                      second = reduce.operand(1)->shape().element_type();
  if (!IsFloatingPointType(first) || (second != F32 && second != F64)) return false;
  HloModule module("combination");
  const absl::StatusOr<HloComputation*> known =
      count == 2 ? AddExponentialSum(&module, first, second) : AddMoments(&module, first);
  return known.ok() && AreSame(combine, **known);
}

bool IsMomentsOfElements(const HloInstruction& reduce) {
  constexpr int64_t kArrays = 3;
  if (reduce.opcode() != HloOpcode::kReduce || reduce.operand_count() != 2 * kArrays) return false;
  const auto is_all = [&](int64_t operand, double value) {
    const HloInstruction* x = reduce.operand(operand);
    if (x->opcode() == HloOpcode::kBroadcast) x = x->operand(0);
    return x->IsConstant() && x->shape().IsScalar() && x->literal().GetAsDouble(0) == value;
  };
  return is_all(1, 0) && is_all(2, 1) && IsOnePassReduction(reduce);
}

}  // namespace hilo
