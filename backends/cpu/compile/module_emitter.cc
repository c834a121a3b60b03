#include "backends/cpu/compile/module_emitter.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/functions/function_emitter.h"
#include "backends/cpu/functions/kernel_key.h"
#include "backends/cpu/functions/program_emitter.h"
#include "backends/cpu/kernels/kernel_choice.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/runtime/cpu_abi.h"
#include "backends/cpu/runtime/cpu_runtime.h"
#include "backends/cpu/runtime_calls/runtime_call_table.h"
#include "backends/llvm/elements/elementwise_function.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/in_place.h"
#include "hlo/ir/hlo_verifier.h"
#include "runtime/time_thresholds.h"

namespace hilo::cpu {
namespace {

class ModuleEmitter {
 public:
  ModuleEmitter(ProgramEmitter& program, const HloModule& module, const FunctionPartition& plan,
                const ProfilePlan& profile, const CompileOptions& options)
      : program_(program),
        module_(module),
        assignment_(program.assignment()),
        plan_(plan),
        profile_(profile),
        options_(options) {}

  absl::Status EmitScope(const BufferAssignment::Scope& scope);
  std::vector<EmittedRuntimeCall> TakeRuntimeCalls() { return std::move(runtime_calls_); }

 private:
  // Calls EmitWhole or EmitSegments, as the plan states.
  absl::Status EmitComputation(FunctionEmitter& f, const HloComputation* computation);
  // Emits the instructions of a computation in order into `f`.
  absl::Status EmitWhole(FunctionEmitter& f, const HloComputation* computation);
  // Emits the segments of a split computation, each as an outlined function that `f` calls.
  absl::Status EmitSegments(FunctionEmitter& f, const HloComputation* computation);
  absl::Status EmitInstruction(FunctionEmitter& f, const HloInstruction* instruction);
  absl::Status EmitControlFlow(FunctionEmitter& f, const HloInstruction* instruction);
  absl::Status EmitWhile(FunctionEmitter& f, const HloInstruction* loop);
  absl::Status EmitConditional(FunctionEmitter& f, const HloInstruction* conditional);
  void EmitCall(FunctionEmitter& f, const HloInstruction* call);
  absl::Status EmitComputed(FunctionEmitter& f, const HloInstruction* instruction);
  absl::Status EmitOutlined(FunctionEmitter& f, const HloInstruction* instruction);
  absl::Status EmitRuntimeCall(FunctionEmitter& f, const HloInstruction* instruction);
  // Returns a kernel as a function over ranges of its parts; equal kernels share one function.
  absl::StatusOr<llvm::Function*> ChunkFunctionOf(const KernelTable& table, const HloInstruction* instruction);

  ProgramEmitter& program_;
  const HloModule& module_;
  const BufferAssignment& assignment_;
  const FunctionPartition& plan_;
  const ProfilePlan& profile_;
  const CompileOptions& options_;
  absl::flat_hash_map<const HloComputation*, llvm::Function*> scope_functions_;
  absl::flat_hash_map<std::string, llvm::Function*> chunk_functions_;
  std::vector<EmittedRuntimeCall> runtime_calls_;
};

// Emits parts [begin, end) of a kernel, in slices between which cancellation is polled.
absl::Status EmitPolled(FunctionEmitter& f, const HloInstruction* instruction, llvm::Value* begin, llvm::Value* end) {
  const double slices = instruction->kernel()->nanoseconds / kPollNanoseconds;
  // ParallelFor polls between its parts. Each part of a scatter looks at all updates.
  if (slices <= static_cast<double>(kMinParts) || instruction->kernel()->kind == KernelKind::kScatter)
    return EmitKernel(f, instruction, begin, end);
  const int64_t slice =
      std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(instruction->kernel()->parts) / slices));
  llvm::IRBuilder<>& b = f.b();
  return ForEach(
      f, "slices", begin, end,
      [&](llvm::Value* first) {
        f.PollCancellation();
        return EmitKernel(
            f, instruction, first,
            codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smin, b.CreateNSWAdd(first, b.getInt64(slice)), end));
      },
      slice, /*most=*/1);
}

absl::Status ModuleEmitter::EmitScope(const BufferAssignment::Scope& scope) {
  program_.BeginScope(scope);
  const bool entry = scope.computation->IsEntry();
  const std::string name(entry ? kEntrySymbol : absl::string_view(scope.computation->name()));
  HILO_ASSIGN_OR_RETURN(
      llvm::Function * function,
      program_.NewFunction(name, plan_.IsSplit(scope.computation) ? 100 : plan_.CodeSizeOf(scope.computation), false));
  scope_functions_[scope.computation] = function;
  FunctionEmitter f(&program_, function);
  HILO_RETURN_IF_ERROR(EmitComputation(f, scope.computation));
  f.Return(0);
  return absl::OkStatus();
}

absl::Status ModuleEmitter::EmitComputation(FunctionEmitter& f, const HloComputation* computation) {
  return plan_.IsSplit(computation) ? EmitSegments(f, computation) : EmitWhole(f, computation);
}

absl::Status ModuleEmitter::EmitWhole(FunctionEmitter& f, const HloComputation* computation) {
  for (const HloInstruction* instruction : module_.OrderOf(*computation)) {
    HILO_RETURN_IF_ERROR(EmitInstruction(f, instruction));
  }
  return absl::OkStatus();
}

absl::Status ModuleEmitter::EmitSegments(FunctionEmitter& f, const HloComputation* computation) {
  for (const FunctionPartition::Segment& segment : *plan_.SegmentsOf(computation)) {
    if (segment.control) {
      HILO_RETURN_IF_ERROR(EmitInstruction(f, segment.instructions[0]));
      continue;
    }
    HILO_ASSIGN_OR_RETURN(llvm::Function * outlined,
                          program_.NewFunction(absl::StrCat(computation->name(), ".", segment.instructions[0]->name()),
                                               segment.code_size, false));
    FunctionEmitter inner(&program_, outlined);
    for (const HloInstruction* instruction : segment.instructions) {
      HILO_RETURN_IF_ERROR(EmitInstruction(inner, instruction));
    }
    inner.Return(0);
    llvm::Function* callee = program_.DeclareIn(f.function()->getParent(), outlined);
    f.ReturnIfStopped(f.b().CreateCall(callee, {f.run_context(), f.frame(), f.buffers()}));
  }
  return absl::OkStatus();
}

absl::Status ModuleEmitter::EmitInstruction(FunctionEmitter& f, const HloInstruction* instruction) {
  if (instruction->IsParameter() || instruction->IsConstant() || IsForwarding(*instruction)) return absl::OkStatus();
  if (options_.cancellation != nullptr) HILO_RETURN_IF_ERROR(options_.cancellation->status("compilation"));
  if (const int64_t step = profile_.StepAt(instruction); step >= 0) f.MarkProfile(step);
  if (HasTrait(instruction->opcode(), kControlFlow)) return EmitControlFlow(f, instruction);
  const absl::Status status = EmitComputed(f, instruction);
  return status.ok() ? status : AddContext(status, InstructionContext(*instruction));
}

absl::Status ModuleEmitter::EmitControlFlow(FunctionEmitter& f, const HloInstruction* instruction) {
  const bool has_steps_inside = profile_.HasStepsInside(*instruction);
  if (has_steps_inside) f.MarkProfile(profile::kEnter);
  // Errors are those of instructions in the computations.
  if (instruction->opcode() == HloOpcode::kWhile) {
    HILO_RETURN_IF_ERROR(EmitWhile(f, instruction));
  } else if (instruction->opcode() == HloOpcode::kConditional) {
    HILO_RETURN_IF_ERROR(EmitConditional(f, instruction));
  } else {
    EmitCall(f, instruction);
  }
  if (has_steps_inside) f.MarkProfile(profile::kLeave);
  return absl::OkStatus();
}

absl::Status ModuleEmitter::EmitComputed(FunctionEmitter& f, const HloInstruction* instruction) {
  const KernelConfig* kernel = KernelOf(*instruction);
  if (kernel == nullptr) return absl::OkStatus();  // tokens, and results without elements
  if (kernel->kind == KernelKind::kRuntimeCall) return EmitRuntimeCall(f, instruction);
  if (plan_.IsOutlined(*instruction)) return EmitOutlined(f, instruction);
  f.BeginInstruction(instruction);
  const absl::Status status = EmitKernel(f, instruction, f.b().getInt64(0), f.b().getInt64(kernel->parts));
  f.EndInstruction();
  return status;
}

absl::StatusOr<llvm::Function*> ModuleEmitter::ChunkFunctionOf(const KernelTable& table,
                                                               const HloInstruction* instruction) {
  const std::string key = KernelKey(program_, table, instruction);
  if (auto it = chunk_functions_.find(key); it != chunk_functions_.end()) return it->second;
  HILO_ASSIGN_OR_RETURN(llvm::Function * chunk,
                        program_.NewFunction(instruction->name(), plan_.CodeSizeOf(*instruction), true));
  FunctionEmitter inner(&program_, chunk, &table);
  inner.BeginInstruction(instruction);
  const KernelConfig& kernel = *instruction->kernel();
  HILO_RETURN_IF_ERROR(kernel.parallel
                           ? EmitPolled(inner, instruction, chunk->getArg(3), chunk->getArg(4))
                           : EmitKernel(inner, instruction, inner.b().getInt64(0), inner.b().getInt64(kernel.parts)));
  inner.EndInstruction();
  inner.Return(0);
  return chunk_functions_[key] = chunk;
}

absl::Status ModuleEmitter::EmitOutlined(FunctionEmitter& f, const HloInstruction* instruction) {
  const KernelTable table = KernelTableOf(assignment_, instruction);
  HILO_ASSIGN_OR_RETURN(llvm::Function * chunk, ChunkFunctionOf(table, instruction));
  std::vector<llvm::Value*> pointers;
  for (const BufferSlice& slice : table.slices) pointers.push_back(f.PointerTo(slice));
  const KernelConfig& kernel = *instruction->kernel();
  f.ReturnIfStopped(f.CallChunks(program_.DeclareIn(f.function()->getParent(), chunk), f.PointerTable(pointers),
                                 kernel.parallel, f.b().getInt64(0), f.b().getInt64(kernel.parts)));
  return absl::OkStatus();
}

absl::Status ModuleEmitter::EmitRuntimeCall(FunctionEmitter& f, const HloInstruction* instruction) {
  EmittedRuntimeCall emitted{.instruction = instruction,
                             .facts = {.name = instruction->name(), .context = InstructionContext(*instruction)}};
  HILO_ASSIGN_OR_RETURN(emitted.call, MakeRuntimeCall(*instruction, options_));
  std::vector<llvm::Value*> pointers;
  auto pass = [&](const HloInstruction* owner) {
    const int64_t leaves = LeafCount(owner->shape());
    for (int64_t leaf = 0; leaf < leaves; ++leaf) pointers.push_back(f.PointerTo(owner, leaf));
    return leaves;
  };
  for (const HloInstruction* operand : instruction->operands()) emitted.facts.operand_leaves += pass(operand);
  emitted.facts.result_leaves = pass(instruction);
  for (const HloComputation* computation : instruction->called_computations()) {
    if (!codegen::MapsScalars(*computation)) continue;
    HILO_ASSIGN_OR_RETURN(
        llvm::Function * function,
        codegen::EmitElementFunction(f.function()->getParent(), absl::StrCat(computation->name(), ".elements"),
                                     program_.target(), program_.numerics(), *computation));
    function->setLinkage(llvm::GlobalValue::InternalLinkage);
    pointers.push_back(function);
    ++emitted.facts.computations;
  }
  llvm::IRBuilder<>& b = f.b();
  llvm::Type* ptr = b.getPtrTy();
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {ptr, b.getInt64Ty(), ptr}, false);
  llvm::Value* run_runtime_call = f.ContextField(offsetof(HiloCpuContext, run_runtime_call), "run_runtime_call");
  f.ReturnIfStopped(b.CreateCall(type, run_runtime_call,
                                 {f.run_context(), b.getInt64(runtime_calls_.size()), f.PointerTable(pointers)}));
  runtime_calls_.push_back(std::move(emitted));
  return absl::OkStatus();
}

absl::Status ModuleEmitter::EmitWhile(FunctionEmitter& f, const HloInstruction* loop) {
  llvm::IRBuilder<>& b = f.b();
  llvm::LLVMContext& context = b.getContext();
  llvm::BasicBlock* test = llvm::BasicBlock::Create(context, "while.test", f.function());
  const bool is_split = plan_.IsSplit(loop->called_computation(0)) || plan_.IsSplit(loop->called_computation(1));
  std::vector<FunctionEmitter::LoopLocal> locals;
  if (!is_split) {
    HILO_ASSIGN_OR_RETURN(locals, f.BeginLoop(loop));
  }
  b.CreateBr(test);
  b.SetInsertPoint(test);
  const HloComputation* condition = loop->called_computation(0);
  HILO_RETURN_IF_ERROR(EmitComputation(f, condition));
  HILO_ASSIGN_OR_RETURN(codegen::ElementValue more, f.LoadScalar(condition->root_instruction()));
  llvm::BasicBlock* body = llvm::BasicBlock::Create(context, "while.body", f.function());
  llvm::BasicBlock* exit = llvm::BasicBlock::Create(context, "while.exit", f.function());
  b.CreateCondBr(more.re, body, exit);
  b.SetInsertPoint(body);
  f.PollCancellation();  // after the test, which may then be rotated to the end of the loop
  HILO_RETURN_IF_ERROR(EmitComputation(f, loop->called_computation(1)));
  b.CreateBr(test);
  b.SetInsertPoint(exit);
  f.EndLoop(locals);
  return absl::OkStatus();
}

absl::Status ModuleEmitter::EmitConditional(FunctionEmitter& f, const HloInstruction* conditional) {
  llvm::IRBuilder<>& b = f.b();
  llvm::LLVMContext& context = b.getContext();
  const auto branches = conditional->called_computations();
  HILO_ASSIGN_OR_RETURN(codegen::ElementValue selector, f.LoadScalar(conditional->operand(0)));
  llvm::BasicBlock* exit = llvm::BasicBlock::Create(context, "conditional.exit", f.function());
  std::vector<llvm::BasicBlock*> blocks;
  for (size_t i = 0; i < branches.size(); ++i) {
    blocks.push_back(llvm::BasicBlock::Create(context, absl::StrCat("branch.", i), f.function()));
  }
  if (conditional->operand(0)->shape().element_type() == PRED) {
    b.CreateCondBr(selector.re, blocks[0], blocks[1]);
  } else {
    // Out-of-range selectors take the last branch.
    llvm::SwitchInst* choice = b.CreateSwitch(selector.re, blocks.back(), static_cast<unsigned>(branches.size()));
    for (size_t i = 0; i + 1 < branches.size(); ++i) {
      choice->addCase(llvm::cast<llvm::ConstantInt>(llvm::ConstantInt::get(selector.re->getType(), i)), blocks[i]);
    }
  }
  for (size_t i = 0; i < branches.size(); ++i) {
    b.SetInsertPoint(blocks[i]);
    HILO_RETURN_IF_ERROR(EmitComputation(f, branches[i]));
    b.CreateBr(exit);
  }
  b.SetInsertPoint(exit);
  return absl::OkStatus();
}

void ModuleEmitter::EmitCall(FunctionEmitter& f, const HloInstruction* call) {
  llvm::IRBuilder<>& b = f.b();
  const BufferAssignment::Scope& scope = assignment_.scope(call->called_computation());
  const int64_t count = scope.parameter_leaves + scope.output_leaves;
  llvm::Value* table = f.context().EntryAlloca(b.getPtrTy(), std::max<int64_t>(count, 1), 8, "arguments");
  int64_t next = 0;
  auto pass = [&](const HloInstruction* instruction) {
    for (int64_t leaf = 0, leaves = LeafCount(instruction->shape()); leaf < leaves; ++leaf) {
      b.CreateAlignedStore(f.PointerTo(instruction, leaf), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), table, next++),
                           llvm::Align(8));
    }
  };
  for (const HloInstruction* operand : call->operands()) pass(operand);
  pass(call);
  llvm::Value* frame = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), f.frame(), assignment_.call_frame_offset(call));
  llvm::Function* callee =
      program_.DeclareIn(f.function()->getParent(), scope_functions_.at(call->called_computation()));
  f.PollCancellation();  // computations that each call the next one twice take exponential time without a loop
  f.ReturnIfStopped(b.CreateCall(callee, {f.run_context(), frame, table}));
}

}  // namespace

absl::StatusOr<EmittedProgram> EmitModule(const HloModule& module, const BufferAssignment& assignment,
                                          const FunctionPartition& plan, const ProfilePlan& profile,
                                          codegen::HostJit* jit, const CompileOptions& options) {
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<ProgramEmitter> program,
                        ProgramEmitter::Create(module, assignment, plan.total_code_size(), jit, options));
  ModuleEmitter emitter(*program, module, plan, profile, options);
  for (const BufferAssignment::Scope& scope : assignment.scopes()) HILO_RETURN_IF_ERROR(emitter.EmitScope(scope));
  return EmittedProgram{.modules = program->TakeModules(),
                        .constants = program->constants(),
                        .runtime_calls = emitter.TakeRuntimeCalls()};
}

}  // namespace hilo::cpu
