#include "backends/llvm/elements/scatter_origin.h"

#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::codegen {

absl::StatusOr<std::vector<llvm::Value*>> EmitScatterOrigin(ElementEmitter& elements, EmitterContext& context,
                                                            const HloInstruction& scatter,
                                                            const std::vector<LaneIndex>& batch) {
  llvm::IRBuilder<>& b = context.b();
  const auto& attrs = scatter.attrs<ScatterAttrs>();
  const HloInstruction* indices = scatter.operand(scatter.operand_count() / 2);
  std::vector<llvm::Value*> origin(scatter.operand(0)->shape().rank(), b.getInt64(0));
  const bool is_signed = IsSignedIntegralType(indices->shape().element_type());
  for (size_t i = 0; i < attrs.scatter_dims_to_operand_dims.size(); ++i) {
    std::vector<LaneIndex> at;
    size_t next = 0;
    for (int64_t d = 0; d < indices->shape().rank(); ++d) {
      at.push_back(d == attrs.index_vector_dim ? LaneIndex::Constant(static_cast<int64_t>(i)) : batch[next++]);
    }
    HILO_ASSIGN_OR_RETURN(const ElementValue value, elements.Generate(indices, Index(at)));
    origin[attrs.scatter_dims_to_operand_dims[i]] = b.CreateIntCast(value.re, b.getInt64Ty(), is_signed);
  }
  for (size_t i = 0; i < attrs.input_batching_dims.size(); ++i) {
    int64_t dimension = attrs.scatter_indices_batching_dims[i];
    if (dimension > attrs.index_vector_dim) --dimension;
    origin[attrs.input_batching_dims[i]] = batch[dimension].Base(context);
  }
  return origin;
}

}  // namespace hilo::codegen
