#include "tools/smaller_shapes.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/semantics.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::tools {
namespace {

void ForEachArray(const HloModule& module, const std::function<void(const Shape&)>& visit) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(instruction->shape())) {
        if (leaf.shape->IsArray()) visit(*leaf.shape);
      }
    }
  }
}

class Sizes {
 public:
  explicit Sizes(const SizeChange& change) : change_(change) {}

  void Change(int64_t* size) const {
    if (*size == change_.from) *size = change_.to;
    if (change_.multiples && *size > change_.from && *size % change_.from == 0)
      *size = *size / change_.from * change_.to;
  }
  void Change(std::vector<int64_t>* sizes) const {
    for (int64_t& size : *sizes) Change(&size);
  }
  void Change(Shape* shape) const {
    for (int64_t i = 0; i < shape->tuple_shapes_size(); ++i) Change(shape->mutable_tuple_shapes(i));
    for (int64_t d = 0; d < shape->rank(); ++d) {
      int64_t size = shape->dimensions(d);
      Change(&size);
      shape->set_dimensions(d, size);
    }
  }
  void Change(Window* window) const {
    for (Window::Dimension& dimension : window->dimensions) Change(&dimension.size);
  }

 private:
  SizeChange change_;
};

// The first elements of `literal` along each dimension.
absl::StatusOr<Literal> Corner(const Literal& literal, const Shape& shape) {
  SliceAttrs corner;
  for (const int64_t size : shape.dimensions()) corner.slice.push_back({.start = 0, .limit = size});
  const Shape* const operand = &literal.shape();
  const Literal* const value = &literal;
  return EvaluateOp({.opcode = HloOpcode::kSlice, .operands = {&operand, 1}, .attributes = &corner}, shape,
                    {&value, 1});
}

// Keeps the stride, and the start where the operand still has that many elements.
void FitSlice(HloInstruction* slice) {
  const Shape& operand = slice->operand(0)->shape();
  for (int64_t d = 0; d < operand.rank(); ++d) {
    SliceRange& range = slice->mutable_attrs<SliceAttrs>().slice[d];
    const int64_t size = slice->shape().dimensions(d), span = size == 0 ? 0 : (size - 1) * range.stride + 1;
    range.start = std::max<int64_t>(std::min(range.start, operand.dimensions(d) - span), 0);
    range.limit = range.start + span;
  }
}

// Keeps the padding in front and within.
void FitPad(HloInstruction* pad) {
  const Shape& operand = pad->operand(0)->shape();
  for (int64_t d = 0; d < operand.rank(); ++d) {
    PaddingConfig::Dimension& padding = pad->mutable_attrs<PadAttrs>().padding.dimensions[d];
    const int64_t size = operand.dimensions(d),
                  inner = size + std::max<int64_t>(size - 1, 0) * padding.interior_padding;
    padding.edge_padding_high = pad->shape().dimensions(d) - padding.edge_padding_low - inner;
  }
}

// Makes the attributes that repeat sizes, or follow from them, those of the new shapes.
void ChangeAttributes(const Sizes& sizes, HloInstruction* instruction) {
  if (instruction->opcode() == HloOpcode::kSlice) {
    FitSlice(instruction);
  } else if (instruction->opcode() == HloOpcode::kPad) {
    FitPad(instruction);
  } else if (instruction->opcode() == HloOpcode::kDynamicSlice) {
    sizes.Change(&instruction->mutable_attrs<DynamicSliceAttrs>().dynamic_slice_sizes);
  } else if (instruction->opcode() == HloOpcode::kGather) {
    sizes.Change(&instruction->mutable_attrs<GatherAttrs>().slice_sizes);
  } else if (instruction->opcode() == HloOpcode::kFft) {
    sizes.Change(&instruction->mutable_attrs<FftAttrs>().fft_length);
  } else if (instruction->opcode() == HloOpcode::kConvolution) {
    sizes.Change(&instruction->mutable_attrs<ConvolutionAttrs>().window);
  } else if (instruction->opcode() == HloOpcode::kReduceWindow) {
    sizes.Change(&instruction->mutable_attrs<ReduceWindowAttrs>().window);
  } else if (instruction->opcode() == HloOpcode::kSelectAndScatter) {
    sizes.Change(&instruction->mutable_attrs<SelectAndScatterAttrs>().window);
  }
}

}  // namespace

std::vector<int64_t> SizesIn(const HloModule& module) {
  std::set<int64_t, std::greater<>> sizes;
  ForEachArray(module, [&](const Shape& shape) {
    for (const int64_t size : shape.dimensions()) {
      if (size > 1) sizes.insert(size);
    }
  });
  return {sizes.begin(), sizes.end()};
}

double ElementsIn(const HloModule& module) {
  double elements = 0;
  ForEachArray(module, [&](const Shape& shape) { elements += static_cast<double>(ShapeUtil::ElementsIn(shape)); });
  return elements;
}

absl::Status ChangeSizes(const SizeChange& change, HloModule* module) {
  const Sizes sizes(change);
  for (HloComputation* computation : module->computations()) {
    for (HloInstruction* instruction : computation->instructions()) sizes.Change(instruction->mutable_shape());
    for (HloInstruction* instruction : computation->instructions()) {
      ChangeAttributes(sizes, instruction);
      if (!instruction->IsConstant() || !instruction->shape().IsArray()) continue;
      if (ShapeUtil::SameDimensions(instruction->literal().shape(), instruction->shape())) continue;
      HILO_ASSIGN_OR_RETURN(Literal corner, Corner(instruction->literal(), instruction->shape()));
      instruction->mutable_attrs<ConstantAttrs>().literal.value = std::make_shared<const Literal>(std::move(corner));
    }
  }
  return absl::OkStatus();
}

}  // namespace hilo::tools
