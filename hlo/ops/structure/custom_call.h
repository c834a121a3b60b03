// Custom calls whose semantics are defined without their functions.
#ifndef HILO_HLO_OPS_STRUCTURE_CUSTOM_CALL_H_
#define HILO_HLO_OPS_STRUCTURE_CUSTOM_CALL_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hilo/shape.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/structure/custom_call_attributes.h"

namespace hilo {

// Custom calls that XLA defines as ops and that need no function.
enum class CustomCallMeaning {
  kFunction,  // none: a registered function is called
  kForward,   // the result is the operands (annotations of sharding and memory, which one device ignores)
  kAllocate,  // any value, as cheaply as possible: zeros
  kTopK,      // (values, indices) of the k largest elements along the last dimension
};
CustomCallMeaning MeaningOfCustomCall(absl::string_view target);
inline bool CallsFunction(const CustomCallAttrs& attributes) {
  return MeaningOfCustomCall(attributes.custom_call_target) == CustomCallMeaning::kFunction;
}

// For a target that XLA defines and Hilo does not support: a description for messages; else empty.
absl::string_view ForeignCustomCall(absl::string_view target);

// Checks what a kForward call returns: one operand as it is, or several as a tuple; calls without result have no
// value. Errors: Unimplemented if the shapes differ: arrays that are sharded among partitions, which a partitioner
// must have replaced.
absl::Status CheckForwards(absl::string_view target, absl::Span<const Shape* const> operands, const Shape& result);

// The topk attributes of a call of TopK with this result.
TopKAttrs TopKAttributesOf(const Shape& result);

// The shapes, with layouts, in which the function of a call gets operands and result: those of the attributes, else
// row-major.
CallSignature SignatureOf(const CustomCallAttrs& attributes, absl::Span<const Shape* const> operands,
                          const Shape& result);

}  // namespace hilo

#endif  // HILO_HLO_OPS_STRUCTURE_CUSTOM_CALL_H_
