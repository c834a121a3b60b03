// Operations that StableHLO says will be removed.
// Results are NumPy's: tests/programs/stablehlo/generate_chlo.py.
// tolerance: f32 1e-5 relative
module @deprecated {
  func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x2x4xf32>, %t: tensor<3x5x4xf32>, %i: tensor<2xi32>, %j: tensor<3x2xi32>) -> (tensor<4x2xf32>, tensor<3xf32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>) {
    %0 = stablehlo.einsum %a, %b, config = "ij,jik->ki" : (tensor<2x3xf32>, tensor<3x2x4xf32>) -> tensor<4x2xf32>
    %1 = stablehlo.unary_einsum %a, config = "ij->j" : (tensor<2x3xf32>) -> tensor<3xf32>
    %2 = "stablehlo.torch_index_select"(%t, %i) <{batch_dims = 0 : i64, dim = 1 : i64}> : (tensor<3x5x4xf32>, tensor<2xi32>) -> tensor<3x2x4xf32>
    %3 = "stablehlo.torch_index_select"(%t, %j) <{batch_dims = 1 : i64, dim = 1 : i64}> : (tensor<3x5x4xf32>, tensor<3x2xi32>) -> tensor<3x2x4xf32>
    return %0, %1, %2, %3 : tensor<4x2xf32>, tensor<3xf32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>
  }
}
