// Every rule of the simplifier: where it applies, where it must not, and that it changes no bit of the result (if it
// says so).
#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "hlo/passes/simplify/rules.h"
#include "tests/unit/hlo/passes/pass_testing.h"
#include "tests/unit/hlo/passes/simplify_arithmetic_cases.h"
#include "tests/unit/hlo/passes/simplify_cases.h"
#include "tests/unit/hlo/passes/simplify_reduction_cases.h"

namespace hilo {
namespace {

using testing::EvaluateOnEdgeCases;
using testing::Parse;
using testing::RootExpression;
using testing::SimplifierCase;

std::vector<SimplifierCase> AllCases() {
  std::vector<SimplifierCase> all;
  for (const auto& cases : {testing::ArithmeticCases(), testing::MovementCases(), testing::StructureCases(),
                            testing::ReductionCases(), testing::WindowCases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

std::string Text(const SimplifierCase& example) {
  return absl::StrCat("HloModule m\n", testing::kSimplifierComputations, "ENTRY main {\n  ", example.body, "\n}\n");
}

TEST(Simplify, EachRule_DoesWhatItsTextStates) {
  for (const SimplifierCase& example : AllCases()) {
    SCOPED_TRACE(absl::StrCat(example.rule, "\n", example.body));
    auto module = Parse(Text(example));
    ASSERT_NE(module, nullptr);
    const auto before = module->Clone();
    const std::string expression = RootExpression(*module);
    bool changed = false;
    for (int runs = 0; runs < 4; ++runs) {
      auto here = MakeSimplifier(/*strict=*/false)->Run(module.get(), {});
      ASSERT_TRUE(here.ok()) << here.status();
      changed |= *here;
      if (!*here) break;
      EXPECT_LT(runs, 3) << "the rules undo each other";
    }
    ASSERT_TRUE(VerifyHloModule(*module, HloStage::kInput).ok());
    EXPECT_EQ(example.expected, RootExpression(*module));
    EXPECT_EQ(!example.rule.empty(), expression != RootExpression(*module) || changed);
    const bool exact = absl::c_none_of(simplify::AllRules(), [&](const auto& entry) {
      return entry.rule->text == example.rule && !entry.rule->exact;
    });
    // inf * (1 + 0i) and inf * false have a NaN, inf and 0 have none.
    if (absl::StrContains(example.rule, "1 + 0i") || absl::StrContains(example.rule, "convert(p)")) continue;
    for (int64_t salt = 0; salt < 6; ++salt) {
      auto expected = EvaluateOnEdgeCases(*before, salt);
      auto actual = EvaluateOnEdgeCases(*module, salt);
      ASSERT_TRUE(expected.ok() && actual.ok()) << expected.status() << actual.status();
      if (!expected->shape().IsArray()) {
        EXPECT_TRUE(*expected == *actual);
        continue;
      }
      const absl::Status same =
          CompareLiterals(*expected, *actual, {.absolute = exact ? 0 : 1e-30, .ulps = exact ? 0 : 4});
      EXPECT_TRUE(same.ok()) << same;
    }
  }
}

TEST(Simplify, EveryRuleHasACase) {
  absl::flat_hash_set<absl::string_view> covered;
  const std::vector<SimplifierCase> cases = AllCases();
  for (const SimplifierCase& example : cases) covered.insert(example.rule);
  for (const simplify::RuleEntry& entry : simplify::AllRules()) {
    EXPECT_TRUE(covered.contains(entry.rule->text)) << entry.rule->text;
    covered.erase(entry.rule->text);
  }
  for (absl::string_view left : covered) EXPECT_TRUE(left.empty()) << "no rule says " << left;
}

TEST(Simplify, StrictModeKeepsWhatIsNotExact) {
  absl::flat_hash_set<absl::string_view> inexact;
  for (const simplify::RuleEntry& entry : simplify::AllRules()) {
    if (!entry.rule->exact) inexact.insert(entry.rule->text);
  }
  EXPECT_EQ(18u, inexact.size());
  for (const SimplifierCase& example : AllCases()) {
    if (!inexact.contains(example.rule)) continue;
    auto module = Parse(Text(example));
    const std::string before = RootExpression(*module);
    ASSERT_TRUE(MakeSimplifier(/*strict=*/true)->Run(module.get(), {}).ok());
    EXPECT_EQ(before, RootExpression(*module));
  }
}

TEST(Simplify, ControlDependenciesAndDynamicSizesAreLeftAlone) {
  for (absl::string_view body : {"x = s32[8] parameter(0)  y = s32[8] negate(x)  c = s32[8] copy(x), "
                                 "control-predecessors={y}  ROOT r = s32[8] add(c, y)",
                                 "x = s32[<=8] parameter(0)  c = s32[<=8] copy(x)  ROOT r = s32[<=8] negate(c)"}) {
    auto module = Parse(absl::StrCat("HloModule m\nENTRY main { ", body, " }\n"));
    const std::string before = RootExpression(*module);
    ASSERT_TRUE(MakeSimplifier(/*strict=*/false)->Run(module.get(), {}).ok());
    EXPECT_EQ(before, RootExpression(*module));
  }
}

// The copy gives the array another layout, which the bitcast sees.
TEST(Simplify, Bitcasts_KeepTheLayoutOfTheirOperand) {
  auto module = Parse(
      "HloModule m\nENTRY main { x = f32[2,3]{1,0} parameter(0)  c = f32[2,3]{0,1} copy(x)  ROOT r = f32[6]{0} "
      "bitcast(c) }\n");
  ASSERT_TRUE(MakeSimplifier(/*strict=*/false)->Run(module.get(), {}).ok());
  EXPECT_EQ("bitcast(copy(x))", RootExpression(*module));
}

TEST(Simplify, ConstantsOfTheStateReachLoops) {
  auto module = Parse(R"(HloModule m
more { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] get-tuple-element(s), index=1  ROOT c = pred[] compare(i, n), direction=LT }
body { t = (s32[], s32[]) parameter(0)  j = s32[] get-tuple-element(t), index=0  m = s32[] get-tuple-element(t), index=1  k = s32[] add(j, m)  ROOT r = (s32[], s32[]) tuple(k, m) }
ENTRY main { x = s32[] parameter(0)  ten = s32[] constant(10)  init = (s32[], s32[]) tuple(x, ten)  ROOT w = (s32[], s32[]) while(init), condition=more, body=body }
)");
  ASSERT_TRUE(MakeSimplifier(/*strict=*/true)->Run(module.get(), {}).ok());
  EXPECT_EQ("compare(get-tuple-element#0(s), 10)",
            testing::Expression(*module->GetComputation("more")->root_instruction()));
  EXPECT_EQ("tuple(add(get-tuple-element#0(t), 10), get-tuple-element#1(t))",
            testing::Expression(*module->GetComputation("body")->root_instruction()));
}

TEST(Simplify, ConstantsOfOneLoopStayOutOfAnother) {
  auto module = Parse(R"(HloModule m
more { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] get-tuple-element(s), index=1  ROOT c = pred[] compare(i, n), direction=LT }
body { t = (s32[], s32[]) parameter(0)  j = s32[] get-tuple-element(t), index=0  m = s32[] get-tuple-element(t), index=1  k = s32[] add(j, m)  ROOT r = (s32[], s32[]) tuple(k, m) }
ENTRY main {
  x = s32[] parameter(0)
  ten = s32[] constant(10)
  five = s32[] constant(5)
  init = (s32[], s32[]) tuple(x, ten)
  w = (s32[], s32[]) while(init), condition=more, body=body
  init2 = (s32[], s32[]) tuple(x, five)
  w2 = (s32[], s32[]) while(init2), condition=more, body=body
  ROOT r2 = ((s32[], s32[]), (s32[], s32[])) tuple(w, w2)
}
)");
  auto changed = MakeSimplifier(/*strict=*/true)->Run(module.get(), {});
  ASSERT_TRUE(changed.ok());
  EXPECT_FALSE(*changed);
}

}  // namespace
}  // namespace hilo
