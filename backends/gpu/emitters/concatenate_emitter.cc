// Concatenations of large arrays: a thread writes a group of adjacent elements that fill 16 bytes and come from one
// operand, so that it selects the operand once, and reads the group in one access.
#include <algorithm>

#include "backends/gpu/emitters/emitters.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

// With more operands, selecting the operand costs more than a table would.
constexpr int64_t kMaxOperands = 32;

// Returns the number of adjacent elements along the minor-most dimension that come from one operand.
int64_t GroupOf(const HloInstruction& concatenate, const EmissionOptions& emission) {
  const Shape& shape = concatenate.shape();
  const int64_t dimension = concatenate.attrs<ConcatenateAttrs>().dimensions[0], minor = shape.rank() - 1;
  int64_t group =
      std::min<int64_t>(8, emission.group_bytes / std::max<int64_t>(1, PrimitiveTypeByteSize(shape.element_type())));
  for (const HloInstruction* operand : concatenate.operands()) {
    while (group > 1 && operand->shape().dimensions(minor) % group != 0) group /= 2;
    if (dimension != minor) break;  // one size for all
  }
  return group;
}

}  // namespace

bool IsGroupedConcatenate(const HloInstruction& concatenate, const EmissionOptions& emission) {
  return ShapeUtil::ElementsIn(concatenate.shape()) >= emission.group_elements_from &&
         concatenate.operand_count() <= kMaxOperands && GroupOf(concatenate, emission) > 1;
}

absl::Status EmitConcatenate(ProgramEmitter& program, const HloInstruction* instruction) {
  const HloInstruction* concatenate = HeroOf(instruction);
  const Shape& shape = concatenate->shape();
  const int64_t dimension = concatenate->attrs<ConcatenateAttrs>().dimensions[0];
  const int64_t group = GroupOf(*concatenate, program.emission()), groups = ShapeUtil::ElementsIn(shape) / group;
  const int block = BlockFor(groups);
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
  return program.FinishAndLaunch(instruction, k, CeilDiv(groups, block), block);
}

}  // namespace hilo::gpu
