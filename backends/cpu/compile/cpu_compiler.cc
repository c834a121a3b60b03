#include "backends/cpu/compile/cpu_compiler.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/cpu/compile/c_function.h"
#include "backends/cpu/compile/c_function_levels.h"
#include "backends/cpu/compile/function_partition.h"
#include "backends/cpu/compile/module_emitter.h"
#include "backends/cpu/kernels/cpu_target.h"
#include "backends/cpu/kernels/kernel_choice.h"
#include "backends/cpu/runtime/cpu_program.h"
#include "backends/cpu/runtime/cpu_runtime.h"
#include "backends/cpu/runtime_calls/runtime_call_text.h"
#include "backends/llvm/elements/elemental_emitter.h"
#include "backends/llvm/jit/module_text.h"
#include "base/errors.h"
#include "base/ordered_tasks.h"
#include "base/phase_times.h"
#include "hilo/status_macros.h"
#include "hlo/memory/buffer_assignment.h"
#include "hlo/memory/copy_insertion.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/standard_passes.h"
#include "llvm/IR/Module.h"
#include "runtime/artifact.h"
#include "runtime/compile_driver.h"
#include "runtime/instruction_text.h"

namespace hilo::cpu {
namespace {

// Maximum size of locals of generated code, in bytes.
constexpr int64_t kMaxLocalBytes = 512;

// Arrays that threads copy before an update: shorter copies are not worth threads. Measured on one thread, on two, and
// on two with such copies, in us: a row of f32[1000,512] 42, 43 and 23; a row of a cache f32[8,512,64], which attention
// reads on two threads 50, 84 and 29.
constexpr int64_t kMinSharedCopy = 1 << 18;

// A module during its lowering by the backend.
struct Lowered : LoweredModule {
  FunctionPartition plan;
  std::optional<ProfilePlan> profile;
};

class CpuCompiler : public Compiler {
 public:
  explicit CpuCompiler(const CpuCompilerOptions& options)
      : libraries_(options.libraries), store_(codegen::ObjectStore::Open(options.cache_dir, options.cache_limit)) {}
  std::string platform() const override { return "cpu"; }

  absl::StatusOr<std::unique_ptr<CompiledProgram>> Compile(std::unique_ptr<HloModule> module,
                                                           const CompileOptions& options, ThreadPool* pool) override {
    HILO_ASSIGN_OR_RETURN(const CompileDriver driver, CompileDriver::Create(options));
    HILO_ASSIGN_OR_RETURN(Lowered lowered, Lower(std::move(module), options, driver));
    const bool is_dumped = !options.dump_dir.empty();
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<codegen::HostJit> jit, MakeJit(options, /*value_names=*/is_dumped));
    HILO_ASSIGN_OR_RETURN(EmittedProgram program, EmitTimed(lowered, jit.get(), options));
    driver.Dump(CompileDriver::kFirstBackendDump, "program.ll", [&] { return codegen::ModulesText(program.modules); });
    codegen::ParallelRunner parallel;
    if (pool != nullptr) {
      parallel = [pool](size_t count, const std::function<void(size_t)>& body) {
        RunInOrder(*pool, static_cast<int64_t>(count), [&](int64_t i) { body(static_cast<size_t>(i)); });
      };
    }
    const BufferAssignment::Scope& entry = lowered.assignment.scope(lowered.module->entry_computation());
    ProgramImage image{.facts = {.shape = std::move(lowered.shape),
                                 .donations = entry.donations,
                                 .frame_bytes = entry.frame_bytes,
                                 .parameter_leaves = entry.parameter_leaves,
                                 .output_leaves = entry.output_leaves,
                                 .estimated_nanoseconds = lowered.plan.estimated_nanoseconds(),
                                 .flush_denormals = options.flush_denormals},
                       .target = jit->cpu().ToText(),
                       .steps = lowered.profile->steps()};
    std::vector<std::unique_ptr<RuntimeCall>> runtime_calls;
    std::vector<const HloInstruction*> instructions;
    for (EmittedRuntimeCall& emitted : program.runtime_calls) {
      runtime_calls.push_back(std::move(emitted.call));
      image.runtime_calls.push_back(std::move(emitted.facts));
      instructions.push_back(emitted.instruction);
    }
    image.runtime_call_text = InstructionsToText(*lowered.module, instructions);
    HILO_ASSIGN_OR_RETURN(image.objects, jit->CompileToObjects(std::move(program.modules), parallel));
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<codegen::CompiledCode> code,
                          jit->LinkObjects(image.objects, RuntimeSymbols()));
    std::vector<ProgramConstant> constants;
    for (const std::shared_ptr<const Literal>& literal : program.constants) {
      const auto data = literal->untyped_data();
      constants.push_back({{reinterpret_cast<const char*>(data.data()), data.size()}, literal});
    }
    return CpuProgram::Create(std::move(image), std::move(code), constants, std::move(runtime_calls));
  }

  absl::StatusOr<std::string> TargetOf(const CompileOptions& options) const override {
    HILO_ASSIGN_OR_RETURN(const codegen::CpuFeatures features, codegen::FeaturesOf(options.cpu));
    return features.ToText();
  }

  absl::StatusOr<std::unique_ptr<CompiledProgram>> Load(const Artifact& artifact,
                                                        const CompileOptions& options) override {
    if (absl::Status runs = codegen::CheckTextRunsOnHost(artifact.target); !runs.ok()) {
      return AddContext(runs, absl::StrCat("; the serialized executable was made for ", artifact.target));
    }
    HILO_ASSIGN_OR_RETURN(DecodedProgram program, DecodeProgram(artifact));
    HILO_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<RuntimeCall>> runtime_calls,
                          MakeRuntimeCalls(program.image, options));
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<codegen::HostJit> jit,
                          codegen::HostJit::Create({.perf_jitdump = options.perf_jitdump}));
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<codegen::CompiledCode> code,
                          jit->LinkObjects(program.image.objects, RuntimeSymbols()));
    std::vector<ProgramConstant> constants;
    for (const absl::string_view bytes : program.constants) constants.push_back({bytes, nullptr});
    return CpuProgram::Create(std::move(program.image), std::move(code), constants, std::move(runtime_calls));
  }

  absl::Span<const absl::string_view> EmitKinds() const override {
    static constexpr absl::string_view kKinds[] = {"hlo", "buffers", "llvm", "asm", "object", "header"};
    return kKinds;
  }

  absl::StatusOr<std::string> Emit(std::unique_ptr<HloModule> module, const CompileOptions& options,
                                   absl::string_view kind) override {
    HILO_RETURN_IF_ERROR(CheckEmitKind(platform(), kind, EmitKinds()));
    HILO_ASSIGN_OR_RETURN(const CompileDriver driver, CompileDriver::Create(options));
    if (kind == "object" || kind == "header") return EmitFunction(std::move(module), options, driver, kind);
    HILO_ASSIGN_OR_RETURN(Lowered lowered, Lower(std::move(module), options, driver));
    if (std::optional<std::string> text = lowered.Text(kind); text.has_value()) return *std::move(text);
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<codegen::HostJit> jit, MakeJit(options));
    HILO_ASSIGN_OR_RETURN(EmittedProgram program, EmitTimed(lowered, jit.get(), options));
    if (kind == "llvm") return codegen::ModulesText(program.modules);
    std::string text;
    for (codegen::HostModule& one : program.modules) {
      HILO_ASSIGN_OR_RETURN(std::string assembly, jit->EmitAssembly(std::move(one)));
      absl::StrAppend(&text, assembly);
    }
    return text;
  }

 private:
  // A C function and its header (c_function.h), for the processor of the options or a list of levels.
  absl::StatusOr<std::string> EmitFunction(std::unique_ptr<HloModule> module, CompileOptions options,
                                           const CompileDriver& driver, absl::string_view kind) const {
    if (options.flush_denormals) return Unimplemented("a function in C leaves the mode for denormals as it is");
    // A caller that gives up an argument could pass its memory as that of a result, but C does not say so.
    module->input_output_aliases().clear();
    const std::vector<std::string> levels = absl::StrSplit(options.cpu, ',');
    if (levels.size() > 1) HILO_RETURN_IF_ERROR(CheckLevels(levels));
    const std::string name = CFunctionName(*module);
    std::vector<LevelFunction> functions;
    ProgramShape shape;
    int64_t scratch = 0;
    std::string cpu;
    for (const std::string& level : levels) {
      options.cpu = level;
      HILO_ASSIGN_OR_RETURN(Lowered lowered, Lower(module->Clone(), options, driver, Form::kCFunction));
      shape = lowered.shape;
      scratch = std::max(scratch, lowered.assignment.scope(lowered.module->entry_computation()).frame_bytes);
      HILO_ASSIGN_OR_RETURN(std::unique_ptr<codegen::HostJit> jit, MakeJit(options));
      absl::StrAppend(&cpu, cpu.empty() ? "" : ", ", jit->cpu().cpu);
      if (kind == "header") continue;
      lowered.profile.emplace();  // there is no profile to mark
      HILO_ASSIGN_OR_RETURN(EmittedProgram program, EmitTimed(lowered, jit.get(), options));
      HILO_ASSIGN_OR_RETURN(codegen::HostModule whole,
                            WrapInCFunction(levels.size() > 1 ? FunctionOfLevel(name, level) : name, lowered.shape,
                                            std::move(program.modules), program.constants));
      functions.push_back({.level = level, .module = std::move(whole)});
    }
    if (kind == "header") return CFunctionHeader(*module, shape, scratch, cpu);
    std::vector<codegen::HostModule> modules;
    if (functions.size() == 1) {
      modules.push_back(std::move(functions[0].module));
    } else {
      HILO_ASSIGN_OR_RETURN(codegen::HostModule whole, CombineLevels(name, std::move(functions)));
      modules.push_back(std::move(whole));
    }
    options.cpu = levels[0];
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<codegen::HostJit> jit, MakeJit(options));
    HILO_ASSIGN_OR_RETURN(std::vector<std::string> objects, jit->CompileToObjects(std::move(modules)));
    return std::move(objects[0]);
  }

  static absl::StatusOr<EmittedProgram> EmitTimed(const Lowered& lowered, codegen::HostJit* jit,
                                                  const CompileOptions& options) {
    const PhaseTimer timer("code", "emit LLVM IR");
    return EmitModule(*lowered.module, lowered.assignment, lowered.plan, *lowered.profile, jit, options);
  }

  absl::StatusOr<std::unique_ptr<codegen::HostJit>> MakeJit(const CompileOptions& options,
                                                            bool value_names = true) const {
    return codegen::HostJit::Create({.cpu = options.cpu,
                                     .value_names = value_names,
                                     .perf_jitdump = options.perf_jitdump,
                                     .store = store_.get(),
                                     .cancellation = options.cancellation});
  }

  enum class Form { kProgram, kCFunction };

  absl::StatusOr<Lowered> Lower(std::unique_ptr<HloModule> module, const CompileOptions& options,
                                const CompileDriver& driver, Form form = Form::kProgram) const {
    Lowered lowered;
    const bool libraries = libraries_ && form == Form::kProgram;
    const std::unique_ptr<Target> target = CreateCpuTarget(options, libraries);
    LoweringSteps steps{.pipeline = CpuPipeline(target.get(), options), .loop_local_bytes = kMaxLocalBytes};
    if (form == Form::kProgram)
      steps.after_schedule = [](HloModule* scheduled) { CopyUpdatedParameters(scheduled, kMinSharedCopy); };
    steps.after_copies = [&](HloModule* aliased) {
      HILO_RETURN_IF_ERROR(ChooseMissingKernels(aliased, options));
      return form == Form::kCFunction ? ChooseSelfContainedKernels(aliased, options) : absl::OkStatus();
    };
    steps.assignment_options = [&](const HloModule& aliased) -> absl::StatusOr<BufferAssignmentOptions> {
      HILO_ASSIGN_OR_RETURN(lowered.plan, FunctionPartition::Create(aliased));
      return BufferAssignmentOptions{.use_stack = [&lowered](const BufferCandidate& buffer) {
        return buffer.size <= kMaxLocalBytes && lowered.plan.IsLocal(buffer);
      }};
    };
    HILO_ASSIGN_OR_RETURN(static_cast<LoweredModule&>(lowered), driver.Lower(std::move(module), std::move(steps)));
    HILO_ASSIGN_OR_RETURN(lowered.profile, ProfilePlan::Create(*lowered.module, lowered.plan));
    return lowered;
  }

  const bool libraries_;
  const std::unique_ptr<codegen::ObjectStore> store_;  // null: none
};

}  // namespace

std::unique_ptr<Compiler> CreateCpuCompiler(const CpuCompilerOptions& options) {
  return std::make_unique<CpuCompiler>(options);
}

}  // namespace hilo::cpu
