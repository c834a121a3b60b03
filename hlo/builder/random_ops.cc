#include "hilo/xla_builder.h"
#include "hlo/builder/add_op.h"
#include "hlo/ops/random/random_attributes.h"

namespace hilo {
namespace {

XlaOp Rng(RandomDistribution distribution, XlaOp a, XlaOp b, const Shape& shape) {
  XlaBuilder* builder = a.builder() != nullptr ? a.builder() : b.builder();
  if (builder == nullptr) return XlaOp();
  auto attributes = std::make_unique<RngAttrs>();
  attributes->distribution = distribution;
  return AddOp(builder, HloOpcode::kRng, {a, b}, std::move(attributes), {}, &shape);
}

}  // namespace

XlaOp RngNormal(XlaOp mu, XlaOp sigma, const Shape& shape) {
  return Rng(RandomDistribution::kNormal, mu, sigma, shape);
}
XlaOp RngUniform(XlaOp a, XlaOp b, const Shape& shape) { return Rng(RandomDistribution::kUniform, a, b, shape); }

XlaOp RngBitGenerator(RandomAlgorithm algorithm, XlaOp initial_state, const Shape& shape) {
  XlaBuilder* builder = initial_state.builder();
  if (builder == nullptr) return XlaOp();
  const absl::StatusOr<Shape> state = builder->GetShape(initial_state);
  if (!state.ok()) return builder->ReportError(state.status());
  auto attributes = std::make_unique<RngBitGeneratorAttrs>();
  attributes->algorithm = algorithm;
  const Shape result = ShapeUtil::MakeTupleShape({*state, shape});
  return AddOp(builder, HloOpcode::kRngBitGenerator, {initial_state}, std::move(attributes), {}, &result);
}

XlaOp RngGetAndUpdateState(XlaBuilder* builder, int64_t delta) {
  auto attributes = std::make_unique<RngGetAndUpdateStateAttrs>();
  attributes->delta = delta;
  return AddOp(builder, HloOpcode::kRngGetAndUpdateState, {}, std::move(attributes));
}

XlaOp StochasticConvertType(XlaOp operand, XlaOp random, PrimitiveType new_element_type) {
  XlaBuilder* builder = operand.builder() != nullptr ? operand.builder() : random.builder();
  if (builder == nullptr) return XlaOp();
  const absl::StatusOr<Shape> shape = builder->GetShape(operand);
  if (!shape.ok()) return builder->ReportError(shape.status());
  Shape result = *shape;
  result.set_element_type(new_element_type);
  return AddOp(builder, HloOpcode::kStochasticConvert, {operand, random}, nullptr, {}, &result);
}

}  // namespace hilo
