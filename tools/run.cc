// hilo run: compiles a module, runs it once, and shows or writes its results.
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "tools/command.h"
#include "tools/session.h"

namespace hilo::tools {
namespace {

// Results with more elements than this are elided on the terminal.
constexpr int64_t kMaxPrintedElements = 1024;

absl::Status Print(const Shape& shape, const std::vector<Literal>& leaves) {
  for (size_t i = 0; i < leaves.size(); ++i) {
    const std::string text = leaves[i].ToString(true, kMaxPrintedElements);
    if (shape.IsTuple()) std::printf("out%zu: ", i);
    std::printf("%s\n", text.c_str());
  }
  if (std::fflush(stdout) != 0) return Unavailable("cannot write to standard output");
  return absl::OkStatus();
}

absl::Status Write(const Flags& flags, std::vector<Literal> leaves) {
  if (flags.Has("outputs")) {
    std::vector<NamedLiteral> arrays;
    for (Literal& leaf : leaves) {
      if (leaf.shape().IsArray())
        arrays.push_back({absl::StrCat("out", arrays.size()), std::move(leaf)});
    }
    return WriteNpz(flags.Get("outputs"), arrays);
  }
  const std::string path = flags.Get("output");
  if (path.size() < 2 || path[0] != '@')
    return InvalidArgument("--output: expected @FILE.npy, got '", path, "'");
  if (leaves.size() != 1) {
    return InvalidArgument("--output writes one array, but the result has ", leaves.size(),
                           "; use --outputs=OUT.npz");
  }
  return WriteNpy(path.substr(1), leaves[0]);
}

absl::Status Run(const Flags& flags) {
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, LoadModule(flags));
  HILO_ASSIGN_OR_RETURN(Session session,
                        OpenSession(std::move(module), flags.Get("platform", "cpu"), flags));
  const int64_t start = NowNanoseconds();
  HILO_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Buffer>> results,
                        session.executable->Execute(session.arguments, session.options));
  std::fprintf(stderr, "compile %.1f ms, run %.3g ms\n", session.compile_ms,
               MillisecondsSince(start));
  std::vector<Literal> leaves;
  for (const auto& result : results) {
    HILO_ASSIGN_OR_RETURN(Literal literal, result->ToLiteral());
    leaves.push_back(std::move(literal));
  }
  if (flags.Has("outputs") || flags.Has("output")) return Write(flags, std::move(leaves));
  return Print(session.executable->program_shape().result, leaves);
}

}  // namespace

Command RunCommand() {
  return {
      .name = "run",
      .arguments = "MODULE",
      .summary = "compile a module and run it once",
      .details =
          "Results go to standard output as literals, or to the files that --outputs or --output "
          "name.\n"
          "\n"
          "Examples:\n"
          "  hilo run add.hlo --input='f32[2]{1, 2}' --input='{3, 4}'\n"
          "  hilo run step.hlo --inputs=in.npz --outputs=out.npz\n"
          "  hilo run step.hlo --input=random --input=@weights.npy --platform=interpreter\n",
      .flags = Join(Join(RunFlags(), {{"outputs", "OUT.npz", "write the results out0, out1 ..."},
                                      {"output", "@FILE.npy", "write the only result"}}),
                    CompileFlags()),
      .run = &Run};
}

}  // namespace hilo::tools
