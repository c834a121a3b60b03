// Random numbers, and conversions that need them. Included by xla_builder.h.
#ifndef HILO_HLO_BUILDER_RANDOM_OPS_H_
#define HILO_HLO_BUILDER_RANDOM_OPS_H_

#include <cstdint>

#include "hlo/ops/random/random_attributes.h"
#include "shape/shape.h"

namespace hilo {

class XlaBuilder;
class XlaOp;

// Arrays of `shape` of fresh random numbers; the parameters are scalars of its element type.
XlaOp RngNormal(XlaOp mu, XlaOp sigma, const Shape& shape);
XlaOp RngUniform(XlaOp a, XlaOp b, const Shape& shape);
// A tuple: the new state, and random bits of `shape`, which depend on the state alone.
XlaOp RngBitGenerator(RandomAlgorithm algorithm, XlaOp initial_state, const Shape& shape);
// The process's random state, u64[2] with the low word first, before `delta` is added to it.
XlaOp RngGetAndUpdateState(XlaBuilder* builder, int64_t delta);
// Rounds up where `random`, unsigned numbers as wide as the operand's, is below the fraction.
XlaOp StochasticConvertType(XlaOp operand, XlaOp random, PrimitiveType new_element_type);

}  // namespace hilo

#endif  // HILO_HLO_BUILDER_RANDOM_OPS_H_
