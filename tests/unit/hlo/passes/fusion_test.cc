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
  const auto before = testing::EvaluateOnEdgeCases(*module, 3);
  RunPasses(module.get(), {"fuse", "dce"});
  const auto after = testing::EvaluateOnEdgeCases(*module, 3);
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

int64_t KernelsOf(const HloModule& module) {
  int64_t kernels = 0;
  for (const HloInstruction* instruction : module.entry_computation()->instructions()) {
    kernels += instruction->opcode() == HloOpcode::kFusion || IsElementwise(instruction->opcode());
  }
  return kernels;
}

TEST(Fusion, SharedResult_ComesFromTheSameLoop) {
  auto module = Fuse(R"(HloModule m
ENTRY main {
  x = f32[1000] parameter(0)
  e = f32[1000] exponential(x)
  a = f32[1000] negate(e)
  ROOT r = (f32[1000], f32[1000]) tuple(e, a)
}
)");
  EXPECT_EQ(1, KernelsOf(*module));
  EXPECT_EQ(1, Count(*module, HloOpcode::kExp));
}

TEST(Fusion, LoopsThatReadTheSameAreOneWithWhatOnlyTheyRead) {
  auto module = Fuse(R"(HloModule m
ENTRY main {
  x = f32[10,100] parameter(0)
  y = f32[10,100] parameter(1)
  e = f32[10,100] exponential(x)
  a = f32[10,100] add(e, y)
  b = f32[10,100] multiply(y, e)
  c = s32[10,100] convert(y)
  ROOT r = (f32[10,100], f32[10,100], s32[10,100]) tuple(a, b, c)
}
)");
  EXPECT_EQ(1, KernelsOf(*module));
  EXPECT_EQ(1, Count(*module, HloOpcode::kExp));
}

TEST(Fusion, DependentInstructions_StaySeparate) {
  auto module = Fuse(R"(HloModule m
sum { a0 = f32[] parameter(0)  b0 = f32[] parameter(1)  ROOT c0 = f32[] add(a0, b0) }
ENTRY main {
  x = f32[1000] parameter(0)
  z = f32[] constant(0)
  a = f32[1000] exponential(x)
  s = f32[] reduce(a, z), dimensions={0}, to_apply=sum
  sb = f32[1000] broadcast(s), dimensions={}
  b = f32[1000] divide(x, sb)
  ROOT r = (f32[1000], f32[1000]) tuple(a, b)
}
)");
  EXPECT_EQ(2, KernelsOf(*module));
  // Read elsewhere than where it is written.
  module = Fuse(R"(HloModule m
ENTRY main {
  x = f32[1000] parameter(0)
  a = f32[1000] exponential(x)
  v = f32[1000] reverse(a), dimensions={0}
  b = f32[1000] add(x, v)
  ROOT r = (f32[1000], f32[1000]) tuple(a, b)
}
)");
  EXPECT_EQ(2, KernelsOf(*module));
  // Either pair may be one loop, but not both.
  module = Fuse(R"(HloModule m
sum { a0 = f32[] parameter(0)  b0 = f32[] parameter(1)  ROOT c0 = f32[] add(a0, b0) }
ENTRY main {
  x = f32[1000] parameter(0)
  y = f32[1000] parameter(1)
  z = f32[] constant(0)
  a = f32[1000] exponential(x)
  b = f32[1000] exponential(y)
  s = f32[] reduce(a, z), dimensions={0}, to_apply=sum
  t = f32[] reduce(b, z), dimensions={0}, to_apply=sum
  sb = f32[1000] broadcast(s), dimensions={}
  tb = f32[1000] broadcast(t), dimensions={}
  c = f32[1000] add(y, sb)
  d = f32[1000] add(x, tb)
  ROOT r = (f32[1000], f32[1000], f32[1000], f32[1000]) tuple(a, b, c, d)
}
)");
  EXPECT_EQ(3, KernelsOf(*module));
}

TEST(Fusion, InPlaceUpdateAndReduction_AreSeparateLoops) {
  auto module = Fuse(R"(HloModule m
ENTRY main {
  x = f32[1000] parameter(0)
  u = f32[10] parameter(1)
  i = s32[] parameter(2)
  n = f32[1000] negate(x)
  d = f32[1000] dynamic-update-slice(x, u, i)
  ROOT r = (f32[1000], f32[1000]) tuple(n, d)
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

TEST(Fusion, OfSmallProducersOnlyIotasAreComputedAgain) {
  auto module = Fuse(R"(HloModule m
ENTRY main {
  x = s32[100,10] parameter(0)
  i = s32[10] iota(), iota_dimension=0
  b = s32[100,10] broadcast(i), dimensions={1}
  ROOT r = s32[100,10] add(x, b)
}
)");
  EXPECT_EQ("fusion(x)", RootExpression(*module));
  module = Fuse(R"(HloModule m
ENTRY main {
  x = s32[100,10] parameter(0)
  y = s32[10] parameter(1)
  n = s32[10] negate(y)
  b = s32[100,10] broadcast(n), dimensions={1}
  ROOT r = s32[100,10] add(x, b)
}
)");
  EXPECT_EQ("fusion(negate(y), x)", RootExpression(*module));
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
    for (const HloInstruction* instruction : computation->instructions())
      EXPECT_TRUE(instruction->control_predecessors().empty());
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
