#include "backends/gpu/emitters/dot_operand.h"

#include <vector>

#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::Index;
using codegen::LaneIndex;

absl::StatusOr<Elements> Load(KernelEmitter& k, const DotSide& side, llvm::Value* batch, llvm::Value* position,
                              llvm::Value* depth, int64_t group) {
  const bool deep = side.DepthIsMinor();
  const std::vector<LaneIndex> batches = k.Delinearize(batch, side.batch_sizes);
  const auto positions = k.Adjacent(position, side.free_sizes, deep ? 1 : group),
             depths = k.Adjacent(depth, side.contracting_sizes, deep ? group : 1);
  Elements elements;
  for (int64_t i = 0; i < group; ++i) {
    std::vector<LaneIndex> at(side.operand->shape().rank());
    const auto set = [&](const std::vector<int64_t>& dimensions, const std::vector<LaneIndex>& indices) {
      for (size_t d = 0; d < indices.size(); ++d) at[dimensions[d]] = indices[d];
    };
    set(side.batch, batches);
    set(side.free, positions[deep ? 0 : i]);
    set(side.contracting, depths[deep ? i : 0]);
    HILO_ASSIGN_OR_RETURN(elements.emplace_back(), k.elements().Generate(side.operand, Index(std::move(at))));
  }
  return elements;
}

}  // namespace

ProductSide ProductSideOf(KernelEmitter& k, const DotSide& side) {
  return {.positions = Product(side.free_sizes),
          .type = side.operand->shape().element_type(),
          .depth_is_minor = side.DepthIsMinor(),
          .elements = [&k, &side](auto* batch, auto* position, auto* depth, int64_t group) {
            return Load(k, side, batch, position, depth, group);
          }};
}

}  // namespace hilo::gpu
