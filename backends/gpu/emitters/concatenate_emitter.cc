// Concatenations of large arrays: a thread writes a group of adjacent elements that fill 16 bytes and come from one
// operand, so that it selects the operand once, and reads the group in one access.
#include <algorithm>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/hero.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

}  // namespace

absl::Status EmitConcatenate(ProgramEmitter& program, const HloInstruction* instruction) {
  const HloInstruction* concatenate = HeroOf(instruction);
  const Shape& shape = concatenate->shape();
  const int64_t dimension = concatenate->attrs<ConcatenateAttrs>().dimensions[0];
  const int64_t group = instruction->kernel()->width;
  KernelEmitter k(&program, instruction);
  llvm::IRBuilder<>& b = k.b();
  auto integer = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
  const codegen::NestDim nest =
      PerThread({shape.dimensions().begin(), shape.dimensions().end()}, instruction->kernel()->tile[0], group);
  return EmitNestKernel(k, instruction, nest, [&](absl::Span<const Index> indices) -> absl::Status {
    const std::vector<LaneIndex> dims = indices[0].Dims(k.context());
    llvm::Value* const along = dims[dimension].Base(k.context());
    int64_t begin = 0;
    for (const HloInstruction* operand : concatenate->operands()) {
      const int64_t size = operand->shape().dimensions(dimension), offset = std::exchange(begin, begin + size);
      if (size == 0) continue;
      // Differences of those before `offset` wrap around beyond `size`.
      llvm::Value* inside = b.CreateICmpULT(b.CreateSub(along, integer(offset)), integer(size));
      HILO_RETURN_IF_ERROR(k.If("operand", inside, [&]() -> absl::Status {
        std::vector<ElementValue> values;
        for (int64_t j = 0; j < group; ++j) {
          std::vector<LaneIndex> at = dims;
          at.back() = at.back().AddConstant(j);
          at[dimension] = at[dimension].AddConstant(-offset).WithRange({0, size - 1});
          HILO_ASSIGN_OR_RETURN(values.emplace_back(), k.elements().Generate(operand, Index(std::move(at))));
        }
        for (int64_t j = 0; j < group; ++j) {
          std::vector<LaneIndex> at = dims;
          at.back() = at.back().AddConstant(j).WithRange({0, shape.dimensions().back() - 1});
          k.ArrayOf(instruction).Store(k.context(), Index(std::move(at)), values[j]);
        }
        return absl::OkStatus();
      }));
    }
    return absl::OkStatus();
  });
}

}  // namespace hilo::gpu
