// Dots that are large enough: tiles of the result, one block per tile (tiled_product.h). Operands are element
// generators, so producers fused into them, their types and the order of their dimensions have no extra cost; what is
// fused after the dot is computed from each sum before it is stored.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/tiled_product.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "backends/llvm/nest/loop_elements.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/analysis/hero.h"
#include "hlo/analysis/loop_results.h"
#include "hlo/ops/reduction/sum_type.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

// The index of an element of one side.
Index IndexIn(KernelEmitter& k, const DotSide& side, llvm::Value* batch, llvm::Value* position, llvm::Value* depth) {
  std::vector<LaneIndex> at(side.operand->shape().rank());
  auto place = [&](const std::vector<int64_t>& dimensions, llvm::Value* linear, const std::vector<int64_t>& sizes) {
    const std::vector<LaneIndex> indices = k.Delinearize(linear, sizes);
    for (size_t i = 0; i < indices.size(); ++i) at[dimensions[i]] = indices[i];
  };
  place(side.batch, batch, side.batch_sizes);
  place(side.free, position, side.free_sizes);
  place(side.contracting, depth, side.contracting_sizes);
  return Index(std::move(at));
}

}  // namespace

absl::Status EmitDot(ProgramEmitter& program, const HloInstruction* instruction) {
  const HloInstruction* dot = DotOf(*instruction);
  const DotSide lhs = LhsOf(*dot), rhs = RhsOf(*dot);
  const PrimitiveType type = dot->shape().element_type(),
                      sum_type = IsFloatingPointType(type) && type != F64 ? F32 : type;
  const LoopResults results = LoopResultsOf(*instruction);
  KernelEmitter k(&program, instruction);
  auto product_side = [&](const DotSide& side) {
    auto element = [&k, &side, sum_type](llvm::Value* batch, llvm::Value* position,
                                         llvm::Value* depth) -> absl::StatusOr<ElementValue> {
      HILO_ASSIGN_OR_RETURN(ElementValue value,
                            k.elements().Generate(side.operand, IndexIn(k, side, batch, position, depth)));
      return codegen::EmitConvert(k.context(), side.operand->shape().element_type(), sum_type, value);
    };
    return ProductSide{
        .positions = Product(side.free_sizes), .depth_is_minor = side.DepthIsMinor(), .element = element};
  };
  auto store = [&](llvm::Value* batch, llvm::Value* m, llvm::Value* n, const ElementValue& sum) {
    std::vector<LaneIndex> at = k.Delinearize(batch, lhs.batch_sizes);
    for (LaneIndex& index : k.Delinearize(m, lhs.free_sizes)) at.push_back(index);
    for (LaneIndex& index : k.Delinearize(n, rhs.free_sizes)) at.push_back(index);
    k.SetValue(dot, codegen::EmitConvert(k.context(), sum_type, type, sum));
    const Index index(std::move(at));
    return EmitElements(k, results, {&index, 1});
  };
  TiledProduct product{.batch = Product(lhs.batch_sizes),
                       .depth = Product(lhs.contracting_sizes),
                       .lhs = product_side(lhs),
                       .rhs = product_side(rhs),
                       .sum_type = sum_type,
                       .store = store};
  product.SetSizes(*instruction->kernel());
  return product.EmitAndLaunch(instruction, k);
}

}  // namespace hilo::gpu
