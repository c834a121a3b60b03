// Elements of all sizes, packed bits, and one element for all.
// Written by tests/programs/stablehlo/generate.py.
// tolerance: f32 1e-5 relative
module @jit_constants attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f32>) -> (tensor<0xf32> {jax.result_info = "result[0]"}, tensor<1xf32> {jax.result_info = "result[1]"}, tensor<3xf32> {jax.result_info = "result[2]"}, tensor<8xf32> {jax.result_info = "result[3]"}, tensor<9xf32> {jax.result_info = "result[4]"}, tensor<17xf32> {jax.result_info = "result[5]"}, tensor<0xf32> {jax.result_info = "result[6]"}, tensor<1xf32> {jax.result_info = "result[7]"}, tensor<3xf32> {jax.result_info = "result[8]"}, tensor<8xf32> {jax.result_info = "result[9]"}, tensor<9xf32> {jax.result_info = "result[10]"}, tensor<17xf32> {jax.result_info = "result[11]"}, tensor<0xf32> {jax.result_info = "result[12]"}, tensor<1xf32> {jax.result_info = "result[13]"}, tensor<3xf32> {jax.result_info = "result[14]"}, tensor<8xf32> {jax.result_info = "result[15]"}, tensor<9xf32> {jax.result_info = "result[16]"}, tensor<17xf32> {jax.result_info = "result[17]"}, tensor<0xf32> {jax.result_info = "result[18]"}, tensor<1xf32> {jax.result_info = "result[19]"}, tensor<3xf32> {jax.result_info = "result[20]"}, tensor<8xf32> {jax.result_info = "result[21]"}, tensor<9xf32> {jax.result_info = "result[22]"}, tensor<17xf32> {jax.result_info = "result[23]"}, tensor<0xf32> {jax.result_info = "result[24]"}, tensor<1xf32> {jax.result_info = "result[25]"}, tensor<3xf32> {jax.result_info = "result[26]"}, tensor<8xf32> {jax.result_info = "result[27]"}, tensor<9xf32> {jax.result_info = "result[28]"}, tensor<17xf32> {jax.result_info = "result[29]"}, tensor<0xf32> {jax.result_info = "result[30]"}, tensor<1xf32> {jax.result_info = "result[31]"}, tensor<3xf32> {jax.result_info = "result[32]"}, tensor<8xf32> {jax.result_info = "result[33]"}, tensor<9xf32> {jax.result_info = "result[34]"}, tensor<17xf32> {jax.result_info = "result[35]"}, tensor<0xf32> {jax.result_info = "result[36]"}, tensor<1xf32> {jax.result_info = "result[37]"}, tensor<3xf32> {jax.result_info = "result[38]"}, tensor<8xf32> {jax.result_info = "result[39]"}, tensor<9xf32> {jax.result_info = "result[40]"}, tensor<17xf32> {jax.result_info = "result[41]"}, tensor<0xf32> {jax.result_info = "result[42]"}, tensor<1xf32> {jax.result_info = "result[43]"}, tensor<3xf32> {jax.result_info = "result[44]"}, tensor<8xf32> {jax.result_info = "result[45]"}, tensor<9xf32> {jax.result_info = "result[46]"}, tensor<17xf32> {jax.result_info = "result[47]"}, tensor<0xf32> {jax.result_info = "result[48]"}, tensor<1xf32> {jax.result_info = "result[49]"}, tensor<3xf32> {jax.result_info = "result[50]"}, tensor<8xf32> {jax.result_info = "result[51]"}, tensor<9xf32> {jax.result_info = "result[52]"}, tensor<17xf32> {jax.result_info = "result[53]"}, tensor<0xf32> {jax.result_info = "result[54]"}, tensor<1xf32> {jax.result_info = "result[55]"}, tensor<3xf32> {jax.result_info = "result[56]"}, tensor<8xf32> {jax.result_info = "result[57]"}, tensor<9xf32> {jax.result_info = "result[58]"}, tensor<17xf32> {jax.result_info = "result[59]"}, tensor<0xf32> {jax.result_info = "result[60]"}, tensor<1xf32> {jax.result_info = "result[61]"}, tensor<3xf32> {jax.result_info = "result[62]"}, tensor<8xf32> {jax.result_info = "result[63]"}, tensor<9xf32> {jax.result_info = "result[64]"}, tensor<17xf32> {jax.result_info = "result[65]"}, tensor<3x4xf32> {jax.result_info = "result[66]"}, tensor<3x4xf32> {jax.result_info = "result[67]"}, tensor<3x4xf32> {jax.result_info = "result[68]"}, tensor<3x4xf32> {jax.result_info = "result[69]"}, tensor<3x4xf32> {jax.result_info = "result[70]"}, tensor<3x4xf32> {jax.result_info = "result[71]"}, tensor<3x4xf32> {jax.result_info = "result[72]"}, tensor<3x4xf32> {jax.result_info = "result[73]"}, tensor<3x4xf32> {jax.result_info = "result[74]"}, tensor<3x4xf32> {jax.result_info = "result[75]"}, tensor<3x4xf32> {jax.result_info = "result[76]"}, tensor<2xcomplex<f32>> {jax.result_info = "result[77]"}) {
    %c = stablehlo.constant dense<> : tensor<0xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<1xi1>
    %c_1 = stablehlo.constant dense<[false, true, true]> : tensor<3xi1>
    %c_2 = stablehlo.constant dense<[false, true, true, false, true, true, false, true]> : tensor<8xi1>
    %c_3 = stablehlo.constant dense<[false, true, true, false, true, true, false, true, true]> : tensor<9xi1>
    %c_4 = stablehlo.constant dense<[false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true]> : tensor<17xi1>
    %c_5 = stablehlo.constant dense<> : tensor<0xi8>
    %c_6 = stablehlo.constant dense<0> : tensor<1xi8>
    %c_7 = stablehlo.constant dense<[0, 1, 2]> : tensor<3xi8>
    %c_8 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1]> : tensor<8xi8>
    %c_9 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1, 2]> : tensor<9xi8>
    %c_10 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]> : tensor<17xi8>
    %c_11 = stablehlo.constant dense<> : tensor<0xui16>
    %c_12 = stablehlo.constant dense<0> : tensor<1xui16>
    %c_13 = stablehlo.constant dense<[0, 1, 2]> : tensor<3xui16>
    %c_14 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1]> : tensor<8xui16>
    %c_15 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1, 2]> : tensor<9xui16>
    %c_16 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]> : tensor<17xui16>
    %c_17 = stablehlo.constant dense<> : tensor<0xi32>
    %c_18 = stablehlo.constant dense<0> : tensor<1xi32>
    %c_19 = stablehlo.constant dense<[0, 1, 2]> : tensor<3xi32>
    %c_20 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1]> : tensor<8xi32>
    %c_21 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1, 2]> : tensor<9xi32>
    %c_22 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]> : tensor<17xi32>
    %c_23 = stablehlo.constant dense<> : tensor<0xui32>
    %c_24 = stablehlo.constant dense<0> : tensor<1xui32>
    %c_25 = stablehlo.constant dense<[0, 1, 2]> : tensor<3xui32>
    %c_26 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1]> : tensor<8xui32>
    %c_27 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1, 2]> : tensor<9xui32>
    %c_28 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]> : tensor<17xui32>
    %cst = stablehlo.constant dense<> : tensor<0xf16>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<1xf16>
    %cst_30 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00]> : tensor<3xf16>
    %cst_31 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00]> : tensor<8xf16>
    %cst_32 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00]> : tensor<9xf16>
    %cst_33 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00]> : tensor<17xf16>
    %cst_34 = stablehlo.constant dense<> : tensor<0xbf16>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<1xbf16>
    %cst_36 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00]> : tensor<3xbf16>
    %cst_37 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00]> : tensor<8xbf16>
    %cst_38 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00]> : tensor<9xbf16>
    %cst_39 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00]> : tensor<17xbf16>
    %cst_40 = stablehlo.constant dense<> : tensor<0xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<1xf32>
    %cst_42 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00]> : tensor<3xf32>
    %cst_43 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00]> : tensor<8xf32>
    %cst_44 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00]> : tensor<9xf32>
    %cst_45 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00]> : tensor<17xf32>
    %c_46 = stablehlo.constant dense<> : tensor<0xi4>
    %c_47 = stablehlo.constant dense<0> : tensor<1xi4>
    %c_48 = stablehlo.constant dense<[0, 1, 2]> : tensor<3xi4>
    %c_49 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1]> : tensor<8xi4>
    %c_50 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1, 2]> : tensor<9xi4>
    %c_51 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]> : tensor<17xi4>
    %c_52 = stablehlo.constant dense<> : tensor<0xui4>
    %c_53 = stablehlo.constant dense<0> : tensor<1xui4>
    %c_54 = stablehlo.constant dense<[0, 1, 2]> : tensor<3xui4>
    %c_55 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1]> : tensor<8xui4>
    %c_56 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1, 2]> : tensor<9xui4>
    %c_57 = stablehlo.constant dense<[0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]> : tensor<17xui4>
    %cst_58 = stablehlo.constant dense<> : tensor<0xf8E4M3FN>
    %cst_59 = stablehlo.constant dense<0.000000e+00> : tensor<1xf8E4M3FN>
    %cst_60 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00]> : tensor<3xf8E4M3FN>
    %cst_61 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00]> : tensor<8xf8E4M3FN>
    %cst_62 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00]> : tensor<9xf8E4M3FN>
    %cst_63 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 1.000000e+00]> : tensor<17xf8E4M3FN>
    %c_64 = stablehlo.constant dense<true> : tensor<3x4xi1>
    %c_65 = stablehlo.constant dense<1> : tensor<3x4xi8>
    %c_66 = stablehlo.constant dense<1> : tensor<3x4xui16>
    %c_67 = stablehlo.constant dense<1> : tensor<3x4xi32>
    %c_68 = stablehlo.constant dense<1> : tensor<3x4xui32>
    %cst_69 = stablehlo.constant dense<1.000000e+00> : tensor<3x4xf16>
    %cst_70 = stablehlo.constant dense<1.000000e+00> : tensor<3x4xbf16>
    %cst_71 = stablehlo.constant dense<1.000000e+00> : tensor<3x4xf32>
    %c_72 = stablehlo.constant dense<1> : tensor<3x4xi4>
    %c_73 = stablehlo.constant dense<1> : tensor<3x4xui4>
    %cst_74 = stablehlo.constant dense<1.000000e+00> : tensor<3x4xf8E4M3FN>
    %cst_75 = stablehlo.constant dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,0.000000e+00)]> : tensor<2xcomplex<f32>>
    %0 = stablehlo.convert %c : (tensor<0xi1>) -> tensor<0xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<0xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<0xf32>
    %3 = stablehlo.convert %c_0 : (tensor<1xi1>) -> tensor<1xf32>
    %4 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<1xf32>
    %6 = stablehlo.convert %c_1 : (tensor<3xi1>) -> tensor<3xf32>
    %7 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %8 = stablehlo.multiply %6, %7 : tensor<3xf32>
    %9 = stablehlo.convert %c_2 : (tensor<8xi1>) -> tensor<8xf32>
    %10 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %11 = stablehlo.multiply %9, %10 : tensor<8xf32>
    %12 = stablehlo.convert %c_3 : (tensor<9xi1>) -> tensor<9xf32>
    %13 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %14 = stablehlo.multiply %12, %13 : tensor<9xf32>
    %15 = stablehlo.convert %c_4 : (tensor<17xi1>) -> tensor<17xf32>
    %16 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<17xf32>
    %17 = stablehlo.multiply %15, %16 : tensor<17xf32>
    %18 = stablehlo.convert %c_5 : (tensor<0xi8>) -> tensor<0xf32>
    %19 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<0xf32>
    %20 = stablehlo.multiply %18, %19 : tensor<0xf32>
    %21 = stablehlo.convert %c_6 : (tensor<1xi8>) -> tensor<1xf32>
    %22 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %23 = stablehlo.multiply %21, %22 : tensor<1xf32>
    %24 = stablehlo.convert %c_7 : (tensor<3xi8>) -> tensor<3xf32>
    %25 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %26 = stablehlo.multiply %24, %25 : tensor<3xf32>
    %27 = stablehlo.convert %c_8 : (tensor<8xi8>) -> tensor<8xf32>
    %28 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %29 = stablehlo.multiply %27, %28 : tensor<8xf32>
    %30 = stablehlo.convert %c_9 : (tensor<9xi8>) -> tensor<9xf32>
    %31 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %32 = stablehlo.multiply %30, %31 : tensor<9xf32>
    %33 = stablehlo.convert %c_10 : (tensor<17xi8>) -> tensor<17xf32>
    %34 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<17xf32>
    %35 = stablehlo.multiply %33, %34 : tensor<17xf32>
    %36 = stablehlo.convert %c_11 : (tensor<0xui16>) -> tensor<0xf32>
    %37 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<0xf32>
    %38 = stablehlo.multiply %36, %37 : tensor<0xf32>
    %39 = stablehlo.convert %c_12 : (tensor<1xui16>) -> tensor<1xf32>
    %40 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %41 = stablehlo.multiply %39, %40 : tensor<1xf32>
    %42 = stablehlo.convert %c_13 : (tensor<3xui16>) -> tensor<3xf32>
    %43 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %44 = stablehlo.multiply %42, %43 : tensor<3xf32>
    %45 = stablehlo.convert %c_14 : (tensor<8xui16>) -> tensor<8xf32>
    %46 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %47 = stablehlo.multiply %45, %46 : tensor<8xf32>
    %48 = stablehlo.convert %c_15 : (tensor<9xui16>) -> tensor<9xf32>
    %49 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %50 = stablehlo.multiply %48, %49 : tensor<9xf32>
    %51 = stablehlo.convert %c_16 : (tensor<17xui16>) -> tensor<17xf32>
    %52 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<17xf32>
    %53 = stablehlo.multiply %51, %52 : tensor<17xf32>
    %54 = stablehlo.convert %c_17 : (tensor<0xi32>) -> tensor<0xf32>
    %55 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<0xf32>
    %56 = stablehlo.multiply %54, %55 : tensor<0xf32>
    %57 = stablehlo.convert %c_18 : (tensor<1xi32>) -> tensor<1xf32>
    %58 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %59 = stablehlo.multiply %57, %58 : tensor<1xf32>
    %60 = stablehlo.convert %c_19 : (tensor<3xi32>) -> tensor<3xf32>
    %61 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %62 = stablehlo.multiply %60, %61 : tensor<3xf32>
    %63 = stablehlo.convert %c_20 : (tensor<8xi32>) -> tensor<8xf32>
    %64 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %65 = stablehlo.multiply %63, %64 : tensor<8xf32>
    %66 = stablehlo.convert %c_21 : (tensor<9xi32>) -> tensor<9xf32>
    %67 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %68 = stablehlo.multiply %66, %67 : tensor<9xf32>
    %69 = stablehlo.convert %c_22 : (tensor<17xi32>) -> tensor<17xf32>
    %70 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<17xf32>
    %71 = stablehlo.multiply %69, %70 : tensor<17xf32>
    %72 = stablehlo.convert %c_23 : (tensor<0xui32>) -> tensor<0xf32>
    %73 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<0xf32>
    %74 = stablehlo.multiply %72, %73 : tensor<0xf32>
    %75 = stablehlo.convert %c_24 : (tensor<1xui32>) -> tensor<1xf32>
    %76 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %77 = stablehlo.multiply %75, %76 : tensor<1xf32>
    %78 = stablehlo.convert %c_25 : (tensor<3xui32>) -> tensor<3xf32>
    %79 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %80 = stablehlo.multiply %78, %79 : tensor<3xf32>
    %81 = stablehlo.convert %c_26 : (tensor<8xui32>) -> tensor<8xf32>
    %82 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %83 = stablehlo.multiply %81, %82 : tensor<8xf32>
    %84 = stablehlo.convert %c_27 : (tensor<9xui32>) -> tensor<9xf32>
    %85 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %86 = stablehlo.multiply %84, %85 : tensor<9xf32>
    %87 = stablehlo.convert %c_28 : (tensor<17xui32>) -> tensor<17xf32>
    %88 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<17xf32>
    %89 = stablehlo.multiply %87, %88 : tensor<17xf32>
    %90 = stablehlo.convert %cst : (tensor<0xf16>) -> tensor<0xf32>
    %91 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<0xf32>
    %92 = stablehlo.multiply %90, %91 : tensor<0xf32>
    %93 = stablehlo.convert %cst_29 : (tensor<1xf16>) -> tensor<1xf32>
    %94 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %95 = stablehlo.multiply %93, %94 : tensor<1xf32>
    %96 = stablehlo.convert %cst_30 : (tensor<3xf16>) -> tensor<3xf32>
    %97 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %98 = stablehlo.multiply %96, %97 : tensor<3xf32>
    %99 = stablehlo.convert %cst_31 : (tensor<8xf16>) -> tensor<8xf32>
    %100 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %101 = stablehlo.multiply %99, %100 : tensor<8xf32>
    %102 = stablehlo.convert %cst_32 : (tensor<9xf16>) -> tensor<9xf32>
    %103 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %104 = stablehlo.multiply %102, %103 : tensor<9xf32>
    %105 = stablehlo.convert %cst_33 : (tensor<17xf16>) -> tensor<17xf32>
    %106 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<17xf32>
    %107 = stablehlo.multiply %105, %106 : tensor<17xf32>
    %108 = stablehlo.convert %cst_34 : (tensor<0xbf16>) -> tensor<0xf32>
    %109 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<0xf32>
    %110 = stablehlo.multiply %108, %109 : tensor<0xf32>
    %111 = stablehlo.convert %cst_35 : (tensor<1xbf16>) -> tensor<1xf32>
    %112 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %113 = stablehlo.multiply %111, %112 : tensor<1xf32>
    %114 = stablehlo.convert %cst_36 : (tensor<3xbf16>) -> tensor<3xf32>
    %115 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %116 = stablehlo.multiply %114, %115 : tensor<3xf32>
    %117 = stablehlo.convert %cst_37 : (tensor<8xbf16>) -> tensor<8xf32>
    %118 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %119 = stablehlo.multiply %117, %118 : tensor<8xf32>
    %120 = stablehlo.convert %cst_38 : (tensor<9xbf16>) -> tensor<9xf32>
    %121 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %122 = stablehlo.multiply %120, %121 : tensor<9xf32>
    %123 = stablehlo.convert %cst_39 : (tensor<17xbf16>) -> tensor<17xf32>
    %124 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<17xf32>
    %125 = stablehlo.multiply %123, %124 : tensor<17xf32>
    %126 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<0xf32>
    %127 = stablehlo.multiply %cst_40, %126 : tensor<0xf32>
    %128 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %129 = stablehlo.multiply %cst_41, %128 : tensor<1xf32>
    %130 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %131 = stablehlo.multiply %cst_42, %130 : tensor<3xf32>
    %132 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %133 = stablehlo.multiply %cst_43, %132 : tensor<8xf32>
    %134 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %135 = stablehlo.multiply %cst_44, %134 : tensor<9xf32>
    %136 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<17xf32>
    %137 = stablehlo.multiply %cst_45, %136 : tensor<17xf32>
    %138 = stablehlo.convert %c_46 : (tensor<0xi4>) -> tensor<0xf32>
    %139 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<0xf32>
    %140 = stablehlo.multiply %138, %139 : tensor<0xf32>
    %141 = stablehlo.convert %c_47 : (tensor<1xi4>) -> tensor<1xf32>
    %142 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %143 = stablehlo.multiply %141, %142 : tensor<1xf32>
    %144 = stablehlo.convert %c_48 : (tensor<3xi4>) -> tensor<3xf32>
    %145 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %146 = stablehlo.multiply %144, %145 : tensor<3xf32>
    %147 = stablehlo.convert %c_49 : (tensor<8xi4>) -> tensor<8xf32>
    %148 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %149 = stablehlo.multiply %147, %148 : tensor<8xf32>
    %150 = stablehlo.convert %c_50 : (tensor<9xi4>) -> tensor<9xf32>
    %151 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %152 = stablehlo.multiply %150, %151 : tensor<9xf32>
    %153 = stablehlo.convert %c_51 : (tensor<17xi4>) -> tensor<17xf32>
    %154 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<17xf32>
    %155 = stablehlo.multiply %153, %154 : tensor<17xf32>
    %156 = stablehlo.convert %c_52 : (tensor<0xui4>) -> tensor<0xf32>
    %157 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<0xf32>
    %158 = stablehlo.multiply %156, %157 : tensor<0xf32>
    %159 = stablehlo.convert %c_53 : (tensor<1xui4>) -> tensor<1xf32>
    %160 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %161 = stablehlo.multiply %159, %160 : tensor<1xf32>
    %162 = stablehlo.convert %c_54 : (tensor<3xui4>) -> tensor<3xf32>
    %163 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %164 = stablehlo.multiply %162, %163 : tensor<3xf32>
    %165 = stablehlo.convert %c_55 : (tensor<8xui4>) -> tensor<8xf32>
    %166 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %167 = stablehlo.multiply %165, %166 : tensor<8xf32>
    %168 = stablehlo.convert %c_56 : (tensor<9xui4>) -> tensor<9xf32>
    %169 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %170 = stablehlo.multiply %168, %169 : tensor<9xf32>
    %171 = stablehlo.convert %c_57 : (tensor<17xui4>) -> tensor<17xf32>
    %172 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<17xf32>
    %173 = stablehlo.multiply %171, %172 : tensor<17xf32>
    %174 = stablehlo.convert %cst_58 : (tensor<0xf8E4M3FN>) -> tensor<0xf32>
    %175 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<0xf32>
    %176 = stablehlo.multiply %174, %175 : tensor<0xf32>
    %177 = stablehlo.convert %cst_59 : (tensor<1xf8E4M3FN>) -> tensor<1xf32>
    %178 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %179 = stablehlo.multiply %177, %178 : tensor<1xf32>
    %180 = stablehlo.convert %cst_60 : (tensor<3xf8E4M3FN>) -> tensor<3xf32>
    %181 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %182 = stablehlo.multiply %180, %181 : tensor<3xf32>
    %183 = stablehlo.convert %cst_61 : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
    %184 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %185 = stablehlo.multiply %183, %184 : tensor<8xf32>
    %186 = stablehlo.convert %cst_62 : (tensor<9xf8E4M3FN>) -> tensor<9xf32>
    %187 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %188 = stablehlo.multiply %186, %187 : tensor<9xf32>
    %189 = stablehlo.convert %cst_63 : (tensor<17xf8E4M3FN>) -> tensor<17xf32>
    %190 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<17xf32>
    %191 = stablehlo.multiply %189, %190 : tensor<17xf32>
    %192 = stablehlo.convert %c_64 : (tensor<3x4xi1>) -> tensor<3x4xf32>
    %193 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %194 = stablehlo.multiply %192, %193 : tensor<3x4xf32>
    %195 = stablehlo.convert %c_65 : (tensor<3x4xi8>) -> tensor<3x4xf32>
    %196 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %197 = stablehlo.multiply %195, %196 : tensor<3x4xf32>
    %198 = stablehlo.convert %c_66 : (tensor<3x4xui16>) -> tensor<3x4xf32>
    %199 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %200 = stablehlo.multiply %198, %199 : tensor<3x4xf32>
    %201 = stablehlo.convert %c_67 : (tensor<3x4xi32>) -> tensor<3x4xf32>
    %202 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %203 = stablehlo.multiply %201, %202 : tensor<3x4xf32>
    %204 = stablehlo.convert %c_68 : (tensor<3x4xui32>) -> tensor<3x4xf32>
    %205 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %206 = stablehlo.multiply %204, %205 : tensor<3x4xf32>
    %207 = stablehlo.convert %cst_69 : (tensor<3x4xf16>) -> tensor<3x4xf32>
    %208 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %209 = stablehlo.multiply %207, %208 : tensor<3x4xf32>
    %210 = stablehlo.convert %cst_70 : (tensor<3x4xbf16>) -> tensor<3x4xf32>
    %211 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %212 = stablehlo.multiply %210, %211 : tensor<3x4xf32>
    %213 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %214 = stablehlo.multiply %cst_71, %213 : tensor<3x4xf32>
    %215 = stablehlo.convert %c_72 : (tensor<3x4xi4>) -> tensor<3x4xf32>
    %216 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %217 = stablehlo.multiply %215, %216 : tensor<3x4xf32>
    %218 = stablehlo.convert %c_73 : (tensor<3x4xui4>) -> tensor<3x4xf32>
    %219 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %220 = stablehlo.multiply %218, %219 : tensor<3x4xf32>
    %221 = stablehlo.convert %cst_74 : (tensor<3x4xf8E4M3FN>) -> tensor<3x4xf32>
    %222 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %223 = stablehlo.multiply %221, %222 : tensor<3x4xf32>
    %224 = stablehlo.convert %arg0 : (tensor<f32>) -> tensor<complex<f32>>
    %225 = stablehlo.broadcast_in_dim %224, dims = [] : (tensor<complex<f32>>) -> tensor<2xcomplex<f32>>
    %226 = stablehlo.multiply %cst_75, %225 : tensor<2xcomplex<f32>>
    return %2, %5, %8, %11, %14, %17, %20, %23, %26, %29, %32, %35, %38, %41, %44, %47, %50, %53, %56, %59, %62, %65, %68, %71, %74, %77, %80, %83, %86, %89, %92, %95, %98, %101, %104, %107, %110, %113, %116, %119, %122, %125, %127, %129, %131, %133, %135, %137, %140, %143, %146, %149, %152, %155, %158, %161, %164, %167, %170, %173, %176, %179, %182, %185, %188, %191, %194, %197, %200, %203, %206, %209, %212, %214, %217, %220, %223, %226 : tensor<0xf32>, tensor<1xf32>, tensor<3xf32>, tensor<8xf32>, tensor<9xf32>, tensor<17xf32>, tensor<0xf32>, tensor<1xf32>, tensor<3xf32>, tensor<8xf32>, tensor<9xf32>, tensor<17xf32>, tensor<0xf32>, tensor<1xf32>, tensor<3xf32>, tensor<8xf32>, tensor<9xf32>, tensor<17xf32>, tensor<0xf32>, tensor<1xf32>, tensor<3xf32>, tensor<8xf32>, tensor<9xf32>, tensor<17xf32>, tensor<0xf32>, tensor<1xf32>, tensor<3xf32>, tensor<8xf32>, tensor<9xf32>, tensor<17xf32>, tensor<0xf32>, tensor<1xf32>, tensor<3xf32>, tensor<8xf32>, tensor<9xf32>, tensor<17xf32>, tensor<0xf32>, tensor<1xf32>, tensor<3xf32>, tensor<8xf32>, tensor<9xf32>, tensor<17xf32>, tensor<0xf32>, tensor<1xf32>, tensor<3xf32>, tensor<8xf32>, tensor<9xf32>, tensor<17xf32>, tensor<0xf32>, tensor<1xf32>, tensor<3xf32>, tensor<8xf32>, tensor<9xf32>, tensor<17xf32>, tensor<0xf32>, tensor<1xf32>, tensor<3xf32>, tensor<8xf32>, tensor<9xf32>, tensor<17xf32>, tensor<0xf32>, tensor<1xf32>, tensor<3xf32>, tensor<8xf32>, tensor<9xf32>, tensor<17xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<2xcomplex<f32>>
  }
}
