#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "hlo/passes/standard_passes.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

TEST(CustomCallLayoutTest, CallsGetTheArraysOfMemoryAndRememberTheOthers) {
  auto module = ParseHloModule(R"(HloModule m
ENTRY e {
  x = f32[2,3] parameter(0)
  c = (f32[2,3]{0,1}, f32[4]{0}) custom-call(x), custom_call_target="f", operand_layout_constraints={f32[2,3]{0,1}}
  a = f32[2,3] get-tuple-element(c), index=0
  ROOT r = f32[2,3] negate(a)
})");
  ASSERT_TRUE(module.ok()) << module.status();
  auto changed = MakeLayoutNormalization()->Run(module->get(), {});
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_TRUE(*changed);
  const std::string text = PrintHloModule(**module);
  EXPECT_TRUE(absl::StrContains(text, "f32[3,2]{1,0} transpose(x)")) << text;
  EXPECT_TRUE(absl::StrContains(text, "c = (f32[3,2]{1,0}, f32[4]{0}) custom-call(")) << text;
  EXPECT_TRUE(absl::StrContains(text, "signature={(f32[2,3]{0,1})->(f32[2,3]{0,1}, f32[4]{0})}")) << text;
  EXPECT_FALSE(absl::StrContains(text, "operand_layout_constraints")) << text;
  EXPECT_TRUE(ParseHloModule(text).ok()) << ParseHloModule(text).status() << text;
  // What is row-major already is not touched again.
  auto again = MakeLayoutNormalization()->Run(module->get(), {});
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(*again);
}

TEST(CustomCallLayoutTest, RowMajorConstraintsGo) {
  auto module = ParseHloModule(R"(HloModule m
ENTRY e {
  x = f32[2,3] parameter(0)
  ROOT c = f32[2,3]{1,0} custom-call(x), custom_call_target="f", operand_layout_constraints={f32[2,3]{1,0}}
})");
  ASSERT_TRUE(module.ok()) << module.status();
  ASSERT_TRUE(MakeLayoutNormalization()->Run(module->get(), {}).ok());
  const auto& attributes = (*module)->entry_computation()->root_instruction()->attrs<CustomCallAttrs>();
  EXPECT_FALSE(attributes.signature.present);
  EXPECT_FALSE(attributes.operand_layout_constraints.shapes.has_value());
}

}  // namespace
}  // namespace hilo
