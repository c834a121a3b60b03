// The product of blocks with scales as JAX lowers jax.nn.scaled_matmul for GPUs: a scale for each block of 32 or 16
// elements. Written by hand; results are NumPy's.
module @scaled_products {
  func.func @main(%x: tensor<2x3x64xf32>, %y: tensor<2x5x64xf32>, %sx: tensor<2x3x2xf32>, %sy: tensor<2x5x4xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>) {
    %0 = stablehlo.convert %x : (tensor<2x3x64xf32>) -> tensor<2x3x64xf8E4M3FN>
    %1 = stablehlo.convert %y : (tensor<2x5x64xf32>) -> tensor<2x5x64xf8E5M2>
    %2 = stablehlo.convert %sx : (tensor<2x3x2xf32>) -> tensor<2x3x2xf8E8M0FNU>
    %3 = stablehlo.convert %sy : (tensor<2x5x4xf32>) -> tensor<2x5x4xf8E4M3FN>
    %4 = stablehlo.custom_call @__op$block_scaled_dot(%0, %1, %2, %3) {backend_config = "{\22scaled_dot_backend_config\22: {\22lhs_batch_dimensions\22: [0], \22rhs_batch_dimensions\22: [0], \22dequantize_type\22: \22F32\22}}", operand_layouts = [dense<[2, 1, 0]> : tensor<3xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<[2, 1, 0]> : tensor<3xindex>], result_layouts = [dense<[2, 1, 0]> : tensor<3xindex>]} : (tensor<2x3x64xf8E4M3FN>, tensor<2x5x64xf8E5M2>, tensor<2x3x2xf8E8M0FNU>, tensor<2x5x4xf8E4M3FN>) -> tensor<2x3x5xf32>
    %5 = stablehlo.custom_call @__op$block_scaled_dot(%0, %1, %2, %3) {api_version = 2 : i32, backend_config = ""} : (tensor<2x3x64xf8E4M3FN>, tensor<2x5x64xf8E5M2>, tensor<2x3x2xf8E8M0FNU>, tensor<2x5x4xf8E4M3FN>) -> tensor<2x3x5xbf16>
    %6 = stablehlo.convert %5 : (tensor<2x3x5xbf16>) -> tensor<2x3x5xf32>
    return %4, %6 : tensor<2x3x5xf32>, tensor<2x3x5xf32>
  }
}
