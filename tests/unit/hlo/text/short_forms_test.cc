// What a text may leave out or write in line: it means what the full text means.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

std::string Printed(absl::string_view text) {
  auto module = ParseHloModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? PrintHloModule(**module) : "";
}

std::string ShortFormError(absl::string_view text, absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  auto module = ParseHloModule(text, {.file_name = "a.hlo"});
  EXPECT_EQ(module.status().code(), code) << module.status();
  return std::string(module.status().message());
}

std::string ShortEntry(absl::string_view body) { return absl::StrCat("HloModule m\nENTRY e {\n", body, "\n}\n"); }

TEST(ShortFormsTest, HeaderMayBeMissing) {
  EXPECT_EQ(Printed("ENTRY e { ROOT x = f32[] constant(1) }"),
            Printed("HloModule module\nENTRY e { ROOT x = f32[] constant(1) }"));
  EXPECT_EQ(
      Printed("f { p = f32[] parameter(0) } ENTRY e { x = f32[] constant(1)  ROOT y = f32[] call(x), to_apply=f }"),
      Printed("HloModule module\nf { p = f32[] parameter(0) } ENTRY e { x = f32[] constant(1)  ROOT y = f32[] "
              "call(x), to_apply=f }"));
  EXPECT_TRUE(absl::StrContains(ShortFormError("import numpy"), "expected 'HloModule'"));
  EXPECT_TRUE(absl::StrContains(ShortFormError(""), "expected 'HloModule'"));
}

TEST(ShortFormsTest, DimensionsMayBeApartFromTheirType) {
  EXPECT_EQ(Printed(ShortEntry("x = s32 [2,3] parameter(0)\nROOT y = s32 [2,3] negate(s32  [2,3] x)")),
            Printed(ShortEntry("x = s32[2,3] parameter(0)\nROOT y = s32[2,3] negate(x)")));
  EXPECT_EQ(Printed(ShortEntry("x = pred\n[] parameter(0)\nROOT y = not(pred [] x)")),
            Printed(ShortEntry("x = pred[] parameter(0)\nROOT y = pred[] not(x)")));
}

TEST(ShortFormsTest, ShapesFollowFromOperands) {
  const std::string printed = Printed(R"(HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = add(a, b) }
ENTRY e {
  x = f32[2,3] parameter(0)
  zero = f32[] constant(0)
  sum = reduce(x, zero), dimensions={1}, to_apply=add
  less = compare(sum, sum), direction=LT
  both = tuple(sum, less)
  first = get-tuple-element(both), index=0
  ROOT r = tuple(negate(x), both, first)
})");
  EXPECT_TRUE(absl::StrContains(printed, "ROOT c = f32[] add(a, b)")) << printed;
  EXPECT_TRUE(absl::StrContains(printed, "sum = f32[2] reduce(x, zero)")) << printed;
  EXPECT_TRUE(absl::StrContains(printed, "less = pred[2] compare(sum, sum)")) << printed;
  EXPECT_TRUE(absl::StrContains(printed, "first = f32[2] get-tuple-element(both)")) << printed;
  EXPECT_TRUE(absl::StrContains(printed, "ROOT r = (f32[2,3], (f32[2], pred[2]), f32[2]) tuple(negate, both, first)"))
      << printed;
  EXPECT_EQ(Printed(printed), printed);
}

TEST(ShortFormsTest, ShapesThatDoNotFollow) {
  EXPECT_TRUE(absl::StrContains(ShortFormError(ShortEntry("  x = parameter(0)")), "a.hlo:3:7: expected a shape"));
  EXPECT_TRUE(absl::StrContains(ShortFormError(ShortEntry("  x = constant(1)")), "expected a shape"));
  EXPECT_TRUE(
      absl::StrContains(ShortFormError(ShortEntry("  x = f32[] constant(1)  y = reshape(x)")), "must be stated"));
  EXPECT_TRUE(absl::StrContains(
      ShortFormError(ShortEntry("  x = f32[] constant(1)  y = f32[2] constant({1,2})  z = add(x, y)")),
      "the shape is left out: add: "));
  EXPECT_TRUE(absl::StrContains(
      ShortFormError(
          "HloModule m ENTRY e { x = f32[] constant(1)  ROOT y = call(x), to_apply=f } f { p = f32[] parameter(0) }"),
      "it can be left out only if the computation f comes before"));
  EXPECT_TRUE(absl::StrContains(ShortFormError("HloModule m f { x = f32[] constant(1)  ROOT y = call(x), to_apply=f }"),
                                "it can be left out only if the computation f comes before"));
}

// Every line doubles the number of shapes: 60 lines would be 2^60.
TEST(ShortFormsTest, InferredTuplesHaveALimit) {
  std::string body = "  t0 = f32[] constant(1)\n";
  for (int i = 1; i < 60; ++i) absl::StrAppend(&body, "  t", i, " = tuple(t", i - 1, ", t", i - 1, ")\n");
  EXPECT_TRUE(absl::StrContains(ShortFormError(ShortEntry(body), absl::StatusCode::kResourceExhausted),
                                "hold more than 2000000 shapes"));
  // One tuple of many large ones, and many copies of a large one.
  body = "  t0 = f32[] constant(1)\n";
  for (int i = 1; i < 18; ++i) absl::StrAppend(&body, "  t", i, " = tuple(t", i - 1, ", t", i - 1, ")\n");
  std::string many = "t17", copies = body;
  for (int i = 1; i < 1000; ++i) many += ", t17";
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&copies, "  c", i, " = opt-barrier(t17)\n");
  EXPECT_NE(
      ShortFormError(ShortEntry(absl::StrCat(body, "  m = tuple(", many, ")\n")), absl::StatusCode::kResourceExhausted),
      "");
  EXPECT_NE(ShortFormError(ShortEntry(copies), absl::StatusCode::kResourceExhausted), "");
}

TEST(ShortFormsTest, OperandsInLine) {
  EXPECT_EQ(Printed(ShortEntry("  x = f32[4] parameter(0)\n"
                               "  ROOT y = add(x, f32[4] broadcast(f32[] constant(2)))")),
            Printed(ShortEntry("  x = f32[4] parameter(0)\n"
                               "  constant = f32[] constant(2)\n"
                               "  broadcast = f32[4] broadcast(constant), dimensions={}\n"
                               "  ROOT y = f32[4] add(x, broadcast)")));
  EXPECT_TRUE(
      absl::StrContains(ShortFormError(ShortEntry("  y = f32[] negate(f32[] negate(q))")), "operand q is not defined"));
  // Attributes would be ambiguous.
  EXPECT_TRUE(absl::StrContains(
      ShortFormError(ShortEntry("  x = f32[2] constant({1,2})  y = f32[2] negate(f32[2] transpose(x), "
                                "dimensions={0})")),
      "expected the attribute dimensions of transpose; it is missing"));
}

TEST(ShortFormsTest, NestingHasALimit) {
  const auto nested = [](int depth) {
    std::string value = "x";
    for (int i = 0; i < depth; ++i) value = absl::StrCat("negate(", value, ")");
    return ShortEntry(absl::StrCat("  x = f32[] constant(1)  ROOT y = f32[] negate(", value, ")"));
  };
  EXPECT_TRUE(ParseHloModule(nested(100)).ok());
  EXPECT_TRUE(absl::StrContains(ShortFormError(nested(101)), "at most 100 deep"));
  EXPECT_TRUE(absl::StrContains(ShortFormError(nested(100000)), "at most 100 deep"));
  std::string text = "{ ROOT x = f32[] constant(1) }";
  for (int i = 0; i < 101; ++i) text = absl::StrCat("{ ROOT x = call(), to_apply=", text, " }");
  EXPECT_TRUE(absl::StrContains(ShortFormError(absl::StrCat("HloModule m ENTRY e ", text)), "at most 100 deep"));
}

TEST(ShortFormsTest, ComputationsInLine) {
  const std::string printed = Printed(R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  zero = f32[] constant(0)
  sum = f32[] reduce(x, zero), dimensions={0}, to_apply={ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = add(a, b) }
  which = pred[] parameter(1)
  ROOT r = conditional(which, sum, sum), branch_computations={{ p = f32[] parameter(0) }, { p = f32[] parameter(0)  n = negate(p) }}
})");
  EXPECT_TRUE(absl::StrContains(printed, "inline.2 {")) << printed;
  EXPECT_TRUE(absl::StrContains(printed, "to_apply=inline")) << printed;
  EXPECT_TRUE(absl::StrContains(printed, "true_computation=inline.1, false_computation=inline.2")) << printed;
  EXPECT_EQ(Printed(printed), printed);
}

// The condition is read first, although the body is written first.
TEST(ShortFormsTest, ComputationsInLine_InAnyOrder) {
  auto module = ParseHloModule(R"(HloModule m
ENTRY e {
  x = f32[] parameter(0)
  ROOT w = f32[] while(x), body={ p = f32[] parameter(0)

      ROOT double = add(p, p) }, condition={ p = f32[] parameter(0)
      limit = f32[] constant(3)
      ROOT less = compare(p, limit), direction=LT }
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const HloInstruction* loop = (*module)->entry_computation()->root_instruction();
  EXPECT_EQ(loop->source_text_line(), 4);
  EXPECT_EQ(loop->called_computation(0)->root_instruction()->source_text_line(), 8);
  EXPECT_EQ(loop->called_computation(1)->root_instruction()->source_text_line(), 6);
}

// Other callers share the computation of one text; two fusions may not.
TEST(ShortFormsTest, ComputationsInLine_EachFusionHasItsOwn) {
  const std::string printed = Printed(ShortEntry(
      "  x = f32[4] parameter(0)\n"
      "  a = f32[4] fusion(x), kind=kLoop, calls={ p = f32[4] parameter(0)  ROOT n = f32[4] fusion(p), kind=kLoop, "
      "calls={ q = f32[4] parameter(0)  ROOT r = negate(q) } }\n"
      "  ROOT b = f32[4] fusion(a), kind=kLoop, calls={ p = f32[4] parameter(0)  ROOT n = f32[4] fusion(p), "
      "kind=kLoop, "
      "calls={ q = f32[4] parameter(0)  ROOT r = negate(q) } }"));
  for (const char* name : {"calls=inline\n", "calls=inline.1\n", "calls=inline.2\n", "calls=inline.3\n"})
    EXPECT_TRUE(absl::StrContains(printed, name)) << printed;
  EXPECT_EQ(Printed(printed), printed);
}

// "inline" is the name in the text, and the second computation of that name in the module.
TEST(ShortFormsTest, ComputationsInLine_BesideOneOfTheirName) {
  auto module = ParseHloModule(R"(
main {
  x = f32[] parameter(0)
  y = f32[] call(x), to_apply={ p = f32[] parameter(0)  ROOT n = negate(p) }
  ROOT z = f32[] call(y), to_apply=inline
}
inline { p = f32[] parameter(0)  ROOT a = add(p, p) })");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->entry_computation()->name(), "main");
}

TEST(ShortFormsTest, BroadcastsOfScalarsNeedNoDimensions) {
  EXPECT_EQ(Printed(ShortEntry("  x = f32[] parameter(0)  ROOT y = f32[4] broadcast(x)")),
            Printed(ShortEntry("  x = f32[] parameter(0)  ROOT y = f32[4] broadcast(x), dimensions={}")));
  EXPECT_TRUE(absl::StrContains(ShortFormError(ShortEntry("  x = f32[4] parameter(0)  ROOT y = f32[4] broadcast(x)")),
                                "dimensions = {} must have one entry for each of the 1 dimensions"));
}

TEST(ShortFormsTest, PrecisionsInAnyCase) {
  EXPECT_TRUE(absl::StrContains(
      Printed(ShortEntry("  x = f32[2,2] parameter(0)  ROOT y = f32[2,2] dot(x, x), lhs_contracting_dims={1}, "
                         "rhs_contracting_dims={0}, operand_precision={HIGH,Highest}")),
      "operand_precision={high,highest}"));
}

TEST(ShortFormsTest, ElidedConstants) {
  const std::string text = ShortEntry("  ROOT x = f32[2] constant({...})");
  EXPECT_TRUE(absl::StrContains(ShortFormError(text), "left out of the text"));
  auto module = ParseHloModule(text, {.elided_constant = [](const Shape& shape) { return Literal::Create(shape); }});
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(absl::StrContains(PrintHloModule(**module), "constant({0, 0})")) << PrintHloModule(**module);
  const auto refuse = [](const Shape& shape) -> absl::StatusOr<Literal> {
    return absl::ResourceExhaustedError(shape.ToString());
  };
  EXPECT_EQ(ParseHloModule(text, {.elided_constant = refuse}).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace hilo
