// Convolution: a sum of products for each position of the window. Window positions are visited in row-major order,
// input features in ascending order within each; positions in the padding and in the holes of a dilated input are
// skipped. Sums are kept in SumType and converted once.
//
// Groups cut the output features into runs; run g reads either its own run of input features (feature groups) or its
// own run of the input's batch (batch groups).
#include "hlo/ops/linalg/contraction.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

// The labels name each dimension of an array of the stated rank once.
absl::Status CheckLabels(const OpView& op, absl::string_view name, const Shape& shape, int64_t first, int64_t second,
                         const std::vector<int64_t>& spatial) {
  std::vector<int64_t> all = {first, second};
  all.insert(all.end(), spatial.begin(), spatial.end());
  if (shape.rank() != static_cast<int64_t>(all.size())) {
    return InvalidOp(op, "the ", name, " ", shape.ToString(), " must have rank ", all.size(), " for ", spatial.size(),
                     " spatial dimensions");
  }
  HILO_RETURN_IF_ERROR(CheckDimensions(op, absl::StrCat("dim_labels of the ", name), all, shape.rank(), name));
  return CheckUnique(op, absl::StrCat("dim_labels of the ", name), all);
}

absl::Status CheckDimensionNumbers(const OpView& op, const ConvolutionDimensionNumbers& numbers) {
  const size_t spatial = numbers.input_spatial_dimensions().size();
  if (numbers.kernel_spatial_dimensions().size() != spatial || numbers.output_spatial_dimensions().size() != spatial) {
    return InvalidOp(op, "input, kernel and output have ", spatial, ", ", numbers.kernel_spatial_dimensions().size(),
                     " and ", numbers.output_spatial_dimensions().size(), " spatial dimensions, which must be as many");
  }
  if (spatial > kMaxSpatialDimensions) {
    return InvalidOp(op, "there are ", spatial, " spatial dimensions, but at most ", kMaxSpatialDimensions,
                     " can be numbered");
  }
  HILO_RETURN_IF_ERROR(CheckLabels(op, "lhs", op.operand(0), numbers.input_batch_dimension(),
                                   numbers.input_feature_dimension(), numbers.input_spatial_dimensions()));
  HILO_RETURN_IF_ERROR(CheckLabels(op, "rhs", op.operand(1), numbers.kernel_input_feature_dimension(),
                                   numbers.kernel_output_feature_dimension(), numbers.kernel_spatial_dimensions()));
  const Shape output(op.operand(0).element_type(), std::vector<int64_t>(spatial + 2, 0));
  return CheckLabels(op, "output", output, numbers.output_batch_dimension(), numbers.output_feature_dimension(),
                     numbers.output_spatial_dimensions());
}

absl::Status CheckGroups(const OpView& op, const ConvolutionAttrs& attrs) {
  const ConvolutionDimensionNumbers& numbers = attrs.dim_labels;
  const int64_t feature_groups = attrs.feature_group_count;
  const int64_t batch_groups = attrs.batch_group_count;
  if (feature_groups < 1 || batch_groups < 1) {
    return InvalidOp(op, "feature_group_count = ", feature_groups, " and batch_group_count = ", batch_groups,
                     " must be positive");
  }
  if (feature_groups > 1 && batch_groups > 1) {
    return InvalidOp(op, "feature_group_count = ", feature_groups, " and batch_group_count = ", batch_groups,
                     " cannot both be greater than 1");
  }
  const int64_t features = op.operand(0).dimensions(numbers.input_feature_dimension());
  const int64_t batch = op.operand(0).dimensions(numbers.input_batch_dimension());
  const int64_t in = op.operand(1).dimensions(numbers.kernel_input_feature_dimension());
  const int64_t out = op.operand(1).dimensions(numbers.kernel_output_feature_dimension());
  if (features % feature_groups != 0 || features / feature_groups != in) {
    return InvalidOp(op, "the lhs has ", features, " features, but feature_group_count = ", feature_groups,
                     " times the rhs's ", in, " input features are expected");
  }
  if (out % feature_groups != 0) {
    return InvalidOp(op, "feature_group_count = ", feature_groups, " must divide the rhs's ", out, " output features");
  }
  if (batch % batch_groups != 0) {
    return InvalidOp(op, "batch_group_count = ", batch_groups, " must divide the lhs's batch of ", batch);
  }
  if (out % batch_groups != 0) {
    return InvalidOp(op, "batch_group_count = ", batch_groups, " must divide the rhs's ", out, " output features");
  }
  return absl::OkStatus();
}

absl::Status CheckWindowDimension(const OpView& op, int64_t i, const Window::Dimension& window, int64_t kernel) {
  if (window.size != kernel) {
    return InvalidOp(op, "the window's size in spatial dimension ", i, " is ", window.size, ", but the rhs has size ",
                     kernel, " there");
  }
  const struct {
    const char* name;
    int64_t value;
  } parts[] = {{"size", window.size},
               {"stride", window.stride},
               {"base dilation", window.base_dilation},
               {"window dilation", window.window_dilation}};
  for (const auto& part : parts) {
    if (part.value < 1) {
      return InvalidOp(op, "the window's ", part.name, " in spatial dimension ", i, " is ", part.value,
                       ", but must be positive");
    }
  }
  return absl::OkStatus();
}

// An array's dimensions in the order first, spatial ..., second.
std::vector<int64_t> Order(int64_t first, const std::vector<int64_t>& spatial, std::vector<int64_t> rest) {
  std::vector<int64_t> order = {first};
  order.insert(order.end(), spatial.begin(), spatial.end());
  order.insert(order.end(), rest.begin(), rest.end());
  return order;
}

// The input index of a window element, or -1.
int64_t InputPosition(const Window::Dimension& window, int64_t size, int64_t out, int64_t k) {
  const int64_t position = out * window.stride + k * window.window_dilation - window.padding_low;
  if (position < 0 || position % window.base_dilation != 0) return -1;
  return position / window.base_dilation < size ? position / window.base_dilation : -1;
}

template <typename Sum>
absl::Status ConvolveAs(const OpView& op, Operands operands, Literal* result) {
  const ConvolutionAttrs& attrs = op.attrs<ConvolutionAttrs>();
  const ConvolutionDimensionNumbers& numbers = attrs.dim_labels;
  const std::vector<Window::Dimension>& window = attrs.window.dimensions;
  const Shape& shape = result->shape();
  const Shape& lhs_shape = operands[0]->shape();
  const Shape& rhs_shape = operands[1]->shape();
  // [batch, spatial ..., feature] and [spatial ..., input feature, output feature].
  const std::vector<Sum> lhs = Gathered<Sum>(
      *operands[0],
      Order(numbers.input_batch_dimension(), numbers.input_spatial_dimensions(), {numbers.input_feature_dimension()}));
  std::vector<int64_t> rhs_order = numbers.kernel_spatial_dimensions();
  rhs_order.push_back(numbers.kernel_input_feature_dimension());
  rhs_order.push_back(numbers.kernel_output_feature_dimension());
  const std::vector<Sum> rhs = Gathered<Sum>(*operands[1], rhs_order);

  const int64_t features = lhs_shape.dimensions(numbers.input_feature_dimension());
  const int64_t in = rhs_shape.dimensions(numbers.kernel_input_feature_dimension());
  const int64_t out = rhs_shape.dimensions(numbers.kernel_output_feature_dimension());
  const int64_t groups = attrs.feature_group_count * attrs.batch_group_count;
  const int64_t group_size = out / groups;
  const int64_t batch = shape.dimensions(numbers.output_batch_dimension());
  const size_t spatial = window.size();
  std::vector<int64_t> in_sizes(spatial), out_sizes(spatial), kernel_sizes(spatial);
  for (size_t s = 0; s < spatial; ++s) {
    in_sizes[s] = lhs_shape.dimensions(numbers.input_spatial_dimensions(s));
    out_sizes[s] = shape.dimensions(numbers.output_spatial_dimensions(s));
    kernel_sizes[s] = window[s].size;
  }
  const int64_t in_volume = Volume(lhs_shape, numbers.input_spatial_dimensions());
  const std::vector<int64_t> strides = ShapeUtil::RowMajorStrides(shape.dimensions());

  std::vector<Sum> row(out);
  std::vector<int64_t> result_index(spatial, 0), k(spatial);
  return ArrayTypeSwitch(shape.element_type(), [&](auto tag) -> absl::Status {
    using T = typename decltype(tag)::type;
    T* to = result->data<T>().data();
    for (int64_t b = 0; b < batch; ++b) {
      result_index.assign(spatial, 0);
      do {
        std::fill(row.begin(), row.end(), Sum(0));
        k.assign(spatial, 0);
        do {
          HILO_RETURN_IF_ERROR(op.Spend(1 + in * out));
          int64_t from = 0;
          bool inside = true;
          for (size_t s = 0; s < spatial && inside; ++s) {
            const int64_t position = InputPosition(window[s], in_sizes[s], result_index[s], k[s]);
            inside = position >= 0;
            from = from * in_sizes[s] + position;
          }
          int64_t tap = 0;  // index in the kernel, from its end if the window is reversed
          for (size_t s = 0; s < spatial; ++s) {
            tap = tap * kernel_sizes[s] + (window[s].window_reversal ? kernel_sizes[s] - 1 - k[s] : k[s]);
          }
          for (int64_t g = 0; g < groups && inside; ++g) {
            const int64_t row_of = attrs.batch_group_count > 1 ? g * batch + b : b;
            const int64_t first = attrs.feature_group_count > 1 ? g * in : 0;
            const Sum* x = lhs.data() + (row_of * in_volume + from) * features + first;
            const Sum* w = rhs.data() + tap * in * out + g * group_size;
            for (int64_t i = 0; i < in; ++i) {
              MultiplyAdd(x[i], w + i * out, row.data() + g * group_size, group_size);
            }
          }
        } while (IndexUtil::BumpIndices(kernel_sizes, absl::MakeSpan(k)));
        int64_t linear = b * strides[numbers.output_batch_dimension()];
        for (size_t s = 0; s < spatial; ++s) {
          linear += result_index[s] * strides[numbers.output_spatial_dimensions(s)];
        }
        for (int64_t o = 0; o < out; ++o) {
          to[linear + o * strides[numbers.output_feature_dimension()]] = FromSum<T>(row[o]);
        }
      } while (IndexUtil::BumpIndices(out_sizes, absl::MakeSpan(result_index)));
    }
    return absl::OkStatus();
  });
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kConvolution>(const OpView& op) {
  const ConvolutionAttrs& attrs = op.attrs<ConvolutionAttrs>();
  const ConvolutionDimensionNumbers& numbers = attrs.dim_labels;
  HILO_RETURN_IF_ERROR(CheckArray(op, 0, "lhs"));
  HILO_RETURN_IF_ERROR(CheckArray(op, 1, "rhs"));
  const Shape& lhs = op.operand(0);
  const Shape& rhs = op.operand(1);
  HILO_RETURN_IF_ERROR(CheckDimensionNumbers(op, numbers));
  const std::vector<Window::Dimension>& window = attrs.window.dimensions;
  if (window.size() != numbers.input_spatial_dimensions().size()) {
    return InvalidOp(op, "the window has ", window.size(), " dimensions, but there are ",
                     numbers.input_spatial_dimensions().size(), " spatial ones");
  }
  HILO_RETURN_IF_ERROR(CheckGroups(op, attrs));
  HILO_RETURN_IF_ERROR(CheckPrecision(op, attrs.operand_precision));
  HILO_ASSIGN_OR_RETURN(const PrimitiveType type, ProductType(op));

  std::vector<int64_t> sizes(lhs.rank());
  std::vector<bool> dynamic(lhs.rank(), false);
  for (size_t i = 0; i < window.size(); ++i) {
    const int64_t kernel = numbers.kernel_spatial_dimensions(i);
    const int64_t input = numbers.input_spatial_dimensions(i);
    const int64_t output = numbers.output_spatial_dimensions(i);
    HILO_RETURN_IF_ERROR(CheckWindowDimension(op, i, window[i], rhs.dimensions(kernel)));
    const std::optional<int64_t> size = WindowedOutputSize(lhs.dimensions(input), window[i]);
    if (!size) return InvalidOp(op, "the window's extent in spatial dimension ", i, " is too large");
    sizes[output] = *size;
    dynamic[output] = lhs.is_dynamic_dimension(input);
  }
  for (int64_t d = 0; d < rhs.rank(); ++d) {
    if (rhs.is_dynamic_dimension(d) && d != numbers.kernel_input_feature_dimension()) {
      return InvalidOp(op, "only the input feature dimension of the rhs may be dynamic; got ", rhs.ToString());
    }
  }
  const int64_t batch = numbers.input_batch_dimension();
  sizes[numbers.output_batch_dimension()] = lhs.dimensions(batch) / attrs.batch_group_count;
  dynamic[numbers.output_batch_dimension()] = lhs.is_dynamic_dimension(batch);
  sizes[numbers.output_feature_dimension()] = rhs.dimensions(numbers.kernel_output_feature_dimension());
  const bool any = std::find(dynamic.begin(), dynamic.end(), true) != dynamic.end();
  return Shape(type, sizes, any ? dynamic : std::vector<bool>());
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kConvolution>(const OpView& op, const Shape& shape, Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, Literal::Create(shape));
  if (ShapeUtil::IsZeroElementArray(shape)) return result;
  HILO_RETURN_IF_ERROR(SumTypeSwitch(operands, shape.element_type(), [&](auto tag) {
    return ConvolveAs<typename decltype(tag)::type>(op, operands, &result);
  }));
  return result;
}

}  // namespace hilo
