// geev: pairs of complex vectors of real matrices, and complex matrices.
// Written by tests/programs/cuda_calls/generate.py.
// tolerance: f64 1e-9 relative
// tolerance: c128 1e-9 relative
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x6x6xf64>, %arg1: tensor<3x3xf64>, %arg2: tensor<4x4xcomplex<f64>>) -> (tensor<2xcomplex<f64>> {jax.result_info = "result[0]"}, tensor<2xcomplex<f64>> {jax.result_info = "result[1]"}, tensor<2x6x6xcomplex<f64>> {jax.result_info = "result[2]"}, tensor<2x6xf64> {jax.result_info = "result[3]"}, tensor<2xcomplex<f64>> {jax.result_info = "result[4]"}, tensor<complex<f64>> {jax.result_info = "result[5]"}, tensor<complex<f64>> {jax.result_info = "result[6]"}, tensor<3x3xcomplex<f64>> {jax.result_info = "result[7]"}, tensor<3xf64> {jax.result_info = "result[8]"}, tensor<complex<f64>> {jax.result_info = "result[9]"}, tensor<complex<f64>> {jax.result_info = "result[10]"}, tensor<complex<f64>> {jax.result_info = "result[11]"}, tensor<4x4xcomplex<f64>> {jax.result_info = "result[12]"}, tensor<4xf64> {jax.result_info = "result[13]"}, tensor<complex<f64>> {jax.result_info = "result[14]"}) {
    %0:5 = stablehlo.custom_call @cusolver_geev_ffi(%arg0) {backend_config = "", mhlo.backend_config = {left = false, right = true}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=6, k=6, l=6, m=6, n=6, o=6, p=6, q=6, r=6}, custom>} : (tensor<2x6x6xf64>) -> (tensor<2x6x6xf64>, tensor<2x6xcomplex<f64>>, tensor<2x6x6xf64>, tensor<2x6x6xf64>, tensor<2xi32>)
    %1 = stablehlo.imag %0#1 : (tensor<2x6xcomplex<f64>>) -> tensor<2x6xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x6xf64>
    %3 = stablehlo.compare EQ, %1, %2, FLOAT : (tensor<2x6xf64>, tensor<2x6xf64>) -> tensor<2x6xi1>
    %4 = stablehlo.imag %0#1 : (tensor<2x6xcomplex<f64>>) -> tensor<2x6xf64>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x6xf64>
    %6 = stablehlo.compare EQ, %4, %5, FLOAT : (tensor<2x6xf64>, tensor<2x6xf64>) -> tensor<2x6xi1>
    %7 = stablehlo.or %3, %6 : tensor<2x6xi1>
    %8 = stablehlo.not %7 : tensor<2x6xi1>
    %9 = stablehlo.convert %8 : (tensor<2x6xi1>) -> tensor<2x6xi64>
    %10 = call @cumsum(%9) : (tensor<2x6xi64>) -> tensor<2x6xi64>
    %c = stablehlo.constant dense<2> : tensor<i64>
    %11 = call @remainder(%10, %c) : (tensor<2x6xi64>, tensor<i64>) -> tensor<2x6xi64>
    %c_1 = stablehlo.constant dense<1> : tensor<i64>
    %12 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<2x6xi64>
    %13 = stablehlo.compare EQ, %11, %12, SIGNED : (tensor<2x6xi64>, tensor<2x6xi64>) -> tensor<2x6xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %14 = stablehlo.pad %0#3, %cst_2, low = [0, 0, -1], high = [0, 0, 1], interior = [0, 0, 0] : (tensor<2x6x6xf64>, tensor<f64>) -> tensor<2x6x6xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %15 = stablehlo.pad %0#3, %cst_3, low = [0, 0, 1], high = [0, 0, -1], interior = [0, 0, 0] : (tensor<2x6x6xf64>, tensor<f64>) -> tensor<2x6x6xf64>
    %16 = stablehlo.broadcast_in_dim %7, dims = [0, 2] : (tensor<2x6xi1>) -> tensor<2x6x6xi1>
    %17 = stablehlo.broadcast_in_dim %13, dims = [0, 2] : (tensor<2x6xi1>) -> tensor<2x6x6xi1>
    %18 = stablehlo.or %16, %17 : tensor<2x6x6xi1>
    %19 = stablehlo.select %18, %0#3, %15 : tensor<2x6x6xi1>, tensor<2x6x6xf64>
    %20 = stablehlo.negate %0#3 : tensor<2x6x6xf64>
    %21 = stablehlo.select %17, %14, %20 : tensor<2x6x6xi1>, tensor<2x6x6xf64>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %22 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f64>) -> tensor<2x6x6xf64>
    %23 = stablehlo.select %16, %22, %21 : tensor<2x6x6xi1>, tensor<2x6x6xf64>
    %24 = stablehlo.complex %19, %23 : tensor<2x6x6xcomplex<f64>>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %25 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %26 = stablehlo.compare EQ, %0#4, %25, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_6 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %28 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<complex<f64>>) -> tensor<2x6xcomplex<f64>>
    %29 = stablehlo.broadcast_in_dim %27, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x6xi1>
    %30 = stablehlo.select %29, %0#1, %28 : tensor<2x6xi1>, tensor<2x6xcomplex<f64>>
    %31 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_7 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %32 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<complex<f64>>) -> tensor<2x6x6xcomplex<f64>>
    %33 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x6x6xi1>
    %34 = stablehlo.select %33, %24, %32 : tensor<2x6x6xi1>, tensor<2x6x6xcomplex<f64>>
    %cst_8 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %35 = stablehlo.reduce(%30 init: %cst_8) applies stablehlo.add across dimensions = [1] : (tensor<2x6xcomplex<f64>>, tensor<complex<f64>>) -> tensor<2xcomplex<f64>>
    %36 = stablehlo.multiply %30, %30 : tensor<2x6xcomplex<f64>>
    %cst_9 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %37 = stablehlo.reduce(%36 init: %cst_9) applies stablehlo.add across dimensions = [1] : (tensor<2x6xcomplex<f64>>, tensor<complex<f64>>) -> tensor<2xcomplex<f64>>
    %38 = stablehlo.transpose %34, dims = [0, 2, 1] : (tensor<2x6x6xcomplex<f64>>) -> tensor<2x6x6xcomplex<f64>>
    %39 = stablehlo.broadcast_in_dim %30, dims = [0, 2] : (tensor<2x6xcomplex<f64>>) -> tensor<2x1x6xcomplex<f64>>
    %40 = stablehlo.broadcast_in_dim %39, dims = [0, 1, 2] : (tensor<2x1x6xcomplex<f64>>) -> tensor<2x6x6xcomplex<f64>>
    %41 = stablehlo.multiply %34, %40 : tensor<2x6x6xcomplex<f64>>
    %42 = stablehlo.transpose %41, dims = [0, 2, 1] : (tensor<2x6x6xcomplex<f64>>) -> tensor<2x6x6xcomplex<f64>>
    %43 = call @solve(%38, %42) : (tensor<2x6x6xcomplex<f64>>, tensor<2x6x6xcomplex<f64>>) -> tensor<2x6x6xcomplex<f64>>
    %44 = stablehlo.abs %34 : (tensor<2x6x6xcomplex<f64>>) -> tensor<2x6x6xf64>
    %45 = stablehlo.multiply %44, %44 : tensor<2x6x6xf64>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %46 = stablehlo.reduce(%45 init: %cst_10) applies stablehlo.add across dimensions = [1] : (tensor<2x6x6xf64>, tensor<f64>) -> tensor<2x6xf64>
    %47:5 = stablehlo.custom_call @cusolver_geev_ffi(%arg0) {backend_config = "", mhlo.backend_config = {left = false, right = false}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=6, k=6, l=6, m=6, n=6, o=6, p=6, q=6, r=6}, custom>} : (tensor<2x6x6xf64>) -> (tensor<2x6x6xf64>, tensor<2x6xcomplex<f64>>, tensor<2x6x6xf64>, tensor<2x6x6xf64>, tensor<2xi32>)
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %48 = stablehlo.broadcast_in_dim %c_11, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %49 = stablehlo.compare EQ, %47#4, %48, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_12 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %51 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<complex<f64>>) -> tensor<2x6xcomplex<f64>>
    %52 = stablehlo.broadcast_in_dim %50, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x6xi1>
    %53 = stablehlo.select %52, %47#1, %51 : tensor<2x6xi1>, tensor<2x6xcomplex<f64>>
    %54 = stablehlo.multiply %53, %53 : tensor<2x6xcomplex<f64>>
    %55 = stablehlo.multiply %54, %53 : tensor<2x6xcomplex<f64>>
    %cst_13 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %56 = stablehlo.reduce(%55 init: %cst_13) applies stablehlo.add across dimensions = [1] : (tensor<2x6xcomplex<f64>>, tensor<complex<f64>>) -> tensor<2xcomplex<f64>>
    %57:5 = stablehlo.custom_call @cusolver_geev_ffi(%arg1) {backend_config = "", mhlo.backend_config = {left = false, right = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=3, j=3, k=3, l=3, m=3, n=3, o=3, p=3, q=3}, custom>} : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xcomplex<f64>>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<i32>)
    %58 = stablehlo.imag %57#1 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %59 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %60 = stablehlo.compare EQ, %58, %59, FLOAT : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xi1>
    %61 = stablehlo.imag %57#1 : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %cst_15 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %62 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %63 = stablehlo.compare EQ, %61, %62, FLOAT : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xi1>
    %64 = stablehlo.or %60, %63 : tensor<3xi1>
    %65 = stablehlo.not %64 : tensor<3xi1>
    %66 = stablehlo.convert %65 : (tensor<3xi1>) -> tensor<3xi64>
    %67 = call @cumsum_0(%66) : (tensor<3xi64>) -> tensor<3xi64>
    %c_16 = stablehlo.constant dense<2> : tensor<i64>
    %68 = call @remainder_1(%67, %c_16) : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
    %c_17 = stablehlo.constant dense<1> : tensor<i64>
    %69 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %70 = stablehlo.compare EQ, %68, %69, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %71 = stablehlo.pad %57#3, %cst_18, low = [0, -1], high = [0, 1], interior = [0, 0] : (tensor<3x3xf64>, tensor<f64>) -> tensor<3x3xf64>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %72 = stablehlo.pad %57#3, %cst_19, low = [0, 1], high = [0, -1], interior = [0, 0] : (tensor<3x3xf64>, tensor<f64>) -> tensor<3x3xf64>
    %73 = stablehlo.broadcast_in_dim %64, dims = [1] : (tensor<3xi1>) -> tensor<3x3xi1>
    %74 = stablehlo.broadcast_in_dim %70, dims = [1] : (tensor<3xi1>) -> tensor<3x3xi1>
    %75 = stablehlo.or %73, %74 : tensor<3x3xi1>
    %76 = stablehlo.select %75, %57#3, %72 : tensor<3x3xi1>, tensor<3x3xf64>
    %77 = stablehlo.negate %57#3 : tensor<3x3xf64>
    %78 = stablehlo.select %74, %71, %77 : tensor<3x3xi1>, tensor<3x3xf64>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %79 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f64>) -> tensor<3x3xf64>
    %80 = stablehlo.select %73, %79, %78 : tensor<3x3xi1>, tensor<3x3xf64>
    %81 = stablehlo.complex %76, %80 : tensor<3x3xcomplex<f64>>
    %c_21 = stablehlo.constant dense<0> : tensor<i32>
    %82 = stablehlo.broadcast_in_dim %c_21, dims = [] : (tensor<i32>) -> tensor<i32>
    %83 = stablehlo.compare EQ, %57#4, %82, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %84 = stablehlo.broadcast_in_dim %83, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_22 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %85 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<complex<f64>>) -> tensor<3xcomplex<f64>>
    %86 = stablehlo.broadcast_in_dim %84, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %87 = stablehlo.select %86, %57#1, %85 : tensor<3xi1>, tensor<3xcomplex<f64>>
    %88 = stablehlo.broadcast_in_dim %83, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_23 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %89 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %90 = stablehlo.broadcast_in_dim %88, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %91 = stablehlo.select %90, %81, %89 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    %cst_24 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %92 = stablehlo.reduce(%87 init: %cst_24) applies stablehlo.add across dimensions = [0] : (tensor<3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
    %93 = stablehlo.multiply %87, %87 : tensor<3xcomplex<f64>>
    %cst_25 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %94 = stablehlo.reduce(%93 init: %cst_25) applies stablehlo.add across dimensions = [0] : (tensor<3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
    %95 = stablehlo.transpose %91, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %96 = stablehlo.broadcast_in_dim %87, dims = [1] : (tensor<3xcomplex<f64>>) -> tensor<1x3xcomplex<f64>>
    %97 = stablehlo.broadcast_in_dim %96, dims = [0, 1] : (tensor<1x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %98 = stablehlo.multiply %91, %97 : tensor<3x3xcomplex<f64>>
    %99 = stablehlo.transpose %98, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %100 = call @solve_2(%95, %99) : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %101 = stablehlo.abs %91 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
    %102 = stablehlo.multiply %101, %101 : tensor<3x3xf64>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %103 = stablehlo.reduce(%102 init: %cst_26) applies stablehlo.add across dimensions = [0] : (tensor<3x3xf64>, tensor<f64>) -> tensor<3xf64>
    %104:5 = stablehlo.custom_call @cusolver_geev_ffi(%arg1) {backend_config = "", mhlo.backend_config = {left = false, right = false}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=3, j=3, k=3, l=3, m=3, n=3, o=3, p=3, q=3}, custom>} : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xcomplex<f64>>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<i32>)
    %c_27 = stablehlo.constant dense<0> : tensor<i32>
    %105 = stablehlo.broadcast_in_dim %c_27, dims = [] : (tensor<i32>) -> tensor<i32>
    %106 = stablehlo.compare EQ, %104#4, %105, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %107 = stablehlo.broadcast_in_dim %106, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_28 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %108 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<complex<f64>>) -> tensor<3xcomplex<f64>>
    %109 = stablehlo.broadcast_in_dim %107, dims = [0] : (tensor<1xi1>) -> tensor<3xi1>
    %110 = stablehlo.select %109, %104#1, %108 : tensor<3xi1>, tensor<3xcomplex<f64>>
    %111 = stablehlo.multiply %110, %110 : tensor<3xcomplex<f64>>
    %112 = stablehlo.multiply %111, %110 : tensor<3xcomplex<f64>>
    %cst_29 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %113 = stablehlo.reduce(%112 init: %cst_29) applies stablehlo.add across dimensions = [0] : (tensor<3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
    %114:5 = stablehlo.custom_call @cusolver_geev_ffi(%arg2) {backend_config = "", mhlo.backend_config = {left = false, right = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=4, j=4, k=4, l=4, m=4, n=4, o=4, p=4, q=4}, custom>} : (tensor<4x4xcomplex<f64>>) -> (tensor<4x4xcomplex<f64>>, tensor<4xcomplex<f64>>, tensor<4x4xcomplex<f64>>, tensor<4x4xcomplex<f64>>, tensor<i32>)
    %c_30 = stablehlo.constant dense<0> : tensor<i32>
    %115 = stablehlo.broadcast_in_dim %c_30, dims = [] : (tensor<i32>) -> tensor<i32>
    %116 = stablehlo.compare EQ, %114#4, %115, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %117 = stablehlo.broadcast_in_dim %116, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_31 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %118 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<complex<f64>>) -> tensor<4xcomplex<f64>>
    %119 = stablehlo.broadcast_in_dim %117, dims = [0] : (tensor<1xi1>) -> tensor<4xi1>
    %120 = stablehlo.select %119, %114#1, %118 : tensor<4xi1>, tensor<4xcomplex<f64>>
    %121 = stablehlo.broadcast_in_dim %116, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_32 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %122 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<complex<f64>>) -> tensor<4x4xcomplex<f64>>
    %123 = stablehlo.broadcast_in_dim %121, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<4x4xi1>
    %124 = stablehlo.select %123, %114#3, %122 : tensor<4x4xi1>, tensor<4x4xcomplex<f64>>
    %cst_33 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %125 = stablehlo.reduce(%120 init: %cst_33) applies stablehlo.add across dimensions = [0] : (tensor<4xcomplex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
    %126 = stablehlo.multiply %120, %120 : tensor<4xcomplex<f64>>
    %cst_34 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %127 = stablehlo.reduce(%126 init: %cst_34) applies stablehlo.add across dimensions = [0] : (tensor<4xcomplex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
    %128 = stablehlo.transpose %124, dims = [1, 0] : (tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    %129 = stablehlo.broadcast_in_dim %120, dims = [1] : (tensor<4xcomplex<f64>>) -> tensor<1x4xcomplex<f64>>
    %130 = stablehlo.broadcast_in_dim %129, dims = [0, 1] : (tensor<1x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    %131 = stablehlo.multiply %124, %130 : tensor<4x4xcomplex<f64>>
    %132 = stablehlo.transpose %131, dims = [1, 0] : (tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    %133 = call @solve_4(%128, %132) : (tensor<4x4xcomplex<f64>>, tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    %134 = stablehlo.abs %124 : (tensor<4x4xcomplex<f64>>) -> tensor<4x4xf64>
    %135 = stablehlo.multiply %134, %134 : tensor<4x4xf64>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %136 = stablehlo.reduce(%135 init: %cst_35) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf64>, tensor<f64>) -> tensor<4xf64>
    %137:5 = stablehlo.custom_call @cusolver_geev_ffi(%arg2) {backend_config = "", mhlo.backend_config = {left = false, right = false}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=4, j=4, k=4, l=4, m=4, n=4, o=4, p=4, q=4}, custom>} : (tensor<4x4xcomplex<f64>>) -> (tensor<4x4xcomplex<f64>>, tensor<4xcomplex<f64>>, tensor<4x4xcomplex<f64>>, tensor<4x4xcomplex<f64>>, tensor<i32>)
    %c_36 = stablehlo.constant dense<0> : tensor<i32>
    %138 = stablehlo.broadcast_in_dim %c_36, dims = [] : (tensor<i32>) -> tensor<i32>
    %139 = stablehlo.compare EQ, %137#4, %138, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %140 = stablehlo.broadcast_in_dim %139, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_37 = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %141 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<complex<f64>>) -> tensor<4xcomplex<f64>>
    %142 = stablehlo.broadcast_in_dim %140, dims = [0] : (tensor<1xi1>) -> tensor<4xi1>
    %143 = stablehlo.select %142, %137#1, %141 : tensor<4xi1>, tensor<4xcomplex<f64>>
    %144 = stablehlo.multiply %143, %143 : tensor<4xcomplex<f64>>
    %145 = stablehlo.multiply %144, %143 : tensor<4xcomplex<f64>>
    %cst_38 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f64>>
    %146 = stablehlo.reduce(%145 init: %cst_38) applies stablehlo.add across dimensions = [0] : (tensor<4xcomplex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
    return %35, %37, %43, %46, %56, %92, %94, %100, %103, %113, %125, %127, %133, %136, %146 : tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>, tensor<2x6x6xcomplex<f64>>, tensor<2x6xf64>, tensor<2xcomplex<f64>>, tensor<complex<f64>>, tensor<complex<f64>>, tensor<3x3xcomplex<f64>>, tensor<3xf64>, tensor<complex<f64>>, tensor<complex<f64>>, tensor<complex<f64>>, tensor<4x4xcomplex<f64>>, tensor<4xf64>, tensor<complex<f64>>
  }
  func.func private @cumsum(%arg0: tensor<2x6xi64>) -> tensor<2x6xi64> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<i64>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [5, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 6>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<i64>, %arg2: tensor<i64>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i64>
      stablehlo.return %2 : tensor<i64>
    }) : (tensor<2x6xi64>, tensor<i64>) -> tensor<2x6xi64>
    return %1 : tensor<2x6xi64>
  }
  func.func private @remainder(%arg0: tensor<2x6xi64>, %arg1: tensor<i64>) -> tensor<2x6xi64> {
    %0 = stablehlo.convert %arg1 : tensor<i64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i64>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i64>) -> tensor<2x6xi64>
    %4 = stablehlo.remainder %arg0, %3 : tensor<2x6xi64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<2x6xi64>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<2x6xi64>, tensor<2x6xi64>) -> tensor<2x6xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i64>) -> tensor<2x6xi64>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<2x6xi64>, tensor<2x6xi64>) -> tensor<2x6xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<2x6xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<2x6xi1>, tensor<2x6xi1>) -> tensor<2x6xi1>
    %12 = stablehlo.and %11, %6 : tensor<2x6xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i64>) -> tensor<2x6xi64>
    %14 = stablehlo.add %4, %13 : tensor<2x6xi64>
    %15 = stablehlo.select %12, %14, %4 : tensor<2x6xi1>, tensor<2x6xi64>
    return %15 : tensor<2x6xi64>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i64>, %arg2: tensor<i64>) -> tensor<i64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i64>
    return %0 : tensor<i64>
  }
  func.func private @solve(%arg0: tensor<2x6x6xcomplex<f64>>, %arg1: tensor<2x6x6xcomplex<f64>>) -> tensor<2x6x6xcomplex<f64>> {
    %0:3 = stablehlo.custom_call @cusolver_getrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i]) {i=2, j=6, k=6, l=6, m=6, n=6}, custom>} : (tensor<2x6x6xcomplex<f64>>) -> (tensor<2x6x6xcomplex<f64>>, tensor<2x6xi32>, tensor<2xi32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x6xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<2x6xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f64>>) -> tensor<2x6x6xcomplex<f64>>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x6x6xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<2x6x6xi1>, tensor<2x6x6xcomplex<f64>>
    %9 = stablehlo.custom_call @cu_lu_pivots_to_permutation(%2) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, k]) {i=2, j=6, k=6}, custom>} : (tensor<2x6xi32>) -> tensor<2x6xi32>
    %10 = stablehlo.transpose %arg1, dims = [0, 2, 1] : (tensor<2x6x6xcomplex<f64>>) -> tensor<2x6x6xcomplex<f64>>
    %11 = call @_lu_solve(%8, %9, %10) : (tensor<2x6x6xcomplex<f64>>, tensor<2x6xi32>, tensor<2x6x6xcomplex<f64>>) -> tensor<2x6x6xcomplex<f64>>
    %12 = stablehlo.transpose %11, dims = [0, 2, 1] : (tensor<2x6x6xcomplex<f64>>) -> tensor<2x6x6xcomplex<f64>>
    return %12 : tensor<2x6x6xcomplex<f64>>
  }
  func.func private @_lu_solve(%arg0: tensor<2x6x6xcomplex<f64>>, %arg1: tensor<2x6xi32>, %arg2: tensor<2x6x6xcomplex<f64>>) -> tensor<2x6x6xcomplex<f64>> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1, 2] : (tensor<2x6x6xcomplex<f64>>) -> tensor<2x6x6x1xcomplex<f64>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x6xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<2x6xi32>, tensor<2x6xi32>) -> tensor<2x6xi1>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x6xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<2x6xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<2x6xi1>, tensor<2x6xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<2x6xi32>) -> tensor<2x6x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 3], collapsed_slice_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6, 1, 1>}> : (tensor<2x6x6x1xcomplex<f64>>, tensor<2x6x1xi32>) -> tensor<2x6x6x1xcomplex<f64>>
    %8 = stablehlo.transpose %7, dims = [0, 2, 3, 1] : (tensor<2x6x6x1xcomplex<f64>>) -> tensor<2x6x1x6xcomplex<f64>>
    %9 = stablehlo.reshape %8 : (tensor<2x6x1x6xcomplex<f64>>) -> tensor<2x6x6xcomplex<f64>>
    %10 = "stablehlo.triangular_solve"(%arg0, %9) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<2x6x6xcomplex<f64>>, tensor<2x6x6xcomplex<f64>>) -> tensor<2x6x6xcomplex<f64>>
    %11 = stablehlo.reshape %10 : (tensor<2x6x6xcomplex<f64>>) -> tensor<2x6x1x6xcomplex<f64>>
    %12 = stablehlo.reshape %11 : (tensor<2x6x1x6xcomplex<f64>>) -> tensor<2x6x6xcomplex<f64>>
    %13 = "stablehlo.triangular_solve"(%arg0, %12) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x6x6xcomplex<f64>>, tensor<2x6x6xcomplex<f64>>) -> tensor<2x6x6xcomplex<f64>>
    %14 = stablehlo.reshape %13 : (tensor<2x6x6xcomplex<f64>>) -> tensor<2x6x1x6xcomplex<f64>>
    %15 = stablehlo.transpose %14, dims = [0, 3, 1, 2] : (tensor<2x6x1x6xcomplex<f64>>) -> tensor<2x6x6x1xcomplex<f64>>
    %16 = stablehlo.reshape %15 : (tensor<2x6x6x1xcomplex<f64>>) -> tensor<2x6x6xcomplex<f64>>
    return %16 : tensor<2x6x6xcomplex<f64>>
  }
  func.func private @cumsum_0(%arg0: tensor<3xi64>) -> tensor<3xi64> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<i64>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1>, padding = dense<[[2, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 3>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<i64>, %arg2: tensor<i64>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i64>
      stablehlo.return %2 : tensor<i64>
    }) : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
    return %1 : tensor<3xi64>
  }
  func.func private @remainder_1(%arg0: tensor<3xi64>, %arg1: tensor<i64>) -> tensor<3xi64> {
    %0 = stablehlo.convert %arg1 : tensor<i64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i64>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %4 = stablehlo.remainder %arg0, %3 : tensor<3xi64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<3xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
    %12 = stablehlo.and %11, %6 : tensor<3xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i64>) -> tensor<3xi64>
    %14 = stablehlo.add %4, %13 : tensor<3xi64>
    %15 = stablehlo.select %12, %14, %4 : tensor<3xi1>, tensor<3xi64>
    return %15 : tensor<3xi64>
  }
  func.func private @solve_2(%arg0: tensor<3x3xcomplex<f64>>, %arg1: tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>> {
    %0:3 = stablehlo.custom_call @cusolver_getrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=3, j=3, k=3, l=3, m=3}, custom>} : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3xi32>, tensor<i32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<3xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f64>>) -> tensor<3x3xcomplex<f64>>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    %9 = stablehlo.custom_call @cu_lu_pivots_to_permutation(%2) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([j]) {i=3, j=3}, custom>} : (tensor<3xi32>) -> tensor<3xi32>
    %10 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %11 = call @_lu_solve_3(%8, %9, %10) : (tensor<3x3xcomplex<f64>>, tensor<3xi32>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %12 = stablehlo.transpose %11, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    return %12 : tensor<3x3xcomplex<f64>>
  }
  func.func private @_lu_solve_3(%arg0: tensor<3x3xcomplex<f64>>, %arg1: tensor<3xi32>, %arg2: tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3x1xcomplex<f64>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<3xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<3xi1>, tensor<3xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 3, 1, 1>}> : (tensor<3x3x1xcomplex<f64>>, tensor<3x1xi32>) -> tensor<3x3x1xcomplex<f64>>
    %8 = stablehlo.transpose %7, dims = [1, 2, 0] : (tensor<3x3x1xcomplex<f64>>) -> tensor<3x1x3xcomplex<f64>>
    %9 = stablehlo.reshape %8 : (tensor<3x1x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %10 = "stablehlo.triangular_solve"(%arg0, %9) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %11 = stablehlo.reshape %10 : (tensor<3x3xcomplex<f64>>) -> tensor<3x1x3xcomplex<f64>>
    %12 = stablehlo.reshape %11 : (tensor<3x1x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %13 = "stablehlo.triangular_solve"(%arg0, %12) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %14 = stablehlo.reshape %13 : (tensor<3x3xcomplex<f64>>) -> tensor<3x1x3xcomplex<f64>>
    %15 = stablehlo.transpose %14, dims = [2, 0, 1] : (tensor<3x1x3xcomplex<f64>>) -> tensor<3x3x1xcomplex<f64>>
    %16 = stablehlo.reshape %15 : (tensor<3x3x1xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    return %16 : tensor<3x3xcomplex<f64>>
  }
  func.func private @solve_4(%arg0: tensor<4x4xcomplex<f64>>, %arg1: tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>> {
    %0:3 = stablehlo.custom_call @cusolver_getrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=4, j=4, k=4, l=4, m=4}, custom>} : (tensor<4x4xcomplex<f64>>) -> (tensor<4x4xcomplex<f64>>, tensor<4xi32>, tensor<i32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<4xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<(0x7FF8000000000000,0x7FF8000000000000)> : tensor<complex<f64>>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f64>>) -> tensor<4x4xcomplex<f64>>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<4x4xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<4x4xi1>, tensor<4x4xcomplex<f64>>
    %9 = stablehlo.custom_call @cu_lu_pivots_to_permutation(%2) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([j]) {i=4, j=4}, custom>} : (tensor<4xi32>) -> tensor<4xi32>
    %10 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    %11 = call @_lu_solve_5(%8, %9, %10) : (tensor<4x4xcomplex<f64>>, tensor<4xi32>, tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    %12 = stablehlo.transpose %11, dims = [1, 0] : (tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    return %12 : tensor<4x4xcomplex<f64>>
  }
  func.func private @_lu_solve_5(%arg0: tensor<4x4xcomplex<f64>>, %arg1: tensor<4xi32>, %arg2: tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<4x4xcomplex<f64>>) -> tensor<4x4x1xcomplex<f64>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<4xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<4xi1>, tensor<4xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 4, 1, 1>}> : (tensor<4x4x1xcomplex<f64>>, tensor<4x1xi32>) -> tensor<4x4x1xcomplex<f64>>
    %8 = stablehlo.transpose %7, dims = [1, 2, 0] : (tensor<4x4x1xcomplex<f64>>) -> tensor<4x1x4xcomplex<f64>>
    %9 = stablehlo.reshape %8 : (tensor<4x1x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    %10 = "stablehlo.triangular_solve"(%arg0, %9) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<4x4xcomplex<f64>>, tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    %11 = stablehlo.reshape %10 : (tensor<4x4xcomplex<f64>>) -> tensor<4x1x4xcomplex<f64>>
    %12 = stablehlo.reshape %11 : (tensor<4x1x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    %13 = "stablehlo.triangular_solve"(%arg0, %12) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xcomplex<f64>>, tensor<4x4xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    %14 = stablehlo.reshape %13 : (tensor<4x4xcomplex<f64>>) -> tensor<4x1x4xcomplex<f64>>
    %15 = stablehlo.transpose %14, dims = [2, 0, 1] : (tensor<4x1x4xcomplex<f64>>) -> tensor<4x4x1xcomplex<f64>>
    %16 = stablehlo.reshape %15 : (tensor<4x4x1xcomplex<f64>>) -> tensor<4x4xcomplex<f64>>
    return %16 : tensor<4x4xcomplex<f64>>
  }
}
