#include "backends/llvm/nest/loop_elements.h"

#include "backends/llvm/elements/predication.h"
#include "hilo/status_macros.h"

namespace hilo::codegen {
namespace {

// Converts `index` of the loop to an index among the elements of `shape`.
Index IndexIn(KernelFunction& f, const LoopResults& loop, const Shape& shape, const Index& index) {
  if (ShapeUtil::SameDimensions(shape, loop.shape())) return index;
  return index.Reshape(f.context(), loop.shape().dimensions(), shape.dimensions());
}

// Returns the elements of all leaves at `index`.
absl::StatusOr<ElementValues> ValuesAt(KernelFunction& f, const LoopResults& loop, const Index& index) {
  if (loop.roots.size() == 1) return f.elements().GenerateLeaves(loop.roots[0], index);
  ElementValues values;
  for (const HloInstruction* root : loop.roots) {
    HILO_ASSIGN_OR_RETURN(values.emplace_back(), f.elements().Generate(root, IndexIn(f, loop, root->shape(), index)));
  }
  return values;
}

// Returns the elements by leaf, then by index.
absl::StatusOr<std::vector<ElementValues>> LeavesAt(KernelFunction& f, const LoopResults& loop,
                                                    absl::Span<const Index> indices) {
  std::vector<ElementValues> leaves(loop.leaf_shapes.size());
  for (const Index& index : indices) {
    HILO_ASSIGN_OR_RETURN(const ElementValues values, ValuesAt(f, loop, index));
    for (size_t leaf = 0; leaf < leaves.size(); ++leaf) leaves[leaf].push_back(values[leaf]);
  }
  return leaves;
}

}  // namespace

absl::Status EmitElements(KernelFunction& f, const LoopResults& loop, absl::Span<const Index> indices) {
  HILO_ASSIGN_OR_RETURN(const std::vector<ElementValues> leaves, LeavesAt(f, loop, indices));
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const IrArray array = f.ArrayOf(loop.instruction, loop.first_leaf + static_cast<int64_t>(leaf));
    for (size_t i = 0; i < indices.size(); ++i)
      array.Store(f.context(), IndexIn(f, loop, loop.leaf_shapes[leaf], indices[i]), leaves[leaf][i]);
  }
  return absl::OkStatus();
}

absl::Status EmitRowsOfLanes(KernelFunction& f, const LoopResults& loop, absl::Span<const Index> indices) {
  HILO_ASSIGN_OR_RETURN(const std::vector<ElementValues> leaves, LeavesAt(f, loop, indices));
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    f.ArrayOf(loop.instruction, loop.first_leaf + static_cast<int64_t>(leaf))
        .StoreColumns(f.context(), IndexIn(f, loop, loop.leaf_shapes[leaf], indices[0]), leaves[leaf]);
  }
  return absl::OkStatus();
}

}  // namespace hilo::codegen
