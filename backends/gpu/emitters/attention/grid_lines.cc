#include "backends/gpu/emitters/attention/grid_lines.h"

namespace hilo::gpu {

using codegen::Index;
using codegen::LaneIndex;

int64_t GridMatrix::Group(int64_t most) const {
  const auto& sizes = side.DepthIsMinor() ? side.contracting_sizes : side.free_sizes;
  const std::vector<int64_t>& dimensions = side.DepthIsMinor() ? side.contracting : side.free;
  if (dimensions.back() != side.operand->shape().rank() - 1 || !in_order) return 1;
  int64_t group = GridLines::kGroupBytes / PrimitiveTypeByteSize(side.operand->shape().element_type());
  while (group > 1 && (sizes.back() % group != 0 || group > most)) group /= 2;
  return group;
}

std::vector<int64_t> GridLines::AxesOf(GridSide side) const {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < grid_.axes.size(); ++i) {
    if (grid_.axes[i].side == side) axes.push_back(static_cast<int64_t>(i));
  }
  return axes;
}

void GridLines::SetAxes(GridSide side, llvm::Value* number, std::vector<LaneIndex>* at) {
  const std::vector<int64_t> axes = AxesOf(side);
  std::vector<int64_t> sizes;
  for (int64_t axis : axes) sizes.push_back(grid_.axes[axis].size);
  const std::vector<LaneIndex> indices = k_.Delinearize(number, sizes);
  for (size_t i = 0; i < axes.size(); ++i) (*at)[axes[i]] = indices[i];
}

llvm::Value* GridLines::NumberOf(absl::Span<const int64_t> axes, absl::Span<const LaneIndex> at) {
  llvm::IRBuilder<>& b = k_.b();
  llvm::Value* number = b.getInt64(0);
  for (int64_t axis : axes) {
    number = b.CreateMul(number, b.getInt64(static_cast<uint64_t>(grid_.axes[axis].size)), "", true, true);
    number = b.CreateAdd(number, at[axis].Value(k_.context()), "", true, true);
  }
  return number;
}

Index GridLines::IndexOf(const HloInstruction* member, absl::Span<const LaneIndex> at) const {
  std::vector<LaneIndex> index;
  for (int64_t axis : grid_.dimensions.at(member)) index.push_back(axis < 0 ? LaneIndex() : at[axis]);
  return Index(std::move(index));
}

const GridMatrix& GridLines::Add(const GridOperand& operand, bool lines_are_depth, absl::Span<const LaneIndex> at,
                                 const HloInstruction* array) {
  GridMatrix& matrix = matrices_.emplace_back();
  const auto sizes = [&](const std::vector<int64_t>& dimensions) {
    std::vector<int64_t> sizes;
    for (int64_t d : dimensions) sizes.push_back(operand.operand->shape().dimensions(d));
    return sizes;
  };
  const std::vector<int64_t>&positions = lines_are_depth ? operand.features : operand.lines,
        &depth = lines_are_depth ? operand.lines : operand.features;
  matrix.side = {.operand = operand.operand,
                 .batch = operand.batch,
                 .free = positions,
                 .contracting = depth,
                 .batch_sizes = sizes(operand.batch),
                 .free_sizes = sizes(positions),
                 .contracting_sizes = sizes(depth)};
  matrix.batch = NumberOf(operand.batch_axes, at);
  matrix.product = ProductSideOf(k_, matrix.side, array);
  const GridSide side = grid_.axes[operand.line_axes[0]].side;
  matrix.in_order = operand.line_axes == AxesOf(side);
  if (!matrix.in_order) {
    matrix.product.elements = [this, side, lines_are_depth, axes = operand.line_axes,
                               elements = matrix.product.elements](auto* batch, auto* position, auto* depth,
                                                                   int64_t group) {
      std::vector<LaneIndex> at(grid_.axes.size());
      SetAxes(side, lines_are_depth ? depth : position, &at);
      (lines_are_depth ? depth : position) = NumberOf(axes, at);
      return elements(batch, position, depth, group);
    };
  }
  return matrix;
}

}  // namespace hilo::gpu
