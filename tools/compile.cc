// hilo compile: shows what a platform makes of a module.
#include <cstdio>

#include "absl/strings/match.h"
#include "base/errors.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "runtime/dynamic_program.h"
#include "tools/command.h"
#include "tools/session.h"

namespace hilo::tools {
namespace {

absl::Status Compile(const Flags& flags) {
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, LoadModule(flags));
  HILO_ASSIGN_OR_RETURN(CompileOptions options, CompileOptionsFrom(flags));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Client> client,
                        CreateClient(flags.Get("platform", "cpu"), flags));
  std::vector<std::string> kinds = flags.List("emit");
  const std::string path = flags.Get("o");
  if (kinds.empty() && !path.empty()) {
    return Unimplemented(
        "executables cannot be written to a file; --emit=hlo, llvm, asm, obj or buffers can");
  }
  if (kinds.empty()) kinds.push_back("hlo");
  if (kinds.size() > 1 && !path.empty())
    return InvalidArgument("-o takes one kind of output, but --emit names ", kinds.size());
  HILO_ASSIGN_OR_RETURN(module, PrepareModule(*client->compiler(), std::move(module)));
  for (const std::string& kind : kinds) {
    HILO_ASSIGN_OR_RETURN(const std::string text,
                          client->compiler()->Emit(module->Clone(), options, kind));
    if (!path.empty()) return WriteFile(path, text);
    if (kinds.size() > 1) std::printf("// ---- %s\n", kind.c_str());
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
      return Unavailable("cannot write to standard output");
    if (!absl::EndsWith(text, "\n")) std::printf("\n");
  }
  return absl::OkStatus();
}

}  // namespace

Command CompileCommand() {
  return {.name = "compile",
          .arguments = "MODULE",
          .summary = "show what a platform makes of a module",
          .details =
              "Examples:\n"
              "  hilo compile step.hlo --emit=hlo\n"
              "  hilo compile step.hlo --emit=asm --cpu=x86-64-v3 -o step.s\n"
              "  hilo compile step.hlo --emit=buffers --dump=stages\n",
          .flags = Join(
              {{"emit", "KINDS", "cpu: hlo, buffers, llvm, asm, obj; interpreter: hlo, buffers"},
               {"o", "FILE", "where to; default: standard output"}},
              CompileFlags()),
          .run = &Compile};
}

}  // namespace hilo::tools
