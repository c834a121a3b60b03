#include "hlo/passes/standard_passes.h"
#include "tests/unit/hlo/passes/pass_testing.h"

namespace hilo {
namespace {

using testing::Parse;
using testing::RootExpression;
using testing::RunPasses;

std::string Folded(absl::string_view body) {
  auto module =
      Parse(absl::StrCat("HloModule m\nadd { a0 = f32[] parameter(0)  b0 = f32[] parameter(1)  ROOT c0 = f32[] add(a0, "
                         "b0) }\nENTRY main { ",
                         body, " }\n"));
  RunPasses(module.get(), {"fold-constants"});
  return RootExpression(*module);
}

TEST(ConstantFolding, EvaluatesWhatIsConstant) {
  EXPECT_EQ("8", Folded("a = s32[] constant(3)  b = s32[] constant(5)  ROOT r = s32[] add(a, b)"));
  EXPECT_EQ("{3, 1}", Folded("a = s32[3] constant({1,2,3})  s = s32[2] slice(a), slice={[0:3:2]}  ROOT r = s32[2] "
                             "reverse(s), dimensions={0}"));
  EXPECT_EQ("6", Folded("a = f32[3] constant({1,2,3})  z = f32[] constant(0)  ROOT r = f32[] reduce(a, z), "
                        "dimensions={0}, to_apply=add"));
  EXPECT_EQ("11", Folded("a = f32[2] constant({1,2})  b = f32[2] constant({3,4})  ROOT r = f32[] dot(a, b), "
                         "lhs_contracting_dims={0}, rhs_contracting_dims={0}"));
}

TEST(ConstantFolding, KeepsWhatWouldGrowOrIsNotConstant) {
  EXPECT_EQ("broadcast(3)", Folded("a = s32[] constant(3)  ROOT r = s32[8] broadcast(a), dimensions={}"));
  EXPECT_EQ("iota()", Folded("ROOT r = s32[8] iota(), iota_dimension=0"));
  EXPECT_EQ("add(3, x)", Folded("a = s32[] constant(3)  x = s32[] parameter(0)  ROOT r = s32[] add(a, x)"));
  EXPECT_EQ("opt-barrier(3)", Folded("a = s32[] constant(3)  ROOT r = s32[] opt-barrier(a)"));
}

// The run says what is wrong.
TEST(ConstantFolding, LeavesControlDependencies) {
  EXPECT_EQ("add(negate(3), negate(3))", Folded("a = s32[] constant(3)  n = s32[] negate(a)  m = s32[] negate(a), "
                                                "control-predecessors={n}  ROOT r = s32[] add(n, m)"));
}

TEST(ConstantFolding, LeavesComputationsThatAskForTheDevice) {
  auto module = Parse(
      "HloModule m\n"
      "g { r = u32[] replica-id()  ROOT c = u32[] convert(r) }\n"
      "f { a = u32[] parameter(0)  r = u32[] call(), to_apply=g  ROOT s = u32[] add(a, r) }\n"
      "ENTRY main { a = u32[] constant(1)  ROOT r = u32[] map(a), dimensions={}, to_apply=f }\n");
  EXPECT_FALSE(RunPasses(module.get(), {"fold-constants"}));
}

TEST(ConstantFolding, RespectsItsLimit) {
  std::string elements = "0";
  for (int i = 1; i < 5000; ++i) absl::StrAppend(&elements, ",", i);
  auto module = Parse(absl::StrCat("HloModule m\nENTRY main { a = s32[5000] constant({", elements,
                                   "})  ROOT r = s32[5000] negate(a) }\n"));
  EXPECT_FALSE(RunPasses(module.get(), {"fold-constants"}));
}

// 64 elements under a window that chooses one of `size`.
std::string SelectAndScatter(int64_t size) {
  std::string numbers;
  for (int i = 0; i < 64; ++i) absl::StrAppend(&numbers, i == 0 ? "" : ", ", i * 37 % 64);
  return absl::StrCat(
      "HloModule m\nge { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=GE "
      "}\n"
      "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"
      "ENTRY e {\n x = f32[64] constant({",
      numbers, "})\n z = f32[] constant(0)\n y = f32[64] constant({", numbers, "})\n", " s = f32[", 65 - size,
      "] slice(y), slice={[0:", 65 - size, "]}\n", " ROOT r = f32[64] select-and-scatter(x, s, z), window={size=", size,
      "}, select=ge, scatter=add\n}\n");
}

HloOpcode FoldedRoot(const std::string& text, int64_t limit) {
  const auto module = Parse(text);
  const auto changed = MakeConstantFolding(limit)->Run(module.get(), {});
  EXPECT_TRUE(changed.ok()) << changed.status();
  return module->entry_computation()->root_instruction()->opcode();
}

TEST(ConstantFolding, Work_IsMeasuredInOperations) {
  EXPECT_EQ(HloOpcode::kConstant, FoldedRoot(SelectAndScatter(2), 256));
  EXPECT_EQ(HloOpcode::kSelectAndScatter, FoldedRoot(SelectAndScatter(32), 256));
  EXPECT_EQ(HloOpcode::kConstant, FoldedRoot(SelectAndScatter(32), 1 << 16));
}

TEST(ConstantFolding, CancellationEndsThePass) {
  const auto module = Parse(SelectAndScatter(32));
  CancellationToken token;
  token.Cancel();
  EXPECT_EQ(absl::StatusCode::kCancelled,
            MakeConstantFolding(256)->Run(module.get(), {.cancellation = &token}).status().code());
}

}  // namespace
}  // namespace hilo
