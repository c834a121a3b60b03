// Memory orders the instructions: a thread sees what it has written, and LLVM keeps values in registers where slices
// allow it.
//
// A loop returns to the host after a number of iterations, even if it has not ended, so that runs can be cancelled; its
// state is in memory, and it is launched again.
#include "backends/gpu/emitters/sequence_emitter.h"

#include <algorithm>

#include "backends/gpu/choice/kernel_choice.h"
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/thunks/control_thunks.h"
#include "backends/llvm/elements/predication.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/hero.h"
#include "hlo/ir/hlo_verifier.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::Index;

// Results of at most this many elements are fully unrolled.
constexpr int64_t kUnrolled = 4;

int64_t ElementsOf(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray() ? ShapeUtil::ElementsIn(shape) : 0;
  int64_t most = 0;
  for (const Shape& element : shape.tuple_shapes()) most = std::max(most, ElementsOf(element));
  return most;
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
  const bool updates = UpdatesInPlace(*instruction, k.program().assignment());
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
    if (IsEmitted(*instruction, k.program().assignment())) HILO_RETURN_IF_ERROR(EmitSmall(k, instruction));
  }
  k.BeginInstruction(nullptr);
  return absl::OkStatus();
}

}  // namespace

absl::Status EmitSmallInstructions(ProgramEmitter& program, absl::Span<const HloInstruction* const> instructions) {
  std::unique_ptr<KernelEmitter> k = KernelEmitter::ForSequence(&program, instructions);
  for (const HloInstruction* instruction : instructions) {
    HILO_RETURN_IF_ERROR(AddContext(EmitSmall(*k, instruction), InstructionContext(*instruction)));
  }
  return k->FinishAndLaunch(instructions.back(), 1, 1);
}

absl::Status EmitOneThreadLoop(ProgramEmitter& program, const HloInstruction* loop) {
  const HloComputation *condition = loop->called_computation(0), *body = loop->called_computation(1);
  const int64_t iterations = loop->kernel()->tile[0];
  KernelArgument flag = KernelArgument::Scratch(program.AllocateScratch(1), 1, true);
  std::unique_ptr<KernelEmitter> k = KernelEmitter::ForSequence(&program, {&loop, 1}, {flag});
  llvm::IRBuilder<>& b = k->b();
  auto block = [&](const char* name) { return llvm::BasicBlock::Create(b.getContext(), name, k->function()); };
  llvm::BasicBlock *before = b.GetInsertBlock(), *test = block("test"), *look = block("look"), *next = block("next"),
                   *done = block("done");
  b.CreateBr(test);
  b.SetInsertPoint(test);
  llvm::PHINode* iteration = b.CreatePHI(b.getInt64Ty(), 2);
  iteration->addIncoming(b.getInt64(0), before);
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
  b.CreateCondBr(b.CreateICmpULT(iteration, b.getInt64(static_cast<uint64_t>(iterations))), next, done);
  b.SetInsertPoint(next);
  HILO_RETURN_IF_ERROR(EmitSmallComputation(*k, body));
  iteration->addIncoming(b.CreateAdd(iteration, b.getInt64(1)), b.GetInsertBlock());
  b.CreateBr(test);
  b.SetInsertPoint(done);
  llvm::PHINode* unfinished = b.CreatePHI(b.getInt8Ty(), 2);
  unfinished->addIncoming(b.getInt8(0), tested);
  unfinished->addIncoming(b.getInt8(1), look);
  k->StoreCell(k->extra(0), b.getInt64(0), unfinished);
  HILO_ASSIGN_OR_RETURN(const int64_t number, k->Finish(1));
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
