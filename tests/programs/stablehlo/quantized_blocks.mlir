// tolerance: f32 1e-5 relative
// Arrays quantized by blocks: of one dimension and of two, with dimensions in any order, as weights of a product along and
// across the blocks, and from one quantization to another.
!by_two = !quant.uniform<i8<-127:127>:f32:{1:3, 0:2}, {{0.5:1, 0.25}, {0.125:-3, 2.0:5}}>
!rows = !quant.uniform<i4:f32:{1:2}, {{0.5, 0.25:1, 1.0}}>
!columns = !quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>
func.func @main(%x: tensor<4x6xf32>, %r: tensor<4x6xi4>, %c: tensor<4x6xi8>) -> (tensor<4x6x!by_two>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x6xf32>) {
  %q = stablehlo.uniform_quantize %x : (tensor<4x6xf32>) -> tensor<4x6x!by_two>
  %numbers = stablehlo.uniform_dequantize %q : (tensor<4x6x!by_two>) -> tensor<4x6xf32>
  %again = stablehlo.uniform_quantize %q : (tensor<4x6x!by_two>) -> tensor<4x6x!columns>
  %again_numbers = stablehlo.uniform_dequantize %again : (tensor<4x6x!columns>) -> tensor<4x6xf32>

  %weights = stablehlo.bitcast_convert %r : (tensor<4x6xi4>) -> tensor<4x6x!rows>
  %along = stablehlo.dot_general %x, %weights, contracting_dims = [1] x [1] : (tensor<4x6xf32>, tensor<4x6x!rows>) -> tensor<4x4xf32>
  // Here the blocks are those of the product's rows: the integers are summed up.
  %lhs = stablehlo.constant() {value = dense<[[3, 4, 5, 6], [0, 3, 2, -9], [127, -128, 3, 1], [3, 3, 3, 4], [1, 2, 3, 4], [-7, 8, -9, 10]]> : tensor<6x4xi8>} : () -> tensor<6x4x!quant.uniform<i8:f32, 0.5:3>>
  %rhs = stablehlo.bitcast_convert %c : (tensor<4x6xi8>) -> tensor<4x6x!columns>
  %across = stablehlo.dot_general %lhs, %rhs, contracting_dims = [0] x [1] : (tensor<6x4x!quant.uniform<i8:f32, 0.5:3>>, tensor<4x6x!columns>) -> tensor<4x4xf32>
  %negated = stablehlo.negate %rhs : (tensor<4x6x!columns>) -> tensor<4x6x!columns>
  %negated_numbers = stablehlo.uniform_dequantize %negated : (tensor<4x6x!columns>) -> tensor<4x6xf32>
  return %q, %numbers, %again_numbers, %along, %across, %negated_numbers : tensor<4x6x!by_two>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x6xf32>
}
