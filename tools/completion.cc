// hilo completion and hilo man: the completions of shells and the manual page, made from the tables of commands and
// flags.
#include <algorithm>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "backends/registry.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hilo/version.h"
#include "tools/command.h"

namespace hilo::tools {
namespace {

// The values of a flag, where they are few; empty: any, or a file.
std::vector<std::string> ValuesOf(const FlagSpec& flag) {
  if (flag.name == "platform") return PlatformNames();
  if (flag.name == "cpu") return {"x86-64", "x86-64-v3", "x86-64-v4"};
  if (flag.name == "buffers") return {"assigned"};
  return {};
}

std::string Dashed(const FlagSpec& flag) { return absl::StrCat(flag.name.size() == 1 ? "-" : "--", flag.name); }

std::string NamesOfCommands() {
  std::vector<std::string> names;
  for (const Command& command : AllCommands()) names.push_back(command.name);
  return absl::StrJoin(names, " ");
}

std::string Bash() {
  std::string flags, values;
  for (const Command& command : AllCommands()) {
    std::vector<std::string> words;
    for (const FlagSpec& flag : AllFlags(command)) {
      words.push_back(absl::StrCat(Dashed(flag), flag.value.empty() || flag.name.size() == 1 ? "" : "="));
    }
    absl::StrAppend(&flags, "    ", command.name, ") words='", absl::StrJoin(words, " "), "' ;;\n");
    for (const FlagSpec& flag : command.flags) {
      const std::string row =
          absl::StrCat("    ", Dashed(flag), ") words='", absl::StrJoin(ValuesOf(flag), " "), "' ;;\n");
      if (!ValuesOf(flag).empty() && !absl::StrContains(values, row)) absl::StrAppend(&values, row);
    }
  }
  return absl::StrCat(
      "# bash completion of hilo: source <(hilo completion bash)\n"
      "_hilo() {\n"
      "  local current words=''\n"
      "  current=${COMP_WORDS[COMP_CWORD]}\n"
      "  local previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  COMPREPLY=()\n"
      "  if [[ $COMP_CWORD -eq 1 ]]; then\n"
      "    COMPREPLY=($(compgen -W '",
      NamesOfCommands(),
      " --help --version' -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  # bash splits --flag=value into three words.\n"
      "  if [[ $previous == '=' ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
      "  if [[ $current == '=' ]]; then current=''; fi\n"
      "  case $previous in\n",
      values,
      "  esac\n"
      "  if [[ -n $words ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  if [[ $current != -* ]]; then\n"
      "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${COMP_WORDS[1]} in\n",
      flags,
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
      "}\n"
      "complete -o filenames -F _hilo hilo\n");
}

std::string ZshQuoted(const std::string& text) {
  return absl::StrReplaceAll(text, {{"'", "'\\''"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}});
}

std::string Zsh() {
  std::string text =
      "#compdef hilo\n"
      "# zsh completion of hilo, for a folder of $fpath: hilo completion zsh > _hilo\n"
      "_hilo() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const Command& command : AllCommands())
    absl::StrAppend(&text, "    '", command.name, ":", ZshQuoted(command.summary), "'\n");
  absl::StrAppend(&text,
                  "  )\n"
                  "  if (( CURRENT == 2 )); then\n"
                  "    _describe command commands\n"
                  "    return\n"
                  "  fi\n"
                  "  local command=$words[2]\n"
                  "  shift words\n"
                  "  (( CURRENT-- ))\n"
                  "  case $command in\n");
  for (const Command& command : AllCommands()) {
    absl::StrAppend(&text, "    ", command.name, ")\n      _arguments \\\n");
    for (const FlagSpec& flag : AllFlags(command)) {
      const std::vector<std::string> values = ValuesOf(flag);
      const std::string action = values.empty() ? "_files" : absl::StrCat("(", absl::StrJoin(values, " "), ")");
      const char* separator = flag.value.empty() ? "" : flag.name.size() == 1 ? "+" : "=";
      absl::StrAppend(&text, "        '*", Dashed(flag), separator, "[", ZshQuoted(flag.help), "]",
                      flag.value.empty() ? "" : absl::StrCat(":", ZshQuoted(flag.value), ":", action), "' \\\n");
    }
    absl::StrAppend(&text, "        '*:file:_files' ;;\n");
  }
  absl::StrAppend(&text, "  esac\n}\n_hilo \"$@\"\n");
  return text;
}

std::string FishQuoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

std::string Fish() {
  std::string text = "# fish completion of hilo: hilo completion fish | source\n";
  for (const Command& command : AllCommands()) {
    absl::StrAppend(&text, "complete -c hilo -n __fish_use_subcommand -f -a ", command.name, " -d ",
                    FishQuoted(command.summary), "\n");
    for (const FlagSpec& flag : AllFlags(command)) {
      const std::vector<std::string> values = ValuesOf(flag);
      absl::StrAppend(&text, "complete -c hilo -n '__fish_seen_subcommand_from ", command.name, "' ",
                      flag.name.size() == 1 ? "-s " : "-l ", flag.name, flag.value.empty() ? "" : " -r",
                      values.empty() ? "" : absl::StrCat(" -f -a ", FishQuoted(absl::StrJoin(values, " "))), " -d ",
                      FishQuoted(flag.help), "\n");
    }
  }
  return text;
}

absl::Status Complete(const Flags& flags) {
  const std::string shell = flags.positional().size() == 1 ? flags.positional()[0] : "";
  const std::string text = shell == "bash" ? Bash() : shell == "zsh" ? Zsh() : shell == "fish" ? Fish() : "";
  if (text.empty()) return InvalidArgument("expected one of the shells bash, zsh and fish, got '", shell, "'");
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

// Text as roff: backslashes and dashes are escaped, and no line is a request.
std::string Roff(const std::string& text) {
  std::string escaped = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}});
  std::vector<std::string> lines = absl::StrSplit(escaped, '\n');
  for (std::string& line : lines) {
    if (!line.empty() && (line[0] == '.' || line[0] == '\'')) line.insert(0, "\\&");
  }
  return absl::StrJoin(lines, "\n");
}

absl::Status Man(const Flags&) {
  std::string text = absl::StrCat(".TH HILO 1 \"\" \"hilo ", std::string(Version()),
                                  "\"\n.SH NAME\nhilo \\- compile, run and examine HLO and StableHLO programs\n"
                                  ".SH SYNOPSIS\n.B hilo\n.I COMMAND\n[ARGUMENTS] [FLAGS]\n.SH COMMANDS\n");
  for (const Command& command : AllCommands()) {
    absl::StrAppend(&text, ".SS ", Roff(absl::StrCat("hilo ", command.name, " ", command.arguments)), "\n",
                    Roff(command.summary), ".\n");
    for (const FlagSpec& flag : command.flags)
      absl::StrAppend(&text, ".TP\n.B ", Roff(FlagText(flag)), "\n", Roff(flag.help), "\n");
    absl::StrAppend(&text, ".PP\n.nf\n", Roff(command.details), "\n.fi\n");
  }
  absl::StrAppend(&text, ".SH EXIT STATUS\n0 for success, 1 if a run or a comparison failed, 2 for wrong arguments or ",
                  "input.\n");
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace

Command CompletionCommand() {
  return {.name = "completion",
          .arguments = "SHELL",
          .summary = "print what makes bash, zsh or fish complete commands and flags",
          .details =
              "An installed Hilo has these files where the shells look for them.\n"
              "\n"
              "Examples:\n"
              "  source <(hilo completion bash)\n"
              "  hilo completion zsh > ~/.zfunc/_hilo\n"
              "  hilo completion fish | source\n",
          .flags = {},
          .run = &Complete};
}

Command ManCommand() {
  return {.name = "man",
          .arguments = "",
          .summary = "print the manual page, hilo(1)",
          .details =
              "Examples:\n"
              "  hilo man | man -l -\n",
          .flags = {},
          .run = &Man};
}

}  // namespace hilo::tools
