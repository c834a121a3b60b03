// How operands, constraints and loops decide the shardings of what leaves them open.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/unit/hlo/passes/sharding_testing.h"

namespace hilo {
namespace {

using testing::kAOnColumns;
using testing::kAOnRows;
using testing::kBOnColumns;
using testing::kBOnRows;
using testing::kBothOnRowsAndColumns;
using testing::OfStablehlo;

// Where two operands disagree, the one with the lower number decides; without priorities, neither does, or the first.
TEST(ShardingPropagationTest, PrioritiesOfUsers) {
  const struct {
    const char *x, *y, *result;
  } cases[] = {
      {R"({"a"}, {})", R"({"b"}, {})", "{replicated}"},
      {R"({"a"}, {})", R"({"b"}p1, {})", kAOnRows},
      {R"({"a"}p1, {})", R"({"b"}, {})", kBOnRows},
      {R"({"a"}p1, {})", R"({"b"}p1, {})", "{replicated}"},
      {R"({"a"}p2, {})", R"({"b"}p1, {})", kBOnRows},
      {R"({"a"}p1, {})", R"({}, {"a"})", kAOnColumns},
      {R"({}, {"a"}p1)", R"({"a"}p1, {"b"})", kBothOnRowsAndColumns},
      {R"({"b"}, {})", R"({"a"}p2, {"b"}p1)", kBOnRows},
  };
  for (const auto& c : cases) {
    const std::string arguments = absl::StrReplaceAll(
        R"(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [X]>}, %y: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [Y]>})",
        {{"X", c.x}, {"Y", c.y}});
    EXPECT_EQ(OfStablehlo(arguments, "  %z = stablehlo.add %x, %y : tensor<8x16xf32>\n  return %z : tensor<8x16xf32>"),
              c.result)
        << c.x << " and " << c.y;
  }
}

// The axes that a manual computation leaves free cut its arrays, and what it returns; the manual ones cut only what it
// states, and those of a computation within it nothing.
TEST(ShardingPropagationTest, OfManualRegions) {
  constexpr char kSine[] = "    %r = stablehlo.sine %l : tensor<8x4xf32>\n";
  const struct {
    const char *x, *in, *out, *body, *result;
  } cases[] = {
      {R"({"a"}, {})", R"({?}, {"b", ?})", R"({?}, {"b", ?})", kSine, kBothOnRowsAndColumns},
      {R"({"b"}, {})", R"({?}, {"b", ?})", R"({?}, {"b", ?})", kSine, kBOnColumns},
      {R"({"a"}, {})", R"({}, {"b"})", R"({}, {"b"})", kSine, kBOnColumns},
      {R"({}, {"b"})", R"({?}, {"b", ?})", R"({?}, {"b", ?})",
       "    %s = stablehlo.sine %l : tensor<8x4xf32>\n    %r = sdy.sharding_constraint %s <@m, [{\"a\"}, {}]> : "
       "tensor<8x4xf32>\n",
       kBothOnRowsAndColumns},
      {R"({}, {"b"})", R"({?}, {"b", ?})", R"({?}, {"b", ?})",
       "    %s = stablehlo.sine %l : tensor<8x4xf32>\n    %r = sdy.sharding_constraint %s <@m, [{\"b\"}, {}]> : "
       "tensor<8x4xf32>\n",
       kBOnColumns},
      {R"({"a"}, {"b"})", R"({?}, {"b", ?})", R"({?}, {"b", ?})",
       R"(    %r = "stablehlo.collective_permute"(%l) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0], [4, 5], [5, 4]]> : tensor<4x2xi64>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
)",
       kBothOnRowsAndColumns},
      {R"({"a"}, {"b"})", R"({?}, {"b", ?})", R"({?}, {"b", ?})",
       R"(    %r = "stablehlo.collective_permute"(%l) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 4], [4, 0]]> : tensor<2x2xi64>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
)",
       kBOnColumns},
      {R"({}, {"b"})", R"({?}, {"b", ?})", R"({?}, {"b", ?})",
       R"(    %r = sdy.manual_computation(%l) in_shardings=[<@m, [{"a", ?}, {?}]>] out_shardings=[<@m, [{"a", ?}, {?}]>] manual_axes={"a"} (%k: tensor<4x4xf32>) {
      %s = stablehlo.sine %k : tensor<4x4xf32>
      sdy.return %s : tensor<4x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
)",
       kBothOnRowsAndColumns},
  };
  for (const auto& c : cases) {
    const std::string arguments = absl::StrCat("%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [", c.x, "]>}");
    EXPECT_EQ(OfStablehlo(arguments, absl::StrCat("  %z = sdy.manual_computation(%x) in_shardings=[<@m, [", c.in,
                                                  "]>] out_shardings=[<@m, [", c.out,
                                                  "]>] manual_axes={\"b\"} (%l: tensor<8x4xf32>) {\n", c.body,
                                                  "    sdy.return %r : tensor<8x4xf32>\n  } : (tensor<8x16xf32>) -> "
                                                  "tensor<8x16xf32>\n  return %z : tensor<8x16xf32>")),
              c.result)
        << c.x << " into " << c.in << c.body;
  }
}

// The ops of a loop's body decide before what the loop begins with, but not before what the body captures.
TEST(ShardingPropagationTest, OfLoops) {
  const struct {
    const char *begin, *w, *result;
  } cases[] = {
      {"stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> "
       "tensor<8x16xf32>",
       R"({}, {"a"})", kAOnColumns},
      {"stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> "
       "tensor<8x16xf32>",
       "{}, {}", kAOnRows},
      {"stablehlo.sine %x : tensor<8x16xf32>", R"({}, {"a"})", kAOnRows},
      {"stablehlo.sine %x : tensor<8x16xf32>", R"({}, {"b"})", kBothOnRowsAndColumns},
  };
  for (const auto& c : cases) {
    const std::string arguments = absl::StrCat(
        R"(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>}, %v: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}, %w: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@m, [)",
        c.w, "]>}");
    EXPECT_EQ(OfStablehlo(arguments, absl::StrCat("  %h = ", c.begin, R"(
  %n = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %n, %s = %h) : tensor<i32>, tensor<8x16xf32>
  cond {
    %four = stablehlo.constant dense<4> : tensor<i32>
    %c = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.dot_general %s, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
    %t = stablehlo.add %s, %y : tensor<8x16xf32>
    stablehlo.return %j, %t : tensor<i32>, tensor<8x16xf32>
  }
  return %r#1 : tensor<8x16xf32>)")),
              c.result)
        << c.begin << " with " << c.w;
  }
}

// A constraint that leaves nothing open decides how the value is made whose only constraint it is, whatever else uses
// that.
TEST(ShardingPropagationTest, ConstraintsOfValuesWithOtherUses) {
  constexpr char kMade[] = "  %t = stablehlo.sine %h : tensor<8x16xf32>\n";
  constexpr char kOnB[] = "  %c = sdy.sharding_constraint %t <@m, [{\"b\"}, {}]> : tensor<8x16xf32>\n";
  constexpr char kSum[] = "  %s = stablehlo.add %t, %d : tensor<8x16xf32>\n  return %s : tensor<8x16xf32>";
  const struct {
    const char *h, *made, *then, *result;
  } cases[] = {
      {R"({"a"}, {})", kMade, "  %d = stablehlo.sine %c : tensor<8x16xf32>\n", kBOnRows},
      {R"({}, {"a"})", kMade, "  %d = stablehlo.sine %c : tensor<8x16xf32>\n", kBOnRows},
      {R"({}, {"b"})", kMade, "  %d = sdy.sharding_constraint %t <@m, [{\"b\"}, {}]> : tensor<8x16xf32>\n", kBOnRows},
      {R"({"a"}, {})", kMade, "  %d = sdy.sharding_constraint %t <@m, [{\"b\"}, {?}]> : tensor<8x16xf32>\n",
       "{replicated}"},
  };
  for (const auto& c : cases) {
    const std::string arguments =
        absl::StrReplaceAll(R"(%h: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [X]>})", {{"X", c.h}});
    EXPECT_EQ(OfStablehlo(arguments, absl::StrCat(c.made, kOnB, c.then, kSum)), c.result) << c.h << c.made << c.then;
  }
}

// ... and, as far as it goes, that of the state of a loop.
TEST(ShardingPropagationTest, ConstraintsOfStatesOfLoops) {
  constexpr char kBOnRowsAndAOnColumns[] = "{devices=[4,2]0,4,1,5,2,6,3,7}";
  const struct {
    const char *h, *body, *result;
  } cases[] = {
      {R"({"a"}, {})", "%y = stablehlo.sine %c : tensor<8x16xf32>", kBOnRows},
      {R"({}, {"a"})", "%y = stablehlo.sine %c : tensor<8x16xf32>", kBOnRowsAndAOnColumns},
      {R"({}, {"b"})", "%y = stablehlo.add %c, %s : tensor<8x16xf32>", kBOnRows},
      {R"({"a"}, {})", "%y = stablehlo.add %c, %s : tensor<8x16xf32>", kBOnRows},
      {R"({}, {"a"})", "%y = stablehlo.add %c, %s : tensor<8x16xf32>", kBOnRowsAndAOnColumns},
      // Constraints that differ.
      {R"({}, {"b"})",
       "%e = sdy.sharding_constraint %s <@m, [{}, {\"b\"}]> : tensor<8x16xf32>\n"
       "%y = stablehlo.add %c, %e : tensor<8x16xf32>",
       kBOnColumns},
  };
  for (const auto& c : cases) {
    const std::string arguments =
        absl::StrReplaceAll(R"(%h: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [X]>})", {{"X", c.h}});
    EXPECT_EQ(OfStablehlo(arguments, absl::StrReplaceAll(R"(
  %n = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %n, %s = %h) : tensor<i32>, tensor<8x16xf32>
  cond {
    %four = stablehlo.constant dense<4> : tensor<i32>
    %l = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %c = sdy.sharding_constraint %s <@m, [{"b"}, {}]> : tensor<8x16xf32>
    BODY
    stablehlo.return %j, %y : tensor<i32>, tensor<8x16xf32>
  }
  return %r#1 : tensor<8x16xf32>)",
                                                         {{"BODY", c.body}})),
              c.result)
        << c.h << ": " << c.body;
  }
}

// ... and that of all uses of a loop's result, but not of the loop's state.
TEST(ShardingPropagationTest, ConstraintsOfResultsOfLoops) {
  const struct {
    const char *h, *then, *result;
  } cases[] = {
      {R"({"a"}, {})", "%z = stablehlo.add %c, %s : tensor<8x16xf32>", kBOnRows},
      {R"({"a"}, {})", "%z = stablehlo.multiply %s, %s : tensor<8x16xf32>", kBOnRows},
      // Constraints that differ.
      {R"({"a"}, {})",
       "%d = sdy.sharding_constraint %r#1 <@m, [{\"a\"}, {}]> : tensor<8x16xf32>\n"
       "  %z = stablehlo.sine %s : tensor<8x16xf32>",
       kAOnRows},
  };
  for (const auto& c : cases) {
    const std::string arguments =
        absl::StrReplaceAll(R"(%h: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [X]>})", {{"X", c.h}});
    EXPECT_EQ(OfStablehlo(arguments, absl::StrReplaceAll(R"(
  %n = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %n, %t = %h) : tensor<i32>, tensor<8x16xf32>
  cond {
    %four = stablehlo.constant dense<4> : tensor<i32>
    %l = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.cosine %t : tensor<8x16xf32>
    stablehlo.return %j, %y : tensor<i32>, tensor<8x16xf32>
  }
  %s = stablehlo.sine %r#1 : tensor<8x16xf32>
  %c = sdy.sharding_constraint %r#1 <@m, [{"b"}, {}]> : tensor<8x16xf32>
  THEN
  return %z : tensor<8x16xf32>)",
                                                         {{"THEN", c.then}})),
              c.result)
        << c.then;
  }
}

// Users of one constant, or of one scalar that is repeated, need not agree on its sharding.
TEST(ShardingPropagationTest, EachUseHasItsOwnConstant) {
  for (const char* made : {"%k = stablehlo.constant dense<1.0> : tensor<8x16xf32>",
                           "%f = stablehlo.iota dim = 1 : tensor<8x16xf32>\n"
                           "  %k = stablehlo.sine %f : tensor<8x16xf32>",
                           "%k = stablehlo.broadcast_in_dim %v, dims = [] : (tensor<f32>) -> tensor<8x16xf32>"}) {
    EXPECT_EQ(
        OfStablehlo(
            R"(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>}, %y: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"b"}, {}]>}, %v: tensor<f32>)",
            absl::StrCat("  ", made, R"(
  %o = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.multiply %x, %k : tensor<8x16xf32>
  %s = stablehlo.reduce(%p init: %o) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
  %t = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
  %q = stablehlo.multiply %y, %k : tensor<8x16xf32>
  %z = stablehlo.add %q, %t : tensor<8x16xf32>
  return %z : tensor<8x16xf32>)")),
        kBOnRows)
        << made;
  }
}

// A constraint waits for its turn, and its dimension is not cut otherwise until then; an axis that it wants to be
// replicated along cuts none of its dimensions.
TEST(ShardingPropagationTest, PrioritiesAndReplicatedAxesOfConstraints) {
  const struct {
    const char *constraint, *result;
  } cases[] = {
      {R"([{"b"}, {?}])", "{replicated}"},           {R"([{"b"}p1, {?}])", kAOnRows},
      {R"([{?}, {"b"}])", kBothOnRowsAndColumns},    {R"([{?}, {?}], replicated={"b"})", kAOnRows},
      {R"([{?}, {?}], replicated={"a"})", kAOnRows},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(OfStablehlo(
                  R"(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>})",
                  absl::StrCat("  %y = stablehlo.cosine %x : tensor<8x16xf32>\n  %c = sdy.sharding_constraint %y <@m, ",
                               c.constraint,
                               "> : tensor<8x16xf32>\n  %s = stablehlo.sine %c : tensor<8x16xf32>\n"
                               "  %z = stablehlo.add %s, %y : tensor<8x16xf32>\n  return %z : tensor<8x16xf32>")),
              c.result)
        << c.constraint;
  }
  for (const auto& [axis, result] : {std::pair("a", "{replicated}"), std::pair("b", kAOnRows)}) {
    EXPECT_EQ(OfStablehlo(R"(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>})",
                          absl::StrCat("  %c = sdy.sharding_constraint %x <@m, [{?}, {?}], replicated={\"", axis,
                                       "\"}> : tensor<8x16xf32>\n  %s = stablehlo.sine %c : tensor<8x16xf32>\n"
                                       "  return %s : tensor<8x16xf32>")),
              result)
        << axis;
  }
}

}  // namespace
}  // namespace hilo
