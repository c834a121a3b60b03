// The same operations as VHLO 0.9.0 wrote them.
// Written by tests/programs/stablehlo/generate.py.
// tolerance: f32 1e-5 relative
module @jit_oldest_version attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf32>) -> (tensor<4x4xf32> {jax.result_info = "result[0]"}, tensor<3x6xf32> {jax.result_info = "result[1]"}, tensor<4x6xf32> {jax.result_info = "result[2]"}, tensor<4x6xf32> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<[2, 0, -1]> : tensor<3xi32>
    %c_0 = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
    %0 = stablehlo.exponential %arg0 : tensor<4x6xf32>
    %1 = stablehlo.tanh %arg0 : tensor<4x6xf32>
    %2 = stablehlo.negate %arg0 : tensor<4x6xf32>
    %3 = stablehlo.exponential %2 : tensor<4x6xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %5 = stablehlo.add %4, %3 : tensor<4x6xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %7 = stablehlo.divide %6, %5 : tensor<4x6xf32>
    %8 = stablehlo.multiply %1, %7 : tensor<4x6xf32>
    %9 = stablehlo.add %0, %8 : tensor<4x6xf32>
    %10 = stablehlo.abs %arg0 : tensor<4x6xf32>
    %11 = stablehlo.log_plus_one %10 : tensor<4x6xf32>
    %12 = stablehlo.add %9, %11 : tensor<4x6xf32>
    %13 = stablehlo.multiply %arg0, %arg0 : tensor<4x6xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %15 = stablehlo.add %13, %14 : tensor<4x6xf32>
    %16 = stablehlo.rsqrt %15 : tensor<4x6xf32>
    %17 = stablehlo.subtract %12, %16 : tensor<4x6xf32>
    %18 = stablehlo.cbrt %arg0 : tensor<4x6xf32>
    %19 = stablehlo.add %17, %18 : tensor<4x6xf32>
    %20 = stablehlo.exponential_minus_one %arg0 : tensor<4x6xf32>
    %21 = stablehlo.add %19, %20 : tensor<4x6xf32>
    %22 = stablehlo.transpose %21, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %23 = stablehlo.dot_general %21, %22, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %25 = stablehlo.compare LT, %c, %24, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_4 = stablehlo.constant dense<4> : tensor<i32>
    %26 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %27 = stablehlo.add %c, %26 : tensor<3xi32>
    %28 = stablehlo.select %25, %27, %c : tensor<3xi1>, tensor<3xi32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %30 = "stablehlo.gather"(%21, %29) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %31 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %32 = stablehlo.compare LT, %c_0, %31, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %c_6 = stablehlo.constant dense<4> : tensor<i32>
    %33 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %34 = stablehlo.add %c_0, %33 : tensor<2xi32>
    %35 = stablehlo.select %32, %34, %c_0 : tensor<2xi1>, tensor<2xi32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %38 = "stablehlo.scatter"(%arg0, %36, %37) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %45 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %45 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<2x1xi32>, tensor<2x6xf32>) -> tensor<4x6xf32>
    %39 = stablehlo.sine %arg0 : tensor<4x6xf32>
    %40 = stablehlo.cosine %arg0 : tensor<4x6xf32>
    %41 = stablehlo.add %39, %40 : tensor<4x6xf32>
    %42 = stablehlo.abs %arg0 : tensor<4x6xf32>
    %43 = stablehlo.sqrt %42 : tensor<4x6xf32>
    %44 = stablehlo.add %41, %43 : tensor<4x6xf32>
    return %23, %30, %38, %44 : tensor<4x4xf32>, tensor<3x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
  }
}
