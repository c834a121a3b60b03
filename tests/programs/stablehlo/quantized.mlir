// Quantized arrays, per array and per axis, with zero points and bounds: as numbers of the expressed type, as integers that
// move, as sums of products, and in regions. What is returned is what the integers stand for, or the integers themselves.
module @quantized {
  func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x2xi8>, %image: tensor<1x4x4x2xf32>, %kernel: tensor<2x2x2x3xi8>, %s: tensor<64xi8>) -> (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<3x2xi1>, tensor<2xf32>, tensor<1x3x3x3xf32>, tensor<4xf32>, tensor<2xf32>, tensor<64x64x!quant.uniform<i8:f32, 0.2:5>>) {
    %q = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>
    %sum = stablehlo.add %q, %q : tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>
    %sum_numbers = stablehlo.uniform_dequantize %sum : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x3xf32>

    // Another quantization, of unsigned integers and along an axis.
    %narrow = stablehlo.uniform_quantize %q : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x3x!quant.uniform<u8<1:200>:f32:1, {0.5:100, 2.5:1, 0.125:200}>>
    %narrow_numbers = stablehlo.uniform_dequantize %narrow : (tensor<2x3x!quant.uniform<u8<1:200>:f32:1, {0.5:100, 2.5:1, 0.125:200}>>) -> tensor<2x3xf32>

    // The weights' integers are an argument.
    %weights = stablehlo.bitcast_convert %w : (tensor<3x2xi8>) -> tensor<3x2x!quant.uniform<i8<-127:127>:f32:1, {0.25, 0.5}>>
    %product = "stablehlo.dot_general"(%q, %weights) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, tensor<3x2x!quant.uniform<i8<-127:127>:f32:1, {0.25, 0.5}>>) -> tensor<2x2x!quant.uniform<i32:f32:1, {0.125, 0.25}>>
    %product_numbers = stablehlo.uniform_dequantize %product : (tensor<2x2x!quant.uniform<i32:f32:1, {0.125, 0.25}>>) -> tensor<2x2xf32>
    // Of floats and quantized weights.
    %hybrid = "stablehlo.dot_general"(%x, %weights) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<2x3xf32>, tensor<3x2x!quant.uniform<i8<-127:127>:f32:1, {0.25, 0.5}>>) -> tensor<2x2xf32>

    %turned = stablehlo.transpose %q, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<3x2x!quant.uniform<i8:f32, 0.5:3>>
    %other = stablehlo.bitcast_convert %w : (tensor<3x2xi8>) -> tensor<3x2x!quant.uniform<i8:f32, 0.125:-1>>
    %below = stablehlo.compare LT, %turned, %other, FLOAT : (tensor<3x2x!quant.uniform<i8:f32, 0.5:3>>, tensor<3x2x!quant.uniform<i8:f32, 0.125:-1>>) -> tensor<3x2xi1>

    // Each step of a reduction is quantized.
    %zero = stablehlo.constant() {value = dense<3> : tensor<i8>} : () -> tensor<!quant.uniform<i8:f32, 0.5:3>>
    %rows = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, tensor<!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
    %row_numbers = stablehlo.uniform_dequantize %rows : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2xf32>

    // Padding is the number 0, and not the integer.
    %pixels = stablehlo.uniform_quantize %image : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2x!quant.uniform<i8:f32, 0.25:-7>>
    %filter = stablehlo.bitcast_convert %kernel : (tensor<2x2x2x3xi8>) -> tensor<2x2x2x3x!quant.uniform<i8:f32:3, {0.5, 0.25, 1.0}>>
    %filtered = stablehlo.convolution(%pixels, %filter) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2x!quant.uniform<i8:f32, 0.25:-7>>, tensor<2x2x2x3x!quant.uniform<i8:f32:3, {0.5, 0.25, 1.0}>>) -> tensor<1x3x3x3x!quant.uniform<i8:f32, 0.75:5>>
    %filtered_numbers = stablehlo.uniform_dequantize %filtered : (tensor<1x3x3x3x!quant.uniform<i8:f32, 0.75:5>>) -> tensor<1x3x3x3xf32>

    // Constants of quantized elements, and indices.
    %c = stablehlo.constant() {value = dense<[-4, 0, 2, 7]> : tensor<4xi4>} : () -> tensor<4x!quant.uniform<i4:f32, 1.5:1>>
    %n = stablehlo.iota dim = 0 : tensor<4x!quant.uniform<i4:f32, 1.5:1>>
    %larger = stablehlo.maximum %c, %n : tensor<4x!quant.uniform<i4:f32, 1.5:1>>
    %larger_numbers = stablehlo.uniform_dequantize %larger : (tensor<4x!quant.uniform<i4:f32, 1.5:1>>) -> tensor<4xf32>
    // The difference of two integers of 32 bits may need 33.
    %wide = stablehlo.constant() {value = dense<[-2147483648, 1000]> : tensor<2xi32>} : () -> tensor<2x!quant.uniform<i32:f32, 2.0:1000>>
    %wide_numbers = stablehlo.uniform_dequantize %wide : (tensor<2x!quant.uniform<i32:f32, 2.0:1000>>) -> tensor<2xf32>

    // Many of these sums are halfway between two integers.
    %tenths = stablehlo.bitcast_convert %s : (tensor<64xi8>) -> tensor<64x!quant.uniform<i8:f32, 0.1:3>>
    %halves = stablehlo.bitcast_convert %s : (tensor<64xi8>) -> tensor<64x!quant.uniform<i8:f32, 0.05:-7>>
    %lhs = stablehlo.broadcast_in_dim %tenths, dims = [0] : (tensor<64x!quant.uniform<i8:f32, 0.1:3>>) -> tensor<64x64x!quant.uniform<i8:f32, 0.1:3>>
    %rhs = stablehlo.broadcast_in_dim %halves, dims = [1] : (tensor<64x!quant.uniform<i8:f32, 0.05:-7>>) -> tensor<64x64x!quant.uniform<i8:f32, 0.05:-7>>
    %sums = stablehlo.add %lhs, %rhs : (tensor<64x64x!quant.uniform<i8:f32, 0.1:3>>, tensor<64x64x!quant.uniform<i8:f32, 0.05:-7>>) -> tensor<64x64x!quant.uniform<i8:f32, 0.2:5>>
    return %q, %sum_numbers, %narrow_numbers, %product_numbers, %hybrid, %below, %row_numbers, %filtered_numbers, %larger_numbers, %wide_numbers, %sums : tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<3x2xi1>, tensor<2xf32>, tensor<1x3x3x3xf32>, tensor<4xf32>, tensor<2xf32>, tensor<64x64x!quant.uniform<i8:f32, 0.2:5>>
  }
}
