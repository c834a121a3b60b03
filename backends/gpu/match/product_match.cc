#include "backends/gpu/match/product_match.h"

#include "absl/algorithm/container.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

DotSide SideOf(const HloInstruction* operand, const std::vector<int64_t>& batch,
               const std::vector<int64_t>& contracting) {
  DotSide side{.operand = operand, .batch = batch, .contracting = contracting};
  const auto sizes = operand->shape().dimensions();
  for (int64_t d = 0; d < operand->shape().rank(); ++d) {
    if (absl::c_linear_search(batch, d) || absl::c_linear_search(contracting, d)) continue;
    side.free.push_back(d);
    side.free_sizes.push_back(sizes[d]);
  }
  for (int64_t d : batch) side.batch_sizes.push_back(sizes[d]);
  for (int64_t d : contracting) side.contracting_sizes.push_back(sizes[d]);
  return side;
}

}  // namespace

ProductTile ProductTile::Of(const KernelConfig& config) {
  const std::vector<int64_t>& tile = config.tile;
  return {.threads = tile[0],
          .rows = tile[1],
          .columns = tile[2],
          .strip = tile[3],
          .own_rows = tile[4],
          .own_columns = tile[5],
          .lhs_group = tile[6],
          .rhs_group = tile[7],
          .copied_strips = tile[8],
          .by_warp_groups = tile.size() > 9,
          .step = config.width};
}

std::vector<int64_t> ProductTile::ToList() const {
  std::vector<int64_t> list = {threads,     rows,      columns,   strip,        own_rows,
                               own_columns, lhs_group, rhs_group, copied_strips};
  if (by_warp_groups) list.push_back(1);
  return list;
}

ConvolutionSizes::ConvolutionSizes(const HloInstruction& convolution) {
  const auto& attrs = convolution.attrs<ConvolutionAttrs>();
  const ConvolutionDimensionNumbers& numbers = attrs.dim_labels;
  const Shape &rhs = convolution.operand(1)->shape(), &out = convolution.shape();
  groups = attrs.feature_group_count * attrs.batch_group_count;  // one of them is 1
  images = out.dimensions(numbers.output_batch_dimension());
  in_features = rhs.dimensions(numbers.kernel_input_feature_dimension());
  out_features = rhs.dimensions(numbers.kernel_output_feature_dimension()) / groups;
  for (int64_t d : numbers.output_spatial_dimensions()) positions.push_back(out.dimensions(d));
  for (const Window::Dimension& w : attrs.window.dimensions) taps.push_back(w.size);
}

std::optional<GroupedRows> GroupedRowsOf(const HloInstruction& ragged_dot) {
  const auto& attrs = ragged_dot.attrs<RaggedDotAttrs>();
  if (!attrs.lhs_batch_dims.empty() || attrs.rhs_group_dims.size() != 1 || ragged_dot.operand(2)->shape().rank() != 1 ||
      ShapeUtil::IsZeroElementArray(ragged_dot.operand(1)->shape()))
    return std::nullopt;
  GroupedRows product{.lhs = SideOf(ragged_dot.operand(0), {}, attrs.lhs_contracting_dims),
                      .rhs = SideOf(ragged_dot.operand(1), attrs.rhs_group_dims, attrs.rhs_contracting_dims)};
  if (product.lhs.free != attrs.lhs_ragged_dims || product.lhs.contracting.empty()) return std::nullopt;
  return product;
}

std::optional<GroupedDepth> GroupedDepthOf(const HloInstruction& ragged_dot) {
  const auto& attrs = ragged_dot.attrs<RaggedDotAttrs>();
  const Shape& sizes = ragged_dot.operand(2)->shape();
  if (!attrs.lhs_batch_dims.empty() || attrs.lhs_contracting_dims.size() != 1 ||
      attrs.lhs_contracting_dims != attrs.lhs_ragged_dims || sizes.rank() != 1 ||
      ShapeUtil::IsZeroElementArray(ragged_dot.shape()) ||
      ShapeUtil::IsZeroElementArray(ragged_dot.operand(0)->shape()))
    return std::nullopt;
  return GroupedDepth{.lhs = SideOf(ragged_dot.operand(0), {}, attrs.lhs_contracting_dims),
                      .rhs = SideOf(ragged_dot.operand(1), {}, attrs.rhs_contracting_dims),
                      .groups = sizes.dimensions(0)};
}

int64_t TransposedRowDimension(const HloInstruction& transpose) {
  const auto& permutation = transpose.attrs<TransposeAttrs>().dimensions;
  const int64_t minor = transpose.shape().rank() - 1;
  for (int64_t d = 0; d < minor; ++d) {
    if (permutation[d] == minor) return d;
  }
  return -1;
}

}  // namespace hilo::gpu
