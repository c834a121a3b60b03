// Loops over the elements of a result: element-wise operations, data movement, and fusions of them, one result or
// several.
//
// A thread computes one element, or a group of adjacent ones that fill 16 bytes: all loads, then the arithmetic, then
// all stores, from which LLVM makes one 16-byte access per array. This requires a minor-most dimension of whole groups,
// or arrays that are all read at the index that is written.
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/match/operands.h"
#include "backends/gpu/thunks/kernel_thunks.h"
#include "backends/llvm/nest/loop_elements.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/loop_results.h"

namespace hilo::gpu {
namespace {

using codegen::Index;
using codegen::LaneIndex;

// The indices of group number `i`.
std::vector<Index> GroupIndices(KernelEmitter& k, const LoopResults& loop, llvm::Value* i, int64_t group) {
  const auto dimensions = loop.shape().dimensions();
  const int64_t count = ShapeUtil::ElementsIn(loop.shape());
  if (dimensions.empty()) return {Index()};
  llvm::Value* first =
      group == 1 ? i : k.b().CreateMul(i, k.b().getInt64(static_cast<uint64_t>(group)), "", true, true);
  std::vector<Index> indices;
  if (group > 1 && dimensions.back() % group == 0) {
    for (std::vector<LaneIndex>& at : k.Adjacent(first, dimensions, group)) indices.emplace_back(std::move(at));
    return indices;
  }
  const LaneIndex base = LaneIndex::Uniform(first, group, count);
  for (int64_t j = 0; j < group; ++j)
    indices.push_back(Index::FromLinear(base.AddConstant(j).WithRange({0, count - 1}), dimensions));
  return indices;
}

absl::Status EmitOneLoop(ProgramEmitter& program, const LoopResults& loop, int64_t group, int64_t block) {
  const int64_t count = ShapeUtil::ElementsIn(loop.shape());
  if (count == 0) return absl::OkStatus();
  const int64_t groups = count / group;
  KernelEmitter k(&program, loop.instruction);
  llvm::Value* i = k.GlobalThread(block);
  HILO_RETURN_IF_ERROR(k.If("in_range", k.b().CreateICmpULT(i, k.b().getInt64(static_cast<uint64_t>(groups))),
                            [&] { return EmitElements(k, loop, GroupIndices(k, loop, i, group)); }));
  return k.FinishAndLaunch(loop.instruction, CeilDiv(groups, block), static_cast<int>(block));
}

}  // namespace

absl::Status EmitThreads(ProgramEmitter& program, const HloInstruction* instruction, int64_t count,
                         std::vector<KernelArgument> arguments,
                         absl::FunctionRef<absl::Status(KernelEmitter&, llvm::Value*)> body) {
  const int block = BlockFor(count);
  KernelEmitter k(&program, nullptr, arguments);
  llvm::Value* i = k.GlobalThread(block);
  HILO_RETURN_IF_ERROR(k.If("in_range", k.b().CreateICmpULT(i, k.b().getInt64(static_cast<uint64_t>(count))),
                            [&] { return body(k, i); }));
  HILO_ASSIGN_OR_RETURN(const int64_t number, k.Finish(block));
  return program.Launch(instruction, number, CeilDiv(count, block), block, std::move(arguments));
}

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
  for (int64_t i = 0; i < count; ++i) {
    indices.push_back(loop.shape().rank() == 0 ? Index()
                                               : Index::FromLinear(LaneIndex::Constant(i), loop.shape().dimensions()));
  }
  return EmitElements(k, loop, indices);
}

absl::Status EmitLoopElement(KernelEmitter& k, const HloInstruction* instruction, llvm::Value* i) {
  const LoopResults loop = LoopResultsOf(*instruction);
  return EmitElements(k, loop, GroupIndices(k, loop, i, 1));
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
