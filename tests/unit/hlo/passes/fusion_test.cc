#include "tests/unit/hlo/passes/pass_testing.h"

namespace hilo {
namespace {

using testing::Count;
using testing::Parse;
using testing::RootExpression;
using testing::RunPasses;

// What of a fused program must hold: the numbers, and that no fusion holds control flow.
std::unique_ptr<HloModule> Fuse(absl::string_view text) {
  auto module = Parse(text);
  const auto before = testing::EvaluateAwkwardly(*module, 3);
  RunPasses(module.get(), {"fuse", "dce"});
  const auto after = testing::EvaluateAwkwardly(*module, 3);
  EXPECT_TRUE(before.ok() && after.ok() && *before == *after);
  return module;
}

TEST(Fusion, AChainIsOneKernel) {
  auto module = Fuse(R"(HloModule m
ENTRY main {
  x = f32[1000] parameter(0)
  y = f32[1000] parameter(1)
  e = f32[1000] exponential(x)
  m = f32[1000] multiply(e, y)
  n = f32[1000] negate(m)
  ROOT r = f32[1000] add(n, e)
}
)");
  EXPECT_EQ("fusion(x, y)", RootExpression(*module));
}

TEST(Fusion, ResultsThatOthersReadStay) {
  auto module = Fuse(R"(HloModule m
ENTRY main {
  x = f32[1000] parameter(0)
  e = f32[1000] exponential(x)
  a = f32[1000] negate(e)
  ROOT r = (f32[1000], f32[1000]) tuple(e, a)
}
)");
  EXPECT_EQ(0, Count(*module, HloOpcode::kFusion));
}

TEST(Fusion, ExpensiveProducersAreNotComputedTwice) {
  auto module = Fuse(R"(HloModule m
sum { a0 = f32[] parameter(0)  b0 = f32[] parameter(1)  ROOT c0 = f32[] add(a0, b0) }
ENTRY main {
  x = f32[1000] parameter(0)
  z = f32[] constant(0)
  e = f32[1000] exponential(x)
  a = f32[1000] negate(e)
  s = f32[] reduce(e, z), dimensions={0}, to_apply=sum
  ROOT r = (f32[1000], f32[]) tuple(a, s)
}
)");
  EXPECT_EQ(1, Count(*module, HloOpcode::kExp));
}

TEST(Fusion, ControlDependenciesStayOutside) {
  auto module = Fuse(R"(HloModule m
ENTRY main {
  x = f32[1000] parameter(0)
  y = f32[1000] parameter(1)
  e = f32[1000] exponential(x)
  m = f32[1000] multiply(y, y), control-predecessors={e}
  ROOT r = f32[1000] add(m, e)
}
)");
  for (const HloComputation* computation : module->computations()) {
    if (!computation->IsFusion()) continue;
    for (const HloInstruction* instruction : computation->instructions()) EXPECT_TRUE(instruction->control_predecessors().empty());
  }
  const HloInstruction* multiply = nullptr;
  for (const HloInstruction* instruction : module->entry_computation()->instructions()) {
    if (instruction->opcode() == HloOpcode::kMultiply) multiply = instruction;
  }
  ASSERT_NE(multiply, nullptr);
  EXPECT_EQ(1u, multiply->control_predecessors().size());
}

TEST(Fusion, EmbeddedComputationsAreLeftAlone) {
  auto module = Fuse(R"(HloModule m
f { a = f32[] parameter(0)  b = f32[] parameter(1)  c = f32[] multiply(b, b)  ROOT d = f32[] add(a, c) }
ENTRY main { x = f32[1000] parameter(0)  z = f32[] constant(0)  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=f }
)");
  EXPECT_EQ(3, module->GetComputation("f")->instruction_count() - 1);
}

}  // namespace
}  // namespace hilo
