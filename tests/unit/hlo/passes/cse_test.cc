#include "tests/unit/hlo/passes/pass_testing.h"

namespace hilo {
namespace {

using testing::Count;
using testing::Parse;
using testing::RunPasses;

TEST(Cse, EqualExpressionsBecomeOne) {
  auto module = Parse(R"(HloModule m
ENTRY main {
  x = f32[4] parameter(0)
  a = f32[4] exponential(x)
  b = f32[4] exponential(x)
  c = f32[4] add(a, b)
  d = f32[4] add(b, a)
  ROOT r = (f32[4], f32[4]) tuple(c, d)
}
)");
  EXPECT_TRUE(RunPasses(module.get(), {"cse"}));
  EXPECT_EQ(1, Count(*module, HloOpcode::kExp));
  EXPECT_EQ(1, Count(*module, HloOpcode::kAdd));
}

TEST(Cse, AttributesTypesAndShapesTellApart) {
  auto module = Parse(R"(HloModule m
ENTRY main {
  x = f32[4] parameter(0)
  a = f32[2] slice(x), slice={[0:2]}
  b = f32[2] slice(x), slice={[1:3]}
  c = f32[2] convert(a)
  d = f64[2] convert(a)
  e = f32[2,4] broadcast(x), dimensions={1}
  f = f32[3,4] broadcast(x), dimensions={1}
  ROOT r = (f32[2], f32[2], f64[2], f32[2,4], f32[3,4]) tuple(b, c, d, e, f)
}
)");
  EXPECT_FALSE(RunPasses(module.get(), {"cse"}));
}

TEST(Cse, ConstantsAreComparedByTheirBits) {
  auto module = Parse(R"(HloModule m
ENTRY main {
  a = f32[2] constant({0, 1})
  b = f32[2] constant({0, 1})
  c = f32[2] constant({-0, 1})
  d = s32[2] constant({0, 1})
  ROOT r = (f32[2], f32[2], f32[2], s32[2]) tuple(a, b, c, d)
}
)");
  EXPECT_TRUE(RunPasses(module.get(), {"cse"}));
  EXPECT_EQ(3, Count(*module, HloOpcode::kConstant));
}

TEST(Cse, BarriersControlAndCallsStay) {
  auto module = Parse(R"(HloModule m
f { y = f32[4] parameter(0)  ROOT n = f32[4] negate(y) }
ENTRY main {
  x = f32[4] parameter(0)
  a = f32[4] opt-barrier(x)
  b = f32[4] opt-barrier(x)
  c = f32[4] call(x), to_apply=f
  d = f32[4] call(x), to_apply=f
  e = f32[4] exponential(x)
  g = f32[4] exponential(x), control-predecessors={c}
  ROOT r = (f32[4], f32[4], f32[4], f32[4], f32[4], f32[4]) tuple(a, b, c, d, e, g)
}
)");
  EXPECT_FALSE(RunPasses(module.get(), {"cse"}));
}

}  // namespace
}  // namespace hilo
