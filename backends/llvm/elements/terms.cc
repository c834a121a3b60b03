#include "backends/llvm/elements/terms.h"

#include <utility>

#include "backends/llvm/elements/scalar_computation.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/one_pass_reduction.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/reduction/sum_type.h"

namespace hilo::codegen {
namespace {

PrimitiveType SumTypeOf(const HloInstruction& dot) {
  return SumType(dot.operand(0)->shape().element_type(), dot.operand(1)->shape().element_type(),
                 dot.shape().element_type());
}

std::vector<int64_t> DimensionsOf(const Shape& shape) { return {shape.dimensions().begin(), shape.dimensions().end()}; }

}  // namespace

absl::StatusOr<ElementValues> InitsOf(ElementEmitter& emitter, const HloInstruction& reduce) {
  ElementValues inits;
  for (int64_t i = reduce.operand_count() / 2; i < reduce.operand_count(); ++i) {
    HILO_ASSIGN_OR_RETURN(inits.emplace_back(), emitter.Generate(reduce.operand(i), Index()));
  }
  return inits;
}

absl::StatusOr<ElementValues> ElementsOf(ElementEmitter& emitter, const HloInstruction& reduce, const Index& index) {
  ElementValues elements;
  for (int64_t i = 0; i < reduce.operand_count() / 2; ++i) {
    HILO_ASSIGN_OR_RETURN(elements.emplace_back(), emitter.Generate(reduce.operand(i), index));
  }
  return elements;
}

absl::StatusOr<ElementValues> Combine(EmitterContext& context, const HloComputation& computation,
                                      const ElementValues& earlier, const ElementValues& later) {
  ElementValues arguments = earlier;
  arguments.insert(arguments.end(), later.begin(), later.end());
  return EmitComputation(context, computation, arguments);
}

absl::StatusOr<ElementValues> Terms::Add(const ElementValues& running, absl::Span<const LaneIndex> kept,
                                         absl::Span<const LaneIndex> reduced) {
  HILO_ASSIGN_OR_RETURN(const ElementValues term, Term(kept, reduced));
  return Merge(running, term);
}

ReduceTerms::ReduceTerms(ElementEmitter& emitter, Reduction reduction)
    : Terms(emitter, reduction.kept_sizes, reduction.reduced_sizes, reduction.types),
      reduction_(std::move(reduction)) {}

absl::StatusOr<ElementValues> ReduceTerms::Start() { return InitsOf(emitter_, *reduction_.reduce); }

absl::StatusOr<ElementValues> ReduceTerms::Identity() {
  const std::optional<HloOpcode> opcode = ReductionOp(reduction_.computation());
  const std::optional<Literal> identity =
      opcode.has_value() ? IdentityOf(*opcode, types()[0]) : std::optional<Literal>();
  HILO_RET_CHECK(identity.has_value()) << "a reduction without an identity";
  return ElementValues{EmitLiteral(context(), *identity)};
}

Index ReduceTerms::IndexOf(absl::Span<const LaneIndex> kept, absl::Span<const LaneIndex> reduced) const {
  std::vector<LaneIndex> at(reduction_.input.rank());
  for (size_t i = 0; i < kept.size(); ++i) at[reduction_.kept[i]] = kept[i];
  for (size_t i = 0; i < reduced.size(); ++i) at[reduction_.reduced[i]] = reduced[i];
  return Index(std::move(at));
}

absl::StatusOr<ElementValues> ReduceTerms::Term(absl::Span<const LaneIndex> kept, absl::Span<const LaneIndex> reduced) {
  return ElementsOf(emitter_, *reduction_.reduce, IndexOf(kept, reduced));
}

bool ReduceTerms::IsFloatExtreme() const {
  const std::optional<HloOpcode> opcode = ReductionOp(reduction_.computation());
  return (opcode == HloOpcode::kMaximum || opcode == HloOpcode::kMinimum) && types().size() == 1 &&
         (types()[0] == F32 || types()[0] == F64);
}

absl::StatusOr<ElementValues> ReduceTerms::Merge(const ElementValues& earlier, const ElementValues& later) {
  return Combine(context(), reduction_.computation(), earlier, later);
}

bool ReduceTerms::AreMoments() const { return IsMomentsOfElements(*reduction_.reduce); }

absl::StatusOr<ElementValues> ReduceTerms::AddRun(const ElementValues& running, absl::Span<const ElementValues> terms) {
  const PrimitiveType type = types()[0];
  const auto op = [&](HloOpcode opcode, const ElementValue& x, const ElementValue& y) {
    return EmitBinaryOp(context(), opcode, type, x, y);
  };
  const auto number = [&](double value) { return EmitLiteral(context(), LiteralUtil::FromDouble(type, value)); };
  const auto count = static_cast<double>(terms.size());
  ElementValue sum = terms[0][0];
  for (const ElementValues& term : terms.subspan(1)) {
    HILO_ASSIGN_OR_RETURN(sum, op(HloOpcode::kAdd, sum, term[0]));
  }
  HILO_ASSIGN_OR_RETURN(const ElementValue mean, op(HloOpcode::kMultiply, sum, number(1 / count)));
  ElementValue squares = number(0);
  for (const ElementValues& term : terms) {
    HILO_ASSIGN_OR_RETURN(const ElementValue difference, op(HloOpcode::kSubtract, term[0], mean));
    HILO_ASSIGN_OR_RETURN(const ElementValue square, op(HloOpcode::kMultiply, difference, difference));
    HILO_ASSIGN_OR_RETURN(squares, op(HloOpcode::kAdd, squares, square));
  }
  return Merge(running, {sum, squares, number(count)});
}

DotTerms::DotTerms(ElementEmitter& emitter, const HloInstruction& dot)
    : Terms(emitter, DimensionsOf(dot.shape()), LhsOf(dot).contracting_sizes, {SumTypeOf(dot)}),
      dot_(dot),
      lhs_(LhsOf(dot)),
      rhs_(RhsOf(dot)) {}

// A product that nothing is added to may be -0.
absl::StatusOr<ElementValues> DotTerms::Identity() {
  const ElementValue zero = EmitZero(context(), types()[0]);
  if (!lhs_.contracting.empty() || !IsFloatingPointType(types()[0])) return ElementValues{zero};
  return ElementValues{{llvm::ConstantFP::getNegativeZero(zero.re->getType())}};
}

absl::StatusOr<ElementValue> DotTerms::Factor(const DotSide& side, absl::Span<const LaneIndex> batch,
                                              absl::Span<const LaneIndex> free, absl::Span<const LaneIndex> reduced) {
  std::vector<LaneIndex> at(side.operand->shape().rank());
  for (size_t i = 0; i < batch.size(); ++i) at[side.batch[i]] = batch[i];
  for (size_t i = 0; i < free.size(); ++i) at[side.free[i]] = free[i];
  for (size_t i = 0; i < reduced.size(); ++i) at[side.contracting[i]] = reduced[i];
  HILO_ASSIGN_OR_RETURN(const ElementValue value, emitter_.Generate(side.operand, Index(std::move(at))));
  return EmitConvert(context(), side.operand->shape().element_type(), types()[0], value);
}

absl::StatusOr<ElementValues> DotTerms::Term(absl::Span<const LaneIndex> kept, absl::Span<const LaneIndex> reduced) {
  const auto batch = kept.first(lhs_.batch.size());
  HILO_ASSIGN_OR_RETURN(const ElementValue x,
                        Factor(lhs_, batch, kept.subspan(batch.size(), lhs_.free.size()), reduced));
  HILO_ASSIGN_OR_RETURN(const ElementValue y,
                        Factor(rhs_, batch, kept.subspan(batch.size() + lhs_.free.size()), reduced));
  HILO_ASSIGN_OR_RETURN(const ElementValue product, EmitBinaryOp(context(), HloOpcode::kMultiply, types()[0], x, y));
  return ElementValues{product};
}

absl::StatusOr<ElementValues> DotTerms::Merge(const ElementValues& earlier, const ElementValues& later) {
  HILO_ASSIGN_OR_RETURN(const ElementValue sum,
                        EmitBinaryOp(context(), HloOpcode::kAdd, types()[0], earlier[0], later[0]));
  return ElementValues{sum};
}

ElementValues DotTerms::Finish(const ElementValues& running) {
  return {EmitConvert(context(), types()[0], dot_.shape().element_type(), running[0])};
}

}  // namespace hilo::codegen
