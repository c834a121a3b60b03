#include "backends/gpu/compile/gpu_compiler.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "backends/gpu/choice/kernel_choice.h"
#include "backends/gpu/choice/roofline.h"
#include "backends/gpu/collectives/overlap_scheduler.h"
#include "backends/gpu/compile/gpu_target.h"
#include "backends/gpu/compile/module_emitter.h"
#include "backends/gpu/driver/gpu_arch.h"
#include "backends/gpu/ptx/assembler.h"
#include "backends/gpu/ptx/cubin_cache.h"
#include "backends/gpu/ptx/ptx.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "backends/gpu/runtime/gpu_program.h"
#include "backends/gpu/thunks/program_bytes.h"
#include "backends/llvm/jit/module_text.h"
#include "base/byte_stream.h"
#include "base/errors.h"
#include "base/ordered_tasks.h"
#include "base/phase_times.h"
#include "hilo/status_macros.h"
#include "llvm/IR/Module.h"
#include "runtime/compile_driver.h"
#include "runtime/disk_cache.h"

namespace hilo::gpu {
namespace {

// The emulated device compiles large modules quickly, but starting one is slow; an assembler is the opposite, and
// modules are compiled on all threads.
constexpr int64_t kEmulatedKernelsPerModule = 64;

bool Is(const char* variable, absl::string_view wanted) {
  const char* setting = std::getenv(variable);
  return setting != nullptr && setting == wanted;
}
GraphUse UseOfGraphs() {
  return Is("HILO_GPU_GRAPHS", "off")      ? GraphUse::kNever
         : Is("HILO_GPU_GRAPHS", "always") ? GraphUse::kAtOnce
                                           : GraphUse::kLater;
}

// A module during its lowering by the backend.
struct Lowered : LoweredModule {
  std::unique_ptr<Libraries> libraries;
};

class GpuCompiler : public Compiler {
 public:
  GpuCompiler(absl::string_view platform, const GpuCompilerOptions& options)
      : options_(options),
        devices_(options.devices != nullptr ? options.devices
                                            : std::make_shared<GpuDevices>(platform, options.communicators)),
        is_emulated_(platform == kEmulatedPlatform),
        cubins_(OpenCubinCache(options.cache_dir)) {}

  std::string platform() const override { return devices_->platform(); }
  absl::StatusOr<std::shared_ptr<DeviceMemory>> OpenDevice(int device) override {
    return GpuDevices::OpenMemory(devices_, device);
  }

  absl::StatusOr<std::unique_ptr<CompiledProgram>> Compile(std::unique_ptr<HloModule> module,
                                                           const CompileOptions& options, ThreadPool* pool) override {
    HILO_ASSIGN_OR_RETURN(GpuDriver * driver, devices_->Get(0));
    HILO_ASSIGN_OR_RETURN(const CompileDriver stages, CompileDriver::Create(options));
    const std::string arch = ArchOf(options, driver);
    const GpuImageFormat format = driver->image_format();
    const KernelSettings settings = Settings();
    HILO_ASSIGN_OR_RETURN(const Lowered lowered, Lower(std::move(module), options, settings, driver, stages));
    HILO_ASSIGN_OR_RETURN(EmittedProgram program, EmitProgram(lowered, options, settings, arch, stages));
    GpuCompileOptions code_options{.arch = arch, .cubins = cubins_.get()};
    code_options.opt_level =
        is_emulated_ && !options_.optimize_for_emulation ? GpuOptLevel::kFast : GpuOptLevel::kThorough;
    code_options.bitcode = format == GpuImageFormat::kBitcode;
    code_options.ptx = format != GpuImageFormat::kBitcode;
    code_options.cubin = format == GpuImageFormat::kCubin;
    HILO_ASSIGN_OR_RETURN(std::vector<GpuCode> codes,
                          CompileAll(&program, code_options, pool, options.cancellation.get()));
    ProgramImage& image = program.image;
    image.arch =
        absl::c_any_of(program.modules, [](const KernelModule& one) { return NeedsExactArchitecture(*one.module); })
            ? ExactArchitecture(arch)
            : arch;
    image.format = format;
    for (size_t i = 0; i < codes.size(); ++i) {
      image.images.push_back({.bytes = codes[i].image(format),
                              .ptx = format == GpuImageFormat::kCubin ? std::move(codes[i].ptx) : std::string(),
                              .kernels = std::move(program.modules[i].kernels)});
    }
    return std::make_unique<GpuProgram>(std::move(image), UseOfGraphs(), devices_);
  }

  // GPU code is for the device's architecture; kernels depend on the options and the environment.
  absl::StatusOr<std::string> TargetOf(const CompileOptions& options) const override {
    HILO_ASSIGN_OR_RETURN(GpuDriver * driver, devices_->Get(0));
    ByteWriter settings;
    Encode(Settings(), &settings);
    return absl::StrCat(ArchOf(options, driver), " format ", static_cast<int>(driver->image_format()), " settings ",
                        absl::BytesToHexString(settings.bytes()), " tuned ",
                        AlgorithmSelector::TuneFileFromEnvironment());
  }

  absl::StatusOr<std::unique_ptr<CompiledProgram>> Load(const Artifact& artifact,
                                                        const CompileOptions& options) override {
    HILO_ASSIGN_OR_RETURN(GpuDriver * driver, devices_->Get(0));
    AlgorithmSelector algorithms({is_emulated_, driver}, AlgorithmSelector::TuneFileFromEnvironment());
    HILO_ASSIGN_OR_RETURN(ProgramImage image,
                          DecodeProgram(artifact, {.device = {is_emulated_, driver},
                                                   .algorithms = &algorithms,
                                                   .custom_calls = options.custom_calls,
                                                   .replica_count = std::max<int64_t>(options.replica_count, 1),
                                                   .partition_count = std::max<int64_t>(options.num_partitions, 1)}));
    HILO_RETURN_IF_ERROR(SelectCode(driver->properties().arch(), driver->image_format(), &image));
    return std::make_unique<GpuProgram>(std::move(image), UseOfGraphs(), devices_);
  }

  absl::Span<const absl::string_view> EmitKinds() const override {
    static constexpr absl::string_view kKinds[] = {"hlo",  "buffers", "thunks", "roofline",
                                                   "llvm", "ptx",     "sass",   "resources"};
    return kKinds;
  }

  absl::StatusOr<std::string> Emit(std::unique_ptr<HloModule> module, const CompileOptions& options,
                                   absl::string_view kind) override {
    HILO_RETURN_IF_ERROR(CheckEmitKind(platform(), kind, EmitKinds()));
    HILO_ASSIGN_OR_RETURN(const CompileDriver stages, CompileDriver::Create(options));
    const KernelSettings settings = Settings();
    HILO_ASSIGN_OR_RETURN(Lowered lowered, Lower(std::move(module), options, settings, nullptr, stages));
    if (std::optional<std::string> text = lowered.Text(kind); text.has_value()) return *std::move(text);
    if (kind == "roofline") return RooflineText(*lowered.module);
    if (kind == "sass") HILO_RETURN_IF_ERROR(CheckDisassembler());
    const std::string arch = ArchOf(options, nullptr);
    HILO_ASSIGN_OR_RETURN(EmittedProgram program, EmitProgram(lowered, options, settings, arch, stages));
    if (kind == "llvm") return codegen::ModulesText(program.modules);
    if (kind == "thunks") return ThunksOf(lowered, program);
    HILO_ASSIGN_OR_RETURN(const std::vector<GpuCode> codes, CompileAll(&program,
                                                                       {.arch = arch,
                                                                        .ptx = kind == "ptx",
                                                                        .cubin = kind == "resources" || kind == "sass",
                                                                        .cubins = cubins_.get()},
                                                                       nullptr, options.cancellation.get()));
    std::string text;
    for (const GpuCode& code : codes) {
      if (kind == "ptx") absl::StrAppend(&text, code.ptx);
      if (kind == "sass") {
        HILO_ASSIGN_OR_RETURN(const std::string sass, Disassemble(code.cubin));
        absl::StrAppend(&text, sass);
        continue;
      }
      for (const KernelResources& r : code.resources) {
        absl::StrAppend(&text, r.kernel, ": registers=", r.registers, " stack=", r.stack_bytes,
                        " spill_stores=", r.spill_store_bytes, " spill_loads=", r.spill_load_bytes,
                        " shared=", r.shared_bytes, "\n");
      }
    }
    return text;
  }

 private:
  // Returns the architecture that code is for; `driver` is null if there is no device.
  static std::string ArchOf(const CompileOptions& options, GpuDriver* driver) {
    if (!options.cpu.empty()) return options.cpu;
    return driver == nullptr ? kDefaultArch : driver->properties().arch();
  }

  static std::string ThunksOf(const Lowered& lowered, const EmittedProgram& program) {
    return absl::StrCat(lowered.libraries == nullptr ? "" : lowered.libraries->decisions().Missing(),
                        ThunksToString(program.image.entry().thunks, ""));
  }

  // The settings of the options and the environment at this time.
  KernelSettings Settings() const {
    KernelSettings settings = options_.kernels;
    settings.line_info |= Is("HILO_GPU_LINES", "on");
    return settings;
  }

  absl::StatusOr<EmittedProgram> EmitProgram(const Lowered& lowered, const CompileOptions& options,
                                             const KernelSettings& settings, const std::string& arch,
                                             const CompileDriver& stages) const {
    EmissionOptions emission{settings};
    emission.arch = arch;
    emission.platform = devices_->platform();
    emission.kernels_per_module = is_emulated_ ? kEmulatedKernelsPerModule : 1;
    emission.graph_thunks_from = options_.graph_thunks_from;
    emission.libraries = lowered.libraries.get();
    const PhaseTimer timer("code", "emit and compile kernels");
    HILO_ASSIGN_OR_RETURN(EmittedProgram program, EmitModule(*lowered.module, lowered.assignment, options, emission));
    ProgramImage& image = program.image;
    image.shape = lowered.shape;
    image.donations = lowered.assignment.scopes().back().donations;
    image.replica_count = lowered.module->replica_count();
    image.partition_count = lowered.module->num_partitions();
    image.overlap_collectives = settings.overlap_collectives;
    HILO_ASSIGN_OR_RETURN(image.plan,
                          CollectivePlan::Create(image.collectives, image.replica_count, image.partition_count));
    constexpr int kDump = CompileDriver::kFirstBackendDump;
    stages.Dump(kDump, "kernels.ll", [&] { return codegen::ModulesText(program.modules); });
    stages.Dump(kDump + 10, "thunks.txt", [&] { return ThunksOf(lowered, program); });
    return program;
  }

  // Each module has its own context, and so can be compiled on its own thread.
  static absl::StatusOr<std::vector<GpuCode>> CompileAll(EmittedProgram* program, const GpuCompileOptions& options,
                                                         ThreadPool* pool, const CancellationToken* cancellation) {
    std::vector<GpuCode> codes(program->modules.size());
    std::mutex mutex;
    absl::Status first_error;
    const auto code_of = [&](int64_t i) -> absl::StatusOr<GpuCode> {
      if (cancellation != nullptr) HILO_RETURN_IF_ERROR(cancellation->status("compilation"));
      return CompileGpuModule(program->modules[i].module.get(), options);
    };
    const auto compile = [&](int64_t i) {
      absl::StatusOr<GpuCode> code = code_of(i);
      std::lock_guard<std::mutex> lock(mutex);
      if (code.ok()) {
        codes[i] = *std::move(code);
      } else if (first_error.ok()) {
        first_error = code.status();
      }
    };
    const int64_t count = static_cast<int64_t>(codes.size());
    if (pool != nullptr) {
      RunInOrder(*pool, count, compile);
    } else {
      for (int64_t i = 0; i < count; ++i) compile(i);
    }
    HILO_RETURN_IF_ERROR(first_error);
    return codes;
  }

  // Runs the stages up to buffer assignment and completes the choice of kernels. `driver` is null if there is no
  // device: then code is for the options' architecture, or the default one.
  absl::StatusOr<Lowered> Lower(std::unique_ptr<HloModule> module, const CompileOptions& options,
                                const KernelSettings& settings, GpuDriver* driver, const CompileDriver& stages) const {
    Lowered lowered;
    // Libraries add up in orders of their own.
    if (!options.strict)
      lowered.libraries = std::make_unique<Libraries>(LibraryDevice{is_emulated_, driver}, settings.library_thresholds);
    const std::unique_ptr<Target> target = CreateGpuTarget();
    HILO_ASSIGN_OR_RETURN(const Architecture architecture, ParseArchitecture(ArchOf(options, driver)));
    const KernelFacts kernels{.strict = options.strict,
                              .settings = settings,
                              .architecture = architecture.number(),
                              .libraries = lowered.libraries.get(),
                              .custom_calls = options.custom_calls};
    LoweringSteps steps{.pipeline = GpuPipeline(target.get(), options, kernels)};
    steps.after_schedule = [&](HloModule* scheduled) {
      if (settings.overlap_collectives && (scheduled->replica_count() > 1 || scheduled->num_partitions() > 1))
        OverlapCollectives(scheduled);
    };
    steps.assignment_options = [](const HloModule&) -> absl::StatusOr<BufferAssignmentOptions> {
      return BufferAssignmentOptions{.alignment = kDeviceAlignment};
    };
    steps.after_assignment = [&](HloModule* aliased, const BufferAssignment& assignment) {
      return CompleteKernelChoice(aliased, assignment, kernels, {.cancellation = options.cancellation.get()});
    };
    HILO_ASSIGN_OR_RETURN(static_cast<LoweredModule&>(lowered), stages.Lower(std::move(module), std::move(steps)));
    return lowered;
  }

  GpuCompilerOptions options_;
  std::shared_ptr<GpuDevices> devices_;
  bool is_emulated_;
  std::unique_ptr<DiskCache> cubins_;
};

}  // namespace

std::unique_ptr<Compiler> CreateGpuCompiler(absl::string_view platform, const GpuCompilerOptions& options) {
  return std::make_unique<GpuCompiler>(platform, options);
}

}  // namespace hilo::gpu
