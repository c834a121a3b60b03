#include "hlo/ops/table/op_attributes.h"
#include "tests/unit/hlo/ops/inference_case.h"

namespace hilo {
namespace {

using Strings = std::vector<std::string>;
using CalledShapes = std::pair<Strings, std::string>;

InferenceCase Reduce(std::string name, Strings operands, std::string dimensions, std::string expected,
                     Strings parameters = {"f32[]", "f32[]"}, std::string result = "f32[]") {
  return {std::move(name), std::move(operands), {{"dimensions", dimensions}}, {{parameters, result}}, expected, ""};
}

const std::vector<InferenceCase> kReduce = {
    Reduce("keeps_order", {"f32[4,2,3]", "f32[]"}, "{1}", "f32[4,3]"),
    Reduce("unordered_dimensions", {"f32[4,2,3]", "f32[]"}, "{2,0}", "f32[2]"),
    Reduce("all", {"f32[4,2,3]", "f32[]"}, "{0,1,2}", "f32[]"),
    Reduce("none", {"f32[4,0]", "f32[]"}, "{}", "f32[4,0]"),
    Reduce("empty_input", {"f32[0,3]", "f32[]"}, "{0}", "f32[3]"),
    Reduce("layout_is_dropped", {"f32[4,2]{0,1}", "f32[]"}, "{1}", "f32[4]"),
    Reduce("variadic", {"f32[4,2]", "s32[4,2]", "f32[]", "s32[]"}, "{1}", "(f32[4], s32[4])",
           {"f32[]", "s32[]", "f32[]", "s32[]"}, "(f32[], s32[])"),
    Reduce("reduce_c1", {"f32[4,2]", "f32[4,3]", "f32[]", "f32[]"}, "{1}", "error: reduce: arrays must have equal dim"),
    Reduce("reduce_c2_type", {"f32[4,2]", "f64[]"}, "{1}",
           "error: reduce: initial value 0 must be f32[], but is f64[]"),
    Reduce("reduce_c2_rank", {"f32[4,2]", "f32[1]"}, "{1}", "error: reduce: initial value 0 must be f32[]"),
    Reduce("reduce_c3_none", {}, "{}", "error: reduce: expected N >= 1"),
    Reduce("reduce_c3_odd", {"f32[4]", "f32[4]", "f32[]"}, "{0}", "error: reduce: expected N >= 1"),
    Reduce("reduce_c4", {"f32[4,2]", "f32[]"}, "{2}",
           "error: reduce: dimensions = {2} names dimension 2, but the operand"),
    Reduce("reduce_c4_negative", {"f32[4,2]", "f32[]"}, "{-1}", "error: reduce: dimensions = {-1}"),
    Reduce("reduce_c5", {"f32[4,2]", "f32[]"}, "{1,1}", "error: reduce: dimensions = {1,1} names dimension 1 twice"),
    Reduce("reduce_c6_count", {"f32[4,2]", "f32[]"}, "{1}", "error: reduce: called computation 0 takes 1 parameters",
           {"f32[]"}),
    Reduce("reduce_c6_type", {"f32[4,2]", "f32[]"}, "{1}",
           "error: reduce: parameter 1 of called computation 0 is bf16[]", {"f32[]", "bf16[]"}),
    Reduce("reduce_c6_result", {"f32[4,2]", "f32[]"}, "{1}", "error: reduce: to_apply must return f32[]",
           {"f32[]", "f32[]"}, "(f32[])"),
    Reduce("tuple_operand", {"(f32[4])", "f32[]"}, "{}", "error: reduce: arrays must be an array"),
};
HILO_INFERENCE_TESTS(ReduceTest, HloOpcode::kReduce, kReduce);

InferenceCase ReduceWindow(std::string name, std::string operand, std::string window, std::string expected) {
  return {std::move(name), {operand, "f32[]"}, {{"window", window}}, {{{"f32[]", "f32[]"}, "f32[]"}}, expected, ""};
}

const std::vector<InferenceCase> kReduceWindow = {
    ReduceWindow("blocks", "f32[4,6]", "{size=2x3 stride=2x3}", "f32[2,2]"),
    ReduceWindow("same", "f32[5]", "{size=3 stride=2 pad=1_1}", "f32[3]"),
    ReduceWindow("window_dilation", "f32[7]", "{size=3 rhs_dilate=3}", "f32[1]"),
    ReduceWindow("base_dilation", "f32[4]", "{size=2 lhs_dilate=3}", "f32[9]"),
    ReduceWindow("too_small", "f32[3,4]", "{size=4x1}", "f32[0,4]"),
    ReduceWindow("negative_padding", "f32[6]", "{size=2 pad=-1_-2}", "f32[2]"),
    ReduceWindow("all_cut_off", "f32[3]", "{size=1 pad=-2_-4}", "f32[0]"),
    ReduceWindow("empty_base", "f32[0]", "{size=2 pad=1_1 lhs_dilate=5}", "f32[1]"),
    ReduceWindow("reduce_window_c4", "f32[4,6]", "{size=2}", "error: reduce-window: the window has 1 dimensions"),
    ReduceWindow("reduce_window_c5", "f32[4]", "{size=0}",
                 "error: reduce-window: the window's size in dimension 0 is 0"),
    ReduceWindow("reduce_window_c7", "f32[4]", "{size=2 stride=0}", "error: reduce-window: the window's stride"),
    ReduceWindow("reduce_window_c9", "f32[4]", "{size=2 lhs_dilate=0}",
                 "error: reduce-window: the window's base dilation"),
    ReduceWindow("reduce_window_c11", "f32[4]", "{size=2 rhs_dilate=-1}",
                 "error: reduce-window: the window's window dilation"),
    ReduceWindow("reversal", "f32[4]", "{size=2 rhs_reversal=1}", "f32[3]"),
    ReduceWindow("overflow", "f32[4]", "{size=2 lhs_dilate=9223372036854775807}",
                 "error: reduce-window: the window's extent"),
    ReduceWindow("result_too_large", "f32[4]", "{size=1 pad=0_4611686018427387904}", "error: reduce-window: "),
};
HILO_INFERENCE_TESTS(ReduceWindowTest, HloOpcode::kReduceWindow, kReduceWindow);

InferenceCase SelectAndScatter(std::string name, Strings operands, std::string window, std::string expected,
                               CalledShapes select = {{"f32[]", "f32[]"}, "pred[]"},
                               CalledShapes scatter = {{"f32[]", "f32[]"}, "f32[]"}) {
  return {std::move(name), std::move(operands), {{"window", window}}, {select, scatter}, expected, ""};
}

const std::vector<InferenceCase> kSelectAndScatter = {
    SelectAndScatter("blocks", {"f32[4,6]{0,1}", "f32[2,2]", "f32[]"}, "{size=2x3 stride=2x3}", "f32[4,6]"),
    SelectAndScatter("same", {"f32[5]", "f32[3]", "f32[]"}, "{size=3 stride=2 pad=1_1}", "f32[5]"),
    SelectAndScatter("tuple_operand", {"(f32[4])", "f32[3]", "f32[]"}, "{size=2}",
                     "error: select-and-scatter: operand must be an array"),
    SelectAndScatter("tuple_source", {"f32[4]", "(f32[3])", "f32[]"}, "{size=2}",
                     "error: select-and-scatter: source must be an array"),
    SelectAndScatter("select_and_scatter_c1", {"f32[4]", "f64[3]", "f32[]"}, "{size=2}",
                     "error: select-and-scatter: source must have the operand's element type f32"),
    SelectAndScatter("select_and_scatter_c2", {"f32[4]", "f32[4]", "f32[]"}, "{size=2}",
                     "error: select-and-scatter: source must have an element for each window, f32[3]"),
    SelectAndScatter("select_and_scatter_c3_type", {"f32[4]", "f32[3]", "s32[]"}, "{size=2}",
                     "error: select-and-scatter: the initial value must be f32[]"),
    SelectAndScatter("select_and_scatter_c3_rank", {"f32[4]", "f32[3]", "f32[1]"}, "{size=2}",
                     "error: select-and-scatter: the initial value must be f32[]"),
    SelectAndScatter("select_and_scatter_c4", {"f32[4,4]", "f32[3,3]", "f32[]"}, "{size=2}",
                     "error: select-and-scatter: the window has 1 dimensions"),
    SelectAndScatter("select_and_scatter_c5", {"f32[4]", "f32[3]", "f32[]"}, "{size=0}",
                     "error: select-and-scatter: the window's size in dimension 0 is 0"),
    SelectAndScatter("select_and_scatter_c7", {"f32[4]", "f32[3]", "f32[]"}, "{size=2 stride=0}",
                     "error: select-and-scatter: the window's stride"),
    SelectAndScatter("select_and_scatter_c9_parameters", {"f32[4]", "f32[3]", "f32[]"}, "{size=2}",
                     "error: select-and-scatter: parameter 1 of called computation 0 is f64[]",
                     {{"f32[]", "f64[]"}, "pred[]"}),
    SelectAndScatter("select_and_scatter_c9_result", {"f32[4]", "f32[3]", "f32[]"}, "{size=2}",
                     "error: select-and-scatter: select must return pred[]", {{"f32[]", "f32[]"}, "f32[]"}),
    SelectAndScatter("select_and_scatter_c10_parameters", {"f32[4]", "f32[3]", "f32[]"}, "{size=2}",
                     "error: select-and-scatter: called computation 1 takes 1 parameters",
                     {{"f32[]", "f32[]"}, "pred[]"}, {{"f32[]"}, "f32[]"}),
    SelectAndScatter("select_and_scatter_c10_result", {"f32[4]", "f32[3]", "f32[]"}, "{size=2}",
                     "error: select-and-scatter: scatter must return f32[]", {{"f32[]", "f32[]"}, "pred[]"},
                     {{"f32[]", "f32[]"}, "f64[]"}),
};
HILO_INFERENCE_TESTS(SelectAndScatterTest, HloOpcode::kSelectAndScatter, kSelectAndScatter);

TEST(WindowedOutputSizeTest, RefusesBadWindows) {
  EXPECT_EQ(WindowedOutputSize(5, {.size = 3, .stride = 2}), 2);
  EXPECT_EQ(WindowedOutputSize(5, {.size = 0}), std::nullopt);
  EXPECT_EQ(WindowedOutputSize(-1, {.size = 1}), std::nullopt);
  EXPECT_EQ(WindowedOutputSize(5, {.size = 2, .window_dilation = INT64_MAX}), std::nullopt);
  EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .padding_low = INT64_MAX}), std::nullopt);
  EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .padding_low = INT64_MIN}), std::nullopt);
  EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .padding_low = -9}), 0);
  for (int64_t below : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .stride = below}), std::nullopt);
    EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .window_dilation = below}), std::nullopt);
    EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .base_dilation = below}), std::nullopt);
  }
  // 2^60 is the most that any part may be.
  constexpr int64_t kMax = int64_t{1} << 60;
  EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .stride = kMax}), 1);
  EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .stride = kMax + 1}), std::nullopt);
  EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .window_dilation = kMax}), 5);
  EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .window_dilation = kMax + 1}), std::nullopt);
  EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .padding_low = kMax}), kMax + 5);
  EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .padding_low = kMax + 1}), std::nullopt);
  EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .padding_high = kMax}), kMax + 5);
  EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .padding_high = kMax + 1}), std::nullopt);
  EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .padding_low = -kMax}), 0);
  EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .padding_low = -kMax - 1}), std::nullopt);
  EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .padding_high = -kMax}), 0);
  EXPECT_EQ(WindowedOutputSize(5, {.size = 1, .padding_high = -kMax - 1}), std::nullopt);
  EXPECT_EQ(WindowedOutputSize(kMax, {.size = kMax}), 1);
  EXPECT_EQ(WindowedOutputSize(kMax + 1, {.size = 1}), std::nullopt);
  EXPECT_EQ(WindowedOutputSize(5, {.size = kMax + 1}), std::nullopt);
  EXPECT_EQ(WindowedOutputSize(int64_t{1} << 40, {.size = 1, .base_dilation = int64_t{1} << 40}), std::nullopt);
  EXPECT_EQ(WindowedOutputSize(5, {.size = int64_t{1} << 40, .window_dilation = int64_t{1} << 40}), std::nullopt);
}

InferenceCase Map(std::string name, Strings operands, std::string dimensions, Strings parameters, std::string result,
                  std::string expected) {
  return {std::move(name), std::move(operands), {{"dimensions", dimensions}}, {{parameters, result}}, expected, ""};
}

const std::vector<InferenceCase> kMap = {
    Map("two_operands", {"f32[2,3]", "s8[2,3]"}, "{0,1}", {"f32[]", "s8[]"}, "pred[]", "pred[2,3]"),
    Map("scalar", {"f32[]"}, "{}", {"f32[]"}, "f64[]", "f64[]"),
    Map("map_c1_none", {}, "{}", {}, "f32[]", "error: map: expected at least 1 operand"),
    Map("map_c1", {"f32[2]", "f32[3]"}, "{0}", {"f32[]", "f32[]"}, "f32[]", "error: map: operands must have equal dim"),
    Map("map_c3_order", {"f32[2,3]"}, "{1,0}", {"f32[]"}, "f32[]", "error: map: dimensions = {1,0} must be all 2"),
    Map("map_c3_count", {"f32[2,3]"}, "{0}", {"f32[]"}, "f32[]", "error: map: dimensions = {0} must be all 2"),
    Map("map_c4_type", {"f32[2]"}, "{0}", {"s32[]"}, "f32[]",
        "error: map: parameter 0 of called computation 0 is s32[]"),
    Map("map_c4_extra", {"f32[2]"}, "{0}", {"f32[]", "f32[]"}, "f32[]", "error: map: called computation 0 takes 2"),
    Map("map_c4_result", {"f32[2]"}, "{0}", {"f32[]"}, "f32[1]", "error: map: to_apply must return a scalar"),
};
HILO_INFERENCE_TESTS(MapTest, HloOpcode::kMap, kMap);

InferenceCase Sort(std::string name, Strings operands, std::string dimensions, Strings parameters, std::string result,
                   std::string expected) {
  return {std::move(name), std::move(operands), {{"dimensions", dimensions}}, {{parameters, result}}, expected, ""};
}

const std::vector<InferenceCase> kSort = {
    Sort("one", {"f32[2,3]"}, "{0}", {"f32[]", "f32[]"}, "pred[]", "f32[2,3]"),
    Sort("two", {"f32[3]", "s8[3]"}, "{0}", {"f32[]", "f32[]", "s8[]", "s8[]"}, "pred[]", "(f32[3], s8[3])"),
    Sort("sort_c1", {}, "{0}", {}, "pred[]", "error: sort: expected at least 1 operand"),
    Sort("sort_c2", {"f32[3]", "s8[4]"}, "{0}", {"f32[]", "f32[]", "s8[]", "s8[]"}, "pred[]",
         "error: sort: operands must have equal dimensions"),
    Sort("sort_c4", {"f32[3]"}, "{1}", {"f32[]", "f32[]"}, "pred[]", "error: sort: dimensions = {1} names dimension 1"),
    Sort("sort_c4_rank_0", {"f32[]"}, "{0}", {"f32[]", "f32[]"}, "pred[]", "error: sort: dimensions = {0}"),
    Sort("two_dimensions", {"f32[3,3]"}, "{0,1}", {"f32[]", "f32[]"}, "pred[]",
         "error: sort: dimensions = {0,1} must name"),
    Sort("sort_c5_order", {"f32[3]", "s8[3]"}, "{0}", {"f32[]", "s8[]", "f32[]", "s8[]"}, "pred[]",
         "error: sort: parameter 1 of called computation 0 is s8[]"),
    Sort("sort_c5_result", {"f32[3]"}, "{0}", {"f32[]", "f32[]"}, "f32[]", "error: sort: to_apply must return pred[]"),
};
HILO_INFERENCE_TESTS(SortTest, HloOpcode::kSort, kSort);

}  // namespace
}  // namespace hilo
