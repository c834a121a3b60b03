// hilo diff: what differs between two modules, names aside.
#include <algorithm>
#include <cstdio>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/text/hlo_printer.h"
#include "tools/command.h"
#include "tools/session.h"

namespace hilo::tools {
namespace {

constexpr size_t kContext = 2;
// Cells of the table that finds the common lines; larger differences are shown as a whole.
constexpr size_t kMaxCells = 16'000'000;

struct Line {
  std::string text;  // as HLO
  std::string key;   // the same without names
};

// The attributes at the end of an instruction's text: what follows its operands.
std::string AttributesOf(const std::string& text) {
  const size_t equals = text.find(" = ");
  size_t at = text.find('(', equals == std::string::npos ? 0 : equals + 3);
  // The shape of a tuple is in parentheses too.
  for (int lists = text.compare(equals + 3, 1, "(") == 0 ? 2 : 1; lists > 0 && at != std::string::npos; --lists) {
    int depth = 0;
    for (; at < text.size(); ++at) {
      depth += (text[at] == '(') - (text[at] == ')');
      if (depth == 0) break;
    }
    if (lists > 1) at = text.find('(', at + 1);
  }
  return at == std::string::npos || at >= text.size() ? "" : text.substr(at + 1);
}

Line LineOf(const HloInstruction& instruction, const PrintOptions& options) {
  Line line{.text = PrintHloInstruction(instruction, options)};
  std::vector<std::string> operands;
  for (const HloInstruction* operand : instruction.operands())
    operands.push_back(absl::StrCat(HloOpcodeString(operand->opcode()), " ", operand->shape().ToString()));
  line.key = absl::StrCat(instruction.IsRoot() ? "ROOT " : "", HloOpcodeString(instruction.opcode()), " ",
                          instruction.shape().ToString(options.layouts), "(", absl::StrJoin(operands, ", "), ")",
                          instruction.IsConstant() ? line.text.substr(line.text.find(" = ")) : AttributesOf(line.text));
  return line;
}

std::vector<Line> LinesOf(const HloComputation& computation, const PrintOptions& options) {
  std::vector<Line> lines;
  for (const HloInstruction* instruction : TextOrder(computation)) lines.push_back(LineOf(*instruction, options));
  return lines;
}

// A line of both, of the first module only ('-'), or of the second only ('+').
struct Change {
  char kind;
  const Line* line;
};

// The longest common subsequence by the textbook's table, after the common beginning and end.
std::vector<Change> Compare(const std::vector<Line>& a, const std::vector<Line>& b) {
  size_t begin = 0, end = 0;
  while (begin < std::min(a.size(), b.size()) && a[begin].key == b[begin].key) ++begin;
  while (begin + end < std::min(a.size(), b.size()) && a[a.size() - 1 - end].key == b[b.size() - 1 - end].key) ++end;
  const size_t n = a.size() - begin - end, m = b.size() - begin - end;
  std::vector<Change> changes;
  for (size_t i = 0; i < begin; ++i) changes.push_back({' ', &a[i]});
  size_t i = 0, j = 0;
  if (n == 0 || m == 0 || n <= kMaxCells / m) {
    std::vector<std::vector<int>> common(n + 1, std::vector<int>(m + 1));
    for (size_t x = n; x-- > 0;) {
      for (size_t y = m; y-- > 0;) {
        common[x][y] = a[begin + x].key == b[begin + y].key ? common[x + 1][y + 1] + 1
                                                            : std::max(common[x + 1][y], common[x][y + 1]);
      }
    }
    while (i < n && j < m) {
      if (a[begin + i].key == b[begin + j].key) {
        changes.push_back({' ', &a[begin + i++]});
        ++j;
      } else if (common[i + 1][j] >= common[i][j + 1]) {
        changes.push_back({'-', &a[begin + i++]});
      } else {
        changes.push_back({'+', &b[begin + j++]});
      }
    }
  }
  while (i < n) changes.push_back({'-', &a[begin + i++]});
  while (j < m) changes.push_back({'+', &b[begin + j++]});
  for (size_t k = a.size() - end; k < a.size(); ++k) changes.push_back({' ', &a[k]});
  return changes;
}

// Changed lines with a few around them. Returns how many changed.
int64_t Print(const std::string& title, const std::vector<Change>& changes) {
  const int64_t count = std::count_if(changes.begin(), changes.end(), [](const Change& c) { return c.kind != ' '; });
  if (count == 0) return 0;
  std::printf("%s\n", title.c_str());
  size_t printed = 0;  // the end of what has been printed
  for (size_t i = 0; i < changes.size(); ++i) {
    const size_t first = i < kContext ? 0 : i - kContext, last = std::min(i + kContext + 1, changes.size());
    const bool near =
        std::any_of(changes.begin() + static_cast<int64_t>(first), changes.begin() + static_cast<int64_t>(last),
                    [](const Change& c) { return c.kind != ' '; });
    if (!near) continue;
    if (printed < i) std::printf("    ... %zu equal\n", i - printed);
    std::printf("%c %s\n", changes[i].kind, changes[i].line->text.c_str());
    printed = i + 1;
  }
  if (printed < changes.size()) std::printf("    ... %zu equal\n", changes.size() - printed);
  return count;
}

// The computations in pairs: the entries, then those of one name, then the others in their order. Null: has no partner.
std::vector<std::pair<const HloComputation*, const HloComputation*>> Pairs(const HloModule& a, const HloModule& b) {
  std::vector<std::pair<const HloComputation*, const HloComputation*>> pairs = {
      {a.entry_computation(), b.entry_computation()}};
  std::map<std::string, const HloComputation*> names;
  for (const HloComputation* computation : b.computations()) {
    if (!computation->IsEntry()) names[computation->name()] = computation;
  }
  std::vector<const HloComputation*> left, right;
  for (const HloComputation* computation : a.computations()) {
    if (computation->IsEntry()) continue;
    const auto found = names.find(computation->name());
    if (found == names.end()) {
      left.push_back(computation);
    } else {
      pairs.emplace_back(computation, found->second);
      names.erase(found);
    }
  }
  for (const HloComputation* computation : b.computations()) {
    if (names.count(computation->name()) != 0) right.push_back(computation);
  }
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i)
    pairs.emplace_back(i < left.size() ? left[i] : nullptr, i < right.size() ? right[i] : nullptr);
  return pairs;
}

absl::Status Diff(const Flags& flags) {
  if (flags.positional().size() != 2)
    return InvalidArgument("expected two module files, got ", flags.positional().size());
  std::unique_ptr<HloModule> modules[2];
  for (int i = 0; i < 2; ++i) {
    HILO_ASSIGN_OR_RETURN(Program program, LoadProgram(flags.positional()[i], flags));
    if (program.module == nullptr)
      return InvalidArgument(flags.positional()[i], " is a compiled executable; this command takes modules");
    modules[i] = std::move(program.module);
  }
  PrintOptions options;
  options.metadata = flags.Has("metadata");
  options.layouts = !flags.Has("ignore-layouts");
  options.operand_types = true;
  int64_t changed = 0;
  for (const auto& [a, b] : Pairs(*modules[0], *modules[1])) {
    const std::vector<Line> lines_a = a == nullptr ? std::vector<Line>() : LinesOf(*a, options);
    const std::vector<Line> lines_b = b == nullptr ? std::vector<Line>() : LinesOf(*b, options);
    const std::string title = a == nullptr             ? absl::StrCat("only in the second: ", b->name())
                              : b == nullptr           ? absl::StrCat("only in the first: ", a->name())
                              : a->name() == b->name() ? a->name()
                                                       : absl::StrCat(a->name(), ", ", b->name());
    changed += Print(title, Compare(lines_a, lines_b));
  }
  if (changed == 0) {
    std::printf("the modules are equal, names aside\n");
    return absl::OkStatus();
  }
  return FailedPrecondition("the modules differ in ", changed, " lines");
}

}  // namespace

Command DiffCommand() {
  return {
      .name = "diff",
      .arguments = "A B",
      .summary = "show what differs between two modules, names aside",
      .details =
          "Compares the instructions of each computation by opcode, shape, attributes and the operands' opcodes and "
          "shapes. The exit\n"
          "code is 0 if the modules are equal, 1 if not.\n"
          "\n"
          "Examples:\n"
          "  hilo diff before.hlo after.hlo\n"
          "  hilo opt step.hlo --passes=simplify > after.hlo; hilo diff step.hlo after.hlo --ignore-layouts\n",
      .flags = {{"metadata", "", "compare metadata too"}, {"ignore-layouts", "", "do not compare layouts"}},
      .run = &Diff};
}

}  // namespace hilo::tools
