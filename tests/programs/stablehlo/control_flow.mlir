// Loops and branches that use values from outside of them, and loops in branches in loops.
// Written by tests/programs/stablehlo/generate.py.
// tolerance: f32 1e-5 relative
module @jit_control_flow attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5xf32>, %arg1: tensor<i32>) -> (tensor<5xf32> {jax.result_info = "result[0]"}, tensor<5xf32> {jax.result_info = "result[1]"}, tensor<5xf32> {jax.result_info = "result[2]"}, tensor<5xf32> {jax.result_info = "result[3]"}, tensor<f32> {jax.result_info = "result[4]"}, tensor<5xf32> {jax.result_info = "result[5]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:4 = stablehlo.while(%iterArg = %arg0, %iterArg_5 = %c, %iterArg_6 = %arg1, %iterArg_7 = %arg0) : tensor<5xf32>, tensor<i32>, tensor<i32>, tensor<5xf32>
    cond {
      %9 = stablehlo.compare LT, %iterArg_5, %iterArg_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %9 = stablehlo.add %iterArg_5, %c_8 : tensor<i32>
      %10 = stablehlo.multiply %iterArg_7, %iterArg : tensor<5xf32>
      %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %11 = stablehlo.reduce(%iterArg_7 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
      %cst_10 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
      %12 = stablehlo.multiply %11, %cst_10 : tensor<f32>
      %13 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<f32>) -> tensor<5xf32>
      %14 = stablehlo.add %10, %13 : tensor<5xf32>
      %15 = stablehlo.convert %iterArg_5 : (tensor<i32>) -> tensor<f32>
      %16 = stablehlo.broadcast_in_dim %15, dims = [] : (tensor<f32>) -> tensor<5xf32>
      %17 = stablehlo.subtract %14, %16 : tensor<5xf32>
      stablehlo.return %iterArg, %9, %iterArg_6, %17 : tensor<5xf32>, tensor<i32>, tensor<i32>, tensor<5xf32>
    }
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.compare GT, %arg1, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.convert %1 : (tensor<i1>) -> tensor<i32>
    %3 = "stablehlo.case"(%2) ({
      %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<5xf32>
      %10 = stablehlo.multiply %0#3, %9 : tensor<5xf32>
      stablehlo.return %10 : tensor<5xf32>
    }, {
      %9 = stablehlo.add %arg0, %0#3 : tensor<5xf32>
      stablehlo.return %9 : tensor<5xf32>
    }) : (tensor<i32>) -> tensor<5xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<2> : tensor<i32>
    %4 = stablehlo.clamp %c_1, %arg1, %c_2 : tensor<i32>
    %5 = "stablehlo.case"(%4) ({
      stablehlo.return %3 : tensor<5xf32>
    }, {
      %9 = stablehlo.multiply %3, %0#3 : tensor<5xf32>
      %10 = stablehlo.add %9, %arg0 : tensor<5xf32>
      stablehlo.return %10 : tensor<5xf32>
    }, {
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<5xf32>
      stablehlo.return %9 : tensor<5xf32>
    }) : (tensor<i32>) -> tensor<5xf32>
    %6:2 = stablehlo.while(%iterArg = %arg0, %iterArg_5 = %arg0) : tensor<5xf32>, tensor<5xf32>
    cond {
      %9 = stablehlo.multiply %iterArg_5, %iterArg_5 : tensor<5xf32>
      %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %10 = stablehlo.reduce(%9 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
      %cst_7 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
      %11 = stablehlo.compare LT, %10, %cst_7, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %11 : tensor<i1>
    } do {
      %c_6 = stablehlo.constant dense<0> : tensor<i32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %9:4 = stablehlo.while(%iterArg_8 = %iterArg, %iterArg_9 = %c_7, %iterArg_10 = %c_6, %iterArg_11 = %iterArg_5) : tensor<5xf32>, tensor<i32>, tensor<i32>, tensor<5xf32>
      cond {
        %c_12 = stablehlo.constant dense<3> : tensor<i32>
        %10 = stablehlo.compare LT, %iterArg_9, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %10 : tensor<i1>
      } do {
        %10:2 = func.call @closed_call(%iterArg_8, %iterArg_10, %iterArg_11) : (tensor<5xf32>, tensor<i32>, tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>)
        %c_12 = stablehlo.constant dense<1> : tensor<i32>
        %11 = stablehlo.add %iterArg_9, %c_12 : tensor<i32>
        stablehlo.return %iterArg_8, %11, %10#0, %10#1 : tensor<5xf32>, tensor<i32>, tensor<i32>, tensor<5xf32>
      }
      stablehlo.return %iterArg, %9#3 : tensor<5xf32>, tensor<5xf32>
    }
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %8:4 = stablehlo.while(%iterArg = %arg0, %iterArg_5 = %c_4, %iterArg_6 = %cst, %iterArg_7 = %7) : tensor<5xf32>, tensor<i32>, tensor<f32>, tensor<5xf32>
    cond {
      %c_8 = stablehlo.constant dense<5> : tensor<i32>
      %9 = stablehlo.compare LT, %iterArg_5, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %9 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_5) : (tensor<5xf32>, tensor<i32>) -> tensor<f32>
      %10:2 = func.call @closed_call_0(%iterArg_6, %9) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
      %11 = func.call @dynamic_update_index_in_dim(%iterArg_7, %10#1, %iterArg_5) : (tensor<5xf32>, tensor<f32>, tensor<i32>) -> tensor<5xf32>
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %12 = stablehlo.add %iterArg_5, %c_8 : tensor<i32>
      stablehlo.return %iterArg, %12, %10#0, %11 : tensor<5xf32>, tensor<i32>, tensor<f32>, tensor<5xf32>
    }
    return %0#3, %3, %5, %6#1, %8#2, %8#3 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<f32>, tensor<5xf32>
  }
  func.func private @closed_call(%arg0: tensor<5xf32>, %arg1: tensor<i32>, %arg2: tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg1, %c : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare GT, %arg1, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.convert %1 : (tensor<i1>) -> tensor<i32>
    %3 = "stablehlo.case"(%2) ({
      %4 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
      %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<5xf32>
      %6 = stablehlo.add %arg2, %5 : tensor<5xf32>
      stablehlo.return %6 : tensor<5xf32>
    }, {
      %4 = stablehlo.abs %arg0 : tensor<5xf32>
      %5 = stablehlo.add %arg2, %4 : tensor<5xf32>
      stablehlo.return %5 : tensor<5xf32>
    }) : (tensor<i32>) -> tensor<5xf32>
    return %0, %3 : tensor<i32>, tensor<5xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<5xf32>, %arg1: tensor<i32>) -> tensor<f32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<5xf32>, tensor<i32>) -> tensor<1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @closed_call_0(%arg0: tensor<f32>, %arg1: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<f32>
    %1 = stablehlo.multiply %arg0, %arg1 : tensor<f32>
    return %0, %1 : tensor<f32>, tensor<f32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<5xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<5xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<5xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5xf32>
    return %1 : tensor<5xf32>
  }
}
