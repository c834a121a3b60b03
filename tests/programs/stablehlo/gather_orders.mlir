// Groups of replicas with all their partitions count the replicas of the first partition first: devices 0, 2, 1, 3 (device = 2 * replica + partition).
// Results are NumPy's: tests/programs/stablehlo/generate_chlo.py.
// tolerance: f32 1e-6 relative
module @gather_orders attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<1xf32>, %y: tensor<8xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<1xf32>) -> tensor<4xf32>
    %1 = "stablehlo.reduce_scatter"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<8xf32>) -> tensor<2xf32>
    return %0, %1 : tensor<4xf32>, tensor<2xf32>
  }
}
