// hilo compile: shows what a platform makes of a module.
#include <unistd.h>

#include <cstdio>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "backends/cpu/compile/c_function.h"
#include "backends/llvm/cross/cross_targets.h"
#include "base/errors.h"
#include "base/file.h"
#include "hilo/status_macros.h"
#include "runtime/compile_driver.h"
#include "runtime/dynamic_program.h"
#include "runtime/runtime_access.h"
#include "runtime/watchdog.h"
#include "tools/command.h"
#include "tools/compile_report.h"
#include "tools/linker.h"
#include "tools/session.h"

namespace hilo::tools {
namespace {

absl::Status WriteExecutable(std::unique_ptr<HloModule> module, const std::string& platform,
                             const CompileOptions& options, const Flags& flags, const std::string& path) {
  HILO_ASSIGN_OR_RETURN(const int64_t devices, DeviceCount(options));
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client, CreateClient(platform, flags, devices));
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> executable,
                        RuntimeAccess::Compile(client.get(), std::move(module), options));
  HILO_ASSIGN_OR_RETURN(const std::string bytes, executable->Serialize());
  return WriteFile(path, bytes);
}

bool IsLinked(absl::string_view kind) { return kind == "so" || kind == "wasm"; }
bool IsText(absl::string_view kind) { return !IsLinked(kind) && kind != "object"; }

// The kinds of --emit: those of the compiler, and what a linker makes of its objects.
std::vector<absl::string_view> EmitKinds(const Compiler& compiler) {
  const absl::Span<const absl::string_view> own = compiler.EmitKinds();
  std::vector<absl::string_view> kinds(own.begin(), own.end());
  if (absl::c_linear_search(own, "object")) kinds.insert(kinds.end(), {"so", "wasm"});
  return kinds;
}

absl::StatusOr<std::string> Emit(Compiler* compiler, const HloModule& module, const CompileOptions& options,
                                 const std::string& kind) {
  if (!IsLinked(kind)) return compiler->Emit(module.Clone(), options, kind);
  HILO_ASSIGN_OR_RETURN(const std::string object, compiler->Emit(module.Clone(), options, "object"));
  return Link(object, kind);
}

absl::Status CheckFunctionName(const std::string& name) {
  const bool is_identifier =
      !name.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(name[0])) &&
      absl::c_all_of(name, [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; });
  if (!is_identifier)
    return InvalidArgument("--function: expected a name in C, of letters, digits and _, got '", name, "'");
  if (cpu::IsReservedInC(name)) return InvalidArgument("--function: '", name, "' is a name that C or its library has");
  return absl::OkStatus();
}

absl::Status Compile(const Flags& flags) {
  codegen::RegisterCrossTargets();
  const CompileReport report(flags);
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, LoadModule(flags));
  if (flags.Has("function")) {
    HILO_RETURN_IF_ERROR(CheckFunctionName(flags.Get("function")));
    module->set_name(flags.Get("function"));
  }
  HILO_ASSIGN_OR_RETURN(CompileOptions options, CompileOptionsFrom(flags));
  HILO_ASSIGN_OR_RETURN(options.replica_count, flags.Integer("replicas", module->replica_count(), 1));
  HILO_ASSIGN_OR_RETURN(options.num_partitions, flags.Integer("partitions", module->num_partitions(), 1));
  const std::string platform = flags.Get("platform", "cpu");
  std::vector<std::string> kinds = flags.List("emit");
  const std::string path = flags.Get("o");
  if (kinds.empty() && !path.empty()) return WriteExecutable(std::move(module), platform, options, flags, path);
  // No client: code for a GPU can be emitted without one.
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Compiler> compiler, CompilerFrom(platform, flags));
  if (kinds.empty()) kinds.push_back("hlo");
  if (kinds.size() > 1 && !path.empty())
    return InvalidArgument("-o takes one kind of output, but --emit names ", kinds.size());
  for (const std::string& kind : kinds) {
    HILO_RETURN_IF_ERROR(CheckEmitKind(platform, kind, EmitKinds(*compiler)));
    if (kinds.size() > 1 && !IsText(kind))
      return InvalidArgument("--emit names ", kinds.size(), " kinds, but ", kind, " is no text: emit it by itself");
    if (path.empty() && !IsText(kind) && isatty(STDOUT_FILENO))
      return InvalidArgument("--emit=", kind, " is no text for a terminal; give a file with -o");
    if (kind == "wasm" && !flags.Has("cpu")) options.cpu = "wasm32";
  }
  const CompileDeadline deadline(&options);
  HILO_ASSIGN_OR_RETURN(module, PrepareModule(*compiler, std::move(module), options));
  std::vector<std::string> texts;  // all or none
  for (const std::string& kind : kinds) {
    HILO_ASSIGN_OR_RETURN(texts.emplace_back(), Emit(compiler.get(), *module, options, kind));
  }
  if (!path.empty()) return WriteFile(path, texts[0]);
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds.size() > 1) std::printf("// ---- %s\n", kinds[i].c_str());
    std::fwrite(texts[i].data(), 1, texts[i].size(), stdout);
    if (IsText(kinds[i]) && !absl::EndsWith(texts[i], "\n")) std::printf("\n");
  }
  return absl::OkStatus();
}

}  // namespace

Command CompileCommand() {
  return {.name = "compile",
          .arguments = "MODULE",
          .summary = "compile a module to a file, or show what a platform makes of it",
          .details =
              "-o without --emit writes an executable for hilo run, hilo bench and Client::Load: native code for the "
              "processor\n"
              "that --cpu names (default: this one's), which only this version of Hilo reads.\n"
              "\n--emit=object and header write the program as a function in C, for the linker of other programs: it "
              "needs no "
              "library of Hilo's,\n"
              "no memory of its own and no threads. It is called as the module is, or as --function says.\n"
              "--emit=so makes it a shared library, with this machine's C compiler as the linker, and --emit=wasm a "
              "WebAssembly module, with wasm-ld.\n"
              "\n--cpu=x86-64-v2,x86-64-v3,x86-64-v4 makes it of several, of which each machine calls the best; "
              "--cpu=aarch64, a\n"
              "processor of it such as neoverse-n1, and --cpu=wasm32 make it for other machines.\n"
              "\n"
              "Examples:\n"
              "  hilo compile step.hlo -o step.hilo\n"
              "  hilo compile step.hlo --emit=hlo\n"
              "  hilo compile step.hlo --emit=asm --cpu=x86-64-v3 -o step.s\n"
              "  hilo compile step.hlo --emit=object -o step.o && hilo compile step.hlo --emit=header -o step.h\n"
              "  hilo compile step.hlo --emit=so -o step.so\n"
              "  hilo compile step.hlo --emit=wasm -o step.wasm\n"
              "  hilo compile step.hlo --emit=buffers --dump=stages\n"
              "  hilo compile step.hlo --platform=cuda --arch=sm_90 --emit=thunks,ptx\n",
          .flags = Join(
              {{"emit", "KINDS",
                "cpu: hlo, buffers, llvm, asm, object, header, so, wasm; interpreter: hlo, buffers; cuda: hlo, "
                "buffers, thunks, "
                "roofline, "
                "llvm, ptx, "
                "sass, resources"},
               {"o", "FILE", "where to; default: standard output", true},
               {"function", "NAME", "name of the function in C that --emit=object, header, so and wasm make"},
               {"replicas", "R", "devices that run the program on data of their own; default: what the module says"},
               {"partitions", "N", "devices that share one program"}},
              CompileFlags()),
          .run = &Compile};
}

}  // namespace hilo::tools
