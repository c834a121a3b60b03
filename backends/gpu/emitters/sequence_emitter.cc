// Memory orders the instructions: a thread sees what it has written, and LLVM keeps values in registers where slices
// allow it.
//
// A loop returns to the host after a number of iterations, even if it has not ended, so that runs can be cancelled; its
// state is in memory, and it is launched again.
#include "backends/gpu/emitters/sequence_emitter.h"

#include <algorithm>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/thunks/host_call.h"
#include "backends/llvm/elements/data_movement.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/in_place.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::Index;
using codegen::LaneIndex;

// Maximum elements of a result, and operations of an instruction, of a kernel, and of the iterations of a loop between
// two returns to the host.
constexpr int64_t kMaxElements = 32;
constexpr int64_t kMaxWork = 512, kMaxKernelWork = 4096;
constexpr int64_t kWorkBetweenLooks = int64_t{1} << 22;
constexpr size_t kMaxInstructions = 200;
// Results of at most this many elements are fully unrolled.
constexpr int64_t kUnrolled = 4;
constexpr int kMaxDepth = 8;

int64_t ElementsOf(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray() ? ShapeUtil::ElementsIn(shape) : 0;
  int64_t most = 0;
  for (const Shape& element : shape.tuple_shapes()) most = std::max(most, ElementsOf(element));
  return most;
}

// Operations of an instruction that is not control flow.
int64_t WorkOf(const HloInstruction& instruction) {
  const int64_t elements = std::max<int64_t>(1, ElementsOf(instruction.shape()));
  switch (instruction.opcode()) {
    case HloOpcode::kFusion: {
      int64_t work = 0;
      const int64_t most = ElementsOf(instruction.shape());
      for (const HloInstruction* inner : instruction.called_computation()->instructions()) {
        if (inner->IsParameter()) continue;
        // An operand that is read at fewer positions than it has is computed only there.
        work += inner->opcode() == HloOpcode::kReduce || inner->opcode() == HloOpcode::kDot
                    ? WorkOf(*inner)
                    : std::min(WorkOf(*inner), std::max(most, kMaxWork));
      }
      return work;
    }
    case HloOpcode::kReduce: return ElementsOf(instruction.operand(0)->shape());
    case HloOpcode::kReduceWindow: {
      int64_t window = 1;
      for (const Window::Dimension& w : instruction.attrs<ReduceWindowAttrs>().window.dimensions) window *= w.size;
      return elements * window;
    }
    case HloOpcode::kDot: {
      int64_t work = elements;
      for (int64_t d : instruction.attrs<DotAttrs>().lhs_contracting_dims)
        work *= instruction.operand(0)->shape().dimensions(d);
      return work;
    }
    default: return elements;
  }
}

bool IsSmallSequence(const HloComputation& computation, ProgramEmitter& program, int depth, int64_t* work);

bool IsSmallAt(const HloInstruction& instruction, ProgramEmitter& program, int depth, int64_t* work) {
  if (IsHostCall(instruction)) return false;
  if (instruction.opcode() == HloOpcode::kConditional) {
    for (const HloComputation* branch : instruction.called_computations()) {
      if (!IsSmallSequence(*branch, program, depth + 1, work)) return false;
    }
    return true;
  }
  const HloInstruction* hero = HeroOf(&instruction);
  int64_t elements = ElementsOf(instruction.shape()), own = WorkOf(instruction);
  if (UpdatesInPlace(program, &instruction)) {
    own = elements = ElementsOf(hero->operand(1)->shape());
    if (hero != &instruction) own *= instruction.called_computation()->instruction_count();
  } else if (!codegen::IsElementGenerated(hero->opcode()) && hero->opcode() != HloOpcode::kTuple &&
             !hero->IsParameter()) {
    return false;
  }
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(instruction.shape())) {
    if (!leaf.shape->IsArray() || ShapeUtil::ElementsIn(*leaf.shape) != ElementsOf(instruction.shape())) return false;
  }
  *work += own;
  return elements <= kMaxElements && own <= kMaxWork;
}

bool IsCode(const HloInstruction& instruction) {
  return !instruction.IsParameter() && !instruction.IsConstant() && !IsForwarding(instruction) &&
         instruction.opcode() != HloOpcode::kAfterAll;
}

bool IsSmallSequence(const HloComputation& computation, ProgramEmitter& program, int depth, int64_t* work) {
  if (depth > kMaxDepth || computation.instruction_count() > static_cast<int64_t>(2 * kMaxInstructions)) return false;
  for (const HloInstruction* instruction : computation.instructions()) {
    if (IsCode(*instruction) && !IsSmallAt(*instruction, program, depth, work)) return false;
  }
  return *work <= kMaxKernelWork;
}

absl::Status EmitSmallComputation(KernelEmitter& k, const HloComputation* computation);

absl::Status EmitSmallConditional(KernelEmitter& k, const HloInstruction* conditional) {
  llvm::IRBuilder<>& b = k.b();
  k.BeginInstruction(nullptr);
  llvm::Value* selector;
  {
    codegen::RegionScope region(k.context());
    HILO_ASSIGN_OR_RETURN(const codegen::ElementValue value, k.elements().Generate(conditional->operand(0), Index()));
    selector = value.re;
  }
  auto block = [&](const char* name) { return llvm::BasicBlock::Create(b.getContext(), name, k.function()); };
  const auto branches = conditional->called_computations();
  std::vector<llvm::BasicBlock*> blocks;
  for (size_t i = 0; i < branches.size(); ++i) blocks.push_back(block("branch"));
  llvm::BasicBlock* done = block("done");
  if (selector->getType()->isIntegerTy(1)) {
    b.CreateCondBr(selector, blocks[0], blocks[1]);
  } else {  // out of range: the last one
    llvm::SwitchInst* choice = b.CreateSwitch(selector, blocks.back(), static_cast<unsigned>(blocks.size()));
    for (size_t i = 0; i + 1 < blocks.size(); ++i) choice->addCase(b.getInt32(static_cast<uint32_t>(i)), blocks[i]);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    b.SetInsertPoint(blocks[i]);
    HILO_RETURN_IF_ERROR(EmitSmallComputation(k, branches[i]));
    b.CreateBr(done);
  }
  b.SetInsertPoint(done);
  return absl::OkStatus();
}

absl::Status EmitSmall(KernelEmitter& k, const HloInstruction* instruction) {
  if (instruction->opcode() == HloOpcode::kConditional) return EmitSmallConditional(k, instruction);
  const bool updates = UpdatesInPlace(k.program(), instruction);
  const int64_t count = ElementsOf(updates ? HeroOf(instruction)->operand(1)->shape() : instruction->shape());
  llvm::IRBuilder<>& b = k.b();
  k.BeginInstruction(instruction);
  if (!updates && count <= kUnrolled) return EmitLoopElements(k, instruction, count);
  auto element = [&](llvm::Value* i) {
    return updates ? EmitUpdateOfWindow(k, instruction, i) : EmitLoopElement(k, instruction, i);
  };
  const absl::Status status =
      count == 1 ? element(b.getInt64(0))
                 : k.ForEach("elements", b.getInt64(0), b.getInt64(static_cast<uint64_t>(count)), 1, element);
  k.BeginInstruction(nullptr);
  return status;
}

absl::Status EmitSmallComputation(KernelEmitter& k, const HloComputation* computation) {
  for (const HloInstruction* instruction : k.program().OrderOf(*computation)) {
    if (IsCode(*instruction) && k.program().HasMemory(instruction)) HILO_RETURN_IF_ERROR(EmitSmall(k, instruction));
  }
  k.BeginInstruction(nullptr);
  return absl::OkStatus();
}

}  // namespace

bool IsSmall(const HloInstruction& instruction, ProgramEmitter& program) {
  if (instruction.opcode() == HloOpcode::kWhile || instruction.opcode() == HloOpcode::kCall) return false;
  int64_t work = 0;
  return IsSmallAt(instruction, program, 0, &work) && work <= kMaxKernelWork;
}

bool IsSmallLoop(const HloInstruction& loop, ProgramEmitter& program) {
  int64_t work = 0;
  return IsSmallSequence(*loop.called_computation(0), program, 0, &work) &&
         IsSmallSequence(*loop.called_computation(1), program, 0, &work);
}

size_t SequenceEnd(absl::Span<const HloInstruction* const> instructions, size_t begin) {
  int64_t work = 0;
  size_t end = begin;
  while (end < instructions.size() && end - begin < kMaxInstructions && (end == begin || work < kMaxKernelWork)) {
    work += instructions[end]->opcode() == HloOpcode::kConditional ? kMaxKernelWork / 2 : WorkOf(*instructions[end]);
    ++end;
  }
  return end;
}

absl::Status EmitSmallInstructions(ProgramEmitter& program, absl::Span<const HloInstruction* const> instructions) {
  std::unique_ptr<KernelEmitter> k = KernelEmitter::ForSequence(&program, instructions);
  for (const HloInstruction* instruction : instructions) {
    HILO_RETURN_IF_ERROR(AddContext(EmitSmall(*k, instruction), InstructionContext(*instruction)));
  }
  return program.FinishAndLaunch(instructions.back(), *k, 1, 1);
}

absl::Status EmitSmallLoop(ProgramEmitter& program, const HloInstruction* loop) {
  const HloComputation *condition = loop->called_computation(0), *body = loop->called_computation(1);
  int64_t work = 0;
  if (!IsSmallSequence(*condition, program, 0, &work) || !IsSmallSequence(*body, program, 0, &work))
    return Internal("the loop ", loop->name(), " is not small");
  const int64_t turns = std::clamp<int64_t>(kWorkBetweenLooks / std::max<int64_t>(work, 1), 64, 1 << 16);
  KernelArgument flag = KernelArgument::Scratch(program.AllocateScratch(1), 1, true);
  std::unique_ptr<KernelEmitter> k = KernelEmitter::ForSequence(&program, {&loop, 1}, {flag});
  llvm::IRBuilder<>& b = k->b();
  auto block = [&](const char* name) { return llvm::BasicBlock::Create(b.getContext(), name, k->function()); };
  llvm::BasicBlock *before = b.GetInsertBlock(), *test = block("test"), *look = block("look"), *next = block("next"),
                   *done = block("done");
  b.CreateBr(test);
  b.SetInsertPoint(test);
  llvm::PHINode* turn = b.CreatePHI(b.getInt64Ty(), 2);
  turn->addIncoming(b.getInt64(0), before);
  HILO_RETURN_IF_ERROR(EmitSmallComputation(*k, condition));
  llvm::Value* more;
  {
    codegen::RegionScope region(k->context());
    HILO_ASSIGN_OR_RETURN(const codegen::ElementValue value,
                          k->elements().Generate(condition->root_instruction(), Index()));
    more = value.re;
  }
  llvm::BasicBlock* tested = b.GetInsertBlock();
  b.CreateCondBr(more, look, done);
  b.SetInsertPoint(look);
  b.CreateCondBr(b.CreateICmpULT(turn, b.getInt64(static_cast<uint64_t>(turns))), next, done);
  b.SetInsertPoint(next);
  HILO_RETURN_IF_ERROR(EmitSmallComputation(*k, body));
  turn->addIncoming(b.CreateAdd(turn, b.getInt64(1)), b.GetInsertBlock());
  b.CreateBr(test);
  b.SetInsertPoint(done);
  llvm::PHINode* unfinished = b.CreatePHI(b.getInt8Ty(), 2);
  unfinished->addIncoming(b.getInt8(0), tested);
  unfinished->addIncoming(b.getInt8(1), look);
  k->StoreCell(k->extra(0), b.getInt64(0), unfinished);
  HILO_ASSIGN_OR_RETURN(const int64_t number, program.Finish(*k, 1));
  ThunkSequence* const outer = program.thunks();
  ThunkSequence inner;
  program.set_thunks(&inner);
  const absl::Status launched = program.Launch(loop, number, 1, 1, k->arguments());
  program.set_thunks(outer);
  HILO_RETURN_IF_ERROR(launched);
  program.Add(std::make_unique<RepeatThunk>(flag, std::move(inner)));
  return absl::OkStatus();
}

}  // namespace hilo::gpu
