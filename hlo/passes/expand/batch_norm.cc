// Batch normalizations in reductions and element-wise ops. All is computed in F32 (F64 if some operand is), and rounded
// once; the variance is the mean of the squared distances from the mean, which unlike the difference of two large means
// is never negative.
#include "hilo/status_macros.h"
#include "hlo/ops/reduction/batch_norm_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo {
namespace {

// One of the three ops while it is being written.
class BatchNorm {
 public:
  BatchNorm(const HloInstruction& instruction, XlaBuilder* builder, absl::Span<const XlaOp> operands)
      : builder_(builder),
        shape_(instruction.operand(0)->shape()),
        feature_(instruction.attrs<BatchNormAttrs>().feature_index) {
    for (const HloInstruction* operand : instruction.operands()) {
      if (operand->shape().element_type() == F64) type_ = F64;
    }
    for (XlaOp operand : operands) operands_.push_back(ConvertElementType(operand, type_));
    for (int64_t d = 0; d < shape_.rank(); ++d) {
      if (d != feature_) reduced_.push_back(d);
    }
    const int64_t features = shape_.dimensions(feature_);
    double count = 1;
    for (int64_t d : reduced_) count *= shape_.is_dynamic_dimension(d) ? 1 : static_cast<double>(shape_.dimensions(d));
    XlaOp total = Constant(count);
    for (int64_t d : reduced_) {
      if (shape_.is_dynamic_dimension(d)) total = total * ConvertElementType(GetDimensionSize(operands[0], d), type_);
    }
    count_ = Broadcast(total, {features});
    // As XLA, which holds it in single precision.
    epsilon_ = Broadcast(Constant(static_cast<float>(instruction.attrs<BatchNormAttrs>().epsilon)), {features});
  }

  XlaOp operand(int64_t i) const { return operands_[i]; }

  XlaOp Result(XlaOp value) const { return ConvertElementType(value, shape_.element_type()); }
  // A value of each feature, for each element of the array.
  XlaOp Spread(XlaOp per_feature) const { return BroadcastInDim(per_feature, shape_.dimensions(), {feature_}); }
  absl::StatusOr<XlaOp> Sum(XlaOp array) const {
    XlaBuilder add("add");
    const Shape scalar = ShapeUtil::MakeScalarShape(type_);
    Add(Parameter(&add, 0, scalar, "x"), Parameter(&add, 1, scalar, "y"));
    HILO_ASSIGN_OR_RETURN(const XlaComputation sum, add.Build());
    return Reduce(array, Constant(0), sum, reduced_);
  }
  absl::StatusOr<XlaOp> Mean(XlaOp array) const {
    HILO_ASSIGN_OR_RETURN(const XlaOp sum, Sum(array));
    return Div(sum, count_);
  }
  // 1 / sqrt(variance + epsilon).
  XlaOp Scale(XlaOp variance) const { return Rsqrt(Add(variance, epsilon_)); }

 private:
  XlaOp Constant(double value) const { return ConstantLiteral(builder_, LiteralUtil::FromDouble(type_, value)); }

  XlaBuilder* builder_;
  const Shape& shape_;  // of the array
  int64_t feature_;
  PrimitiveType type_ = F32;
  std::vector<XlaOp> operands_;
  std::vector<int64_t> reduced_;
  XlaOp count_, epsilon_;
};

}  // namespace

absl::StatusOr<XlaOp> ExpandBatchNormTraining(const HloInstruction& instruction, XlaBuilder* builder,
                                              absl::Span<const XlaOp> operands) {
  const BatchNorm norm(instruction, builder, operands);
  const XlaOp x = norm.operand(0), scale = norm.operand(1), offset = norm.operand(2);
  HILO_ASSIGN_OR_RETURN(const XlaOp mean, norm.Mean(x));
  const XlaOp centered = x - norm.Spread(mean);
  HILO_ASSIGN_OR_RETURN(const XlaOp variance, norm.Mean(centered * centered));
  const XlaOp y = centered * norm.Spread(norm.Scale(variance) * scale) + norm.Spread(offset);
  return Tuple(builder, {norm.Result(y), norm.Result(mean), norm.Result(variance)});
}

absl::StatusOr<XlaOp> ExpandBatchNormInference(const HloInstruction& instruction, XlaBuilder* builder,
                                               absl::Span<const XlaOp> operands) {
  const BatchNorm norm(instruction, builder, operands);
  const XlaOp x = norm.operand(0), scale = norm.operand(1), offset = norm.operand(2);
  const XlaOp mean = norm.operand(3), variance = norm.operand(4);
  const XlaOp y = (x - norm.Spread(mean)) * norm.Spread(norm.Scale(variance) * scale) + norm.Spread(offset);
  return norm.Result(y);
}

absl::StatusOr<XlaOp> ExpandBatchNormGrad(const HloInstruction& instruction, XlaBuilder* builder,
                                          absl::Span<const XlaOp> operands) {
  const BatchNorm norm(instruction, builder, operands);
  const XlaOp x = norm.operand(0), scale = norm.operand(1), mean = norm.operand(2), variance = norm.operand(3);
  const XlaOp grad = norm.operand(4);
  const XlaOp inverse = norm.Scale(variance);
  const XlaOp centered = x - norm.Spread(mean);
  HILO_ASSIGN_OR_RETURN(const XlaOp grad_offset, norm.Sum(grad));
  HILO_ASSIGN_OR_RETURN(const XlaOp product, norm.Sum(grad * centered));
  HILO_ASSIGN_OR_RETURN(const XlaOp mean_grad, norm.Mean(grad));
  HILO_ASSIGN_OR_RETURN(const XlaOp mean_product, norm.Mean(grad * centered));
  const XlaOp slope = mean_product * inverse * inverse;
  const XlaOp grad_x = norm.Spread(scale * inverse) * (grad - norm.Spread(mean_grad) - norm.Spread(slope) * centered);
  return Tuple(builder, {norm.Result(grad_x), norm.Result(product * inverse), norm.Result(grad_offset)});
}

}  // namespace hilo
