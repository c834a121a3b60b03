// Paddings and slice sizes that are known when the program runs; its types state the sizes of the results.
module @unknown_paddings {
  func.func @main(%x: tensor<3x4xf32>, %v: tensor<f32>, %low: tensor<2xi32>, %high: tensor<2xi64>, %interior: tensor<2xi64>, %none: tensor<0xi64>, %i: tensor<2x1xi32>, %sizes: tensor<2xi64>) -> (tensor<3x8xf32>, tensor<f32>, tensor<2x3xf32>) {
    %wide = stablehlo.convert %low : (tensor<2xi32>) -> tensor<2xi64>
    %y = stablehlo.dynamic_pad %x, %v, %wide, %high, %interior : (tensor<3x4xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x8xf32>
    %scalar = stablehlo.dynamic_pad %v, %v, %none, %none, %none : (tensor<f32>, tensor<f32>, tensor<0xi64>, tensor<0xi64>, tensor<0xi64>) -> tensor<f32>
    %z = "stablehlo.dynamic_gather"(%x, %i, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false}> : (tensor<3x4xf32>, tensor<2x1xi32>, tensor<2xi64>) -> tensor<2x3xf32>
    return %y, %scalar, %z : tensor<3x8xf32>, tensor<f32>, tensor<2x3xf32>
  }
}
