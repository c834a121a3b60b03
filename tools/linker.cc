#include "tools/linker.h"

#include <elf.h>
#include <stddef.h>
#include <sys/wait.h>

#include <cstring>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/file.h"
#include "hilo/status_macros.h"
#include "tools/child_process.h"

namespace hilo::tools {
namespace {

struct Architecture {
  absl::string_view name;
  absl::string_view kind;             // of the file that its linker makes
  std::vector<std::string> programs;  // that link for it, the best first
  absl::string_view package;          // of Debian, which has such a program
};

#ifdef __aarch64__
constexpr bool kHostIsAarch64 = true;
#else
constexpr bool kHostIsAarch64 = false;
#endif

Architecture ArchitectureOf(absl::string_view object) {
  if (absl::StartsWith(object, absl::string_view("\0asm", 4)))
    return {"WebAssembly", "wasm", {"wasm-ld", "wasm-ld-19"}, "lld"};
  Elf64_Half machine = EM_NONE;
  if (object.size() >= sizeof(Elf64_Ehdr))
    std::memcpy(&machine, object.data() + offsetof(Elf64_Ehdr, e_machine), sizeof(machine));
  const bool is_aarch64 = machine == EM_AARCH64;
  const absl::string_view name = is_aarch64 ? "AArch64" : "x86-64";
  if (is_aarch64 == kHostIsAarch64) return {name, "so", {"cc", "gcc", "clang"}, "gcc"};
  return is_aarch64 ? Architecture{name, "so", {"aarch64-linux-gnu-gcc"}, "gcc-aarch64-linux-gnu"}
                    : Architecture{name, "so", {"x86_64-linux-gnu-gcc"}, "gcc-x86-64-linux-gnu"};
}

}  // namespace

absl::StatusOr<std::string> Link(absl::string_view object, absl::string_view kind) {
  const Architecture architecture = ArchitectureOf(object);
  if (architecture.kind != kind) {
    return InvalidArgument("--emit=", kind, ": the code is for ", architecture.name,
                           "; give --emit=", architecture.kind, ", or another --cpu");
  }
  const std::string program = FindProgram(architecture.programs);
  if (program.empty()) {
    return NotFound("--emit=", kind, " calls a linker for ", architecture.name, ", and there is no ",
                    absl::StrJoin(architecture.programs, " or "),
                    " in the folders of PATH; install one (Debian: ", architecture.package,
                    "), or give --emit=object and link elsewhere");
  }
  HILO_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  const std::string from = absl::StrCat(folder.path(), "/object.o"), to = absl::StrCat(folder.path(), "/linked"),
                    printed = absl::StrCat(folder.path(), "/printed");
  HILO_RETURN_IF_ERROR(WriteFile(from, object));
  std::vector<std::string> arguments = {program, from, "-o", to};
  const std::vector<std::string> flags =
      kind == "wasm"
          ? std::vector<std::string>{"--no-entry", "--export-dynamic", "--export=__heap_base", "--allow-undefined"}
          : std::vector<std::string>{"-shared", "-nostartfiles", "-s", "-Wl,--as-needed", "-lm"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  constexpr double kSeconds = 300;  // far more than any object takes
  HILO_ASSIGN_OR_RETURN(const Ended ended, RunProgram(arguments, printed, kSeconds));
  if (ended.in_time && WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0) return ReadFile(to);
  HILO_ASSIGN_OR_RETURN(const std::string text, ReadFile(printed));
  return Internal(program, ended.in_time ? " failed" : absl::StrCat(" took longer than ", kSeconds, " s"), ":\n", text);
}

}  // namespace hilo::tools
