#include "backends/gpu/emitters/products/dot_operand.h"

#include <vector>

#include "backends/llvm/elements/gathered_index.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::Index;
using codegen::LaneIndex;

// Returns the index in the operand of an element.
std::vector<LaneIndex> IndexOf(const DotSide& side, const std::vector<LaneIndex>& batches,
                               const std::vector<LaneIndex>& positions, const std::vector<LaneIndex>& depths) {
  std::vector<LaneIndex> at(side.operand->shape().rank());
  const auto set = [&](const std::vector<int64_t>& dimensions, const std::vector<LaneIndex>& indices) {
    for (size_t d = 0; d < indices.size(); ++d) at[dimensions[d]] = indices[d];
  };
  set(side.batch, batches);
  set(side.free, positions);
  set(side.contracting, depths);
  return at;
}

absl::StatusOr<llvm::Value*> AddressOf(KernelEmitter& k, const DotSide& side, const HloInstruction* array,
                                       llvm::Value* batch, llvm::Value* position, llvm::Value* depth) {
  const std::vector<LaneIndex> at =
      IndexOf(side, k.Delinearize(batch, side.batch_sizes), k.Delinearize(position, side.free_sizes),
              k.Delinearize(depth, side.contracting_sizes));
  Index index(at);
  // The array where `index` is, up to reshapes.
  const HloInstruction *indexed = side.operand, *operand = side.operand;
  while (operand != array && !operand->IsParameter()) {
    if (operand->opcode() == HloOpcode::kGather) {
      index = index.Reshape(k.context(), indexed->shape().dimensions(), operand->shape().dimensions());
      HILO_ASSIGN_OR_RETURN(index, codegen::GatheredIndex(k.elements(), operand, index));
      indexed = operand->operand(0);
    } else if (operand->opcode() == HloOpcode::kSlice) {  // of lines
      index = index.Reshape(k.context(), indexed->shape().dimensions(), operand->shape().dimensions());
      std::vector<LaneIndex> in_array = index.Dims(k.context());
      const auto& ranges = operand->attrs<SliceAttrs>().slice;
      for (size_t d = 0; d < in_array.size(); ++d) in_array[d] = in_array[d].AddConstant(ranges[d].start);
      index = Index(std::move(in_array));
      indexed = operand->operand(0);
    }
    operand = operand->operand(0);
  }
  llvm::IRBuilder<>& b = k.b();
  const std::vector<LaneIndex> dims = index.Dims(k.context());
  const std::vector<int64_t> strides = ShapeUtil::RowMajorStrides(indexed->shape().dimensions());
  llvm::Value* offset = b.getInt64(0);
  for (size_t d = 0; d < dims.size(); ++d) {
    llvm::Value* of_dimension =
        b.CreateMul(dims[d].Value(k.context()), b.getInt64(static_cast<uint64_t>(strides[d])), "", true, true);
    offset = b.CreateAdd(offset, of_dimension, "", true, true);
  }
  return b.CreateInBoundsGEP(codegen::MemoryType(b.getContext(), indexed->shape().element_type()),
                             k.ArrayOf(array).pointer, offset);
}

absl::StatusOr<Elements> Load(KernelEmitter& k, const DotSide& side, llvm::Value* batch, llvm::Value* position,
                              llvm::Value* depth, int64_t group) {
  const bool deep = side.DepthIsMinor();
  const std::vector<LaneIndex> batches = k.Delinearize(batch, side.batch_sizes);
  const auto positions = k.Adjacent(position, side.free_sizes, deep ? 1 : group),
             depths = k.Adjacent(depth, side.contracting_sizes, deep ? group : 1);
  Elements elements;
  for (int64_t i = 0; i < group; ++i) {
    std::vector<LaneIndex> at = IndexOf(side, batches, positions[deep ? 0 : i], depths[deep ? i : 0]);
    HILO_ASSIGN_OR_RETURN(elements.emplace_back(), k.elements().Generate(side.operand, Index(std::move(at))));
  }
  return elements;
}

}  // namespace

ProductSide ProductSideOf(KernelEmitter& k, const DotSide& side, const HloInstruction* array) {
  ProductSide product{.positions = Product(side.free_sizes),
                      .type = side.operand->shape().element_type(),
                      .depth_is_minor = side.DepthIsMinor(),
                      .elements = [&k, &side](auto* batch, auto* position, auto* depth, int64_t group) {
                        return Load(k, side, batch, position, depth, group);
                      }};
  if (array != nullptr) {
    product.address = [&k, &side, array](auto* batch, auto* position, auto* depth) {
      return AddressOf(k, side, array, batch, position, depth);
    };
  }
  return product;
}

}  // namespace hilo::gpu
