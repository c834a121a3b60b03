// No op reads a tuple where an array, a scalar or a token belongs: in every module of tests/ops, each operand of each
// instruction is put into a tuple of one element, and inference must refuse the instruction and name that tuple.
#include <filesystem>

#include "absl/strings/match.h"
#include "base/file.h"
#include "gtest/gtest.h"
#include "hlo/ops/semantics.h"
#include "hlo/text/hlo_parser.h"

namespace hilo {
namespace {

// Ops that take operands of any shape.
bool TakesTuples(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAddDependency:
    case HloOpcode::kAllReduceDone:
    case HloOpcode::kCopy:
    case HloOpcode::kCopyStart:
    case HloOpcode::kCustomCall:
    case HloOpcode::kDomain:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kOptimizationBarrier:
    case HloOpcode::kOutfeed:
    case HloOpcode::kSend:
    case HloOpcode::kTuple: return true;
    default: return false;
  }
}

std::vector<std::unique_ptr<HloModule>> ModulesOf(const std::filesystem::path& path) {
  std::vector<std::unique_ptr<HloModule>> modules;
  const auto text = ReadFile(path.string());
  EXPECT_TRUE(text.ok()) << text.status();
  absl::string_view rest = *text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find("// ----"), rest.size());
    if (auto module = ParseHloModule(rest.substr(0, end)); module.ok()) modules.push_back(*std::move(module));
    rest.remove_prefix(std::min(rest.size(), end + 7));
  }
  return modules;
}

// What inference says of `instruction` if its operands have these shapes.
absl::StatusOr<Shape> Infer(const HloInstruction& instruction, absl::Span<const Shape* const> operands) {
  std::vector<ProgramShape> programs;
  for (const HloComputation* computation : instruction.called_computations())
    programs.push_back(computation->ComputeProgramShape());
  std::vector<const ProgramShape*> called;
  for (const ProgramShape& program : programs) called.push_back(&program);
  return InferShape({.opcode = instruction.opcode(),
                     .operands = operands,
                     .attributes = instruction.attributes(),
                     .called = called,
                     .stated = &instruction.shape()});
}

TEST(TupleOperandsTest, AreRefusedAndNamed) {
  int64_t cases = 0;
  for (const auto& file : std::filesystem::directory_iterator("tests/ops")) {
    for (const std::unique_ptr<HloModule>& module : ModulesOf(file.path())) {
      for (const HloComputation* computation : module->computations()) {
        for (const HloInstruction* instruction : computation->instructions()) {
          if (TakesTuples(instruction->opcode())) continue;
          std::vector<const Shape*> operands;
          for (const HloInstruction* operand : instruction->operands()) operands.push_back(&operand->shape());
          for (const Shape*& operand : operands) {
            const Shape* const before = operand;
            const Shape tuple(std::vector<Shape>{*before});
            operand = &tuple;
            const auto shape = Infer(*instruction, operands);
            EXPECT_TRUE(absl::IsInvalidArgument(shape.status()) &&
                        absl::StrContains(shape.status().message(), tuple.ToString()))
                << file.path() << ", " << module->name() << ": " << instruction->ToString() << " with "
                << tuple.ToString() << ": " << shape.status();
            operand = before;
            ++cases;
          }
        }
      }
    }
  }
  EXPECT_GT(cases, 3000);
}

}  // namespace
}  // namespace hilo
