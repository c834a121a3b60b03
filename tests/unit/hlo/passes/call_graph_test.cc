// Inlining calls, and giving loops and branches computations of their own.
#include "tests/unit/hlo/passes/pass_testing.h"

namespace hilo {
namespace {

using testing::Count;
using testing::Parse;
using testing::RootExpression;
using testing::RunPasses;

TEST(CallInliner, SmallTargetsGoWhereTheyAreCalled) {
  auto module = Parse(R"(HloModule m
f { p = f32[4] parameter(0)  q = f32[4] parameter(1)  n = f32[4] negate(q)  ROOT r = f32[4] add(p, n) }
identity { t = f32[4] parameter(0) ROOT u = f32[4] copy(t) }
ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  a = f32[4] call(x, y), to_apply=f
  b = f32[4] call(a, x), to_apply=f
  ROOT c = f32[4] call(b), to_apply=identity
}
)");
  EXPECT_TRUE(RunPasses(module.get(), {"inline-calls"}));
  EXPECT_EQ("copy(add(add(x, negate(y)), negate(x)))", RootExpression(*module));
  EXPECT_EQ(1u, module->computations().size());
}

TEST(CallInliner, CallTarget_MayReturnItsParameter) {
  auto module = Parse(
      "HloModule m\nf { ROOT p = f32[4] parameter(0) }\nENTRY main { x = f32[4] parameter(0)  ROOT a = f32[4] call(x), "
      "to_apply=f }\n");
  EXPECT_TRUE(RunPasses(module.get(), {"inline-calls"}));
  EXPECT_EQ("x", RootExpression(*module));
}

// The first call that goes is the last one, and with it the use of the one before.
TEST(CallInliner, CallTarget_MayIgnoreItsOperand) {
  auto module = Parse(
      "HloModule m\nf { p = f32[4] parameter(0)  ROOT r = f32[4] negate(p) }\n"
      "g { q = f32[4] parameter(0)  z = f32[] constant(0)  ROOT s = f32[4] broadcast(z), dimensions={} }\n"
      "ENTRY main { x = f32[4] parameter(0)  a = f32[4] call(x), to_apply=f  ROOT b = f32[4] call(a), to_apply=g }\n");
  EXPECT_TRUE(RunPasses(module.get(), {"inline-calls"}));
  EXPECT_EQ("broadcast(0)", RootExpression(*module));
  EXPECT_EQ(0, Count(*module, HloOpcode::kCall));
}

// A target of `count` instructions of one opcode.
std::string Target(int count, absl::string_view opcode) {
  std::string text = "HloModule m\nf { p0 = f32[4] parameter(0)\n";
  for (int i = 1; i < count; ++i) absl::StrAppend(&text, "  p", i, " = f32[4] ", opcode, "(p", i - 1, ")\n");
  return absl::StrCat(text, "  ROOT r = f32[4] ", opcode, "(p", count - 1, ") }\n");
}

// A loop over arrays that a call would interrupt.
TEST(CallInliner, ElementwiseTargetsMayBeLarger) {
  constexpr absl::string_view kTwice =
      "ENTRY main { x = f32[4] parameter(0)  a = f32[4] call(x), to_apply=f  ROOT b = f32[4] call(a), to_apply=f }\n";
  EXPECT_TRUE(RunPasses(Parse(absl::StrCat(Target(100, "negate"), kTwice)).get(), {"inline-calls"}));
  EXPECT_FALSE(RunPasses(Parse(absl::StrCat(Target(200, "negate"), kTwice)).get(), {"inline-calls"}));
}

TEST(CallInliner, LargeTargetsOnlyIfTheyAreCalledOnce) {
  auto once =
      Parse(Target(200, "negate") + "ENTRY main { x = f32[4] parameter(0)  ROOT a = f32[4] call(x), to_apply=f }\n");
  EXPECT_TRUE(RunPasses(once.get(), {"inline-calls"}));
  EXPECT_EQ(0, Count(*once, HloOpcode::kCall));
  auto twice = Parse(
      Target(200, "negate") +
      "ENTRY main { x = f32[4] parameter(0)  a = f32[4] call(x), to_apply=f  ROOT b = f32[4] call(a), to_apply=f }\n");
  EXPECT_FALSE(RunPasses(twice.get(), {"inline-calls"}));
}

TEST(CallInliner, CallsUnderControlDependenciesStay) {
  auto module = Parse(R"(HloModule m
f { p = f32[4] parameter(0)  ROOT n = f32[4] negate(p) }
ENTRY main {
  x = f32[4] parameter(0)
  e = f32[4] exponential(x)
  a = f32[4] call(x), to_apply=f, control-predecessors={e}
  ROOT r = f32[4] add(a, e)
}
)");
  EXPECT_FALSE(RunPasses(module.get(), {"inline-calls"}));
}

// What comes before the fusion reads the operand that the fusion returns.
TEST(FusionInliner, FusionUnderControlDependencies_MayReturnItsOperand) {
  auto module = Parse(R"(HloModule m
f { ROOT p = f32[4] parameter(0) }
ENTRY main {
  x = f32[4] parameter(0)
  a = f32[4] add(x, x)
  n = f32[4] negate(a)
  i = f32[4] fusion(a), kind=kLoop, calls=f, control-predecessors={n}
  e = f32[4] exponential(n), control-predecessors={i}
  ROOT t = (f32[4], f32[4]) tuple(i, e)
}
)");
  const absl::StatusOr<bool> changed = MakeFusionInliner()->Run(module.get(), {});
  EXPECT_TRUE(changed.ok() && *changed);
  const absl::Status valid = VerifyHloModule(*module, HloStage::kInput);
  EXPECT_TRUE(valid.ok()) << valid;
  EXPECT_EQ("tuple(opt-barrier(add(x, x)), exponential(negate(add(x, x))))", RootExpression(*module));
  const HloInstruction* const barrier = module->entry_computation()->root_instruction()->operand(0);
  EXPECT_EQ(1u, barrier->control_predecessors().size());
  EXPECT_EQ(1u, barrier->control_successors().size());
}

TEST(CallInliner, ControlDependenciesInsideATargetAreKept) {
  auto module = Parse(R"(HloModule m
f { p = f32[4] parameter(0)  e = f32[4] exponential(p)  n = f32[4] negate(p), control-predecessors={e}  ROOT s = f32[4] add(n, e) }
ENTRY main { x = f32[4] parameter(0)  ROOT a = f32[4] call(x), to_apply=f }
)");
  EXPECT_TRUE(RunPasses(module.get(), {"inline-calls"}));
  const HloInstruction* negate = module->entry_computation()->root_instruction()->operand(0);
  ASSERT_EQ(1u, negate->control_predecessors().size());
  EXPECT_EQ(HloOpcode::kExp, negate->control_predecessors()[0]->opcode());
}

// A chain of 20,000 calls, each target of one use.
TEST(CallInliner, ALongChainOfCallsIsOneBody) {
  std::string text = "HloModule m\nf0 { p0 = f32[] parameter(0)  ROOT r0 = f32[] negate(p0) }\n";
  constexpr int kDepth = 20'000;
  for (int k = 1; k < kDepth - 1; ++k) {
    absl::StrAppend(&text, "f", k, " { p", k, " = f32[] parameter(0)  a", k, " = f32[] call(p", k, "), to_apply=f",
                    k - 1, "  ROOT r", k, " = f32[] negate(a", k, ") }\n");
  }
  auto module = Parse(absl::StrCat(text, "ENTRY main { x = f32[] parameter(0)  ROOT r = f32[] call(x), to_apply=f",
                                   kDepth - 2, " }\n"));
  ASSERT_NE(module, nullptr);
  EXPECT_TRUE(RunPasses(module.get(), {"inline-calls"}));
  EXPECT_EQ(0, Count(*module, HloOpcode::kCall));
  EXPECT_EQ(kDepth, module->instruction_count());
}

TEST(CallInliner, DoublingLevels_StaySmall) {
  std::string text = "HloModule m\nf0 { p0 = f32[4] parameter(0)  ROOT r0 = f32[4] negate(p0) }\n";
  for (int k = 1; k <= 30; ++k) {
    absl::StrAppend(&text, "f", k, " { p", k, " = f32[4] parameter(0)  a", k, " = f32[4] call(p", k, "), to_apply=f",
                    k - 1, "  ROOT r", k, " = f32[4] call(a", k, "), to_apply=f", k - 1, " }\n");
  }
  auto module = Parse(text + "ENTRY main { x = f32[4] parameter(0)  ROOT r = f32[4] call(x), to_apply=f30 }\n");
  RunPasses(module.get(), {"inline-calls", "inline-calls", "inline-calls"});
  EXPECT_LT(module->instruction_count(), 1000);
}

constexpr absl::string_view kShared = R"(HloModule m
inner_more { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0  z = s32[] constant(0)  ROOT c = pred[] compare(i, z), direction=GT }
inner { t = (s32[], f32[4]) parameter(0)  j = s32[] get-tuple-element(t), index=0  a = f32[4] get-tuple-element(t), index=1  b = f32[4] negate(a)  o = s32[] constant(1)  k = s32[] shift-right-logical(j, o)  ROOT r = (s32[], f32[4]) tuple(k, b) }
g { q = (s32[], f32[4]) parameter(0)  ROOT w = (s32[], f32[4]) while(q), condition=inner_more, body=inner }
ENTRY main {
  p = pred[] parameter(0)
  x = (s32[], f32[4]) parameter(1)
  c1 = (s32[], f32[4]) conditional(p, x, x), true_computation=g, false_computation=g
  c2 = (s32[], f32[4]) call(c1), to_apply=g
  ROOT w2 = (s32[], f32[4]) while(c2), condition=inner_more, body=inner
}
)";

TEST(FlattenCallGraph, EveryLoopAndBranchOwnsItsComputations) {
  auto module = Parse(kShared);
  const auto before = testing::EvaluateOnEdgeCases(*module, 2);
  EXPECT_TRUE(RunPasses(module.get(), {"flatten"}));
  absl::flat_hash_map<const HloComputation*, int> owners;
  for (const HloComputation* computation : module->computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      for (const HloComputation* called : instruction->called_computations()) ++owners[called];
    }
  }
  for (const auto& [computation, count] : owners) EXPECT_EQ(1, count) << computation->name();
  EXPECT_TRUE(*before == *testing::EvaluateOnEdgeCases(*module, 2));
  EXPECT_FALSE(RunPasses(module.get(), {"flatten"}));
}

TEST(FlattenCallGraph, RefusesUnboundedGrowth) {
  std::string text =
      "HloModule m\nmore { s = f32[4] parameter(0)  ROOT c = pred[] constant(false) }\nb0 { t0 = f32[4] parameter(0)  "
      "ROOT n0 = f32[4] negate(t0) }\n";
  for (int k = 1; k <= 40; ++k) {
    absl::StrAppend(&text, "b", k, " { t", k, " = f32[4] parameter(0)  u", k, " = f32[4] while(t", k,
                    "), condition=more, body=b", k - 1, "  ROOT w", k, " = f32[4] while(u", k,
                    "), condition=more, body=b", k - 1, " }\n");
  }
  auto module =
      Parse(text + "ENTRY main { x = f32[4] parameter(0)  ROOT w = f32[4] while(x), condition=more, body=b40 }\n");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(absl::StatusCode::kResourceExhausted, testing::PassNamed("flatten")->Run(module.get(), {}).status().code());
}

}  // namespace
}  // namespace hilo
