// Convolutions that are large enough, as implicit products of matrices: a row is a position of the window in one image,
// a column an output feature, the depth all taps of the window for all input features (tiled_product.h). Groups are a
// batch. A tap that falls into the padding, or between the elements of a dilated input, is 0.
//
// Whether features or taps are the minor part of the depth depends on the input's layout, so that adjacent threads read
// adjacent memory.
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/products/tiled_product.h"
#include "backends/gpu/match/product_match.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/hero.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/reduction/sum_type.h"

namespace hilo::gpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

class ConvolutionKernel {
 public:
  ConvolutionKernel(KernelEmitter& k, const HloInstruction* instruction)
      : k_(k),
        b_(k.b()),
        instruction_(instruction),
        convolution_(HeroOf(instruction)),
        attrs_(convolution_->attrs<ConvolutionAttrs>()),
        numbers_(attrs_.dim_labels),
        sizes_(*convolution_),
        sum_type_(SumType(Lhs()->shape().element_type(), Rhs()->shape().element_type(),
                          convolution_->shape().element_type())),
        features_are_minor_(numbers_.input_feature_dimension() == Lhs()->shape().rank() - 1) {}

  TiledProduct product() {
    return {.batch = sizes_.groups,
            .depth = sizes_.depth(),
            .lhs = {.positions = sizes_.rows(),
                    .type = Lhs()->shape().element_type(),
                    .depth_is_minor = features_are_minor_,
                    .elements = [this](auto* g, auto* p, auto* d, int64_t) { return Input(g, p, d); }},
            .rhs = {.positions = sizes_.out_features,
                    .type = Rhs()->shape().element_type(),
                    .depth_is_minor = numbers_.kernel_output_feature_dimension() != Rhs()->shape().rank() - 1,
                    .elements = [this](auto* g, auto* p, auto* d, int64_t) { return Weight(g, p, d); }},
            .sum_type = sum_type_,
            .store = [this](auto* g, auto* m, auto* n, absl::Span<const ElementValue> sums) -> absl::Status {
              for (size_t i = 0; i < sums.size(); ++i)
                HILO_RETURN_IF_ERROR(Store(g, m, b_.CreateAdd(n, b_.getInt64(i), "", true, true), sums[i]));
              return absl::OkStatus();
            }};
  }

 private:
  const HloInstruction* Lhs() const { return convolution_->operand(0); }
  const HloInstruction* Rhs() const { return convolution_->operand(1); }
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  LaneIndex Below(llvm::Value* value, int64_t limit) { return LaneIndex::Uniform(value, 1, limit); }
  // group * size + index
  llvm::Value* InGroup(llvm::Value* group, int64_t size, llvm::Value* index) {
    return sizes_.groups == 1 ? index
                              : b_.CreateAdd(b_.CreateMul(group, Int(size), "", true, true), index, "", true, true);
  }

  struct Depth {
    llvm::Value* feature;
    llvm::Value* tap;  // row-major among the window's
  };
  Depth Split(llvm::Value* depth) {
    if (features_are_minor_)
      return {b_.CreateURem(depth, Int(sizes_.in_features)), b_.CreateUDiv(depth, Int(sizes_.in_features))};
    const int64_t taps = Product(sizes_.taps);
    return {b_.CreateUDiv(depth, Int(taps)), b_.CreateURem(depth, Int(taps))};
  }
  // The parts of a row-major number.
  std::vector<llvm::Value*> Parts(llvm::Value* linear, const std::vector<int64_t>& sizes) {
    std::vector<llvm::Value*> parts(sizes.size());
    for (size_t d = sizes.size(); d-- > 0;) {
      parts[d] = d == 0 ? linear : b_.CreateURem(linear, Int(sizes[d]));
      if (d > 0) linear = b_.CreateUDiv(linear, Int(sizes[d]));
    }
    return parts;
  }

  absl::StatusOr<Elements> Generate(const HloInstruction* operand, std::vector<LaneIndex> at) {
    HILO_ASSIGN_OR_RETURN(ElementValue value, k_.elements().Generate(operand, Index(std::move(at))));
    return Elements{value};
  }

  absl::StatusOr<Elements> Input(llvm::Value* group, llvm::Value* row, llvm::Value* depth) {
    const Shape& shape = Lhs()->shape();
    const Depth split = Split(depth);
    const int64_t positions = Product(sizes_.positions);
    llvm::Value* image = b_.CreateUDiv(row, Int(positions));
    const std::vector<llvm::Value*> position = Parts(b_.CreateURem(row, Int(positions)), sizes_.positions),
                                    tap = Parts(split.tap, sizes_.taps);
    if (attrs_.batch_group_count > 1) image = InGroup(group, sizes_.images, image);
    llvm::Value* feature =
        attrs_.feature_group_count > 1 ? InGroup(group, sizes_.in_features, split.feature) : split.feature;
    std::vector<LaneIndex> at(shape.rank());
    at[numbers_.input_batch_dimension()] = Below(image, shape.dimensions(numbers_.input_batch_dimension()));
    at[numbers_.input_feature_dimension()] = Below(feature, shape.dimensions(numbers_.input_feature_dimension()));
    llvm::Value* hit = b_.getTrue();
    for (size_t s = 0; s < position.size(); ++s) {
      const Window::Dimension& w = attrs_.window.dimensions[s];
      const int64_t dimension = numbers_.input_spatial_dimensions()[s], size = shape.dimensions(dimension);
      llvm::Value* dilated =
          b_.CreateAdd(b_.CreateMul(position[s], Int(w.stride)), b_.CreateMul(tap[s], Int(w.window_dilation)));
      dilated = b_.CreateSub(dilated, Int(w.padding_low));
      hit = b_.CreateAnd(hit, b_.CreateICmpULT(dilated, Int(size == 0 ? 0 : (size - 1) * w.base_dilation + 1)));
      if (w.base_dilation > 1)
        hit = b_.CreateAnd(hit, b_.CreateICmpEQ(b_.CreateURem(dilated, Int(w.base_dilation)), Int(0)));
      at[dimension] = Below(w.base_dilation > 1 ? b_.CreateUDiv(dilated, Int(w.base_dilation)) : dilated, size);
    }
    auto load = [&]() -> absl::StatusOr<codegen::Carried> {
      HILO_ASSIGN_OR_RETURN(const Elements value, Generate(Lhs(), at));
      return codegen::Pack(value);
    };
    auto zero = [&]() -> absl::StatusOr<codegen::Carried> {
      return codegen::Pack({codegen::EmitZero(k_.context(), shape.element_type())});
    };
    HILO_ASSIGN_OR_RETURN(codegen::Carried value, codegen::EmitBranches(k_.context(), "tap", hit, load, zero));
    const PrimitiveType type = shape.element_type();
    return codegen::Unpack(value, {&type, 1});
  }

  absl::StatusOr<Elements> Weight(llvm::Value* group, llvm::Value* column, llvm::Value* depth) {
    const Shape& shape = Rhs()->shape();
    const Depth split = Split(depth);
    const std::vector<llvm::Value*> tap = Parts(split.tap, sizes_.taps);
    std::vector<LaneIndex> at(shape.rank());
    at[numbers_.kernel_input_feature_dimension()] = Below(split.feature, sizes_.in_features);
    at[numbers_.kernel_output_feature_dimension()] =
        Below(InGroup(group, sizes_.out_features, column), sizes_.groups * sizes_.out_features);
    for (size_t s = 0; s < tap.size(); ++s) {
      const Window::Dimension& w = attrs_.window.dimensions[s];
      at[numbers_.kernel_spatial_dimensions()[s]] =
          Below(w.window_reversal ? b_.CreateSub(Int(w.size - 1), tap[s]) : tap[s], w.size);
    }
    return Generate(Rhs(), std::move(at));
  }

  absl::Status Store(llvm::Value* group, llvm::Value* row, llvm::Value* column, const ElementValue& sum) {
    const Shape& shape = convolution_->shape();
    const int64_t positions = Product(sizes_.positions);
    const std::vector<llvm::Value*> position = Parts(b_.CreateURem(row, Int(positions)), sizes_.positions);
    std::vector<LaneIndex> at(shape.rank());
    at[numbers_.output_batch_dimension()] = Below(b_.CreateUDiv(row, Int(positions)), sizes_.images);
    at[numbers_.output_feature_dimension()] =
        Below(InGroup(group, sizes_.out_features, column), sizes_.groups * sizes_.out_features);
    for (size_t s = 0; s < position.size(); ++s)
      at[numbers_.output_spatial_dimensions()[s]] = Below(position[s], sizes_.positions[s]);
    k_.ArrayOf(instruction_)
        .Store(k_.context(), Index(std::move(at)),
               codegen::EmitConvert(k_.context(), sum_type_, shape.element_type(), sum));
    return absl::OkStatus();
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const HloInstruction *instruction_, *convolution_;
  const ConvolutionAttrs& attrs_;
  const ConvolutionDimensionNumbers& numbers_;
  const ConvolutionSizes sizes_;
  const PrimitiveType sum_type_;
  const bool features_are_minor_;
};

}  // namespace

absl::Status EmitConvolution(ProgramEmitter& program, const HloInstruction* instruction) {
  KernelEmitter k(&program, instruction);
  ConvolutionKernel kernel(k, instruction);
  return kernel.product().EmitAndLaunch(instruction, k);
}

}  // namespace hilo::gpu
