// What jaxlib's CPU does not run: products of groups, dimensions that say where an operand is broadcast; and functions without a module around them,
// of which the one that nothing calls is the program.
// Results are NumPy's: tests/programs/stablehlo/generate_chlo.py.
// tolerance: f32 1e-5 relative
func.func private @twice(%v: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %v, %v : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @program(%a: tensor<6x3xf32>, %b: tensor<2x3x5xf32>, %groups: tensor<2xi32>, %v: tensor<2xf32>) -> (tensor<6x5xf32>, tensor<2x3x5xf32>) {
  %0 = "chlo.ragged_dot"(%a, %b, %groups) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGHEST>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<6x3xf32>, tensor<2x3x5xf32>, tensor<2xi32>) -> tensor<6x5xf32>
  %1 = stablehlo.composite "my.twice" %v {decomposition = @twice, version = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = chlo.broadcast_add %b, %1 {broadcast_dimensions = array<i64: 0>} : (tensor<2x3x5xf32>, tensor<2xf32>) -> tensor<2x3x5xf32>
  return %0, %2 : tensor<6x5xf32>, tensor<2x3x5xf32>
}
