// Composites that are an opcode of HLO, and others that are called.
// Written by tests/programs/stablehlo/generate.py.
// tolerance: f32 2e-5 relative
module @jit_functions attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x7xf32>) -> (tensor<4x7xf32> {jax.result_info = "result[0]"}, tensor<4x7xf32> {jax.result_info = "result[1]"}, tensor<4x7xf32> {jax.result_info = "result[2]"}, tensor<4x7xf32> {jax.result_info = "result[3]"}, tensor<4x7xf32> {jax.result_info = "result[4]"}, tensor<4x7xf32> {jax.result_info = "result[5]"}, tensor<4x7xf32> {jax.result_info = "result[6]"}, tensor<4x7xf32> {jax.result_info = "result[7]"}, tensor<4x7xf32> {jax.result_info = "result[8]"}, tensor<4x7xf32> {jax.result_info = "result[9]"}, tensor<4x7xf32> {jax.result_info = "result[10]"}, tensor<4x7xf32> {jax.result_info = "result[11]"}, tensor<4x7xf32> {jax.result_info = "result[12]"}, tensor<4x7xf32> {jax.result_info = "result[13]"}, tensor<4x7xf32> {jax.result_info = "result[14]"}, tensor<4x7xf32> {jax.result_info = "result[15]"}, tensor<4x7xf32> {jax.result_info = "result[16]"}, tensor<4x7xf32> {jax.result_info = "result[17]"}, tensor<4x7xf32> {jax.result_info = "result[18]"}, tensor<4x7xf32> {jax.result_info = "result[19]"}) {
    %0 = stablehlo.tanh %arg0 : tensor<4x7xf32>
    %cst = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x7xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<4x7xf32>
    %3 = chlo.erf %arg0 : tensor<4x7xf32> -> tensor<4x7xf32>
    %4 = stablehlo.abs %arg0 : tensor<4x7xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x7xf32>
    %6 = stablehlo.add %4, %5 : tensor<4x7xf32>
    %7 = call @arccosh(%6) : (tensor<4x7xf32>) -> tensor<4x7xf32>
    %8 = chlo.asin %2 : tensor<4x7xf32> -> tensor<4x7xf32>
    %9 = chlo.sinh %arg0 : tensor<4x7xf32> -> tensor<4x7xf32>
    %10 = chlo.cosh %arg0 : tensor<4x7xf32> -> tensor<4x7xf32>
    %11 = chlo.atanh %2 : tensor<4x7xf32> -> tensor<4x7xf32>
    %12 = chlo.acos %2 : tensor<4x7xf32> -> tensor<4x7xf32>
    %13 = stablehlo.tan %2 : tensor<4x7xf32>
    %14 = chlo.erf_inv %2 : tensor<4x7xf32> -> tensor<4x7xf32>
    %15 = stablehlo.abs %arg0 : tensor<4x7xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x7xf32>
    %17 = stablehlo.add %15, %16 : tensor<4x7xf32>
    %18 = chlo.lgamma %17 : tensor<4x7xf32> -> tensor<4x7xf32>
    %19 = stablehlo.abs %arg0 : tensor<4x7xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x7xf32>
    %21 = stablehlo.add %19, %20 : tensor<4x7xf32>
    %22 = chlo.digamma %21 : tensor<4x7xf32> -> tensor<4x7xf32>
    %23 = stablehlo.multiply %arg0, %arg0 : tensor<4x7xf32>
    %24 = stablehlo.multiply %23, %arg0 : tensor<4x7xf32>
    %cst_3 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x7xf32>
    %26 = stablehlo.multiply %25, %24 : tensor<4x7xf32>
    %27 = stablehlo.add %arg0, %26 : tensor<4x7xf32>
    %cst_4 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x7xf32>
    %29 = stablehlo.multiply %28, %27 : tensor<4x7xf32>
    %30 = stablehlo.tanh %29 : tensor<4x7xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x7xf32>
    %32 = stablehlo.add %31, %30 : tensor<4x7xf32>
    %cst_6 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x7xf32>
    %34 = stablehlo.multiply %33, %32 : tensor<4x7xf32>
    %35 = stablehlo.multiply %arg0, %34 : tensor<4x7xf32>
    %36 = stablehlo.atan2 %arg0, %2 : tensor<4x7xf32>
    %37 = chlo.next_after %arg0, %2 : tensor<4x7xf32>, tensor<4x7xf32> -> tensor<4x7xf32>
    %38 = chlo.asinh %arg0 : tensor<4x7xf32> -> tensor<4x7xf32>
    %cst_7 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x7xf32>
    %40 = stablehlo.multiply %arg0, %39 : tensor<4x7xf32>
    %41 = chlo.erfc %40 : tensor<4x7xf32> -> tensor<4x7xf32>
    %42 = chlo.atan %arg0 : tensor<4x7xf32> -> tensor<4x7xf32>
    %cst_8 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x7xf32>
    %44 = stablehlo.subtract %arg0, %43 : tensor<4x7xf32>
    %45 = chlo.lgamma %44 : tensor<4x7xf32> -> tensor<4x7xf32>
    %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x7xf32>
    %47 = stablehlo.subtract %arg0, %46 : tensor<4x7xf32>
    %48 = chlo.digamma %47 : tensor<4x7xf32> -> tensor<4x7xf32>
    %cst_10 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x7xf32>
    %50 = stablehlo.multiply %arg0, %49 : tensor<4x7xf32>
    %51 = chlo.erf_inv %50 : tensor<4x7xf32> -> tensor<4x7xf32>
    return %3, %7, %8, %9, %10, %11, %12, %13, %14, %18, %22, %35, %36, %37, %38, %41, %42, %45, %48, %51 : tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>, tensor<4x7xf32>
  }
  func.func private @arccosh(%arg0: tensor<4x7xf32>) -> tensor<4x7xf32> {
    %0 = chlo.acosh %arg0 : tensor<4x7xf32> -> tensor<4x7xf32>
    return %0 : tensor<4x7xf32>
  }
}
