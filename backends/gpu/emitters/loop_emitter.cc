// Loops over the elements of a result: element-wise operations, data movement, and fusions of them, one result or
// several.
//
// A thread computes one element, or a group of adjacent ones that fill 16 bytes: all loads, then the arithmetic, then
// all stores, from which LLVM makes one 16-byte access per array. This requires a minor-most dimension of whole groups,
// or arrays that are all read at the index that is written.
#include <algorithm>

#include "backends/gpu/emitters/emitters.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

// Instructions of a fusion that are still repeated for each element of a group.
constexpr int64_t kMaxGrouped = 64;

struct Loop {
  const HloInstruction* instruction;
  std::vector<const HloInstruction*> roots;  // one per output leaf; a single one with a tuple shape yields them all
  std::vector<Shape> leaf_shapes;
  Shape shape;  // whose dimensions the loop runs over
};

Loop LoopOf(const HloInstruction* instruction) {
  Loop loop{.instruction = instruction};
  const HloInstruction* root = HeroOf(instruction);
  if (root->opcode() == HloOpcode::kTuple) {
    loop.roots.assign(root->operands().begin(), root->operands().end());
  } else {
    loop.roots = {root};
  }
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(root->shape())) loop.leaf_shapes.push_back(*leaf.shape);
  loop.shape = loop.leaf_shapes[0];
  return loop;
}

// Returns the number of adjacent elements that one thread computes.
int64_t GroupOf(const Loop& loop, const ProgramEmitter& program) {
  const int64_t count = ShapeUtil::ElementsIn(loop.shape);
  if (count < program.emission().group_elements_from || loop.roots.size() != loop.leaf_shapes.size()) return 1;
  int64_t widest = 1, instructions = 0;
  bool flat = true;
  for (size_t i = 0; i < loop.roots.size(); ++i) {
    widest = std::max<int64_t>(widest, PrimitiveTypeByteSize(loop.leaf_shapes[i].element_type()));
    flat = flat && codegen::IsFlat(loop.roots[i]);
  }
  for (const HloInstruction* operand : loop.instruction->operands()) {
    if (operand->shape().IsArray() && ShapeUtil::ElementsIn(operand->shape()) > 1) {
      widest = std::max<int64_t>(widest, PrimitiveTypeByteSize(operand->shape().element_type()));
    }
  }
  if (loop.instruction->opcode() == HloOpcode::kFusion)
    instructions = loop.instruction->called_computation()->instruction_count();
  int64_t group = std::min<int64_t>(8, program.emission().group_bytes / widest);
  if (instructions > kMaxGrouped) group = std::min<int64_t>(group, 2);
  const int64_t row = flat || loop.shape.rank() == 0 ? count : loop.shape.dimensions().back();
  while (group > 1 && row % group != 0) group /= 2;
  return std::max<int64_t>(group, 1);
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

absl::Status EmitOneLoop(ProgramEmitter& program, const Loop& loop, int64_t first_leaf) {
  const int64_t count = ShapeUtil::ElementsIn(loop.shape);
  if (count == 0) return absl::OkStatus();
  const int64_t group = GroupOf(loop, program);
  const int64_t groups = count / group;
  const int block = BlockFor(groups);
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
  return program.FinishAndLaunch(loop.instruction, k, CeilDiv(groups, block), block);
}

}  // namespace

int BlockFor(int64_t count) {
  return count >= kBlockSize ? kBlockSize : static_cast<int>(CeilDiv(std::max<int64_t>(count, 1), kWarp) * kWarp);
}

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
  const Loop loop = LoopOf(instruction);
  bool equal = true;
  for (const Shape& leaf : loop.leaf_shapes) {
    if (!leaf.IsArray()) return Unimplemented("a fusion with a result that is not an array");
    equal = equal && ShapeUtil::ElementsIn(leaf) == ShapeUtil::ElementsIn(loop.shape);
  }
  if (equal || loop.roots.size() != loop.leaf_shapes.size()) return EmitOneLoop(program, loop, 0);
  // Results of different sizes are loops of their own; none of them shares an operand's memory.
  for (size_t i = 0; i < loop.roots.size(); ++i) {
    const Loop one{.instruction = instruction,
                   .roots = {loop.roots[i]},
                   .leaf_shapes = {loop.leaf_shapes[i]},
                   .shape = loop.leaf_shapes[i]};
    HILO_RETURN_IF_ERROR(EmitOneLoop(program, one, static_cast<int64_t>(i)));
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
  const HloInstruction* operand = instruction->operand(0);
  if (operand->IsConstant()) return EmitLoop(program, instruction);
  program.Add(std::make_unique<CopyThunk>(program.assignment().slice(instruction), program.assignment().slice(operand),
                                          ShapeUtil::ByteSizeOf(instruction->shape())));
  return absl::OkStatus();
}

absl::Status EmitCopyOfOperand(ProgramEmitter& program, const HloInstruction* instruction, int64_t leaf,
                               const HloInstruction* operand) {
  const HloInstruction* source = operand;
  while (source->IsParameter() && source->parent()->IsFusion() && source->parent() != instruction->parent()) {
    source = source->parent()->fusion_instruction()->operand(source->parameter_number());
  }
  if (program.IsSequential(source->parent()) && !source->IsConstant()) {
    const BufferSlice &to = program.assignment().slice(instruction, leaf), &from = program.assignment().slice(source);
    if (to.SameMemory(from)) return absl::OkStatus();
    program.Add(std::make_unique<CopyThunk>(to, from, ShapeUtil::ByteSizeOf(source->shape())));
    return absl::OkStatus();
  }
  return EmitOneLoop(
      program,
      {.instruction = instruction, .roots = {operand}, .leaf_shapes = {operand->shape()}, .shape = operand->shape()},
      leaf);
}

absl::Status EmitKernels(ProgramEmitter& program, const HloInstruction* instruction) {
  const HloInstruction* hero = HeroOf(instruction);
  if (instruction->opcode() == HloOpcode::kFusion && hero->opcode() != HloOpcode::kReduce) {
    if (const std::optional<RowPlan> plan = PlanRows(instruction, program.numerics().strict))
      return EmitRows(program, instruction, *plan);
  }
  switch (hero->opcode()) {
    case HloOpcode::kReduce: return EmitReduce(program, instruction);
    case HloOpcode::kReduceWindow: return EmitReduceWindow(program, instruction);
    case HloOpcode::kTranspose:
      return IsTiledTranspose(*hero) ? EmitTranspose(program, instruction) : EmitLoop(program, instruction);
    case HloOpcode::kDot: return IsTiledDot(*hero) ? EmitDot(program, instruction) : EmitLoop(program, instruction);
    case HloOpcode::kDynamicUpdateSlice: return EmitUpdateSlice(program, instruction);
    case HloOpcode::kRaggedDot: return EmitRaggedDot(program, instruction);
    case HloOpcode::kScatter: return EmitScatter(program, instruction);
    case HloOpcode::kSelectAndScatter: return EmitSelectAndScatter(program, instruction);
    case HloOpcode::kSort: return EmitSort(program, instruction);
    case HloOpcode::kConcatenate:
      return IsGroupedConcatenate(*hero, program.emission()) ? EmitConcatenate(program, instruction)
                                                             : EmitLoop(program, instruction);
    case HloOpcode::kTopK: return EmitTopK(program, instruction);
    case HloOpcode::kFft: return EmitFft(program, instruction);
    case HloOpcode::kCholesky: return EmitCholesky(program, instruction);
    case HloOpcode::kTriangularSolve: return EmitTriangularSolve(program, instruction);
    case HloOpcode::kCopy: return hero == instruction ? EmitCopy(program, instruction) : EmitLoop(program, instruction);
    case HloOpcode::kConvolution:
      return IsTiledConvolution(*hero, program) ? EmitConvolution(program, instruction)
                                                : EmitLoop(program, instruction);
    default: break;
  }
  if (!codegen::IsElementGenerated(hero->opcode()) && hero->opcode() != HloOpcode::kTuple && !hero->IsParameter()) {
    return Unimplemented(HloOpcodeString(hero->opcode()), " is not supported on this platform yet");
  }
  return EmitLoop(program, instruction);
}

}  // namespace hilo::gpu
