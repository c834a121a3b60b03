// Processors multiply floats faster than integers of 32 bits, and have kernels for them:
//
//   s32[...] convolution(s8[...] x, s8[...] k)  =>  s32[...] convert(f32[...] convolution(convert(x), convert(k)))
//
// where no sum, in whatever order, exceeds 2^24: then products and sums are exact.
#include "hlo/passes/integer_convolutions.h"

#include <utility>

#include "hilo/status_macros.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/passes/make_instruction.h"

namespace hilo {
namespace {

constexpr int kNarrowBits = 8, kExactBits = 24;
constexpr int64_t kMinFeatures = 2, kMinOfGroup = 8;

// Returns n for integers of at most 2^n.
int MagnitudeBits(PrimitiveType type) { return PrimitiveTypeBitWidth(type) - (IsSignedIntegralType(type) ? 1 : 0); }

bool IsExactInFloats(const HloInstruction& convolution) {
  const Shape &lhs = convolution.operand(0)->shape(), &kernel = convolution.operand(1)->shape();
  const PrimitiveType result = convolution.shape().element_type();
  if (result != S32 && result != S64) return false;
  for (const Shape* factor : {&lhs, &kernel}) {
    if (!IsIntegralType(factor->element_type()) || PrimitiveTypeBitWidth(factor->element_type()) > kNarrowBits)
      return false;
  }
  const ConvolutionDimensionNumbers& numbers = convolution.attrs<ConvolutionAttrs>().dim_labels;
  const int64_t features = kernel.dimensions(numbers.kernel_output_feature_dimension());
  // Groups of few features are bound by their loads, and are not converted in arrays of their own: 3x3 of 32 features
  // of a group each 12 us rather than 16.5, of 32 groups of 2 98 rather than 143, of 16 groups of 4 183 rather than
  // 247.
  const bool has_groups = convolution.attrs<ConvolutionAttrs>().feature_group_count > 1;
  if (features == 0 ||
      kernel.dimensions(numbers.kernel_input_feature_dimension()) < (has_groups ? kMinOfGroup : kMinFeatures))
    return false;
  const int64_t terms = ShapeUtil::ElementsIn(kernel) / features;
  return terms <= int64_t{1} << (kExactBits - MagnitudeBits(lhs.element_type()) - MagnitudeBits(kernel.element_type()));
}

class IntegerConvolutions : public HloPass {
 public:
  explicit IntegerConvolutions(std::function<bool(const HloInstruction&)> kept) : kept_(std::move(kept)) {}

  absl::string_view name() const override { return "float-convolutions"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      for (HloInstruction* convolution : computation->MakePostOrder()) {
        if (convolution->opcode() != HloOpcode::kConvolution || !IsExactInFloats(*convolution) || kept_(*convolution))
          continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        HILO_ASSIGN_OR_RETURN(HloInstruction * lhs, MakeConvert(convolution->operand(0), F32));
        HILO_ASSIGN_OR_RETURN(HloInstruction * kernel, MakeConvert(convolution->operand(1), F32));
        const Shape sums = ShapeUtil::MakeShape(F32, convolution->shape().dimensions());
        HILO_ASSIGN_OR_RETURN(
            HloInstruction * in_floats,
            computation->AddOp(HloOpcode::kConvolution, {lhs, kernel}, convolution->attributes()->Clone(), {}, &sums));
        in_floats->CopyOriginFrom(*convolution);
        HILO_ASSIGN_OR_RETURN(HloInstruction* const result,
                              MakeConvert(in_floats, convolution->shape().element_type()));
        HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(convolution, result));
        changed = true;
      }
    }
    return changed;
  }

 private:
  const std::function<bool(const HloInstruction&)> kept_;
};

}  // namespace

std::unique_ptr<HloPass> MakeIntegerConvolutions(std::function<bool(const HloInstruction&)> kept) {
  return std::make_unique<IntegerConvolutions>(std::move(kept));
}

}  // namespace hilo
