#include "tools/session.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/interpreter/interpreter_compiler.h"
#include "backends/registry.h"
#include "base/errors.h"
#include "base/file.h"
#include "hilo/ffi.h"
#include "hilo/status_macros.h"
#include "hlo/import/program_reader.h"
#include "runtime/device_limits.h"
#include "runtime/runtime_access.h"
#include "tools/compile_report.h"
#include "tools/literal_input.h"

namespace hilo::tools {
namespace {

// Cancelled by the first Ctrl-C; the second ends the process.
std::shared_ptr<CancellationToken> InterruptToken() {
  static const auto* token = new std::shared_ptr<CancellationToken>(std::make_shared<CancellationToken>());
  struct sigaction action = {};
  action.sa_handler = [](int) { (*token)->Cancel(); };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  return *token;
}

struct ParameterLeaf {
  std::string name;  // "arg3"
  std::string parameter;
  Shape shape;
};

std::vector<ParameterLeaf> ParameterLeaves(const ProgramShape& shape) {
  std::vector<ParameterLeaf> leaves;
  int64_t arrays = 0;
  for (size_t i = 0; i < shape.parameters.size(); ++i) {
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape.parameters[i])) {
      leaves.push_back({.name = leaf.shape->IsArray() ? absl::StrCat("arg", arrays++) : "",
                        .parameter = i < shape.parameter_names.size() ? shape.parameter_names[i] : absl::StrCat(i),
                        .shape = *leaf.shape});
    }
  }
  return leaves;
}

std::string ListLeaves(const std::vector<ParameterLeaf>& leaves) {
  std::string list;
  for (const ParameterLeaf& leaf : leaves) {
    if (!leaf.name.empty())
      absl::StrAppend(&list, "\n  ", leaf.name, ": ", leaf.shape.ToString(), "  (", leaf.parameter, ")");
  }
  return list;
}

// "a, b, c, ..." of what an archive holds.
std::string ListNames(absl::Span<const std::string> names) {
  constexpr size_t kMax = 10;
  if (names.empty()) return "no arrays";
  return absl::StrCat(absl::StrJoin(names.subspan(0, kMax), ", "), names.size() > kMax ? ", ..." : "");
}

// The literal as an argument: for a parameter with dynamic dimensions, an array within the bounds defines the
// sizes.
absl::StatusOr<Literal> Fit(const ParameterLeaf& leaf, Literal literal) {
  if (ShapeUtil::Compatible(leaf.shape, literal.shape())) return literal;
  if (!leaf.shape.is_static()) {
    if (auto bounded = literal.ToBoundedDynamic(leaf.shape); bounded.ok()) return bounded;
  }
  return InvalidArgument(leaf.name, ": expected ", leaf.shape.ToString(), ", got ", literal.shape().ToString());
}

// For leaves without memory but with an entry: tokens.
absl::StatusOr<std::shared_ptr<const Literal>> Placeholder(const Shape& shape) {
  HILO_ASSIGN_OR_RETURN(Literal literal, Literal::Create(shape));
  return std::make_shared<const Literal>(std::move(literal));
}

absl::StatusOr<std::vector<Arguments>> LoadArchive(const std::vector<ParameterLeaf>& leaves, const std::string& path,
                                                   int64_t device_count) {
  const auto leaf_named = [&](absl::string_view name) -> const ParameterLeaf* {
    name = name.substr(0, name.find('_'));
    for (const ParameterLeaf& leaf : leaves) {
      if (leaf.name == name) return &leaf;
    }
    return nullptr;
  };
  // What belongs to no parameter, results for example, may have any type.
  std::vector<std::string> names;
  const auto type_of = [&](absl::string_view name) -> std::optional<PrimitiveType> {
    names.emplace_back(name);
    const ParameterLeaf* leaf = leaf_named(name);
    if (leaf == nullptr) return std::nullopt;
    return leaf->shape.element_type();
  };
  HILO_ASSIGN_OR_RETURN(std::vector<NamedLiteral> arrays, ReadNpz(path, type_of));
  absl::flat_hash_map<std::string, std::shared_ptr<const Literal>> by_name;
  for (NamedLiteral& array : arrays) by_name[array.name] = std::make_shared<const Literal>(std::move(array.literal));
  std::vector<Arguments> arguments(device_count);
  for (int64_t device = 0; device < device_count; ++device) {
    for (const ParameterLeaf& leaf : leaves) {
      if (leaf.name.empty()) {
        HILO_ASSIGN_OR_RETURN(arguments[device].emplace_back(), Placeholder(leaf.shape));
        continue;
      }
      auto found = by_name.find(absl::StrCat(leaf.name, "_r", device));
      if (found == by_name.end()) found = by_name.find(leaf.name);
      if (found == by_name.end()) {
        return InvalidArgument(path, " has no ", leaf.name,
                               device_count > 1 ? absl::StrCat(" or ", leaf.name, "_r", device) : "", ", but ",
                               ListNames(names), "; the parameters are", ListLeaves(leaves));
      }
      if (ShapeUtil::Compatible(leaf.shape, found->second->shape())) {
        arguments[device].push_back(found->second);
        continue;
      }
      HILO_ASSIGN_OR_RETURN(Literal fitted, Fit(leaf, found->second->Clone()));
      arguments[device].push_back(std::make_shared<const Literal>(std::move(fitted)));
    }
  }
  return arguments;
}

absl::StatusOr<Literal> LoadOne(const ParameterLeaf& leaf, const std::string& text, int64_t number) {
  if (text == "random") return RandomLiteral(leaf.shape, static_cast<uint64_t>(number));
  absl::StatusOr<Literal> literal =
      text[0] == '@' ? ReadNpy(text.substr(1), leaf.shape.element_type()) : ParseLiteralOf(text, leaf.shape);
  if (!literal.ok())
    return AddContext(literal.status(), absl::StrCat("; in --input for ", leaf.name, ", ", leaf.shape.ToString()));
  return Fit(leaf, *std::move(literal));
}

}  // namespace

int64_t NowNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double MillisecondsSince(int64_t start_nanoseconds) {
  return static_cast<double>(NowNanoseconds() - start_nanoseconds) * 1e-6;
}

std::vector<FlagSpec> ModuleFlags() {
  return {{"random-constants", "", "random values for the constants whose elements the text leaves out, as {...}"}};
}

std::vector<FlagSpec> CompileFlags(const PlatformHelp& platform) {
  return Join(
      ModuleFlags(),
      {{"platform", platform.value, platform.help},
       {"strict", "", "every operation rounds on its own: no fused multiply-add, no wider intermediates"},
       {"flush-denormals", "", "denormals count as zero and become zero"},
       {"partitioned", "",
        "the module is the program of one partition already: its shardings only tell where its shapes came from"},
       {"deterministic", "",
        "the same bits in every run: always so on interpreter and cpu; on GPUs it means --strict, as libraries have "
        "orders of their own"},
       {"cpu", "NAME", "processor to compile for: LLVM's name, or x86-64, x86-64-v3, x86-64-v4"},
       {"arch", "NAME", "the same for platforms cuda and cuda-emulated: sm_80, sm_90 ..."},
       {"threads", "N", "threads of compilation and runs; default: the processors that this process may use"},
       {"buffers", "assigned", "interpreter: evaluate in assigned memory, the oracle of buffer assignment"},
       {"deadline", "SECONDS", "end a compilation or a run that takes longer"},
       {"disable-passes", "A,B", "passes to leave out (hilo opt --list-passes)"},
       {"verify-each-pass", "", "check the module after every pass"},
       {"dump", "DIR", "write every stage to DIR; the variable HILO_DUMP does the same"},
       {"cache-dir", "DIR",
        "keep compiled programs in DIR for the next time; the variable HILO_CACHE_DIR does the same"},
       {"timing", "", "tell how long the phases of the compilation take: passes, memory, LLVM"},
       {"perf", "", "tell perf of the generated code (jitdump)"},
       {"ffi-library", "FILE.so",
        "a library with functions for custom calls, which exports HiloRegisterCustomCalls "
        "(hilo/ffi.h); may be repeated"}});
}

std::vector<FlagSpec> RunFlags() {
  return {{"inputs", "IN.npz",
           "arguments arg0, arg1 ... in parameter order, tuples flattened depth first; on several devices also arg0_rD "
           "for device D"},
          {"input", "VALUE", "next argument: a literal such as f32[2]{1,2} or {1,2}, @FILE.npy, or random"},
          {"replicas", "R", "devices that run the program on data of their own; default: what the module says"},
          {"partitions", "N", "devices that share one program; device D = replica * N + partition"}};
}

std::vector<FlagSpec> Join(std::vector<FlagSpec> a, const std::vector<FlagSpec>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

namespace {

// The one file that the command line names.
absl::StatusOr<std::string> ModulePath(const Flags& flags) {
  if (flags.positional().size() != 1) {
    return InvalidArgument("expected one module file, got ", flags.positional().size());
  }
  return flags.positional()[0];
}

absl::StatusOr<std::string> ReadModuleFile(const std::string& path) {
  return ReadFile(path == "-" ? "/dev/stdin" : path);
}

absl::StatusOr<std::unique_ptr<HloModule>> ReadModule(absl::string_view bytes, const std::string& path,
                                                      const Flags& flags) {
  ParseOptions options;
  if (flags.Has("random-constants")) {
    options.elided_constant = [seed = uint64_t{0}](const Shape& shape) mutable { return RandomLiteral(shape, seed++); };
  }
  return ReadProgram(bytes, path, options);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HloModule>> LoadModule(const Flags& flags) {
  HILO_ASSIGN_OR_RETURN(const std::string path, ModulePath(flags));
  HILO_ASSIGN_OR_RETURN(const std::string bytes, ReadModuleFile(path));
  if (LooksLikeExecutable(bytes))
    return InvalidArgument(path, " is a compiled executable; this command takes a module");
  return ReadModule(bytes, path, flags);
}

absl::StatusOr<Program> LoadProgram(const Flags& flags) {
  HILO_ASSIGN_OR_RETURN(const std::string path, ModulePath(flags));
  return LoadProgram(path, flags);
}

absl::StatusOr<Program> LoadProgram(const std::string& path, const Flags& flags) {
  Program program{.platform = "cpu"};
  HILO_ASSIGN_OR_RETURN(program.executable, ReadModuleFile(path));
  program.name = path;
  if (!LooksLikeExecutable(program.executable)) {
    HILO_ASSIGN_OR_RETURN(program.module, ReadModule(std::exchange(program.executable, ""), path, flags));
    program.name = program.module->name();
    return program;
  }
  for (const char* flag : {"strict", "flush-denormals", "cpu", "disable-passes", "verify-each-pass", "dump", "replicas",
                           "partitions", "partitioned", "timing"}) {
    if (flags.Has(flag)) return InvalidArgument("--", flag, " is for compilation, and ", path, " is compiled already");
  }
  const absl::StatusOr<ExecutableInfo> info = ReadExecutableInfo(program.executable);
  if (!info.ok()) return AddContext(info.status(), absl::StrCat("; in ", path));
  program.platform = info->platform;
  return program;
}

absl::StatusOr<CompileOptions> CompileOptionsFrom(const Flags& flags) {
  CompileOptions options;
  options.strict =
      flags.Has("strict") || (flags.Has("deterministic") && absl::StartsWith(flags.Get("platform"), "cuda"));
  options.flush_denormals = flags.Has("flush-denormals");
  options.partitioned = flags.Has("partitioned");
  if (flags.Has("cpu") && flags.Has("arch")) return InvalidArgument("give --cpu or --arch, not both");
  if (flags.Has("arch") && !absl::StrContains(flags.Get("platform"), "cuda"))
    return InvalidArgument("--arch is for --platform=cuda and cuda-emulated; --cpu names a processor");
  options.cpu = flags.Get("cpu", flags.Get("arch"));
  options.disabled_passes = flags.List("disable-passes");
  options.verify_each_pass = flags.Has("verify-each-pass");
  options.perf_jitdump = flags.Has("perf");
  const char* dump = std::getenv("HILO_DUMP");
  options.dump_dir = flags.Get("dump", dump == nullptr ? "" : dump);
  HILO_ASSIGN_OR_RETURN(const double deadline, flags.Seconds("deadline", 0));
  if (flags.Has("deadline")) options.deadline = absl::Seconds(deadline);
  for (const std::string& library : flags.All("ffi-library")) {
    HILO_RETURN_IF_ERROR(LoadCustomCallLibrary(library, &CustomCallRegistry::Default()));
  }
  return options;
}

absl::StatusOr<int64_t> DeviceCount(const CompileOptions& options) {
  if (options.replica_count > kMaxDevices || options.num_partitions > kMaxDevices / options.replica_count) {
    return InvalidArgument(options.replica_count, " replicas and ", options.num_partitions, " partitions: at most ",
                           kMaxDevices, " devices can run a program");
  }
  return options.replica_count * options.num_partitions;
}

absl::StatusOr<std::unique_ptr<Compiler>> CompilerFrom(const std::string& platform, const Flags& flags) {
  const std::string buffers = flags.Get("buffers");
  if (flags.Has("check-nans")) {
    if (platform != "interpreter" || !buffers.empty())
      return InvalidArgument("--check-nans runs on the interpreter: leave out --platform and --buffers");
    return CreateInterpreterCompiler({.check_finite = true});
  }
  if (buffers.empty()) {
    auto compiler = CreateCompiler(
        platform, flags.Has("cache-dir") ? std::optional<std::string>(flags.Get("cache-dir")) : std::nullopt);
    if (!compiler.ok()) return AddContext(compiler.status(), DidYouMean(platform, PlatformNames()));
    return compiler;
  }
  if (buffers != "assigned") return InvalidArgument("--buffers: expected assigned, got '", buffers, "'");
  if (platform != "interpreter")
    return InvalidArgument("--buffers=assigned needs --platform=interpreter, not ", platform);
  return CreateInterpreterCompiler({.assigned_buffers = true});
}

namespace {

absl::StatusOr<std::unique_ptr<Client>> MakeClient(const std::string& platform, const Flags& flags,
                                                   int64_t device_count, std::optional<ProcessGroupOptions> processes) {
  ClientOptions options{
      .platform = platform, .device_count = static_cast<int>(device_count), .processes = std::move(processes)};
  if (flags.Has("cache-dir")) options.cache_dir = flags.Get("cache-dir");
  HILO_ASSIGN_OR_RETURN(const int64_t threads, flags.Integer("threads", 0, 1));
  if (threads > INT32_MAX) return InvalidArgument("--threads: ", threads, " are too many");
  options.num_threads = static_cast<int>(threads);
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Compiler> compiler, CompilerFrom(platform, flags));
  return RuntimeAccess::CreateClient(options, std::move(compiler));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Client>> CreateClient(const std::string& platform, const Flags& flags,
                                                     int64_t device_count) {
  return MakeClient(platform, flags, device_count, std::nullopt);
}

absl::StatusOr<std::unique_ptr<Client>> CreateClientOfLaunch(const std::string& platform, const Flags& flags,
                                                             int64_t device_count) {
  HILO_ASSIGN_OR_RETURN(const LaunchEnvironment launch, DetectLaunch());
  if (launch.world_size == 1) return CreateClient(platform, flags, device_count);
  if (device_count % launch.world_size != 0) {
    return InvalidArgument("the program runs on ", device_count,
                           " devices (replicas times partitions), which cannot be shared equally by the ",
                           launch.world_size, " processes that ", launch.launcher, " has started");
  }
  HILO_ASSIGN_OR_RETURN(ProcessGroupOptions processes, ProcessGroupOptionsFrom(launch));
  HILO_ASSIGN_OR_RETURN(const double deadline, flags.Seconds("deadline", absl::ToDoubleSeconds(processes.timeout)));
  processes.timeout = std::max(absl::Seconds(deadline), absl::Milliseconds(1));
  return MakeClient(platform, flags, device_count / launch.world_size, std::move(processes));
}

namespace {

absl::Status CheckReadable(const std::string& path) {
  if (access(path.c_str(), R_OK) == 0) return absl::OkStatus();
  return NotFound("cannot open ", path, ": ", std::strerror(errno));
}

// There is an --input for each parameter, or --inputs, and the files that they name can be read.
absl::Status CheckInputs(const std::vector<ParameterLeaf>& leaves, const Flags& flags) {
  const std::vector<std::string>& texts = flags.All("input");
  const size_t given = texts.size();
  if (flags.Has("inputs")) {
    return given == 0 ? CheckReadable(flags.Get("inputs")) : InvalidArgument("give --inputs or --input, not both");
  }
  for (const std::string& text : texts) {
    if (absl::StartsWith(text, "@")) HILO_RETURN_IF_ERROR(CheckReadable(text.substr(1)));
  }
  size_t wanted = 0;
  for (const ParameterLeaf& leaf : leaves) {
    if (leaf.name.empty()) continue;
    if (wanted++ == given) {
      return InvalidArgument("the program needs arguments, and ", leaf.name,
                             " is missing; give --inputs=FILE.npz, or --input=VALUE for each of", ListLeaves(leaves));
    }
  }
  if (wanted < given) {
    return InvalidArgument("got ", given, " inputs for ", wanted, " parameters", ListLeaves(leaves));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Arguments>> LoadArguments(const ProgramShape& shape, const Flags& flags,
                                                     int64_t device_count) {
  const std::vector<ParameterLeaf> leaves = ParameterLeaves(shape);
  HILO_RETURN_IF_ERROR(CheckInputs(leaves, flags));
  if (flags.Has("inputs")) return LoadArchive(leaves, flags.Get("inputs"), device_count);
  const std::vector<std::string>& texts = flags.All("input");
  Arguments arguments;
  size_t next = 0;
  for (const ParameterLeaf& leaf : leaves) {
    if (leaf.name.empty()) {
      HILO_ASSIGN_OR_RETURN(arguments.emplace_back(), Placeholder(leaf.shape));
      continue;
    }
    if (texts[next].empty()) return InvalidArgument("--input for ", leaf.name, " is empty");
    HILO_ASSIGN_OR_RETURN(Literal literal, LoadOne(leaf, texts[next], static_cast<int64_t>(next)));
    ++next;
    arguments.push_back(std::make_shared<const Literal>(std::move(literal)));
  }
  return std::vector<Arguments>(device_count, arguments);
}

namespace {

absl::StatusOr<Arguments> RandomArguments(const ProgramShape& shape) {
  Arguments arguments;
  for (const ParameterLeaf& leaf : ParameterLeaves(shape)) {
    if (leaf.name.empty()) {
      HILO_ASSIGN_OR_RETURN(arguments.emplace_back(), Placeholder(leaf.shape));
      continue;
    }
    HILO_ASSIGN_OR_RETURN(Literal literal, LoadOne(leaf, "random", static_cast<int64_t>(arguments.size())));
    arguments.push_back(std::make_shared<const Literal>(std::move(literal)));
  }
  return arguments;
}

// The client, with the number of devices that the program requires, and the executable.
absl::Status CompileInto(Session* session, std::unique_ptr<HloModule> module, const std::string& platform,
                         const Flags& flags) {
  HILO_ASSIGN_OR_RETURN(CompileOptions options, CompileOptionsFrom(flags));
  HILO_ASSIGN_OR_RETURN(options.replica_count, flags.Integer("replicas", module->replica_count(), 1));
  HILO_ASSIGN_OR_RETURN(options.num_partitions, flags.Integer("partitions", module->num_partitions(), 1));
  HILO_ASSIGN_OR_RETURN(const int64_t devices, DeviceCount(options));
  HILO_ASSIGN_OR_RETURN(session->client, CreateClientOfLaunch(platform, flags, devices));
  const CompileReport report(flags);
  const int64_t start = NowNanoseconds();
  HILO_ASSIGN_OR_RETURN(session->executable, RuntimeAccess::Compile(session->client.get(), std::move(module), options));
  session->compile_ms = MillisecondsSince(start);
  return absl::OkStatus();
}

absl::Status LoadInto(Session* session, const Program& program, const std::string& platform, const Flags& flags) {
  HILO_ASSIGN_OR_RETURN(const CompileOptions options, CompileOptionsFrom(flags));
  HILO_ASSIGN_OR_RETURN(const ExecutableInfo info, ReadExecutableInfo(program.executable));
  HILO_ASSIGN_OR_RETURN(const int64_t devices,
                        DeviceCount({.replica_count = info.replica_count, .num_partitions = info.partition_count}));
  HILO_ASSIGN_OR_RETURN(session->client, CreateClientOfLaunch(platform, flags, devices));
  LoadOptions load{.perf_jitdump = options.perf_jitdump};
  for (int device = 0; device < devices; ++device) load.devices.push_back(device);
  const int64_t start = NowNanoseconds();
  auto loaded = session->client->Load(program.executable, load);
  if (!loaded.ok()) return AddContext(loaded.status(), absl::StrCat("; in ", program.name));
  session->executable = *std::move(loaded);
  session->compile_ms = MillisecondsSince(start);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Session> OpenSession(const Program& program, const std::string& platform, const Flags& flags,
                                    ArgumentSource source) {
  Session session;
  HILO_ASSIGN_OR_RETURN(const double deadline, flags.Seconds("deadline", 0));
  session.options.synchronous = true;
  if (flags.Has("deadline")) session.options.deadline = absl::Seconds(deadline);
  if (program.module != nullptr) {
    // What is missing is reported before the compilation, which may be long.
    if (source == ArgumentSource::kFlags) {
      HILO_RETURN_IF_ERROR(CheckInputs(ParameterLeaves(program.module->EntryProgramShape()), flags));
    }
    HILO_RETURN_IF_ERROR(CompileInto(&session, program.module->Clone(), platform, flags));
  } else {
    HILO_RETURN_IF_ERROR(LoadInto(&session, program, platform, flags));
  }
  // Only hilo run has that flag; without it the run would wait for ever.
  if (!RuntimeAccess::ProgramOf(*session.executable).effects.infeeds.empty() && !flags.Has("infeed"))
    return InvalidArgument("the program reads an infeed, which hilo run takes from --infeed=FILE.npz");
  const int64_t device_count = session.executable->assignment().device_count();
  std::vector<const Shape*> layouts;
  const ProgramShape& shape = session.executable->program_shape();
  std::vector<Arguments> arguments;
  if (source == ArgumentSource::kRandom) {
    HILO_ASSIGN_OR_RETURN(const Arguments random, RandomArguments(shape));
    arguments.assign(device_count, random);
  } else {
    HILO_ASSIGN_OR_RETURN(arguments, LoadArguments(shape, flags, device_count));
  }
  for (const Shape& parameter : shape.parameters) {
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(parameter)) layouts.push_back(leaf.shape);
  }
  session.places = session.executable->addressable();
  session.arguments.resize(session.places.size());
  for (size_t device = 0; device < session.places.size(); ++device) {
    for (size_t i = 0; i < layouts.size(); ++i) {
      HILO_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> buffer,
                            session.client->BufferFromLiteral(*arguments[session.places[device]][i],
                                                              static_cast<int>(device), layouts[i]));
      session.arguments[device].push_back(buffer.get());
      session.buffers.push_back(std::move(buffer));
    }
  }
  session.options.cancellation = InterruptToken();  // until here Ctrl-C ends the process
  return session;
}

absl::StatusOr<Executable::ReplicatedResults> Session::Run() const {
  if (executable->assignment().device_count() > 1) return executable->ExecuteReplicated(arguments, options);
  HILO_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Buffer>> results, executable->Execute(arguments[0], options));
  Executable::ReplicatedResults all;
  all.push_back(std::move(results));
  return all;
}

}  // namespace hilo::tools
