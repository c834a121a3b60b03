#include "backends/cpu/functions/program_emitter.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/memory/scheduler.h"

namespace hilo::cpu {
namespace {

// Operations after which a new LLVM module is started, so that all threads have something to compile: a program has at
// least kModules modules if they are large enough to amortize the cost of a module, 0.7 ms. The number of threads plays
// no part: the same program is the same code everywhere.
constexpr int64_t kModules = 3, kMinModuleCodeSize = 150, kMaxModuleCodeSize = 1500;
// Operations of the first kernel with a function of its own from which it begins the second module, so that what calls
// it is compiled meanwhile. Measured, 50 programs on two threads: 1.046 times as fast, 17 on one thread: 0.986.
constexpr int64_t kMinApart = 40;

llvm::FunctionType* FunctionTypeOf(llvm::LLVMContext& context, bool chunks) {
  llvm::Type* ptr = llvm::PointerType::getUnqual(context);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  std::vector<llvm::Type*> arguments = {ptr, ptr, ptr};
  if (chunks) arguments.insert(arguments.end(), {i64, i64});
  return llvm::FunctionType::get(llvm::Type::getInt32Ty(context), arguments, false);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProgramEmitter>> ProgramEmitter::Create(const HloModule& module,
                                                                       const BufferAssignment& assignment,
                                                                       int64_t total_code_size, codegen::HostJit* jit,
                                                                       const CompileOptions& options) {
  std::unique_ptr<ProgramEmitter> program(new ProgramEmitter(assignment, total_code_size, jit, options));
  HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> sequential, SequentialComputations(module));
  program->sequential_.insert(sequential.begin(), sequential.end());
  return program;
}

ProgramEmitter::ProgramEmitter(const BufferAssignment& assignment, int64_t total_code_size, codegen::HostJit* jit,
                               const CompileOptions& options)
    : assignment_(assignment),
      total_code_size_(total_code_size),
      jit_(*jit),
      target_(codegen::TargetTraits::FromCpu(jit->cpu())),
      numerics_{.strict = options.strict, .flush_denormals = options.flush_denormals},
      constants_(assignment.constants()) {
  for (size_t i = 0; i < constants_.size(); ++i) constant_numbers_[constants_[i].get()] = static_cast<int64_t>(i);
}

int64_t ProgramEmitter::ConstantIndex(std::shared_ptr<const Literal> literal) {
  auto [it, is_new] = constant_numbers_.try_emplace(literal.get(), constants_.size());
  if (is_new) constants_.push_back(std::move(literal));
  return it->second;
}

absl::StatusOr<llvm::Function*> ProgramEmitter::NewFunction(const std::string& name, int64_t code_size, bool chunks) {
  // A module that is less than half full takes functions of any size.
  const int64_t capacity = std::clamp(total_code_size_ / kModules, kMinModuleCodeSize, kMaxModuleCodeSize);
  const bool is_apart = modules_.size() == 1 && chunks && code_size >= kMinApart;
  if (modules_.empty() || is_apart || (room_ < code_size && room_ <= capacity / 2)) {
    modules_.emplace_back(absl::StrCat("hilo.", modules_.size()));
    HILO_RETURN_IF_ERROR(jit_.PrepareModule(modules_.back().module.get()));
    room_ = capacity;
  }
  room_ -= code_size;
  int64_t& count = function_names_[name];
  // LLVM takes functions whose names begin with "llvm." for its own.
  const char* const prefix = absl::StartsWith(name, "llvm.") ? "#" : "";
  const std::string unique = count == 0 ? absl::StrCat(prefix, name) : absl::StrCat(prefix, name, "#", count);
  ++count;
  llvm::Module* module = modules_.back().module.get();
  llvm::Function* function = llvm::Function::Create(FunctionTypeOf(module->getContext(), chunks),
                                                    llvm::GlobalValue::ExternalLinkage, unique, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("prefer-vector-width", std::to_string(target_.vector_bits));
  for (int i = 0; i < 3; ++i) {
    function->addParamAttr(i, llvm::Attribute::NoUndef);
    function->addParamAttr(i, llvm::Attribute::NonNull);
  }
  function->addParamAttr(1, llvm::Attribute::getWithAlignment(module->getContext(), llvm::Align(64)));
  // The table of a function of chunks has pointers into the frame. Other functions alone access theirs while they run,
  // so that what a loop carries in the frame may be in registers.
  if (!chunks && frame_bytes_ > 0) {
    function->addParamAttr(1, llvm::Attribute::NoAlias);
    function->addParamAttr(1, llvm::Attribute::Writable);
    function->addDereferenceableParamAttr(1, static_cast<uint64_t>(frame_bytes_));
  }
  return function;
}

llvm::Function* ProgramEmitter::DeclareIn(llvm::Module* module, llvm::Function* function) {
  if (function->getParent() == module) return function;
  if (llvm::Function* known = module->getFunction(function->getName())) return known;
  const bool chunks = function->arg_size() == 5;
  return llvm::Function::Create(FunctionTypeOf(module->getContext(), chunks), llvm::GlobalValue::ExternalLinkage,
                                function->getName(), module);
}

llvm::FunctionCallee ProgramEmitter::Runtime(llvm::Module* module, absl::string_view name, llvm::FunctionType* type) {
  return module->getOrInsertFunction(llvm::StringRef(name.data(), name.size()), type);
}

llvm::FunctionCallee ProgramEmitter::RuntimeChunks(llvm::Module* module, absl::string_view name) {
  return Runtime(module, name, FunctionTypeOf(module->getContext(), /*chunks=*/true));
}

llvm::Constant* ProgramEmitter::Numbers(llvm::Module* module, absl::Span<const uint64_t> numbers) {
  llvm::Constant* array =
      llvm::ConstantDataArray::get(module->getContext(), llvm::ArrayRef(numbers.data(), numbers.size()));
  auto* constant = new llvm::GlobalVariable(*module, array->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::PrivateLinkage, array, "numbers");
  constant->setAlignment(llvm::Align(8));
  return constant;
}

}  // namespace hilo::cpu
