#include "tests/unit/hlo/ops/inference_case.h"

namespace hilo {
namespace {

// A scatter of five 8x6 windows into 16x11 with the given attributes replaced.
InferenceCase Scatter(std::string name, AttributeText changes, std::string expected,
                      std::vector<std::string> operands = {"f32[16,11]", "s64[5,2]", "f32[5,8,6]"},
                      std::vector<std::string> parameters = {"f32[]", "f32[]"}, std::string result = "f32[]") {
  AttributeText attributes = {
      {"update_window_dims", "{1,2}"}, {"scatter_dims_to_operand_dims", "{0,1}"}, {"index_vector_dim", "1"}};
  attributes.insert(attributes.end(), changes.begin(), changes.end());
  return {std::move(name), std::move(operands), std::move(attributes), {{parameters, result}}, std::move(expected), ""};
}

const std::vector<InferenceCase> kScatterCases = {
    Scatter("windows", {}, "f32[16,11]"),
    Scatter("rows",
            {{"update_window_dims", "{1}"}, {"inserted_window_dims", "{0}"}, {"scatter_dims_to_operand_dims", "{0}"}},
            "f32[16,11]", {"f32[16,11]", "s32[5,1]", "f32[5,11]"}),
    Scatter("implied_trailing_dimension",
            {{"update_window_dims", "{1}"}, {"inserted_window_dims", "{0}"}, {"scatter_dims_to_operand_dims", "{0}"}},
            "f32[16,11]", {"f32[16,11]", "s32[5]", "f32[5,11]"}),
    Scatter("variadic", {}, "(f32[16,11], s8[16,11])",
            {"f32[16,11]", "s8[16,11]", "s64[5,2]", "f32[5,8,6]", "s8[5,8,6]"}, {"f32[]", "s8[]", "f32[]", "s8[]"},
            "(f32[], s8[])"),
    Scatter("batching",
            {{"update_window_dims", "{2}"},
             {"input_batching_dims", "{0}"},
             {"scatter_indices_batching_dims", "{1}"},
             {"index_vector_dim", "2"},
             {"scatter_dims_to_operand_dims", "{1}"}},
            "f32[16,11]", {"f32[16,11]", "s32[3,16,1]", "f32[3,16,6]"}),
    Scatter("scatter_c1", {}, "error: scatter: arrays must have equal dimensions",
            {"f32[16,11]", "f32[16,12]", "s64[5,2]", "f32[5,8,6]", "f32[5,8,6]"}),
    Scatter("scatter_c2", {{"inserted_window_dims", "{0}"}},
            "error: scatter: update_window_dims = {1,2} has 2 entries"),
    Scatter("scatter_c3", {}, "error: scatter: updates must have equal dimensions",
            {"f32[16,11]", "f32[16,11]", "s64[5,2]", "f32[5,8,6]", "f32[5,8,7]"}),
    Scatter("scatter_c4_rank", {}, "error: scatter: updates must have rank 3",
            {"f32[16,11]", "s64[5,2]", "f32[5,8,6,1]"}),
    Scatter("scatter_c4_window", {}, "error: scatter: updates have size 17 in window dimension 1",
            {"f32[16,11]", "s64[5,2]", "f32[5,17,6]"}),
    Scatter("scatter_c4_batch", {}, "error: scatter: updates have size 4 in dimension 0",
            {"f32[16,11]", "s64[5,2]", "f32[4,8,6]"}),
    Scatter("scatter_c5", {}, "error: scatter: expected N >= 1 arrays", {"f32[16,11]", "s64[5,2]"}),
    Scatter("scatter_c5_none", {}, "error: scatter: expected N >= 1 arrays", {}),
    Scatter("scatter_c6", {}, "error: scatter: updates 0 must be of type f32",
            {"f32[16,11]", "s64[5,2]", "f64[5,8,6]"}),
    Scatter("scatter_c7_sorted", {{"update_window_dims", "{2,1}"}},
            "error: scatter: update_window_dims = {2,1} must be in"),
    Scatter("scatter_c7_unique", {{"update_window_dims", "{1,1}"}}, "error: scatter: update_window_dims = {1,1} names"),
    Scatter("scatter_c8", {{"update_window_dims", "{1,3}"}},
            "error: scatter: update_window_dims = {1,3} names dimension 3"),
    Scatter("scatter_c9", {{"inserted_window_dims", "{0}"}, {"input_batching_dims", "{0}"}},
            "error: scatter: inserted_window_dims and input_batching_dims = {0,0}"),
    Scatter("scatter_c10", {{"inserted_window_dims", "{1,0}"}},
            "error: scatter: inserted_window_dims = {1,0} must be in"),
    Scatter("scatter_c11", {{"inserted_window_dims", "{2}"}}, "error: scatter: inserted_window_dims = {2} names"),
    Scatter("scatter_c12", {{"input_batching_dims", "{1,0}"}},
            "error: scatter: input_batching_dims = {1,0} must be in"),
    Scatter("scatter_c13", {{"input_batching_dims", "{-1}"}}, "error: scatter: input_batching_dims = {-1} names"),
    Scatter("scatter_c14", {{"scatter_indices_batching_dims", "{0,0}"}},
            "error: scatter: scatter_indices_batching_dims"),
    Scatter("scatter_c15", {{"scatter_indices_batching_dims", "{2}"}}, "error: scatter: scatter_indices_batching_dims"),
    Scatter("scatter_c16", {{"scatter_indices_batching_dims", "{1}"}}, "error: contains index_vector_dim = 1"),
    Scatter("scatter_c17", {{"scatter_indices_batching_dims", "{0}"}}, "error: must have one length"),
    Scatter("scatter_c18",
            {{"update_window_dims", "{1}"},
             {"input_batching_dims", "{0}"},
             {"scatter_indices_batching_dims", "{0}"},
             {"scatter_dims_to_operand_dims", "{1}"}},
            "error: batching dimension 0 has size 16", {"f32[16,11]", "s32[5,1]", "f32[5,6]"}),
    Scatter("scatter_c19", {{"scatter_dims_to_operand_dims", "{0}"}},
            "error: scatter: scatter_dims_to_operand_dims = {0} has 1"),
    Scatter("scatter_c20", {{"scatter_dims_to_operand_dims", "{1,1}"}},
            "error: scatter: scatter_dims_to_operand_dims = {1,1}"),
    Scatter("scatter_c21", {{"scatter_dims_to_operand_dims", "{0,2}"}},
            "error: scatter: scatter_dims_to_operand_dims = {0,2}"),
    Scatter("scatter_c22", {{"index_vector_dim", "3"}}, "error: scatter: index_vector_dim = 3"),
    Scatter("scatter_c23_parameters", {}, "error: scatter: called computation 0 takes 3 parameters",
            {"f32[16,11]", "s64[5,2]", "f32[5,8,6]"}, {"f32[]", "f32[]", "f32[]"}),
    Scatter("scatter_c23_type", {}, "error: scatter: parameter 1 of called computation 0 is s32[]",
            {"f32[16,11]", "s64[5,2]", "f32[5,8,6]"}, {"f32[]", "s32[]"}),
    Scatter("scatter_c23_result", {}, "error: scatter: to_apply must return f32[], but returns f32[2]",
            {"f32[16,11]", "s64[5,2]", "f32[5,8,6]"}, {"f32[]", "f32[]"}, "f32[2]"),
    Scatter("scatter_i2", {}, "error: scatter: scatter_indices must be integers",
            {"f32[16,11]", "f32[5,2]", "f32[5,8,6]"}),
};

HILO_INFERENCE_TESTS(ScatterTest, HloOpcode::kScatter, kScatterCases);

}  // namespace
}  // namespace hilo
