#include "tests/unit/hlo/passes/pass_testing.h"

namespace hilo {
namespace {

using testing::Count;
using testing::Expression;
using testing::Parse;
using testing::RunPasses;

constexpr absl::string_view kMore =
    "more { s = (s32[], f32[4], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0  z = s32[] constant(0)  "
    "ROOT c = pred[] "
    "compare(i, z), direction=GT }\n";
constexpr absl::string_view kBody = R"(body {
  t = (s32[], f32[4], f32[4]) parameter(0)
  j = s32[] get-tuple-element(t), index=0
  a = f32[4] get-tuple-element(t), index=1
  b = f32[4] get-tuple-element(t), index=2
  one = s32[] constant(1)
  k = s32[] subtract(j, one)
  a2 = f32[4] exponential(a)
  b2 = f32[4] add(b, b)
  ROOT next = (s32[], f32[4], f32[4]) tuple(k, a2, b2)
}
)";

TEST(Dce, RemovesWhatNothingNeeds) {
  auto module = Parse(R"(HloModule m
unused { u = f32[4] parameter(0)  ROOT n = f32[4] negate(u) }
ENTRY main {
  x = f32[4] parameter(0)
  a = f32[4] exponential(x)
  b = f32[4] add(a, a)
  ROOT r = f32[4] negate(x)
}
)");
  EXPECT_TRUE(RunPasses(module.get(), {"dce"}));
  EXPECT_EQ(2, module->entry_computation()->instruction_count());
  EXPECT_EQ(nullptr, module->GetComputation("unused"));
  EXPECT_FALSE(RunPasses(module.get(), {"dce"}));
}

TEST(Dce, ParametersOfTheEntryStay) {
  auto module = Parse("HloModule m\nENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] parameter(1) }\n");
  EXPECT_FALSE(RunPasses(module.get(), {"dce"}));
  EXPECT_EQ(2, module->entry_computation()->num_parameters());
}

TEST(Dce, UnreadStatePassesThrough) {
  auto module = Parse(absl::StrCat("HloModule m\n", kMore, kBody, R"(ENTRY main {
  init = (s32[], f32[4], f32[4]) parameter(0)
  w = (s32[], f32[4], f32[4]) while(init), condition=more, body=body
  ROOT r = f32[4] get-tuple-element(w), index=2
}
)"));
  EXPECT_TRUE(RunPasses(module.get(), {"dce"}));
  EXPECT_EQ(0, Count(*module, HloOpcode::kExp));
  EXPECT_EQ(1, Count(*module, HloOpcode::kAdd));
  EXPECT_EQ("get-tuple-element#1(t)", Expression(*module->GetComputation("body")->root_instruction()->operand(1)));
}

// The other loop reads what the first one does not.
TEST(Dce, StateOfASharedBodyStays) {
  auto module = Parse(absl::StrCat("HloModule m\n", kMore, kBody, R"(ENTRY main {
  init = (s32[], f32[4], f32[4]) parameter(0)
  w = (s32[], f32[4], f32[4]) while(init), condition=more, body=body
  w2 = (s32[], f32[4], f32[4]) while(init), condition=more, body=body
  x = f32[4] get-tuple-element(w), index=2
  y = f32[4] get-tuple-element(w2), index=1
  ROOT r = f32[4] add(x, y)
}
)"));
  EXPECT_FALSE(RunPasses(module.get(), {"dce"}));
  EXPECT_EQ(1, Count(*module, HloOpcode::kExp));
}

TEST(Dce, StateThatAnotherElementNeedsStays) {
  std::string body(kBody);
  body.replace(body.find("add(b, b)"), 9, "add(b, a)");
  auto module = Parse(absl::StrCat("HloModule m\n", kMore, body, R"(ENTRY main {
  init = (s32[], f32[4], f32[4]) parameter(0)
  w = (s32[], f32[4], f32[4]) while(init), condition=more, body=body
  ROOT r = f32[4] get-tuple-element(w), index=2
}
)"));
  EXPECT_FALSE(RunPasses(module.get(), {"dce"}));
  EXPECT_EQ(1, Count(*module, HloOpcode::kExp));
}

TEST(Dce, ParametersThatATargetDoesNotReadGo) {
  auto module = Parse(R"(HloModule m
f { p = f32[4] parameter(0)  q = f32[2] parameter(1)  s = f32[4] parameter(2)  ROOT n = f32[4] add(p, s) }
ENTRY main {
  x = f32[4] parameter(0)
  y = f32[2] parameter(1)
  z = f32[2] exponential(y)
  a = f32[4] call(x, z, x), to_apply=f
  ROOT b = f32[4] call(a, y, x), to_apply=f
}
)");
  const auto before = testing::EvaluateOnEdgeCases(*module, 1);
  EXPECT_TRUE(RunPasses(module.get(), {"dce", "dce"}));
  EXPECT_EQ(2, module->GetComputation("f")->num_parameters());
  EXPECT_EQ("call(call(x, x), x)", testing::RootExpression(*module));
  EXPECT_EQ(0, Count(*module, HloOpcode::kExp));
  EXPECT_TRUE(CompareLiterals(*before, *testing::EvaluateOnEdgeCases(*module, 1), {}).ok());
}

TEST(Dce, CallsWithEffects_AreKept) {
  constexpr absl::string_view kText = R"(HloModule m
f { p = f32[] parameter(0)  q = f32[] constant(1)  n = f32[4] rng(p, q), distribution=rng_uniform  ROOT r = f32[] add(p, p) }
g { p1 = f32[] parameter(0)  ROOT r1 = f32[] call(p1), to_apply=f }
ENTRY main {
  x = f32[] parameter(0)
  a = f32[] call(x), to_apply=g
  ROOT n1 = f32[] negate(x)
}
)";
  auto module = ParseHloModule(kText, {.verify = false});  // rng is known by name only
  ASSERT_TRUE(module.ok()) << module.status();
  ASSERT_TRUE(testing::PassNamed("dce")->Run(module->get(), {}).ok());
  EXPECT_EQ(2, Count(**module, HloOpcode::kCall));
  EXPECT_EQ(1, Count(**module, HloOpcode::kRng));
}

}  // namespace
}  // namespace hilo
