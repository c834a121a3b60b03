// Loops over the elements of a result: element-wise operations, data movement, and fusions of them, one result or
// several.
//
// A thread computes one element, or a group of adjacent ones that fill 16 bytes: all loads, then the arithmetic, then
// all stores, from which LLVM makes one 16-byte access per array. This requires a minor-most dimension of whole groups,
// or arrays that are all read at the index that is written.
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/gpu/match/operands.h"
#include "backends/gpu/thunks/kernel_thunks.h"
#include "backends/llvm/nest/loop_elements.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/loop_results.h"

namespace hilo::gpu {
namespace {

using codegen::Index;
using codegen::LaneIndex;

// Returns the index of element `linear` of a loop's results.
Index IndexOf(const LoopResults& loop, const LaneIndex& linear) {
  return loop.shape().rank() == 0 ? Index() : Index::FromLinear(linear, loop.shape().dimensions());
}

absl::Status EmitOneLoop(ProgramEmitter& program, const LoopResults& loop, int64_t group, int64_t block) {
  if (ShapeUtil::IsZeroElementArray(loop.shape())) return absl::OkStatus();
  const auto dimensions = loop.shape().dimensions();
  const codegen::NestDim nest = PerThread({dimensions.begin(), dimensions.end()}, block, group);
  KernelEmitter k(&program, loop.instruction);
  return EmitNestKernel(k, loop.instruction, nest,
                        [&](absl::Span<const Index> indices) { return EmitElements(k, loop, indices); });
}

}  // namespace

absl::Status EmitLoop(ProgramEmitter& program, const HloInstruction* instruction) {
  const KernelConfig& config = *instruction->kernel();
  return EmitOneLoop(program, LoopResultsOf(*instruction), config.width, config.tile[0]);
}

// None of the results shares an operand's memory.
absl::Status EmitLoopPerResult(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::vector<int64_t>& tile = instruction->kernel()->tile;
  const LoopResults all = LoopResultsOf(*instruction);
  for (size_t i = 0; i < all.roots.size(); ++i)
    HILO_RETURN_IF_ERROR(EmitOneLoop(program, all.Only(static_cast<int64_t>(i)), tile[2 * i + 1], tile[2 * i]));
  return absl::OkStatus();
}

absl::Status EmitLoopElements(KernelEmitter& k, const HloInstruction* instruction, int64_t count) {
  const LoopResults loop = LoopResultsOf(*instruction);
  std::vector<Index> indices;
  for (int64_t i = 0; i < count; ++i) indices.push_back(IndexOf(loop, LaneIndex::Constant(i)));
  return EmitElements(k, loop, indices);
}

absl::Status EmitLoopElement(KernelEmitter& k, const HloInstruction* instruction, llvm::Value* i) {
  const LoopResults loop = LoopResultsOf(*instruction);
  const Index index = IndexOf(loop, LaneIndex::Uniform(i, 1, ShapeUtil::ElementsIn(loop.shape())));
  return EmitElements(k, loop, {&index, 1});
}

absl::Status EmitCopy(ProgramEmitter& program, const HloInstruction* instruction) {
  program.Add(std::make_unique<CopyThunk>(program.assignment().slice(instruction),
                                          program.assignment().slice(instruction->operand(0)),
                                          ShapeUtil::ByteSizeOf(instruction->shape())));
  return absl::OkStatus();
}

absl::Status EmitCopyOfOperand(ProgramEmitter& program, const HloInstruction* instruction, int64_t leaf,
                               const HloInstruction* operand, int64_t width, int64_t block) {
  if (block > 0) {
    const LoopResults copy{
        .instruction = instruction, .roots = {operand}, .leaf_shapes = {operand->shape()}, .first_leaf = leaf};
    return EmitOneLoop(program, copy, width, block);
  }
  const HloInstruction* source = FusedOperand(operand, instruction);
  const BufferSlice &to = program.assignment().slice(instruction, leaf), &from = program.assignment().slice(source);
  if (to.SameMemory(from)) return absl::OkStatus();
  program.Add(std::make_unique<CopyThunk>(to, from, ShapeUtil::ByteSizeOf(source->shape())));
  return absl::OkStatus();
}

}  // namespace hilo::gpu
