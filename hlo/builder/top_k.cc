#include "hilo/xla_builder.h"
#include "hlo/builder/add_op.h"
#include "hlo/ops/reduction/search_attributes.h"

namespace hilo {

XlaOp TopK(XlaOp operand, int64_t k, bool largest) {
  if (operand.builder() == nullptr) return XlaOp();
  auto attributes = std::make_unique<TopKAttrs>();
  attributes->k = k;
  attributes->largest = largest;
  return AddOp(operand.builder(), HloOpcode::kTopK, {operand}, std::move(attributes));
}

XlaOp TopK(XlaOp operand, int64_t k, PrimitiveType index_type) {
  const XlaOp top = TopK(operand, k, /*largest=*/true);
  if (index_type == S32 || top.builder() == nullptr) return top;
  return Tuple(top.builder(), {GetTupleElement(top, 0), ConvertElementType(GetTupleElement(top, 1), index_type)});
}

}  // namespace hilo
