#include "hilo/xla_builder.h"
#include "hlo/builder/add_op.h"
#include "hlo/ops/reduction/batch_norm_attributes.h"

namespace hilo {
namespace {

XlaOp Emit(HloOpcode opcode, absl::Span<const XlaOp> operands, float epsilon, int64_t feature_index) {
  auto attributes = std::make_unique<BatchNormAttrs>();
  attributes->epsilon = epsilon;
  attributes->feature_index = feature_index;
  if (operands[0].builder() == nullptr) return XlaOp();
  return AddOp(operands[0].builder(), opcode, operands, std::move(attributes));
}

}  // namespace

XlaOp BatchNormTraining(XlaOp operand, XlaOp scale, XlaOp offset, float epsilon, int64_t feature_index) {
  return Emit(HloOpcode::kBatchNormTraining, {operand, scale, offset}, epsilon, feature_index);
}

XlaOp BatchNormInference(XlaOp operand, XlaOp scale, XlaOp offset, XlaOp mean, XlaOp variance, float epsilon,
                         int64_t feature_index) {
  return Emit(HloOpcode::kBatchNormInference, {operand, scale, offset, mean, variance}, epsilon, feature_index);
}

XlaOp BatchNormGrad(XlaOp operand, XlaOp scale, XlaOp batch_mean, XlaOp batch_var, XlaOp grad_output, float epsilon,
                    int64_t feature_index) {
  return Emit(HloOpcode::kBatchNormGrad, {operand, scale, batch_mean, batch_var, grad_output}, epsilon, feature_index);
}

}  // namespace hilo
