// sytrd, gtsv2 and syrk.
// Written by tests/programs/cuda_calls/generate.py.
// tolerance: f64 1e-9 relative
// tolerance: c128 1e-9 relative
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x5xf64>, %arg1: tensor<2x6xf64>, %arg2: tensor<2x6xf64>, %arg3: tensor<2x6xf64>, %arg4: tensor<2x6x3xf64>, %arg5: tensor<4x3xf64>, %arg6: tensor<4x4xf64>) -> (tensor<5xf64> {jax.result_info = "result[0]"}, tensor<4xf64> {jax.result_info = "result[1]"}, tensor<2x6x3xf64> {jax.result_info = "result[2]"}, tensor<4x4xf64> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<5x5xf64>) -> tensor<5x5xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<5x5xf64>
    %2:5 = stablehlo.custom_call @cusolver_sytrd_ffi(%1) {backend_config = "", mhlo.backend_config = {lower = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n], [o], []) {i=5, j=5, k=5, l=5, m=5, n=4, o=4}, custom>} : (tensor<5x5xf64>) -> (tensor<5x5xf64>, tensor<5xf64>, tensor<4xf64>, tensor<4xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %4 = stablehlo.compare EQ, %2#4, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<5x5xf64>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<5x5xi1>
    %8 = stablehlo.select %7, %2#0, %6 : tensor<5x5xi1>, tensor<5x5xf64>
    %9 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %11 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<1xi1>) -> tensor<5xi1>
    %12 = stablehlo.select %11, %2#1, %10 : tensor<5xi1>, tensor<5xf64>
    %13 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<4xf64>
    %15 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<1xi1>) -> tensor<4xi1>
    %16 = stablehlo.select %15, %2#2, %14 : tensor<4xi1>, tensor<4xf64>
    %17 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_2 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<4xf64>
    %19 = stablehlo.broadcast_in_dim %17, dims = [0] : (tensor<1xi1>) -> tensor<4xi1>
    %20 = stablehlo.select %19, %2#3, %18 : tensor<4xi1>, tensor<4xf64>
    %21 = stablehlo.abs %12 : tensor<5xf64>
    %22 = stablehlo.abs %16 : tensor<4xf64>
    %23 = stablehlo.custom_call @cusparse_gtsv2_ffi(%arg1, %arg2, %arg3, %arg4) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 3, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, k], [i, l], [i, m, n])->([i, o, p]) {i=2, j=6, k=6, l=6, m=6, n=3, o=6, p=3}, custom>} : (tensor<2x6xf64>, tensor<2x6xf64>, tensor<2x6xf64>, tensor<2x6x3xf64>) -> tensor<2x6x3xf64>
    %24 = stablehlo.transpose %arg6, dims = [1, 0] : (tensor<4x4xf64>) -> tensor<4x4xf64>
    %25 = stablehlo.add %arg6, %24 : tensor<4x4xf64>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %26 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<f64>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %27 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f64>) -> tensor<f64>
    %28 = stablehlo.custom_call @cusolver_syrk_ffi(%arg5, %25, %26, %27) {backend_config = "", mhlo.backend_config = {transpose = false}, operand_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<4x3xf64>, tensor<4x4xf64>, tensor<f64>, tensor<f64>) -> tensor<4x4xf64>
    %29 = stablehlo.iota dim = 0 : tensor<4x4xi64>
    %c_5 = stablehlo.constant dense<-1> : tensor<i64>
    %30 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i64>) -> tensor<4x4xi64>
    %31 = stablehlo.add %29, %30 : tensor<4x4xi64>
    %32 = stablehlo.iota dim = 1 : tensor<4x4xi64>
    %33 = stablehlo.compare GE, %31, %32, SIGNED : (tensor<4x4xi64>, tensor<4x4xi64>) -> tensor<4x4xi1>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %34 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f64>) -> tensor<4x4xf64>
    %35 = stablehlo.select %33, %28, %34 : tensor<4x4xi1>, tensor<4x4xf64>
    %36 = stablehlo.transpose %35, dims = [1, 0] : (tensor<4x4xf64>) -> tensor<4x4xf64>
    %37 = stablehlo.iota dim = 0 : tensor<4x4xi64>
    %c_7 = stablehlo.constant dense<0> : tensor<i64>
    %38 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i64>) -> tensor<4x4xi64>
    %39 = stablehlo.add %37, %38 : tensor<4x4xi64>
    %40 = stablehlo.iota dim = 1 : tensor<4x4xi64>
    %41 = stablehlo.compare GE, %39, %40, SIGNED : (tensor<4x4xi64>, tensor<4x4xi64>) -> tensor<4x4xi1>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %42 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f64>) -> tensor<4x4xf64>
    %43 = stablehlo.select %41, %28, %42 : tensor<4x4xi1>, tensor<4x4xf64>
    %44 = stablehlo.add %43, %36 : tensor<4x4xf64>
    return %21, %22, %23, %44 : tensor<5xf64>, tensor<4xf64>, tensor<2x6x3xf64>, tensor<4x4xf64>
  }
}
