// The programs of tests/programs/aliasing: each with what it computes, and with the number of array copies that its
// sharing of memory takes.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "hlo/evaluator/hlo_evaluator.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"
#include "tests/unit/hlo/memory/memory_testing.h"

namespace hilo {
namespace {

using testing::RunAssigned;
using testing::TakeToAliased;

struct ExpectedRun {
  std::vector<Literal> arguments;
  Literal expected;
};

struct Program {
  std::string text;
  std::vector<ExpectedRun> runs;
  int64_t copies = -1;
};

// "s32[]1, (s32[2]{1,2})" at its outermost commas.
std::vector<std::string> SplitList(absl::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (char c : text) {
    depth += (c == '(' || c == '{' || c == '[') - (c == ')' || c == '}' || c == ']');
    if (c == ',' && depth == 0) {
      parts.push_back(std::move(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

Literal ParseValue(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (absl::ConsumePrefix(&text, "(")) {
    text.remove_suffix(1);
    std::vector<Literal> elements;
    for (const std::string& part : SplitList(text)) elements.push_back(ParseValue(part));
    return Literal::MakeTuple(std::move(elements));
  }
  // Shape and elements: what follows the dimensions is no layout.
  const size_t end = text.find(']') + 1;
  absl::StatusOr<Shape> shape = ParseShape(text.substr(0, end));
  EXPECT_TRUE(shape.ok()) << shape.status() << " in " << text;
  if (!shape.ok()) return Literal();
  absl::StatusOr<Literal> literal = ParseLiteral(text.substr(end), *shape);
  EXPECT_TRUE(literal.ok()) << literal.status() << " in " << text;
  return literal.ok() ? *std::move(literal) : Literal();
}

Program ParseProgram(absl::string_view text) {
  Program program{.text = std::string(text), .runs = {}};
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "// copies: ")) {
      EXPECT_TRUE(absl::SimpleAtoi(line, &program.copies)) << line;
    } else if (absl::ConsumePrefix(&line, "// run: ")) {
      const std::vector<absl::string_view> sides = absl::StrSplit(line, " == ");
      Literal arguments = ParseValue(sides[0]);
      program.runs.push_back({std::move(arguments).DecomposeTuple(), ParseValue(sides[1])});
    }
  }
  return program;
}

std::vector<Program> ReadPrograms() {
  std::vector<Program> programs;
  for (const auto& entry : std::filesystem::directory_iterator("tests/programs/aliasing")) {
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    for (absl::string_view part : absl::StrSplit(text.str(), "// ----\n")) {
      programs.push_back(ParseProgram(part));
    }
  }
  return programs;
}

std::vector<const Literal*> Pointers(const std::vector<Literal>& literals) {
  std::vector<const Literal*> pointers;
  for (const Literal& literal : literals) pointers.push_back(&literal);
  return pointers;
}

// Copies of arrays, and updates of a part that are not in place and so copy the rest.
int64_t CountArrayCopies(const HloModule& module) {
  auto assignment = BufferAssignment::Create(module, {});
  EXPECT_TRUE(assignment.ok()) << assignment.status();
  int64_t count = 0;
  for (const auto& [computation, order] : module.schedule()) {
    for (const HloInstruction* instruction : order) {
      if (instruction->shape().IsScalar()) continue;
      count += instruction->opcode() == HloOpcode::kCopy;
      const bool updates =
          instruction->opcode() == HloOpcode::kDynamicUpdateSlice || instruction->opcode() == HloOpcode::kScatter;
      count += updates && !assignment->slice(instruction).SameMemory(assignment->slice(instruction->operand(0)));
    }
  }
  return count;
}

void CheckRuns(const Program& program, const HloModule& module) {
  for (const ExpectedRun& run : program.runs) {
    auto actual = RunAssigned(module, Pointers(run.arguments));
    ASSERT_TRUE(actual.ok()) << actual.status();
    EXPECT_TRUE(run.expected == *actual) << "expected " << run.expected.ToString() << "\ngot " << actual->ToString()
                                         << "\n"
                                         << PrintHloModule(module);
  }
}

TEST(Aliasing, ProgramsComputeWhatTheySay) {
  const std::vector<Program> programs = ReadPrograms();
  ASSERT_GE(programs.size(), 60u);
  for (const Program& program : programs) {
    SCOPED_TRACE(program.text);
    auto module = ParseHloModule(program.text);
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_FALSE(program.runs.empty());
    for (const ExpectedRun& run : program.runs) {
      HloEvaluator evaluator;
      auto actual = evaluator.Evaluate(**module, Pointers(run.arguments));
      ASSERT_TRUE(actual.ok()) << actual.status();
      EXPECT_TRUE(run.expected == *actual) << "expected " << run.expected.ToString() << "\ngot " << actual->ToString();
    }
  }
}

TEST(Aliasing, SharedMemoryTakesNoNeedlessCopies) {
  for (const Program& program : ReadPrograms()) {
    SCOPED_TRACE(program.text);
    auto module = ParseHloModule(program.text);
    ASSERT_TRUE(module.ok()) << module.status();
    ASSERT_TRUE(TakeToAliased(module->get(), {}).ok());
    EXPECT_EQ(program.copies, CountArrayCopies(**module)) << PrintHloModule(**module);
    CheckRuns(program, **module);
  }
}

TEST(Aliasing, SharedMemoryHoldsAfterPasses) {
  for (const Program& program : ReadPrograms()) {
    SCOPED_TRACE(program.text);
    auto module = ParseHloModule(program.text);
    ASSERT_TRUE(module.ok()) << module.status();
    const absl::Status aliased = TakeToAliased(
        module->get(), {"inline-calls", "fold-constants", "simplify", "dce", "cse", "dce", "flatten", "fuse", "dce"});
    ASSERT_TRUE(aliased.ok()) << aliased;
    CheckRuns(program, **module);
  }
}

}  // namespace
}  // namespace hilo
