// Rules of inference that ordinary programs and the tests of single ops do not come near: a module that breaks each, and the words of the error.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/text/hlo_parser.h"

namespace hilo {
namespace {

struct BrokenRule {
  const char *name, *body, *message;
  const char* computations = "";
};

constexpr char kAdd[] = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n";

class RareRulesTest : public testing::TestWithParam<BrokenRule> {};

TEST_P(RareRulesTest, IsRefused) {
  const BrokenRule& rule = GetParam();
  const auto module = ParseHloModule(absl::StrCat("HloModule m, replica_count=2\n", rule.computations, "ENTRY e {\n", rule.body, "\n}\n"));
  ASSERT_FALSE(module.ok());
  EXPECT_TRUE(absl::StrContains(module.status().message(), rule.message)) << module.status();
}

INSTANTIATE_TEST_SUITE_P(
    All, RareRulesTest,
    testing::Values(
        BrokenRule{"dot_algorithm", "x = f32[2,2] parameter(0) ROOT y = f32[2,2] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=dot_by_hand",
                   "there is no algorithm dot_by_hand"},
        BrokenRule{"reduce_scatter_results",
                   "x = f32[4] parameter(0) ROOT y = f32[2] reduce-scatter(x, x), dimensions={0}, replica_groups={{0,1}}, to_apply=add",
                   "expected a tuple of 2 results, got f32[2]", kAdd},
        BrokenRule{"reduce_scatter_rank", "x = f32[4] parameter(0) ROOT y = f32[2,1] reduce-scatter(x), dimensions={0}, replica_groups={}, to_apply=add",
                   "must have the rank of operand f32[4]", kAdd},
        BrokenRule{"scan_element_rank",
                   "x = f32[3,4] parameter(0) z = f32[] constant(0) ROOT y = (f32[4], f32[]) scan(x, z), dimensions={1}, num_carries=1, to_apply=step",
                   "must be an array of rank 1 at least",
                   "step { a = f32[3] parameter(0) c = f32[] parameter(1) ROOT t = (f32[], f32[]) tuple(c, c) }\n"},
        BrokenRule{"dynamic_reshape_alone", "ROOT y = f32[<=4] dynamic-reshape()", "expected an operand and sizes, got no operands"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hilo
