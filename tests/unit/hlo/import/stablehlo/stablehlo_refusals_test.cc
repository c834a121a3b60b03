// Where the importer of StableHLO refuses programs: for each place a small one that gets there, and what it is told.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "hlo/import/stablehlo/stablehlo_import.h"

namespace hilo {
namespace {

struct Refusal {
  absl::StatusCode code;
  absl::string_view message;
  absl::string_view program;
};

void ExpectRefused(const Refusal& refusal, absl::string_view program) {
  const auto result = ImportStablehlo(program);
  EXPECT_EQ(result.status().code(), refusal.code) << result.status() << "\n" << program;
  EXPECT_TRUE(absl::StrContains(result.status().message(), refusal.message))
      << "got      " << result.status().message() << "\nexpected " << refusal.message;
}

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument, kUnimplemented = absl::StatusCode::kUnimplemented;

// In front of `return %x`, on line 3 of a function of %x : tensor<4xf32>.
// Lines of programs may be long, which clang-format cannot cope with.
// clang-format off
constexpr Refusal kOfOperations[] = {
    {kInvalidArgument, R"(operand 0 of stablehlo.convert is tensor<4xf32>, not tensor<4xf64>)",
     R"(%y = stablehlo.convert %x : (tensor<4xf64>) -> tensor<4xi32>)"},
    {kInvalidArgument, R"(operand 0 of stablehlo.abs is tensor<4xf32>, not tensor<2xf32>)",
     R"(%y = "stablehlo.abs"(%x) : (tensor<2xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(stablehlo.add has 2 operands, but 1 types)",
     R"(%y = "stablehlo.add"(%x, %x) : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(operand 1 of stablehlo.reduce is tensor<4xf32>, not tensor<f32>)",
     R"(%y = stablehlo.reduce(%x init: %x) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>)"},
    {kInvalidArgument, R"(%a is tensor<4xi32>, but starts as tensor<4xf32>)",
     R"(%y = stablehlo.while(%a = %x) : tensor<4xi32> cond { %p = stablehlo.constant dense<false> : tensor<i1>
 stablehlo.return %p : tensor<i1> } do { stablehlo.return %a : tensor<4xi32> })"},
    {kInvalidArgument, R"(builtin.unrealized_conversion_cast has 1 operands, but 2 types)",
     R"(%y = builtin.unrealized_conversion_cast %x : tensor<4xf32>, tensor<4xf32> to tensor<4xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:4:7: expected the sizes of tensor<4x5xf32>, got 4, 6; in stablehlo.dynamic_broadcast_in_dim)",
     R"(%s = stablehlo.constant dense<[4, 6]> : tensor<2xi64>
 %y = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0] : (tensor<4xf32>, tensor<2xi64>) -> tensor<4x5xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:4:7: expected the sizes of tensor<?x5xf32>, got 4, 6; in stablehlo.dynamic_broadcast_in_dim)",
     R"(%s = stablehlo.constant dense<[4, 6]> : tensor<2xi64>
 %y = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0] : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x5xf32>)"},
    {kInvalidArgument, R"(MLIR text:4:7: expected 2 integers as sizes, got s64[1]; in stablehlo.dynamic_reshape)",
     R"(%s = stablehlo.constant dense<4> : tensor<1xi64>
 %y = stablehlo.dynamic_reshape %x, %s : (tensor<4xf32>, tensor<1xi64>) -> tensor<2x2xf32>)"},
    {kInvalidArgument, R"(MLIR text:4:7: expected the sizes of tensor<4xi32>, got 3; in stablehlo.dynamic_iota)",
     R"(%s = stablehlo.constant dense<3> : tensor<1xi64>
 %y = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi64>) -> tensor<4xi32>)"},
    {kInvalidArgument, R"(MLIR text:5:7: expected the sizes of tensor<4xf32>, got 3; in stablehlo.rng)",
     R"(%s = stablehlo.constant dense<3> : tensor<1xi64>
 %a = stablehlo.constant dense<1.0> : tensor<f32>
 %y = stablehlo.rng %a, %a, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(known_nonexpanding_dimensions holds 0, which is given twice)",
     R"(%s = stablehlo.constant dense<[4, 6]> : tensor<2xi64>
 %y = "stablehlo.dynamic_broadcast_in_dim"(%x, %s) <{broadcast_dimensions = array<i64: 0>, known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>}> : (tensor<4xf32>, tensor<2xi64>) -> tensor<4x6xf32>)"},
    {kInvalidArgument, R"(known_expanding_dimensions holds 1, which is no dimension of f32[4])",
     R"(%s = stablehlo.constant dense<[4, 6]> : tensor<2xi64>
 %y = "stablehlo.dynamic_broadcast_in_dim"(%x, %s) <{broadcast_dimensions = array<i64: 0>, known_expanding_dimensions = array<i64: 1>}> : (tensor<4xf32>, tensor<2xi64>) -> tensor<4x6xf32>)"},
    {kInvalidArgument, R"(expected pairs as source_target_pairs, got tensor<1x2xi32>)",
     R"(%y = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi32>}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(attribute permutation is given twice)",
     R"(%y = "stablehlo.transpose"(%x) <{permutation = array<i64: 0>, permutation = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:4:9: expected DEFAULT, THREE_FRY, PHILOX as rng_algorithm, got "PHILOXES"; in stablehlo.rng_bit_generator)",
     R"(%s = stablehlo.constant dense<1> : tensor<2xui64>
 %y:2 = stablehlo.rng_bit_generator %s, algorithm = PHILOXES : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>))"},
    {kInvalidArgument, R"(MLIR text:5:7: expected UNIFORM, NORMAL as rng_distribution, got ""; in stablehlo.rng)",
     R"(%s = stablehlo.constant dense<4> : tensor<1xi64>
 %a = stablehlo.constant dense<1.0> : tensor<f32>
 %y = "stablehlo.rng"(%a, %a, %s) : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected NOTYPE, FLOAT, TOTALORDER, SIGNED, UNSIGNED as compare_type, got "FLOATS"; in stablehlo.compare)",
     R"(%y = stablehlo.compare LT, %x, %x, FLOATS : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected DEFAULT, HIGH or HIGHEST as precision, got "BEST"; in stablehlo.dot)",
     R"(%y = stablehlo.dot %x, %x, precision = [BEST, BEST] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected a matrix of i64 as replica_groups; in stablehlo.all_gather)",
     R"(%y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[0, 1]> : tensor<2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: the mesh has no axis "b"; in stablehlo.all_gather)",
     R"(%y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 2>]>, axes = [#stablehlo.axis_ref<name = "b">]>}> : (tensor<4xf32>) -> tensor<8xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected a mesh; in stablehlo.all_gather)",
     R"(%y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = 3, axes = []>}> : (tensor<4xf32>) -> tensor<8xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: size 0 of a dimension must be positive; in stablehlo.all_gather)",
     R"(%y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 0>]>, axes = []>}> : (tensor<4xf32>) -> tensor<8xf32>)"},
    {kInvalidArgument, R"(expected mesh and axes)",
     R"(%y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<axes = []>}> : (tensor<4xf32>) -> tensor<8xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: there is no mesh @m; in stablehlo.all_gather)",
     R"(%y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh_name = @m, axes = []>}> : (tensor<4xf32>) -> tensor<8xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:3:10: ragged_all_to_all: expected a dictionary as backend_config; in stablehlo.custom_call)",
     R"(%y = "stablehlo.custom_call"(%x) <{call_target_name = "ragged_all_to_all", backend_config = ""}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kUnimplemented, R"(MLIR text:3:10: ragged_all_to_all with other; in stablehlo.custom_call)",
     R"(%y = "stablehlo.custom_call"(%x) <{call_target_name = "ragged_all_to_all", backend_config = {other = 1 : i64}}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected 6 operands, got 1; in stablehlo.custom_call)",
     R"(%y = "stablehlo.custom_call"(%x) <{call_target_name = "ragged_all_to_all", backend_config = {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected a float as epsilon; in stablehlo.batch_norm_inference)",
     R"(%y = "stablehlo.batch_norm_inference"(%x, %x, %x, %x, %x) <{feature_index = 0 : i64}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:3:10: expected pairs as source_target_pairs, got tensor<3xi64>; in stablehlo.collective_permute)",
     R"(%y = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[0, 1, 2]> : tensor<3xi64>}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:3:10: concatenate: expects at least one operand, got none; in stablehlo.concatenate)",
     R"(%y = "stablehlo.concatenate"() <{dimension = 0 : i64}> : () -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected 1 operands, got 0; in stablehlo.case)",
     R"(%y = "stablehlo.case"() : () -> tensor<4xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:3:12: expected 1 results, of f32[4], got 2; in stablehlo.add)",
     R"(%y:2 = "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>))"},
    {kInvalidArgument, R"(MLIR text:3:12: expected 2 results, got 3; in chlo.top_k)",
     R"(%y:3 = "chlo.top_k"(%x) <{k = 2 : i64}> : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>, tensor<2xi32>))"},
    {kInvalidArgument, R"(MLIR text:3:10: expected 2 results, got 1; in chlo.top_k)",
     R"(%y = "chlo.top_k"(%x) : (tensor<4xf32>) -> tensor<2xf32>)"},
    {kUnimplemented,
     R"(MLIR text:3:10: a result of type tensor<?xf32>, whose sizes nothing gives; in stablehlo.custom_call)",
     R"(%y = "stablehlo.custom_call"(%x) <{call_target_name = "f"}> : (tensor<4xf32>) -> tensor<?xf32>)"},
    {kUnimplemented,
     R"(MLIR text:4:10: sizes that are not known when the program is compiled; in stablehlo.dynamic_iota)",
     R"(%s = stablehlo.custom_call @f(%x) : (tensor<4xf32>) -> tensor<1xi32>
    %y = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>)"},
    {kInvalidArgument, R"(MLIR text:4:10: expected an array of integers as operand 0, got tensor<1xf32>; in stablehlo.dynamic_iota)",
     R"(%s = stablehlo.constant dense<1.0> : tensor<1xf32>
    %y = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xf32>) -> tensor<?xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected manual_axes; in sdy.manual_computation)",
     R"(%y = "sdy.manual_computation"(%x) ({ ^bb0(%a: tensor<4xf32>): "sdy.return"(%a) : (tensor<4xf32>) -> () }) {manual_axes = 3 : i64, in_shardings = 3 : i64, out_shardings = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:3:10: expected manual_axes, in_shardings and out_shardings; in sdy.manual_computation)",
     R"(%y = "sdy.manual_computation"(%x) ({ ^bb0(%a: tensor<4xf32>): "sdy.return"(%a) : (tensor<4xf32>) -> () }) : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: a region of 0 arguments for 1 operands; in sdy.manual_computation)", R"(%y = "sdy.manual_computation"(%x) ({ ^bb0: "sdy.return"(%x) : (tensor<4xf32>) -> () }) {manual_axes = #sdy<manual_axes{"a"}>, in_shardings = #sdy.sharding_per_value<[]>, out_shardings = #sdy.sharding_per_value<[]>} : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected one region; in sdy.manual_computation)",
     R"(%y = "sdy.manual_computation"(%x) {manual_axes = #sdy<manual_axes{"a"}>, in_shardings = #sdy.sharding_per_value<[]>, out_shardings = #sdy.sharding_per_value<[]>} : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:5:10: pad: padding = 1_1_1x1_1_1 must have one entry for each of the 1 dimensions of f32[4]; in stablehlo.dynamic_pad)",
     R"(%v = stablehlo.constant dense<0.0> : tensor<f32>
    %p = stablehlo.constant dense<[1, 1]> : tensor<2xi32>
    %y = "stablehlo.dynamic_pad"(%x, %v, %p, %p, %p) : (tensor<4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?xf32>)"},
    {kInvalidArgument, R"(MLIR text:4:10: expected pairs as padding, got 3 integers; in stablehlo.dynamic_conv)",
     R"(%p = stablehlo.constant dense<[1, 1, 1]> : tensor<3xi32>
    %y = "stablehlo.dynamic_conv"(%x, %x, %p) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>}> : (tensor<4xf32>, tensor<4xf32>, tensor<3xi32>) -> tensor<?xf32>)"},
    {kInvalidArgument, R"(MLIR text:4:10: expected floats, got s32[4]; in chlo.erf_inv)",
     R"(%i = stablehlo.constant dense<1> : tensor<4xi32>
    %y = "chlo.erf_inv"(%i) : (tensor<4xi32>) -> tensor<4xi32>)"},
    {kInvalidArgument, R"(MLIR text:3:124: expected a bound for each of 1 dimensions; got 2)",
     R"(%y = "stablehlo.custom_call"(%x) <{call_target_name = "f"}> : (tensor<4xf32>) -> tensor<4xf32, #stablehlo.bounds<4, 5>>)"},
    {kInvalidArgument, R"(MLIR text:4:10: broadcast: dimensions = {0,0} repeats 0; in stablehlo.broadcast_in_dim)",
     R"(%z = stablehlo.constant dense<0.0> : tensor<2x2xf32>
    %y = "stablehlo.broadcast_in_dim"(%z) <{broadcast_dimensions = array<i64: 0, 0>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:3:10: expected a broadcast dimension for each dimension of f32[4], got 0; in stablehlo.broadcast_in_dim)",
     R"(%y = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64>}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: broadcast dimension 3 is none of f32[4]; in stablehlo.broadcast_in_dim)",
     R"(%y = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 3>}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:3:10: expected as many start_indices, limit_indices and strides, got 1, 2 and 1; in stablehlo.slice)",
     R"(%y = "stablehlo.slice"(%x) <{start_indices = array<i64: 0>, limit_indices = array<i64: 1, 2>, strides = array<i64: 1>}> : (tensor<4xf32>) -> tensor<1xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:4:10: expected as many low, high and interior paddings, got 1, 2 and 1; in stablehlo.pad)",
     R"(%v = stablehlo.constant dense<0.0> : tensor<f32>
    %y = "stablehlo.pad"(%x, %v) <{edge_padding_low = array<i64: 0>, edge_padding_high = array<i64: 1, 2>, interior_padding = array<i64: 1>}> : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: a list of 99999999 integers as permutation; in stablehlo.transpose)",
     R"(%y = "stablehlo.transpose"(%x) <{permutation = dense<0> : tensor<99999999xi64>}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected integers, got f32[1] as permutation; in stablehlo.transpose)",
     R"(%y = "stablehlo.transpose"(%x) <{permutation = dense<0.5> : tensor<1xf32>}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected a list of integers as permutation; in stablehlo.transpose)",
     R"(%y = "stablehlo.transpose"(%x) <{permutation = "a"}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:3:10: transpose: dimensions = {} is not a permutation of 0..0 for operand f32[4]; in stablehlo.transpose)",
     R"(%y = "stablehlo.transpose"(%x) : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected an integer as iota_dimension; in stablehlo.iota)",
     R"(%y = "stablehlo.iota"() : () -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected an integer as exponent_bits; in stablehlo.reduce_precision)",
     R"(%y = "stablehlo.reduce_precision"(%x) <{exponent_bits = 1.5 : f32, mantissa_bits = 3 : i32}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kUnimplemented,
     R"(MLIR text:3:10: an array of c64 as attribute of a custom call; attribute a; in stablehlo.custom_call)",
     R"(%y = "stablehlo.custom_call"(%x) <{call_target_name = "f", backend_config = {a = dense<[(1.0, 2.0)]> : tensor<1xcomplex<f32>>}}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kUnimplemented,
     R"(MLIR text:3:10: an attribute of a custom call of a kind that is no number, string, array or dictionary; attribute a; in stablehlo.custom_call)",
     R"(%y = "stablehlo.custom_call"(%x) <{call_target_name = "f", backend_config = {a = @sym}}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected 1 layouts as operand_layouts, got 2; in stablehlo.custom_call)",
     R"(%y = "stablehlo.custom_call"(%x) <{call_target_name = "f", operand_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>]}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:3:10: layout: expected 1 dimensions in minor_to_major, got 2; in operand_layouts; in stablehlo.custom_call)",
     R"(%y = "stablehlo.custom_call"(%x) <{call_target_name = "f", operand_layouts = [dense<[0, 1]> : tensor<2xindex>]}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected aliases as output_operand_aliases; in stablehlo.custom_call)",
     R"(%y = "stablehlo.custom_call"(%x) <{call_target_name = "f", output_operand_aliases = [3 : i64]}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: there is no api_version 9; in stablehlo.custom_call)",
     R"(%y = "stablehlo.custom_call"(%x) <{call_target_name = "f", api_version = 9 : i32}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: there is no function @g; in stablehlo.custom_call)",
     R"(%y = "stablehlo.custom_call"(%x) <{call_target_name = "f", called_computations = [@g]}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected one computation that compares, got 0; in stablehlo.custom_call)",
     R"(%y = "stablehlo.custom_call"(%x, %x) <{call_target_name = "ApproxTopK"}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected call_target_name; in stablehlo.custom_call)",
     R"(%y = "stablehlo.custom_call"(%x) : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:4:5: the program's condition on its sizes does not hold: too few; in stablehlo.custom_call)",
     R"(%c = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.custom_call @shape_assertion(%c) {error_message = "too few", has_side_effect = true} : (tensor<i1>) -> ())"},
    {kInvalidArgument, R"(MLIR text:4:5: a shape_assertion of s32[]; in stablehlo.custom_call)",
     R"(%c = stablehlo.constant dense<1> : tensor<i32>
    stablehlo.custom_call @shape_assertion(%c) {error_message = "too few", has_side_effect = true} : (tensor<i32>) -> ())"},
    {kInvalidArgument, R"(MLIR text:3:5: expected at least 1 operands, got 0; in stablehlo.custom_call)",
     R"(stablehlo.custom_call @shape_assertion() {error_message = "too few", has_side_effect = true} : () -> ())"},
    {kInvalidArgument, R"(MLIR text:4:10: expected a token as the last result; in stablehlo.infeed)",
     R"(%t = "stablehlo.create_token"() : () -> !stablehlo.token
    %y = "stablehlo.infeed"(%t) : (!stablehlo.token) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:4:10: a branch with arguments; in stablehlo.if)",
     R"(%c = stablehlo.constant dense<true> : tensor<i1>
    %y = "stablehlo.if"(%c) ({ ^bb0(%a: tensor<4xf32>): "stablehlo.return"(%a) : (tensor<4xf32>) -> () }, { "stablehlo.return"(%x) : (tensor<4xf32>) -> () }) : (tensor<i1>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: a loop over 1 values has a region of 0 arguments; in stablehlo.while)",
     R"(%y = "stablehlo.while"(%x) ({ ^bb0: %c = stablehlo.constant dense<true> : tensor<i1>
 "stablehlo.return"(%c) : (tensor<i1>) -> () }, { ^bb0(%a: tensor<4xf32>): "stablehlo.return"(%a) : (tensor<4xf32>) -> () }) : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:3:10: the program says that result 0 is f32[5], but it is f32[4]; in stablehlo.optimization_barrier)",
     R"(%y = "stablehlo.optimization_barrier"(%x) : (tensor<4xf32>) -> tensor<5xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: there is no function @; in stablehlo.composite)",
     R"(%y = "stablehlo.composite"(%x) <{name = "a.b"}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:3:10: expected an array of i1 as operand 0, got tensor<4xf32>; in stablehlo.if)",
     R"(%y = "stablehlo.if"(%x) ({ "stablehlo.return"(%x) : (tensor<4xf32>) -> () }) : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument,
     R"(MLIR text:3:10: map: expects the called computations (to_apply), got 0 computations; in stablehlo.map)",
     R"(%y = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected 1 pairs as padding, got 2; in stablehlo.convolution)",
     R"(%y = "stablehlo.convolution"(%x, %x) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, padding = dense<0> : tensor<2x2xi64>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:67: elements of tensor<?xi32>)",
     R"(%y = "stablehlo.constant"() <{value = dense<1> : tensor<?xi32>}> : () -> tensor<4xi32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected a dense array; in stablehlo.constant)",
     R"(%y = "stablehlo.constant"() <{value = 3 : i64}> : () -> tensor<4xi32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: a constant of s32[4] with 1 bytes; in stablehlo.constant)",
     R"(%y = "stablehlo.constant"() <{value = dense<"0x00"> : tensor<4xi32>}> : () -> tensor<4xi32>)"},
    {kUnimplemented, R"(MLIR text:3:10: the algorithm f64 x f32 -> f16 of 7 products; in stablehlo.dot_general)",
     R"(%y = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f64, rhs_precision_type = f32, accumulation_type = f16, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 7, allow_imprecise_accumulation = false>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>)"},
    {kInvalidArgument,
     R"(MLIR text:3:10: cannot cut f32[4] into 2 pieces along dimension 0 and join them along 1; in stablehlo.all_to_all)",
     R"(%y = "stablehlo.all_to_all"(%x) <{split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected no region, got 1; in stablehlo.abs)",
     R"(%y = "stablehlo.abs"(%x) ({ "stablehlo.return"() : () -> () }) : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:5: expected 1 results, of f32[4], got 0; in stablehlo.abs)",
     R"("stablehlo.abs"(%x) : (tensor<4xf32>) -> ())"},
    {kInvalidArgument, R"(MLIR text:3:10: expected the attribute dimensions; in stablehlo.reverse)",
     R"(%y = "stablehlo.reverse"(%x) : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected the attribute source_target_pairs; in stablehlo.collective_permute)",
     R"(%y = "stablehlo.collective_permute"(%x) : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected true or false as has_side_effect; in stablehlo.custom_call)",
     R"(%y = "stablehlo.custom_call"(%x) <{call_target_name = "f", has_side_effect = 3.0 : f32}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected a list as precision_config; in stablehlo.dot)",
     R"(%y = "stablehlo.dot"(%x, %x) <{precision_config}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected an attribute with named parts as channel_handle; in stablehlo.collective_permute)",
     R"(%y = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = 1 : i64}> : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:4:7: expected an array of i1 as operand 0, got tensor<i32>; in stablehlo.if)",
     R"(%p = stablehlo.constant dense<1> : tensor<i32>
 %y = "stablehlo.if"(%p) ({ "stablehlo.return"(%x) : (tensor<4xf32>) -> () }, { "stablehlo.return"(%x) : (tensor<4xf32>) -> () }) : (tensor<i32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:4:7: expected an array of i32 as operand 0, got tensor<i1>; in stablehlo.case)",
     R"(%p = stablehlo.constant dense<true> : tensor<i1>
 %y = "stablehlo.case"(%p) ({ "stablehlo.return"(%x) : (tensor<4xf32>) -> () }) : (tensor<i1>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:4:7: expected an array of integers as operand 1, got tensor<1xf32>; in stablehlo.dynamic_reshape)",
     R"(%s = stablehlo.constant dense<4.0> : tensor<1xf32>
 %y = stablehlo.dynamic_reshape %x, %s : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:5:7: operand 3 is tensor<1xi64>, but operand 1 is tensor<1xi32>; in stablehlo.real_dynamic_slice)",
     R"(%s = stablehlo.constant dense<1> : tensor<1xi32>
 %l = stablehlo.constant dense<1> : tensor<1xi64>
 %y = stablehlo.real_dynamic_slice %x, %s, %s, %l : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi64>) -> tensor<?xf32>)"},
    {kInvalidArgument, R"(MLIR text:5:7: expected 1 integers as slice sizes, got s32[2]; in stablehlo.dynamic_gather)",
     R"(%s = stablehlo.constant dense<1> : tensor<2xi32>
 %i = stablehlo.constant dense<1> : tensor<1xi32>
 %y = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], start_index_map = [0]>}> : (tensor<4xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<1xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected all dimensions of f32[4] as dimensions, got 0; in stablehlo.map)",
     R"(%y = "stablehlo.map"(%x) <{dimensions = array<i64>}> ({ ^bb0(%a: tensor<f32>): "stablehlo.return"(%a) : (tensor<f32>) -> () }) : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:5:7: operand 1 is tensor<1x1x1xi32>, but operand 0 is tensor<1x4x1xf32>; in stablehlo.convolution)",
     R"(%a = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<1x4x1xf32>
 %b = stablehlo.constant dense<1> : tensor<1x1x1xi32>
 %y = "stablehlo.convolution"(%a, %b) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x4x1xf32>, tensor<1x1x1xi32>) -> tensor<1x4x1xf32>)"},
    {kInvalidArgument, R"(dimension f is given twice)",
     R"(%y = "stablehlo.convolution"(%x, %x) <{dimension_numbers = #stablehlo.conv<[b, 0, f, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected DEFAULT as precision_config beside an algorithm; in stablehlo.dot_general)",
     R"(%y = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0], precision = [HIGH, HIGH], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>)"},
    {kInvalidArgument, R"(MLIR text:4:7: expected 2 as the channel's type where is_host_transfer is true, got 1; in stablehlo.send)",
     R"(%t = stablehlo.create_token : !stablehlo.token
 %y = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token)"},
    {kInvalidArgument, R"(MLIR text:3:10: expected a value of the result's elements, i32, got f32; in chlo.constant_like)",
     R"(%y = "chlo.constant_like"(%x) <{value = 1.0 : f32}> : (tensor<4xf32>) -> tensor<4xi32>)"},
    {kInvalidArgument, R"(MLIR text:3:10: a loop over f32[4] has a region of tensor<4xi32>; in stablehlo.while)",
     R"(%y = "stablehlo.while"(%x) ({ ^bb0(%a: tensor<4xi32>): %p = stablehlo.constant dense<false> : tensor<i1>
 "stablehlo.return"(%p) : (tensor<i1>) -> () }, { ^bb0(%a: tensor<4xf32>): "stablehlo.return"(%a) : (tensor<4xf32>) -> () }) : (tensor<4xf32>) -> tensor<4xf32>)"},
    {kInvalidArgument, R"(MLIR text:4:7: elements of operand 0, which is tensor<4x!quant.uniform<i8<-128:127>:f32, 0.5:0>>, have other scales as tensor<2x2x!quant.uniform<i8<-128:127>:f32, 0.25:0>>; in stablehlo.reshape)",
     R"(%q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
 %y = stablehlo.reshape %q : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i8:f32, 0.25>>)"},
    {kInvalidArgument, R"(MLIR text:4:7: elements of operand 0, which is tensor<4x!quant.uniform<i8<-128:127>:f32, 0.5:0>>, have other scales as tensor<4xi8>; in stablehlo.reverse)",
     R"(%q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
 %y = "stablehlo.reverse"(%q) <{dimensions = array<i64: 0>}> : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4xi8>)"},
};
// clang-format on

TEST(StablehloRefusalsTest, OfOperations) {
  for (const Refusal& refusal : kOfOperations) {
    ExpectRefused(refusal, absl::StrCat("module {\n  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n    ",
                                        refusal.program, "\n    return %x : tensor<4xf32>\n  }\n}\n"));
  }
}

constexpr Refusal kOfModules[] = {
    {kInvalidArgument, R"(argument 0 is tensor<4xf32>, but the function's type states tensor<5xf32>; in @main)",
     R"("builtin.module"() ({ "func.func"() <{sym_name="main", function_type = (tensor<5xf32>) -> ()}> ({
 ^bb0(%x: tensor<4xf32>): "func.return"() : () -> () }) : () -> () }) : () -> ())"},
    {kInvalidArgument, R"(result 0 is tensor<4xf32>, but the function's type states tensor<4xi32>; in @main)",
     R"(module { func.func @main(%x: tensor<4xf32>) -> tensor<4xi32> { return %x : tensor<4xf32> } })"},
    {kInvalidArgument,
     R"(result 0 is tensor<4x!quant.uniform<i8<-128:127>:f32, 0.5:1>>, but the function's type states tensor<4x!quant.uniform<i8<-128:127>:f32, 0.25:1>>; in @main)",
     R"(module { func.func @main(%x: tensor<4x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<4x!quant.uniform<i8:f32, 0.25:1>> { return %x : tensor<4x!quant.uniform<i8:f32, 0.5:1>> } })"},
    {kInvalidArgument, R"(the function's type has 2 results, but there are 1; in @main)",
     R"(module { func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) { return %x : tensor<4xf32> } })"},
    {kInvalidArgument, R"(operand 0 of func.return is tensor<4xf32>, not tensor<4xi32>)",
     R"(module { func.func @main(%x: tensor<4xf32>) -> tensor<4xi32> { return %x : tensor<4xi32> } })"},
    {kInvalidArgument, R"(expected a mesh; in sdy.mesh @)",
     R"("builtin.module"() ({ "sdy.mesh"() <{sym_name = "m", mesh = 3 : i64}> : () -> ()
 "func.func"() <{sym_name="main", function_type = () -> ()}> ({ "func.return"() : () -> () }) : () -> () }) : () -> ())"},
    {kInvalidArgument, R"(sdy.mesh: expected a name)",
     R"("builtin.module"() ({ "sdy.mesh"() <{mesh = #sdy.mesh<["a"=2]>}> : () -> ()
 "func.func"() <{sym_name="main", function_type = () -> ()}> ({ "func.return"() : () -> () }) : () -> () }) : () -> ())"},
    {kInvalidArgument, R"(expected a priority such as p1, got px)",
     R"(module { sdy.mesh @m = <["a"=2]>
  func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}px]>}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
)"},
    {kInvalidArgument, R"(sdy.sharding: there is no mesh @n; argument 0 of main)",
     R"(module { sdy.mesh @m = <["a"=2]>
  func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@n, [{"a"}]>}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
)"},
    {kInvalidArgument, R"(sdy.sharding: expected a sharding; argument 0 of main)",
     R"(module { sdy.mesh @m = <["a"=2]>
  func.func @main(%x: tensor<4xf32> {sdy.sharding = 3 : i64}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
)"},
    {kInvalidArgument, R"(sharding: the mesh has no axis "b"; it has a; argument 0 of main)",
     R"(module { sdy.mesh @m = <["a"=2]>
  func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"b"}]>}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
)"},
    {kInvalidArgument, R"(argument 0 of main: there is no result 3 for tf.aliasing_output)",
     R"(module { func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 3 : i32}) -> tensor<4xf32> { return %x : tensor<4xf32> } })"},
    {kInvalidArgument, R"(expected a positive integer as mhlo.num_partitions)",
     R"(module attributes {mhlo.num_partitions = 0 : i32} { func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> } })"},
    {kInvalidArgument, R"(MLIR text:1:15: expected a module)", R"("other.module"() : () -> ())"},
    {kInvalidArgument, R"(there are two functions @main)",
     R"(module { func.func @main() { return }
 func.func @main() { return } })"},
    {kInvalidArgument, R"(expected a function @main; the program has 2 functions)",
     R"(module { func.func @f() { return }
 func.func @g() { return } })"},
    {kInvalidArgument, R"(a function without sym_name)",
     R"("builtin.module"() ({ "func.func"() <{function_type = () -> ()}> ({ "func.return"() : () -> () }) : () -> () }) : () -> ())"},
    {kInvalidArgument, R"(MLIR text:1:23: a region without return; in func.func)",
     R"("builtin.module"() ({ "func.func"() <{sym_name="main", function_type = () -> ()}> ({ %c = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32> }) : () -> () }) : () -> ())"},
    {kInvalidArgument, R"(function @main has 0 regions)",
     R"("builtin.module"() ({ "func.func"() <{sym_name="main", function_type = () -> ()}> : () -> () }) : () -> ())"},
    {kInvalidArgument, R"(MLIR text:2:2: a function within a function; in func.func)",
     R"(module { func.func @main() { %c = stablehlo.constant dense<1> : tensor<i32>
 "func.func"() <{sym_name="g", function_type = () -> ()}> ({ "func.return"(%c) : (tensor<i32>) -> () }) : () -> ()
 func.call @g() : () -> ()
 return } })"},
    {kInvalidArgument, R"(MLIR text:1:30: there is no function @missing; in func.call)",
     R"(module { func.func @main() { func.call @missing() : () -> ()
 return } })"},
};

TEST(StablehloRefusalsTest, OfModules) {
  for (const Refusal& refusal : kOfModules) ExpectRefused(refusal, refusal.program);
}

// Each tuple is made of `parts` of the one before; the last one is a parameter.
std::string NestedTuples(int levels, absl::string_view parts, int copies) {
  std::string text = "!t0 = tensor<f32>\n";
  for (int level = 1; level <= levels; ++level)
    absl::StrAppend(&text, "!t", level, " = tuple<", absl::Substitute(parts, absl::StrCat("!t", level - 1)), ">\n");
  for (int copy = 0; copy < copies; ++copy) absl::StrAppend(&text, "!c", copy, " = tuple<!t", levels, ", !t0>\n");
  return absl::StrCat(text, "module { func.func @main(%x: !t", levels, ") -> !t", levels, " { return %x : !t", levels,
                      " } }");
}

TEST(StablehloRefusalsTest, OfTuplesThatGrow) {
  EXPECT_TRUE(ImportStablehlo(NestedTuples(10, "$0, $0", 0)).ok());
  ExpectRefused({kInvalidArgument, "a tuple of more than 100000 elements", ""}, NestedTuples(40, "$0, $0", 0));
  ExpectRefused({kInvalidArgument, "tuples are nested deeper than", ""}, NestedTuples(3000, "$0", 0));
  ExpectRefused({kInvalidArgument, "the tuples within tuples have more than 2000000 elements in all", ""},
                NestedTuples(16, "$0, $0", 3000));
}

}  // namespace
}  // namespace hilo
