#include "tests/unit/hlo/ops/inference_case.h"

namespace hilo {
namespace {

// A gather of five 8x6 slices with the given attributes replaced.
InferenceCase Gather(std::string name, AttributeText changes, std::string expected,
                     std::vector<std::string> operands = {"f32[16,11]", "s64[5,2]"}) {
  AttributeText attributes = {
      {"offset_dims", "{1,2}"}, {"start_index_map", "{0,1}"}, {"index_vector_dim", "1"}, {"slice_sizes", "{8,6}"}};
  attributes.insert(attributes.end(), changes.begin(), changes.end());
  return {std::move(name), std::move(operands), std::move(attributes), {}, std::move(expected), ""};
}

const std::vector<InferenceCase> kGatherCases = {
    Gather("five_slices", {}, "f32[5,8,6]"),
    Gather("two_batch_dims", {{"index_vector_dim", "2"}, {"offset_dims", "{2,3}"}}, "f32[4,5,8,6]",
           {"f32[16,11]", "s64[4,5,2]"}),
    Gather("offset_dims_first", {{"offset_dims", "{0,1}"}}, "f32[8,6,5]"),
    Gather("index_vector_dim_0", {{"index_vector_dim", "0"}}, "f32[5,8,6]", {"f32[16,11]", "u8[2,5]"}),
    Gather("rows",
           {{"index_vector_dim", "2"},
            {"offset_dims", "{2}"},
            {"start_index_map", "{0}"},
            {"collapsed_slice_dims", "{0}"},
            {"slice_sizes", "{1,11}"}},
           "f32[4,5,11]", {"f32[16,11]", "s32[4,5,1]"}),
    Gather("implied_trailing_dimension",
           {{"index_vector_dim", "2"},
            {"offset_dims", "{2}"},
            {"start_index_map", "{0}"},
            {"collapsed_slice_dims", "{0}"},
            {"slice_sizes", "{1,11}"}},
           "f32[6,7,11]", {"f32[16,11]", "s32[6,7]"}),
    Gather("no_batch_dims", {{"index_vector_dim", "0"}, {"offset_dims", "{0,1}"}}, "f32[8,6]",
           {"f32[16,11]", "s32[2]"}),
    Gather("rank_0", {{"offset_dims", "{}"}, {"start_index_map", "{}"}, {"slice_sizes", "{}"}}, "pred[3]",
           {"pred[]", "s32[3,0]"}),
    Gather("batching",
           {{"offset_dims", "{2}"},
            {"start_index_map", "{1}"},
            {"operand_batching_dims", "{0}"},
            {"start_indices_batching_dims", "{1}"},
            {"index_vector_dim", "2"},
            {"slice_sizes", "{1,6}"}},
           "f32[3,16,6]", {"f32[16,11]", "s32[3,16,1]"}),
    Gather("gather_c1", {{"offset_dims", "{1}"}}, "error: gather: offset_dims = {1} has 1 entries"),
    Gather("gather_c2", {{"index_vector_dim", "3"}}, "error: gather: index_vector_dim = 3"),
    Gather("gather_c2_negative", {{"index_vector_dim", "-1"}}, "error: gather: index_vector_dim = -1"),
    Gather("gather_c3", {{"start_index_map", "{0}"}}, "error: gather: start_index_map = {0} has 1 entries"),
    Gather("gather_c4_sorted", {{"offset_dims", "{2,1}"}}, "error: gather: offset_dims = {2,1} must be in ascending"),
    Gather("gather_c4_unique", {{"offset_dims", "{1,1}"}},
           "error: gather: offset_dims = {1,1} names dimension 1 twice"),
    Gather("gather_c5", {{"offset_dims", "{1,3}"}},
           "error: gather: offset_dims = {1,3} names dimension 3, but the result has rank 3"),
    Gather("gather_c5_negative", {{"offset_dims", "{-1,2}"}}, "error: gather: offset_dims = {-1,2} names dimension -1"),
    Gather("gather_c6", {{"collapsed_slice_dims", "{0,0}"}}, "error: gather: collapsed_slice_dims = {0,0}"),
    Gather("gather_c6_both", {{"collapsed_slice_dims", "{0}"}, {"operand_batching_dims", "{0}"}},
           "error: gather: collapsed_slice_dims and operand_batching_dims = {0,0}"),
    Gather("gather_c7", {{"collapsed_slice_dims", "{1,0}"}}, "error: gather: collapsed_slice_dims = {1,0} must be in"),
    Gather("gather_c8", {{"collapsed_slice_dims", "{2}"}},
           "error: gather: collapsed_slice_dims = {2} names dimension 2"),
    Gather("gather_c9", {{"collapsed_slice_dims", "{0}"}, {"offset_dims", "{1}"}},
           "error: gather: collapsed_slice_dims names dimension 0, but slice_sizes[0] = 8"),
    Gather("gather_c10", {{"operand_batching_dims", "{1,0}"}}, "error: gather: operand_batching_dims = {1,0}"),
    Gather("gather_c11", {{"operand_batching_dims", "{9}"}}, "error: gather: operand_batching_dims = {9}"),
    Gather("gather_c12", {{"offset_dims", "{1}"}, {"start_index_map", "{1,0}"}, {"operand_batching_dims", "{0}"}},
           "error: gather: start_index_map and operand_batching_dims = {1,0,0}"),
    Gather("gather_c13", {{"start_indices_batching_dims", "{0,0}"}}, "error: gather: start_indices_batching_dims"),
    Gather("gather_c14", {{"start_indices_batching_dims", "{4}"}}, "error: gather: start_indices_batching_dims = {4}"),
    Gather("gather_c15", {{"start_indices_batching_dims", "{1}"}}, "error: contains index_vector_dim = 1"),
    Gather("gather_c16", {{"start_indices_batching_dims", "{0}"}}, "error: must have one length"),
    Gather("gather_c17",
           {{"start_index_map", "{1}"},
            {"operand_batching_dims", "{0}"},
            {"start_indices_batching_dims", "{0}"},
            {"slice_sizes", "{1,6}"}},
           "error: batching dimension 0 has size 16 in the operand and 5", {"f32[16,11]", "s32[5,1]"}),
    Gather("gather_c18", {{"start_index_map", "{0,0}"}},
           "error: gather: start_index_map = {0,0} names dimension 0 twice"),
    Gather("gather_c19", {{"start_index_map", "{0,3}"}},
           "error: gather: start_index_map = {0,3} names dimension 3, but the operand has rank 2"),
    Gather("gather_c20", {{"slice_sizes", "{8}"}}, "error: gather: slice_sizes = {8} has 1 entries"),
    Gather("gather_c21", {{"slice_sizes", "{17,6}"}}, "error: gather: slice_sizes[0] = 17"),
    Gather("gather_c21_negative", {{"slice_sizes", "{-1,6}"}}, "error: gather: slice_sizes[0] = -1"),
    Gather("gather_i2", {}, "error: gather: start_indices must be integers", {"f32[16,11]", "f32[5,2]"}),
    Gather("tuple_operand", {}, "error: gather: operand must be an array", {"(f32[16,11])", "s32[5,2]"}),
    Gather("result_too_large", {{"offset_dims", "{2,3}"}, {"index_vector_dim", "2"}},
           "error: gather: ", {"f32[16,11]", "s8[1000000000,1000000000,2]"}),
};

HILO_INFERENCE_TESTS(GatherTest, HloOpcode::kGather, kGatherCases);

}  // namespace
}  // namespace hilo
