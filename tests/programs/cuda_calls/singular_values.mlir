// gesvdj, gesvd and gesvdp, with all vectors, as many as values, and none.
// Written by tests/programs/cuda_calls/generate.py.
// tolerance: f64 1e-9 relative
// tolerance: c128 1e-9 relative
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5x3xf64>, %arg1: tensor<3x5xf64>, %arg2: tensor<4x3xcomplex<f64>>, %arg3: tensor<2x3x4xcomplex<f64>>) -> (tensor<2x3xf64> {jax.result_info = "result[0]"}, tensor<2x5x3xf64> {jax.result_info = "result[1]"}, tensor<2x5x5xf64> {jax.result_info = "result[2]"}, tensor<2x3x3xf64> {jax.result_info = "result[3]"}, tensor<2x3xf64> {jax.result_info = "result[4]"}, tensor<2x5x3xf64> {jax.result_info = "result[5]"}, tensor<2x3x3xf64> {jax.result_info = "result[6]"}, tensor<2x3x3xf64> {jax.result_info = "result[7]"}, tensor<2x3xf64> {jax.result_info = "result[8]"}, tensor<2x3xf64> {jax.result_info = "result[9]"}, tensor<2x5x3xf64> {jax.result_info = "result[10]"}, tensor<2x5x5xf64> {jax.result_info = "result[11]"}, tensor<2x3x3xf64> {jax.result_info = "result[12]"}, tensor<2x3xf64> {jax.result_info = "result[13]"}, tensor<2x5x3xf64> {jax.result_info = "result[14]"}, tensor<2x3x3xf64> {jax.result_info = "result[15]"}, tensor<2x3x3xf64> {jax.result_info = "result[16]"}, tensor<2x3xf64> {jax.result_info = "result[17]"}, tensor<2x3xf64> {jax.result_info = "result[18]"}, tensor<2x5x3xf64> {jax.result_info = "result[19]"}, tensor<2x5x5xf64> {jax.result_info = "result[20]"}, tensor<2x3x3xf64> {jax.result_info = "result[21]"}, tensor<2x3xf64> {jax.result_info = "result[22]"}, tensor<2x5x3xf64> {jax.result_info = "result[23]"}, tensor<2x3x3xf64> {jax.result_info = "result[24]"}, tensor<2x3x3xf64> {jax.result_info = "result[25]"}, tensor<2x3xf64> {jax.result_info = "result[26]"}, tensor<3xf64> {jax.result_info = "result[27]"}, tensor<3x5xf64> {jax.result_info = "result[28]"}, tensor<3x3xf64> {jax.result_info = "result[29]"}, tensor<5x5xf64> {jax.result_info = "result[30]"}, tensor<3xf64> {jax.result_info = "result[31]"}, tensor<3x5xf64> {jax.result_info = "result[32]"}, tensor<3x3xf64> {jax.result_info = "result[33]"}, tensor<3x3xf64> {jax.result_info = "result[34]"}, tensor<3xf64> {jax.result_info = "result[35]"}, tensor<3xf64> {jax.result_info = "result[36]"}, tensor<3x5xf64> {jax.result_info = "result[37]"}, tensor<3x3xf64> {jax.result_info = "result[38]"}, tensor<5x5xf64> {jax.result_info = "result[39]"}, tensor<3xf64> {jax.result_info = "result[40]"}, tensor<3x5xf64> {jax.result_info = "result[41]"}, tensor<3x3xf64> {jax.result_info = "result[42]"}, tensor<3x3xf64> {jax.result_info = "result[43]"}, tensor<3xf64> {jax.result_info = "result[44]"}, tensor<3xf64> {jax.result_info = "result[45]"}, tensor<3x5xf64> {jax.result_info = "result[46]"}, tensor<3x3xf64> {jax.result_info = "result[47]"}, tensor<5x5xf64> {jax.result_info = "result[48]"}, tensor<3xf64> {jax.result_info = "result[49]"}, tensor<3x5xf64> {jax.result_info = "result[50]"}, tensor<3x3xf64> {jax.result_info = "result[51]"}, tensor<3x3xf64> {jax.result_info = "result[52]"}, tensor<3xf64> {jax.result_info = "result[53]"}, tensor<3xf64> {jax.result_info = "result[54]"}, tensor<4x3xcomplex<f64>> {jax.result_info = "result[55]"}, tensor<4x4xcomplex<f64>> {jax.result_info = "result[56]"}, tensor<3x3xcomplex<f64>> {jax.result_info = "result[57]"}, tensor<3xf64> {jax.result_info = "result[58]"}, tensor<4x3xcomplex<f64>> {jax.result_info = "result[59]"}, tensor<3x3xcomplex<f64>> {jax.result_info = "result[60]"}, tensor<3x3xcomplex<f64>> {jax.result_info = "result[61]"}, tensor<3xf64> {jax.result_info = "result[62]"}, tensor<3xf64> {jax.result_info = "result[63]"}, tensor<4x3xcomplex<f64>> {jax.result_info = "result[64]"}, tensor<4x4xcomplex<f64>> {jax.result_info = "result[65]"}, tensor<3x3xcomplex<f64>> {jax.result_info = "result[66]"}, tensor<3xf64> {jax.result_info = "result[67]"}, tensor<4x3xcomplex<f64>> {jax.result_info = "result[68]"}, tensor<3x3xcomplex<f64>> {jax.result_info = "result[69]"}, tensor<3x3xcomplex<f64>> {jax.result_info = "result[70]"}, tensor<3xf64> {jax.result_info = "result[71]"}, tensor<3xf64> {jax.result_info = "result[72]"}, tensor<4x3xcomplex<f64>> {jax.result_info = "result[73]"}, tensor<4x4xcomplex<f64>> {jax.result_info = "result[74]"}, tensor<3x3xcomplex<f64>> {jax.result_info = "result[75]"}, tensor<3xf64> {jax.result_info = "result[76]"}, tensor<4x3xcomplex<f64>> {jax.result_info = "result[77]"}, tensor<3x3xcomplex<f64>> {jax.result_info = "result[78]"}, tensor<3x3xcomplex<f64>> {jax.result_info = "result[79]"}, tensor<3xf64> {jax.result_info = "result[80]"}, tensor<2x3xf64> {jax.result_info = "result[81]"}, tensor<2x3x4xcomplex<f64>> {jax.result_info = "result[82]"}, tensor<2x3x3xcomplex<f64>> {jax.result_info = "result[83]"}, tensor<2x4x4xcomplex<f64>> {jax.result_info = "result[84]"}, tensor<2x3xf64> {jax.result_info = "result[85]"}, tensor<2x3x4xcomplex<f64>> {jax.result_info = "result[86]"}, tensor<2x3x3xcomplex<f64>> {jax.result_info = "result[87]"}, tensor<2x3x3xcomplex<f64>> {jax.result_info = "result[88]"}, tensor<2x3xf64> {jax.result_info = "result[89]"}, tensor<2x3xf64> {jax.result_info = "result[90]"}, tensor<2x3x4xcomplex<f64>> {jax.result_info = "result[91]"}, tensor<2x3x3xcomplex<f64>> {jax.result_info = "result[92]"}, tensor<2x4x4xcomplex<f64>> {jax.result_info = "result[93]"}, tensor<2x3xf64> {jax.result_info = "result[94]"}, tensor<2x3x4xcomplex<f64>> {jax.result_info = "result[95]"}, tensor<2x3x3xcomplex<f64>> {jax.result_info = "result[96]"}, tensor<2x3x3xcomplex<f64>> {jax.result_info = "result[97]"}, tensor<2x3xf64> {jax.result_info = "result[98]"}, tensor<2x3xf64> {jax.result_info = "result[99]"}, tensor<2x3x4xcomplex<f64>> {jax.result_info = "result[100]"}, tensor<2x3x3xcomplex<f64>> {jax.result_info = "result[101]"}, tensor<2x4x4xcomplex<f64>> {jax.result_info = "result[102]"}, tensor<2x3xf64> {jax.result_info = "result[103]"}, tensor<2x3x4xcomplex<f64>> {jax.result_info = "result[104]"}, tensor<2x3x3xcomplex<f64>> {jax.result_info = "result[105]"}, tensor<2x3x3xcomplex<f64>> {jax.result_info = "result[106]"}, tensor<2x3xf64> {jax.result_info = "result[107]"}) {
    %0:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%arg0) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=5, k=3, l=5, m=3, n=3, o=5, p=5, q=3, r=3}, custom>} : (tensor<2x5x3xf64>) -> (tensor<2x5x3xf64>, tensor<2x3xf64>, tensor<2x5x5xf64>, tensor<2x3x3xf64>, tensor<2xi32>)
    %1 = stablehlo.transpose %0#3, dims = [0, 2, 1] : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %3 = stablehlo.compare EQ, %0#4, %2, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %6 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %7 = stablehlo.select %6, %0#1, %5 : tensor<2x3xi1>, tensor<2x3xf64>
    %8 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x5x5xf64>
    %10 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x5x5xi1>
    %11 = stablehlo.select %10, %0#2, %9 : tensor<2x5x5xi1>, tensor<2x5x5xf64>
    %12 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<2x3x3xf64>
    %14 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %15 = stablehlo.select %14, %1, %13 : tensor<2x3x3xi1>, tensor<2x3x3xf64>
    %16 = stablehlo.slice %11 [0:2, 0:5, 0:3] : (tensor<2x5x5xf64>) -> tensor<2x5x3xf64>
    %17 = stablehlo.broadcast_in_dim %7, dims = [0, 2] : (tensor<2x3xf64>) -> tensor<2x1x3xf64>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<2x1x3xf64>) -> tensor<2x5x3xf64>
    %19 = stablehlo.multiply %16, %18 : tensor<2x5x3xf64>
    %20 = stablehlo.dot_general %19, %15, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x3xf64>, tensor<2x3x3xf64>) -> tensor<2x5x3xf64>
    %21 = stablehlo.transpose %11, dims = [0, 2, 1] : (tensor<2x5x5xf64>) -> tensor<2x5x5xf64>
    %22 = stablehlo.dot_general %11, %21, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x5xf64>, tensor<2x5x5xf64>) -> tensor<2x5x5xf64>
    %23 = stablehlo.transpose %15, dims = [0, 2, 1] : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %24 = stablehlo.dot_general %15, %23, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xf64>, tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %25:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%arg0) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=5, k=3, l=5, m=3, n=3, o=5, p=5, q=3, r=3}, custom>} : (tensor<2x5x3xf64>) -> (tensor<2x5x3xf64>, tensor<2x3xf64>, tensor<2x5x5xf64>, tensor<2x3x3xf64>, tensor<2xi32>)
    %26 = stablehlo.transpose %25#3, dims = [0, 2, 1] : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %27 = stablehlo.slice %25#2 [0:2, 0:5, 0:3] : (tensor<2x5x5xf64>) -> tensor<2x5x3xf64>
    %28 = stablehlo.slice %26 [0:2, 0:3, 0:3] : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %30 = stablehlo.compare EQ, %25#4, %29, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_3 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %32 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %33 = stablehlo.broadcast_in_dim %31, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %34 = stablehlo.select %33, %25#1, %32 : tensor<2x3xi1>, tensor<2x3xf64>
    %35 = stablehlo.broadcast_in_dim %30, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_4 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %36 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f64>) -> tensor<2x5x3xf64>
    %37 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x5x3xi1>
    %38 = stablehlo.select %37, %27, %36 : tensor<2x5x3xi1>, tensor<2x5x3xf64>
    %39 = stablehlo.broadcast_in_dim %30, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_5 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %40 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f64>) -> tensor<2x3x3xf64>
    %41 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %42 = stablehlo.select %41, %28, %40 : tensor<2x3x3xi1>, tensor<2x3x3xf64>
    %43 = stablehlo.broadcast_in_dim %34, dims = [0, 2] : (tensor<2x3xf64>) -> tensor<2x1x3xf64>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2] : (tensor<2x1x3xf64>) -> tensor<2x5x3xf64>
    %45 = stablehlo.multiply %38, %44 : tensor<2x5x3xf64>
    %46 = stablehlo.dot_general %45, %42, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x3xf64>, tensor<2x3x3xf64>) -> tensor<2x5x3xf64>
    %47 = stablehlo.transpose %38, dims = [0, 2, 1] : (tensor<2x5x3xf64>) -> tensor<2x3x5xf64>
    %48 = stablehlo.dot_general %47, %38, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x5xf64>, tensor<2x5x3xf64>) -> tensor<2x3x3xf64>
    %49 = stablehlo.transpose %42, dims = [0, 2, 1] : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %50 = stablehlo.dot_general %42, %49, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xf64>, tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %51:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%arg0) {backend_config = "", mhlo.backend_config = {compute_uv = false, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=5, k=3, l=5, m=3, n=3, o=5, p=5, q=3, r=3}, custom>} : (tensor<2x5x3xf64>) -> (tensor<2x5x3xf64>, tensor<2x3xf64>, tensor<2x5x5xf64>, tensor<2x3x3xf64>, tensor<2xi32>)
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %52 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %53 = stablehlo.compare EQ, %51#4, %52, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_7 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %55 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %56 = stablehlo.broadcast_in_dim %54, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %57 = stablehlo.select %56, %51#1, %55 : tensor<2x3xi1>, tensor<2x3xf64>
    %58:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true, transposed = false}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=5, k=3, l=5, m=3, n=3, o=5, p=5, q=3, r=3}, custom>} : (tensor<2x5x3xf64>) -> (tensor<2x5x3xf64>, tensor<2x3xf64>, tensor<2x5x5xf64>, tensor<2x3x3xf64>, tensor<2xi32>)
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %59 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %60 = stablehlo.compare EQ, %58#4, %59, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %61 = stablehlo.broadcast_in_dim %60, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_9 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %62 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %63 = stablehlo.broadcast_in_dim %61, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %64 = stablehlo.select %63, %58#1, %62 : tensor<2x3xi1>, tensor<2x3xf64>
    %65 = stablehlo.broadcast_in_dim %60, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_10 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %66 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f64>) -> tensor<2x5x5xf64>
    %67 = stablehlo.broadcast_in_dim %65, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x5x5xi1>
    %68 = stablehlo.select %67, %58#2, %66 : tensor<2x5x5xi1>, tensor<2x5x5xf64>
    %69 = stablehlo.broadcast_in_dim %60, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_11 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %70 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f64>) -> tensor<2x3x3xf64>
    %71 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %72 = stablehlo.select %71, %58#3, %70 : tensor<2x3x3xi1>, tensor<2x3x3xf64>
    %73 = stablehlo.slice %68 [0:2, 0:5, 0:3] : (tensor<2x5x5xf64>) -> tensor<2x5x3xf64>
    %74 = stablehlo.broadcast_in_dim %64, dims = [0, 2] : (tensor<2x3xf64>) -> tensor<2x1x3xf64>
    %75 = stablehlo.broadcast_in_dim %74, dims = [0, 1, 2] : (tensor<2x1x3xf64>) -> tensor<2x5x3xf64>
    %76 = stablehlo.multiply %73, %75 : tensor<2x5x3xf64>
    %77 = stablehlo.dot_general %76, %72, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x3xf64>, tensor<2x3x3xf64>) -> tensor<2x5x3xf64>
    %78 = stablehlo.transpose %68, dims = [0, 2, 1] : (tensor<2x5x5xf64>) -> tensor<2x5x5xf64>
    %79 = stablehlo.dot_general %68, %78, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x5xf64>, tensor<2x5x5xf64>) -> tensor<2x5x5xf64>
    %80 = stablehlo.transpose %72, dims = [0, 2, 1] : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %81 = stablehlo.dot_general %72, %80, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xf64>, tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %82:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = false, transposed = false}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=5, k=3, l=5, m=3, n=3, o=5, p=3, q=3, r=3}, custom>} : (tensor<2x5x3xf64>) -> (tensor<2x5x3xf64>, tensor<2x3xf64>, tensor<2x5x3xf64>, tensor<2x3x3xf64>, tensor<2xi32>)
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %83 = stablehlo.broadcast_in_dim %c_12, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %84 = stablehlo.compare EQ, %82#4, %83, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %85 = stablehlo.broadcast_in_dim %84, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_13 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %86 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %87 = stablehlo.broadcast_in_dim %85, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %88 = stablehlo.select %87, %82#1, %86 : tensor<2x3xi1>, tensor<2x3xf64>
    %89 = stablehlo.broadcast_in_dim %84, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_14 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %90 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f64>) -> tensor<2x5x3xf64>
    %91 = stablehlo.broadcast_in_dim %89, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x5x3xi1>
    %92 = stablehlo.select %91, %82#2, %90 : tensor<2x5x3xi1>, tensor<2x5x3xf64>
    %93 = stablehlo.broadcast_in_dim %84, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_15 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %94 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f64>) -> tensor<2x3x3xf64>
    %95 = stablehlo.broadcast_in_dim %93, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %96 = stablehlo.select %95, %82#3, %94 : tensor<2x3x3xi1>, tensor<2x3x3xf64>
    %97 = stablehlo.broadcast_in_dim %88, dims = [0, 2] : (tensor<2x3xf64>) -> tensor<2x1x3xf64>
    %98 = stablehlo.broadcast_in_dim %97, dims = [0, 1, 2] : (tensor<2x1x3xf64>) -> tensor<2x5x3xf64>
    %99 = stablehlo.multiply %92, %98 : tensor<2x5x3xf64>
    %100 = stablehlo.dot_general %99, %96, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x3xf64>, tensor<2x3x3xf64>) -> tensor<2x5x3xf64>
    %101 = stablehlo.transpose %92, dims = [0, 2, 1] : (tensor<2x5x3xf64>) -> tensor<2x3x5xf64>
    %102 = stablehlo.dot_general %101, %92, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x5xf64>, tensor<2x5x3xf64>) -> tensor<2x3x3xf64>
    %103 = stablehlo.transpose %96, dims = [0, 2, 1] : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %104 = stablehlo.dot_general %96, %103, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xf64>, tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %105:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {compute_uv = false, full_matrices = true, transposed = false}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [], [], [i]) {i=2, j=5, k=3, l=5, m=3, n=3}, custom>} : (tensor<2x5x3xf64>) -> (tensor<2x5x3xf64>, tensor<2x3xf64>, tensor<f64>, tensor<f64>, tensor<2xi32>)
    %c_16 = stablehlo.constant dense<0> : tensor<i32>
    %106 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %107 = stablehlo.compare EQ, %105#4, %106, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %108 = stablehlo.broadcast_in_dim %107, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_17 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %109 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %110 = stablehlo.broadcast_in_dim %108, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %111 = stablehlo.select %110, %105#1, %109 : tensor<2x3xi1>, tensor<2x3xf64>
    %112:5 = stablehlo.custom_call @cusolver_gesvdp_ffi(%arg0) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=5, k=3, l=5, m=3, n=3, o=5, p=5, q=3, r=3}, custom>} : (tensor<2x5x3xf64>) -> (tensor<2x5x3xf64>, tensor<2x3xf64>, tensor<2x5x5xf64>, tensor<2x3x3xf64>, tensor<2xi32>)
    %113 = stablehlo.transpose %112#3, dims = [0, 2, 1] : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %c_18 = stablehlo.constant dense<0> : tensor<i32>
    %114 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %115 = stablehlo.compare EQ, %112#4, %114, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %116 = stablehlo.broadcast_in_dim %115, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_19 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %117 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %118 = stablehlo.broadcast_in_dim %116, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %119 = stablehlo.select %118, %112#1, %117 : tensor<2x3xi1>, tensor<2x3xf64>
    %120 = stablehlo.broadcast_in_dim %115, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_20 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %121 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f64>) -> tensor<2x5x5xf64>
    %122 = stablehlo.broadcast_in_dim %120, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x5x5xi1>
    %123 = stablehlo.select %122, %112#2, %121 : tensor<2x5x5xi1>, tensor<2x5x5xf64>
    %124 = stablehlo.broadcast_in_dim %115, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_21 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %125 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f64>) -> tensor<2x3x3xf64>
    %126 = stablehlo.broadcast_in_dim %124, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %127 = stablehlo.select %126, %113, %125 : tensor<2x3x3xi1>, tensor<2x3x3xf64>
    %128 = stablehlo.slice %123 [0:2, 0:5, 0:3] : (tensor<2x5x5xf64>) -> tensor<2x5x3xf64>
    %129 = stablehlo.broadcast_in_dim %119, dims = [0, 2] : (tensor<2x3xf64>) -> tensor<2x1x3xf64>
    %130 = stablehlo.broadcast_in_dim %129, dims = [0, 1, 2] : (tensor<2x1x3xf64>) -> tensor<2x5x3xf64>
    %131 = stablehlo.multiply %128, %130 : tensor<2x5x3xf64>
    %132 = stablehlo.dot_general %131, %127, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x3xf64>, tensor<2x3x3xf64>) -> tensor<2x5x3xf64>
    %133 = stablehlo.transpose %123, dims = [0, 2, 1] : (tensor<2x5x5xf64>) -> tensor<2x5x5xf64>
    %134 = stablehlo.dot_general %123, %133, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x5xf64>, tensor<2x5x5xf64>) -> tensor<2x5x5xf64>
    %135 = stablehlo.transpose %127, dims = [0, 2, 1] : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %136 = stablehlo.dot_general %127, %135, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xf64>, tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %137:5 = stablehlo.custom_call @cusolver_gesvdp_ffi(%arg0) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = false}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=5, k=3, l=5, m=3, n=3, o=5, p=3, q=3, r=3}, custom>} : (tensor<2x5x3xf64>) -> (tensor<2x5x3xf64>, tensor<2x3xf64>, tensor<2x5x3xf64>, tensor<2x3x3xf64>, tensor<2xi32>)
    %138 = stablehlo.transpose %137#3, dims = [0, 2, 1] : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %c_22 = stablehlo.constant dense<0> : tensor<i32>
    %139 = stablehlo.broadcast_in_dim %c_22, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %140 = stablehlo.compare EQ, %137#4, %139, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %141 = stablehlo.broadcast_in_dim %140, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_23 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %142 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %143 = stablehlo.broadcast_in_dim %141, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %144 = stablehlo.select %143, %137#1, %142 : tensor<2x3xi1>, tensor<2x3xf64>
    %145 = stablehlo.broadcast_in_dim %140, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_24 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %146 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f64>) -> tensor<2x5x3xf64>
    %147 = stablehlo.broadcast_in_dim %145, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x5x3xi1>
    %148 = stablehlo.select %147, %137#2, %146 : tensor<2x5x3xi1>, tensor<2x5x3xf64>
    %149 = stablehlo.broadcast_in_dim %140, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_25 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %150 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f64>) -> tensor<2x3x3xf64>
    %151 = stablehlo.broadcast_in_dim %149, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %152 = stablehlo.select %151, %138, %150 : tensor<2x3x3xi1>, tensor<2x3x3xf64>
    %153 = stablehlo.broadcast_in_dim %144, dims = [0, 2] : (tensor<2x3xf64>) -> tensor<2x1x3xf64>
    %154 = stablehlo.broadcast_in_dim %153, dims = [0, 1, 2] : (tensor<2x1x3xf64>) -> tensor<2x5x3xf64>
    %155 = stablehlo.multiply %148, %154 : tensor<2x5x3xf64>
    %156 = stablehlo.dot_general %155, %152, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x5x3xf64>, tensor<2x3x3xf64>) -> tensor<2x5x3xf64>
    %157 = stablehlo.transpose %148, dims = [0, 2, 1] : (tensor<2x5x3xf64>) -> tensor<2x3x5xf64>
    %158 = stablehlo.dot_general %157, %148, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x5xf64>, tensor<2x5x3xf64>) -> tensor<2x3x3xf64>
    %159 = stablehlo.transpose %152, dims = [0, 2, 1] : (tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %160 = stablehlo.dot_general %152, %159, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xf64>, tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    %161:5 = stablehlo.custom_call @cusolver_gesvdp_ffi(%arg0) {backend_config = "", mhlo.backend_config = {compute_uv = false, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=5, k=3, l=5, m=3, n=3, o=5, p=5, q=3, r=3}, custom>} : (tensor<2x5x3xf64>) -> (tensor<2x5x3xf64>, tensor<2x3xf64>, tensor<2x5x5xf64>, tensor<2x3x3xf64>, tensor<2xi32>)
    %c_26 = stablehlo.constant dense<0> : tensor<i32>
    %162 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %163 = stablehlo.compare EQ, %161#4, %162, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %164 = stablehlo.broadcast_in_dim %163, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_27 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %165 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %166 = stablehlo.broadcast_in_dim %164, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %167 = stablehlo.select %166, %161#1, %165 : tensor<2x3xi1>, tensor<2x3xf64>
    %168:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%arg1) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=3, j=5, k=3, l=5, m=3, n=3, o=3, p=5, q=5}, custom>} : (tensor<3x5xf64>) -> (tensor<3x5xf64>, tensor<3xf64>, tensor<3x3xf64>, tensor<5x5xf64>, tensor<i32>)
    %169 = stablehlo.transpose %168#3, dims = [1, 0] : (tensor<5x5xf64>) -> tensor<5x5xf64>
    %c_28 = stablehlo.constant dense<0> : tensor<i32>
    %170 = stablehlo.broadcast_in_dim %c_28, dims = [] : (tensor<i32>) -> tensor<i32>
    %171 = stablehlo.compare EQ, %168#4, %170, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %172 = stablehlo.broadcast_in_dim %171, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_29 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %173 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %174 = stablehlo.broadcast_in_dim %172, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %175 = stablehlo.select %174, %168#1, %173 : tensor<3xi1>, tensor<3xf64>
    %176 = stablehlo.broadcast_in_dim %171, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_30 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %177 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f64>) -> tensor<3x3xf64>
    %178 = stablehlo.broadcast_in_dim %176, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %179 = stablehlo.select %178, %168#2, %177 : tensor<3x3xi1>, tensor<3x3xf64>
    %180 = stablehlo.broadcast_in_dim %171, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_31 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %181 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f64>) -> tensor<5x5xf64>
    %182 = stablehlo.broadcast_in_dim %180, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<5x5xi1>
    %183 = stablehlo.select %182, %169, %181 : tensor<5x5xi1>, tensor<5x5xf64>
    %184 = stablehlo.broadcast_in_dim %175, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %185 = stablehlo.broadcast_in_dim %184, dims = [0, 1] : (tensor<1x3xf64>) -> tensor<3x3xf64>
    %186 = stablehlo.multiply %179, %185 : tensor<3x3xf64>
    %187 = stablehlo.slice %183 [0:3, 0:5] : (tensor<5x5xf64>) -> tensor<3x5xf64>
    %188 = stablehlo.dot_general %186, %187, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf64>, tensor<3x5xf64>) -> tensor<3x5xf64>
    %189 = stablehlo.transpose %179, dims = [1, 0] : (tensor<3x3xf64>) -> tensor<3x3xf64>
    %190 = stablehlo.dot_general %179, %189, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
    %191 = stablehlo.transpose %183, dims = [1, 0] : (tensor<5x5xf64>) -> tensor<5x5xf64>
    %192 = stablehlo.dot_general %183, %191, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x5xf64>, tensor<5x5xf64>) -> tensor<5x5xf64>
    %193:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%arg1) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=3, j=5, k=3, l=5, m=3, n=3, o=3, p=5, q=5}, custom>} : (tensor<3x5xf64>) -> (tensor<3x5xf64>, tensor<3xf64>, tensor<3x3xf64>, tensor<5x5xf64>, tensor<i32>)
    %194 = stablehlo.transpose %193#3, dims = [1, 0] : (tensor<5x5xf64>) -> tensor<5x5xf64>
    %195 = stablehlo.slice %193#2 [0:3, 0:3] : (tensor<3x3xf64>) -> tensor<3x3xf64>
    %196 = stablehlo.slice %194 [0:3, 0:5] : (tensor<5x5xf64>) -> tensor<3x5xf64>
    %c_32 = stablehlo.constant dense<0> : tensor<i32>
    %197 = stablehlo.broadcast_in_dim %c_32, dims = [] : (tensor<i32>) -> tensor<i32>
    %198 = stablehlo.compare EQ, %193#4, %197, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %199 = stablehlo.broadcast_in_dim %198, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_33 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %200 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %201 = stablehlo.broadcast_in_dim %199, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %202 = stablehlo.select %201, %193#1, %200 : tensor<3xi1>, tensor<3xf64>
    %203 = stablehlo.broadcast_in_dim %198, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_34 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %204 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f64>) -> tensor<3x3xf64>
    %205 = stablehlo.broadcast_in_dim %203, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %206 = stablehlo.select %205, %195, %204 : tensor<3x3xi1>, tensor<3x3xf64>
    %207 = stablehlo.broadcast_in_dim %198, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_35 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %208 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f64>) -> tensor<3x5xf64>
    %209 = stablehlo.broadcast_in_dim %207, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x5xi1>
    %210 = stablehlo.select %209, %196, %208 : tensor<3x5xi1>, tensor<3x5xf64>
    %211 = stablehlo.broadcast_in_dim %202, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %212 = stablehlo.broadcast_in_dim %211, dims = [0, 1] : (tensor<1x3xf64>) -> tensor<3x3xf64>
    %213 = stablehlo.multiply %206, %212 : tensor<3x3xf64>
    %214 = stablehlo.dot_general %213, %210, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf64>, tensor<3x5xf64>) -> tensor<3x5xf64>
    %215 = stablehlo.transpose %206, dims = [1, 0] : (tensor<3x3xf64>) -> tensor<3x3xf64>
    %216 = stablehlo.dot_general %215, %206, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
    %217 = stablehlo.transpose %210, dims = [1, 0] : (tensor<3x5xf64>) -> tensor<5x3xf64>
    %218 = stablehlo.dot_general %210, %217, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x5xf64>, tensor<5x3xf64>) -> tensor<3x3xf64>
    %219:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%arg1) {backend_config = "", mhlo.backend_config = {compute_uv = false, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=3, j=5, k=3, l=5, m=3, n=3, o=3, p=5, q=5}, custom>} : (tensor<3x5xf64>) -> (tensor<3x5xf64>, tensor<3xf64>, tensor<3x3xf64>, tensor<5x5xf64>, tensor<i32>)
    %c_36 = stablehlo.constant dense<0> : tensor<i32>
    %220 = stablehlo.broadcast_in_dim %c_36, dims = [] : (tensor<i32>) -> tensor<i32>
    %221 = stablehlo.compare EQ, %219#4, %220, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %222 = stablehlo.broadcast_in_dim %221, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_37 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %223 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %224 = stablehlo.broadcast_in_dim %222, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %225 = stablehlo.select %224, %219#1, %223 : tensor<3xi1>, tensor<3xf64>
    %226:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%arg1) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true, transposed = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=3, j=5, k=3, l=5, m=3, n=5, o=5, p=3, q=3}, custom>} : (tensor<3x5xf64>) -> (tensor<3x5xf64>, tensor<3xf64>, tensor<5x5xf64>, tensor<3x3xf64>, tensor<i32>)
    %c_38 = stablehlo.constant dense<0> : tensor<i32>
    %227 = stablehlo.broadcast_in_dim %c_38, dims = [] : (tensor<i32>) -> tensor<i32>
    %228 = stablehlo.compare EQ, %226#4, %227, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %229 = stablehlo.broadcast_in_dim %228, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_39 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %230 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %231 = stablehlo.broadcast_in_dim %229, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %232 = stablehlo.select %231, %226#1, %230 : tensor<3xi1>, tensor<3xf64>
    %233 = stablehlo.broadcast_in_dim %228, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_40 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %234 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f64>) -> tensor<3x3xf64>
    %235 = stablehlo.broadcast_in_dim %233, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %236 = stablehlo.select %235, %226#3, %234 : tensor<3x3xi1>, tensor<3x3xf64>
    %237 = stablehlo.broadcast_in_dim %228, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_41 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %238 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f64>) -> tensor<5x5xf64>
    %239 = stablehlo.broadcast_in_dim %237, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<5x5xi1>
    %240 = stablehlo.select %239, %226#2, %238 : tensor<5x5xi1>, tensor<5x5xf64>
    %241 = stablehlo.broadcast_in_dim %232, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %242 = stablehlo.broadcast_in_dim %241, dims = [0, 1] : (tensor<1x3xf64>) -> tensor<3x3xf64>
    %243 = stablehlo.multiply %236, %242 : tensor<3x3xf64>
    %244 = stablehlo.slice %240 [0:3, 0:5] : (tensor<5x5xf64>) -> tensor<3x5xf64>
    %245 = stablehlo.dot_general %243, %244, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf64>, tensor<3x5xf64>) -> tensor<3x5xf64>
    %246 = stablehlo.transpose %236, dims = [1, 0] : (tensor<3x3xf64>) -> tensor<3x3xf64>
    %247 = stablehlo.dot_general %236, %246, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
    %248 = stablehlo.transpose %240, dims = [1, 0] : (tensor<5x5xf64>) -> tensor<5x5xf64>
    %249 = stablehlo.dot_general %240, %248, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x5xf64>, tensor<5x5xf64>) -> tensor<5x5xf64>
    %250:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%arg1) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = false, transposed = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=3, j=5, k=3, l=5, m=3, n=3, o=5, p=3, q=3}, custom>} : (tensor<3x5xf64>) -> (tensor<3x5xf64>, tensor<3xf64>, tensor<3x5xf64>, tensor<3x3xf64>, tensor<i32>)
    %c_42 = stablehlo.constant dense<0> : tensor<i32>
    %251 = stablehlo.broadcast_in_dim %c_42, dims = [] : (tensor<i32>) -> tensor<i32>
    %252 = stablehlo.compare EQ, %250#4, %251, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %253 = stablehlo.broadcast_in_dim %252, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_43 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %254 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %255 = stablehlo.broadcast_in_dim %253, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %256 = stablehlo.select %255, %250#1, %254 : tensor<3xi1>, tensor<3xf64>
    %257 = stablehlo.broadcast_in_dim %252, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_44 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %258 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f64>) -> tensor<3x3xf64>
    %259 = stablehlo.broadcast_in_dim %257, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %260 = stablehlo.select %259, %250#3, %258 : tensor<3x3xi1>, tensor<3x3xf64>
    %261 = stablehlo.broadcast_in_dim %252, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_45 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %262 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f64>) -> tensor<3x5xf64>
    %263 = stablehlo.broadcast_in_dim %261, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x5xi1>
    %264 = stablehlo.select %263, %250#2, %262 : tensor<3x5xi1>, tensor<3x5xf64>
    %265 = stablehlo.broadcast_in_dim %256, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %266 = stablehlo.broadcast_in_dim %265, dims = [0, 1] : (tensor<1x3xf64>) -> tensor<3x3xf64>
    %267 = stablehlo.multiply %260, %266 : tensor<3x3xf64>
    %268 = stablehlo.dot_general %267, %264, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf64>, tensor<3x5xf64>) -> tensor<3x5xf64>
    %269 = stablehlo.transpose %260, dims = [1, 0] : (tensor<3x3xf64>) -> tensor<3x3xf64>
    %270 = stablehlo.dot_general %269, %260, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
    %271 = stablehlo.transpose %264, dims = [1, 0] : (tensor<3x5xf64>) -> tensor<5x3xf64>
    %272 = stablehlo.dot_general %264, %271, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x5xf64>, tensor<5x3xf64>) -> tensor<3x3xf64>
    %273:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%arg1) {backend_config = "", mhlo.backend_config = {compute_uv = false, full_matrices = true, transposed = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [], [], []) {i=3, j=5, k=3, l=5, m=3}, custom>} : (tensor<3x5xf64>) -> (tensor<3x5xf64>, tensor<3xf64>, tensor<f64>, tensor<f64>, tensor<i32>)
    %c_46 = stablehlo.constant dense<0> : tensor<i32>
    %274 = stablehlo.broadcast_in_dim %c_46, dims = [] : (tensor<i32>) -> tensor<i32>
    %275 = stablehlo.compare EQ, %273#4, %274, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %276 = stablehlo.broadcast_in_dim %275, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_47 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %277 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %278 = stablehlo.broadcast_in_dim %276, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %279 = stablehlo.select %278, %273#1, %277 : tensor<3xi1>, tensor<3xf64>
    %280:5 = stablehlo.custom_call @cusolver_gesvdp_ffi(%arg1) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=3, j=5, k=3, l=5, m=3, n=3, o=3, p=5, q=5}, custom>} : (tensor<3x5xf64>) -> (tensor<3x5xf64>, tensor<3xf64>, tensor<3x3xf64>, tensor<5x5xf64>, tensor<i32>)
    %281 = stablehlo.transpose %280#3, dims = [1, 0] : (tensor<5x5xf64>) -> tensor<5x5xf64>
    %c_48 = stablehlo.constant dense<0> : tensor<i32>
    %282 = stablehlo.broadcast_in_dim %c_48, dims = [] : (tensor<i32>) -> tensor<i32>
    %283 = stablehlo.compare EQ, %280#4, %282, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %284 = stablehlo.broadcast_in_dim %283, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_49 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %285 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %286 = stablehlo.broadcast_in_dim %284, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %287 = stablehlo.select %286, %280#1, %285 : tensor<3xi1>, tensor<3xf64>
    %288 = stablehlo.broadcast_in_dim %283, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_50 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %289 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f64>) -> tensor<3x3xf64>
    %290 = stablehlo.broadcast_in_dim %288, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %291 = stablehlo.select %290, %280#2, %289 : tensor<3x3xi1>, tensor<3x3xf64>
    %292 = stablehlo.broadcast_in_dim %283, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_51 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %293 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f64>) -> tensor<5x5xf64>
    %294 = stablehlo.broadcast_in_dim %292, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<5x5xi1>
    %295 = stablehlo.select %294, %281, %293 : tensor<5x5xi1>, tensor<5x5xf64>
    %296 = stablehlo.broadcast_in_dim %287, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %297 = stablehlo.broadcast_in_dim %296, dims = [0, 1] : (tensor<1x3xf64>) -> tensor<3x3xf64>
    %298 = stablehlo.multiply %291, %297 : tensor<3x3xf64>
    %299 = stablehlo.slice %295 [0:3, 0:5] : (tensor<5x5xf64>) -> tensor<3x5xf64>
    %300 = stablehlo.dot_general %298, %299, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf64>, tensor<3x5xf64>) -> tensor<3x5xf64>
    %301 = stablehlo.transpose %291, dims = [1, 0] : (tensor<3x3xf64>) -> tensor<3x3xf64>
    %302 = stablehlo.dot_general %291, %301, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
    %303 = stablehlo.transpose %295, dims = [1, 0] : (tensor<5x5xf64>) -> tensor<5x5xf64>
    %304 = stablehlo.dot_general %295, %303, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x5xf64>, tensor<5x5xf64>) -> tensor<5x5xf64>
    %305:5 = stablehlo.custom_call @cusolver_gesvdp_ffi(%arg1) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = false}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=3, j=5, k=3, l=5, m=3, n=3, o=3, p=5, q=3}, custom>} : (tensor<3x5xf64>) -> (tensor<3x5xf64>, tensor<3xf64>, tensor<3x3xf64>, tensor<5x3xf64>, tensor<i32>)
    %306 = stablehlo.transpose %305#3, dims = [1, 0] : (tensor<5x3xf64>) -> tensor<3x5xf64>
    %c_52 = stablehlo.constant dense<0> : tensor<i32>
    %307 = stablehlo.broadcast_in_dim %c_52, dims = [] : (tensor<i32>) -> tensor<i32>
    %308 = stablehlo.compare EQ, %305#4, %307, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %309 = stablehlo.broadcast_in_dim %308, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_53 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %310 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %311 = stablehlo.broadcast_in_dim %309, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %312 = stablehlo.select %311, %305#1, %310 : tensor<3xi1>, tensor<3xf64>
    %313 = stablehlo.broadcast_in_dim %308, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_54 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %314 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f64>) -> tensor<3x3xf64>
    %315 = stablehlo.broadcast_in_dim %313, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %316 = stablehlo.select %315, %305#2, %314 : tensor<3x3xi1>, tensor<3x3xf64>
    %317 = stablehlo.broadcast_in_dim %308, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_55 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %318 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f64>) -> tensor<3x5xf64>
    %319 = stablehlo.broadcast_in_dim %317, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x5xi1>
    %320 = stablehlo.select %319, %306, %318 : tensor<3x5xi1>, tensor<3x5xf64>
    %321 = stablehlo.broadcast_in_dim %312, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %322 = stablehlo.broadcast_in_dim %321, dims = [0, 1] : (tensor<1x3xf64>) -> tensor<3x3xf64>
    %323 = stablehlo.multiply %316, %322 : tensor<3x3xf64>
    %324 = stablehlo.dot_general %323, %320, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf64>, tensor<3x5xf64>) -> tensor<3x5xf64>
    %325 = stablehlo.transpose %316, dims = [1, 0] : (tensor<3x3xf64>) -> tensor<3x3xf64>
    %326 = stablehlo.dot_general %325, %316, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
    %327 = stablehlo.transpose %320, dims = [1, 0] : (tensor<3x5xf64>) -> tensor<5x3xf64>
    %328 = stablehlo.dot_general %320, %327, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x5xf64>, tensor<5x3xf64>) -> tensor<3x3xf64>
    %329:5 = stablehlo.custom_call @cusolver_gesvdp_ffi(%arg1) {backend_config = "", mhlo.backend_config = {compute_uv = false, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=3, j=5, k=3, l=5, m=3, n=3, o=3, p=5, q=5}, custom>} : (tensor<3x5xf64>) -> (tensor<3x5xf64>, tensor<3xf64>, tensor<3x3xf64>, tensor<5x5xf64>, tensor<i32>)
    %c_56 = stablehlo.constant dense<0> : tensor<i32>
    %330 = stablehlo.broadcast_in_dim %c_56, dims = [] : (tensor<i32>) -> tensor<i32>
    %331 = stablehlo.compare EQ, %329#4, %330, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %332 = stablehlo.broadcast_in_dim %331, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_57 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %333 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %334 = stablehlo.broadcast_in_dim %332, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %335 = stablehlo.select %334, %329#1, %333 : tensor<3xi1>, tensor<3xf64>
    %336:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%arg2) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=4, j=3, k=4, l=3, m=3, n=4, o=4, p=3, q=3}, custom>} : (tensor<4x3xcomplex<f64>>) -> (tensor<4x3xcomplex<f64>>, tensor<3xf64>, tensor<4x4xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<i32>)
    %337 = stablehlo.transpose %336#3, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %338 = stablehlo.real %337 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %339 = stablehlo.imag %337 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %340 = stablehlo.negate %339 : tensor<3x3xf64>
    %341 = stablehlo.complex %338, %340 : tensor<3x3xcomplex<f64>>
    %c_58 = stablehlo.constant dense<0> : tensor<i32>
    %342 = stablehlo.broadcast_in_dim %c_58, dims = [] : (tensor<i32>) -> tensor<i32>
    %343 = stablehlo.compare EQ, %336#4, %342, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %344 = stablehlo.broadcast_in_dim %343, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_59 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %345 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %346 = stablehlo.broadcast_in_dim %344, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %347 = stablehlo.select %346, %336#1, %345 : tensor<3xi1>, tensor<3xf64>
    %348 = stablehlo.broadcast_in_dim %343, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_60 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %349 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<complex<f64>>) -> tensor<4x4xcomplex<f64>>
    %350 = stablehlo.broadcast_in_dim %348, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<4x4xi1>
    %351 = stablehlo.select %350, %336#2, %349 : tensor<4x4xi1>, tensor<4x4xcomplex<f64>>
    %352 = stablehlo.broadcast_in_dim %343, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_61 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %353 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %354 = stablehlo.broadcast_in_dim %352, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %355 = stablehlo.select %354, %341, %353 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    %356 = stablehlo.slice %351 [0:4, 0:3] : (tensor<4x4xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %357 = stablehlo.broadcast_in_dim %347, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %358 = stablehlo.convert %357 : (tensor<1x3xf64>) -> tensor<1x3xcomplex<f64>>
    %359 = stablehlo.broadcast_in_dim %358, dims = [0, 1] : (tensor<1x3xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %360 = stablehlo.multiply %356, %359 : tensor<4x3xcomplex<f64>>
    %361 = stablehlo.dot_general %360, %355, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %362 = stablehlo.transpose %351, dims = [1, 0] : (tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    %363 = stablehlo.real %362 : (tensor<4x4xcomplex<f64>>) -> tensor<4x4xf64>
    %364 = stablehlo.imag %362 : (tensor<4x4xcomplex<f64>>) -> tensor<4x4xf64>
    %365 = stablehlo.negate %364 : tensor<4x4xf64>
    %366 = stablehlo.complex %363, %365 : tensor<4x4xcomplex<f64>>
    %367 = stablehlo.dot_general %351, %366, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xcomplex<f64>>, tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    %368 = stablehlo.transpose %355, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %369 = stablehlo.real %368 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %370 = stablehlo.imag %368 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %371 = stablehlo.negate %370 : tensor<3x3xf64>
    %372 = stablehlo.complex %369, %371 : tensor<3x3xcomplex<f64>>
    %373 = stablehlo.dot_general %355, %372, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %374:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%arg2) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=4, j=3, k=4, l=3, m=3, n=4, o=4, p=3, q=3}, custom>} : (tensor<4x3xcomplex<f64>>) -> (tensor<4x3xcomplex<f64>>, tensor<3xf64>, tensor<4x4xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<i32>)
    %375 = stablehlo.transpose %374#3, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %376 = stablehlo.real %375 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %377 = stablehlo.imag %375 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %378 = stablehlo.negate %377 : tensor<3x3xf64>
    %379 = stablehlo.complex %376, %378 : tensor<3x3xcomplex<f64>>
    %380 = stablehlo.slice %374#2 [0:4, 0:3] : (tensor<4x4xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %381 = stablehlo.slice %379 [0:3, 0:3] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %c_62 = stablehlo.constant dense<0> : tensor<i32>
    %382 = stablehlo.broadcast_in_dim %c_62, dims = [] : (tensor<i32>) -> tensor<i32>
    %383 = stablehlo.compare EQ, %374#4, %382, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %384 = stablehlo.broadcast_in_dim %383, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_63 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %385 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %386 = stablehlo.broadcast_in_dim %384, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %387 = stablehlo.select %386, %374#1, %385 : tensor<3xi1>, tensor<3xf64>
    %388 = stablehlo.broadcast_in_dim %383, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_64 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %389 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<complex<f64>>) -> tensor<4x3xcomplex<f64>>
    %390 = stablehlo.broadcast_in_dim %388, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<4x3xi1>
    %391 = stablehlo.select %390, %380, %389 : tensor<4x3xi1>, tensor<4x3xcomplex<f64>>
    %392 = stablehlo.broadcast_in_dim %383, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_65 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %393 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %394 = stablehlo.broadcast_in_dim %392, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %395 = stablehlo.select %394, %381, %393 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    %396 = stablehlo.broadcast_in_dim %387, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %397 = stablehlo.convert %396 : (tensor<1x3xf64>) -> tensor<1x3xcomplex<f64>>
    %398 = stablehlo.broadcast_in_dim %397, dims = [0, 1] : (tensor<1x3xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %399 = stablehlo.multiply %391, %398 : tensor<4x3xcomplex<f64>>
    %400 = stablehlo.dot_general %399, %395, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %401 = stablehlo.transpose %391, dims = [1, 0] : (tensor<4x3xcomplex<f64>>) -> tensor<3x4xcomplex<f64>>
    %402 = stablehlo.real %401 : (tensor<3x4xcomplex<f64>>) -> tensor<3x4xf64>
    %403 = stablehlo.imag %401 : (tensor<3x4xcomplex<f64>>) -> tensor<3x4xf64>
    %404 = stablehlo.negate %403 : tensor<3x4xf64>
    %405 = stablehlo.complex %402, %404 : tensor<3x4xcomplex<f64>>
    %406 = stablehlo.dot_general %405, %391, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xcomplex<f64>>, tensor<4x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %407 = stablehlo.transpose %395, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %408 = stablehlo.real %407 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %409 = stablehlo.imag %407 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %410 = stablehlo.negate %409 : tensor<3x3xf64>
    %411 = stablehlo.complex %408, %410 : tensor<3x3xcomplex<f64>>
    %412 = stablehlo.dot_general %395, %411, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %413:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%arg2) {backend_config = "", mhlo.backend_config = {compute_uv = false, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=4, j=3, k=4, l=3, m=3, n=4, o=4, p=3, q=3}, custom>} : (tensor<4x3xcomplex<f64>>) -> (tensor<4x3xcomplex<f64>>, tensor<3xf64>, tensor<4x4xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<i32>)
    %c_66 = stablehlo.constant dense<0> : tensor<i32>
    %414 = stablehlo.broadcast_in_dim %c_66, dims = [] : (tensor<i32>) -> tensor<i32>
    %415 = stablehlo.compare EQ, %413#4, %414, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %416 = stablehlo.broadcast_in_dim %415, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_67 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %417 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %418 = stablehlo.broadcast_in_dim %416, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %419 = stablehlo.select %418, %413#1, %417 : tensor<3xi1>, tensor<3xf64>
    %420:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%arg2) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true, transposed = false}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=4, j=3, k=4, l=3, m=3, n=4, o=4, p=3, q=3}, custom>} : (tensor<4x3xcomplex<f64>>) -> (tensor<4x3xcomplex<f64>>, tensor<3xf64>, tensor<4x4xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<i32>)
    %c_68 = stablehlo.constant dense<0> : tensor<i32>
    %421 = stablehlo.broadcast_in_dim %c_68, dims = [] : (tensor<i32>) -> tensor<i32>
    %422 = stablehlo.compare EQ, %420#4, %421, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %423 = stablehlo.broadcast_in_dim %422, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_69 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %424 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %425 = stablehlo.broadcast_in_dim %423, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %426 = stablehlo.select %425, %420#1, %424 : tensor<3xi1>, tensor<3xf64>
    %427 = stablehlo.broadcast_in_dim %422, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_70 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %428 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<complex<f64>>) -> tensor<4x4xcomplex<f64>>
    %429 = stablehlo.broadcast_in_dim %427, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<4x4xi1>
    %430 = stablehlo.select %429, %420#2, %428 : tensor<4x4xi1>, tensor<4x4xcomplex<f64>>
    %431 = stablehlo.broadcast_in_dim %422, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_71 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %432 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %433 = stablehlo.broadcast_in_dim %431, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %434 = stablehlo.select %433, %420#3, %432 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    %435 = stablehlo.slice %430 [0:4, 0:3] : (tensor<4x4xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %436 = stablehlo.broadcast_in_dim %426, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %437 = stablehlo.convert %436 : (tensor<1x3xf64>) -> tensor<1x3xcomplex<f64>>
    %438 = stablehlo.broadcast_in_dim %437, dims = [0, 1] : (tensor<1x3xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %439 = stablehlo.multiply %435, %438 : tensor<4x3xcomplex<f64>>
    %440 = stablehlo.dot_general %439, %434, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %441 = stablehlo.transpose %430, dims = [1, 0] : (tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    %442 = stablehlo.real %441 : (tensor<4x4xcomplex<f64>>) -> tensor<4x4xf64>
    %443 = stablehlo.imag %441 : (tensor<4x4xcomplex<f64>>) -> tensor<4x4xf64>
    %444 = stablehlo.negate %443 : tensor<4x4xf64>
    %445 = stablehlo.complex %442, %444 : tensor<4x4xcomplex<f64>>
    %446 = stablehlo.dot_general %430, %445, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xcomplex<f64>>, tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    %447 = stablehlo.transpose %434, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %448 = stablehlo.real %447 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %449 = stablehlo.imag %447 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %450 = stablehlo.negate %449 : tensor<3x3xf64>
    %451 = stablehlo.complex %448, %450 : tensor<3x3xcomplex<f64>>
    %452 = stablehlo.dot_general %434, %451, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %453:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%arg2) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = false, transposed = false}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=4, j=3, k=4, l=3, m=3, n=4, o=3, p=3, q=3}, custom>} : (tensor<4x3xcomplex<f64>>) -> (tensor<4x3xcomplex<f64>>, tensor<3xf64>, tensor<4x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<i32>)
    %c_72 = stablehlo.constant dense<0> : tensor<i32>
    %454 = stablehlo.broadcast_in_dim %c_72, dims = [] : (tensor<i32>) -> tensor<i32>
    %455 = stablehlo.compare EQ, %453#4, %454, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %456 = stablehlo.broadcast_in_dim %455, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_73 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %457 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %458 = stablehlo.broadcast_in_dim %456, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %459 = stablehlo.select %458, %453#1, %457 : tensor<3xi1>, tensor<3xf64>
    %460 = stablehlo.broadcast_in_dim %455, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_74 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %461 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<complex<f64>>) -> tensor<4x3xcomplex<f64>>
    %462 = stablehlo.broadcast_in_dim %460, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<4x3xi1>
    %463 = stablehlo.select %462, %453#2, %461 : tensor<4x3xi1>, tensor<4x3xcomplex<f64>>
    %464 = stablehlo.broadcast_in_dim %455, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_75 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %465 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %466 = stablehlo.broadcast_in_dim %464, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %467 = stablehlo.select %466, %453#3, %465 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    %468 = stablehlo.broadcast_in_dim %459, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %469 = stablehlo.convert %468 : (tensor<1x3xf64>) -> tensor<1x3xcomplex<f64>>
    %470 = stablehlo.broadcast_in_dim %469, dims = [0, 1] : (tensor<1x3xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %471 = stablehlo.multiply %463, %470 : tensor<4x3xcomplex<f64>>
    %472 = stablehlo.dot_general %471, %467, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %473 = stablehlo.transpose %463, dims = [1, 0] : (tensor<4x3xcomplex<f64>>) -> tensor<3x4xcomplex<f64>>
    %474 = stablehlo.real %473 : (tensor<3x4xcomplex<f64>>) -> tensor<3x4xf64>
    %475 = stablehlo.imag %473 : (tensor<3x4xcomplex<f64>>) -> tensor<3x4xf64>
    %476 = stablehlo.negate %475 : tensor<3x4xf64>
    %477 = stablehlo.complex %474, %476 : tensor<3x4xcomplex<f64>>
    %478 = stablehlo.dot_general %477, %463, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xcomplex<f64>>, tensor<4x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %479 = stablehlo.transpose %467, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %480 = stablehlo.real %479 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %481 = stablehlo.imag %479 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %482 = stablehlo.negate %481 : tensor<3x3xf64>
    %483 = stablehlo.complex %480, %482 : tensor<3x3xcomplex<f64>>
    %484 = stablehlo.dot_general %467, %483, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %485:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%arg2) {backend_config = "", mhlo.backend_config = {compute_uv = false, full_matrices = true, transposed = false}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [], [], []) {i=4, j=3, k=4, l=3, m=3}, custom>} : (tensor<4x3xcomplex<f64>>) -> (tensor<4x3xcomplex<f64>>, tensor<3xf64>, tensor<complex<f64>>, tensor<complex<f64>>, tensor<i32>)
    %c_76 = stablehlo.constant dense<0> : tensor<i32>
    %486 = stablehlo.broadcast_in_dim %c_76, dims = [] : (tensor<i32>) -> tensor<i32>
    %487 = stablehlo.compare EQ, %485#4, %486, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %488 = stablehlo.broadcast_in_dim %487, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_77 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %489 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %490 = stablehlo.broadcast_in_dim %488, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %491 = stablehlo.select %490, %485#1, %489 : tensor<3xi1>, tensor<3xf64>
    %492:5 = stablehlo.custom_call @cusolver_gesvdp_ffi(%arg2) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=4, j=3, k=4, l=3, m=3, n=4, o=4, p=3, q=3}, custom>} : (tensor<4x3xcomplex<f64>>) -> (tensor<4x3xcomplex<f64>>, tensor<3xf64>, tensor<4x4xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<i32>)
    %493 = stablehlo.transpose %492#3, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %494 = stablehlo.real %493 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %495 = stablehlo.imag %493 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %496 = stablehlo.negate %495 : tensor<3x3xf64>
    %497 = stablehlo.complex %494, %496 : tensor<3x3xcomplex<f64>>
    %c_78 = stablehlo.constant dense<0> : tensor<i32>
    %498 = stablehlo.broadcast_in_dim %c_78, dims = [] : (tensor<i32>) -> tensor<i32>
    %499 = stablehlo.compare EQ, %492#4, %498, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %500 = stablehlo.broadcast_in_dim %499, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_79 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %501 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %502 = stablehlo.broadcast_in_dim %500, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %503 = stablehlo.select %502, %492#1, %501 : tensor<3xi1>, tensor<3xf64>
    %504 = stablehlo.broadcast_in_dim %499, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_80 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %505 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<complex<f64>>) -> tensor<4x4xcomplex<f64>>
    %506 = stablehlo.broadcast_in_dim %504, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<4x4xi1>
    %507 = stablehlo.select %506, %492#2, %505 : tensor<4x4xi1>, tensor<4x4xcomplex<f64>>
    %508 = stablehlo.broadcast_in_dim %499, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_81 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %509 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %510 = stablehlo.broadcast_in_dim %508, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %511 = stablehlo.select %510, %497, %509 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    %512 = stablehlo.slice %507 [0:4, 0:3] : (tensor<4x4xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %513 = stablehlo.broadcast_in_dim %503, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %514 = stablehlo.convert %513 : (tensor<1x3xf64>) -> tensor<1x3xcomplex<f64>>
    %515 = stablehlo.broadcast_in_dim %514, dims = [0, 1] : (tensor<1x3xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %516 = stablehlo.multiply %512, %515 : tensor<4x3xcomplex<f64>>
    %517 = stablehlo.dot_general %516, %511, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %518 = stablehlo.transpose %507, dims = [1, 0] : (tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    %519 = stablehlo.real %518 : (tensor<4x4xcomplex<f64>>) -> tensor<4x4xf64>
    %520 = stablehlo.imag %518 : (tensor<4x4xcomplex<f64>>) -> tensor<4x4xf64>
    %521 = stablehlo.negate %520 : tensor<4x4xf64>
    %522 = stablehlo.complex %519, %521 : tensor<4x4xcomplex<f64>>
    %523 = stablehlo.dot_general %507, %522, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xcomplex<f64>>, tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    %524 = stablehlo.transpose %511, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %525 = stablehlo.real %524 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %526 = stablehlo.imag %524 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %527 = stablehlo.negate %526 : tensor<3x3xf64>
    %528 = stablehlo.complex %525, %527 : tensor<3x3xcomplex<f64>>
    %529 = stablehlo.dot_general %511, %528, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %530:5 = stablehlo.custom_call @cusolver_gesvdp_ffi(%arg2) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = false}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=4, j=3, k=4, l=3, m=3, n=4, o=3, p=3, q=3}, custom>} : (tensor<4x3xcomplex<f64>>) -> (tensor<4x3xcomplex<f64>>, tensor<3xf64>, tensor<4x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<i32>)
    %531 = stablehlo.transpose %530#3, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %532 = stablehlo.real %531 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %533 = stablehlo.imag %531 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %534 = stablehlo.negate %533 : tensor<3x3xf64>
    %535 = stablehlo.complex %532, %534 : tensor<3x3xcomplex<f64>>
    %c_82 = stablehlo.constant dense<0> : tensor<i32>
    %536 = stablehlo.broadcast_in_dim %c_82, dims = [] : (tensor<i32>) -> tensor<i32>
    %537 = stablehlo.compare EQ, %530#4, %536, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %538 = stablehlo.broadcast_in_dim %537, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_83 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %539 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %540 = stablehlo.broadcast_in_dim %538, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %541 = stablehlo.select %540, %530#1, %539 : tensor<3xi1>, tensor<3xf64>
    %542 = stablehlo.broadcast_in_dim %537, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_84 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %543 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<complex<f64>>) -> tensor<4x3xcomplex<f64>>
    %544 = stablehlo.broadcast_in_dim %542, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<4x3xi1>
    %545 = stablehlo.select %544, %530#2, %543 : tensor<4x3xi1>, tensor<4x3xcomplex<f64>>
    %546 = stablehlo.broadcast_in_dim %537, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_85 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %547 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %548 = stablehlo.broadcast_in_dim %546, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %549 = stablehlo.select %548, %535, %547 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    %550 = stablehlo.broadcast_in_dim %541, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %551 = stablehlo.convert %550 : (tensor<1x3xf64>) -> tensor<1x3xcomplex<f64>>
    %552 = stablehlo.broadcast_in_dim %551, dims = [0, 1] : (tensor<1x3xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %553 = stablehlo.multiply %545, %552 : tensor<4x3xcomplex<f64>>
    %554 = stablehlo.dot_general %553, %549, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<4x3xcomplex<f64>>
    %555 = stablehlo.transpose %545, dims = [1, 0] : (tensor<4x3xcomplex<f64>>) -> tensor<3x4xcomplex<f64>>
    %556 = stablehlo.real %555 : (tensor<3x4xcomplex<f64>>) -> tensor<3x4xf64>
    %557 = stablehlo.imag %555 : (tensor<3x4xcomplex<f64>>) -> tensor<3x4xf64>
    %558 = stablehlo.negate %557 : tensor<3x4xf64>
    %559 = stablehlo.complex %556, %558 : tensor<3x4xcomplex<f64>>
    %560 = stablehlo.dot_general %559, %545, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xcomplex<f64>>, tensor<4x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %561 = stablehlo.transpose %549, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %562 = stablehlo.real %561 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %563 = stablehlo.imag %561 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %564 = stablehlo.negate %563 : tensor<3x3xf64>
    %565 = stablehlo.complex %562, %564 : tensor<3x3xcomplex<f64>>
    %566 = stablehlo.dot_general %549, %565, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %567:5 = stablehlo.custom_call @cusolver_gesvdp_ffi(%arg2) {backend_config = "", mhlo.backend_config = {compute_uv = false, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=4, j=3, k=4, l=3, m=3, n=4, o=4, p=3, q=3}, custom>} : (tensor<4x3xcomplex<f64>>) -> (tensor<4x3xcomplex<f64>>, tensor<3xf64>, tensor<4x4xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<i32>)
    %c_86 = stablehlo.constant dense<0> : tensor<i32>
    %568 = stablehlo.broadcast_in_dim %c_86, dims = [] : (tensor<i32>) -> tensor<i32>
    %569 = stablehlo.compare EQ, %567#4, %568, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %570 = stablehlo.broadcast_in_dim %569, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_87 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %571 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %572 = stablehlo.broadcast_in_dim %570, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %573 = stablehlo.select %572, %567#1, %571 : tensor<3xi1>, tensor<3xf64>
    %574:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%arg3) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=3, k=4, l=3, m=4, n=3, o=3, p=3, q=4, r=4}, custom>} : (tensor<2x3x4xcomplex<f64>>) -> (tensor<2x3x4xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3x3xcomplex<f64>>, tensor<2x4x4xcomplex<f64>>, tensor<2xi32>)
    %575 = stablehlo.transpose %574#3, dims = [0, 2, 1] : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xcomplex<f64>>
    %576 = stablehlo.real %575 : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xf64>
    %577 = stablehlo.imag %575 : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xf64>
    %578 = stablehlo.negate %577 : tensor<2x4x4xf64>
    %579 = stablehlo.complex %576, %578 : tensor<2x4x4xcomplex<f64>>
    %c_88 = stablehlo.constant dense<0> : tensor<i32>
    %580 = stablehlo.broadcast_in_dim %c_88, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %581 = stablehlo.compare EQ, %574#4, %580, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %582 = stablehlo.broadcast_in_dim %581, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_89 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %583 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %584 = stablehlo.broadcast_in_dim %582, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %585 = stablehlo.select %584, %574#1, %583 : tensor<2x3xi1>, tensor<2x3xf64>
    %586 = stablehlo.broadcast_in_dim %581, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_90 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %587 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<complex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %588 = stablehlo.broadcast_in_dim %586, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %589 = stablehlo.select %588, %574#2, %587 : tensor<2x3x3xi1>, tensor<2x3x3xcomplex<f64>>
    %590 = stablehlo.broadcast_in_dim %581, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_91 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %591 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<complex<f64>>) -> tensor<2x4x4xcomplex<f64>>
    %592 = stablehlo.broadcast_in_dim %590, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x4x4xi1>
    %593 = stablehlo.select %592, %579, %591 : tensor<2x4x4xi1>, tensor<2x4x4xcomplex<f64>>
    %594 = stablehlo.broadcast_in_dim %585, dims = [0, 2] : (tensor<2x3xf64>) -> tensor<2x1x3xf64>
    %595 = stablehlo.convert %594 : (tensor<2x1x3xf64>) -> tensor<2x1x3xcomplex<f64>>
    %596 = stablehlo.broadcast_in_dim %595, dims = [0, 1, 2] : (tensor<2x1x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %597 = stablehlo.multiply %589, %596 : tensor<2x3x3xcomplex<f64>>
    %598 = stablehlo.slice %593 [0:2, 0:3, 0:4] : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x3x4xcomplex<f64>>
    %599 = stablehlo.dot_general %597, %598, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xcomplex<f64>>, tensor<2x3x4xcomplex<f64>>) -> tensor<2x3x4xcomplex<f64>>
    %600 = stablehlo.transpose %589, dims = [0, 2, 1] : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %601 = stablehlo.real %600 : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xf64>
    %602 = stablehlo.imag %600 : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xf64>
    %603 = stablehlo.negate %602 : tensor<2x3x3xf64>
    %604 = stablehlo.complex %601, %603 : tensor<2x3x3xcomplex<f64>>
    %605 = stablehlo.dot_general %589, %604, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %606 = stablehlo.transpose %593, dims = [0, 2, 1] : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xcomplex<f64>>
    %607 = stablehlo.real %606 : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xf64>
    %608 = stablehlo.imag %606 : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xf64>
    %609 = stablehlo.negate %608 : tensor<2x4x4xf64>
    %610 = stablehlo.complex %607, %609 : tensor<2x4x4xcomplex<f64>>
    %611 = stablehlo.dot_general %593, %610, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4xcomplex<f64>>, tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xcomplex<f64>>
    %612:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%arg3) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=3, k=4, l=3, m=4, n=3, o=3, p=3, q=4, r=4}, custom>} : (tensor<2x3x4xcomplex<f64>>) -> (tensor<2x3x4xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3x3xcomplex<f64>>, tensor<2x4x4xcomplex<f64>>, tensor<2xi32>)
    %613 = stablehlo.transpose %612#3, dims = [0, 2, 1] : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xcomplex<f64>>
    %614 = stablehlo.real %613 : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xf64>
    %615 = stablehlo.imag %613 : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xf64>
    %616 = stablehlo.negate %615 : tensor<2x4x4xf64>
    %617 = stablehlo.complex %614, %616 : tensor<2x4x4xcomplex<f64>>
    %618 = stablehlo.slice %612#2 [0:2, 0:3, 0:3] : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %619 = stablehlo.slice %617 [0:2, 0:3, 0:4] : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x3x4xcomplex<f64>>
    %c_92 = stablehlo.constant dense<0> : tensor<i32>
    %620 = stablehlo.broadcast_in_dim %c_92, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %621 = stablehlo.compare EQ, %612#4, %620, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %622 = stablehlo.broadcast_in_dim %621, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_93 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %623 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %624 = stablehlo.broadcast_in_dim %622, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %625 = stablehlo.select %624, %612#1, %623 : tensor<2x3xi1>, tensor<2x3xf64>
    %626 = stablehlo.broadcast_in_dim %621, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_94 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %627 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<complex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %628 = stablehlo.broadcast_in_dim %626, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %629 = stablehlo.select %628, %618, %627 : tensor<2x3x3xi1>, tensor<2x3x3xcomplex<f64>>
    %630 = stablehlo.broadcast_in_dim %621, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_95 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %631 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<complex<f64>>) -> tensor<2x3x4xcomplex<f64>>
    %632 = stablehlo.broadcast_in_dim %630, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x4xi1>
    %633 = stablehlo.select %632, %619, %631 : tensor<2x3x4xi1>, tensor<2x3x4xcomplex<f64>>
    %634 = stablehlo.broadcast_in_dim %625, dims = [0, 2] : (tensor<2x3xf64>) -> tensor<2x1x3xf64>
    %635 = stablehlo.convert %634 : (tensor<2x1x3xf64>) -> tensor<2x1x3xcomplex<f64>>
    %636 = stablehlo.broadcast_in_dim %635, dims = [0, 1, 2] : (tensor<2x1x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %637 = stablehlo.multiply %629, %636 : tensor<2x3x3xcomplex<f64>>
    %638 = stablehlo.dot_general %637, %633, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xcomplex<f64>>, tensor<2x3x4xcomplex<f64>>) -> tensor<2x3x4xcomplex<f64>>
    %639 = stablehlo.transpose %629, dims = [0, 2, 1] : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %640 = stablehlo.real %639 : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xf64>
    %641 = stablehlo.imag %639 : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xf64>
    %642 = stablehlo.negate %641 : tensor<2x3x3xf64>
    %643 = stablehlo.complex %640, %642 : tensor<2x3x3xcomplex<f64>>
    %644 = stablehlo.dot_general %643, %629, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %645 = stablehlo.transpose %633, dims = [0, 2, 1] : (tensor<2x3x4xcomplex<f64>>) -> tensor<2x4x3xcomplex<f64>>
    %646 = stablehlo.real %645 : (tensor<2x4x3xcomplex<f64>>) -> tensor<2x4x3xf64>
    %647 = stablehlo.imag %645 : (tensor<2x4x3xcomplex<f64>>) -> tensor<2x4x3xf64>
    %648 = stablehlo.negate %647 : tensor<2x4x3xf64>
    %649 = stablehlo.complex %646, %648 : tensor<2x4x3xcomplex<f64>>
    %650 = stablehlo.dot_general %633, %649, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xcomplex<f64>>, tensor<2x4x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %651:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%arg3) {backend_config = "", mhlo.backend_config = {compute_uv = false, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=3, k=4, l=3, m=4, n=3, o=3, p=3, q=4, r=4}, custom>} : (tensor<2x3x4xcomplex<f64>>) -> (tensor<2x3x4xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3x3xcomplex<f64>>, tensor<2x4x4xcomplex<f64>>, tensor<2xi32>)
    %c_96 = stablehlo.constant dense<0> : tensor<i32>
    %652 = stablehlo.broadcast_in_dim %c_96, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %653 = stablehlo.compare EQ, %651#4, %652, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %654 = stablehlo.broadcast_in_dim %653, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_97 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %655 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %656 = stablehlo.broadcast_in_dim %654, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %657 = stablehlo.select %656, %651#1, %655 : tensor<2x3xi1>, tensor<2x3xf64>
    %658:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%arg3) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true, transposed = true}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[2, 1, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[2, 1, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=3, k=4, l=3, m=4, n=3, o=4, p=4, q=3, r=3}, custom>} : (tensor<2x3x4xcomplex<f64>>) -> (tensor<2x3x4xcomplex<f64>>, tensor<2x3xf64>, tensor<2x4x4xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>, tensor<2xi32>)
    %c_98 = stablehlo.constant dense<0> : tensor<i32>
    %659 = stablehlo.broadcast_in_dim %c_98, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %660 = stablehlo.compare EQ, %658#4, %659, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %661 = stablehlo.broadcast_in_dim %660, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_99 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %662 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %663 = stablehlo.broadcast_in_dim %661, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %664 = stablehlo.select %663, %658#1, %662 : tensor<2x3xi1>, tensor<2x3xf64>
    %665 = stablehlo.broadcast_in_dim %660, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_100 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %666 = stablehlo.broadcast_in_dim %cst_100, dims = [] : (tensor<complex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %667 = stablehlo.broadcast_in_dim %665, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %668 = stablehlo.select %667, %658#3, %666 : tensor<2x3x3xi1>, tensor<2x3x3xcomplex<f64>>
    %669 = stablehlo.broadcast_in_dim %660, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_101 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %670 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<complex<f64>>) -> tensor<2x4x4xcomplex<f64>>
    %671 = stablehlo.broadcast_in_dim %669, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x4x4xi1>
    %672 = stablehlo.select %671, %658#2, %670 : tensor<2x4x4xi1>, tensor<2x4x4xcomplex<f64>>
    %673 = stablehlo.broadcast_in_dim %664, dims = [0, 2] : (tensor<2x3xf64>) -> tensor<2x1x3xf64>
    %674 = stablehlo.convert %673 : (tensor<2x1x3xf64>) -> tensor<2x1x3xcomplex<f64>>
    %675 = stablehlo.broadcast_in_dim %674, dims = [0, 1, 2] : (tensor<2x1x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %676 = stablehlo.multiply %668, %675 : tensor<2x3x3xcomplex<f64>>
    %677 = stablehlo.slice %672 [0:2, 0:3, 0:4] : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x3x4xcomplex<f64>>
    %678 = stablehlo.dot_general %676, %677, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xcomplex<f64>>, tensor<2x3x4xcomplex<f64>>) -> tensor<2x3x4xcomplex<f64>>
    %679 = stablehlo.transpose %668, dims = [0, 2, 1] : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %680 = stablehlo.real %679 : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xf64>
    %681 = stablehlo.imag %679 : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xf64>
    %682 = stablehlo.negate %681 : tensor<2x3x3xf64>
    %683 = stablehlo.complex %680, %682 : tensor<2x3x3xcomplex<f64>>
    %684 = stablehlo.dot_general %668, %683, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %685 = stablehlo.transpose %672, dims = [0, 2, 1] : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xcomplex<f64>>
    %686 = stablehlo.real %685 : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xf64>
    %687 = stablehlo.imag %685 : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xf64>
    %688 = stablehlo.negate %687 : tensor<2x4x4xf64>
    %689 = stablehlo.complex %686, %688 : tensor<2x4x4xcomplex<f64>>
    %690 = stablehlo.dot_general %672, %689, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4xcomplex<f64>>, tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xcomplex<f64>>
    %691:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%arg3) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = false, transposed = true}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[2, 1, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[2, 1, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=3, k=4, l=3, m=4, n=3, o=3, p=4, q=3, r=3}, custom>} : (tensor<2x3x4xcomplex<f64>>) -> (tensor<2x3x4xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3x4xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>, tensor<2xi32>)
    %c_102 = stablehlo.constant dense<0> : tensor<i32>
    %692 = stablehlo.broadcast_in_dim %c_102, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %693 = stablehlo.compare EQ, %691#4, %692, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %694 = stablehlo.broadcast_in_dim %693, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_103 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %695 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %696 = stablehlo.broadcast_in_dim %694, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %697 = stablehlo.select %696, %691#1, %695 : tensor<2x3xi1>, tensor<2x3xf64>
    %698 = stablehlo.broadcast_in_dim %693, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_104 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %699 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<complex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %700 = stablehlo.broadcast_in_dim %698, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %701 = stablehlo.select %700, %691#3, %699 : tensor<2x3x3xi1>, tensor<2x3x3xcomplex<f64>>
    %702 = stablehlo.broadcast_in_dim %693, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_105 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %703 = stablehlo.broadcast_in_dim %cst_105, dims = [] : (tensor<complex<f64>>) -> tensor<2x3x4xcomplex<f64>>
    %704 = stablehlo.broadcast_in_dim %702, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x4xi1>
    %705 = stablehlo.select %704, %691#2, %703 : tensor<2x3x4xi1>, tensor<2x3x4xcomplex<f64>>
    %706 = stablehlo.broadcast_in_dim %697, dims = [0, 2] : (tensor<2x3xf64>) -> tensor<2x1x3xf64>
    %707 = stablehlo.convert %706 : (tensor<2x1x3xf64>) -> tensor<2x1x3xcomplex<f64>>
    %708 = stablehlo.broadcast_in_dim %707, dims = [0, 1, 2] : (tensor<2x1x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %709 = stablehlo.multiply %701, %708 : tensor<2x3x3xcomplex<f64>>
    %710 = stablehlo.dot_general %709, %705, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xcomplex<f64>>, tensor<2x3x4xcomplex<f64>>) -> tensor<2x3x4xcomplex<f64>>
    %711 = stablehlo.transpose %701, dims = [0, 2, 1] : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %712 = stablehlo.real %711 : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xf64>
    %713 = stablehlo.imag %711 : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xf64>
    %714 = stablehlo.negate %713 : tensor<2x3x3xf64>
    %715 = stablehlo.complex %712, %714 : tensor<2x3x3xcomplex<f64>>
    %716 = stablehlo.dot_general %715, %701, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %717 = stablehlo.transpose %705, dims = [0, 2, 1] : (tensor<2x3x4xcomplex<f64>>) -> tensor<2x4x3xcomplex<f64>>
    %718 = stablehlo.real %717 : (tensor<2x4x3xcomplex<f64>>) -> tensor<2x4x3xf64>
    %719 = stablehlo.imag %717 : (tensor<2x4x3xcomplex<f64>>) -> tensor<2x4x3xf64>
    %720 = stablehlo.negate %719 : tensor<2x4x3xf64>
    %721 = stablehlo.complex %718, %720 : tensor<2x4x3xcomplex<f64>>
    %722 = stablehlo.dot_general %705, %721, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xcomplex<f64>>, tensor<2x4x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %723:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%arg3) {backend_config = "", mhlo.backend_config = {compute_uv = false, full_matrices = true, transposed = true}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[2, 1, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[2, 1, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [], [], [i]) {i=2, j=3, k=4, l=3, m=4, n=3}, custom>} : (tensor<2x3x4xcomplex<f64>>) -> (tensor<2x3x4xcomplex<f64>>, tensor<2x3xf64>, tensor<complex<f64>>, tensor<complex<f64>>, tensor<2xi32>)
    %c_106 = stablehlo.constant dense<0> : tensor<i32>
    %724 = stablehlo.broadcast_in_dim %c_106, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %725 = stablehlo.compare EQ, %723#4, %724, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %726 = stablehlo.broadcast_in_dim %725, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_107 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %727 = stablehlo.broadcast_in_dim %cst_107, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %728 = stablehlo.broadcast_in_dim %726, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %729 = stablehlo.select %728, %723#1, %727 : tensor<2x3xi1>, tensor<2x3xf64>
    %730:5 = stablehlo.custom_call @cusolver_gesvdp_ffi(%arg3) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=3, k=4, l=3, m=4, n=3, o=3, p=3, q=4, r=4}, custom>} : (tensor<2x3x4xcomplex<f64>>) -> (tensor<2x3x4xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3x3xcomplex<f64>>, tensor<2x4x4xcomplex<f64>>, tensor<2xi32>)
    %731 = stablehlo.transpose %730#3, dims = [0, 2, 1] : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xcomplex<f64>>
    %732 = stablehlo.real %731 : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xf64>
    %733 = stablehlo.imag %731 : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xf64>
    %734 = stablehlo.negate %733 : tensor<2x4x4xf64>
    %735 = stablehlo.complex %732, %734 : tensor<2x4x4xcomplex<f64>>
    %c_108 = stablehlo.constant dense<0> : tensor<i32>
    %736 = stablehlo.broadcast_in_dim %c_108, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %737 = stablehlo.compare EQ, %730#4, %736, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %738 = stablehlo.broadcast_in_dim %737, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_109 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %739 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %740 = stablehlo.broadcast_in_dim %738, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %741 = stablehlo.select %740, %730#1, %739 : tensor<2x3xi1>, tensor<2x3xf64>
    %742 = stablehlo.broadcast_in_dim %737, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_110 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %743 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<complex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %744 = stablehlo.broadcast_in_dim %742, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %745 = stablehlo.select %744, %730#2, %743 : tensor<2x3x3xi1>, tensor<2x3x3xcomplex<f64>>
    %746 = stablehlo.broadcast_in_dim %737, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_111 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %747 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<complex<f64>>) -> tensor<2x4x4xcomplex<f64>>
    %748 = stablehlo.broadcast_in_dim %746, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x4x4xi1>
    %749 = stablehlo.select %748, %735, %747 : tensor<2x4x4xi1>, tensor<2x4x4xcomplex<f64>>
    %750 = stablehlo.broadcast_in_dim %741, dims = [0, 2] : (tensor<2x3xf64>) -> tensor<2x1x3xf64>
    %751 = stablehlo.convert %750 : (tensor<2x1x3xf64>) -> tensor<2x1x3xcomplex<f64>>
    %752 = stablehlo.broadcast_in_dim %751, dims = [0, 1, 2] : (tensor<2x1x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %753 = stablehlo.multiply %745, %752 : tensor<2x3x3xcomplex<f64>>
    %754 = stablehlo.slice %749 [0:2, 0:3, 0:4] : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x3x4xcomplex<f64>>
    %755 = stablehlo.dot_general %753, %754, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xcomplex<f64>>, tensor<2x3x4xcomplex<f64>>) -> tensor<2x3x4xcomplex<f64>>
    %756 = stablehlo.transpose %745, dims = [0, 2, 1] : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %757 = stablehlo.real %756 : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xf64>
    %758 = stablehlo.imag %756 : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xf64>
    %759 = stablehlo.negate %758 : tensor<2x3x3xf64>
    %760 = stablehlo.complex %757, %759 : tensor<2x3x3xcomplex<f64>>
    %761 = stablehlo.dot_general %745, %760, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %762 = stablehlo.transpose %749, dims = [0, 2, 1] : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xcomplex<f64>>
    %763 = stablehlo.real %762 : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xf64>
    %764 = stablehlo.imag %762 : (tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xf64>
    %765 = stablehlo.negate %764 : tensor<2x4x4xf64>
    %766 = stablehlo.complex %763, %765 : tensor<2x4x4xcomplex<f64>>
    %767 = stablehlo.dot_general %749, %766, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x4x4xcomplex<f64>>, tensor<2x4x4xcomplex<f64>>) -> tensor<2x4x4xcomplex<f64>>
    %768:5 = stablehlo.custom_call @cusolver_gesvdp_ffi(%arg3) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = false}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=3, k=4, l=3, m=4, n=3, o=3, p=3, q=4, r=3}, custom>} : (tensor<2x3x4xcomplex<f64>>) -> (tensor<2x3x4xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3x3xcomplex<f64>>, tensor<2x4x3xcomplex<f64>>, tensor<2xi32>)
    %769 = stablehlo.transpose %768#3, dims = [0, 2, 1] : (tensor<2x4x3xcomplex<f64>>) -> tensor<2x3x4xcomplex<f64>>
    %770 = stablehlo.real %769 : (tensor<2x3x4xcomplex<f64>>) -> tensor<2x3x4xf64>
    %771 = stablehlo.imag %769 : (tensor<2x3x4xcomplex<f64>>) -> tensor<2x3x4xf64>
    %772 = stablehlo.negate %771 : tensor<2x3x4xf64>
    %773 = stablehlo.complex %770, %772 : tensor<2x3x4xcomplex<f64>>
    %c_112 = stablehlo.constant dense<0> : tensor<i32>
    %774 = stablehlo.broadcast_in_dim %c_112, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %775 = stablehlo.compare EQ, %768#4, %774, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %776 = stablehlo.broadcast_in_dim %775, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_113 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %777 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %778 = stablehlo.broadcast_in_dim %776, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %779 = stablehlo.select %778, %768#1, %777 : tensor<2x3xi1>, tensor<2x3xf64>
    %780 = stablehlo.broadcast_in_dim %775, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_114 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %781 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<complex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %782 = stablehlo.broadcast_in_dim %780, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %783 = stablehlo.select %782, %768#2, %781 : tensor<2x3x3xi1>, tensor<2x3x3xcomplex<f64>>
    %784 = stablehlo.broadcast_in_dim %775, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_115 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %785 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<complex<f64>>) -> tensor<2x3x4xcomplex<f64>>
    %786 = stablehlo.broadcast_in_dim %784, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x4xi1>
    %787 = stablehlo.select %786, %773, %785 : tensor<2x3x4xi1>, tensor<2x3x4xcomplex<f64>>
    %788 = stablehlo.broadcast_in_dim %779, dims = [0, 2] : (tensor<2x3xf64>) -> tensor<2x1x3xf64>
    %789 = stablehlo.convert %788 : (tensor<2x1x3xf64>) -> tensor<2x1x3xcomplex<f64>>
    %790 = stablehlo.broadcast_in_dim %789, dims = [0, 1, 2] : (tensor<2x1x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %791 = stablehlo.multiply %783, %790 : tensor<2x3x3xcomplex<f64>>
    %792 = stablehlo.dot_general %791, %787, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xcomplex<f64>>, tensor<2x3x4xcomplex<f64>>) -> tensor<2x3x4xcomplex<f64>>
    %793 = stablehlo.transpose %783, dims = [0, 2, 1] : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %794 = stablehlo.real %793 : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xf64>
    %795 = stablehlo.imag %793 : (tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xf64>
    %796 = stablehlo.negate %795 : tensor<2x3x3xf64>
    %797 = stablehlo.complex %794, %796 : tensor<2x3x3xcomplex<f64>>
    %798 = stablehlo.dot_general %797, %783, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %799 = stablehlo.transpose %787, dims = [0, 2, 1] : (tensor<2x3x4xcomplex<f64>>) -> tensor<2x4x3xcomplex<f64>>
    %800 = stablehlo.real %799 : (tensor<2x4x3xcomplex<f64>>) -> tensor<2x4x3xf64>
    %801 = stablehlo.imag %799 : (tensor<2x4x3xcomplex<f64>>) -> tensor<2x4x3xf64>
    %802 = stablehlo.negate %801 : tensor<2x4x3xf64>
    %803 = stablehlo.complex %800, %802 : tensor<2x4x3xcomplex<f64>>
    %804 = stablehlo.dot_general %787, %803, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xcomplex<f64>>, tensor<2x4x3xcomplex<f64>>) -> tensor<2x3x3xcomplex<f64>>
    %805:5 = stablehlo.custom_call @cusolver_gesvdp_ffi(%arg3) {backend_config = "", mhlo.backend_config = {compute_uv = false, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=3, k=4, l=3, m=4, n=3, o=3, p=3, q=4, r=4}, custom>} : (tensor<2x3x4xcomplex<f64>>) -> (tensor<2x3x4xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3x3xcomplex<f64>>, tensor<2x4x4xcomplex<f64>>, tensor<2xi32>)
    %c_116 = stablehlo.constant dense<0> : tensor<i32>
    %806 = stablehlo.broadcast_in_dim %c_116, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %807 = stablehlo.compare EQ, %805#4, %806, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %808 = stablehlo.broadcast_in_dim %807, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_117 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %809 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %810 = stablehlo.broadcast_in_dim %808, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %811 = stablehlo.select %810, %805#1, %809 : tensor<2x3xi1>, tensor<2x3xf64>
    return %7, %20, %22, %24, %34, %46, %48, %50, %57, %64, %77, %79, %81, %88, %100, %102, %104, %111, %119, %132, %134, %136, %144, %156, %158, %160, %167, %175, %188, %190, %192, %202, %214, %216, %218, %225, %232, %245, %247, %249, %256, %268, %270, %272, %279, %287, %300, %302, %304, %312, %324, %326, %328, %335, %347, %361, %367, %373, %387, %400, %406, %412, %419, %426, %440, %446, %452, %459, %472, %478, %484, %491, %503, %517, %523, %529, %541, %554, %560, %566, %573, %585, %599, %605, %611, %625, %638, %644, %650, %657, %664, %678, %684, %690, %697, %710, %716, %722, %729, %741, %755, %761, %767, %779, %792, %798, %804, %811 : tensor<2x3xf64>, tensor<2x5x3xf64>, tensor<2x5x5xf64>, tensor<2x3x3xf64>, tensor<2x3xf64>, tensor<2x5x3xf64>, tensor<2x3x3xf64>, tensor<2x3x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x5x3xf64>, tensor<2x5x5xf64>, tensor<2x3x3xf64>, tensor<2x3xf64>, tensor<2x5x3xf64>, tensor<2x3x3xf64>, tensor<2x3x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x5x3xf64>, tensor<2x5x5xf64>, tensor<2x3x3xf64>, tensor<2x3xf64>, tensor<2x5x3xf64>, tensor<2x3x3xf64>, tensor<2x3x3xf64>, tensor<2x3xf64>, tensor<3xf64>, tensor<3x5xf64>, tensor<3x3xf64>, tensor<5x5xf64>, tensor<3xf64>, tensor<3x5xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3x5xf64>, tensor<3x3xf64>, tensor<5x5xf64>, tensor<3xf64>, tensor<3x5xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3x5xf64>, tensor<3x3xf64>, tensor<5x5xf64>, tensor<3xf64>, tensor<3x5xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<4x3xcomplex<f64>>, tensor<4x4xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<3xf64>, tensor<4x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<3xf64>, tensor<3xf64>, tensor<4x3xcomplex<f64>>, tensor<4x4xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<3xf64>, tensor<4x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<3xf64>, tensor<3xf64>, tensor<4x3xcomplex<f64>>, tensor<4x4xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<3xf64>, tensor<4x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<3xf64>, tensor<2x3xf64>, tensor<2x3x4xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>, tensor<2x4x4xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3x4xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3x4xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>, tensor<2x4x4xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3x4xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3x4xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>, tensor<2x4x4xcomplex<f64>>, tensor<2x3xf64>, tensor<2x3x4xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>, tensor<2x3x3xcomplex<f64>>, tensor<2x3xf64>
  }
}
