// Rules of inference that ordinary programs and the tests of single ops do not come near: a module that breaks each, and the words of the error.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/text/hlo_parser.h"
#include "tests/unit/hlo/ops/inference_case.h"

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
        BrokenRule{"dynamic_reshape_alone", "ROOT y = f32[<=4] dynamic-reshape()", "expected an operand and sizes, got no operands"},
        BrokenRule{"send_of_a_token", "t = token[] after-all() ROOT s = (token[], u32[], token[]) send(t, t), channel_id=1",
                   "operand 0 must be an array or a tuple of arrays, but is token[]"},
        BrokenRule{"send_done_channel",
                   "x = f32[2] parameter(0) t = token[] after-all() s = (f32[2], u32[], token[]) send(x, t), channel_id=1 ROOT d = token[] send-done(s), channel_id=-1",
                   "channel_id = -1 is negative"},
        BrokenRule{"recv_channel", "t = token[] after-all() ROOT r = (f32[2], u32[], token[]) recv(t), channel_id=-1", "channel_id = -1 is negative"},
        BrokenRule{"recv_done_channel",
                   "t = token[] after-all() r = (f32[2], u32[], token[]) recv(t), channel_id=1 ROOT d = (f32[2], token[]) recv-done(r), channel_id=-1",
                   "channel_id = -1 is negative"},
        BrokenRule{"ragged_all_to_all_groups",
                   "x = f32[4] parameter(0) n = s32[2] parameter(1) ROOT y = f32[4] ragged-all-to-all(x, x, n, n, n, n), replica_groups={{0,1},{2}}",
                   "replica_groups"},
        BrokenRule{"collective_permute_slices",
                   "x = f32[4] parameter(0) ROOT y = f32[4] collective-permute(x), source_target_pairs={{0,1}}, slice_sizes={{1}}", "slice_sizes"},
        BrokenRule{"conv_labels_in_number",
                   "x = f32[1,1,5] parameter(0) k = f32[1,1,2] parameter(1) ROOT y = f32[1,1,4] convolution(x, k), window={size=2}, dim_labels=bf0_oi01->bf0",
                   "dim_labels"}),
    [](const auto& info) { return std::string(info.param.name); });

// Rules of ops that are put together without text.
HILO_INFERENCE_TESTS(AllGatherRules, HloOpcode::kAllGather,
                     (std::vector<InferenceCase>{
                         {"size", {"pred[4611686018427387904]"}, {{"dimensions", "{0}"}, {"replica_groups", "{{0,1}}"}}, {}, "error: the result of 2 shards is too large"},
                         {"stated", {"f32[4]"}, {{"dimensions", "{0}"}}, {}, "error: the result shape must be stated"},
                     }));
HILO_INFERENCE_TESTS(ReduceScatterRules, HloOpcode::kReduceScatter,
                     (std::vector<InferenceCase>{
                         {"stated", {"f32[4]"}, {{"dimensions", "{0}"}}, {{{"f32[]", "f32[]"}, "f32[]"}}, "error: the result shape must be stated"},
                     }));
HILO_INFERENCE_TESTS(InfeedRules, HloOpcode::kInfeed, (std::vector<InferenceCase>{{"stated", {"token[]"}, {}, {}, "error: the result shape must be stated"}}));
HILO_INFERENCE_TESTS(RecvRules, HloOpcode::kRecv, (std::vector<InferenceCase>{{"stated", {"token[]"}, {}, {}, "error: the result shape must be stated"}}));
HILO_INFERENCE_TESTS(IotaRules, HloOpcode::kIota,
                     (std::vector<InferenceCase>{{"stated", {}, {{"iota_dimension", "0"}}, {}, "error: the result shape must be stated"},
                                                 {"tuple", {}, {{"iota_dimension", "0"}}, {}, "error: the result must be an array, got (f32[2])", "(f32[2])"}}));
HILO_INFERENCE_TESTS(StochasticConvertRules, HloOpcode::kStochasticConvert,
                     (std::vector<InferenceCase>{{"stated", {"f32[2]", "u32[2]"}, {}, {}, "error: the result shape must be stated"},
                                                 {"tuple", {"f32[2]", "u32[2]"}, {}, {}, "error: the result must be an array, got (s8[2])", "(s8[2])"}}));
HILO_INFERENCE_TESTS(BitcastRules, HloOpcode::kBitcast,
                     (std::vector<InferenceCase>{{"stated", {"f32[2]"}, {}, {}, "error: the result shape must be stated"},
                                                 {"tuple", {"f32[2]"}, {}, {}, "error: the result must be an array, got (f32[2])", "(f32[2])"}}));
HILO_INFERENCE_TESTS(BitcastConvertRules, HloOpcode::kBitcastConvert,
                     (std::vector<InferenceCase>{{"stated", {"f32[2]"}, {}, {}, "error: the result shape must be stated"},
                                                 {"tuple", {"f32[2]"}, {}, {}, "error: the result must be an array, got (s32[2])", "(s32[2])"}}));
HILO_INFERENCE_TESTS(DynamicReshapeRules, HloOpcode::kDynamicReshape,
                     (std::vector<InferenceCase>{{"stated", {"f32[2]", "s32[]"}, {}, {}, "error: the result shape must be stated"},
                                                 {"tuple", {"f32[2]", "s32[]"}, {}, {}, "error: the result must be an array, got (f32[2])", "(f32[2])"}}));
HILO_INFERENCE_TESTS(CustomCallRules, HloOpcode::kCustomCall,
                     (std::vector<InferenceCase>{{"stated", {}, {{"custom_call_target", "\"f\""}}, {}, "error: the shape of the result must be stated"}}));

}  // namespace
}  // namespace hilo
