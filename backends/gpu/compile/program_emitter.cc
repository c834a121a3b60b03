#include "backends/gpu/compile/program_emitter.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "backends/gpu/collectives/collective_thunk.h"
#include "backends/gpu/compile/kernel_choice.h"
#include "backends/gpu/compile/ptx.h"
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/sequence_emitter.h"
#include "backends/gpu/thunks/control_thunks.h"
#include "backends/gpu/thunks/graph_thunk.h"
#include "backends/gpu/thunks/kernel_thunks.h"
#include "backends/llvm/jit/module_text.h"
#include "backends/llvm/llvm_compat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/memory/scheduler.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/raw_ostream.h"

namespace hilo::gpu {
namespace {

// A kernel's parameters have 32,764 bytes.
constexpr size_t kMostArguments = 4095;

// Replaces characters that assemblers reject.
std::string KernelName(absl::string_view name) {
  std::string clean(name);
  for (char& c : clean) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return clean;
}

}  // namespace

ProgramEmitter::ProgramEmitter(const HloModule& module, const BufferAssignment& assignment,
                               const CompileOptions& options, const EmissionOptions& emission)
    : module_(module),
      assignment_(assignment),
      options_(options),
      emission_(emission),
      numerics_{.strict = options.strict, .flush_denormals = options.flush_denormals} {
  for (const std::shared_ptr<const Literal>& literal : assignment.constants()) {
    constant_numbers_[literal.get()] = static_cast<int64_t>(result_.image.constants.size());
    result_.image.constants.push_back({literal, literal->untyped_data()});
  }
}

absl::StatusOr<EmittedProgram> ProgramEmitter::Emit() {
  HILO_ASSIGN_OR_RETURN(std::vector<HloComputation*> sequential, SequentialComputations(module_));
  sequential_.insert(sequential.begin(), sequential.end());
  llvm::LLVMContext context;
  llvm::Module target("target", context);
  HILO_RETURN_IF_ERROR(PrepareGpuModule(&target, emission_.arch));
  triple_ = target.getTargetTriple();
  data_layout_ = target.getDataLayoutStr();
  for (const BufferAssignment::Scope& scope : assignment_.scopes()) HILO_RETURN_IF_ERROR(EmitScope(scope));
  return std::move(result_);
}

absl::Status ProgramEmitter::EmitScope(const BufferAssignment::Scope& scope) {
  frame_bytes_ = scope.frame_bytes;
  in_entry_ = for_all_ranks_ = scope.computation->IsEntry();
  auto emitted = std::make_unique<ThunkScope>();
  emitted->number = static_cast<int64_t>(result_.image.scopes.size());
  emitted->frame_bytes = scope.frame_bytes;
  for (const HloInstruction* parameter : scope.computation->parameter_instructions()) {
    for (const int64_t bytes : LeafBytes(parameter->shape())) emitted->parameter_bytes.push_back(bytes);
  }
  emitted->output_bytes = LeafBytes(scope.computation->root_instruction()->shape());
  HILO_ASSIGN_OR_RETURN(emitted->thunks, EmitComputation(scope.computation));
  scopes_[scope.computation] = emitted.get();
  result_.image.scopes.push_back(std::move(emitted));
  return absl::OkStatus();
}

absl::StatusOr<ThunkSequence> ProgramEmitter::EmitComputation(const HloComputation* computation) {
  ThunkSequence mine;
  ThunkSequence* const outer = std::exchange(thunks_, &mine);
  std::vector<const HloInstruction*> small;
  for (const HloInstruction* instruction : module_.OrderOf(*computation)) {
    if (!IsEmitted(*instruction, assignment_)) continue;
    HILO_RET_CHECK(instruction->kernel() != nullptr) << instruction->name() << " has no kernel";
    const bool is_small = instruction->kernel()->kind == KernelKind::kSequence;
    if (!is_small || (!small.empty() && small[0]->kernel()->tile != instruction->kernel()->tile))
      HILO_RETURN_IF_ERROR(EmitSequence(&small));
    if (is_small) {
      small.push_back(instruction);
    } else {
      HILO_RETURN_IF_ERROR(EmitInstruction(instruction));
    }
  }
  HILO_RETURN_IF_ERROR(EmitSequence(&small));
  thunks_ = outer;
  if (emission_.overlap_collectives) {
    // Within a call any parameter may share memory with an output; in the entry, only donated ones.
    PlaceAwaits(&mine, [&](int64_t parameter, int64_t output) {
      return !in_entry_ || absl::c_linear_search(assignment_.scopes().back().donations, std::pair(output, parameter));
    });
  }
  ThunkSequence graphs = WithGraphs(std::move(mine), emission_.graph_thunks_from);
  return for_all_ranks_ ? WithCollectiveGraphs(std::move(graphs), emission_.graph_thunks_from) : std::move(graphs);
}

absl::Status ProgramEmitter::EmitSequence(std::vector<const HloInstruction*>* instructions) {
  const std::vector<const HloInstruction*> all = std::exchange(*instructions, {});
  if (all.empty()) return absl::OkStatus();
  scratch_used_ = 0;
  return EmitSmallInstructions(*this, all);
}

absl::Status ProgramEmitter::EmitInstruction(const HloInstruction* instruction) {
  scratch_used_ = 0;
  const absl::Status status = EmitKernel(*this, instruction);
  // The context of control flow is that of the instruction inside.
  return HasTrait(instruction->opcode(), kControlFlow) ? status : AddContext(status, InstructionContext(*instruction));
}

absl::Status ProgramEmitter::EmitCountedLoop(const HloInstruction* loop) {
  HILO_ASSIGN_OR_RETURN(ThunkSequence body, EmitComputation(loop->called_computation(1)));
  Add(std::make_unique<CountedLoopThunk>(loop->kernel()->tile[0], std::move(body)));
  return absl::OkStatus();
}

absl::Status ProgramEmitter::EmitWhile(const HloInstruction* loop) {
  const bool for_all_ranks = std::exchange(for_all_ranks_, false);
  HILO_ASSIGN_OR_RETURN(ThunkSequence body, EmitComputation(loop->called_computation(1)));
  const HloComputation* condition = loop->called_computation(0);
  HILO_ASSIGN_OR_RETURN(ThunkSequence test, EmitComputation(condition));
  for_all_ranks_ = for_all_ranks;
  HILO_ASSIGN_OR_RETURN(const BufferSlice predicate, SliceOf(condition->root_instruction()));
  Add(std::make_unique<WhileThunk>(predicate, std::move(test), std::move(body)));
  return absl::OkStatus();
}

absl::Status ProgramEmitter::EmitConditional(const HloInstruction* conditional) {
  std::vector<ThunkSequence> branches;
  const bool for_all_ranks = std::exchange(for_all_ranks_, false);
  for (const HloComputation* branch : conditional->called_computations()) {
    HILO_ASSIGN_OR_RETURN(branches.emplace_back(), EmitComputation(branch));
  }
  for_all_ranks_ = for_all_ranks;
  const HloInstruction* selector = conditional->operand(0);
  HILO_ASSIGN_OR_RETURN(const BufferSlice slice, SliceOf(selector));
  Add(std::make_unique<ConditionalThunk>(slice, selector->shape().element_type() == PRED, std::move(branches)));
  return absl::OkStatus();
}

absl::StatusOr<BufferSlice> ProgramEmitter::SliceOf(const HloInstruction* scalar) {
  if (!scalar->IsConstant()) return assignment_.slice(scalar);
  return BufferSlice{.kind = StorageKind::kConstant,
                     .index = ConstantIndex(scalar->shared_literal()),
                     .size = ShapeUtil::ByteSizeOf(scalar->shape())};
}

absl::Status ProgramEmitter::EmitCall(const HloInstruction* call) {
  std::vector<BufferSlice> parameters, outputs;
  auto pass = [&](const HloInstruction* instruction, std::vector<BufferSlice>* slices) -> absl::Status {
    for (int64_t leaf = 0, leaves = LeafCount(instruction->shape()); leaf < leaves; ++leaf) {
      if (!instruction->IsConstant()) {
        slices->push_back(assignment_.slice(instruction, leaf));
        continue;
      }
      HILO_ASSIGN_OR_RETURN(slices->emplace_back(), SliceOf(instruction));
    }
    return absl::OkStatus();
  };
  for (const HloInstruction* operand : call->operands()) HILO_RETURN_IF_ERROR(pass(operand, &parameters));
  HILO_RETURN_IF_ERROR(pass(call, &outputs));
  Add(std::make_unique<CallThunk>(call->called_computation()->name(), scopes_.at(call->called_computation()),
                                  assignment_.call_frame_offset(call), std::move(parameters), std::move(outputs)));
  return absl::OkStatus();
}

int64_t ProgramEmitter::AddCollective(CollectiveSpec spec) {
  result_.image.collectives.push_back(std::move(spec));
  return static_cast<int64_t>(result_.image.collectives.size()) - 1;
}

int64_t ProgramEmitter::ConstantIndex(std::shared_ptr<const Literal> literal) {
  auto [it, fresh] = constant_numbers_.try_emplace(literal.get(), result_.image.constants.size());
  if (fresh) {
    const absl::Span<const uint8_t> bytes = literal->untyped_data();
    result_.image.constants.push_back({std::move(literal), bytes});
  }
  return it->second;
}

llvm::LLVMContext& ProgramEmitter::llvm_context() {
  if (result_.modules.empty() ||
      static_cast<int64_t>(result_.modules.back().kernels.size()) >= emission_.kernels_per_module) {
    KernelModule& fresh = result_.modules.emplace_back();
    fresh.context = std::make_unique<llvm::LLVMContext>();
    fresh.context->setDiscardValueNames(true);
    fresh.module = NewModule("kernels", *fresh.context);
  }
  return *result_.modules.back().context;
}

std::unique_ptr<llvm::Module> ProgramEmitter::NewModule(absl::string_view name, llvm::LLVMContext& context) const {
  auto module = std::make_unique<llvm::Module>(codegen::ToStringRef(name), context);
  module->setTargetTriple(triple_);
  module->setDataLayout(data_layout_);
  return module;
}

int64_t ProgramEmitter::AllocateScratch(int64_t bytes) {
  const int64_t offset = scratch_used_;
  scratch_used_ += CeilDiv(bytes, kDeviceAlignment) * kDeviceAlignment;
  result_.image.scratch_bytes = std::max(result_.image.scratch_bytes, scratch_used_);
  return offset;
}

void ProgramEmitter::NeedWorkspace(int64_t bytes) {
  result_.image.workspace_bytes = std::max(result_.image.workspace_bytes, bytes);
}

// Value names are discarded, so the text of a kernel depends on its code alone.
absl::StatusOr<int64_t> ProgramEmitter::Finish(KernelEmitter& kernel, int block_size) {
  if (kernel.arguments().size() > kMostArguments) {
    return Unimplemented(kernel.name(), ": a kernel reads and writes at most ", kMostArguments,
                         " arrays, but this instruction wants ", kernel.arguments().size());
  }
  kernel.BeginInstruction(nullptr);
  kernel.b().CreateRetVoid();
  std::string error;
  llvm::raw_string_ostream errors(error);
  if (llvm::verifyModule(kernel.module(), &errors))
    return Internal("the code of a kernel is not valid: ", errors.str());
  auto [it, fresh] = kernels_.try_emplace(absl::StrCat(codegen::ModuleText(kernel.module()), block_size),
                                          static_cast<int64_t>(result_.image.kernels.size()));
  if (!fresh) return it->second;
  std::string name = KernelName(kernel.name());
  if (const int64_t used = names_[name]++; used > 0) absl::StrAppend(&name, "__", used);
  kernel.function()->setName(name);
  kernel.MarkAsKernel(block_size);
  KernelModule& batch = result_.modules.back();
  if (llvm::Linker::linkModules(*batch.module, std::move(kernel.module_)))
    return Internal("the kernel ", name, " cannot be linked into its module");
  batch.kernels.push_back(it->second);
  result_.image.kernels.push_back({std::move(name), static_cast<int64_t>(kernel.arguments().size())});
  return it->second;
}

absl::Status ProgramEmitter::Launch(const HloInstruction* instruction, int64_t kernel, int64_t blocks, int block_size,
                                    std::vector<KernelArgument> arguments) {
  if (blocks == 0) return absl::OkStatus();
  if (blocks > INT32_MAX) return ResourceExhausted("a kernel of ", blocks, " blocks; the most is ", INT32_MAX);
  Add(std::make_unique<KernelThunk>(instruction->name(), kernel, kernel_name(kernel), blocks, block_size,
                                    std::move(arguments)));
  return absl::OkStatus();
}

absl::Status ProgramEmitter::FinishAndLaunch(const HloInstruction* instruction, KernelEmitter& kernel, int64_t blocks,
                                             int block_size) {
  HILO_ASSIGN_OR_RETURN(const int64_t number, Finish(kernel, block_size));
  return Launch(instruction, number, blocks, block_size, kernel.arguments());
}

}  // namespace hilo::gpu
