#include "backends/gpu/emitters/program_emitter.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "backends/gpu/ptx/ptx.h"
#include "backends/gpu/thunks/kernel_thunks.h"
#include "backends/llvm/jit/module_text.h"
#include "backends/llvm/llvm_compat.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/memory/scheduler.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/raw_ostream.h"

namespace hilo::gpu {
namespace {

// A kernel's parameters have 32,764 bytes.
constexpr size_t kMaxArguments = 4095;

// Replaces what assemblers reject: characters, first ones that are no letters ("_" alone is no name), and PTX's
// reserved word. Names that begin with "__nv_" are those of libdevice's functions, which the kernel may call.
std::string KernelName(absl::string_view name) {
  std::string clean(name);
  for (char& c : clean) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  if (clean.empty() || !absl::ascii_isalpha(static_cast<unsigned char>(clean[0])) || clean == "WARP_SZ")
    clean.insert(0, "kernel_");
  return clean;
}

// Sets the calling convention and the other attributes of a kernel.
void MarkKernelKeepingAlignment(llvm::Function* function, int block_size) {
  const llvm::AttributeList attributes = function->getAttributes();
  MarkKernel(function, block_size);
  // MarkKernel assumes that all pointers are aligned like whole allocations.
  for (unsigned i = 0; i < function->arg_size(); ++i) {
    if (const llvm::MaybeAlign align = attributes.getParamAlignment(i)) {
      function->removeParamAttr(i, llvm::Attribute::Alignment);
      function->addParamAttr(i, llvm::Attribute::getWithAlignment(function->getContext(), *align));
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProgramEmitter>> ProgramEmitter::Create(const HloModule& module,
                                                                       const BufferAssignment& assignment,
                                                                       const CompileOptions& options,
                                                                       const EmissionOptions& emission) {
  std::unique_ptr<ProgramEmitter> program(new ProgramEmitter(module, assignment, options, emission));
  HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> sequential, SequentialComputations(module));
  program->sequential_.insert(sequential.begin(), sequential.end());
  llvm::LLVMContext context;
  llvm::Module target("target", context);
  HILO_RETURN_IF_ERROR(PrepareGpuModule(&target, emission.arch));
  program->triple_ = target.getTargetTriple();
  program->data_layout_ = target.getDataLayoutStr();
  return program;
}

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

absl::StatusOr<BufferSlice> ProgramEmitter::SliceOf(const HloInstruction* scalar) {
  if (!scalar->IsConstant()) return assignment_.slice(scalar);
  return BufferSlice{.kind = StorageKind::kConstant,
                     .index = ConstantIndex(scalar->shared_literal()),
                     .size = ShapeUtil::ByteSizeOf(scalar->shape())};
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
absl::StatusOr<int64_t> ProgramEmitter::AddKernel(absl::string_view name, std::unique_ptr<llvm::Module> module,
                                                  llvm::Function* function, size_t arguments, int block_size) {
  if (arguments > kMaxArguments) {
    return Unimplemented(name, ": a kernel reads and writes at most ", kMaxArguments,
                         " arrays, but this instruction wants ", arguments);
  }
  std::string error;
  llvm::raw_string_ostream errors(error);
  if (llvm::verifyModule(*module, &errors)) return Internal("the code of a kernel is not valid: ", errors.str());
  auto [it, is_new] = kernels_.try_emplace(absl::StrCat(codegen::ModuleText(*module), block_size),
                                           static_cast<int64_t>(result_.image.kernels.size()));
  if (!is_new) return it->second;
  std::string own_name = KernelName(name);
  while (const int64_t used = names_[own_name]++) absl::StrAppend(&own_name, "__", used);
  function->setName(own_name);
  MarkKernelKeepingAlignment(function, block_size);
  KernelModule& batch = result_.modules.back();
  if (llvm::Linker::linkModules(*batch.module, std::move(module)))
    return Internal("the kernel ", own_name, " cannot be linked into its module");
  batch.kernels.push_back(it->second);
  result_.image.kernels.push_back({std::move(own_name), static_cast<int64_t>(arguments)});
  return it->second;
}

absl::Status ProgramEmitter::Launch(const HloInstruction* instruction, int64_t kernel, int64_t blocks, int block_size,
                                    std::vector<KernelArgument> arguments, int64_t shared_bytes) {
  if (blocks == 0) return absl::OkStatus();
  if (blocks > INT32_MAX) return ResourceExhausted("a kernel of ", blocks, " blocks; the most is ", INT32_MAX);
  Add(std::make_unique<KernelThunk>(instruction->name(), kernel, kernel_name(kernel), blocks, block_size, shared_bytes,
                                    std::move(arguments)));
  return absl::OkStatus();
}

}  // namespace hilo::gpu
