// A convolution that a target does not emit is brought into the form that targets like: first all of one type,
//
//   y = bf16[...] convolution(x, k)   =>   convert(f32[...] convolution(convert(x), convert(k)))      in the type of
//   the sums, which changes no bit
//
// then with the kernel's output features in its minor-most dimension, and if that does not do, the input's last spatial
// dimension in its own,
//
//   convolution(x, k), dim_labels=b0f_oi0->b0f   =>   convolution(x, transpose(k)), dim_labels=b0f_i0o->b0f
//                                                =>   convolution(transpose(x), transpose(k)), dim_labels=bf0_i0o->b0f
#include "base/errors.h"
#include "hlo/builder/add_op.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/reduction/sum_type.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo {
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
  std::vector<XlaOp> turned(operands.begin(), operands.end());
  std::vector<int64_t> permutation = TurnKernel(&numbers);
  const int64_t operand = permutation.empty() ? 0 : 1;
  if (operand == 0) permutation = TurnInput(&numbers);
  if (permutation.empty()) return Unimplemented("a convolution of ", lhs.ToString(), " and ", rhs.ToString());
  turned[operand] = Transpose(operands[operand], permutation);
  return AddOp(builder, HloOpcode::kConvolution, turned, std::move(attributes), {}, &shape);
}

}  // namespace hilo
