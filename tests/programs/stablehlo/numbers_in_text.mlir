// Integers in hexadecimal, integers that fill all bits of a signed type, and sizes by an operation of the dialect shape.
module {
  func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %bytes = stablehlo.constant dense<[0x7F, 0xFF, 255, -0x80]> : tensor<4xi8>
    check.expect_eq_const %bytes, dense<[127, -1, -1, -128]> : tensor<4xi8>
    %unsigned = stablehlo.constant dense<[0xFF, 0x0]> : tensor<2xui8>
    check.expect_eq_const %unsigned, dense<[255, 0]> : tensor<2xui8>
    %nibbles = stablehlo.constant dense<[0xF, 8, 0x3]> : tensor<3xi4>
    check.expect_eq_const %nibbles, dense<[-1, -8, 3]> : tensor<3xi4>
    %long = stablehlo.constant dense<[0xFFFFFFFFFFFFFFFF, 18446744073709551615]> : tensor<2xi64>
    check.expect_eq_const %long, dense<-1> : tensor<2xi64>
    %sizes = shape.shape_of %a : tensor<2x3xf32> -> tensor<2xindex>
    %b = stablehlo.dynamic_reshape %a, %sizes : (tensor<2x3xf32>, tensor<2xindex>) -> tensor<2x3xf32>
    return %b : tensor<2x3xf32>
  }
}
