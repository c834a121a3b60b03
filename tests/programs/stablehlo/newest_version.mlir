// Operations that VHLO 1.18.0 to 1.20.0 brought, on two replicas.
// Results are NumPy's: tests/programs/stablehlo/generate_chlo.py.
// tolerance: f32 1e-6 relative
module @newest_version attributes {mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
    %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<3xf32>) -> tensor<3xf32>
    %1 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
    %2 = stablehlo.custom_call @mhlo.erf(%x) : (tensor<3xf32>) -> tensor<3xf32>
    return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  }
}
