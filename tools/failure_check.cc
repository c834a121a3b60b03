#include "tools/failure_check.h"

#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"
#include "base/file.h"
#include "hilo/npy.h"
#include "hilo/status_macros.h"
#include "hlo/text/hlo_printer.h"
#include "tools/child_process.h"
#include "tools/session.h"

namespace hilo::tools {
namespace {

constexpr char kPasses[] = "passes", kShows[] = "shows the failure", kRefused[] = "exit code 2: INVALID_ARGUMENT";

// {"INTERNAL", "..."} of "hilo: INTERNAL: ..."; empty if there is no such line.
std::pair<std::string, std::string> ErrorIn(const std::string& output) {
  for (absl::string_view line : absl::StrSplit(output, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(": ", 2));
    if (words.size() == 3 && words[0] == "hilo" && words[1] != "warning") return {words[1], words[2]};
  }
  return {};
}

absl::string_view LastLine(absl::string_view text) {
  text = absl::StripTrailingAsciiWhitespace(text);
  return text.substr(text.rfind('\n') + 1);
}

// The value of --input for a leaf of `shape`: the first elements of `given` in each dimension, which are written to
// `file`, or random ones if there are not so many of the type.
absl::StatusOr<std::string> InputFlag(const Shape& shape, const Literal* given, const std::string& file) {
  const std::string random = "--input=random";
  if (given == nullptr || given->shape().element_type() != shape.element_type() ||
      given->shape().rank() != shape.rank())
    return random;
  Literal part = given->Clone();
  if (part.shape() != given->shape()) return ResourceExhausted("no memory for a copy of the inputs");
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimensions(d) > given->shape().dimensions(d)) return random;
    part.SetDynamicSize(d, std::min(given->GetDynamicSize(d), shape.dimensions(d)));
  }
  HILO_ASSIGN_OR_RETURN(part, part.ToStatic());
  HILO_RETURN_IF_ERROR(WriteNpy(file, part));
  return absl::StrCat("--input=@", file);
}

}  // namespace

std::vector<FlagSpec> FailureFlags() {
  return {{"fails-on", "PLATFORM",
           "the failure is that hilo verify --platform=interpreter,PLATFORM crashes, does not end, or reports what it "
           "reports of MODULE; default: cpu"},
          {"seconds-a-try", "S", "end a try that takes longer (default 60)"},
          RunFlags()[0],
          RunFlags()[1],
          {"check", "COMMAND",
           "the failure is that this command of the shell succeeds (exit code 0); {} in it stands for the file"}};
}

absl::StatusOr<std::vector<std::string>> FailureCheck::InputFlags(const HloModule& module,
                                                                  const std::string& folder) const {
  std::vector<std::string> flags;
  if (!has_inputs_) return flags;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    const auto known = inputs_.find(parameter->name());
    const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(parameter->shape());
    const bool fits = known != inputs_.end() && known->second.size() == leaves.size();
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (!leaves[i].shape->IsArray()) continue;
      const Literal* given = fits ? known->second[i].get() : nullptr;
      HILO_ASSIGN_OR_RETURN(flags.emplace_back(),
                            InputFlag(*leaves[i].shape, given, absl::StrCat(folder, "/input", flags.size(), ".npy")));
    }
  }
  return flags;
}

absl::StatusOr<std::string> FailureCheck::OutcomeOf(const HloModule& module,
                                                    const std::vector<std::string>& disabled_passes,
                                                    std::string* message) const {
  HILO_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  const std::string file = absl::StrCat(folder.path(), "/module.hlo"), output = absl::StrCat(folder.path(), "/output");
  HILO_RETURN_IF_ERROR(WriteFile(file, PrintHloModule(module)));
  std::vector<std::string> arguments;
  if (!command_.empty()) {
    const bool has_place = command_.find("{}") != std::string::npos;
    arguments = {"/bin/sh", "-c",
                 has_place ? absl::StrReplaceAll(command_, {{"{}", file}}) : absl::StrCat(command_, " ", file)};
  } else {
    arguments = {std::filesystem::read_symlink("/proc/self/exe").string(), "verify", file,
                 absl::StrCat("--platform=interpreter,", platform_)};
    if (!disabled_passes.empty())
      arguments.push_back(absl::StrCat("--disable-passes=", absl::StrJoin(disabled_passes, ",")));
    HILO_ASSIGN_OR_RETURN(const std::vector<std::string> inputs, InputFlags(module, folder.path()));
    arguments.insert(arguments.end(), inputs.begin(), inputs.end());
  }
  HILO_ASSIGN_OR_RETURN(const Ended ended, RunProgram(arguments, output, seconds_));
  if (!ended.in_time) return absl::StrCat("no end within ", seconds_, " seconds");
  const bool succeeds = WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0;
  if (succeeds) return command_.empty() ? kPasses : kShows;
  const std::string end = WIFSIGNALED(ended.status) ? absl::StrCat("signal ", WTERMSIG(ended.status))
                                                    : absl::StrCat("exit code ", WEXITSTATUS(ended.status));
  HILO_ASSIGN_OR_RETURN(const std::string text, ReadFile(output));
  if (!command_.empty()) {
    if (message != nullptr) *message = absl::StrCat(end, text.empty() ? "" : ": ", LastLine(text));
    return kPasses;
  }
  const auto [code, error] = ErrorIn(text);
  if (message != nullptr) *message = error;
  return absl::StrCat(end, code.empty() ? "" : ": ", code);
}

absl::StatusOr<FailureCheck> FailureCheck::Create(const Flags& flags, const HloModule& module) {
  if (flags.Has("check") && flags.Has("fails-on")) return InvalidArgument("give --check or --fails-on, not both");
  FailureCheck check;
  check.command_ = flags.Get("check");
  check.platform_ = flags.Get("fails-on", "cpu");
  if (check.command_.empty()) HILO_RETURN_IF_ERROR(CreateClient(check.platform_, flags).status());
  HILO_ASSIGN_OR_RETURN(check.seconds_, flags.Seconds("seconds-a-try", 60));
  check.has_inputs_ = flags.Has("inputs") || flags.Has("input");
  if (check.has_inputs_) {
    if (!check.command_.empty())
      return InvalidArgument("--inputs and --input are for --fails-on: a command of --check names its own");
    HILO_ASSIGN_OR_RETURN(const std::vector<Arguments> arguments,
                          LoadArguments(module.EntryProgramShape(), flags, /*device_count=*/1));
    size_t next = 0;
    for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
      Arguments& leaves = check.inputs_[parameter->name()];
      for (size_t i = ShapeUtil::Leaves(parameter->shape()).size(); i > 0; --i) leaves.push_back(arguments[0][next++]);
    }
  }
  std::string message;
  HILO_ASSIGN_OR_RETURN(check.failure_, check.OutcomeOf(module, {}, &message));
  if (check.failure_ == kRefused)
    return InvalidArgument("hilo verify refuses the module, which is no failure of ", check.platform_, ": ", message,
                           "; if it should not, give --check");
  if (check.failure_ != kPasses) return check;
  return InvalidArgument(
      check.command_.empty()
          ? absl::StrCat("the module does not fail on ", check.platform_, ": its results are those of the interpreter")
          : absl::StrCat("the command fails on the module itself, where it must succeed: ", message));
}

absl::StatusOr<bool> FailureCheck::Fails(const HloModule& module) const {
  HILO_ASSIGN_OR_RETURN(const std::string outcome, OutcomeOf(module, {}));
  return outcome == failure_;
}

absl::StatusOr<FailureCheck::Outcome> FailureCheck::Without(const std::vector<std::string>& passes,
                                                            const HloModule& module) const {
  HILO_ASSIGN_OR_RETURN(const std::string outcome, OutcomeOf(module, passes));
  if (outcome == failure_) return Outcome::kSame;
  return outcome == kRefused ? Outcome::kRefused : Outcome::kOther;
}

}  // namespace hilo::tools
