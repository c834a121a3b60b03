// Buffers: made of an array, carried by a loop, taken apart again; and one that nothing has set.
module @buffers {
  func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xi8>) {
    %empty = "stablehlo.custom_call"() <{call_target_name = "CreateBuffer", api_version = 4 : i32}> : () -> memref<2xi8>
    %made = stablehlo.custom_call @Pin(%x) {api_version = 4 : i32} : (tensor<4xf32>) -> memref<4xf32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %loop:2 = stablehlo.while(%i = %zero, %buffer = %made) : tensor<i32>, memref<4xf32>
     cond {
      %three = stablehlo.constant dense<3> : tensor<i32>
      %go = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %v = stablehlo.custom_call @Unpin(%buffer) {api_version = 4 : i32} : (memref<4xf32>) -> tensor<4xf32>
      %twice = stablehlo.add %v, %v : tensor<4xf32>
      %again = stablehlo.custom_call @Pin(%twice) {api_version = 4 : i32} : (tensor<4xf32>) -> memref<4xf32>
      stablehlo.return %j, %again : tensor<i32>, memref<4xf32>
    }
    %y = stablehlo.custom_call @Unpin(%loop#1) {api_version = 4 : i32} : (memref<4xf32>) -> tensor<4xf32>
    %nothing = stablehlo.custom_call @Unpin(%empty) {api_version = 4 : i32} : (memref<2xi8>) -> tensor<2xi8>
    return %x, %y, %nothing : tensor<4xf32>, tensor<4xf32>, tensor<2xi8>
  }
}
