// Every operation of chlo that jaxlib's CPU runs, in its pretty form, or the generic one where it has no other.
// Results are jaxlib's: tests/programs/stablehlo/generate_chlo.py.
// tolerance: f32 5e-6 relative
// tolerance: c64 5e-6 relative
module @chlo {
  func.func @main(%x: tensor<2x4xf32>, %y: tensor<4xf32>, %n: tensor<4xf32>, %z: tensor<4xcomplex<f32>>, %i: tensor<2x4xi32>, %j: tensor<4xi32>, %u: tensor<3xui64>) -> (tensor<20x4xf32>, tensor<14x2x4xf32>, tensor<12x4xcomplex<f32>>, tensor<7x2x4xi32>, tensor<3xui64>, tensor<2x4xi1>, tensor<2x4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<2x4xcomplex<f32>>, tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x2xi32>, tensor<2xf32>, tensor<4xi1>, tensor<4xcomplex<f32>>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<4xf32>, tensor<2x4xf32>) {
    // Of one operand.
    %acos = chlo.acos %y : tensor<4xf32> -> tensor<4xf32>
    %asin = "chlo.asin"(%y) : (tensor<4xf32>) -> tensor<4xf32>
    %asinh = chlo.asinh %y : tensor<4xf32> -> tensor<4xf32>
    %atan = chlo.atan %y : tensor<4xf32> -> tensor<4xf32>
    %atanh = chlo.atanh %y : tensor<4xf32> -> tensor<4xf32>
    %cosh = chlo.cosh %y : tensor<4xf32> -> tensor<4xf32>
    %acosh = chlo.acosh %cosh : tensor<4xf32> -> tensor<4xf32>
    %bessel = chlo.bessel_i1e %y : tensor<4xf32> -> tensor<4xf32>
    %conj = chlo.conj %y : tensor<4xf32> -> tensor<4xf32>
    %digamma = chlo.digamma %y : tensor<4xf32> -> tensor<4xf32>
    %erf = chlo.erf %y : tensor<4xf32> -> tensor<4xf32>
    %erf_inv = chlo.erf_inv %y : tensor<4xf32> -> tensor<4xf32>
    %erfc = chlo.erfc %y : tensor<4xf32> -> tensor<4xf32>
    %lgamma = chlo.lgamma %y : tensor<4xf32> -> tensor<4xf32>
    %sinh = chlo.sinh %y : tensor<4xf32> -> tensor<4xf32>
    %square = chlo.square %y : tensor<4xf32> -> tensor<4xf32>
    %tan = chlo.tan %y : tensor<4xf32> -> tensor<4xf32>
    // Of two.
    %positive = stablehlo.abs %y : tensor<4xf32>
    %one = chlo.constant dense<1.25> : tensor<4xf32>
    %above = stablehlo.add %n, %one : tensor<4xf32>
    %after = chlo.next_after %y, %n : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %polygamma = chlo.polygamma %n, %positive : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %zeta = chlo.zeta %above, %positive : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %r0 = stablehlo.concatenate %acos, %asin, %asinh, %atan, %atanh, %acosh, %cosh, %bessel, %conj, %digamma, dim = 0 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<40xf32>
    %r1 = stablehlo.concatenate %r0, %erf, %erf_inv, %erfc, %lgamma, %sinh, %square, %tan, %after, %polygamma, %zeta, dim = 0 : (tensor<40xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<80xf32>
    %plain = stablehlo.reshape %r1 : (tensor<80xf32>) -> tensor<20x4xf32>
    // Of operands that are broadcast.
    %order = stablehlo.abs %x : tensor<2x4xf32>
    %b0 = chlo.broadcast_add %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %b1 = chlo.broadcast_atan2 %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %b2 = chlo.broadcast_divide %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %b3 = chlo.broadcast_maximum %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %b4 = chlo.broadcast_minimum %y, %x : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %b5 = chlo.broadcast_multiply %x, %y {broadcast_dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %b6 = "chlo.broadcast_next_after"(%x, %y) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %b7 = chlo.broadcast_polygamma %n, %order : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %b8 = chlo.broadcast_power %order, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %b9 = chlo.broadcast_remainder %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %b10 = chlo.broadcast_subtract %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %b11 = chlo.broadcast_zeta %above, %order : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %column = stablehlo.slice %x [0:2, 1:2] : (tensor<2x4xf32>) -> tensor<2x1xf32>
    %row = stablehlo.slice %x [1:2, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %b12 = chlo.broadcast_add %column, %row : (tensor<2x1xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
    %predicates = chlo.broadcast_compare %x, %y {compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xi1>
    %b13 = chlo.broadcast_select %predicates, %y, %x : (tensor<2x4xi1>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %floats = stablehlo.concatenate %b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7, %b8, %b9, %b10, %b11, %b12, %b13, dim = 0 : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<28x4xf32>
    %broadcast = stablehlo.reshape %floats : (tensor<28x4xf32>) -> tensor<14x2x4xf32>
    %complex = chlo.broadcast_complex %x, %y : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xcomplex<f32>>
    // Complex ones.
    %c0 = chlo.acos %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c1 = chlo.acosh %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c2 = chlo.asin %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c3 = chlo.asinh %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c4 = chlo.atan %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c5 = chlo.atanh %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c6 = chlo.conj %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c7 = chlo.cosh %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c8 = chlo.sinh %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c9 = chlo.square %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c10 = chlo.tan %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %c11 = chlo._asin_acos_kernel %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %complexes = stablehlo.concatenate %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11, dim = 0 : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<48xcomplex<f32>>
    %all_complex = stablehlo.reshape %complexes : (tensor<48xcomplex<f32>>) -> tensor<12x4xcomplex<f32>>
    // Integers.
    %i0 = chlo.broadcast_and %i, %j : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    %i1 = chlo.broadcast_or %i, %j : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    %i2 = chlo.broadcast_xor %i, %j : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    %i3 = chlo.broadcast_shift_left %i, %j : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    %i4 = chlo.broadcast_shift_right_arithmetic %i, %j : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    %i5 = chlo.broadcast_shift_right_logical %i, %j : (tensor<2x4xi32>, tensor<4xi32>) -> tensor<2x4xi32>
    %i6 = chlo.mulhi %i, %i3 : tensor<2x4xi32>, tensor<2x4xi32> -> tensor<2x4xi32>
    %integers = stablehlo.concatenate %i0, %i1, %i2, %i3, %i4, %i5, %i6, dim = 0 : (tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>) -> tensor<14x4xi32>
    %all_integers = stablehlo.reshape %integers : (tensor<14x4xi32>) -> tensor<7x2x4xi32>
    %high = chlo.mulhi %u, %u : tensor<3xui64>, tensor<3xui64> -> tensor<3xui64>
    // Infinities.
    %zero = stablehlo.constant dense<0.0> : tensor<2x4xf32>
    %ends = stablehlo.divide %x, %zero : tensor<2x4xf32>
    %is_inf = chlo.is_inf %ends : tensor<2x4xf32> -> tensor<2x4xi1>
    %last = stablehlo.slice %ends [1:2, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %some = stablehlo.reshape %last : (tensor<1x4xf32>) -> tensor<4xf32>
    %is_neg_inf = chlo.is_neg_inf %some : tensor<4xf32> -> tensor<4xi1>
    %is_pos_inf = chlo.is_pos_inf %some : tensor<4xf32> -> tensor<4xi1>
    // With attributes.
    %top:2 = chlo.top_k(%x, k = 2, is_stable = true) : tensor<2x4xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
    %like = "chlo.constant_like"(%top#1) <{value = -1.5 : f32}> : (tensor<2x2xi32>) -> tensor<2x2xf32>
    %sums = stablehlo.add %like, %top#0 : tensor<2x2xf32>
    %corner = stablehlo.slice %sums [0:1, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
    %constants = stablehlo.reshape %corner : (tensor<1x2xf32>) -> tensor<2xf32>
    %truth = "chlo.constant_like"(%y) <{value = true}> : (tensor<4xf32>) -> tensor<4xi1>
    %complex_like = "chlo.constant_like"(%y) <{value = #complex.number<:f32 1.0, -2.0> : complex<f32>}> : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
    %scan:3 = chlo.scan(%x) inits (%y) dimension=0 attributes {is_associative = false, is_reverse = true} {
    ^bb0(%slice: tensor<4xf32>, %carry: tensor<4xf32>):
      %sum = stablehlo.add %slice, %carry : tensor<4xf32>
      %product = stablehlo.multiply %slice, %carry : tensor<4xf32>
      stablehlo.return %sum, %product, %sum : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    } : (tensor<2x4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<4xf32>)
    %again:2 = "chlo.scan"(%x, %y) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%slice: tensor<4xf32>, %carry: tensor<4xf32>):
      %sum = stablehlo.add %slice, %carry : tensor<4xf32>
      stablehlo.return %sum, %sum : tensor<4xf32>, tensor<4xf32>
    }) : (tensor<2x4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>)
    return %plain, %broadcast, %all_complex, %all_integers, %high, %predicates, %is_inf, %is_neg_inf, %is_pos_inf, %complex, %b13, %top#0, %top#1, %constants, %truth, %complex_like, %scan#0, %scan#1, %scan#2, %again#0 : tensor<20x4xf32>, tensor<14x2x4xf32>, tensor<12x4xcomplex<f32>>, tensor<7x2x4xi32>, tensor<3xui64>, tensor<2x4xi1>, tensor<2x4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<2x4xcomplex<f32>>, tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x2xi32>, tensor<2xf32>, tensor<4xi1>, tensor<4xcomplex<f32>>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<4xf32>, tensor<2x4xf32>
  }
}
