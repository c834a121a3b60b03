// Concatenations of large arrays: a thread writes a group of adjacent elements that fill 16 bytes and come from one
// operand, so that it selects the operand once, and reads the group in one access.
#include <algorithm>

#include "backends/gpu/emitters/emitters.h"
#include "base/math.h"
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
  const int64_t group = instruction->kernel()->width, groups = ShapeUtil::ElementsIn(shape) / group;
  const int64_t block = instruction->kernel()->tile[0];
  KernelEmitter k(&program, instruction);
  llvm::IRBuilder<>& b = k.b();
  auto integer = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
  llvm::Value* i = k.GlobalThread(block);
  HILO_RETURN_IF_ERROR(k.If("in_range", b.CreateICmpULT(i, integer(groups)), [&]() -> absl::Status {
    llvm::Value* first = b.CreateMul(i, integer(group), "", true, true);
    const Index start =
        Index::FromLinear(LaneIndex::Uniform(first, group, ShapeUtil::ElementsIn(shape)), shape.dimensions());
    const std::vector<LaneIndex> dims = start.Dims(k.context());
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
  }));
  return k.FinishAndLaunch(instruction, CeilDiv(groups, block), static_cast<int>(block));
}

}  // namespace hilo::gpu
