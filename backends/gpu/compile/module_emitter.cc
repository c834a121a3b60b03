#include "backends/gpu/compile/module_emitter.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "backends/gpu/choice/kernel_choice.h"
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/group_emitter.h"
#include "backends/gpu/emitters/sequence_emitter.h"
#include "backends/gpu/thunks/collective_thunk.h"
#include "backends/gpu/thunks/control_thunks.h"
#include "backends/gpu/thunks/graph_thunk.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"

namespace hilo::gpu {
namespace {

class ModuleEmitter {
 public:
  explicit ModuleEmitter(ProgramEmitter& program) : program_(program), assignment_(program.assignment()) {}

  absl::Status Emit();

 private:
  absl::Status EmitScope(const BufferAssignment::Scope& scope);
  absl::StatusOr<ThunkSequence> EmitComputation(const HloComputation* computation);
  absl::Status EmitInstruction(const HloInstruction* instruction);
  absl::Status EmitTogether(std::vector<const HloInstruction*>* instructions);
  absl::Status EmitCountedLoop(const HloInstruction* loop);
  absl::Status EmitWhile(const HloInstruction* loop);
  absl::Status EmitConditional(const HloInstruction* conditional);
  absl::Status EmitCall(const HloInstruction* call);

  ProgramEmitter& program_;
  const BufferAssignment& assignment_;
  absl::flat_hash_map<const HloComputation*, const ThunkScope*> scopes_;
  bool in_entry_ = false;
};

absl::Status ModuleEmitter::Emit() {
  for (const BufferAssignment::Scope& scope : assignment_.scopes()) HILO_RETURN_IF_ERROR(EmitScope(scope));
  return absl::OkStatus();
}

absl::Status ModuleEmitter::EmitScope(const BufferAssignment::Scope& scope) {
  program_.BeginScope(scope);
  in_entry_ = scope.computation->IsEntry();
  program_.set_for_all_ranks(in_entry_);
  auto emitted = std::make_unique<ThunkScope>();
  emitted->number = static_cast<int64_t>(scopes_.size());
  emitted->frame_bytes = scope.frame_bytes;
  for (const HloInstruction* parameter : scope.computation->parameter_instructions()) {
    for (const int64_t bytes : LeafBytes(parameter->shape())) emitted->parameter_bytes.push_back(bytes);
  }
  emitted->output_bytes = LeafBytes(scope.computation->root_instruction()->shape());
  HILO_ASSIGN_OR_RETURN(emitted->thunks, EmitComputation(scope.computation));
  scopes_[scope.computation] = emitted.get();
  program_.AddScope(std::move(emitted));
  return absl::OkStatus();
}

absl::StatusOr<ThunkSequence> ModuleEmitter::EmitComputation(const HloComputation* computation) {
  ThunkSequence mine;
  ThunkSequence* const outer = program_.thunks();
  program_.set_thunks(&mine);
  std::vector<const HloInstruction*> small;
  for (const HloInstruction* instruction : program_.OrderOf(*computation)) {
    if (!IsEmitted(*instruction, assignment_)) continue;
    HILO_RET_CHECK(instruction->kernel() != nullptr) << instruction->name() << " has no kernel";
    const bool is_small = AreOneKernel(*instruction->kernel(), *instruction->kernel());
    if (!is_small || (!small.empty() && !AreOneKernel(*small[0]->kernel(), *instruction->kernel())))
      HILO_RETURN_IF_ERROR(EmitTogether(&small));
    if (is_small) {
      small.push_back(instruction);
    } else {
      HILO_RETURN_IF_ERROR(EmitInstruction(instruction));
    }
  }
  HILO_RETURN_IF_ERROR(EmitTogether(&small));
  program_.set_thunks(outer);
  if (program_.emission().overlap_collectives) {
    // Within a call any parameter may share memory with an output; in the entry, only donated ones.
    InsertAwaits(&mine, [&](int64_t parameter, int64_t output) {
      return !in_entry_ || absl::c_linear_search(assignment_.scopes().back().donations, std::pair(output, parameter));
    });
  }
  ThunkSequence graphs = WithGraphs(std::move(mine), program_.emission().graph_thunks_from);
  return program_.is_for_all_ranks() ? WithCollectiveGraphs(std::move(graphs), program_.emission().graph_thunks_from)
                                     : std::move(graphs);
}

// Emits instructions of one kernel.
absl::Status ModuleEmitter::EmitTogether(std::vector<const HloInstruction*>* instructions) {
  const std::vector<const HloInstruction*> all = std::exchange(*instructions, {});
  if (all.empty()) return absl::OkStatus();
  program_.BeginInstruction();
  return all[0]->kernel()->kind == KernelKind::kSequence ? EmitSmallInstructions(program_, all)
                                                         : EmitGroup(program_, all);
}

absl::Status ModuleEmitter::EmitInstruction(const HloInstruction* instruction) {
  switch (instruction->kernel()->kind) {
    case KernelKind::kCall: return EmitCall(instruction);
    case KernelKind::kConditional: return EmitConditional(instruction);
    case KernelKind::kCountedLoop: return EmitCountedLoop(instruction);
    case KernelKind::kWhile: return EmitWhile(instruction);
    default: break;
  }
  program_.BeginInstruction();
  const absl::Status status = EmitKernel(program_, instruction);
  // The context of control flow is that of the instruction inside.
  return HasTrait(instruction->opcode(), kControlFlow) ? status : AddContext(status, InstructionContext(*instruction));
}

absl::Status ModuleEmitter::EmitCountedLoop(const HloInstruction* loop) {
  HILO_ASSIGN_OR_RETURN(ThunkSequence body, EmitComputation(loop->called_computation(1)));
  program_.Add(std::make_unique<CountedLoopThunk>(loop->kernel()->tile[0], std::move(body)));
  return absl::OkStatus();
}

absl::Status ModuleEmitter::EmitWhile(const HloInstruction* loop) {
  const bool for_all_ranks = program_.set_for_all_ranks(false);
  HILO_ASSIGN_OR_RETURN(ThunkSequence body, EmitComputation(loop->called_computation(1)));
  const HloComputation* condition = loop->called_computation(0);
  HILO_ASSIGN_OR_RETURN(ThunkSequence test, EmitComputation(condition));
  program_.set_for_all_ranks(for_all_ranks);
  HILO_ASSIGN_OR_RETURN(const BufferSlice predicate, program_.SliceOf(condition->root_instruction()));
  program_.Add(std::make_unique<WhileThunk>(predicate, std::move(test), std::move(body)));
  return absl::OkStatus();
}

absl::Status ModuleEmitter::EmitConditional(const HloInstruction* conditional) {
  std::vector<ThunkSequence> branches;
  const bool for_all_ranks = program_.set_for_all_ranks(false);
  for (const HloComputation* branch : conditional->called_computations()) {
    HILO_ASSIGN_OR_RETURN(branches.emplace_back(), EmitComputation(branch));
  }
  program_.set_for_all_ranks(for_all_ranks);
  const HloInstruction* selector = conditional->operand(0);
  HILO_ASSIGN_OR_RETURN(const BufferSlice slice, program_.SliceOf(selector));
  program_.Add(
      std::make_unique<ConditionalThunk>(slice, selector->shape().element_type() == PRED, std::move(branches)));
  return absl::OkStatus();
}

absl::Status ModuleEmitter::EmitCall(const HloInstruction* call) {
  std::vector<BufferSlice> parameters, outputs;
  auto pass = [&](const HloInstruction* instruction, std::vector<BufferSlice>* slices) -> absl::Status {
    for (int64_t leaf = 0, leaves = LeafCount(instruction->shape()); leaf < leaves; ++leaf) {
      if (!instruction->IsConstant()) {
        slices->push_back(assignment_.slice(instruction, leaf));
        continue;
      }
      HILO_ASSIGN_OR_RETURN(slices->emplace_back(), program_.SliceOf(instruction));
    }
    return absl::OkStatus();
  };
  for (const HloInstruction* operand : call->operands()) HILO_RETURN_IF_ERROR(pass(operand, &parameters));
  HILO_RETURN_IF_ERROR(pass(call, &outputs));
  program_.Add(std::make_unique<CallThunk>(call->called_computation()->name(), scopes_.at(call->called_computation()),
                                           assignment_.call_frame_offset(call), std::move(parameters),
                                           std::move(outputs)));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EmittedProgram> EmitModule(const HloModule& module, const BufferAssignment& assignment,
                                          const CompileOptions& options, const EmissionOptions& emission) {
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<ProgramEmitter> program,
                        ProgramEmitter::Create(module, assignment, options, emission));
  HILO_RETURN_IF_ERROR(ModuleEmitter(*program).Emit());
  return program->Take();
}

}  // namespace hilo::gpu
