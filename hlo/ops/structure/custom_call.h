// What Hilo knows of custom calls without asking for their functions.
#ifndef HILO_HLO_OPS_STRUCTURE_CUSTOM_CALL_H_
#define HILO_HLO_OPS_STRUCTURE_CUSTOM_CALL_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "shape/shape.h"

namespace hilo {

// Custom calls that are ops of XLA's own and need no function.
enum class CustomCallMeaning {
  kFunction,  // none: a registered function is called
  kForward,   // the result is the operands (annotations of sharding and memory, which one device ignores)
  kAllocate,  // any value, as cheaply as it can be had: zeros
  kTopK,      // (values, indices) of the k largest elements along the last dimension
};
CustomCallMeaning MeaningOfCustomCall(absl::string_view target);

// Of a target that XLA defines and Hilo does not have: what it is, for messages; else empty.
absl::string_view ForeignCustomCall(absl::string_view target);

// Whether a kForward call hands on: one operand as it is, or several as a tuple; nothing is left of calls without
// result. Errors: Unimplemented if the shapes are others: arrays that are cut among partitions, which a partitioner
// must have taken apart.
absl::Status CheckForwards(absl::string_view target, absl::Span<const Shape* const> operands, const Shape& result);

// The attributes of the topk that a call of TopK with this result is.
TopKAttrs TopKAttributesOf(const Shape& result);

// The shapes, with layouts, in which the function of a call gets operands and result: what the attributes say, else
// row-major.
CallSignature SignatureOf(const CustomCallAttrs& attributes, absl::Span<const Shape* const> operands,
                          const Shape& result);

}  // namespace hilo

#endif  // HILO_HLO_OPS_STRUCTURE_CUSTOM_CALL_H_
