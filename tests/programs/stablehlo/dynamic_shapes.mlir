// Sizes that are operands, known when the program is read: constants, and what is computed from sizes of arrays.
// tolerance: f32 1e-6 relative
module @dynamic_shapes {
  func.func @main(%x: tensor<4x5xf32>, %v: tensor<3xf32>, %start: tensor<1xi32>) -> (tensor<4x5x3xf32>, tensor<20xf32>, tensor<2x5xi32>, tensor<3x2xf32>, tensor<2x5xf32>, tensor<6xf32>, tensor<2xf32>, tensor<1x1x4x1xf32>) {
    %rows = stablehlo.get_dimension_size %x, dim = 0 : (tensor<4x5xf32>) -> tensor<i32>
    %columns = "stablehlo.get_dimension_size"(%x) <{dimension = 1 : i64}> : (tensor<4x5xf32>) -> tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %a = stablehlo.reshape %rows : (tensor<i32>) -> tensor<1xi32>
    %b = stablehlo.reshape %columns : (tensor<i32>) -> tensor<1xi32>
    %c = stablehlo.reshape %three : (tensor<i32>) -> tensor<1xi32>
    %sizes = stablehlo.concatenate %a, %b, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %wide = stablehlo.dynamic_broadcast_in_dim %v, %sizes, dims = [2] : (tensor<3xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
    %again = stablehlo.dynamic_broadcast_in_dim %x, %sizes, dims = [0, 1] : (tensor<4x5xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
    %sum = stablehlo.add %wide, %again : tensor<?x?x?xf32>
    %twice = stablehlo.multiply %sum, %sum : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<4x5x3xf32>

    %count = stablehlo.multiply %rows, %columns : tensor<i32>
    %flat = stablehlo.reshape %count : (tensor<i32>) -> tensor<1xi32>
    %line = stablehlo.dynamic_reshape %x, %flat : (tensor<4x5xf32>, tensor<1xi32>) -> tensor<?xf32>
    %negative = stablehlo.negate %line : (tensor<?xf32>) -> tensor<20xf32>

    %two = stablehlo.constant dense<[2, 5]> : tensor<2xi32>
    %numbers = stablehlo.dynamic_iota %two, dim = 1 : (tensor<2xi32>) -> tensor<2x5xi32>

    %slice = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %indices = stablehlo.constant dense<[[0], [3], [1]]> : tensor<3x1xi32>
    %picked = "stablehlo.dynamic_gather"(%x, %indices, %slice) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false}> : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x2xf32>

    %low = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
    %high = stablehlo.constant dense<[3, 5]> : tensor<2xi64>
    %one = stablehlo.constant dense<1> : tensor<2xi64>
    %part = stablehlo.real_dynamic_slice %x, %low, %high, %one : (tensor<4x5xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x5xf32>

    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %before = stablehlo.constant dense<1> : tensor<1xi32>
    %none = stablehlo.constant dense<0> : tensor<1xi32>
    %padded = stablehlo.dynamic_pad %v, %zero, %before, %none, %before : (tensor<3xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<6xf32>

    %two_more = stablehlo.constant dense<2> : tensor<1xi32>
    %limit = stablehlo.add %start, %two_more : tensor<1xi32>
    %step = stablehlo.constant dense<1> : tensor<1xi32>
    %moving = stablehlo.real_dynamic_slice %v, %start, %limit, %step : (tensor<3xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>

    %image = stablehlo.reshape %v : (tensor<3xf32>) -> tensor<1x1x3x1xf32>
    %kernel = stablehlo.constant dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf32>
    %padding = stablehlo.constant dense<[[1, 1], [0, 0]]> : tensor<2x2xi32>
    %filtered = "stablehlo.dynamic_conv"(%image, %kernel, %padding) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>}> : (tensor<1x1x3x1xf32>, tensor<1x1x2x1xf32>, tensor<2x2xi32>) -> tensor<1x1x4x1xf32>
    return %twice, %negative, %numbers, %picked, %part, %padded, %moving, %filtered : tensor<4x5x3xf32>, tensor<20xf32>, tensor<2x5xi32>, tensor<3x2xf32>, tensor<2x5xf32>, tensor<6xf32>, tensor<2xf32>, tensor<1x1x4x1xf32>
  }
}
