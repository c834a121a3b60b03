// Random loops, branches and calls: what a program computes in its assigned memory is what it computes at all, with and
// without passes.
#include "tests/unit/hlo/memory/random_program.h"

#include "gtest/gtest.h"
#include "hlo/evaluator/hlo_evaluator.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"
#include "tests/unit/hlo/memory/memory_testing.h"

namespace hilo {
namespace {

using testing::RandomProgram;
using testing::RunAssigned;
using testing::TakeToAliased;

std::vector<Literal> Arguments(int64_t array) {
  std::vector<int32_t> elements;
  for (int32_t i = 0; i < 2 * array; ++i) elements.push_back(i * 7 % 11 - 3);
  std::vector<Literal> arguments;
  arguments.push_back(LiteralUtil::CreateR0<int32_t>(2));
  arguments.push_back(LiteralUtil::CreateR1<int32_t>(absl::MakeConstSpan(elements).subspan(0, array)));
  arguments.push_back(LiteralUtil::CreateR1<int32_t>(absl::MakeConstSpan(elements).subspan(array)));
  arguments.push_back(LiteralUtil::CreateFromArray<int32_t>(elements, {2, array}));
  return arguments;
}

// One program, taken through `passes`; what differs from plain evaluation is the failure.
void Check(uint32_t seed, int64_t array, const std::vector<std::string>& passes) {
  const std::string text = RandomProgram(seed, array).Text();
  SCOPED_TRACE(absl::StrCat("seed ", seed, ", array ", array, "\n", text));
  auto module = ParseHloModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  const std::vector<Literal> arguments = Arguments(array);
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  HloEvaluator evaluator;
  auto expected = evaluator.Evaluate(**module, pointers);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const absl::Status aliased = TakeToAliased(module->get(), passes);
  ASSERT_TRUE(aliased.ok()) << aliased;
  auto actual = RunAssigned(**module, pointers);
  ASSERT_TRUE(actual.ok()) << actual.status();
  EXPECT_TRUE(*expected == *actual) << "expected " << expected->ToString() << "\ngot " << actual->ToString()
                                    << "\nafter passes " << PrintHloModule(**module);
}

class RandomPrograms : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(RandomPrograms, ComputeTheSameInAssignedMemory) {
  for (uint32_t seed = 0; seed < 1500 && !HasFailure(); ++seed) Check(seed, 3, GetParam());
}

// Arrays that are worth ordering for, and long enough to be fused.
TEST_P(RandomPrograms, ComputeTheSameWithLargeArrays) {
  for (uint32_t seed = 5000; seed < 5100 && !HasFailure(); ++seed) Check(seed, 300, GetParam());
}

using Passes = std::vector<std::string>;

Passes Fused() { return {"inline-calls", "dce", "flatten", "fuse", "dce"}; }
Passes Simplified() {
  return {"inline-calls", "fold-constants", "simplify", "dce", "cse", "simplify", "dce", "flatten", "fuse", "dce"};
}

INSTANTIATE_TEST_SUITE_P(AsItIs, RandomPrograms, ::testing::Values(Passes()));
INSTANTIATE_TEST_SUITE_P(Fused, RandomPrograms, ::testing::Values(Fused()));
INSTANTIATE_TEST_SUITE_P(Simplified, RandomPrograms, ::testing::Values(Simplified()));

}  // namespace
}  // namespace hilo
