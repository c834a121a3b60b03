#include "tests/unit/hlo/ops/inference_case.h"

namespace hilo {
namespace {

InferenceCase Dot(std::string name, std::string lhs, std::string rhs, AttributeText attributes, std::string expected,
                  std::string stated = "") {
  return {std::move(name), {lhs, rhs}, std::move(attributes), {}, std::move(expected), std::move(stated)};
}
AttributeText Contracting(std::string lhs, std::string rhs) {
  return {{"lhs_contracting_dims", lhs}, {"rhs_contracting_dims", rhs}};
}
AttributeText Batched(std::string lhs_batch, std::string rhs_batch, std::string lhs, std::string rhs) {
  return {{"lhs_batch_dims", lhs_batch},
          {"rhs_batch_dims", rhs_batch},
          {"lhs_contracting_dims", lhs},
          {"rhs_contracting_dims", rhs}};
}

const std::vector<InferenceCase> kDot = {
    Dot("vectors", "f32[4]", "f32[4]", Contracting("{0}", "{0}"), "f32[]"),
    Dot("matrix_vector", "f32[3,4]", "f32[4]", Contracting("{1}", "{0}"), "f32[3]"),
    Dot("outer", "f32[3]", "f32[4]", {}, "f32[3,4]"),
    Dot("batch", "f32[7,9,3,4]", "f32[7,9,4,5]", Batched("{0,1}", "{0,1}", "{3}", "{2}"), "f32[7,9,3,5]"),
    Dot("batch_order", "f32[4,7,3,9]", "f32[9,5,7,4]", Batched("{3,1}", "{0,2}", "{0}", "{3}"), "f32[9,7,3,5]"),
    Dot("preferred_type", "s8[3,4]", "s8[4,5]", Contracting("{1}", "{0}"), "s32[3,5]", "s32[3,5]"),
    Dot("mixed_types", "f32[3,4]", "bf16[4,5]", Contracting("{1}", "{0}"), "f32[3,5]"),
    Dot("dot_general_c1", "f32[3,4]", "f32[3,4]", Batched("{0}", "{}", "{1}", "{1}"),
        "error: dot: lhs_batch_dims = {0} and rhs_batch_dims = {} must have one length"),
    Dot("dot_general_c2", "f32[3,4]", "f32[3,4]", Contracting("{0,1}", "{1}"),
        "error: dot: lhs_contracting_dims = {0,1} and rhs_contracting_dims = {1} must have one "
        "length"),
    Dot("dot_general_c3", "f32[3,4]", "f32[3,4]", Batched("{0}", "{0}", "{0}", "{1}"),
        "error: dot: lhs_batch_dims and lhs_contracting_dims = {0,0} names dimension 0 twice"),
    Dot("dot_general_c4", "f32[3,3]", "f32[3,3]", Contracting("{0,1}", "{1,1}"),
        "error: dot: rhs_contracting_dims = {1,1}"),
    Dot("dot_general_c5", "f32[3,4]", "f32[3,4]", Batched("{2}", "{0}", "{}", "{}"),
        "error: dot: lhs_batch_dims = {2}"),
    Dot("dot_general_c6", "f32[3,4]", "f32[3,4]", Contracting("{-1}", "{1}"),
        "error: dot: lhs_contracting_dims = {-1}"),
    Dot("dot_general_c7", "f32[3,4]", "f32[3,4]", Batched("{0}", "{5}", "{}", "{}"),
        "error: dot: rhs_batch_dims = {5}"),
    Dot("dot_general_c8", "f32[3,4]", "f32[3,4]", Contracting("{1}", "{2}"), "error: dot: rhs_contracting_dims = {2}"),
    Dot("dot_general_c9", "f32[3,4]", "f32[2,4]", Batched("{0}", "{0}", "{1}", "{1}"),
        "error: dot: lhs dimension 0 has size 3, but rhs dimension 0, its batch partner, has size "
        "2"),
    Dot("dot_general_c10", "f32[3,4]", "f32[3,4]", Contracting("{1}", "{0}"),
        "error: dot: lhs dimension 1 has size 4, but rhs dimension 0, its contracting partner, has "
        "size 3"),
    Dot("dot_general_c11", "f32[4]", "f32[4]",
        {{"lhs_contracting_dims", "{0}"}, {"rhs_contracting_dims", "{0}"}, {"operand_precision", "{high}"}},
        "error: dot: operand_precision has 1 entries"),
    Dot("dot_general_c13", "f32[4]", "f32[4]", Contracting("{0}", "{0}"),
        "error: dot: products of f32[4] and f32[4] cannot", "s32[]"),
    Dot("tuple", "(f32[4])", "f32[4]", {}, "error: dot: lhs must be an array"),
    Dot("too_large", "f32[2000000000]", "f32[2000000000]", {}, "error: dot: "),
    Dot("overflow", "f32[4000000000000000]", "f32[4000000000000000]", {}, "error: dot: "),
};
HILO_INFERENCE_TESTS(DotTest, HloOpcode::kDot, kDot);

InferenceCase DynamicSlice(std::string name, std::vector<std::string> operands, std::string sizes,
                           std::string expected) {
  return {std::move(name), std::move(operands), {{"dynamic_slice_sizes", sizes}}, {}, std::move(expected), ""};
}

const std::vector<InferenceCase> kDynamicSlice = {
    DynamicSlice("scalars", {"f32[4,3]", "s32[]", "s32[]"}, "{2,2}", "f32[2,2]"),
    DynamicSlice("vector", {"f32[4,3]", "u8[2]"}, "{2,2}", "error: dynamic-slice: expected 2 start indices, got 1"),
    DynamicSlice("empty", {"f32[4]", "s64[]"}, "{0}", "f32[0]"),
    DynamicSlice("rank_0", {"f32[]"}, "{}", "f32[]"),
    DynamicSlice("no_operands", {}, "{}", "error: dynamic-slice: expected an operand"),
    DynamicSlice("dynamic_slice_c2", {"f32[4,3]", "s32[]"}, "{2,2}",
                 "error: dynamic-slice: expected 2 start indices, got 1"),
    DynamicSlice("dynamic_slice_c2_vector", {"f32[4,3]", "s32[3]"}, "{2,2}",
                 "error: dynamic-slice: expected 2 start indices"),
    DynamicSlice("dynamic_slice_c2_sizes", {"f32[4]", "s32[]"}, "{2,2}",
                 "error: dynamic-slice: dynamic_slice_sizes = {2,2} has 2"),
    DynamicSlice("dynamic_slice_c3", {"f32[4,3]", "s32[]", "s64[]"}, "{2,2}",
                 "error: dynamic-slice: start indices must have one"),
    DynamicSlice("dynamic_slice_c4", {"f32[4]", "s32[]"}, "{5}", "error: dynamic-slice: dynamic_slice_sizes[0] = 5"),
    DynamicSlice("dynamic_slice_c4_negative", {"f32[4]", "s32[]"}, "{-1}",
                 "error: dynamic-slice: dynamic_slice_sizes[0] = -1"),
    DynamicSlice("float_start", {"f32[4]", "f32[]"}, "{1}", "error: dynamic-slice: start indices must be integers"),
    DynamicSlice("matrix_start", {"f32[4]", "s32[1,1]"}, "{1}", "error: dynamic-slice: start indices must be scalars"),
};
HILO_INFERENCE_TESTS(DynamicSliceTest, HloOpcode::kDynamicSlice, kDynamicSlice);

const std::vector<InferenceCase> kUpdate = {
    {"scalars", {"f32[4,3]", "f32[2,2]", "s32[]", "s32[]"}, {}, {}, "f32[4,3]", ""},
    {"vector",
     {"f32[4,3]", "f32[2,0]", "s32[2]"},
     {},
     {},
     "error: dynamic-update-slice: expected 2 start indices, got 1",
     ""},
    {"one_operand", {"f32[4]"}, {}, {}, "error: dynamic-update-slice: expected an operand, an update", ""},
    {"dynamic_update_slice_c2",
     {"f32[4]", "f64[2]", "s32[]"},
     {},
     {},
     "error: dynamic-update-slice: update must be of type f32",
     ""},
    {"dynamic_update_slice_c3",
     {"f32[4]", "f32[2,1]", "s32[]"},
     {},
     {},
     "error: dynamic-update-slice: update must have the op",
     ""},
    {"dynamic_update_slice_c4",
     {"f32[4]", "f32[2]"},
     {},
     {},
     "error: dynamic-update-slice: expected 1 start indices, got 0",
     ""},
    {"dynamic_update_slice_c6",
     {"f32[4]", "f32[5]", "s32[]"},
     {},
     {},
     "error: dynamic-update-slice: update has size 5",
     ""},
};
HILO_INFERENCE_TESTS(DynamicUpdateSliceTest, HloOpcode::kDynamicUpdateSlice, kUpdate);

}  // namespace
}  // namespace hilo
