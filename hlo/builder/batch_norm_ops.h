// Batch normalisations. Included by xla_builder.h.
#ifndef HILO_HLO_BUILDER_BATCH_NORM_OPS_H_
#define HILO_HLO_BUILDER_BATCH_NORM_OPS_H_

#include <cstdint>

namespace hilo {

class XlaOp;

// A tuple: the normalised operand, and the mean and variance of each feature.
XlaOp BatchNormTraining(XlaOp operand, XlaOp scale, XlaOp offset, float epsilon, int64_t feature_index);
XlaOp BatchNormInference(XlaOp operand, XlaOp scale, XlaOp offset, XlaOp mean, XlaOp variance, float epsilon,
                         int64_t feature_index);
// A tuple: the gradients of the operand, of scale and of offset.
XlaOp BatchNormGrad(XlaOp operand, XlaOp scale, XlaOp batch_mean, XlaOp batch_var, XlaOp grad_output, float epsilon,
                    int64_t feature_index);

}  // namespace hilo

#endif  // HILO_HLO_BUILDER_BATCH_NORM_OPS_H_
