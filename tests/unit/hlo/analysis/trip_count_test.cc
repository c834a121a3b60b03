#include "hlo/analysis/trip_count.h"

#include "absl/strings/str_cat.h"
#include "tests/unit/hlo/passes/pass_testing.h"

namespace hilo {
namespace {

using testing::Parse;

// The trip count of a loop over (counter, f32) in the type, from `start`, whose condition and next counter are given in
// terms of i; -1: unknown.
int64_t Iterations(absl::string_view type, absl::string_view start, absl::string_view condition,
                   absl::string_view next) {
  const auto module = Parse(absl::StrCat(
      "HloModule m\nc {\n s = (", type, "[], f32[]) parameter(0)  i = ", type, "[] get-tuple-element(s), index=0\n ",
      condition, "\n}\nb {\n s = (", type, "[], f32[]) parameter(0)  i = ", type,
      "[] get-tuple-element(s), index=0  v = f32[] get-tuple-element(s), index=1\n ", next,
      "\n w = f32[] add(v, v)\n ROOT t = (", type,
      "[], f32[]) tuple(n, w)\n}\nENTRY e {\n x = f32[] parameter(0)\n z = ", type, "[] constant(", start, ")\n t = (",
      type, "[], f32[]) tuple(z, x)\n ROOT l = (", type, "[], f32[]) while(t), condition=c, body=b\n}\n"));
  return TripCount(*module->entry_computation()->root_instruction()).value_or(-1);
}
std::string Compare(absl::string_view type, absl::string_view direction, absl::string_view limit) {
  return absl::StrCat("e = ", type, "[] constant(", limit, ")  ROOT r = pred[] compare(i, e), direction=", direction);
}
std::string Step(absl::string_view type, absl::string_view op, absl::string_view by) {
  return absl::StrCat("o = ", type, "[] constant(", by, ")  n = ", type, "[] ", op, "(i, o)");
}

TEST(TripCount, Directions) {
  EXPECT_EQ(Iterations("s32", "0", Compare("s32", "LT", "9"), Step("s32", "add", "1")), 9);
  EXPECT_EQ(Iterations("s32", "0", Compare("s32", "LE", "9"), Step("s32", "add", "1")), 10);
  EXPECT_EQ(Iterations("s32", "0", Compare("s32", "LT", "10"), Step("s32", "add", "3")), 4);
  EXPECT_EQ(Iterations("s32", "0", Compare("s32", "LT", "9"), Step("s32", "add", "3")), 3);
  EXPECT_EQ(Iterations("s32", "9", Compare("s32", "LT", "9"), Step("s32", "add", "1")), 0);
  EXPECT_EQ(Iterations("s32", "9", Compare("s32", "GT", "0"), Step("s32", "subtract", "2")), 5);
  EXPECT_EQ(Iterations("s32", "9", Compare("s32", "GE", "-1"), Step("s32", "add", "-2")), 6);
  EXPECT_EQ(Iterations("s64", "2", Compare("s64", "NE", "10"), Step("s64", "add", "4")), 2);
  EXPECT_EQ(Iterations("s64", "2", Compare("s64", "NE", "2"), Step("s64", "add", "4")), 0);
  EXPECT_EQ(Iterations("s64", "2", Compare("s64", "EQ", "2"), Step("s64", "add", "4")), 1);
}

TEST(TripCount, ConstantsOnTheLeft) {
  EXPECT_EQ(Iterations("s32", "0", "e = s32[] constant(9)  ROOT r = pred[] compare(e, i), direction=GT",
                       "o = s32[] constant(2)  n = s32[] add(o, i)"),
            5);
  EXPECT_EQ(Iterations("s32", "0",
                       "o = s32[] constant(1)  j = s32[] add(i, o)  e = s32[] constant(9)  ROOT r = pred[] compare(j, "
                       "e), direction=LT",
                       Step("s32", "add", "1")),
            8);
}

// What would never end, or end by wrapping around.
TEST(TripCount, NoneWhereACounterLeavesItsType) {
  EXPECT_EQ(Iterations("s32", "0", Compare("s32", "LT", "9"), Step("s32", "add", "0")), -1);
  EXPECT_EQ(Iterations("s32", "0", Compare("s32", "LT", "9"), Step("s32", "add", "-1")), -1);
  EXPECT_EQ(Iterations("s32", "0", Compare("s32", "NE", "9"), Step("s32", "add", "2")), -1);
  EXPECT_EQ(Iterations("s8", "0", Compare("s8", "LE", "127"), Step("s8", "add", "1")), -1);
  EXPECT_EQ(Iterations("s8", "0", Compare("s8", "LT", "127"), Step("s8", "add", "3")), -1);
  EXPECT_EQ(Iterations("s8", "0", Compare("s8", "LT", "127"), Step("s8", "add", "1")), 127);
  EXPECT_EQ(Iterations("u32", "5", Compare("u32", "GE", "0"), Step("u32", "subtract", "1")), -1);
  EXPECT_EQ(Iterations("u32", "5", Compare("u32", "GT", "0"), Step("u32", "add", "4294967295")), 5);
}

TEST(TripCount, NoneWhereTheEndIsUnknown) {
  EXPECT_EQ(Iterations("s32", "0",
                       "e = s32[] multiply(i, i)  f = s32[] constant(9)  ROOT r = pred[] compare(e, f), direction=LT",
                       Step("s32", "add", "1")),
            -1);
  EXPECT_EQ(Iterations("s32", "0", Compare("s32", "LT", "9"), "n = s32[] multiply(i, i)"), -1);
  EXPECT_EQ(Iterations("s32", "0", Compare("s32", "LT", "9"), "j = s32[] convert(v)  n = s32[] add(i, j)"), -1);
  EXPECT_EQ(Iterations("s32", "0", "ROOT r = pred[] compare(i, i), direction=LT", Step("s32", "add", "1")), -1);
  EXPECT_EQ(Iterations("f32", "0", Compare("f32", "LT", "9"), Step("f32", "add", "1")), -1);
  // The condition has an effect.
  EXPECT_EQ(Iterations(
                "s32", "0",
                "k = token[] after-all()  u = token[] outfeed(i, k), outfeed_shape=s32[]  " + Compare("s32", "LT", "9"),
                Step("s32", "add", "1")),
            -1);
}

// As in later stages.
TEST(TripCount, ThroughFusionsAndCopies) {
  const auto module = Parse(R"(HloModule m
f { a = s32[] parameter(0)  e = s32[] constant(9)  ROOT r = pred[] compare(a, e), direction=LT }
g { a = s32[] parameter(0)  v = f32[8] parameter(1)  o = s32[] constant(1)  n = s32[] add(a, o)  w = f32[8] negate(v)  ROOT t = (s32[], f32[8]) tuple(n, w) }
c { s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0  ROOT r = pred[] fusion(i), kind=kLoop, calls=f }
b {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[8] get-tuple-element(s), index=1
  k = s32[] copy(i)
  h = (s32[], f32[8]) fusion(k, v), kind=kLoop, calls=g
  n = s32[] get-tuple-element(h), index=0
  m = s32[] copy(n)
  w = f32[8] get-tuple-element(h), index=1
  ROOT t = (s32[], f32[8]) tuple(m, w)
}
ENTRY e {
  x = f32[8] parameter(0)
  z = s32[] constant(2)
  y = s32[] copy(z)
  t = (s32[], f32[8]) tuple(y, x)
  ROOT l = (s32[], f32[8]) while(t), condition=c, body=b
})");
  EXPECT_EQ(TripCount(*module->entry_computation()->root_instruction()), 7);
}

// Sums of a value and itself, `depth` deep: "d0 = type[] add(of, of) d1 = type[] add(d0, d0) ...".
std::string Doubled(absl::string_view type, absl::string_view of, int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) {
    const std::string last = i == 0 ? std::string(of) : absl::StrCat("d", i - 1);
    absl::StrAppend(&text, "d", i, " = ", type, "[] add(", last, ", ", last, ")\n ");
  }
  return text;
}

// Exponential in time, or in the numbers, for a walk without memory.
TEST(TripCount, DoubledValues) {
  EXPECT_EQ(Iterations("s32", "0",
                       Doubled("s32", "i", 60) + "e = s32[] constant(9)  ROOT r = pred[] compare(d59, e), direction=LT",
                       Step("s32", "add", "1")),
            -1);
  EXPECT_EQ(Iterations("s32", "0", Compare("s32", "LT", "9"), Doubled("s32", "i", 60) + "n = s32[] copy(d59)"), -1);
  EXPECT_EQ(
      Iterations("s32", "0",
                 "o = s32[] constant(1)\n " + Doubled("s32", "o", 4) + "ROOT r = pred[] compare(i, d3), direction=LT",
                 Step("s32", "add", "1")),
      16);
  EXPECT_EQ(
      Iterations("s32", "0",
                 "o = s32[] constant(1)\n " + Doubled("s32", "o", 60) + "ROOT r = pred[] compare(i, d59), direction=LT",
                 Step("s32", "add", "1")),
      -1);
  EXPECT_EQ(Iterations("s64", "0",
                       "o = s64[] constant(9223372036854775807)\n " + Doubled("s64", "o", 63) +
                           "ROOT r = pred[] compare(i, d62), direction=LT",
                       Step("s64", "add", "1")),
            -1);
}

TEST(TripCount, WholeStateAsCounter) {
  const auto module = Parse(R"(HloModule m
c { i = s32[] parameter(0)  e = s32[] constant(9)  ROOT r = pred[] compare(i, e), direction=LT }
b { i = s32[] parameter(0)  o = s32[] constant(2)  ROOT n = s32[] add(i, o) }
ENTRY e { z = s32[] constant(0)  ROOT l = s32[] while(z), condition=c, body=b })");
  EXPECT_EQ(TripCount(*module->entry_computation()->root_instruction()), 5);
}

// JAX's loops with traced bounds carry the upper one.
TEST(TripCount, LimitInTheState) {
  const auto iterations = [](absl::string_view limit, absl::string_view next, absl::string_view compare) {
    const auto module = Parse(absl::StrCat(R"(HloModule m
c { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  e = s32[] get-tuple-element(s), index=1
  ROOT r = pred[] )",
                                           compare, R"( }
b { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  e = s32[] get-tuple-element(s), index=1
  o = s32[] constant(1)  n = s32[] add(i, o)  f = s32[] )",
                                           next, R"(  ROOT t = (s32[], s32[]) tuple(n, f) }
ENTRY e { x = s32[] parameter(0)  z = s32[] constant(0)  y = s32[] )",
                                           limit, R"(
  t = (s32[], s32[]) tuple(z, y)  ROOT l = (s32[], s32[]) while(t), condition=c, body=b })"));
    return TripCount(*module->entry_computation()->root_instruction()).value_or(-1);
  };
  EXPECT_EQ(iterations("constant(7)", "copy(e)", "compare(i, e), direction=LT"), 7);
  EXPECT_EQ(iterations("constant(7)", "copy(e)", "compare(e, i), direction=GE"), 8);
  EXPECT_EQ(iterations("multiply(x, z)", "copy(e)", "compare(i, e), direction=LT"), 0);
  EXPECT_EQ(iterations("convert(z)", "convert(e)", "compare(i, e), direction=GE"), -1);
  EXPECT_EQ(iterations("multiply(z, x)", "convert(e)", "compare(i, e), direction=LT"), 0);
  EXPECT_EQ(iterations("multiply(x, x)", "copy(e)", "compare(i, e), direction=LT"), -1);
  EXPECT_EQ(iterations("constant(7)", "add(e, o)", "compare(i, e), direction=LT"), -1);
  EXPECT_EQ(iterations("constant(7)", "negate(e)", "compare(i, e), direction=LT"), -1);
  EXPECT_EQ(iterations("copy(x)", "copy(e)", "compare(i, e), direction=LT"), -1);
}

// A solver's loop: it ends when it has converged, or after so many steps.
TEST(TripCount, ConjunctionsHaveAMaximum) {
  const auto loop = [](absl::string_view root) {
    return Parse(absl::StrCat(R"(HloModule m
c { s = (s32[], f32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  x = f32[] get-tuple-element(s), index=1
  e = s32[] constant(50)  f = s32[] constant(70)  limit = f32[] constant(1)
  few = pred[] compare(i, e), direction=LT  fewer = pred[] compare(i, f), direction=LT
  far = pred[] compare(x, limit), direction=GT
  )",
                              root, R"( }
b { s = (s32[], f32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  x = f32[] get-tuple-element(s), index=1
  o = s32[] constant(1)  n = s32[] add(i, o)  y = f32[] sqrt(x)  ROOT t = (s32[], f32[]) tuple(n, y) }
ENTRY e { z = s32[] constant(0)  x = f32[] parameter(0)  t = (s32[], f32[]) tuple(z, x)
  ROOT l = (s32[], f32[]) while(t), condition=c, body=b })"));
  };
  const auto expect = [&](absl::string_view root, int64_t most, int64_t exact, bool open_end) {
    const auto module = loop(root);
    const HloInstruction& instruction = *module->entry_computation()->root_instruction();
    EXPECT_EQ(MaxTripCount(instruction).value_or(-1), most) << root;
    EXPECT_EQ(TripCount(instruction).value_or(-1), exact) << root;
    EXPECT_EQ(HasOpenEnd(*module), open_end) << root;
  };
  expect("ROOT r = pred[] and(far, few)", 50, -1, false);
  expect("g = pred[] and(fewer, far)  ROOT r = pred[] and(g, few)", 50, -1, false);
  expect("ROOT r = pred[] compare(i, e), direction=LT", 50, 50, false);
  expect("ROOT r = pred[] or(far, few)", -1, -1, true);
  expect("ROOT r = pred[] and(far, far)", -1, -1, true);
}

}  // namespace
}  // namespace hilo
