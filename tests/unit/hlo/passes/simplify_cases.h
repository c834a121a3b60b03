// Where each rule of the simplifier applies, and where it must not.
#ifndef HILO_TESTS_UNIT_HLO_PASSES_SIMPLIFY_CASES_H_
#define HILO_TESTS_UNIT_HLO_PASSES_SIMPLIFY_CASES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace hilo::testing {

struct SimplifierCase {
  absl::string_view rule;  // its text; empty where nothing may change
  std::string body;        // of the entry
  std::string expected;    // RootExpression afterwards
};

// Computations that cases may call.
inline constexpr absl::string_view kSimplifierComputations = R"(
add { a0 = f32[] parameter(0)  b0 = f32[] parameter(1)  ROOT c0 = f32[] add(a0, b0) }
sub { a1 = f32[] parameter(0)  b1 = f32[] parameter(1)  ROOT c1 = f32[] subtract(b1, a1) }
twice { a2 = f32[] parameter(0)  b2 = f32[] parameter(1)  ROOT c2 = f32[] add(b2, b2) }
first { a3 = f32[2] parameter(0)  ROOT n3 = f32[2] negate(a3) }
second { a4 = f32[2] parameter(0)  ROOT n4 = f32[2] add(a4, a4) }
never { s5 = (s32[], f32[2]) parameter(0)  ROOT p5 = pred[] constant(false) }
more { s6 = (s32[], f32[2]) parameter(0)  i6 = s32[] get-tuple-element(s6), index=0  z6 = s32[] constant(0)  ROOT p6 = pred[] compare(i6, z6), direction=GT }
keep { s7 = (s32[], f32[2]) parameter(0)  i7 = s32[] get-tuple-element(s7), index=0  o7 = s32[] constant(1)  j7 = s32[] shift-right-logical(i7, o7)  v7 = f32[2] get-tuple-element(s7), index=1  ROOT r7 = (s32[], f32[2]) tuple(j7, v7) }
less { x9 = f32[] parameter(0)  y9 = f32[] parameter(1)  ROOT l9 = pred[] compare(x9, y9), direction=LT, type=TOTALORDER }
narrow_add { x7 = bf16[] parameter(0)  y7 = bf16[] parameter(1)  ROOT r7 = bf16[] add(x7, y7) }
largest { x8 = f32[] parameter(0)  i8 = s64[] parameter(1)  y8 = f32[] parameter(2)  j8 = s64[] parameter(3)  g8 = pred[] compare(x8, y8), direction=GT  n8 = pred[] compare(x8, x8), direction=NE  o8 = pred[] or(g8, n8)  e8 = pred[] compare(x8, y8), direction=EQ  l8 = pred[] compare(i8, j8), direction=LT  t8 = pred[] and(e8, l8)  p8 = pred[] or(o8, t8)  v8 = f32[] select(o8, x8, y8)  k8 = s64[] select(p8, i8, j8)  ROOT r8 = (f32[], s64[]) tuple(v8, k8) }
)";

inline std::vector<SimplifierCase> MovementCases() {
  return {
      {"copy(x) => x", "x = f32[8] parameter(0)  ROOT r = f32[8] copy(x)", "x"},
      {"reshape(x) => x, of the same shape", "x = f32[8] parameter(0)  ROOT r = f32[8] reshape(x)", "x"},
      {"reshape(reshape(x)) => reshape(x)",
       "x = f32[8] parameter(0)  a = f32[2,4] reshape(x)  ROOT r = f32[4,2] reshape(a)", "reshape(x)"},
      {"reshape(broadcast(scalar)) => broadcast(scalar)",
       "x = f32[] parameter(0)  a = f32[2,4] broadcast(x), dimensions={}  ROOT r = f32[8] reshape(a)", "broadcast(x)"},
      {"", "x = f32[2] parameter(0)  a = f32[2,4] broadcast(x), dimensions={0}  ROOT r = f32[8] reshape(a)",
       "reshape(broadcast(x))"},
      {"reshape(op(x, y)) => op(reshape(x), reshape(y)), of dimensions of 1",
       "x = f32[2,1,4] parameter(0)  a = f32[2,1,4] abs(x)  ROOT r = f32[2,4] reshape(a)", "abs(reshape(x))"},
      {"", "x = f32[2,4] parameter(0)  a = f32[2,4] abs(x)  ROOT r = f32[8] reshape(a)", "reshape(abs(x))"},
      {"transpose(x) => x, in the same order",
       "x = f32[2,3] parameter(0)  ROOT r = f32[2,3] transpose(x), dimensions={0,1}", "x"},
      {"transpose(x) => reshape(x), moving dimensions of size 1",
       "x = f32[2,1,3] parameter(0)  ROOT r = f32[1,2,3] transpose(x), dimensions={1,0,2}", "reshape(x)"},
      {"", "x = f32[2,1,3] parameter(0)  ROOT r = f32[3,1,2] transpose(x), dimensions={2,1,0}", "transpose(x)"},
      {"transpose(transpose(x)) => transpose(x)",
       "x = f32[2,3,4] parameter(0)  a = f32[3,4,2] transpose(x), dimensions={1,2,0}  ROOT r = f32[4,3,2] "
       "transpose(a), dimensions={1,0,2}",
       "transpose(x)"},
      {"transpose(broadcast(scalar)) => broadcast(scalar)",
       "x = f32[] parameter(0)  a = f32[2,4] broadcast(x), dimensions={}  ROOT r = f32[4,2] transpose(a), "
       "dimensions={1,0}",
       "broadcast(x)"},
      {"broadcast(broadcast(x)) => broadcast(x)",
       "x = f32[3] parameter(0)  a = f32[2,3] broadcast(x), dimensions={1}  ROOT r = f32[3,4,2] broadcast(a), "
       "dimensions={2,0}",
       "broadcast(x)"},
      {"broadcast(x) => reshape(x), adding dimensions of size 1",
       "x = f32[3,2] parameter(0)  ROOT r = f32[3,1,2] broadcast(x), dimensions={0,2}", "reshape(x)"},
      {"", "x = f32[3,2] parameter(0)  ROOT r = f32[2,3] broadcast(x), dimensions={1,0}", "broadcast(x)"},
      {"slice(x) => x, all of it", "x = f32[8] parameter(0)  ROOT r = f32[8] slice(x), slice={[0:8]}", "x"},
      {"slice(slice(x)) => slice(x)",
       "x = f32[20] parameter(0)  a = f32[6] slice(x), slice={[2:20:3]}  ROOT r = f32[2] slice(a), slice={[1:5:2]}",
       "slice(x)"},
      {"slice(slice(x)) => slice(x)",
       "x = f32[3] parameter(0)  a = f32[2] slice(x), slice={[0:3:2]}  ROOT r = f32[0] slice(a), slice={[2:2]}",
       "slice(x)"},
      {"", "x = f32[8] parameter(0)  ROOT r = f32[7] slice(x), slice={[1:8]}", "slice(x)"},
      {"slice(broadcast(x)) => broadcast(slice(x))",
       "x = f32[2,8] parameter(0)  a = f32[8,5,2] broadcast(x), dimensions={2,0}  ROOT r = f32[3,4,2] slice(a), "
       "slice={[1:4], [1:5], [0:2]}",
       "broadcast(slice(x))"},
      {"slice(broadcast(scalar)) => broadcast(scalar)",
       "x = f32[] parameter(0)  a = f32[8] broadcast(x), dimensions={}  ROOT r = f32[3] slice(a), slice={[1:4]}",
       "broadcast(x)"},
      {"dynamic-slice(broadcast(scalar), i) => broadcast(scalar)",
       "x = f32[] parameter(0)  i = s32[] parameter(1)  a = f32[8] broadcast(x), dimensions={}  ROOT r = f32[3] "
       "dynamic-slice(a, i), dynamic_slice_sizes={3}",
       "broadcast(x)"},
      {"gather(broadcast(scalar), i) => broadcast(scalar)",
       "x = f32[] parameter(0)  i = s32[5] parameter(1)  a = f32[8] broadcast(x), dimensions={}  ROOT r = f32[5] "
       "gather(a, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
       "slice_sizes={1}",
       "broadcast(x)"},
      {"reverse(broadcast(scalar)) => broadcast(scalar)",
       "x = f32[] parameter(0)  a = f32[8] broadcast(x), dimensions={}  ROOT r = f32[8] reverse(a), dimensions={0}",
       "broadcast(x)"},
      {"slice(concatenate(x, y)) => slice(x)",
       "x = f32[3] parameter(0)  y = f32[4] parameter(1)  a = f32[7] concatenate(x, y), dimensions={0}  ROOT r = "
       "f32[2] slice(a), slice={[4:6]}",
       "slice(y)"},
      {"",
       "x = f32[3] parameter(0)  y = f32[4] parameter(1)  a = f32[7] concatenate(x, y), dimensions={0}  ROOT r = "
       "f32[2] slice(a), slice={[2:4]}",
       "slice(concatenate(x, y))"},
      {"slice(concatenate(x, y)) => slice(x)",
       "x = f32[3] parameter(0)  y = f32[4] parameter(1)  a = f32[7] concatenate(x, y), dimensions={0}  b = f32[10] "
       "concatenate(a, x), dimensions={0}  ROOT r = f32[2] slice(b), slice={[2:4]}",
       "slice(concatenate(x, y))"},
      {"",
       "x = f32[3] parameter(0)  y = f32[4] parameter(1)  a = f32[7] concatenate(x, y), dimensions={0}  b = f32[10] "
       "concatenate(a, x), dimensions={0}  c = f32[2] slice(b), slice={[2:4]}  d = f32[2] slice(b), slice={[6:8]}  "
       "ROOT "
       "r = f32[2] add(c, d)",
       "add(slice(concatenate(concatenate(x, y), x)), slice(concatenate(concatenate(x, y), x)))"},
      {"slice(concatenate(x, y)) => slice(x)",
       "x = f32[3] parameter(0)  y = f32[4] parameter(1)  a = f32[7] concatenate(x, y), dimensions={0}  b = f32[10] "
       "concatenate(a, x), dimensions={0}  c = f32[2] slice(b), slice={[4:6]}  d = f32[2] slice(b), slice={[6:8]}  "
       "ROOT "
       "r = f32[2] add(c, d)",
       "add(slice(y), slice(concatenate(concatenate(x, y), x)))"},
      {"slice(op(x, y)) => op(slice(x), slice(y)), of parts of concatenations",
       "x = f32[3] parameter(0)  y = f32[4] parameter(1)  w = f32[7] parameter(2)  a = f32[7] concatenate(x, y), "
       "dimensions={0}  b = f32[7] add(a, w)  ROOT r = f32[2] slice(b), slice={[4:6]}",
       "add(slice(y), slice(w))"},
      {"",
       "x = f32[3] parameter(0)  y = f32[4] parameter(1)  w = f32[7] parameter(2)  a = f32[7] concatenate(x, y), "
       "dimensions={0}  b = f32[7] add(a, w)  ROOT r = f32[2] slice(b), slice={[2:4]}",
       "slice(add(concatenate(x, y), w))"},
      {"pad(x) => x, by nothing",
       "x = f32[3] parameter(0)  z = f32[] constant(0)  ROOT r = f32[3] pad(x, z), padding=0_0", "x"},
      {"", "x = f32[3] parameter(0)  z = f32[] constant(0)  ROOT r = f32[3] pad(x, z), padding=1_-1", "pad(x, 0)"},
      {"add(pad(x, 0), pad(y, 0)) => pad(concatenate(x, y), 0), of adjacent parts",
       "x = f32[1,3] parameter(0)  y = f32[2,3] parameter(1)  z = f32[] constant(0)  a = f32[5,3] pad(x, z), "
       "padding=3_1x0_0  b = f32[5,3] pad(y, z), padding=1_2x0_0  ROOT r = f32[5,3] add(a, b)",
       "pad(concatenate(y, x), 0)"},
      {"add(pad(x, 0), pad(y, 0)) => pad(concatenate(x, y), 0), of adjacent parts",
       "x = f32[1,3] parameter(0)  y = f32[2,3] parameter(1)  w = f32[1,3] parameter(2)  z = f32[] constant(0)  "
       "a = f32[4,3] pad(x, z), padding=3_0x0_0  b = f32[4,3] pad(y, z), padding=1_1x0_0  c = f32[4,3] pad(w, z), "
       "padding=0_3x0_0  s = f32[4,3] add(a, b)  ROOT r = f32[4,3] add(s, c)",
       "concatenate(w, y, x)"},
      {"",
       "x = f32[1,3] parameter(0)  y = f32[2,3] parameter(1)  z = f32[] constant(0)  a = f32[5,3] pad(x, z), "
       "padding=4_0x0_0  b = f32[5,3] pad(y, z), padding=1_2x0_0  ROOT r = f32[5,3] add(a, b)",
       "add(pad(x, 0), pad(y, 0))"},
      {"",
       "x = f32[1,3] parameter(0)  y = f32[2,3] parameter(1)  z = f32[] constant(0)  a = f32[5,3] pad(x, z), "
       "padding=2_2x0_0  b = f32[5,3] pad(y, z), padding=1_2x0_0  ROOT r = f32[5,3] add(a, b)",
       "add(pad(x, 0), pad(y, 0))"},
      {"",
       "x = f32[3,1] parameter(0)  y = f32[3,2] parameter(1)  z = f32[] constant(0)  a = f32[3,3] pad(x, z), "
       "padding=0_0x0_2  b = f32[3,3] pad(y, z), padding=0_0x1_0  ROOT r = f32[3,3] add(a, b)",
       "add(pad(x, 0), pad(y, 0))"},
      {"concatenate(x) => x", "x = f32[3] parameter(0)  ROOT r = f32[3] concatenate(x), dimensions={0}", "x"},
      {"concatenate(x, empty) => concatenate(x)",
       "x = f32[3] parameter(0)  e = f32[0] parameter(1)  y = f32[2] parameter(2)  ROOT r = f32[5] concatenate(x, e, "
       "y), dimensions={0}",
       "concatenate(x, y)"},
      {"", "d = f32[0] parameter(0)  e = f32[0] parameter(1)  ROOT r = f32[0] concatenate(d, e), dimensions={0}",
       "concatenate(d, e)"},
      {"reverse(x) => x, of dimensions of size 1",
       "x = f32[3,1] parameter(0)  ROOT r = f32[3,1] reverse(x), dimensions={1}", "x"},
      {"reverse(reverse(x)) => x",
       "x = f32[3,2] parameter(0)  a = f32[3,2] reverse(x), dimensions={0,1}  ROOT r = f32[3,2] reverse(a), "
       "dimensions={1,0}",
       "x"},
      {"",
       "x = f32[3,2] parameter(0)  a = f32[3,2] reverse(x), dimensions={0}  ROOT r = f32[3,2] reverse(a), "
       "dimensions={1}",
       "reverse(reverse(x))"},
      {"transpose(broadcast(x)) => broadcast(transpose(x)), of a small array",
       "x = f32[3,2] parameter(0)  a = f32[3,2,4] broadcast(x), dimensions={0,1}  ROOT r = f32[4,2,3] transpose(a), "
       "dimensions={2,1,0}",
       "broadcast(transpose(x))"},
      {"transpose(op(x, y)) => op(transpose(x), transpose(y)), of small arrays",
       "x = f32[3] parameter(0)  y = f32[4] parameter(1)  a = f32[3,4] broadcast(x), dimensions={0}  b = f32[3,4] "
       "broadcast(y), dimensions={1}  c = f32[3,4] multiply(a, b)  ROOT r = f32[4,3] transpose(c), dimensions={1,0}",
       "multiply(broadcast(x), broadcast(y))"},
      {"",  // a factor is as large as the product
       "x = f32[3] parameter(0)  y = f32[3,4] parameter(1)  a = f32[3,4] broadcast(x), dimensions={0}  c = f32[3,4] "
       "multiply(a, y)  ROOT r = f32[4,3] transpose(c), dimensions={1,0}",
       "transpose(multiply(broadcast(x), y))"},
      {"reverse(transpose(x)) => transpose(reverse(x)), of other rows",
       "x = f32[3,2,4] parameter(0)  a = f32[4,3,2] transpose(x), dimensions={2,0,1}  ROOT r = f32[4,3,2] reverse(a), "
       "dimensions={0,2}",
       "transpose(reverse(x))"},
      {"",  // the same rows
       "x = f32[3,2,4] parameter(0)  a = f32[2,3,4] transpose(x), dimensions={1,0,2}  ROOT r = f32[2,3,4] reverse(a), "
       "dimensions={0,2}",
       "reverse(transpose(x))"},
      {"",  // the transpose has another user
       "x = f32[3,3] parameter(0)  a = f32[3,3] transpose(x), dimensions={1,0}  b = f32[3,3] reverse(a), "
       "dimensions={0}  ROOT r = f32[3,3] add(a, b)",
       "add(transpose(x), reverse(transpose(x)))"},
      {"reverse(sort(reverse(x), ...)) => sort(x, ...), the other way round",
       "x = f32[6] parameter(0)  a = f32[6] reverse(x), dimensions={0}  s = f32[6] sort(a), dimensions={0}, "
       "is_stable=true, to_apply=less  ROOT r = f32[6] reverse(s), dimensions={0}",
       "sort(x)"},
      {"",
       "x = f32[6,2] parameter(0)  a = f32[6,2] reverse(x), dimensions={0}  s = f32[6,2] sort(a), dimensions={0}, "
       "is_stable=true, to_apply=less  ROOT r = f32[6,2] reverse(s), dimensions={1}",
       "reverse(sort(reverse(x)))"},
      {"sort(x) => concatenate(exchanges of slice(x)), of few elements, some of which are read",
       "x = f32[2,5] parameter(0)  s = f32[2,5] sort(x), dimensions={0}, is_stable=true, to_apply=less  ROOT r = "
       "f32[1,5] slice(s), slice={[0:1], [0:5]}",
       "select(reshape(compare(xor(bitcast-convert(reshape(slice(x))), shift-right-logical(shift-right-arithmetic("
       "bitcast-convert(reshape(slice(x))), broadcast(31)), broadcast(1))), xor(bitcast-convert(reshape(slice(x))), "
       "shift-right-logical(shift-right-arithmetic(bitcast-convert(reshape(slice(x))), broadcast(31)), "
       "broadcast(1))))), slice(x), slice(x))"},
      {"",  // all of it is read
       "x = f32[2,5] parameter(0)  ROOT s = f32[2,5] sort(x), dimensions={0}, is_stable=true, to_apply=less",
       "sort(x)"},
      {"",
       "x = f32[10,5] parameter(0)  s = f32[10,5] sort(x), dimensions={0}, is_stable=true, to_apply=less  ROOT r = "
       "f32[1,5] slice(s), slice={[0:1], [0:5]}",
       "slice(sort(x))"},
      {"dynamic-slice(x) => x, all of it",
       "x = f32[3] parameter(0)  i = s32[] parameter(1)  ROOT r = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}",
       "x"},
      {"dynamic-slice(x, constants) => slice(x)",
       "x = f32[9] parameter(0)  i = s32[] constant(8)  ROOT r = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}",
       "slice(x)"},
      {"dynamic-slice(x, constants) => slice(x)",
       "x = f32[9] parameter(0)  i = s32[] constant(-5)  ROOT r = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}",
       "slice(x)"},
      {"",
       "x = f32[9] parameter(0)  i = s32[] parameter(1)  ROOT r = f32[3] dynamic-slice(x, i), dynamic_slice_sizes={3}",
       "dynamic-slice(x, i)"},
      {"dynamic-slice(dynamic-update-slice(x, y, i), i) => y",
       "x = f32[9] parameter(0)  y = f32[2] parameter(1)  i = s32[] parameter(2)  a = f32[9] dynamic-update-slice(x, "
       "y, i)  ROOT r = f32[2] dynamic-slice(a, i), dynamic_slice_sizes={2}",
       "y"},
      {"",
       "x = f32[9] parameter(0)  y = f32[2] parameter(1)  i = s32[] parameter(2)  a = f32[9] dynamic-update-slice(x, "
       "y, i)  ROOT r = f32[1] dynamic-slice(a, i), dynamic_slice_sizes={1}",
       "dynamic-slice(dynamic-update-slice(x, y, i), i)"},
      {"dynamic-update-slice(x, y) => y, of the same shape",
       "x = f32[3] parameter(0)  y = f32[3] parameter(1)  i = s32[] parameter(2)  ROOT r = f32[3] "
       "dynamic-update-slice(x, y, i)",
       "y"},
      {"dynamic-update-slice(x, empty) => x",
       "x = f32[3] parameter(0)  y = f32[0] parameter(1)  i = s32[] parameter(2)  ROOT r = f32[3] "
       "dynamic-update-slice(x, y, i)",
       "x"},
      {"gather(x, constant columns) => concatenate(slice(x), slice(x) ...)",
       "x = f32[40,5] parameter(0)  i = s32[3] constant({4, 1, 9})  ROOT r = f32[40,3] gather(x, i), offset_dims={0}, "
       "collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={40,1}",
       "concatenate(slice(x), slice(x), slice(x))"},
      {"",
       "x = f32[40,5] parameter(0)  i = s32[3] constant({4, 1, 9})  ROOT r = f32[3,40] gather(x, i), offset_dims={1}, "
       "collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={40,1}",
       "gather(x, {4, 1, 9})"},
      {"select(p, dynamic-update-slice(x, y, i), x) => "
       "dynamic-update-slice(x, select(p, y, dynamic-slice(x, i)), i)",
       "x = f32[9] parameter(0)  y = f32[2] parameter(1)  i = s32[] parameter(2)  p = pred[] parameter(3)  b = pred[9] "
       "broadcast(p), dimensions={}  a = f32[9] dynamic-update-slice(x, y, i)  ROOT r = f32[9] select(b, a, x)",
       "dynamic-update-slice(x, select(broadcast(p), y, dynamic-slice(x, i)), i)"},
      {"select(p, dynamic-update-slice(x, y, i), x) => "
       "dynamic-update-slice(x, select(p, y, dynamic-slice(x, i)), i)",
       "x = f32[9] parameter(0)  y = f32[2] parameter(1)  i = s32[] parameter(2)  p = pred[] parameter(3)  b = pred[9] "
       "broadcast(p), dimensions={}  a = f32[9] dynamic-update-slice(x, y, i)  ROOT r = f32[9] select(b, x, a)",
       "dynamic-update-slice(x, select(broadcast(p), dynamic-slice(x, i), y), i)"},
      {"",
       "x = f32[9] parameter(0)  y = f32[2] parameter(1)  i = s32[] parameter(2)  p = pred[] parameter(3)  b = pred[9] "
       "parameter(4)  a = f32[9] dynamic-update-slice(x, y, i)  ROOT r = f32[9] select(b, a, x)",
       "select(b, dynamic-update-slice(x, y, i), x)"},
      {"add(x, dynamic-update-slice(0, y, i)) => dynamic-update-slice(x, add(dynamic-slice(x, i), y), i)",
       "x = f32[9,3] parameter(0)  y = f32[1,3] parameter(1)  i = s32[] parameter(2)  o = s32[] constant(0)  z = f32[] "
       "constant(0)  b = f32[9,3] broadcast(z), dimensions={}  a = f32[9,3] dynamic-update-slice(b, y, i, o)  ROOT r = "
       "f32[9,3] add(x, a)",
       "dynamic-update-slice(x, add(dynamic-slice(x, i, 0), y), i, 0)"},
      {"add(x, dynamic-update-slice(0, y, i)) => dynamic-update-slice(x, add(dynamic-slice(x, i), y), i)",
       "x = f32[9] parameter(0)  y = f32[2] parameter(1)  i = s32[] parameter(2)  z = f32[] constant(0)  b = f32[9] "
       "broadcast(z), dimensions={}  a = f32[9] dynamic-update-slice(b, y, i)  ROOT r = f32[9] add(a, x)",
       "dynamic-update-slice(x, add(dynamic-slice(x, i), y), i)"},
      {"",  // the zeros with the update are wanted themselves
       "x = f32[9] parameter(0)  y = f32[2] parameter(1)  i = s32[] parameter(2)  z = f32[] constant(0)  b = f32[9] "
       "broadcast(z), dimensions={}  a = f32[9] dynamic-update-slice(b, y, i)  s = f32[9] add(a, x)  ROOT r = f32[9] "
       "multiply(s, a)",
       "multiply(add(dynamic-update-slice(broadcast(0), y, i), x), dynamic-update-slice(broadcast(0), y, i))"},
      {"",  // no zeros
       "x = f32[9] parameter(0)  y = f32[2] parameter(1)  i = s32[] parameter(2)  z = f32[] constant(1)  b = f32[9] "
       "broadcast(z), dimensions={}  a = f32[9] dynamic-update-slice(b, y, i)  ROOT r = f32[9] add(a, x)",
       "add(dynamic-update-slice(broadcast(1), y, i), x)"},
      {"scatter(x, no updates) => x",
       "x = f32[3] parameter(0)  at = s32[0,1] parameter(1)  u = f32[0] parameter(2)  ROOT r = f32[3] scatter(x, at, "
       "u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
       "to_apply=add",
       "x"},
      {"scatter(empty, y) => empty",
       "x = f32[3,0] parameter(0)  at = s32[2] parameter(1)  u = f32[2] parameter(2)  ROOT r = f32[3,0] scatter(x, at, "
       "u), update_window_dims={0}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=0, "
       "to_apply=add",
       "x"},
      {"scatter(broadcast(s), an index a row, y) => select(iota == index, op(s, y), s)",
       "z = f32[] parameter(0)  x = f32[3,5] broadcast(z), dimensions={}  at = s32[3,1] parameter(1)  u = f32[3] "
       "parameter(2)  ROOT r = f32[3,5] scatter(x, at, u), update_window_dims={}, inserted_window_dims={1}, "
       "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, "
       "index_vector_dim=1, to_apply=add",
       "select(compare(iota(), broadcast(reshape(at))), broadcast(add(broadcast(z), u)), broadcast(z))"},
      {"scatter(broadcast(s), [own position, x], y) => scatter(broadcast(s), x, y), in batches",
       "z = f32[] parameter(0)  x = f32[3,5] broadcast(z), dimensions={}  n = s32[3,1] iota(), iota_dimension=0  y = "
       "s32[3,1] parameter(1)  at = s32[3,2] concatenate(n, y), dimensions={1}  u = f32[3] parameter(2)  ROOT r = "
       "f32[3,5] scatter(x, at, u), update_window_dims={}, inserted_window_dims={0,1}, "
       "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add",
       "select(compare(iota(), broadcast(reshape(y))), broadcast(add(broadcast(z), u)), broadcast(z))"},
      {"scatter(broadcast(s), [own position, x], y) => scatter(broadcast(s), x, y), in batches",
       "z = f32[] parameter(0)  x = f32[5,3] broadcast(z), dimensions={}  n = s32[3,1] iota(), iota_dimension=0  y = "
       "s32[3,1] parameter(1)  at = s32[3,2] concatenate(y, n), dimensions={1}  u = f32[3] parameter(2)  ROOT r = "
       "f32[5,3] scatter(x, at, u), update_window_dims={}, inserted_window_dims={0,1}, "
       "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add",
       "select(compare(iota(), broadcast(reshape(y))), broadcast(add(broadcast(z), u)), broadcast(z))"},
      {"scatter(x, [own position, y], z) => scatter(x, [own position, y], z), of unique indices",
       "z = f32[] parameter(0)  x = f32[4,5] broadcast(z), dimensions={}  n = s32[3,1] iota(), iota_dimension=0  y = "
       "s32[3,1] parameter(1)  at = s32[3,2] concatenate(n, y), dimensions={1}  u = f32[3] parameter(2)  ROOT r = "
       "f32[4,5] scatter(x, at, u), update_window_dims={}, inserted_window_dims={0,1}, "
       "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add",
       "scatter(broadcast(z), concatenate(iota(), y), u)"},
      {"scatter(x, [own position, y], z) => scatter(x, [own position, y], z), of unique indices",
       "x = f32[3,5] parameter(0)  n = s32[3,1] iota(), iota_dimension=0  y = s32[3,1] parameter(1)  at = s32[3,2] "
       "concatenate(n, y), dimensions={1}  u = f32[3] parameter(2)  ROOT r = f32[3,5] scatter(x, at, u), "
       "update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, "
       "to_apply=add",
       "scatter(x, concatenate(iota(), y), u)"},
      {"",
       "x = f32[3,5] parameter(0)  n = s32[3,1] iota(), iota_dimension=1  y = s32[3,1] parameter(1)  at = s32[3,2] "
       "concatenate(y, y), dimensions={1}  u = f32[3] parameter(2)  ROOT r = f32[3,5] scatter(x, at, u), "
       "update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, "
       "to_apply=add",
       "scatter(x, concatenate(y, y), u)"},
      {"",
       "x = f32[3,5] parameter(0)  n = s8[3,1] iota(), iota_dimension=0  y = s8[3,1] parameter(1)  at = s8[3,2] "
       "concatenate(n, y), dimensions={1}  u = f32[3] parameter(2)  ROOT r = f32[3,5] scatter(x, at, u), "
       "update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, "
       "to_apply=add",
       "scatter(x, concatenate(iota(), y), u)"},
      {"",
       "x = f32[3,5] parameter(0)  n = s32[3,2,1] iota(), iota_dimension=0  y = s32[3,2,1] parameter(1)  at = "
       "s32[3,2,2] concatenate(n, y), dimensions={2}  u = f32[3,2] parameter(2)  ROOT r = f32[3,5] scatter(x, at, u), "
       "update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=2, "
       "to_apply=add",
       "scatter(x, concatenate(iota(), y), u)"},
      {"",
       "x = f32[3,5] parameter(0)  m = s32[3,1] iota(), iota_dimension=0  w = s32[3,1] parameter(3)  p = pred[3,1] "
       "parameter(4)  n = s32[3,1] select(p, w, m)  y = s32[3,1] parameter(1)  at = s32[3,2] concatenate(n, y), "
       "dimensions={1}  u = f32[3] parameter(2)  ROOT r = f32[3,5] scatter(x, at, u), update_window_dims={}, "
       "inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add",
       "scatter(x, concatenate(select(p, w, iota()), y), u)"},
      {"scatter(broadcast(s), iota / n, x) => reduce(reshape(x), s)",
       "z = f32[] constant(0)  x = f32[2,3] broadcast(z), dimensions={}  n = s32[6,1] iota(), iota_dimension=0  t = "
       "s32[] constant(2)  ts = s32[6,1] broadcast(t), dimensions={}  at = s32[6,1] divide(n, ts)  u = f32[2,6] "
       "parameter(0)  ROOT r = f32[2,3] scatter(x, at, u), update_window_dims={0}, inserted_window_dims={1}, "
       "scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=add",
       "reduce(reshape(u), 0)"},
      {"scatter(broadcast(s), iota / n, x) => reduce(reshape(x), s)",
       "z = f32[] constant(0)  x = f32[2,3] broadcast(z), dimensions={}  n = s32[6,1] iota(), iota_dimension=0  t = "
       "s32[] constant(2)  ts = s32[6,1] broadcast(t), dimensions={}  at = s32[6,1] divide(n, ts)  u = f32[6,2] "
       "parameter(0)  ROOT r = f32[2,3] scatter(x, at, u), update_window_dims={1}, inserted_window_dims={1}, "
       "scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=add",
       "transpose(reduce(reshape(u), 0))"},
      {"",
       "z = f32[] constant(0)  x = f32[2,4] broadcast(z), dimensions={}  n = s32[6,1] iota(), iota_dimension=0  t = "
       "s32[] constant(2)  ts = s32[6,1] broadcast(t), dimensions={}  at = s32[6,1] divide(n, ts)  u = f32[2,6] "
       "parameter(0)  ROOT r = f32[2,4] scatter(x, at, u), update_window_dims={0}, inserted_window_dims={1}, "
       "scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=add",
       "scatter(broadcast(0), divide(iota(), broadcast(2)), u)"},
      {"",
       "z = f32[] constant(0)  x = f32[2,3] broadcast(z), dimensions={}  at = s32[6,1] "
       "constant({{0},{1},{0},{1},{2},{2}})  u = f32[2,6] parameter(0)  ROOT r = f32[2,3] scatter(x, at, u), "
       "update_window_dims={0}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=1, "
       "to_apply=add",
       "scatter(broadcast(0), { { 0 }, { 1 }, { 0 }, { 1 }, { 2 }, { 2 } }, u)"},
      {"",
       "z = f32[] constant(1)  x = f32[2,3] broadcast(z), dimensions={}  n = s32[6,1] iota(), iota_dimension=0  t = "
       "s32[] constant(2)  ts = s32[6,1] broadcast(t), dimensions={}  at = s32[6,1] divide(n, ts)  u = f32[2,6] "
       "parameter(0)  ROOT r = f32[2,3] scatter(x, at, u), update_window_dims={0}, inserted_window_dims={1}, "
       "scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=add",
       "scatter(broadcast(1), divide(iota(), broadcast(2)), u)"},
      {"",
       "z = f32[] constant(0)  x = f32[3,3] broadcast(z), dimensions={}  n = s32[6,1] iota(), iota_dimension=0  t = "
       "s32[] constant(2)  ts = s32[6,1] broadcast(t), dimensions={}  at = s32[6,1] divide(n, ts)  u = f32[2,6] "
       "parameter(0)  ROOT r = f32[3,3] scatter(x, at, u), update_window_dims={0}, inserted_window_dims={1}, "
       "scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=add",
       "scatter(broadcast(0), divide(iota(), broadcast(2)), u)"},
      {"",
       "z = f32[] constant(0)  x = f32[2,3] broadcast(z), dimensions={}  at = s32[6,1] parameter(1)  u = f32[2,6] "
       "parameter(0)  ROOT r = f32[2,3] scatter(x, at, u), update_window_dims={0}, inserted_window_dims={1}, "
       "scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=add",
       "scatter(broadcast(0), at, u)"},
      {"",
       "z = f32[] constant(0)  x = f32[2,3] broadcast(z), dimensions={}  n = s32[6,1] iota(), iota_dimension=0  t = "
       "s32[] constant(2)  ts = s32[6,1] broadcast(t), dimensions={}  at = s32[6,1] divide(n, ts)  u = f32[2,6] "
       "parameter(0)  ROOT r = f32[2,3] scatter(x, at, u), update_window_dims={0}, inserted_window_dims={1}, "
       "scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=sub",
       "scatter(broadcast(0), divide(iota(), broadcast(2)), u)"},
      {"scatter(x, one index, y) => dynamic-update-slice(x, y)",
       "x = f32[3] parameter(0)  at = s32[1,1] parameter(1)  u = f32[1] parameter(2)  ROOT r = f32[3] scatter(x, at, "
       "u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
       "to_apply=add",
       "dynamic-update-slice(x, select(reshape(compare(convert(reshape(at)), clamp(0, convert(reshape(at)), 2))), "
       "add(dynamic-slice(x, reshape(at)), u), dynamic-slice(x, reshape(at))), reshape(at))"},
      {"",
       "x = f32[3] parameter(0)  at = s32[2,1] parameter(1)  u = f32[2] parameter(2)  ROOT r = f32[3] scatter(x, at, "
       "u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
       "to_apply=add",
       "scatter(x, at, u)"},
      {"gather(op(x), i) => op(gather(x, i)), of fewer elements",
       "x = f32[5,4] parameter(0)  at = s32[2,1] parameter(1)  n = f32[5,4] negate(x)  ROOT r = f32[2,4] gather(n, "
       "at), "
       "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}",
       "negate(gather(x, at))"},
      {"",
       "x = f32[2,4] parameter(0)  at = s32[2,1] parameter(1)  n = f32[2,4] negate(x)  ROOT r = f32[2,4] gather(n, "
       "at), "
       "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}",
       "gather(negate(x), at)"},
      {"gather(x, one index) => reshape(dynamic-slice(x))",
       "x = f32[5,4] parameter(0)  at = s32[1] parameter(1)  ROOT r = f32[4] gather(x, at), offset_dims={0}, "
       "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=0, slice_sizes={1,4}",
       "reshape(dynamic-slice(x, reshape(at), 0))"},
      {"gather(x, one index) => reshape(dynamic-slice(x))",
       "x = f32[5,4] parameter(0)  at = s32[1,2] parameter(1)  ROOT r = f32[1,2,3] gather(x, at), offset_dims={1,2}, "
       "collapsed_slice_dims={}, start_index_map={1,0}, index_vector_dim=1, slice_sizes={2,3}",
       "reshape(dynamic-slice(x, reshape(slice(reshape(at))), reshape(slice(reshape(at)))))"},
      {"",
       "x = f32[5] parameter(0)  at = s32[1] parameter(1)  ROOT r = f32[] gather(x, at), offset_dims={}, "
       "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=0, slice_sizes={0}",
       "gather(x, at)"},
      {"",
       "x = f32[5,4] parameter(0)  at = s32[2] constant({3, 1})  ROOT r = f32[5,2] gather(x, at), offset_dims={0}, "
       "collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={5,0}",
       "gather(x, {3, 1})"},
      {"",
       "x = f32[5,4] parameter(0)  at = s32[2,1] parameter(1)  ROOT r = f32[2,4] gather(x, at), offset_dims={1}, "
       "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}",
       "gather(x, at)"},
      {"gather(x, windows of one element) => reshape(gather(x)), collapsed",
       "x = f32[5,4] parameter(0)  at = s32[2,2] parameter(1)  ROOT r = f32[2,1,1] gather(x, at), offset_dims={1,2}, "
       "collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1}",
       "reshape(gather(x, at))"},
      {"reduce(empty, init) => broadcast(init)",
       "x = f32[3,0] parameter(0)  z = f32[] parameter(1)  ROOT r = f32[3] reduce(x, z), dimensions={1}, "
       "to_apply=twice",
       "broadcast(z)"},
      {"reduce(x, init) => op(init, x), of dimensions of size 1",
       "x = f32[3,1] parameter(0)  z = f32[] parameter(1)  ROOT r = f32[3] reduce(x, z), dimensions={1}, to_apply=add",
       "add(broadcast(z), reshape(x))"},
      {"reduce(x, init) => op(init, x), of dimensions of size 1",
       "x = f32[3,1] parameter(0)  z = f32[] parameter(1)  ROOT r = f32[3] reduce(x, z), dimensions={1}, to_apply=sub",
       "subtract(reshape(x), broadcast(z))"},
      {"",
       "x = f32[3,2] parameter(0)  z = f32[] parameter(1)  ROOT r = f32[3] reduce(x, z), dimensions={1}, to_apply=add",
       "reduce(x, z)"},
      {"",
       "x = f32[3,1] parameter(0)  z = f32[] parameter(1)  ROOT r = f32[3] reduce(x, z), dimensions={1}, "
       "to_apply=twice",
       "reduce(x, z)"},
      {"dot(transpose(x), y) => dot(x, y)",
       "x = f32[3,2] parameter(0)  y = f32[3,4] parameter(1)  t = f32[2,3] transpose(x), dimensions={1,0}  ROOT r = "
       "f32[2,4] dot(t, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
       "dot(x, y)"},
      {"dot(transpose(x), y) => dot(x, y)",
       "x = f32[2,5,3] parameter(0)  y = f32[5,4,3] parameter(1)  t = f32[5,3,4] transpose(y), dimensions={0,2,1}  u = "
       "f32[5,2,3] transpose(x), dimensions={1,0,2}  ROOT r = f32[5,2,4] dot(u, t), lhs_batch_dims={0}, "
       "rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
       "dot(x, y)"},
      {"dot(transpose(x), y) => dot(x, y)",
       "x = f32[2,3,5] parameter(0)  y = f32[5,4,3] parameter(1)  t = f32[5,3,4] transpose(y), dimensions={0,2,1}  u = "
       "f32[5,2,3] transpose(x), dimensions={2,0,1}  ROOT r = f32[5,2,4] dot(u, t), lhs_batch_dims={0}, "
       "rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
       "dot(transpose(x), y)"},
      {"",
       "x = f32[3,2,5] parameter(0)  y = f32[3,4] parameter(1)  t = f32[5,2,3] transpose(x), dimensions={2,1,0}  ROOT "
       "r = f32[5,2,4] dot(t, y), lhs_contracting_dims={2}, rhs_contracting_dims={0}",
       "dot(transpose(x), y)"},
      {"transpose(dot(x, y)) => dot(y, x)",
       "x = f32[2,3] parameter(0)  y = f32[3,4] parameter(1)  d = f32[2,4] dot(x, y), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={0}  ROOT r = f32[4,2] transpose(d), dimensions={1,0}",
       "dot(y, x)"},
      {"transpose(dot(x, y)) => dot(y, x)",
       "x = f32[5,2,6,3] parameter(0)  y = f32[5,3,4] parameter(1)  d = f32[5,2,6,4] dot(x, y), lhs_batch_dims={0}, "
       "rhs_batch_dims={0}, lhs_contracting_dims={3}, rhs_contracting_dims={1}  ROOT r = f32[5,4,2,6] transpose(d), "
       "dimensions={0,3,1,2}",
       "dot(y, x)"},
      {"",
       "x = f32[5,2,6,3] parameter(0)  y = f32[5,3,4] parameter(1)  d = f32[5,2,6,4] dot(x, y), lhs_batch_dims={0}, "
       "rhs_batch_dims={0}, lhs_contracting_dims={3}, rhs_contracting_dims={1}  ROOT r = f32[5,4,6,2] transpose(d), "
       "dimensions={0,3,2,1}",
       "transpose(dot(x, y))"},
      {"",
       "x = f32[2,3] parameter(0)  y = f32[3,2] parameter(1)  d = f32[2,2] dot(x, y), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={0}  t = f32[2,2] transpose(d), dimensions={1,0}  ROOT r = f32[2,2] add(d, t)",
       "add(dot(x, y), transpose(dot(x, y)))"},
  };
}

inline std::vector<SimplifierCase> StructureCases() {
  return {
      {"get-tuple-element(tuple(x, ...)) => x",
       "x = f32[2] parameter(0)  y = f32[3] parameter(1)  t = (f32[2], f32[3]) tuple(x, y)  ROOT r = f32[3] "
       "get-tuple-element(t), index=1",
       "y"},
      {"", "t = (f32[2], f32[3]) parameter(0)  ROOT r = f32[3] get-tuple-element(t), index=1",
       "get-tuple-element#1(t)"},
      {"get-tuple-element(while) => element of its init, if no iteration changes it",
       "n = s32[] parameter(0)  x = f32[2] parameter(1)  t = (s32[], f32[2]) tuple(n, x)  w = (s32[], f32[2]) "
       "while(t), condition=more, body=keep  ROOT r = f32[2] get-tuple-element(w), index=1",
       "x"},
      {"",
       "n = s32[] parameter(0)  x = f32[2] parameter(1)  t = (s32[], f32[2]) tuple(n, x)  w = (s32[], f32[2]) "
       "while(t), condition=more, body=keep  ROOT r = s32[] get-tuple-element(w), index=0",
       "get-tuple-element#0(while(tuple(n, x)))"},
      {"tuple(all elements of x) => x",
       "t = (f32[2], f32[3]) parameter(0)  a = f32[2] get-tuple-element(t), index=0  b = f32[3] get-tuple-element(t), "
       "index=1  ROOT r = (f32[2], f32[3]) tuple(a, b)",
       "t"},
      {"",
       "t = (f32[2], f32[2]) parameter(0)  a = f32[2] get-tuple-element(t), index=0  b = f32[2] get-tuple-element(t), "
       "index=1  ROOT r = (f32[2], f32[2]) tuple(b, a)",
       "tuple(get-tuple-element#1(t), get-tuple-element#0(t))"},
      {"conditional(constant, ...) => call",
       "x = f32[2] parameter(0)  y = f32[2] parameter(1)  p = pred[] constant(false)  ROOT r = f32[2] conditional(p, "
       "x, y), true_computation=first, false_computation=second",
       "call(y)"},
      {"conditional(constant, ...) => call",
       "x = f32[2] parameter(0)  y = f32[2] parameter(1)  p = s32[] constant(-7)  ROOT r = f32[2] conditional(p, x, "
       "y), branch_computations={first, second}",
       "call(y)"},
      {"",
       "x = f32[2] parameter(0)  p = pred[] parameter(1)  ROOT r = f32[2] conditional(p, x, x), "
       "true_computation=first, false_computation=second",
       "conditional(p, x, x)"},
      {"while(x), of a condition that is false => x",
       "t = (s32[], f32[2]) parameter(0)  ROOT w = (s32[], f32[2]) while(t), condition=never, body=keep", "t"},
      {"opt-barrier(tuple(x, ...)) => opt-barrier(tuple of the elements that are read)",
       "x = f32[2] parameter(0)  y = f32[3] parameter(1)  t = (f32[2], f32[3]) tuple(x, y)  b = (f32[2], f32[3]) "
       "opt-barrier(t)  ROOT r = f32[3] get-tuple-element(b), index=1",
       "get-tuple-element#0(opt-barrier(tuple(y)))"},
      {"", "x = f32[2] parameter(0)  ROOT r = f32[2] opt-barrier(x)", "opt-barrier(x)"},
  };
}

}  // namespace hilo::testing

#endif  // HILO_TESTS_UNIT_HLO_PASSES_SIMPLIFY_CASES_H_
