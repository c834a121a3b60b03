#include "gtest/gtest.h"
#include "hlo/ops/semantics.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// Reads `text` as a T and prints it again; or the error behind "error: ".
template <typename T>
std::string RoundTrip(absl::string_view text) {
  T value{};
  const absl::Status status = FieldFromText(text, &value);
  if (!status.ok()) return "error: " + std::string(status.message());
  return FieldToText(value);
}
template <typename T>
testing::AssertionResult Refused(absl::string_view text, const std::string& part) {
  const std::string result = RoundTrip<T>(text);
  if (result.rfind("error: ", 0) == 0 && result.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << result;
}

TEST(AttributeCodecsTest, Numbers) {
  EXPECT_EQ(RoundTrip<int64_t>(" -9223372036854775808 "), "-9223372036854775808");
  EXPECT_TRUE(Refused<int64_t>("9223372036854775808", "64-bit"));
  EXPECT_TRUE(Refused<int64_t>("", "64-bit"));
  EXPECT_TRUE(Refused<int64_t>("1 2", "end of the value"));
  EXPECT_EQ(RoundTrip<std::optional<int64_t>>("7"), "7");
  EXPECT_EQ(RoundTrip<double>("0.10"), "0.1");
  EXPECT_EQ(RoundTrip<double>("-inf"), "-inf");
  EXPECT_TRUE(Refused<double>("1e999", "range"));
  EXPECT_TRUE(Refused<double>("one", "number"));
  EXPECT_EQ(RoundTrip<bool>("true"), "true");
  EXPECT_TRUE(Refused<bool>("yes", "true or false"));
}

TEST(AttributeCodecsTest, Strings) {
  EXPECT_EQ(RoundTrip<std::string>(R"("a \"b\"\n")"), R"("a \"b\"\n")");
  EXPECT_TRUE(Refused<std::string>("plain", "quotes"));
  EXPECT_TRUE(Refused<std::string>("\"", "quotes"));
  EXPECT_TRUE(Refused<std::string>("a\"", "quotes"));
  EXPECT_TRUE(Refused<std::string>("\"a", "quotes"));
  EXPECT_TRUE(Refused<std::string>(R"("\q")", "bad string \"\\q\""));
  EXPECT_EQ(RoundTrip<Word>("dot_tf32_tf32_f32"), "dot_tf32_tf32_f32");
  EXPECT_TRUE(Refused<Word>("", "a word"));
}

TEST(AttributeCodecsTest, ListsTakeSpaceAndComments) {
  EXPECT_EQ(RoundTrip<std::vector<int64_t>>("{ 0 , /*i=1*/ -2 } // end"), "{0,-2}");
  EXPECT_EQ(RoundTrip<std::vector<int64_t>>("{}"), "{}");
  EXPECT_EQ(RoundTrip<std::vector<bool>>("{true,false}"), "{true,false}");
  EXPECT_EQ(RoundTrip<std::vector<Precision>>("{high,packed_nibble}"), "{high,packed_nibble}");
  EXPECT_TRUE(Refused<std::vector<int64_t>>("0", "expected {"));
  EXPECT_TRUE(Refused<std::vector<int64_t>>("{0", "} or a comma"));
  EXPECT_TRUE(Refused<std::vector<int64_t>>("{0,}", "64-bit"));
  EXPECT_TRUE(Refused<std::vector<int64_t>>("{0 /* open", "} or a comma"));
  EXPECT_TRUE(Refused<std::vector<Precision>>("{low}", "default, high, highest"));
}

TEST(AttributeCodecsTest, Enumerations) {
  EXPECT_EQ(RoundTrip<ComparisonDirection>(" GE "), "GE");
  EXPECT_TRUE(Refused<ComparisonDirection>("ge", "EQ, NE, GE"));
  EXPECT_TRUE(Refused<ComparisonDirection>("GE LT", "EQ, NE, GE"));
}

TEST(AttributeCodecsTest, SliceRanges) {
  EXPECT_EQ(RoundTrip<std::vector<SliceRange>>("{[0:3:2],[ 2 : 6 ],[1:2:1]}"), "{[0:3:2], [2:6], [1:2]}");
  EXPECT_EQ(RoundTrip<std::vector<SliceRange>>("{}"), "{}");
  EXPECT_TRUE(Refused<std::vector<SliceRange>>("{0:3}", "[start:limit]"));
  EXPECT_TRUE(Refused<std::vector<SliceRange>>("{[0]}", "expected :"));
  EXPECT_TRUE(Refused<std::vector<SliceRange>>("{[0:1:2:3]}", "expected ]"));
}

TEST(AttributeCodecsTest, Padding) {
  EXPECT_EQ(RoundTrip<PaddingConfig>("-2_3_1x-4_0_0"), "-2_3_1x-4_0");
  EXPECT_EQ(RoundTrip<PaddingConfig>(""), "");
  for (const char* bad : {"1", "1_", "_1", "1_2_", "1_2_3_4", "1_2x", "x1_2", "1_2 3_4", "1_9223372036854775808"}) {
    EXPECT_TRUE(Refused<PaddingConfig>(bad, "")) << bad;
  }
}

TEST(AttributeCodecsTest, Windows) {
  const std::string full = "{size=3x3 stride=2x1 pad=1_1x2_0 lhs_dilate=2x2 rhs_dilate=1x2 rhs_reversal=0x1}";
  EXPECT_EQ(RoundTrip<Window>(full), full);
  EXPECT_EQ(RoundTrip<Window>("{ stride=1x1 /*all ones*/ size=2x7 }"), "{size=2x7}");
  EXPECT_EQ(RoundTrip<Window>("{}"), "{}");
  EXPECT_TRUE(Refused<Window>("{stride=2}", "no size"));
  EXPECT_TRUE(Refused<Window>("{size=2x2 stride=2}", "stride = 2 must have 2 parts"));
  EXPECT_TRUE(Refused<Window>("{size=2 size=2}", "repeats size"));
  EXPECT_TRUE(Refused<Window>("{size=2 rhs_reversal=2}", "0 or 1"));
  EXPECT_TRUE(Refused<Window>("{size=2 shape=3}", "expected size, stride"));
  EXPECT_TRUE(Refused<Window>("{size=2 pad=1}", "low_high"));
  EXPECT_TRUE(Refused<Window>("{size=2", "expected size, stride"));
}

// Every attribute struct of the table: its default prints, reads back equal, and hashes alike.
TEST(AttributesTest, DefaultsRoundTrip) {
  for (int i = 0; i < kHloOpcodeCount; ++i) {
    const HloOpcode opcode = static_cast<HloOpcode>(i);
    const std::unique_ptr<OpAttributes> attributes = MakeAttributes(opcode);
    if (attributes == nullptr || opcode == HloOpcode::kConstant) continue;
    SCOPED_TRACE(HloOpcodeString(opcode));
    const std::unique_ptr<OpAttributes> read = MakeAttributes(opcode);
    for (const auto& [name, text] : attributes->ToText()) {
      auto found = read->ParseField(name, text);
      ASSERT_TRUE(found.ok() && *found) << name << "=" << text;
    }
    EXPECT_TRUE(read->Equals(*attributes));
    EXPECT_TRUE(read->Equals(*attributes->Clone()));
    EXPECT_EQ(read->Hash(), attributes->Hash());
    auto unknown = read->ParseField("no_such_field", "1");
    EXPECT_TRUE(unknown.ok() && !*unknown);
  }
}

TEST(AttributesTest, EveryFieldCounts) {
  SortAttrs a, b;
  a.dimensions = b.dimensions = {1};
  EXPECT_TRUE(a.Equals(b));
  b.is_stable = true;
  EXPECT_FALSE(a.Equals(b));
  EXPECT_NE(a.Hash(), b.Hash());
  EXPECT_FALSE(a.Equals(ReduceAttrs()));
}

TEST(AttributeCodecsTest, BadRangesAndWindows) {
  EXPECT_TRUE(Refused<std::vector<SliceRange>>("{[x:2]}", "64-bit integer, got \"x\""));
  EXPECT_TRUE(Refused<std::vector<SliceRange>>("{[0:x]}", "64-bit integer, got \"x\""));
  EXPECT_TRUE(Refused<std::vector<SliceRange>>("{[0:2:x]}", "64-bit integer, got \"x\""));
  EXPECT_TRUE(Refused<Window>("size=2", "expected { before"));
  EXPECT_TRUE(Refused<Window>("{size 2}", "expected = before"));
}

TEST(AttributeCodecsTest, BadOutputOperandAliases) {
  using Aliases = std::vector<OutputOperandAlias>;
  EXPECT_EQ(RoundTrip<Aliases>("{{0}: (1, {}), {}: (0, {2,1})}"), "{{0}: (1, {}), {}: (0, {2,1})}");
  EXPECT_TRUE(Refused<Aliases>("0", "expected { before"));
  EXPECT_TRUE(Refused<Aliases>("{0}", "a shape index such as {} or {0} before \"0}\""));
  EXPECT_TRUE(Refused<Aliases>("{{x}: (0, {})}", "64-bit integer, got \"x\""));
  EXPECT_TRUE(Refused<Aliases>("{{0: (0, {})}", "expected } or a comma"));
  EXPECT_TRUE(Refused<Aliases>("{{0} (0, {})}", "expected : before"));
  EXPECT_TRUE(Refused<Aliases>("{{0}: 0}", "expected (operand, index)"));
  EXPECT_TRUE(Refused<Aliases>("{{0}: (x, {})}", "64-bit integer, got \"x\""));
  EXPECT_TRUE(Refused<Aliases>("{{0}: (0 {})}", "a comma and the index in the operand"));
  EXPECT_TRUE(Refused<Aliases>("{{0}: (0, 1)}", "a shape index such as {} or {0} before \"1)}\""));
  EXPECT_TRUE(Refused<Aliases>("{{0}: (0, {}}", "expected ) before"));
  EXPECT_TRUE(Refused<Aliases>("{{0}: (0, {})", "expected } or a comma at the end"));
  EXPECT_TRUE(Refused<Aliases>("{{0}: (0, {})} 1", "end of the value"));
}

// A dictionary stands as it is where a reader of attributes sees one bracketed whole in it, and in quotes elsewhere.
TEST(AttributeCodecsTest, BackendConfigs) {
  const auto form = [](const char* text) { return FieldToText(BackendConfig{text}); };
  for (const char* bare : {"{}", "{a/b}", "{a: [1, (2)], b: \"}\"}", "{\"\\\"\"}", "{/}"}) EXPECT_EQ(form(bare), bare);
  for (const char* quoted : {"", "a{}", "{", "}", "{]", "{}]", "{}{}", "{a//b}", "{a/*b}", "{(})"})
    EXPECT_EQ(form(quoted)[0], '"') << quoted;
  EXPECT_EQ(form("{\"a}")[0], '"');
}

TEST(AttributeCodecsTest, BadShapesAndSignatures) {
  EXPECT_EQ(RoundTrip<OperandLayouts>("{f32[2]{0}, s32[]}"), "{f32[2]{0}, s32[]}");
  EXPECT_TRUE(Refused<OperandLayouts>("f32[2]", "expected { before"));
  EXPECT_TRUE(Refused<OperandLayouts>("{f32[2]", "expected } or a comma"));
  EXPECT_TRUE(Refused<OperandLayouts>("{f32[2]} 1", "expected the end of the value"));
  EXPECT_EQ(RoundTrip<CallSignature>("{(f32[2]{0})->s32[]}"), "{(f32[2]{0})->s32[]}");
  EXPECT_TRUE(Refused<CallSignature>("(f32[])->f32[]", "expected {(operands)->result}"));
  EXPECT_TRUE(Refused<CallSignature>("{f32[]->f32[]}", "expected ( before"));
  EXPECT_TRUE(Refused<CallSignature>("{(f32[]) f32[]}", "expected -> before"));
  EXPECT_TRUE(Refused<CallSignature>("{(f32[])->f32[]", "expected } before"));
  EXPECT_TRUE(Refused<CallSignature>("{(f32[])->f32[]} 1", "expected the end of the value"));
}

}  // namespace
}  // namespace hilo
