// Passes on large and wicked modules: linear time, no recursion on the depth of a graph.
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "hlo/passes/dimensions/column_separation.h"
#include "tests/unit/hlo/passes/pass_testing.h"

namespace hilo {
namespace {

using testing::Parse;
using testing::RunPasses;

const std::vector<std::string>& AllPasses() {
  static const auto* const passes = new std::vector<std::string>{
      "inline-calls", "fold-constants", "simplify", "cse", "dce", "normalize-layout", "flatten", "fuse", "dce"};
  return *passes;
}

TEST(BigModules, ALongChain) {
  std::string text = "HloModule m\nENTRY main {\n  x0 = f32[100] parameter(0)\n  y = f32[100] parameter(1)\n";
  for (int k = 0; k < 100'000; ++k)
    absl::StrAppend(&text, "  x", k + 1, " = f32[100] ", k % 2 ? "add(x" : "multiply(x", k, ", y)\n");
  auto module = Parse(text + "  ROOT r = f32[100] negate(x100000)\n}\n");
  ASSERT_NE(module, nullptr);
  RunPasses(module.get(), AllPasses());
}

TEST(BigModules, ALongChainOfConstants) {
  std::string text = "HloModule m\nENTRY main {\n  x0 = s32[] constant(1)\n  y = s32[] constant(3)\n";
  for (int k = 0; k < 100'000; ++k) absl::StrAppend(&text, "  x", k + 1, " = s32[] add(x", k, ", y)\n");
  auto module = Parse(text + "  ROOT r = s32[] negate(x100000)\n}\n");
  ASSERT_NE(module, nullptr);
  RunPasses(module.get(), AllPasses());
  EXPECT_EQ("-300001", testing::RootExpression(*module));
}

TEST(BigModules, ADeepDiamond) {
  std::string text = "HloModule m\nENTRY main {\n  x0 = f32[100] parameter(0)\n";
  for (int k = 0; k < 60; ++k) absl::StrAppend(&text, "  x", k + 1, " = f32[100] add(x", k, ", x", k, ")\n");
  auto module = Parse(text + "  ROOT r = f32[100] negate(x60)\n}\n");
  RunPasses(module.get(), AllPasses());
  EXPECT_LT(module->instruction_count(), 300);
}

// Every second step is read at other indices too: computed inside, each would double the work.
TEST(BigModules, ADeepDiamondOfReversals) {
  std::string text = "HloModule m\nENTRY main {\n  x0 = f32[100] parameter(0)\n";
  for (int k = 0; k < 60; ++k) {
    absl::StrAppend(&text, "  v", k, " = f32[100] reverse(x", k, "), dimensions={0}\n  x", k + 1, " = f32[100] add(x",
                    k, ", v", k, ")\n");
  }
  auto module = Parse(text + "  ROOT r = f32[100] negate(x60)\n}\n");
  RunPasses(module.get(), AllPasses());
  EXPECT_LT(module->instruction_count(), 500);
  EXPECT_GT(testing::Count(*module, HloOpcode::kFusion), 3);
}

// Equal but for their attributes: the hash must tell them apart.
TEST(BigModules, ManySlicesOfOneArray) {
  constexpr int kCount = 30'000;
  std::string text = "HloModule m\nENTRY main {\n  x = f32[40000] parameter(0)\n", list, types;
  for (int k = 0; k < kCount; ++k) {
    absl::StrAppend(&text, "  s", k, " = f32[8] slice(x), slice={[", k, ":", k + 8, "]}\n");
    absl::StrAppend(&list, k ? ", s" : "s", k);
    absl::StrAppend(&types, k ? ", f32[8]" : "f32[8]");
  }
  auto module = Parse(absl::StrCat(text, "  ROOT r = (", types, ") tuple(", list, ")\n}\n"));
  ASSERT_NE(module, nullptr);
  EXPECT_FALSE(RunPasses(module.get(), {"cse"}));
  RunPasses(module.get(), AllPasses());
}

// The work of the mergers is limited. If each walked over the whole program, it would end after a quarter of them.
TEST(BigModules, ManyPairsOfLoopsAreMerged) {
  constexpr int kCount = 16'000;
  std::string text = "HloModule m\nENTRY main {\n", list, types;
  for (int k = 0; k < kCount; ++k) {
    absl::StrAppend(&text, "  x", k, " = f32[100] parameter(", k, ")\n  e", k, " = f32[100] exponential(x", k, ")\n  n",
                    k, " = f32[100] negate(x", k, ")\n");
    absl::StrAppend(&list, k == 0 ? "" : ", ", "e", k, ", n", k);
    absl::StrAppend(&types, k == 0 ? "" : ", ", "f32[100], f32[100]");
  }
  auto module = Parse(text + "  ROOT r = (" + types + ") tuple(" + list + ")\n}\n");
  ASSERT_NE(module, nullptr);
  RunPasses(module.get(), {"fuse", "dce"});
  EXPECT_EQ(kCount, testing::Count(*module, HloOpcode::kFusion));
}

TEST(BigModules, OneValueWithManyUsers) {
  std::string text =
      "HloModule m\nENTRY main {\n  x = f32[100] parameter(0)\n  e = f32[100] exponential(x)\n  t0 = f32[100] "
      "negate(x)\n";
  for (int k = 0; k < 20'000; ++k) absl::StrAppend(&text, "  t", k + 1, " = f32[100] add(t", k, ", e)\n");
  auto module = Parse(text + "  ROOT r = f32[100] negate(t20000)\n}\n");
  ASSERT_NE(module, nullptr);
  RunPasses(module.get(), AllPasses());
}

TEST(BigModules, DeeplyNestedLoops) {
  for (int levels : {200, 3000}) {
    std::string text = "HloModule m\n";
    for (int level = 0; level < levels; ++level) {
      absl::StrAppend(&text, "more", level, " { s", level, " = (pred[], f32[4]) parameter(0)  ROOT p", level,
                      " = pred[] get-tuple-element(s", level, "), index=0 }\n");
      const std::string inner = level == 0 ? absl::StrCat("t0") : absl::StrCat("w", level);
      absl::StrAppend(&text, "body", level, " { t", level, " = (pred[], f32[4]) parameter(0)  ");
      if (level > 0) {
        absl::StrAppend(&text, "w", level, " = (pred[], f32[4]) while(t", level, "), condition=more", level - 1,
                        ", body=body", level - 1, "  ");
      }
      absl::StrAppend(&text, "a", level, " = f32[4] get-tuple-element(", inner, "), index=1  b", level,
                      " = f32[4] negate(a", level, ")  no", level, " = pred[] constant(false)  ROOT r", level,
                      " = (pred[], f32[4]) tuple(no", level, ", b", level, ") }\n");
    }
    auto module = Parse(absl::StrCat(
        text, "ENTRY main { x = (pred[], f32[4]) parameter(0)  ROOT w = (pred[], f32[4]) while(x), condition=more",
        levels - 1, ", body=body", levels - 1, " }\n"));
    ASSERT_NE(module, nullptr);
    RunPasses(module.get(), AllPasses());
    const absl::Status aliased = testing::TakeToAliased(module.get(), {});
    if (levels == 200) {
      EXPECT_TRUE(aliased.ok()) << aliased;
    } else {
      EXPECT_EQ(absl::StatusCode::kResourceExhausted, aliased.code()) << aliased;
    }
  }
}

// The users of an array that many gathers read are not looked at for each of them.
TEST(BigModules, ManyGathersOfOneArray) {
  constexpr int kCount = 60'000;
  std::string text =
      "HloModule m\nENTRY main {\n  x = f32[1024] parameter(0)\n  i = s32[1] parameter(1)\n"
      "  y = f32[1024] multiply(x, x)\n";
  for (int k = 0; k < kCount; ++k) {
    absl::StrAppend(&text, "  g", k, " = f32[1] gather(y, i), offset_dims={}, collapsed_slice_dims={0}, ",
                    "start_index_map={0}, index_vector_dim=1, slice_sizes={1}\n");
  }
  auto module = Parse(text + "  ROOT r = f32[1] add(g0, g1)\n}\n");
  ASSERT_NE(module, nullptr);
  const absl::Time begin = absl::Now();
  const absl::StatusOr<bool> changed = SeparateFewReads(module->entry_computation(), {});
  EXPECT_LT(absl::Now() - begin, absl::Seconds(4));
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_FALSE(*changed);
}

}  // namespace
}  // namespace hilo
