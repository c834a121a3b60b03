#include "tests/unit/hlo/passes/pass_testing.h"

namespace hilo {
namespace {

using testing::Parse;
using testing::RootExpression;
using testing::RunPasses;

TEST(LayoutNormalization, OtherLayoutsOfTheEntryBecomeTransposes) {
  auto module = Parse(R"(HloModule m, entry_computation_layout={(f32[2,3]{0,1})->f32[3,2]{0,1}}
ENTRY main { x = f32[2,3]{0,1} parameter(0)  ROOT r = f32[3,2]{0,1} transpose(x), dimensions={1,0} }
)");
  EXPECT_TRUE(RunPasses(module.get(), {"normalize-layout"}));
  EXPECT_EQ("transpose(transpose(transpose(x)))", RootExpression(*module));
  EXPECT_EQ((std::vector<int64_t>{3, 2}),
            std::vector<int64_t>(module->entry_computation()->parameter_instruction(0)->shape().dimensions().begin(),
                                 module->entry_computation()->parameter_instruction(0)->shape().dimensions().end()));
}

TEST(LayoutNormalization, ElementsOfTuplesToo) {
  auto module =
      Parse(R"(HloModule m, entry_computation_layout={((f32[2,3]{0,1}, f32[4]{0}))->(f32[4]{0}, f32[2,3]{1,0})}
ENTRY main {
  t = (f32[2,3]{0,1}, f32[4]{0}) parameter(0)
  a = f32[2,3]{0,1} get-tuple-element(t), index=0
  b = f32[4]{0} get-tuple-element(t), index=1
  ROOT r = (f32[4]{0}, f32[2,3]{1,0}) tuple(b, a)
}
)");
  EXPECT_TRUE(RunPasses(module.get(), {"normalize-layout"}));
  ASSERT_TRUE(ScheduleModule(module.get()).ok());
  const absl::Status valid = VerifyHloModule(*module, HloStage::kLaidOut);
  EXPECT_TRUE(valid.ok()) << valid;
}

TEST(LayoutNormalization, RowMajorModulesStay) {
  auto module = Parse(
      "HloModule m\nENTRY main { x = f32[2,3]{1,0} parameter(0)  ROOT r = f32[3,2]{1,0} transpose(x), dimensions={1,0} "
      "}\n");
  EXPECT_FALSE(RunPasses(module.get(), {"normalize-layout"}));
}

// A bitcast keeps the memory: with a column-major operand it is a transpose and a reshape.
TEST(LayoutNormalization, Bitcasts_ReinterpretMemory) {
  auto module = Parse(
      "HloModule m\nENTRY main { x = f32[2,3]{1,0} parameter(0)  c = f32[2,3]{0,1} copy(x)  ROOT r = f32[6]{0} "
      "bitcast(c) }\n");
  EXPECT_TRUE(RunPasses(module.get(), {"normalize-layout"}));
  EXPECT_EQ("reshape(transpose(copy(x)))", RootExpression(*module));
}

}  // namespace
}  // namespace hilo
