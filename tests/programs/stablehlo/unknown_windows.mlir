// Paddings of a convolution, starts and strides of a slice that are known when the program runs.
module @unknown_windows {
  func.func @main(%x: tensor<1x1x5x4xf32>, %k: tensor<2x1x3x2xf32>, %p: tensor<2x2xi32>, %s: tensor<2xi64>, %l: tensor<2xi64>, %t: tensor<2xi64>, %m: tensor<4x6xi32>) -> (tensor<1x2x4x7xf32>, tensor<2x2xi32>) {
    %y = "stablehlo.dynamic_conv"(%x, %k, %p) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_strides = array<i64: 2, 1>, lhs_dilation = array<i64: 2, 2>, rhs_dilation = array<i64: 1, 2>, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>}> : (tensor<1x1x5x4xf32>, tensor<2x1x3x2xf32>, tensor<2x2xi32>) -> tensor<1x2x4x7xf32>
    %z = stablehlo.real_dynamic_slice %m, %s, %l, %t : (tensor<4x6xi32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x2xi32>
    return %y, %z : tensor<1x2x4x7xf32>, tensor<2x2xi32>
  }
}
