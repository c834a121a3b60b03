// Runs test files (test_file.h) and programs with stored results on one platform:
//
//   hilo_file_tests --platform=cpu tests/ops tests/programs
//
// With --cpu=NAME the code is for that processor (CompileOptions::cpu). With --serialize every executable is
// serialized, and what is run is what another client has loaded, on GPUs one with other settings.
//
// X.hlo, X.mlir or X.mlirbc (StableHLO) with an X.npz beside it is a program: arg0, arg1 ... are its arguments, out0,
// out1 ... its results (arg0_r2, out0_r2 those of device 2); `// tolerance: f32 1e-5 relative` lines say how far each
// element may be away: |got - want| <= t * (|want| + root mean square of want); types without a line must match
// exactly. Cases listed in tests/known_gaps/<platform>.txt as "file:module reason" must fail; one that passes fails the
// run, so the list only shrinks.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/cpu/compile/cpu_compiler.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "backends/interpreter/interpreter_compiler.h"
#include "base/errors.h"
#include "base/file.h"
#include "hilo/client.h"
#include "hilo/npy.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/stablehlo_import.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/runtime_access.h"
#include "tests/file_tests/run_on_devices.h"
#include "tests/file_tests/test_file.h"
#include "tests/file_tests/test_targets.h"

namespace hilo::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kDevices = 8;  // as many as a test may ask for
constexpr absl::string_view kKernels = "-kernels", kLibraries = "-libraries";
// Of results that a few products lead to, whose factors have 10 bits of mantissa.
constexpr double kTf32Error = 5e-3;

double RootMeanSquare(const Literal& literal) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    const double value = literal.GetAsDouble(i);
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

struct Platform {
  // Compiles, and what is compiled is run on the same client, or serialized and run on `loader`.
  absl::StatusOr<std::unique_ptr<Executable>> Compile(std::unique_ptr<HloModule> module) const {
    if (loader == nullptr) return RuntimeAccess::Compile(client.get(), std::move(module), options);
    HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> compiled,
                          RuntimeAccess::Compile(client.get(), std::move(module), options));
    HILO_ASSIGN_OR_RETURN(const std::string bytes, compiled->Serialize());
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<Executable> loaded, loader->Load(bytes));
    HILO_ASSIGN_OR_RETURN(const std::string again, loaded->Serialize());
    if (again != bytes) return InvalidArgument("serialized, loaded and serialized again the executable is another");
    return loaded;
  }
  Client& runner() const { return loader == nullptr ? *client : *loader; }

  // With the platform's own error on top.
  ErrorSpec WithError(ErrorSpec spec, const Literal& want) const {
    if (f32_error == 0 || !want.shape().IsArray() || want.shape().element_type() != F32) return spec;
    spec.relative = std::max(spec.relative, f32_error);
    spec.absolute = std::max(spec.absolute, f32_error * RootMeanSquare(want));
    return spec;
  }

  std::unique_ptr<Client> client, loader;
  CompileOptions options;
  double f32_error = 0;
};

absl::StatusOr<std::unique_ptr<Client>> MakeClient(std::unique_ptr<Compiler> compiler) {
  const int devices = compiler->platform() == gpu::kCudaPlatform ? 1 : kDevices;
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Client> client,
                        RuntimeAccess::CreateClient({.device_count = devices}, std::move(compiler)));
  HILO_RETURN_IF_ERROR(RegisterTestTargets(client->custom_call_registry()));
  return client;
}

absl::StatusOr<Platform> MakePlatform(const std::string& name, bool serialize) {
  Platform platform;
  std::function<std::unique_ptr<Compiler>()> compiler, loader;  // no loader: the compiler's
  const std::string device(absl::StripSuffix(absl::StripSuffix(name, kKernels), kLibraries));
  if (name == "cpu" || name == "cpu-strict" || name == "cpu-expanded") {
    compiler = [&] { return cpu::CreateCpuCompiler({.libraries = name != "cpu-expanded"}); };
    platform.options.strict = name == "cpu-strict";
    platform.options.verify_each_pass = true;
  } else if (name == "interpreter" || name == "assigned") {
    compiler = [&] { return CreateInterpreterCompiler({.assigned_buffers = name == "assigned"}); };
  } else if (name == gpu::kEmulatedPlatform || name == gpu::kCudaPlatform) {
    compiler = [&] { return gpu::CreateGpuCompiler(name); };
    platform.options.verify_each_pass = true;
  } else if (device == gpu::kEmulatedPlatform || device == gpu::kCudaPlatform) {
    if (absl::EndsWith(name, kKernels)) {
      // Every instruction a kernel, with groups of elements in small arrays too.
      compiler = [&] {
        return gpu::CreateGpuCompiler(
            device, {.kernels = {.sequences = false, .always_radix_sorts = true, .group_elements_from = 1}});
      };
    } else {
      // Whatever libraries take goes to them. On a GPU they round factors of f32 to tf32.
      compiler = [&] {
        return gpu::CreateGpuCompiler(
            device, {.kernels = {.sequences = false, .library_thresholds = gpu::LibraryThresholds::Always()}});
      };
      if (device == gpu::kCudaPlatform) platform.f32_error = kTf32Error;
    }
  } else {
    return InvalidArgument(
        "--platform is one of cpu, cpu-strict, cpu-expanded, interpreter, assigned, cuda, cuda-kernels, "
        "cuda-libraries, "
        "cuda-emulated, cuda-emulated-kernels, "
        "cuda-emulated-libraries; got '",
        name, "'");
  }
  HILO_ASSIGN_OR_RETURN(platform.client, MakeClient(compiler()));
  if (absl::StartsWith(device, gpu::kCudaPlatform)) {
    loader = [&] {
      return gpu::CreateGpuCompiler(device, {.kernels = {.overlap_collectives = false,
                                                         .line_info = true,
                                                         .library_thresholds = gpu::LibraryThresholds::Never()}});
    };
  }
  if (serialize) {
    HILO_ASSIGN_OR_RETURN(platform.loader, MakeClient(loader == nullptr ? compiler() : loader()));
  }
  return platform;
}

class Runner {
 public:
  Runner(Platform platform, std::string filter) : platform_(std::move(platform)), filter_(std::move(filter)) {}

  absl::Status ReadKnownGaps(const std::string& path) {
    if (!fs::exists(path)) return absl::OkStatus();
    HILO_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      line = absl::StripAsciiWhitespace(line);
      if (line.empty() || absl::StartsWith(line, "#")) continue;
      gaps_.insert(std::string(line.substr(0, line.find(' '))));
    }
    return absl::OkStatus();
  }

  void RunFile(const fs::path& path) {
    files_.insert(path.filename().string());
    absl::StatusOr<std::string> text = ReadFile(path.string());
    if (!text.ok()) return Report(path.string(), text.status());
    fs::path arrays = path;
    arrays.replace_extension(".npz");
    if (fs::exists(arrays)) {
      if (IsWanted(path.filename().string()))
        Report(path.filename().string(), RunProgram(path.string(), *text, arrays.string()));
      return;
    }
    absl::StatusOr<std::vector<TestModule>> modules = ParseTestFile(path.string(), *text);
    if (!modules.ok()) return Report(path.string(), modules.status());
    for (const TestModule& module : *modules) {
      const std::string name = absl::StrCat(path.filename().string(), ":", module.name);
      if (IsWanted(name)) Report(name, RunModule(path.string(), module));
    }
  }

  // The number of failures.
  int Finish() {
    for (const std::string& gap : gaps_) {
      // Gaps of other folders are none of this run's.
      if (seen_.contains(gap) || !files_.contains(gap.substr(0, gap.find(':')))) continue;
      if (filter_.empty()) std::cout << "FAILED known gap " << gap << ": there is no such case\n", ++failed_;
    }
    std::cout << passed_ << " passed, " << failed_ << " failed";
    if (known_ > 0) std::cout << " (" << known_ << " known gaps)";
    std::cout << "\n";
    return failed_;
  }

 private:
  bool IsWanted(const std::string& name) const { return absl::StrContains(name, filter_); }

  void Report(const std::string& name, const absl::Status& status) {
    seen_.insert(name);
    if (gaps_.contains(name)) {
      if (status.ok()) {
        std::cout << "FAILED " << name << ": a known gap that passes now; remove it from the list\n";
        ++failed_;
      } else {
        ++known_;
      }
      return;
    }
    if (status.ok()) {
      ++passed_;
    } else {
      ++failed_;
      std::cout << "FAILED " << name << ": " << status.message() << "\n";
    }
  }

  absl::Status RunModule(const std::string& path, const TestModule& test) {
    auto module = ParseHloModule(test.text, {.file_name = path});
    if (test.error.has_value()) {
      if (module.ok())
        return InvalidArgument("line ", test.line, ": expected an error with '", *test.error, "', but it parsed");
      if (absl::StrContains(module.status().message(), *test.error)) return absl::OkStatus();
      return InvalidArgument("line ", test.line, ": expected an error with '", *test.error, "', got ",
                             module.status().message());
    }
    if (!module.ok()) return module.status();
    if (test.runs.empty()) return InvalidArgument("line ", test.line, ": a module without run: or error: line");
    auto executable = platform_.Compile(*std::move(module));
    for (const RunLine& run : test.runs) {
      if (!executable.ok() && !run.error.empty() && absl::StrContains(executable.status().message(), run.error))
        continue;
      if (!executable.ok()) return executable.status();
      if (absl::Status status = RunCase(**executable, run); !status.ok())
        return AddContext(status, absl::StrCat("; line ", run.line));
    }
    return absl::OkStatus();
  }

  absl::Status RunCase(const Executable& executable, const RunLine& run) {
    const size_t devices = executable.assignment().device_count();
    if ((run.arguments.size() != devices && run.arguments.size() != 1) ||
        (run.expected.size() != devices && run.expected.size() > 1)) {
      return InvalidArgument("expected arguments and results for ", devices, " devices or for all, got ",
                             run.arguments.size(), " and ", run.expected.size());
    }
    std::vector<std::vector<const Literal*>> arguments(devices);
    for (size_t device = 0; device < devices; ++device) {
      for (const Literal& argument : run.arguments[run.arguments.size() == 1 ? 0 : device])
        arguments[device].push_back(&argument);
    }
    auto results = RunOnDevices(platform_.runner(), executable, arguments);
    if (!run.error.empty()) {
      if (!results.ok() && absl::StrContains(results.status().message(), run.error)) return absl::OkStatus();
      return InvalidArgument("expected an error with '", run.error, "', got ", results.status().ToString());
    }
    if (!results.ok()) return results.status();
    for (size_t device = 0; device < devices; ++device) {
      const Literal& expected = run.expected[run.expected.size() == 1 ? 0 : device];
      HILO_RETURN_IF_ERROR(
          AddContext(CompareLiterals(expected, (*results)[device], platform_.WithError(run.spec, expected)),
                     devices == 1 ? "" : absl::StrCat("; on device ", device)));
    }
    return absl::OkStatus();
  }

  static std::map<std::string, double> Tolerances(absl::string_view text) {
    std::map<std::string, double> tolerances;
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      if (!absl::ConsumePrefix(&line, "// tolerance: ")) continue;
      const std::vector<std::string> words = absl::StrSplit(line, ' ');
      double value;
      if (words.size() == 3 && absl::SimpleAtod(words[1], &value)) tolerances[words[0]] = value;
    }
    return tolerances;
  }

  absl::Status RunProgram(const std::string& path, const std::string& text, const std::string& arrays) {
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ReadModule(path, text));
    const ProgramShape program = module->EntryProgramShape();
    const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(program.result);
    HILO_ASSIGN_OR_RETURN(std::vector<NamedLiteral> stored, ReadNpz(arrays, [&](absl::string_view name) {
                            const int64_t number = NumberIn(name);
                            if (absl::StartsWith(name, "arg")) {
                              return number < static_cast<int64_t>(program.parameters.size())
                                         ? program.parameters[number].element_type()
                                         : PRIMITIVE_TYPE_INVALID;
                            }
                            return number < static_cast<int64_t>(leaves.size()) ? leaves[number].shape->element_type()
                                                                                : PRIMITIVE_TYPE_INVALID;
                          }));
    std::map<std::string, const Literal*> by_name;
    for (const NamedLiteral& array : stored) by_name[array.name] = &array.literal;
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<Executable> executable, platform_.Compile(std::move(module)));
    const int64_t devices = executable->assignment().device_count();
    // argI_rD or outI_rD of device D; argI or outI is of all.
    auto find = [&](absl::string_view kind, size_t i, int64_t device) -> absl::StatusOr<const Literal*> {
      for (const std::string& name : {absl::StrCat(kind, i, "_r", device), absl::StrCat(kind, i)}) {
        if (by_name.contains(name)) return by_name[name];
      }
      return InvalidArgument(arrays, " lacks ", kind, i, " of device ", device);
    };
    std::vector<std::vector<const Literal*>> arguments(devices);
    for (int64_t device = 0; device < devices; ++device) {
      for (size_t i = 0; i < program.parameters.size(); ++i) {
        HILO_ASSIGN_OR_RETURN(arguments[device].emplace_back(), find("arg", i, device));
      }
    }
    HILO_ASSIGN_OR_RETURN(const std::vector<Literal> results, RunOnDevices(platform_.runner(), *executable, arguments));
    // Bytecode has no comments; the text beside it says.
    const std::string head =
        LooksLikeMlirBytecode(text) ? ReadFile(fs::path(path).replace_extension(".mlir").string()).value_or("") : text;
    const std::map<std::string, double> tolerances = Tolerances(head);
    for (int64_t device = 0; device < devices; ++device) {
      for (size_t i = 0; i < leaves.size(); ++i) {
        HILO_ASSIGN_OR_RETURN(const Literal* want, find("out", i, device));
        auto it = tolerances.find(std::string(PrimitiveTypeName(want->shape().element_type())));
        ErrorSpec spec;
        if (it != tolerances.end()) {
          spec.relative = it->second;
          spec.absolute = it->second * RootMeanSquare(*want);
        }
        HILO_RETURN_IF_ERROR(
            AddContext(CompareLiterals(*want, results[device].at(leaves[i].index), platform_.WithError(spec, *want)),
                       absl::StrCat("; out", i, devices == 1 ? "" : absl::StrCat(" of device ", device))));
      }
    }
    return absl::OkStatus();
  }

  static absl::StatusOr<std::unique_ptr<HloModule>> ReadModule(const std::string& path, const std::string& text) {
    if (!LooksLikeMlirBytecode(text) && !LooksLikeMlirText(text)) return ParseHloModule(text, {.file_name = path});
    HILO_ASSIGN_OR_RETURN(StablehloProgram program, ImportStablehlo(text));
    return std::move(program.module);
  }

  // I of "argI" or "outI_rD".
  static int64_t NumberIn(absl::string_view name) {
    int64_t number;
    const absl::string_view digits =
        name.substr(3, name.find('_') == absl::string_view::npos ? name.npos : name.find('_') - 3);
    return name.size() > 3 && absl::SimpleAtoi(digits, &number) ? number : INT64_MAX;
  }

  Platform platform_;
  std::string filter_;
  std::set<std::string> gaps_, seen_, files_;
  int passed_ = 0, failed_ = 0, known_ = 0;
};

int Main(int argc, char** argv) {
  std::string platform = "cpu", filter, cpu;
  bool serialize = false;
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument = argv[i];
    if (absl::ConsumePrefix(&argument, "--platform=")) {
      platform = std::string(argument);
    } else if (absl::ConsumePrefix(&argument, "--filter=")) {
      filter = std::string(argument);
    } else if (absl::ConsumePrefix(&argument, "--cpu=")) {
      cpu = std::string(argument);
    } else if (argument == "--serialize") {
      serialize = true;
    } else if (fs::is_directory(argv[i])) {
      for (const auto& entry : fs::directory_iterator(argv[i])) {
        const std::string extension = entry.path().extension().string();
        if (extension == ".hlo" || extension == ".mlir" || extension == ".mlirbc") files.push_back(entry.path());
      }
    } else {
      files.push_back(argv[i]);
    }
  }
  std::sort(files.begin(), files.end());
  absl::StatusOr<Platform> made = MakePlatform(platform, serialize);
  if (!made.ok() || files.empty()) {
    std::cerr
        << (made.ok()
                ? "usage: hilo_file_tests [--platform=P] [--cpu=NAME] [--serialize] [--filter=TEXT] FILE-OR-FOLDER..."
                : made.status().ToString())
        << "\n";
    return 2;
  }
  made->options.cpu = cpu;
  Runner runner(*std::move(made), filter);
  if (absl::Status status = runner.ReadKnownGaps(absl::StrCat("tests/known_gaps/", platform, ".txt")); !status.ok()) {
    std::cerr << status << "\n";
    return 2;
  }
  for (const fs::path& file : files) runner.RunFile(file);
  return runner.Finish() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hilo::testing

int main(int argc, char** argv) { return hilo::testing::Main(argc, argv); }
