// A convolution that is assigned to the library becomes a fusion with the element-wise instructions that the library
// fuses:
//
//   c = f32[8,32,32,64] convolution(x, w), dim_labels=b01f_o01i->b01f
//   a = f32[8,32,32,64] add(c, broadcast(v))
//   ROOT r = f32[8,32,32,64] maximum(a, 0)
//   =>
//   ROOT f = f32[8,32,32,64] fusion(x, w, v), kind=kCustom
//
// Arrays in another order than the library's are transposed first, and the result afterwards; then nothing is fused
// after it. As with products, this comes before loop fusion, so transposes can be fused with the instructions around
// them.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "backends/gpu/match/convolution_match.h"
#include "backends/gpu/match/epilogue_match.h"
#include "hilo/status_macros.h"
#include "hlo/ops/linalg/convolution_attributes.h"

namespace hilo::gpu {
namespace {

absl::StatusOr<HloInstruction*> Transposed(HloInstruction* operand, const std::vector<int64_t>& dimensions) {
  auto attrs = std::make_unique<TransposeAttrs>();
  attrs->dimensions = dimensions;
  return operand->parent()->AddOp(HloOpcode::kTranspose, {operand}, std::move(attrs));
}

// Returns the position of each dimension in an order.
std::vector<int64_t> InversePermutation(const std::vector<int64_t>& order) {
  std::vector<int64_t> positions(order.size());
  for (size_t i = 0; i < order.size(); ++i) positions[order[i]] = static_cast<int64_t>(i);
  return positions;
}

// Renumbers the dimensions of an array after it was brought into an order.
void Renumber(const std::vector<int64_t>& order, int64_t* first, int64_t* second, std::vector<int64_t>* spatial) {
  const std::vector<int64_t> positions = InversePermutation(order);
  *first = positions[*first];
  *second = positions[*second];
  for (int64_t& d : *spatial) d = positions[d];
}

class ConvolutionFusion : public HloPass {
 public:
  explicit ConvolutionFusion(Libraries* libraries) : libraries_(*libraries) {}
  absl::string_view name() const override { return "fuse-convolution"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      std::vector<HloInstruction*> convolutions;
      for (HloInstruction* instruction : computation->instructions()) {
        if (instruction->opcode() == HloOpcode::kConvolution && IsLarge(*instruction))
          convolutions.push_back(instruction);
      }
      for (HloInstruction* convolution : convolutions) {
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        // A dead one may have been removed together with another.
        const auto left = computation->instructions();
        if (std::find(left.begin(), left.end(), convolution) == left.end()) continue;
        HILO_ASSIGN_OR_RETURN(const bool fused, Fuse(convolution));
        changed |= fused;
      }
    }
    return changed;
  }

 private:
  bool IsLarge(const HloInstruction& convolution) const {
    const auto& attrs = convolution.attrs<ConvolutionAttrs>();
    double products = static_cast<double>(ShapeUtil::ElementsIn(convolution.shape()));
    products *= static_cast<double>(
        convolution.operand(1)->shape().dimensions(attrs.dim_labels.kernel_input_feature_dimension()));
    for (const Window::Dimension& w : attrs.window.dimensions) products *= static_cast<double>(w.size);
    return products >= static_cast<double>(libraries_.thresholds().convolution_products);
  }

  // Clones the convolution with operands and result in the plan's orders.
  static absl::StatusOr<HloInstruction*> InOrder(HloInstruction* convolution, const ConvolutionPlan& plan) {
    auto attrs = std::make_unique<ConvolutionAttrs>(convolution->attrs<ConvolutionAttrs>());
    ConvolutionDimensionNumbers& n = attrs->dim_labels;
    HloInstruction *lhs = convolution->operand(0), *rhs = convolution->operand(1);
    if (!IsInOrder(lhs->shape(), plan.lhs)) {
      HILO_ASSIGN_OR_RETURN(lhs, Transposed(lhs, plan.lhs));
      Renumber(plan.lhs, &n.input_batch_dimension_, &n.input_feature_dimension_, &n.input_spatial_dimensions_);
    }
    if (!IsInOrder(rhs->shape(), plan.rhs)) {
      HILO_ASSIGN_OR_RETURN(rhs, Transposed(rhs, plan.rhs));
      Renumber(plan.rhs, &n.kernel_input_feature_dimension_, &n.kernel_output_feature_dimension_,
               &n.kernel_spatial_dimensions_);
    }
    std::vector<int64_t> sizes(convolution->shape().dimensions().begin(), convolution->shape().dimensions().end());
    if (!IsInOrder(convolution->shape(), plan.result)) {
      for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = convolution->shape().dimensions(plan.result[i]);
      Renumber(plan.result, &n.output_batch_dimension_, &n.output_feature_dimension_, &n.output_spatial_dimensions_);
    }
    const Shape shape = ShapeUtil::MakeShape(convolution->shape().element_type(), sizes);
    return convolution->parent()->AddOp(HloOpcode::kConvolution, {lhs, rhs}, std::move(attrs), {}, &shape);
  }

  absl::StatusOr<bool> Fuse(HloInstruction* convolution) {
    const std::optional<ConvolutionPlan> plan = PlanConvolution(*convolution);
    if (!plan.has_value() || !libraries_.SelectConvolution(plan->descriptor).has_value()) return false;
    if (!MatchPlainConvolution(*convolution).has_value()) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * ordered, InOrder(convolution, *plan));
      HloInstruction* result = ordered;
      if (!IsInOrder(convolution->shape(), plan->result)) {
        HILO_ASSIGN_OR_RETURN(result, Transposed(ordered, InversePermutation(plan->result)));
      }
      HILO_RETURN_IF_ERROR(convolution->parent()->ReplaceInstruction(convolution, result));
      convolution = ordered;
    }
    std::optional<ConvolutionMatch> match = MatchConvolution(*convolution);
    if (!match.has_value() || !libraries_.SelectConvolution(match->descriptor).has_value())
      match = MatchPlainConvolution(*convolution);
    if (!match.has_value()) return false;
    HILO_RETURN_IF_ERROR(FuseForLibrary(match->members, match->root, "convolution"));
    return true;
  }

  Libraries& libraries_;
};

}  // namespace

std::unique_ptr<HloPass> MakeConvolutionFusion(Libraries* libraries) {
  return std::make_unique<ConvolutionFusion>(libraries);
}

}  // namespace hilo::gpu
