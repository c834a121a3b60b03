// Compiling is plain LLVM: verify, optimize, generate code (code_generator.h). Linking is one short-lived ORC session
// over JITLink: it resolves references between the objects, lays them out in one CodeMemory, and is destroyed before
// the code first runs, so that an executable keeps only its pages and a symbol table. The code stays writable and
// non-executable until the last object is relocated, then changes protection once; hence the finalize step below does
// nothing.
#include "backends/llvm/jit/host_jit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <mutex>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/llvm/jit/code_generator.h"
#include "backends/llvm/jit/jitdump.h"
#include "backends/llvm/jit/math_symbols.h"
#include "backends/llvm/jit/object_cache.h"
#include "backends/llvm/llvm_compat.h"
#include "base/phase_times.h"
#include "hilo/status_macros.h"
#include "llvm/ADT/BitmaskEnum.h"
#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/raw_ostream.h"

namespace hilo::codegen {
namespace {

namespace jitlink = llvm::jitlink;
namespace orc = llvm::orc;
LLVM_ENABLE_BITMASK_ENUMS_IN_NAMESPACE();

// ---- compiling --------------------------------------------------------------------------------------------------

absl::Status Verify(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!llvm::verifyModule(module, &stream)) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("module ", module.getModuleIdentifier(), " is not valid: ", stream.str()));
}

// ---- linking ----------------------------------------------------------------------------------------------------

CodeSection SectionFor(const orc::AllocGroup& group) {
  if ((group.getMemProt() & orc::MemProt::Exec) != orc::MemProt::None) return CodeSection::kText;
  if ((group.getMemProt() & orc::MemProt::Write) != orc::MemProt::None) return CodeSection::kData;
  return CodeSection::kReadOnly;
}

// Lays link graphs out in a CodeMemory, which outlives the session; so nothing is ever deallocated here.
class SlabMemoryManager : public jitlink::JITLinkMemoryManager {
 public:
  explicit SlabMemoryManager(CodeMemory* memory) : memory_(memory) {}

  using JITLinkMemoryManager::allocate;
  using JITLinkMemoryManager::deallocate;

  void allocate(const jitlink::JITLinkDylib*, jitlink::LinkGraph& graph, OnAllocatedFunction on_allocated) override {
    jitlink::BasicLayout layout(graph);
    for (auto& [group, segment] : layout.segments()) {
      const uint64_t bytes = segment.ContentSize + segment.ZeroFillSize;
      absl::StatusOr<uint8_t*> at = memory_->Allocate(SectionFor(group), bytes, segment.Alignment.value());
      if (!at.ok()) {
        return on_allocated(
            llvm::createStringError(llvm::inconvertibleErrorCode(), std::string(at.status().message())));
      }
      segment.WorkingMem = reinterpret_cast<char*>(*at);  // fresh pages: the zero fill is zero already
      segment.Addr = orc::ExecutorAddr::fromPtr(*at);
    }
    if (llvm::Error error = layout.apply()) return on_allocated(std::move(error));
    on_allocated(std::make_unique<InFlight>());
  }

  void deallocate(std::vector<FinalizedAlloc> allocations, OnDeallocatedFunction on_deallocated) override {
    for (FinalizedAlloc& allocation : allocations) allocation.release();
    on_deallocated(llvm::Error::success());
  }

 private:
  struct InFlight : InFlightAlloc {
    void abandon(OnAbandonedFunction on_abandoned) override { on_abandoned(llvm::Error::success()); }
    void finalize(OnFinalizedFunction on_finalized) override { on_finalized(FinalizedAlloc(orc::ExecutorAddr(0))); }
  };
  CodeMemory* memory_;
};

// Returns the order in which threads that take one module after the other end at about the same time.
std::vector<size_t> LargestFirst(const std::vector<HostModule>& modules) {
  std::vector<std::pair<unsigned, size_t>> sizes;
  for (size_t i = 0; i < modules.size(); ++i) {
    sizes.emplace_back(modules[i].module == nullptr ? 0 : modules[i].module->getInstructionCount(), i);
  }
  std::stable_sort(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<size_t> order;
  for (const auto& [size, i] : sizes) order.push_back(i);
  return order;
}

// The definitions, references and sizes of the objects, from their symbol and section tables.
struct ObjectSummary {
  std::vector<std::string> defined;
  absl::flat_hash_map<std::string, uint64_t> function_bytes;
  absl::flat_hash_set<std::string> undefined;
  std::array<size_t, 3> section_bytes{};
};

absl::Status Summarize(llvm::MemoryBufferRef buffer, ObjectSummary* summary) {
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> object =
      llvm::object::ObjectFile::createELFObjectFile(buffer);
  if (!object) return ToStatus(object.takeError(), "object file");
  size_t undefined = 0;
  for (const llvm::object::ELFSymbolRef symbol : llvm::object::ELFObjectFileBase::elf_symbol_iterator_range(
           static_cast<llvm::object::ELFObjectFileBase&>(**object).symbols())) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    if (!flags) return ToStatus(flags.takeError(), "object file");
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!name) return ToStatus(name.takeError(), "object file");
    if (name->empty() || (*flags & llvm::object::SymbolRef::SF_FormatSpecific) != 0) continue;
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) != 0) {
      summary->undefined.insert(name->str());
      ++undefined;
    } else if ((*flags & llvm::object::SymbolRef::SF_Global) != 0) {
      summary->defined.push_back(name->str());
      if (symbol.getELFType() == llvm::ELF::STT_FUNC) summary->function_bytes[name->str()] = symbol.getSize();
    }
  }
  constexpr size_t kSlack = 4096;  // a section's alignment, and the mixing of sections of one protection
  for (const llvm::object::SectionRef section : (*object)->sections()) {
    const size_t bytes = section.getSize() + section.getAlignment().value();
    const uint64_t flags = llvm::object::ELFSectionRef(section).getFlags();
    if ((flags & llvm::ELF::SHF_ALLOC) == 0) continue;
    const CodeSection kind = (flags & llvm::ELF::SHF_EXECINSTR) != 0 ? CodeSection::kText
                             : (flags & llvm::ELF::SHF_WRITE) != 0   ? CodeSection::kData
                                                                     : CodeSection::kReadOnly;
    summary->section_bytes[static_cast<size_t>(kind)] += bytes;
  }
  // JITLink adds an address slot and a jump stub for each outside symbol.
  for (size_t& bytes : summary->section_bytes) bytes += kSlack + 32 * undefined;
  return absl::OkStatus();
}

void* AddressOf(void* (*function)(void*, const void*, size_t)) { return reinterpret_cast<void*>(function); }

// Functions that code generation itself may call.
std::vector<HostSymbol> BuiltinSymbols() {
  std::vector<HostSymbol> symbols = {
      {"memcpy", AddressOf(&memcpy)},
      {"memmove", AddressOf(&memmove)},
      {"memset", reinterpret_cast<void*>(static_cast<void* (*)(void*, int, size_t)>(&memset))}};
  for (const MathSymbol& symbol : MathSymbols()) symbols.emplace_back(symbol.name, symbol.address);
  return symbols;
}

// Returns the objects' undefined symbols, with their addresses. Errors: Internal, naming all that are undefined.
absl::StatusOr<orc::SymbolMap> Resolve(orc::ExecutionSession& session, const ObjectSummary& summary,
                                       absl::Span<const HostSymbol> symbols) {
  const absl::flat_hash_set<absl::string_view> defined(summary.defined.begin(), summary.defined.end());
  absl::flat_hash_map<absl::string_view, void*> offered;
  static const std::vector<HostSymbol>* const builtin = new std::vector<HostSymbol>(BuiltinSymbols());
  for (const auto& [name, address] : *builtin) offered[name] = address;
  for (const auto& [name, address] : symbols) offered[name] = address;
  orc::SymbolMap found;
  std::vector<std::string> missing;
  for (const std::string& name : summary.undefined) {
    if (defined.contains(name) || name == "_GLOBAL_OFFSET_TABLE_") continue;
    const auto it = offered.find(name);
    if (it == offered.end()) {
      missing.push_back(name);
    } else {
      found[session.intern(name)] = {orc::ExecutorAddr::fromPtr(it->second), llvm::JITSymbolFlags::Exported};
    }
  }
  if (missing.empty()) return found;
  std::sort(missing.begin(), missing.end());
  return absl::InternalError(absl::StrCat("compiled code refers to undefined symbols: ", absl::StrJoin(missing, ", ")));
}

// Runs one session from objects to addresses.
class Linker {
 public:
  static absl::StatusOr<std::unique_ptr<Linker>> Create(CodeMemory* memory) {
    auto control = orc::SelfExecutorProcessControl::Create(nullptr, std::make_unique<orc::InPlaceTaskDispatcher>(),
                                                           std::make_unique<SlabMemoryManager>(memory));
    if (!control) return ToStatus(control.takeError(), "JIT session");
    return std::unique_ptr<Linker>(new Linker(std::move(*control), memory));
  }
  ~Linker() { llvm::consumeError(session_.endSession()); }

  orc::ExecutionSession& session() { return session_; }

  absl::Status Link(absl::Span<const std::string> objects, orc::SymbolMap outside,
                    const std::vector<std::string>& wanted, absl::flat_hash_map<std::string, void*>* addresses) {
    orc::JITDylib& dylib = session_.createBareJITDylib("code");
    if (absl::Status s = ToStatus(dylib.define(orc::absoluteSymbols(std::move(outside))), "runtime symbols"); !s.ok())
      return s;
    for (const std::string& object : objects) {
      auto buffer = llvm::MemoryBuffer::getMemBuffer(object, "object", /*RequiresNullTerminator=*/false);
      if (absl::Status s = ToStatus(layer_.add(dylib, std::move(buffer)), "object file"); !s.ok()) return s;
    }
    orc::SymbolLookupSet lookup;
    for (const std::string& name : wanted) lookup.add(session_.intern(name));
    auto found = session_.lookup({{&dylib, orc::JITDylibLookupFlags::MatchAllSymbols}}, std::move(lookup));
    if (!found)
      return absl::InternalError(
          absl::StrCat("link: ", llvm::toString(found.takeError()), absl::StrJoin(reports_, "; ")));
    for (const auto& [name, symbol] : *found) (*addresses)[(*name).str()] = symbol.getAddress().toPtr<void*>();
    return absl::OkStatus();
  }

 private:
  Linker(std::unique_ptr<orc::ExecutorProcessControl> control, CodeMemory* memory)
      : session_(std::move(control)), layer_(session_, std::make_unique<SlabMemoryManager>(memory)) {
    layer_.setOverrideObjectFlagsWithResponsibilityFlags(true);
    session_.setErrorReporter([this](llvm::Error error) { reports_.push_back(llvm::toString(std::move(error))); });
  }

  std::vector<std::string> reports_;
  orc::ExecutionSession session_;
  orc::ObjectLinkingLayer layer_;
};

absl::Status DumpForPerf(const ObjectSummary& summary, const absl::flat_hash_map<std::string, void*>& addresses) {
  std::vector<JitdumpFunction> functions;
  for (const auto& [name, bytes] : summary.function_bytes) {
    if (auto it = addresses.find(name); it != addresses.end()) functions.push_back({name, it->second, bytes});
  }
  return AppendToJitdump(functions);
}

}  // namespace

HostModule::HostModule() = default;
HostModule::HostModule(absl::string_view name)
    : context(std::make_unique<llvm::LLVMContext>()),
      module(std::make_unique<llvm::Module>(ToStringRef(name), *context)) {
  module->setSourceFileName("hilo");  // by default the name, of which objects would have a copy
}
HostModule::HostModule(HostModule&&) = default;
HostModule& HostModule::operator=(HostModule&& other) {
  module = std::move(other.module);  // before its context
  context = std::move(other.context);
  return *this;
}
HostModule::~HostModule() = default;

void* CompiledCode::Lookup(absl::string_view name) const {
  const auto it = symbols_.find(name);
  return it == symbols_.end() ? nullptr : it->second;
}

HostJit::HostJit(JitOptions options, CpuFeatures cpu) : options_(std::move(options)), cpu_(std::move(cpu)) {}
HostJit::~HostJit() = default;

absl::StatusOr<std::unique_ptr<HostJit>> HostJit::Create(JitOptions options) {
  absl::StatusOr<CpuFeatures> cpu = FeaturesOf(options.cpu);
  if (!cpu.ok()) return cpu.status();
  return std::unique_ptr<HostJit>(new HostJit(std::move(options), *std::move(cpu)));
}

absl::Status HostJit::PrepareModule(llvm::Module* module) {
  absl::StatusOr<std::unique_ptr<CodeGenerator>> generator = CodeGenerator::Take(cpu_, options_.opt_level);
  if (!generator.ok()) return generator.status();
  (*generator)->Prepare(module);
  module->getContext().setDiscardValueNames(!options_.value_names);
  CodeGenerator::Return(*std::move(generator));
  return absl::OkStatus();
}

absl::StatusOr<std::string> HostJit::CompileOne(HostModule module, Output output, ObjectStore* store) {
  if (module.module == nullptr) return absl::InvalidArgumentError("expected a module, came an empty HostModule");
  const auto poll = [&] {
    return options_.cancellation == nullptr ? absl::OkStatus() : options_.cancellation->status("compilation");
  };
  HILO_RETURN_IF_ERROR(poll());
  if (absl::Status s = Verify(*module.module); !s.ok()) return s;
  absl::StatusOr<std::unique_ptr<CodeGenerator>> taken = CodeGenerator::Take(cpu_, options_.opt_level);
  if (!taken.ok()) return taken.status();
  std::unique_ptr<CodeGenerator> generator = *std::move(taken);
  generator->Prepare(module.module.get());
  ObjectCache& cache = ObjectCache::OfProcess();
  std::string key;  // empty: not cached
  if (output == Output::kObject && (cache.enabled() || store != nullptr)) {
    const PhaseTimer timer("llvm", "look for compiled module", /*on_workers=*/true);
    key = ObjectCache::KeyOf(*module.module, cpu_, options_.opt_level);
    std::optional<std::string> known = cache.Find(key);
    if (!known.has_value() && store != nullptr) {
      known = store->Find(key);
      if (known.has_value()) cache.Insert(key, *known);
    }
    if (known.has_value()) {
      module.module.reset();
      CodeGenerator::Return(std::move(generator));
      return *std::move(known);
    }
  }
  {
    const PhaseTimer timer("llvm", "optimize", /*on_workers=*/true);
    generator->Optimize(module.module.get(), options_.cancellation.get());
  }
  HILO_RETURN_IF_ERROR(poll());
  absl::StatusOr<std::string> code = std::string();
  if (output == Output::kIr) {
    llvm::raw_string_ostream stream(*code);
    module.module->print(stream, nullptr);
  } else {
    const PhaseTimer timer("llvm", "generate code", /*on_workers=*/true);
    code = output == Output::kObject ? generator->EmitObject(module.module.get(), options_.cancellation.get())
                                     : generator->EmitAssembly(module.module.get(), options_.cancellation.get());
  }
  module.module.reset();
  CodeGenerator::Return(std::move(generator));
  if (!key.empty() && code.ok()) {
    if (store != nullptr) store->Insert(key, *code);
    cache.Insert(key, *code);
  }
  return code;
}

absl::StatusOr<std::vector<std::string>> HostJit::CompileToObjects(std::vector<HostModule> modules,
                                                                   const ParallelRunner& parallel) {
  const PhaseTimer timer("code", "compile LLVM IR");
  std::vector<absl::StatusOr<std::string>> results(modules.size(), absl::InternalError("module was not compiled"));
  const std::function<void(size_t)> body = [&](size_t i) {
    results[i] = CompileOne(std::move(modules[i]), Output::kObject, modules.size() > 1 ? options_.store : nullptr);
  };
  if (parallel && modules.size() > 1) {
    const std::vector<size_t> order = LargestFirst(modules);
    parallel(modules.size(), [&](size_t i) { body(order[i]); });
  } else {
    for (size_t i = 0; i < modules.size(); ++i) body(i);
  }
  std::vector<std::string> objects;
  for (absl::StatusOr<std::string>& result : results) {
    if (!result.ok()) return result.status();
    objects.push_back(*std::move(result));
  }
  return objects;
}

absl::StatusOr<std::unique_ptr<CompiledCode>> HostJit::LinkObjects(absl::Span<const std::string> objects,
                                                                   absl::Span<const HostSymbol> symbols) {
  const PhaseTimer timer("code", "link");
  if (!options_.cpu.empty()) {
    if (absl::Status s = CheckRunsOnHost(cpu_); !s.ok()) return s;
  }
  ObjectSummary summary;
  for (const std::string& object : objects) {
    if (absl::Status s = Summarize(llvm::MemoryBufferRef(object, "object"), &summary); !s.ok()) return s;
  }
  absl::StatusOr<std::unique_ptr<CodeMemory>> memory = CodeMemory::Reserve(summary.section_bytes);
  if (!memory.ok()) return memory.status();
  std::unique_ptr<CompiledCode> code(new CompiledCode);
  code->memory_ = *std::move(memory);

  absl::StatusOr<std::unique_ptr<Linker>> linker = Linker::Create(code->memory_.get());
  if (!linker.ok()) return linker.status();
  absl::StatusOr<orc::SymbolMap> outside = Resolve((*linker)->session(), summary, symbols);
  if (!outside.ok()) return outside.status();
  if (absl::Status s = (*linker)->Link(objects, *std::move(outside), summary.defined, &code->symbols_); !s.ok())
    return s;
  if (absl::Status s = code->memory_->Seal(); !s.ok()) return s;
  if (options_.perf_jitdump) {
    if (absl::Status s = DumpForPerf(summary, code->symbols_); !s.ok()) return s;
  }
  return code;
}

absl::StatusOr<std::unique_ptr<CompiledCode>> HostJit::CompileModules(std::vector<HostModule> modules,
                                                                      absl::Span<const HostSymbol> symbols,
                                                                      const ParallelRunner& parallel) {
  absl::StatusOr<std::vector<std::string>> objects = CompileToObjects(std::move(modules), parallel);
  if (!objects.ok()) return objects.status();
  return LinkObjects(*objects, symbols);
}

absl::StatusOr<std::string> HostJit::EmitAssembly(HostModule module) {
  const PhaseTimer timer("code", "compile LLVM IR");
  return CompileOne(std::move(module), Output::kAssembly);
}
absl::StatusOr<std::string> HostJit::EmitOptimizedIr(HostModule module) {
  const PhaseTimer timer("code", "compile LLVM IR");
  return CompileOne(std::move(module), Output::kIr);
}

}  // namespace hilo::codegen
