// Written by tests/programs/stablehlo/generate.py.
// tolerance: f32 1e-6 relative
module @jit_indexing attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x5xf32>, %arg1: tensor<4xi32>) -> (tensor<12x1xf32> {jax.result_info = "result[0]"}, tensor<6x5xf32> {jax.result_info = "result[1]"}, tensor<4x5xf32> {jax.result_info = "result[2]"}, tensor<4x5xf32> {jax.result_info = "result[3]"}, tensor<6x4xf32> {jax.result_info = "result[4]"}, tensor<6x5xf32> {jax.result_info = "result[5]"}, tensor<6x10xf32> {jax.result_info = "result[6]"}, tensor<6x5xf32> {jax.result_info = "result[7]"}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<6x5xf32>) -> tensor<5x6xf32>
    %1 = stablehlo.slice %0 [0:5, 1:5:2] : (tensor<5x6xf32>) -> tensor<5x2xf32>
    %2 = stablehlo.reverse %1, dims = [0] : tensor<5x2xf32>
    %cst = stablehlo.constant dense<7.000000e+00> : tensor<f32>
    %3 = stablehlo.pad %2, %cst, low = [1, -1], high = [2, 0], interior = [1, 0] : (tensor<5x2xf32>, tensor<f32>) -> tensor<12x1xf32>
    %4 = stablehlo.slice %arg0 [0:2, 0:2] : (tensor<6x5xf32>) -> tensor<2x2xf32>
    %5 = stablehlo.slice %arg1 [0:1] : (tensor<4xi32>) -> tensor<1xi32>
    %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
    %7 = stablehlo.slice %arg1 [1:2] : (tensor<4xi32>) -> tensor<1xi32>
    %8 = stablehlo.reshape %7 : (tensor<1xi32>) -> tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %6, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %10 = stablehlo.add %6, %c_0 : tensor<i32>
    %11 = stablehlo.select %9, %10, %6 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.compare LT, %8, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<5> : tensor<i32>
    %13 = stablehlo.add %8, %c_2 : tensor<i32>
    %14 = stablehlo.select %12, %13, %8 : tensor<i1>, tensor<i32>
    %15 = stablehlo.dynamic_update_slice %arg0, %4, %11, %14 : (tensor<6x5xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<6x5xf32>
    %16 = stablehlo.slice %arg0 [0:4, 0:5] : (tensor<6x5xf32>) -> tensor<4x5xf32>
    %c_3 = stablehlo.constant dense<1> : tensor<i32>
    %17 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %18 = stablehlo.subtract %arg1, %17 : tensor<4xi32>
    %19 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %20 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %21 = stablehlo.concatenate %19, %20, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %23 = stablehlo.compare LT, %21, %22, SIGNED : (tensor<4x2xi32>, tensor<4x2xi32>) -> tensor<4x2xi1>
    %c_5 = stablehlo.constant dense<5> : tensor<i32>
    %24 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<4x2xi32>
    %25 = stablehlo.add %21, %24 : tensor<4x2xi32>
    %26 = stablehlo.select %23, %25, %21 : tensor<4x2xi1>, tensor<4x2xi32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<4x2xi32>) -> tensor<4x2x1xi32>
    %cst_6 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [1] : (tensor<2xf32>) -> tensor<4x2xf32>
    %30 = "stablehlo.scatter"(%16, %27, %29) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %49 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %49 : tensor<f32>
    }) : (tensor<4x5xf32>, tensor<4x2x1xi32>, tensor<4x2xf32>) -> tensor<4x5xf32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %31 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %32 = stablehlo.compare LT, %arg1, %31, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_8 = stablehlo.constant dense<6> : tensor<i32>
    %33 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %34 = stablehlo.add %arg1, %33 : tensor<4xi32>
    %35 = stablehlo.select %32, %34, %arg1 : tensor<4xi1>, tensor<4xi32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %37 = "stablehlo.gather"(%arg0, %36) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 5>}> : (tensor<6x5xf32>, tensor<4x1xi32>) -> tensor<4x5xf32>
    %38 = call @_take(%arg0, %arg1) : (tensor<6x5xf32>, tensor<4xi32>) -> tensor<6x4xf32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %39 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %40 = stablehlo.compare LT, %arg1, %39, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_10 = stablehlo.constant dense<6> : tensor<i32>
    %41 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %42 = stablehlo.add %arg1, %41 : tensor<4xi32>
    %43 = stablehlo.select %40, %42, %arg1 : tensor<4xi1>, tensor<4xi32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %cst_11 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x5xf32>
    %46 = "stablehlo.scatter"(%arg0, %44, %45) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %49 = stablehlo.multiply %arg2, %arg3 : tensor<f32>
      stablehlo.return %49 : tensor<f32>
    }) : (tensor<6x5xf32>, tensor<4x1xi32>, tensor<4x5xf32>) -> tensor<6x5xf32>
    %47 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x10xf32>
    %48 = stablehlo.reverse %arg0, dims = [0, 1] : tensor<6x5xf32>
    return %3, %15, %30, %37, %38, %46, %47, %48 : tensor<12x1xf32>, tensor<6x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<6x4xf32>, tensor<6x5xf32>, tensor<6x10xf32>, tensor<6x5xf32>
  }
  func.func private @_take(%arg0: tensor<6x5xf32>, %arg1: tensor<4xi32>) -> tensor<6x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %1 = "stablehlo.gather"(%arg0, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 6, 1>}> : (tensor<6x5xf32>, tensor<4x1xi32>) -> tensor<6x4xf32>
    return %1 : tensor<6x4xf32>
  }
}
