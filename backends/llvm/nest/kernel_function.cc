#include "backends/llvm/nest/kernel_function.h"

#include "base/math.h"

namespace hilo::codegen {

std::vector<LaneIndex> KernelFunction::Delinearize(llvm::Value* linear, absl::Span<const int64_t> dimensions) {
  if (dimensions.empty()) return {};
  return Index::FromLinear(LaneIndex::Uniform(linear, 1, Product(dimensions)), dimensions).Dims(context());
}

}  // namespace hilo::codegen
