// Programs as text and bytes through the public interface.
#include "hilo/module.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"

namespace hilo {
namespace {

constexpr absl::string_view kText =
    "HloModule line, entry_computation_layout={(f32[3]{0})->f32[3]{0}}\n\nENTRY main {\n  x = f32[3]{0} parameter(0)\n "
    " ROOT y = f32[3]{0} add(x, x)\n}\n";

TEST(ModuleTest, TextAndProtoReadBackTheSame) {
  const auto computation = ParseHloText(kText);
  ASSERT_TRUE(computation.ok()) << computation.status();
  EXPECT_EQ(computation->name(), "line");
  const auto text = ToHloText(*computation);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, kText);
  const auto bytes = SerializeAsHloModuleProto(*computation);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(*ToHloText(*XlaComputationFromProto(*bytes)), *text);
}

TEST(ModuleTest, ReadsStablehlo) {
  const auto computation = XlaComputationFromStablehlo(
      "module @line { func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
      "  %y = stablehlo.add %x, %x : tensor<3xf32>\n  return %y : tensor<3xf32> } }\n");
  ASSERT_TRUE(computation.ok()) << computation.status();
  EXPECT_EQ(computation->GetProgramShape()->ToString(), "(arg0: f32[3]) -> f32[3]");
}

TEST(ModuleTest, RefusesWhatIsNoProgram) {
  EXPECT_TRUE(absl::StrContains(ParseHloText("HloModule m\nENTRY", "m.hlo").status().message(), "m.hlo:2:"));
  EXPECT_FALSE(XlaComputationFromProto("?").ok());
  EXPECT_FALSE(XlaComputationFromStablehlo("module {").ok());
  EXPECT_EQ(ToHloText(XlaComputation()).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(SerializeAsHloModuleProto(XlaComputation()).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hilo
