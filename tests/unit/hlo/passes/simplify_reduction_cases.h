// The simplifier's rules of reductions and windows: programs, and what they become.
#ifndef HILO_TESTS_UNIT_HLO_PASSES_SIMPLIFY_REDUCTION_CASES_H_
#define HILO_TESTS_UNIT_HLO_PASSES_SIMPLIFY_REDUCTION_CASES_H_

#include <vector>

#include "tests/unit/hlo/passes/simplify_cases.h"

namespace hilo::testing {

inline std::vector<SimplifierCase> ReductionCases() {
  return {
      {"reduce(f(reshape(x))), a scalar => reduce(f(x))",
       "x = f32[2,33] parameter(0)  y = f32[2,32] parameter(1)  z = f32[] constant(0)  p = f32[2,33] pad(y, z), "
       "padding=0_0x1_0  a = f32[66] reshape(x)  b = f32[66] reshape(p)  m = f32[66] multiply(a, b)  "
       "ROOT r = f32[] reduce(m, z), dimensions={0}, to_apply=add",
       "reduce(multiply(x, pad(y, 0)), 0)"},
      {"",  // rows are short
       "x = f32[3,32] parameter(0)  n = f32[3,32] negate(x)  a = f32[96] reshape(n)  z = f32[] constant(0)  "
       "ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=add",
       "reduce(reshape(negate(x)), 0)"},
      {"",  // nothing to compute in rows
       "x = f32[3,33] parameter(0)  a = f32[99] reshape(x)  z = f32[] constant(0)  "
       "ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=add",
       "reduce(reshape(x), 0)"},
      {"",  // of other dimensions
       "x = f32[3,66] parameter(0)  y = f32[6,33] parameter(1)  p = f32[3,66] negate(x)  q = f32[6,33] negate(y)  "
       "a = f32[198] reshape(p)  b = f32[198] reshape(q)  m = f32[198] multiply(a, b)  z = f32[] constant(0)  "
       "ROOT r = f32[] reduce(m, z), dimensions={0}, to_apply=add",
       "reduce(multiply(reshape(negate(x)), reshape(negate(y))), 0)"},
      {"reduce(f(transpose(x))) => transpose(reduce(f(x)))",
       "x = f32[3,2,4] parameter(0)  t = f32[4,2,3] transpose(x), dimensions={2,1,0}  m = f32[4,2,3] negate(t)  "
       "z = f32[] constant(0)  ROOT r = f32[2,3] reduce(m, z), dimensions={0}, to_apply=add",
       "transpose(reduce(negate(x), 0))"},
      {"",  // another reads the transpose
       "x = f32[3,2] parameter(0)  t = f32[2,3] transpose(x), dimensions={1,0}  z = f32[] constant(0)  s = f32[3] "
       "reduce(t, z), dimensions={0}, to_apply=add  b = f32[2,3] broadcast(s), dimensions={1}  "
       "ROOT r = f32[2,3] subtract(t, b)",
       "subtract(transpose(x), broadcast(reduce(transpose(x), 0)))"},
      {"reduce(select(position = x, y, 0)), a sum => select(0 <= x < size, y, 0)",
       "x = s32[5] parameter(0)  v = f32[5] parameter(1)  i = s32[5,7] iota(), iota_dimension=1  b = s32[5,7] "
       "broadcast(x), dimensions={0}  p = pred[5,7] compare(i, b), direction=EQ  a = f32[5,7] broadcast(v), "
       "dimensions={0}  z = f32[] constant(0)  n = f32[] constant(0)  zs = f32[5,7] broadcast(z), dimensions={}  s = "
       "f32[5,7] select(p, a, zs)  ROOT r = f32[5] reduce(s, n), dimensions={1}, to_apply=add",
       "select(and(compare(x, broadcast(0)), compare(x, broadcast(7))), v, broadcast(0))"},
      {"reduce(select(position = x, y, 0)), a sum => select(0 <= x < size, y, 0)",
       "x = s32[5] parameter(0)  v = f32[5] parameter(1)  i = s32[5,7] iota(), iota_dimension=1  b = s32[5,7] "
       "broadcast(x), dimensions={0}  p = pred[5,7] compare(b, i), direction=EQ  a = f32[5,7] broadcast(v), "
       "dimensions={0}  z = f32[] constant(0)  n = f32[] constant(0)  zs = f32[5,7] broadcast(z), dimensions={}  s = "
       "f32[5,7] select(p, a, zs)  ROOT r = f32[5] reduce(s, n), dimensions={1}, to_apply=add",
       "select(and(compare(x, broadcast(0)), compare(x, broadcast(7))), v, broadcast(0))"},
      {"reduce(select(position = x, y, 0)), a sum => select(0 <= x < size, y, 0)",
       "x = s32[5] parameter(0)  v = f32[5] parameter(1)  i = s32[5,7] iota(), iota_dimension=1  b = s32[5,7] "
       "broadcast(x), dimensions={0}  p = pred[5,7] compare(i, b), direction=EQ  a = f32[5,7] broadcast(v), "
       "dimensions={0}  z = f32[] constant(0)  n = f32[] constant(0)  zs = f32[5,7] broadcast(z), dimensions={}  s = "
       "f32[5,7] select(p, a, zs)  m = f32[5,7] negate(s)  ROOT r = f32[5] reduce(m, n), dimensions={1}, to_apply=add",
       "select(and(compare(x, broadcast(0)), compare(x, broadcast(7))), negate(v), broadcast(0))"},
      {"",
       "x = s32[5] parameter(0)  v = f32[5] parameter(1)  i = s32[5,7] iota(), iota_dimension=0  b = s32[5,7] "
       "broadcast(x), dimensions={0}  p = pred[5,7] compare(i, b), direction=EQ  a = f32[5,7] broadcast(v), "
       "dimensions={0}  z = f32[] constant(0)  n = f32[] constant(0)  zs = f32[5,7] broadcast(z), dimensions={}  s = "
       "f32[5,7] select(p, a, zs)  ROOT r = f32[5] reduce(s, n), dimensions={1}, to_apply=add",
       "reduce(select(compare(iota(), broadcast(x)), broadcast(v), broadcast(0)), 0)"},
      {"",
       "x = s32[5] parameter(0)  v = f32[5] parameter(1)  i = s32[5,7] iota(), iota_dimension=1  b = s32[5,7] "
       "broadcast(x), dimensions={0}  p = pred[5,7] compare(i, b), direction=NE  a = f32[5,7] broadcast(v), "
       "dimensions={0}  z = f32[] constant(0)  n = f32[] constant(0)  zs = f32[5,7] broadcast(z), dimensions={}  s = "
       "f32[5,7] select(p, a, zs)  ROOT r = f32[5] reduce(s, n), dimensions={1}, to_apply=add",
       "reduce(select(compare(iota(), broadcast(x)), broadcast(v), broadcast(0)), 0)"},
      {"",
       "x = s32[5] parameter(0)  v = f32[5] parameter(1)  i = s32[5,7] iota(), iota_dimension=1  b = s32[5,7] "
       "broadcast(x), dimensions={0}  p = pred[5,7] compare(i, b), direction=LT  a = f32[5,7] broadcast(v), "
       "dimensions={0}  z = f32[] constant(0)  n = f32[] constant(0)  zs = f32[5,7] broadcast(z), dimensions={}  s = "
       "f32[5,7] select(p, a, zs)  ROOT r = f32[5] reduce(s, n), dimensions={1}, to_apply=add",
       "reduce(select(compare(iota(), broadcast(x)), broadcast(v), broadcast(0)), 0)"},
      {"",
       "x = s32[7] parameter(0)  v = f32[5] parameter(1)  i = s32[5,7] iota(), iota_dimension=1  b = s32[5,7] "
       "broadcast(x), dimensions={1}  p = pred[5,7] compare(i, b), direction=EQ  a = f32[5,7] broadcast(v), "
       "dimensions={0}  z = f32[] constant(0)  n = f32[] constant(0)  zs = f32[5,7] broadcast(z), dimensions={}  s = "
       "f32[5,7] select(p, a, zs)  ROOT r = f32[5] reduce(s, n), dimensions={1}, to_apply=add",
       "reduce(select(compare(iota(), broadcast(x)), broadcast(v), broadcast(0)), 0)"},
      {"",
       "x = s32[5] parameter(0)  v = f32[7] parameter(1)  i = s32[5,7] iota(), iota_dimension=1  b = s32[5,7] "
       "broadcast(x), dimensions={0}  p = pred[5,7] compare(i, b), direction=EQ  a = f32[5,7] broadcast(v), "
       "dimensions={1}  z = f32[] constant(0)  n = f32[] constant(0)  zs = f32[5,7] broadcast(z), dimensions={}  s = "
       "f32[5,7] select(p, a, zs)  ROOT r = f32[5] reduce(s, n), dimensions={1}, to_apply=add",
       "reduce(select(compare(iota(), broadcast(x)), broadcast(v), broadcast(0)), 0)"},
      {"",
       "x = s32[5] parameter(0)  v = f32[5] parameter(1)  i = s32[5,7] iota(), iota_dimension=1  b = s32[5,7] "
       "broadcast(x), dimensions={0}  p = pred[5,7] compare(i, b), direction=EQ  a = f32[5,7] broadcast(v), "
       "dimensions={0}  z = f32[] constant(1)  n = f32[] constant(0)  zs = f32[5,7] broadcast(z), dimensions={}  s = "
       "f32[5,7] select(p, a, zs)  ROOT r = f32[5] reduce(s, n), dimensions={1}, to_apply=add",
       "reduce(select(compare(iota(), broadcast(x)), broadcast(v), broadcast(1)), 0)"},
      {"",
       "x = s32[5] parameter(0)  v = f32[5] parameter(1)  i = s32[5,7] iota(), iota_dimension=1  b = s32[5,7] "
       "broadcast(x), dimensions={0}  p = pred[5,7] compare(i, b), direction=EQ  a = f32[5,7] broadcast(v), "
       "dimensions={0}  z = f32[] constant(0)  n = f32[] constant(1)  zs = f32[5,7] broadcast(z), dimensions={}  s = "
       "f32[5,7] select(p, a, zs)  ROOT r = f32[5] reduce(s, n), dimensions={1}, to_apply=add",
       "reduce(select(compare(iota(), broadcast(x)), broadcast(v), broadcast(0)), 1)"},
      {"",
       "x = s32[5] parameter(0)  v = f32[5] parameter(1)  i = s32[5,7] iota(), iota_dimension=1  b = s32[5,7] "
       "broadcast(x), dimensions={0}  p = pred[5,7] compare(i, b), direction=EQ  a = f32[5,7] broadcast(v), "
       "dimensions={0}  z = f32[] constant(0)  n = f32[] constant(0)  zs = f32[5,7] broadcast(z), dimensions={}  s = "
       "f32[5,7] select(p, a, zs)  ROOT r = f32[5] reduce(s, n), dimensions={1}, to_apply=sub",
       "reduce(select(compare(iota(), broadcast(x)), broadcast(v), broadcast(0)), 0)"},
      {"reduce(stack(x, y, ...)) => combine(combine(init, x), y) ...",
       "x = f32[5] parameter(0)  y = f32[5] parameter(1)  a = f32[1,5] reshape(x)  b = f32[1,5] reshape(y)  s = "
       "f32[2,5] "
       "concatenate(a, b), dimensions={0}  zero = f32[] constant(0)  ROOT r = f32[5] reduce(s, zero), dimensions={0}, "
       "to_apply=add",
       "add(x, y)"},
      {"reduce(stack(x, y, ...)) => combine(combine(init, x), y) ...",  // of what is computed from a stack
       "x = f32[5] parameter(0)  y = f32[5] parameter(1)  a = f32[1,5] reshape(x)  b = f32[1,5] reshape(y)  s = "
       "f32[2,5] concatenate(a, b), dimensions={0}  two = f32[] constant(2)  twos = f32[2,5] broadcast(two), "
       "dimensions={}  d = f32[2,5] power(twos, s)  zero = f32[] constant(0)  ROOT r = f32[5] reduce(d, zero), "
       "dimensions={0}, to_apply=add",
       "add(power(broadcast(2), x), power(broadcast(2), y))"},
      {"",  // another array has no parts
       "x = f32[5] parameter(0)  y = f32[5] parameter(1)  w = f32[2,5] parameter(2)  a = f32[1,5] reshape(x)  "
       "b = f32[1,5] reshape(y)  s = f32[2,5] concatenate(a, b), dimensions={0}  d = f32[2,5] multiply(s, w)  "
       "zero = f32[] constant(0)  ROOT r = f32[5] reduce(d, zero), dimensions={0}, to_apply=add",
       "reduce(multiply(concatenate(reshape(x), reshape(y)), w), 0)"},
      {"",
       "x = f32[5] parameter(0)  y = f32[2,5] parameter(1)  a = f32[1,5] reshape(x)  s = f32[3,5] concatenate(a, y), "
       "dimensions={0}  zero = f32[] constant(0)  ROOT r = f32[5] reduce(s, zero), dimensions={0}, to_apply=add",
       "reduce(concatenate(reshape(x), y), 0)"},
      {"",
       "x = bf16[5] parameter(0)  y = bf16[5] parameter(1)  a = bf16[1,5] reshape(x)  b = bf16[1,5] reshape(y)  s = "
       "bf16[2,5] concatenate(a, b), dimensions={0}  zero = bf16[] constant(0)  ROOT r = bf16[5] reduce(s, zero), "
       "dimensions={0}, to_apply=narrow_add",
       "reduce(concatenate(reshape(x), reshape(y)), 0)"},
      {"argmax(x) of 64-bit indices => convert(argmax(x) of 32-bit indices)",
       "x = f32[5,7] parameter(0)  i = s64[5,7] iota(), iota_dimension=1  low = f32[] constant(-inf)  zero = s64[] "
       "constant(0)  m = (f32[5], s64[5]) reduce(x, i, low, zero), dimensions={1}, to_apply=largest  ROOT r = s64[5] "
       "get-tuple-element(m), index=1",
       "convert(get-tuple-element#1(reduce(x, iota(), -inf, 0)))"},
      {"",
       "x = f32[5,7] parameter(0)  i = s64[5,7] iota(), iota_dimension=1  low = f32[] constant(-inf)  most = s64[] "
       "constant(3000000000)  m = (f32[5], s64[5]) reduce(x, i, low, most), dimensions={1}, to_apply=largest  ROOT r = "
       "s64[5] get-tuple-element(m), index=1",
       "get-tuple-element#1(reduce(x, iota(), -inf, 3000000000))"},
      {"",
       "x = f32[5,7] parameter(0)  i = s64[5,7] iota(), iota_dimension=0  low = f32[] constant(-inf)  zero = s64[] "
       "constant(0)  m = (f32[5], s64[5]) reduce(x, i, low, zero), dimensions={1}, to_apply=largest  ROOT r = s64[5] "
       "get-tuple-element(m), index=1",
       "get-tuple-element#1(reduce(x, iota(), -inf, 0))"},
      {"dot(x, y) => broadcast(x) * broadcast(y), no sum",
       "x = f32[4] parameter(0)  y = f32[5] parameter(1)  ROOT r = f32[4,5] dot(x, y), lhs_contracting_dims={}, "
       "rhs_contracting_dims={}",
       "multiply(broadcast(x), broadcast(y))"},
      {"dot(x, y) => broadcast(x) * broadcast(y), no sum",
       "x = c64[4] parameter(0)  y = c64[5] parameter(1)  ROOT r = c64[4,5] dot(x, y), lhs_contracting_dims={}, "
       "rhs_contracting_dims={}",
       "multiply(broadcast(x), broadcast(y))"},
      {"dot(x, y) => broadcast(x) * broadcast(y), no sum",
       "x = f32[4] parameter(0)  y = f32[4] parameter(1)  ROOT r = f32[4] dot(x, y), lhs_batch_dims={0}, "
       "rhs_batch_dims={0}, lhs_contracting_dims={}, rhs_contracting_dims={}",
       "multiply(x, y)"},
      {"",
       "x = f32[4,1] parameter(0)  y = f32[1,5] parameter(1)  ROOT r = f32[4,5] dot(x, y), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={0}",
       "dot(x, y)"},
      {"dot(x, vector) => reduce(x * broadcast(vector))",
       "m = f32[40,50] parameter(0)  v = f32[50] parameter(1)  ROOT r = f32[40] dot(m, v), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={0}",
       "reduce(multiply(m, broadcast(v)), 0)"},
      {"dot(x, vector) => reduce(x * broadcast(vector))",
       "m = c64[16,16] parameter(0)  v = c64[16] parameter(1)  ROOT r = c64[16] dot(m, v), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={0}",
       "reduce(multiply(m, broadcast(v)), (0, 0))"},
      // The numbers would be infinite as f32, their products are not.
      {"",
       "m = f64[40,50] parameter(0)  v = f64[50] parameter(1)  ROOT r = f32[40] dot(m, v), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={0}",
       "dot(m, v)"},
      {"",
       "m = f32[15,17] parameter(0)  v = f32[17] parameter(1)  ROOT r = f32[15] dot(m, v), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={0}",
       "dot(m, v)"},
      {"",
       "m = f32[40,50] parameter(0)  v = f32[50,2] parameter(1)  ROOT r = f32[40,2] dot(m, v), "
       "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
       "dot(m, v)"},
  };
}

inline std::vector<SimplifierCase> WindowCases() {
  return {
      {"reduce-window(pad(x, 0)), sums of one element each => repeated elements of x",
       "x = f32[2,3,4] parameter(0)  v = f32[] constant(0)  z = f32[] constant(0)  p = f32[2,11,9] pad(x, v), "
       "padding=0_0_0x2_2_2x1_1_1  ROOT r = f32[2,9,8] reduce-window(p, z), window={size=1x3x2}, to_apply=add",
       "reshape(broadcast(x))"},
      {"reduce-window(pad(x, 0)), sums of one element each => repeated elements of x",
       "x = f32[2,3,4] parameter(0)  v = f32[] constant(0)  z = f32[] constant(0)  p = f32[2,11,4] pad(x, v), "
       "padding=0_0_0x2_2_2x0_0_0  ROOT r = f32[2,9,4] reduce-window(p, z), window={size=1x3x1}, to_apply=add",
       "reshape(broadcast(x))"},
      {"",
       "x = f32[2,3,4] parameter(0)  v = f32[] constant(0)  z = f32[] constant(0)  p = f32[2,12,9] pad(x, v), "
       "padding=0_0_0x2_3_2x1_1_1  ROOT r = f32[2,10,8] reduce-window(p, z), window={size=1x3x2}, to_apply=add",
       "reduce-window(pad(x, 0), 0)"},
      {"",
       "x = f32[2,3,4] parameter(0)  v = f32[] constant(0)  z = f32[] constant(0)  p = f32[2,12,9] pad(x, v), "
       "padding=0_0_0x3_2_2x1_1_1  ROOT r = f32[2,10,8] reduce-window(p, z), window={size=1x3x2}, to_apply=add",
       "reduce-window(pad(x, 0), 0)"},
      {"",
       "x = f32[2,3,4] parameter(0)  v = f32[] constant(0)  z = f32[] constant(0)  p = f32[2,9,9] pad(x, v), "
       "padding=0_0_0x2_2_1x1_1_1  ROOT r = f32[2,7,8] reduce-window(p, z), window={size=1x3x2}, to_apply=add",
       "reduce-window(pad(x, 0), 0)"},
      {"",
       "x = f32[2,3,4] parameter(0)  v = f32[] constant(0)  z = f32[] constant(0)  p = f32[2,11,9] pad(x, v), "
       "padding=0_0_0x2_2_2x1_1_1  ROOT r = f32[2,5,8] reduce-window(p, z), window={size=1x3x2 stride=1x2x1}, "
       "to_apply=add",
       "reduce-window(pad(x, 0), 0)"},
      {"",
       "x = f32[2,3,4] parameter(0)  v = f32[] constant(1)  z = f32[] constant(0)  p = f32[2,11,9] pad(x, v), "
       "padding=0_0_0x2_2_2x1_1_1  ROOT r = f32[2,9,8] reduce-window(p, z), window={size=1x3x2}, to_apply=add",
       "reduce-window(pad(x, 1), 0)"},
      {"",
       "x = f32[2,3,4] parameter(0)  v = f32[] constant(0)  z = f32[] constant(1)  p = f32[2,11,9] pad(x, v), "
       "padding=0_0_0x2_2_2x1_1_1  ROOT r = f32[2,9,8] reduce-window(p, z), window={size=1x3x2}, to_apply=add",
       "reduce-window(pad(x, 0), 1)"},
      {"",
       "x = f32[2,3,4] parameter(0)  v = f32[] constant(0)  z = f32[] constant(0)  p = f32[2,11,9] pad(x, v), "
       "padding=0_0_0x2_2_2x1_1_1  ROOT r = f32[2,9,8] reduce-window(p, z), window={size=1x3x2}, to_apply=sub",
       "reduce-window(pad(x, 0), 0)"},
      {"reduce-window(x), over the front or the end at every position => concatenate of parts of a prefix scan",
       "x = f32[10] parameter(0)  z = f32[] constant(0)  ROOT r = f32[10] reduce-window(x, z), window={size=10 "
       "pad=10_-1}, to_apply=add",
       "concatenate(reshape(0), slice(reduce-window(x, 0)))"},
      {"",
       "x = f32[10] parameter(0)  z = f32[] constant(0)  ROOT r = f32[10] reduce-window(x, z), window={size=10 "
       "pad=9_0}, to_apply=add",
       "reduce-window(x, 0)"},
      {"",
       "x = f32[6] parameter(0)  z = f32[] constant(0)  ROOT r = f32[6] reduce-window(x, z), window={size=6 pad=6_-1}, "
       "to_apply=add",
       "reduce-window(x, 0)"},
  };
}

}  // namespace hilo::testing

#endif  // HILO_TESTS_UNIT_HLO_PASSES_SIMPLIFY_REDUCTION_CASES_H_
