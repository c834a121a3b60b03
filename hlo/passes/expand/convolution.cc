// A convolution that a target does not emit is brought into the form that targets like: first all of one type, that of
// the sums, which changes no bit,
//
//   y = bf16[...] convolution(x, k)   =>   y = convert(f32[...] convolution(convert(x), convert(k)))
//
// then with the kernel's output features in its minor-most dimension, and if that does not do, the input's and the
// result's features in theirs, or the input's last spatial dimension,
//
//   convolution(x, k), dim_labels=b0f_oi0->b0f   =>   convolution(x, transpose(k)), dim_labels=b0f_0io->b0f
//                                                =>   convolution(transpose(x), transpose(k)), dim_labels=bf0_0io->b0f
//   convolution(x, k), dim_labels=bf0_0io->bf0   =>   transpose(convolution(transpose(x), k)), dim_labels=b0f_0io->b0f
#include <algorithm>

#include "base/errors.h"
#include "hlo/builder/add_op.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/reduction/sum_type.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo {
namespace {

// Returns the elements of the input that are read (ReadStrides); the windows of `attributes` then have no strides
// there. So a transpose moves nothing else.
XlaOp ElementsRead(XlaOp input, const Shape& shape, const Shape& result, ConvolutionAttrs* attributes) {
  const std::vector<int64_t> strides = ReadStrides(*attributes, shape, result);
  if (std::all_of(strides.begin(), strides.end(), [](int64_t stride) { return stride == 1; })) return input;
  const ConvolutionDimensionNumbers& numbers = attributes->dim_labels;
  std::vector<int64_t> limits(shape.dimensions().begin(), shape.dimensions().end());
  for (size_t s = 0; s < attributes->window.dimensions.size(); ++s) {
    Window::Dimension& window = attributes->window.dimensions[s];
    const int64_t dimension = numbers.input_spatial_dimensions()[s];
    if (strides[dimension] == 1) continue;
    limits[dimension] = (result.dimensions(numbers.output_spatial_dimensions()[s]) - 1) * window.stride + 1;
    window.stride = 1;
    window.padding_high = 0;
  }
  return Slice(input, std::vector<int64_t>(shape.rank()), limits, strides);
}

}  // namespace

absl::StatusOr<XlaOp> ExpandConvolution(const HloInstruction& instruction, XlaBuilder* builder,
                                        absl::Span<const XlaOp> operands) {
  const Shape &lhs = instruction.operand(0)->shape(), &rhs = instruction.operand(1)->shape(),
              &shape = instruction.shape();
  const PrimitiveType type = SumType(lhs.element_type(), rhs.element_type(), shape.element_type());
  auto attributes = instruction.attributes()->Clone();
  if (lhs.element_type() != type || rhs.element_type() != type || shape.element_type() != type) {
    const Shape sums(type, shape.dimensions());
    const XlaOp convolution = AddOp(builder, HloOpcode::kConvolution,
                                    {ConvertElementType(operands[0], type), ConvertElementType(operands[1], type)},
                                    std::move(attributes), {}, &sums);
    return ConvertElementType(convolution, shape.element_type());
  }
  auto& numbers = static_cast<ConvolutionAttrs&>(*attributes).dim_labels;
  std::vector<XlaOp> transposed(operands.begin(), operands.end());
  if (const std::vector<int64_t> kernel = TransposeKernel(&numbers); !kernel.empty()) {
    transposed[1] = Transpose(operands[1], kernel);
    return AddOp(builder, HloOpcode::kConvolution, transposed, std::move(attributes), {}, &shape);
  }
  const XlaOp read = ElementsRead(operands[0], lhs, shape, static_cast<ConvolutionAttrs*>(attributes.get()));
  if (const std::vector<int64_t> input = TransposeInputFeatures(&numbers); !input.empty()) {
    transposed[0] = Transpose(read, input);
    const std::vector<int64_t> result = TransposeResultFeatures(&numbers);
    if (result.empty()) return AddOp(builder, HloOpcode::kConvolution, transposed, std::move(attributes), {}, &shape);
    std::vector<int64_t> sizes, back(result.size());
    for (size_t d = 0; d < result.size(); ++d) {
      sizes.push_back(shape.dimensions(result[d]));
      back[result[d]] = static_cast<int64_t>(d);
    }
    const Shape last(shape.element_type(), sizes);
    return Transpose(AddOp(builder, HloOpcode::kConvolution, transposed, std::move(attributes), {}, &last), back);
  }
  const std::vector<int64_t> input = TransposeInput(&numbers);
  if (input.empty()) return Unimplemented("a convolution of ", lhs.ToString(), " and ", rhs.ToString());
  transposed[0] = Transpose(read, input);
  return AddOp(builder, HloOpcode::kConvolution, transposed, std::move(attributes), {}, &shape);
}

}  // namespace hilo
