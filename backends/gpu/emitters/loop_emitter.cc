// Loops over the elements of a result: element-wise operations, data movement, and fusions of them, one result or
// several.
//
// A thread computes one element, or a group of adjacent ones that fill 16 bytes: all loads, then the arithmetic, then
// all stores, from which LLVM makes one 16-byte access per array. This requires a minor-most dimension of whole groups,
// or arrays that are all read at the index that is written.
#include <algorithm>

#include "backends/gpu/emitters/emitters.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

struct Loop : LoopResults {
  const HloInstruction* instruction;
  Shape shape;  // whose dimensions the loop runs over

  Loop(const HloInstruction* instruction, LoopResults results)
      : LoopResults(std::move(results)), instruction(instruction), shape(leaf_shapes[0]) {}
};

Loop LoopOf(const HloInstruction* instruction) { return Loop(instruction, LoopResultsOf(*instruction)); }
Loop LoopOf(const HloInstruction* instruction, const HloInstruction* root) {
  return Loop(instruction, {.roots = {root}, .leaf_shapes = {root->shape()}});
}

// Converts `index` of the loop to an index among the elements of `shape`.
Index IndexIn(KernelEmitter& k, const Loop& loop, const Shape& shape, const Index& index) {
  if (ShapeUtil::SameDimensions(shape, loop.shape)) return index;
  return index.Reshape(k.context(), loop.shape.dimensions(), shape.dimensions());
}

absl::StatusOr<Elements> Values(KernelEmitter& k, const Loop& loop, const Index& index) {
  if (loop.roots.size() == 1) return k.elements().GenerateLeaves(loop.roots[0], index);
  Elements values;
  for (const HloInstruction* root : loop.roots) {
    HILO_ASSIGN_OR_RETURN(values.emplace_back(), k.elements().Generate(root, IndexIn(k, loop, root->shape(), index)));
  }
  return values;
}

// The indices of group number `i`.
std::vector<Index> GroupIndices(KernelEmitter& k, const Loop& loop, llvm::Value* i, int64_t group) {
  const auto dimensions = loop.shape.dimensions();
  const int64_t count = ShapeUtil::ElementsIn(loop.shape);
  if (dimensions.empty()) return {Index()};
  llvm::Value* first =
      group == 1 ? i : k.b().CreateMul(i, k.b().getInt64(static_cast<uint64_t>(group)), "", true, true);
  const LaneIndex base = LaneIndex::Uniform(first, group, count);
  const Index start = Index::FromLinear(base, dimensions);
  if (group == 1) return {start};
  std::vector<Index> indices;
  const bool whole_rows = dimensions.back() % group == 0;
  for (int64_t j = 0; j < group; ++j) {
    if (!whole_rows) {
      indices.push_back(Index::FromLinear(base.AddConstant(j).WithRange({0, count - 1}), dimensions));
      continue;
    }
    std::vector<LaneIndex> dims = start.Dims(k.context());
    dims.back() = dims.back().AddConstant(j).WithRange({0, dimensions.back() - 1});
    indices.emplace_back(std::move(dims));
  }
  return indices;
}

absl::Status EmitOneLoop(ProgramEmitter& program, const Loop& loop, int64_t first_leaf, int64_t group, int64_t block) {
  const int64_t count = ShapeUtil::ElementsIn(loop.shape);
  if (count == 0) return absl::OkStatus();
  const int64_t groups = count / group;
  KernelEmitter k(&program, loop.instruction);
  llvm::Value* i = k.GlobalThread(block);
  HILO_RETURN_IF_ERROR(
      k.If("in_range", k.b().CreateICmpULT(i, k.b().getInt64(static_cast<uint64_t>(groups))), [&]() -> absl::Status {
        const std::vector<Index> indices = GroupIndices(k, loop, i, group);
        std::vector<Elements> values;
        for (const Index& index : indices) {
          HILO_ASSIGN_OR_RETURN(values.emplace_back(), Values(k, loop, index));
        }
        for (size_t leaf = 0; leaf < loop.leaf_shapes.size(); ++leaf) {
          const codegen::IrArray array = k.ArrayOf(loop.instruction, first_leaf + static_cast<int64_t>(leaf));
          for (size_t j = 0; j < indices.size(); ++j)
            array.Store(k.context(), IndexIn(k, loop, loop.leaf_shapes[leaf], indices[j]), values[j][leaf]);
        }
        return absl::OkStatus();
      }));
  return program.FinishAndLaunch(loop.instruction, k, CeilDiv(groups, block), static_cast<int>(block));
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
  HILO_ASSIGN_OR_RETURN(const int64_t number, program.Finish(k, block));
  return program.Launch(instruction, number, CeilDiv(count, block), block, std::move(arguments));
}

absl::Status EmitLoop(ProgramEmitter& program, const HloInstruction* instruction) {
  const KernelConfig& config = *instruction->kernel();
  return EmitOneLoop(program, LoopOf(instruction), 0, config.width, config.tile[0]);
}

// None of the results shares an operand's memory.
absl::Status EmitLoopPerResult(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::vector<int64_t>& tile = instruction->kernel()->tile;
  const Loop all = LoopOf(instruction);
  for (size_t i = 0; i < all.roots.size(); ++i) {
    HILO_RETURN_IF_ERROR(
        EmitOneLoop(program, LoopOf(instruction, all.roots[i]), static_cast<int64_t>(i), tile[2 * i + 1], tile[2 * i]));
  }
  return absl::OkStatus();
}

absl::Status EmitLoopElements(KernelEmitter& k, const HloInstruction* instruction, int64_t count) {
  const Loop loop = LoopOf(instruction);
  std::vector<Index> indices;
  std::vector<Elements> values;
  // All values before all stores, as a result may share the memory of an operand that later elements read.
  for (int64_t i = 0; i < count; ++i) {
    indices.push_back(Index::FromLinear(LaneIndex::Constant(i), loop.shape.dimensions()));
    if (loop.shape.rank() == 0) indices.back() = Index();
    HILO_ASSIGN_OR_RETURN(values.emplace_back(), Values(k, loop, indices.back()));
  }
  for (size_t leaf = 0; leaf < loop.leaf_shapes.size(); ++leaf) {
    const codegen::IrArray array = k.ArrayOf(instruction, static_cast<int64_t>(leaf));
    for (size_t i = 0; i < indices.size(); ++i)
      array.Store(k.context(), IndexIn(k, loop, loop.leaf_shapes[leaf], indices[i]), values[i][leaf]);
  }
  return absl::OkStatus();
}

absl::Status EmitLoopElement(KernelEmitter& k, const HloInstruction* instruction, llvm::Value* i) {
  const Loop loop = LoopOf(instruction);
  const Index index = GroupIndices(k, loop, i, 1)[0];
  HILO_ASSIGN_OR_RETURN(const Elements values, Values(k, loop, index));
  for (size_t leaf = 0; leaf < loop.leaf_shapes.size(); ++leaf) {
    k.ArrayOf(instruction, static_cast<int64_t>(leaf))
        .Store(k.context(), IndexIn(k, loop, loop.leaf_shapes[leaf], index), values[leaf]);
  }
  return absl::OkStatus();
}

absl::Status EmitCopy(ProgramEmitter& program, const HloInstruction* instruction) {
  program.Add(std::make_unique<CopyThunk>(program.assignment().slice(instruction),
                                          program.assignment().slice(instruction->operand(0)),
                                          ShapeUtil::ByteSizeOf(instruction->shape())));
  return absl::OkStatus();
}

absl::Status EmitCopyOfOperand(ProgramEmitter& program, const HloInstruction* instruction, int64_t leaf,
                               const HloInstruction* operand, int64_t width, int64_t block) {
  if (block > 0) return EmitOneLoop(program, LoopOf(instruction, operand), leaf, width, block);
  const HloInstruction* source = FusedOperand(operand, instruction);
  const BufferSlice &to = program.assignment().slice(instruction, leaf), &from = program.assignment().slice(source);
  if (to.SameMemory(from)) return absl::OkStatus();
  program.Add(std::make_unique<CopyThunk>(to, from, ShapeUtil::ByteSizeOf(source->shape())));
  return absl::OkStatus();
}

}  // namespace hilo::gpu
