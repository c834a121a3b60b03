// Errors point at their place, and nothing in a text ends the process.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/text/hlo_parser.h"

namespace hilo {
namespace {

std::string Error(absl::string_view text, absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  auto module = ParseHloModule(text, {.file_name = "a.hlo"});
  EXPECT_EQ(module.status().code(), code) << module.status();
  return std::string(module.status().message());
}

std::string Entry(absl::string_view body) { return absl::StrCat("HloModule m\nENTRY e {\n", body, "\n}\n"); }

TEST(ParseErrorTest, LineColumnAndCaret) {
  EXPECT_EQ(Error(Entry("  x = f32[3] parameter(0)\n  y = f32[3] frobnicate(x)")),
            "a.hlo:4:14: expected an opcode; got 'frobnicate'\n  y = f32[3] frobnicate(x)\n        "
            "     ^");
}

TEST(ParseErrorTest, CaretBehindTabs) {
  EXPECT_EQ(Error(Entry("\tx = f32[3] parameter(z)")),
            "a.hlo:3:23: expected a parameter number; got 'z'\n\tx = f32[3] parameter(z)\n\t       "
            "              ^");
}

TEST(ParseErrorTest, LongLinesAreCut) {
  const std::string padding(500, 'p');
  const std::string message = Error(Entry(absl::StrCat("  ", padding, " = f32[] add(q, q)")));
  EXPECT_TRUE(absl::StrContains(message, "a.hlo:3:516: operand q is not defined before its use")) << message;
  EXPECT_LT(message.size(), 400u);
}

TEST(ParseErrorTest, BytesThatDoNotPrint) {
  EXPECT_EQ(Error(absl::string_view("HloModule m\n\1\xff\0z", 16)),
            "a.hlo:2:1: expected a computation; got '\\001'\n??\?z\n^");
}

TEST(ParseErrorTest, InferencePointsAtTheInstruction) {
  const std::string message = Error(Entry("  x = f32[3] parameter(0)\n  ROOT y = f32[4] negate(x)"));
  EXPECT_TRUE(absl::StartsWith(message, "a.hlo:4:8: ")) << message;
  EXPECT_TRUE(absl::StrContains(message, "in %y = f32[4] negate(f32[3] %x), line 4")) << message;
  EXPECT_TRUE(absl::EndsWith(message, "\n  ROOT y = f32[4] negate(x)\n       ^")) << message;
}

TEST(ParseErrorTest, InsideShapesAndConstants) {
  EXPECT_TRUE(absl::StartsWith(Error(Entry("  x = f32[3,q] parameter(0)")), "a.hlo:3:13: "));
  EXPECT_TRUE(absl::StartsWith(Error(Entry("  x = f32[2] constant({1, q})")), "a.hlo:3:27: "));
  EXPECT_TRUE(absl::StartsWith(Error(Entry("  x = f32[2,2]{0,0} constant({...})")), "a.hlo:3:7: "));
}

TEST(ParseErrorTest, InsideKernels) {
  const auto error = [](absl::string_view kernel) {
    return Error(Entry(absl::StrCat("  x = f32[2] parameter(0), kernel=", kernel)));
  };
  EXPECT_EQ(error("{kind=lop}"),
            "a.hlo:3:41: expected a kind of kernel; got lop\n  x = f32[2] parameter(0), kernel={kind=lop}\n"
            "                                        ^");
  EXPECT_TRUE(absl::StartsWith(error("{kind=loop lanes=4}"),
                               "a.hlo:3:46: expected kind, width, tile, parts, parallel or why; got lanes\n"));
  EXPECT_TRUE(absl::StartsWith(error("{width=4}"), "a.hlo:3:44: expected the kind of the kernel"));
  EXPECT_TRUE(absl::StartsWith(error("{kind=loop width=x}"), "a.hlo:3:52: expected the width, a number"));
  EXPECT_TRUE(absl::StartsWith(error("{kind=loop tile={1,}}"), "a.hlo:3:54: "));
  EXPECT_TRUE(absl::StartsWith(error("{kind=loop why=x}"), "a.hlo:3:50: expected the reason in quotes"));
}

TEST(ParseErrorTest, ElidedConstantsSaySo) {
  EXPECT_TRUE(absl::StrContains(Error(Entry("  x = f32[1000000] constant({...})")), "left out of the text"));
}

struct Case {
  const char* body;
  const char* message;  // a part of it
};

class BodyErrorTest : public testing::TestWithParam<Case> {};

TEST_P(BodyErrorTest, NamesTheError) {
  const std::string message = Error(Entry(GetParam().body));
  EXPECT_TRUE(absl::StrContains(message, GetParam().message)) << message;
}

INSTANTIATE_TEST_SUITE_P(
    All, BodyErrorTest,
    testing::Values(
        Case{"", "at least one instruction"},
        Case{"x = f32[] parameter(0) x = f32[] parameter(1)", "x is defined twice"},
        Case{"ROOT x = f32[] parameter(0) ROOT y = f32[] negate(x)", "this is the second"},
        Case{"x = f32[] parameter(3)", "parameter 0 is missing"},
        Case{"x = f32[] parameter(-1)", "parameter number from 0"},
        Case{"x = f32[] parameter(99999999999999)", "parameter number from 0"},
        Case{"x = f32[] parameter(0) y = f32[] parameter(0)", "parameter 0 is defined twice"},
        Case{"x = f32[] parameter(0), number=1", "written in its parentheses"},
        Case{"x = f32[] negate(y) y = f32[] parameter(0)", "operand y is not defined before"},
        Case{"x = f32[2] parameter(0) y = f32[2] negate(f32[3] x)", "expected the shape of x, f32[2]; got f32[3]"},
        Case{"x = f32[2] parameter(0) y = f32[] reduce(x, x)", "expected the attribute to_apply of reduce"},
        Case{"x = f32[2] parameter(0) y = f32[2] transpose(x)", "expected the attribute dimensions of transpose"},
        Case{"x = f32[2] parameter(0) y = f32[2] transpose(x), dimensions={a}", "dimensions: "},
        Case{"x = f32[2] parameter(0) y = f32[2] transpose(x), dimensions={0}, dimensions={0}",
             "dimensions is given twice"},
        Case{"x = f32[] parameter(0) y = pred[] compare(x, x), direction=SIDEWAYS", "direction: "},
        Case{"x = f32[] parameter(0) y = f32[] call(x), to_apply=nowhere", "there is no nowhere"},
        Case{"x = f32[] parameter(0) y = f32[] call(x), to_apply=e", "the entry computation may not be called"},
        Case{"x = f32[] parameter(0) y = f32[] negate(x), control-predecessors={z}",
             "an instruction of this computation"},
        Case{"x = f32[] parameter(0), control-predecessors={y} y = f32[] negate(x)", "needs its own result"},
        Case{"x = f32[] parameter(0), sharding={[}", "expected ']'"},
        Case{"x = f32[] parameter(0), sharding={{", "to match this bracket"},
        Case{"x = f32[] parameter(0), a=\"b", "closing '\"'"}, Case{"x = f32[] parameter(0), a=", "expected a value"},
        Case{"x = f32[] parameter(0), metadata={op_name=3}", "the op_name in quotes"},
        Case{"x = f32[] parameter(0) p = pred[] constant(true) y = f32[] conditional(p, x, x), "
             "false_computation=e",
             "true_computation"},
        // Texts that are known to have ended other parsers.
        Case{"a = f32[2,2] parameter(0) d = f32[2,2] dot(a, )", "expected an operand; got ')'"},
        Case{"a = f32[2,2] parameter(0) d = f32[2,2] dot(a, f32)", "operand f32 is not defined"},
        Case{"a = u64[2] parameter(0) b = u64[2] negate(m)", "operand m is not defined"},
        Case{"a = f32[2,4] parameter(0) b = f32[32] reshape(a)", "reshape"}, Case{"a = token[] constant(4)", "token"},
        Case{"a = opaque[] constant(-inf)", "opaque"},
        Case{"a = opaque[2,3] parameter(0) b = pred[] compare(a, a), direction=EQ", ""},
        Case{"a = (f32[], f32[]) parameter(0) b = f32[] get-tuple-element(a), index=-1", "index"},
        Case{"a = (f32[], f32[]) parameter(0) b = f32[] get-tuple-element(a), index=2", "index"},
        Case{"a = f32[] parameter(0) b = f32[] reduce(a, a), dimensions={}, to_apply={%nope}",
             "expected '=' after an instruction's name"},
        Case{"a = f32[2]{0,0} parameter(0)", ""}, Case{"a = f32[-1] parameter(0)", ""},
        Case{"a = f32[9223372036854775807,4] parameter(0)", ""}, Case{"a = f32[99999999999999999999] parameter(0)", ""},
        Case{"a = f32[4] parameter(0) z = f32[] constant(0) b = f32[4] reduce-window(a, z), "
             "window={size=0}, to_apply=e",
             ""},
        Case{"a = f32[4] parameter(0) b = f32[2] slice(a), slice={[0:4:0]}", "slice"},
        Case{"a = s8[] constant(128)", ""}, Case{"a = f32[1000000000000] constant({1})", ""}));

TEST(ParseErrorTest, HeaderAndComputations) {
  EXPECT_TRUE(
      absl::StrContains(Error(""), "a.hlo:1:1: expected 'HloModule' at the beginning of a module; got end of text"));
  EXPECT_TRUE(absl::StrContains(Error("HloModule m"), "expected an ENTRY computation; got none"));
  EXPECT_TRUE(absl::StrContains(Error("HloModule m, replica_count=0"),
                                "a.hlo:1:28: expected a replica count from 1 to 2147483647; got 0"));
  EXPECT_TRUE(absl::StrContains(Error("HloModule m, replica_count=2147483648"),
                                "expected a replica count from 1 to 2147483647; got 2147483648"));
  EXPECT_TRUE(absl::StrContains(Error("HloModule m, num_partitions=-1"),
                                "expected a number of partitions from 1 to 2147483647; got -1"));
  EXPECT_TRUE(absl::StrContains(Error("HloModule m, a=1, a=2"), "attribute a is given twice"));
  EXPECT_TRUE(absl::StrContains(Error("HloModule m, input_output_alias={ {0}: (0, {}, will-alias) }"),
                                "may-alias or must-alias"));
  EXPECT_TRUE(absl::StrContains(Error("HloModule m\nf { x = f32[] parameter(0) }\nHloModule n"),
                                "a.hlo:3:1: expected one module"));
  const std::string f = "f { x = f32[] parameter(0) }\n";
  EXPECT_TRUE(absl::StrContains(Error("HloModule m\n" + f + f), "computation f is defined twice"));
  EXPECT_TRUE(
      absl::StrContains(Error("HloModule m\n" + f + "g { x = f32[] parameter(0) }"), "both f and g could be meant"));
  EXPECT_TRUE(
      absl::StrContains(Error("HloModule m\nENTRY " + f + "ENTRY g { x = f32[] parameter(0) }"), "this is the second"));
  EXPECT_TRUE(absl::StrContains(Error("HloModule m\nENTRY f (x: s32[]) -> f32[] { x = f32[] parameter(0) }"),
                                "a.hlo:2:13: expected the shape of parameter 0, f32[]; got s32[]"));
  EXPECT_TRUE(absl::StrContains(Error("HloModule m\nENTRY f (x: f32[]) -> s32[] { x = f32[] parameter(0) }"),
                                "expected the root's shape, f32[]; got s32[]"));
  EXPECT_TRUE(absl::StrContains(Error("HloModule m\nENTRY f () -> f32[] { x = f32[] parameter(0) }"),
                                "lists 0 parameters; f has 1"));
}

TEST(ParseErrorTest, InstructionsBetweenParts) {
  const std::string p = "x = f32[] parameter(0)";
  const struct {
    std::string text, message;
  } cases[] = {
      {"HloModule m, input_output_alias=0", "expected '{' before the aliases; got '0'"},
      {"HloModule m, input_output_alias={ {} (0, {}) }", "expected ':' after an output index; got '('"},
      {"HloModule m, input_output_alias={ {}: 0, {}) }", "expected '(' before the aliased parameter; got '0'"},
      {"HloModule m, input_output_alias={ {}: (0, {} }", "expected ')' after the aliased parameter; got '}'"},
      {"HloModule m, input_output_alias={ {}: (0, {}) ;", "expected '}' after the aliases; got ';'"},
      {"HloModule m, input_output_alias={ 0: (0, {}) }", "expected '{' before a tuple index; got '0'"},
      {"HloModule m, input_output_alias={ {0: (0, {}) }", "expected '}' after a tuple index; got ':'"},
      {"HloModule m, alias {}", "expected '=' after the name of an attribute; got '{'"},
      {"HloModule m\nENTRY e = 1", "expected '{' before a computation's instructions; got '='"},
      {"HloModule m\nENTRY e { " + p + " }, thread=\"a\"", "expected execution_thread; got 'thread'"},
      {"HloModule m\nENTRY e { " + p + " }, execution_thread \"a\"", "expected '=' after execution_thread"},
      {"HloModule m\nENTRY e { " + p + " }, execution_thread=a", "expected a thread's name in quotes; got 'a'"},
      {"HloModule m\nENTRY e { " + p + " }, execution_thread=\"\\q\"", "expected a string with C escapes"},
      {"HloModule m\nENTRY e (=: f32[]) -> f32[] { " + p + " }", "expected a parameter's name; got '='"},
      {"HloModule m\nENTRY e (x f32[]) -> f32[] { " + p + " }", "expected ':' after a parameter's name; got 'f32'"},
      {"HloModule m\nENTRY e (x: y) -> f32[] { " + p + " }", "expected a shape, got 'y"},
      {"HloModule m\nENTRY e (x: f32[] -> f32[] { " + p + " }",
       "expected ')' after a computation's parameters; got '-'"},
      {"HloModule m\nENTRY e (x: f32[]) f32[] { " + p + " }", "expected '->' before a computation's result; got 'f32'"},
      {"HloModule m\nENTRY e (x: f32[]) -> y { " + p + " }", "expected a shape, got 'y"},
      {Entry("x f32[] parameter(0)"), "expected '=' after an instruction's name; got 'f32'"},
      {Entry("x = f32[] parameter 0"), "expected '(' before the operands; got '0'"},
      {Entry(p + ", sharding {replicated}"), "expected '=' after the name of an attribute; got '{'"},
      {Entry(p + " y = f32[] negate(x), control-predecessors=x"), "expected '{' before a list of"},
      {Entry(p + " y = f32[] negate(x), control-predecessors={x; x}"), "expected '}' after a list of"},
      {Entry(p + " y = f32[] map(x), to_apply=f{g}"), "expected the end of a computation's name"},
      {Entry(p + ", metadata=0"), "expected '{' before metadata; got '0'"},
      {Entry(p + ", metadata={op_name}"), "expected '=' after the name of a part of the metadata; got '}'"},
      {Entry(p + ", metadata={op_name=\"a}"), "expected a closing '\"'"},
  };
  for (const auto& c : cases) {
    const std::string message = Error(c.text);
    EXPECT_TRUE(absl::StrContains(message, c.message)) << c.text << ": " << message;
  }
}

TEST(ParseErrorTest, InferenceErrors_HaveALocation) {
  const std::string message =
      Error(Entry("  x = f32[] parameter(0)\n  y = f32[] custom-call(x), "
                  "custom_call_target=\"t\", api_version=API_VERSION_UNSPECIFIED"));
  EXPECT_TRUE(absl::StartsWith(message, "a.hlo:4:3: custom-call: api_version may not be")) << message;
}

TEST(ParseErrorTest, Depth_IsBounded) {
  for (char open : {'(', '{', '['}) {
    const std::string many(1000000, open);
    Error("HloModule m\nENTRY e { x = " + many);
    Error("HloModule m\nENTRY e { x = f32[] constant(" + many);
    Error("HloModule m\nENTRY e { x = f32[] parameter(0), a=" + many);
    Error("HloModule m\nENTRY e { x = f32[] add(" + many);
    Error("HloModule m, a=" + many);
    Error("HloModule m\nENTRY e " + many);
  }
}

TEST(ParseErrorTest, EveryPrefixIsRefusedOrRead) {
  const std::string text =
      "HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }, "
      "a={b}\n\nFileNames\n1 \"f\"\n\n"
      "g (a: f32[2]) -> f32[2] {\n  a = f32[2]{0} parameter(0), metadata={op_name=\"x\\\"\" "
      "source_line=3}\n}\n"
      "ENTRY e {\n  p = f32[2]{0} parameter(0), sharding={replicated}\n  c = f32[2] constant({1, "
      "/*i*/ 2})\n"
      "  ROOT r = f32[2] call(f32[2] %p), to_apply=g, control-predecessors={c} // end\n}\n";
  ASSERT_TRUE(ParseHloModule(text).ok()) << ParseHloModule(text).status();
  for (size_t i = 0; i < text.size(); ++i) {
    ParseHloModule(text.substr(0, i)).status().IgnoreError();
    std::string changed = text;
    for (char c : {'{', '}', '(', '"', ',', '%', '\0', '9', ' '}) {
      changed[i] = c;
      auto module = ParseHloModule(changed);
      if (!module.ok()) {
        EXPECT_TRUE(absl::StartsWith(module.status().message(), "<hlo>:")) << module.status();
      }
    }
  }
}

TEST(ParseErrorTest, Limits) {
  const std::string text = Entry("x = f32[] parameter(0) y = f32[] negate(x) z = f32[] negate(y)");
  EXPECT_EQ(ParseHloModule(text, {.limits = {.max_instructions = 2}}).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(ParseHloModule(text, {.limits = {.max_instructions = 3}}).ok());
}

TEST(ParseErrorTest, LongChainsAndDeepCallsAreFine) {
  std::string text = "HloModule m\nENTRY e {\n  a0 = f32[] parameter(0)\n";
  for (int i = 1; i <= 100000; ++i) absl::StrAppend(&text, "  a", i, " = f32[] add(a", i - 1, ", a0)\n");
  EXPECT_TRUE(ParseHloModule(text + "}").ok());
  text = "HloModule m\nc0 { p = f32[] parameter(0) }\n";
  for (int i = 1; i < 15000; ++i) {
    absl::StrAppend(&text, "c", i, " { p = f32[] parameter(0) r = f32[] call(p), to_apply=c", i - 1, " }\n");
  }
  EXPECT_TRUE(ParseHloModule(text).ok()) << ParseHloModule(text).status();
}

}  // namespace
}  // namespace hilo
