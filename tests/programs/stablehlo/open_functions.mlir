// Functions whose arguments and results have no sizes: of each call those of its operands. Sizes that are passed as numbers
// are known in the function, which calls others, and has a branch and a loop of arrays of these sizes.
// tolerance: f32 1e-6 relative
module @open_functions {
  func.func @main(%x: tensor<3x4xf32>, %y: tensor<2x4xf32>, %p: tensor<i1>) -> (tensor<3x4xf32>, tensor<2x4xf32>, tensor<6xf32>) {
    %sizes = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
    %open = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x, %sizes) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
    %rows = stablehlo.get_dimension_size %open, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %a = func.call @shifted(%rows, %open, %p) : (tensor<i32>, tensor<?x4xf32>, tensor<i1>) -> tensor<?x4xf32>
    %b = stablehlo.convert %a : (tensor<?x4xf32>) -> tensor<3x4xf32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %wide = stablehlo.convert %y : (tensor<2x4xf32>) -> tensor<?x4xf32>
    %other = "func.call"(%two, %wide, %p) <{callee = @shifted}> : (tensor<i32>, tensor<?x4xf32>, tensor<i1>) -> tensor<?x4xf32>
    %c = stablehlo.convert %other : (tensor<?x4xf32>) -> tensor<2x4xf32>
    %six = stablehlo.constant dense<6> : tensor<1xi32>
    %d = func.call @count(%six) : (tensor<1xi32>) -> tensor<?xf32>
    %e = stablehlo.negate %d : (tensor<?xf32>) -> tensor<6xf32>
    return %b, %c, %e : tensor<3x4xf32>, tensor<2x4xf32>, tensor<6xf32>
  }
  func.func private @shifted(%rows: tensor<i32>, %x: tensor<?x4xf32>, %p: tensor<i1>) -> tensor<?x4xf32> {
    %four = stablehlo.constant dense<4> : tensor<1xi32>
    %n = stablehlo.reshape %rows : (tensor<i32>) -> tensor<1xi32>
    %sizes = stablehlo.concatenate %n, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %steps = func.call @count(%n) : (tensor<1xi32>) -> tensor<?xf32>
    %wide = stablehlo.dynamic_broadcast_in_dim %steps, %sizes, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    %chosen = "stablehlo.if"(%p) ({
      %sum = stablehlo.add %x, %wide : tensor<?x4xf32>
      stablehlo.return %sum : tensor<?x4xf32>
    }, {
      stablehlo.return %x : tensor<?x4xf32>
    }) : (tensor<i1>) -> tensor<?x4xf32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %loop:2 = stablehlo.while(%i = %zero, %v = %chosen) : tensor<i32>, tensor<?x4xf32>
     cond {
      %go = stablehlo.compare LT, %i, %rows : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %w = stablehlo.add %v, %wide : tensor<?x4xf32>
      stablehlo.return %j, %w : tensor<i32>, tensor<?x4xf32>
    }
    return %loop#1 : tensor<?x4xf32>
  }
  func.func private @count(%n: tensor<1xi32>) -> tensor<?xf32> {
    %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}
