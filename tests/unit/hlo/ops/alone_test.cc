// Ops that communicate, in an evaluator without other devices, feeds or functions.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/evaluator/hlo_evaluator.h"
#include "hlo/text/hlo_parser.h"

namespace hilo {
namespace {

constexpr char kAdd[] = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n";

absl::StatusOr<Literal> Evaluate(absl::string_view body, absl::string_view header = "") {
  auto module = ParseHloModule(absl::StrCat("HloModule m", header, "\n", kAdd, "ENTRY e {\n", body, "\n}\n"));
  if (!module.ok()) return module.status();
  return HloEvaluator().Evaluate(**module, {});
}

void ExpectText(absl::string_view body, absl::string_view expected, absl::string_view header = "") {
  const auto result = Evaluate(body, header);
  ASSERT_TRUE(result.ok()) << body << ": " << result.status();
  EXPECT_EQ(result->ToString(), std::string(expected)) << body;
}

void ExpectError(absl::string_view body, absl::StatusCode code, absl::string_view words,
                 absl::string_view header = "") {
  const auto result = Evaluate(body, header);
  EXPECT_EQ(result.status().code(), code) << body << ": " << result.status();
  EXPECT_TRUE(absl::StrContains(result.status().message(), words)) << result.status();
}

constexpr char kTwo[] = ", replica_count=2";
constexpr char kX[] = "x = f32[2] constant({1,2}) ";

TEST(AloneTest, CollectivesOfOneDeviceAreCopies) {
  ExpectText(absl::StrCat(kX, "ROOT y = f32[2] all-reduce(x), replica_groups={}, to_apply=add"), "f32[2] {1, 2}");
  ExpectText(absl::StrCat(kX, "ROOT y = f32[2] all-gather(x), dimensions={0}, replica_groups={{0}}"), "f32[2] {1, 2}");
  ExpectText(absl::StrCat(kX, "ROOT y = (f32[2]) all-to-all(x), replica_groups={{0}}"), "(f32[2]) ({1, 2})");
  ExpectText(absl::StrCat(kX, "ROOT y = f32[2] collective-permute(x), source_target_pairs={{0,0}}"), "f32[2] {1, 2}");
  ExpectText(absl::StrCat(kX, "ROOT y = f32[2] collective-permute(x), source_target_pairs={}"), "f32[2] {0, 0}");
}

TEST(AloneTest, CollectivesOfSeveralDevicesAreRefused) {
  const auto code = absl::StatusCode::kUnimplemented;
  ExpectError(absl::StrCat(kX, "ROOT y = f32[4] all-gather(x), dimensions={0}, replica_groups={{0,1}}"), code,
              "all-gather: replica_groups name 2 devices, but the program runs on one", kTwo);
  ExpectError(absl::StrCat(kX, "ROOT y = f32[4] all-gather(x), dimensions={0}, replica_groups={}"), code,
              "all-gather: the result f32[4] is of several devices, but the program runs on one", kTwo);
  ExpectError(absl::StrCat(kX, "ROOT y = f32[1] reduce-scatter(x), dimensions={0}, replica_groups={}, to_apply=add"),
              code, "reduce-scatter: the result f32[1] is of several devices", kTwo);
  ExpectError(absl::StrCat(kX, "ROOT y = (f32[2], f32[2]) all-to-all(x, x), replica_groups={}"), code,
              "all-to-all: 2 operands are of as many devices", kTwo);
  ExpectError(absl::StrCat(kX, "ROOT y = f32[2] collective-permute(x), source_target_pairs={{0,1}}"), code,
              "source_target_pairs name device 1, but the program runs on one", kTwo);
  ExpectError(absl::StrCat(kX, "ROOT y = f32[2] collective-permute(x), source_target_pairs={{1,0}}"), code,
              "source_target_pairs name device 1, but the program runs on one", kTwo);
}

TEST(AloneTest, RaggedAllToAllMovesRows) {
  const auto with = [](absl::string_view from, absl::string_view sizes, absl::string_view to) {
    return absl::StrCat(
        "x = f32[4,1] constant({{1},{2},{3},{4}}) z = f32[3,1] constant({{7},{8},{9}}) f = s32[1] constant({", from,
        "}) n = s32[1] constant({", sizes, "}) t = s32[1] constant({", to,
        "}) ROOT y = f32[3,1] ragged-all-to-all(x, z, f, n, t, n), replica_groups={{0}}");
  };
  ExpectText(with("2", "2", "1"), "f32[3,1] { { 7 }, { 3 }, { 4 } }");
  ExpectText(with("4", "0", "3"), "f32[3,1] { { 7 }, { 8 }, { 9 } }");
  for (const auto& [from, sizes, to] :
       {std::tuple("3", "2", "0"), std::tuple("-1", "1", "0"), std::tuple("0", "-1", "0")}) {
    ExpectError(with(from, sizes, to), absl::StatusCode::kInvalidArgument,
                "leaves the input f32[4,1] or the output f32[3,1]");
  }
  for (const auto& [from, sizes, to] :
       {std::tuple("0", "2", "2"), std::tuple("0", "1", "-1"), std::tuple("0", "4", "0")}) {
    ExpectError(with(from, sizes, to), absl::StatusCode::kInvalidArgument,
                "leaves the input f32[4,1] or the output f32[3,1]");
  }
}

TEST(AloneTest, AccessesStayInside) {
  const auto code = absl::StatusCode::kUnimplemented;
  ExpectError("t = token[] after-all() ROOT i = (f32[2], token[]) infeed(t)", code,
              "infeed reaches outside of the program");
  ExpectError(absl::StrCat(kX, "t = token[] after-all() ROOT o = token[] outfeed(x, t), outfeed_shape=f32[2]"), code,
              "outfeed reaches outside of the program");
  ExpectError("ROOT c = f32[2] custom-call(), custom_call_target=\"f\"", code,
              "this evaluator has no registered functions; got a call of f");
  EXPECT_TRUE(Evaluate("t = token[] after-all() ROOT i = ((), token[]) infeed(t)").ok());
}

TEST(AloneTest, ArgumentsAreThoseOfTheComputation) {
  auto module = ParseHloModule("HloModule m ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] negate(x) }");
  ASSERT_TRUE(module.ok());
  const Literal one = LiteralUtil::CreateR0<float>(1);
  EXPECT_TRUE(absl::StrContains(HloEvaluator().Evaluate(**module, {}).status().message(),
                                "computation e has 1 parameters, but got 0 arguments"));
  EXPECT_TRUE(absl::StrContains(HloEvaluator().Evaluate(**module, {&one, &one}).status().message(),
                                "has 1 parameters, but got 2 arguments"));
  EXPECT_TRUE(absl::StrContains(HloEvaluator().Evaluate(**module, {&one}).status().message(),
                                "argument 0 of e: expected f32[2], got f32[]"));
}

}  // namespace
}  // namespace hilo
