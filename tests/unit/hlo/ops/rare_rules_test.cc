// Rules of inference that ordinary programs and the tests of single ops do not come near: a module that breaks each,
// and the words of the error.
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

constexpr char kAddition[] = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n";

class RareRulesTest : public testing::TestWithParam<BrokenRule> {};

TEST_P(RareRulesTest, IsRefused) {
  const BrokenRule& rule = GetParam();
  const auto module = ParseHloModule(
      absl::StrCat("HloModule m, replica_count=2\n", rule.computations, "ENTRY e {\n", rule.body, "\n}\n"));
  ASSERT_FALSE(module.ok());
  EXPECT_TRUE(absl::StrContains(module.status().message(), rule.message)) << module.status();
}

INSTANTIATE_TEST_SUITE_P(
    All, RareRulesTest,
    testing::Values(
        BrokenRule{"dot_algorithm",
                   "x = f32[2,2] parameter(0) ROOT y = f32[2,2] dot(x, x), lhs_contracting_dims={1}, "
                   "rhs_contracting_dims={0}, algorithm=dot_by_hand",
                   "there is no algorithm dot_by_hand"},
        BrokenRule{"reduce_scatter_results",
                   "x = f32[4] parameter(0) ROOT y = f32[2] reduce-scatter(x, x), dimensions={0}, "
                   "replica_groups={{0,1}}, to_apply=add",
                   "expected a tuple of 2 results, got f32[2]", kAddition},
        BrokenRule{"reduce_scatter_rank",
                   "x = f32[4] parameter(0) ROOT y = f32[2,1] reduce-scatter(x), dimensions={0}, replica_groups={}, "
                   "to_apply=add",
                   "must have the rank of operand f32[4]", kAddition},
        BrokenRule{"scan_element_rank",
                   "x = f32[3,4] parameter(0) z = f32[] constant(0) ROOT y = (f32[4], f32[]) scan(x, z), "
                   "dimensions={1}, num_carries=1, to_apply=step",
                   "must be an array of rank 1 at least",
                   "step { a = f32[3] parameter(0) c = f32[] parameter(1) ROOT t = (f32[], f32[]) tuple(c, c) }\n"},
        BrokenRule{"dynamic_reshape_alone", "ROOT y = f32[<=4] dynamic-reshape()",
                   "expected an operand and sizes, got no operands"},
        BrokenRule{"send_of_a_token",
                   "t = token[] after-all() ROOT s = (token[], u32[], token[]) send(t, t), channel_id=1",
                   "operand 0 must be an array or a tuple of arrays, but is token[]"},
        BrokenRule{"send_done_channel",
                   "x = f32[2] parameter(0) t = token[] after-all() s = (f32[2], u32[], token[]) send(x, t), "
                   "channel_id=1 ROOT d = token[] send-done(s), channel_id=-1",
                   "channel_id = -1 is negative"},
        BrokenRule{"recv_channel", "t = token[] after-all() ROOT r = (f32[2], u32[], token[]) recv(t), channel_id=-1",
                   "channel_id = -1 is negative"},
        BrokenRule{"recv_done_channel",
                   "t = token[] after-all() r = (f32[2], u32[], token[]) recv(t), channel_id=1 ROOT d = (f32[2], "
                   "token[]) recv-done(r), channel_id=-1",
                   "channel_id = -1 is negative"},
        BrokenRule{"ragged_all_to_all_groups",
                   "x = f32[4] parameter(0) n = s32[2] parameter(1) ROOT y = f32[4] ragged-all-to-all(x, x, n, n, n, "
                   "n), replica_groups={{0,1},{2}}",
                   "replica_groups"},
        BrokenRule{"collective_permute_slices",
                   "x = f32[4] parameter(0) ROOT y = f32[4] collective-permute(x), source_target_pairs={{0,1}}, "
                   "slice_sizes={{1}}",
                   "slice_sizes"},
        BrokenRule{"ragged_all_to_all_type",
                   "x = f32[4] parameter(0) n = s32[2] parameter(1) m = s64[2] parameter(2) ROOT y = f32[4] "
                   "ragged-all-to-all(x, x, n, n, m, n), replica_groups={{0,1}}",
                   "offsets and sizes must be s32 or s64 vectors of one type and length, but operand 4 is s64[2]"},
        BrokenRule{"ragged_all_to_all_unsigned",
                   "x = f32[4] parameter(0) n = u32[2] parameter(1) ROOT y = f32[4] ragged-all-to-all(x, x, n, n, n, "
                   "n), replica_groups={{0,1}}",
                   "but operand 2 is u32[2]"},
        BrokenRule{"ragged_all_to_all_rank",
                   "x = f32[4] parameter(0) n = s32[2] parameter(1) m = s32[2,1] parameter(2) ROOT y = f32[4] "
                   "ragged-all-to-all(x, x, n, n, n, m), replica_groups={{0,1}}",
                   "but operand 5 is s32[2,1]"},
        BrokenRule{"collective_permute_source",
                   "x = f32[4] parameter(0) ROOT y = f32[4] collective-permute(x), source_target_pairs={{-1,0}}",
                   "source_target_pairs hold the negative id -1"},
        BrokenRule{"all_gather_tuple",
                   "x = f32[4] parameter(0) ROOT y = (f32[8]) all-gather(x), dimensions={0}, replica_groups={}",
                   "result (f32[8]) must have the rank of operand f32[4]"},
        BrokenRule{"reduce_scatter_tuple",
                   "x = f32[4] parameter(0) ROOT y = (f32[2]) reduce-scatter(x), dimensions={0}, replica_groups={}, "
                   "to_apply=add",
                   "result (f32[2]) must have the rank of operand f32[4]", kAddition},
        BrokenRule{"scan_carries",
                   "x = f32[3] parameter(0) ROOT y = f32[3] scan(x), dimensions={0}, num_carries=-1, to_apply=step",
                   "expected at least one input and -1 carries, got 1 operands",
                   "step { a = f32[] parameter(0) ROOT t = (f32[]) tuple(a) }\n"},
        BrokenRule{"scan_output",
                   "x = f32[3] parameter(0) z = f32[] constant(0) ROOT y = (f32[3], f32[]) scan(x, z), dimensions={0}, "
                   "num_carries=1, to_apply=step",
                   "an element of output 0 must be an array",
                   "step { a = f32[] parameter(0) c = f32[] parameter(1) p = (f32[]) tuple(a) ROOT t = ((f32[]), "
                   "f32[]) tuple(p, c) }\n"},
        BrokenRule{"sort_order", "x = f32[3] parameter(0) ROOT y = f32[3] sort(x), dimensions={0}, to_apply=order",
                   "to_apply must return pred[], but returns pred[1]",
                   "order { a = f32[] parameter(0) b = f32[] parameter(1) c = pred[] compare(a, b), direction=LT ROOT "
                   "d = pred[1] reshape(c) }\n"},
        BrokenRule{"iota_before_the_first", "ROOT y = f32[3] iota(), iota_dimension=-1",
                   "iota_dimension = -1 is out of range for f32[3]"},
        BrokenRule{"alias_operand",
                   "x = f32[2] parameter(0) ROOT y = f32[2] custom-call(x), custom_call_target=\"f\", "
                   "output_to_operand_aliasing={{}: (-1, {})}",
                   "output_to_operand_aliasing names operand -1 of 1"},
        BrokenRule{"alias_place",
                   "x = f32[2] parameter(0) ROOT y = f32[2] custom-call(x), custom_call_target=\"f\", "
                   "output_to_operand_aliasing={{}: (0, {3})}",
                   "names {} in the result and {3} in operand 0"},
        BrokenRule{"alias_part_of_another",
                   "x = (f32[2]) parameter(0) y = f32[2] parameter(1) ROOT z = (f32[2]) custom-call(x, y), "
                   "custom_call_target=\"f\", "
                   "output_to_operand_aliasing={{0}: (1, {}), {}: (0, {})}",
                   "gives the result's {} two operands"},
        BrokenRule{"conv_labels_first",
                   "x = f32[1,5] parameter(0) k = f32[1,1,2] parameter(1) ROOT y = f32[1,1,4] convolution(x, k), "
                   "window={size=2}, dim_labels=0f_oi0->bf0",
                   "must have both b and f"},
        BrokenRule{"conv_labels_second",
                   "x = f32[1,5] parameter(0) k = f32[1,1,2] parameter(1) ROOT y = f32[1,1,4] convolution(x, k), "
                   "window={size=2}, dim_labels=b0_oi0->bf0",
                   "must have both b and f"},
        BrokenRule{"conv_labels_kernel",
                   "x = f32[1,1,5] parameter(0) k = f32[1,1,2] parameter(1) ROOT y = f32[1,1,4] convolution(x, k), "
                   "window={size=2}, dim_labels=bf0->bf0",
                   "expected input_kernel->output, got \"bf0->bf0\""},
        BrokenRule{"conv_labels_order",
                   "x = f32[1,1,5] parameter(0) k = f32[1,1,2] parameter(1) ROOT y = f32[1,1,4] convolution(x, k), "
                   "window={size=2}, dim_labels=bf0->oi0_bf0",
                   "expected input_kernel->output"},
        BrokenRule{"conv_labels_output",
                   "x = f32[1,1,5] parameter(0) k = f32[1,1,2] parameter(1) ROOT y = f32[1,1,4] convolution(x, k), "
                   "window={size=2}, dim_labels=bf0_oi0->bf01",
                   "has 1, 1 and 2 spatial dimensions"},
        BrokenRule{"conv_labels_in_number",
                   "x = f32[1,1,5] parameter(0) k = f32[1,1,2] parameter(1) ROOT y = f32[1,1,4] convolution(x, k), "
                   "window={size=2}, dim_labels=bf0_oi01->bf0",
                   "dim_labels"}),
    [](const auto& info) { return std::string(info.param.name); });

// Rules of ops that are put together without text.
HILO_INFERENCE_TESTS(AllGatherRules, HloOpcode::kAllGather,
                     (std::vector<InferenceCase>{
                         {"size",
                          {"pred[4611686018427387904]"},
                          {{"dimensions", "{0}"}, {"replica_groups", "{{0,1}}"}},
                          {},
                          "error: the result of 2 shards is too large"},
                         {"stated", {"f32[4]"}, {{"dimensions", "{0}"}}, {}, "error: the result shape must be stated"},
                     }));
HILO_INFERENCE_TESTS(BroadcastRules, HloOpcode::kBroadcast,
                     (std::vector<InferenceCase>{
                         {"stated", {"f32[2]"}, {{"dimensions", "{0}"}}, {}, "error: the result shape must be stated"},
                         {"tuple",
                          {"f32[2]"},
                          {{"dimensions", "{0}"}},
                          {},
                          "error: the result must be an array, got (f32[2])",
                          "(f32[2])"}}));
HILO_INFERENCE_TESTS(
    RngRules, HloOpcode::kRng,
    (std::vector<InferenceCase>{
        {"stated", {"f32[]", "f32[]"}, {{"distribution", "rng_uniform"}}, {}, "error: the result shape must be stated"},
        {"tuple",
         {"f32[]", "f32[]"},
         {{"distribution", "rng_uniform"}},
         {},
         "error: the result must be an array, got (f32[2])",
         "(f32[2])"}}));
HILO_INFERENCE_TESTS(RngBitGeneratorRules, HloOpcode::kRngBitGenerator,
                     (std::vector<InferenceCase>{{"stated",
                                                  {"u64[2]"},
                                                  {{"algorithm", "rng_three_fry"}},
                                                  {},
                                                  "error: the result must be a tuple of the new state and the data"},
                                                 {"data",
                                                  {"u64[2]"},
                                                  {{"algorithm", "rng_three_fry"}},
                                                  {},
                                                  "error: the data must be an array",
                                                  "(u64[2], (u32[2]))"}}));
HILO_INFERENCE_TESTS(ScatterRules, HloOpcode::kScatter,
                     (std::vector<InferenceCase>{
                         {"one_operand",
                          {"f32[2]"},
                          {},
                          {{{"f32[]", "f32[]"}, "f32[]"}},
                          "error: expected N >= 1 arrays, scatter_indices and N updates, got 1"},
                         {"four_operands",
                          {"f32[2]", "f32[2]", "s32[1]", "f32[2]"},
                          {},
                          {{{"f32[]", "f32[]"}, "f32[]"}},
                          "error: N updates, got 4"}}));
HILO_INFERENCE_TESTS(ReduceScatterRules, HloOpcode::kReduceScatter,
                     (std::vector<InferenceCase>{
                         {"stated",
                          {"f32[4]"},
                          {{"dimensions", "{0}"}},
                          {{{"f32[]", "f32[]"}, "f32[]"}},
                          "error: the result shape must be stated"},
                     }));
HILO_INFERENCE_TESTS(InfeedRules, HloOpcode::kInfeed,
                     (std::vector<InferenceCase>{
                         {"stated", {"token[]"}, {}, {}, "error: the result shape must be stated"}}));
HILO_INFERENCE_TESTS(RecvRules, HloOpcode::kRecv,
                     (std::vector<InferenceCase>{
                         {"stated", {"token[]"}, {}, {}, "error: the result shape must be stated"}}));
HILO_INFERENCE_TESTS(
    IotaRules, HloOpcode::kIota,
    (std::vector<InferenceCase>{
        {"stated", {}, {{"iota_dimension", "0"}}, {}, "error: the result shape must be stated"},
        {"tuple", {}, {{"iota_dimension", "0"}}, {}, "error: the result must be an array, got (f32[2])", "(f32[2])"}}));
HILO_INFERENCE_TESTS(
    StochasticConvertRules, HloOpcode::kStochasticConvert,
    (std::vector<InferenceCase>{
        {"stated", {"f32[2]", "u32[2]"}, {}, {}, "error: the result shape must be stated"},
        {"tuple", {"f32[2]", "u32[2]"}, {}, {}, "error: the result must be an array, got (s8[2])", "(s8[2])"}}));
HILO_INFERENCE_TESTS(
    BitcastRules, HloOpcode::kBitcast,
    (std::vector<InferenceCase>{
        {"stated", {"f32[2]"}, {}, {}, "error: the result shape must be stated"},
        {"tuple", {"f32[2]"}, {}, {}, "error: the result must be an array, got (f32[2])", "(f32[2])"}}));
HILO_INFERENCE_TESTS(
    BitcastConvertRules, HloOpcode::kBitcastConvert,
    (std::vector<InferenceCase>{
        {"stated", {"f32[2]"}, {}, {}, "error: the result shape must be stated"},
        {"tuple", {"f32[2]"}, {}, {}, "error: the result must be an array, got (s32[2])", "(s32[2])"}}));
HILO_INFERENCE_TESTS(
    DynamicReshapeRules, HloOpcode::kDynamicReshape,
    (std::vector<InferenceCase>{
        {"stated", {"f32[2]", "s32[]"}, {}, {}, "error: the result shape must be stated"},
        {"tuple", {"f32[2]", "s32[]"}, {}, {}, "error: the result must be an array, got (f32[2])", "(f32[2])"}}));
HILO_INFERENCE_TESTS(
    CustomCallRules, HloOpcode::kCustomCall,
    (std::vector<InferenceCase>{
        {"stated", {}, {{"custom_call_target", "\"f\""}}, {}, "error: the shape of the result must be stated"}}));

}  // namespace
}  // namespace hilo
