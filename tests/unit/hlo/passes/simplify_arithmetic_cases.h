// The simplifier's arithmetic rules: programs, and what they become.
#ifndef HILO_TESTS_UNIT_HLO_PASSES_SIMPLIFY_ARITHMETIC_CASES_H_
#define HILO_TESTS_UNIT_HLO_PASSES_SIMPLIFY_ARITHMETIC_CASES_H_

#include <vector>

#include "tests/unit/hlo/passes/simplify_cases.h"

namespace hilo::testing {

inline std::vector<SimplifierCase> ArithmeticCases() {
  return {
      {"add(x, 0) => x, integers",
       "x = s32[8] parameter(0)  z = s32[] constant(0)  b = s32[8] broadcast(z), dimensions={}  ROOT r = s32[8] add(x, "
       "b)",
       "x"},
      {"add(0, x) => x, integers",
       "x = u8[8] parameter(0)  z = u8[] constant(0)  b = u8[8] broadcast(z), dimensions={}  ROOT r = u8[8] add(b, x)",
       "x"},
      {"",
       "x = s32[8] parameter(0)  z = s32[] constant(1)  b = s32[8] broadcast(z), dimensions={}  ROOT r = s32[8] add(x, "
       "b)",
       "add(x, broadcast(1))"},
      {"add(x, -0) => x",
       "x = f32[8] parameter(0)  z = f32[] constant(-0)  b = f32[8] broadcast(z), dimensions={}  ROOT r = f32[8] "
       "add(x, b)",
       "x"},
      {"add(x, 0) => x",
       "x = f32[8] parameter(0)  z = f32[] constant(0)  b = f32[8] broadcast(z), dimensions={}  ROOT r = f32[8] add(x, "
       "b)",
       "x"},
      {"add(0, x) => x",
       "x = f32[8] parameter(0)  z = f32[] constant(0)  b = f32[8] broadcast(z), dimensions={}  ROOT r = f32[8] add(b, "
       "x)",
       "x"},
      {"",
       "x = c64[8] parameter(0)  z = c64[] constant((0, 0))  b = c64[8] broadcast(z), dimensions={}  ROOT r = c64[8] "
       "add(x, b)",
       "add(x, broadcast((0, 0)))"},
      {"subtract(x, 0) => x",
       "x = f32[8] parameter(0)  z = f32[] constant(0)  b = f32[8] broadcast(z), dimensions={}  ROOT r = f32[8] "
       "subtract(x, b)",
       "x"},
      {"",
       "x = f32[8] parameter(0)  z = f32[] constant(-0)  b = f32[8] broadcast(z), dimensions={}  ROOT r = f32[8] "
       "subtract(x, b)",
       "subtract(x, broadcast(-0))"},
      {"subtract(x, x) => 0, integers", "x = s32[8] parameter(0)  ROOT r = s32[8] subtract(x, x)", "broadcast(0)"},
      {"", "x = f32[8] parameter(0)  ROOT r = f32[8] subtract(x, x)", "subtract(x, x)"},
      {"multiply(x, 1) => x",
       "x = bf16[8] parameter(0)  z = bf16[] constant(1)  b = bf16[8] broadcast(z), dimensions={}  ROOT r = bf16[8] "
       "multiply(x, b)",
       "x"},
      {"multiply(1, x) => x",
       "x = f32[8] parameter(0)  z = f32[] constant(1)  b = f32[8] broadcast(z), dimensions={}  ROOT r = f32[8] "
       "multiply(b, x)",
       "x"},
      {"compare(x, 0) => compare(maximum(x, 0), 0), where x has no other users",
       "x = f32[8] parameter(0)  n = f32[8] negate(x)  z = f32[] constant(0)  b = f32[8] broadcast(z), dimensions={}  "
       "m = f32[8] maximum(n, b)  c = pred[8] compare(n, b), direction=GT  ROOT r = f32[8] select(c, m, x)",
       "select(compare(maximum(negate(x), broadcast(0)), broadcast(0)), maximum(negate(x), broadcast(0)), x)"},
      {"compare(x, 0) => compare(maximum(x, 0), 0), where x has no other users",
       "x = f32[8] parameter(0)  n = f32[8] negate(x)  z = f32[] constant(0)  b = f32[8] broadcast(z), dimensions={}  "
       "m = f32[8] maximum(n, b)  c = pred[8] compare(n, b), direction=LE  ROOT r = f32[8] select(c, m, x)",
       "select(compare(maximum(negate(x), broadcast(0)), broadcast(0)), maximum(negate(x), broadcast(0)), x)"},
      {"",
       "x = f32[8] parameter(0)  n = f32[8] negate(x)  z = f32[] constant(0)  b = f32[8] broadcast(z), dimensions={}  "
       "m = f32[8] maximum(n, b)  c = pred[8] compare(n, b), direction=GE  ROOT r = f32[8] select(c, m, x)",
       "select(compare(negate(x), broadcast(0)), maximum(negate(x), broadcast(0)), x)"},
      {"",
       "x = f32[8] parameter(0)  n = f32[8] negate(x)  z = f32[] constant(1)  b = f32[8] broadcast(z), dimensions={}  "
       "m = f32[8] maximum(n, b)  c = pred[8] compare(n, b), direction=GT  ROOT r = f32[8] select(c, m, x)",
       "select(compare(negate(x), broadcast(1)), maximum(negate(x), broadcast(1)), x)"},
      {"multiply(x, 1 + 0i) => x",
       "x = c64[8] parameter(0)  z = c64[] constant((1, 0))  b = c64[8] broadcast(z), dimensions={}  ROOT r = c64[8] "
       "multiply(x, b)",
       "x"},
      {"multiply(1 + 0i, x) => x",
       "x = c128[8] parameter(0)  z = c128[] constant((1, 0))  b = c128[8] broadcast(z), dimensions={}  ROOT r = "
       "c128[8] multiply(b, x)",
       "x"},
      {"",
       "x = c64[8] parameter(0)  z = c64[] constant((1, 1))  b = c64[8] broadcast(z), dimensions={}  ROOT r = c64[8] "
       "multiply(x, b)",
       "multiply(x, broadcast((1, 1)))"},
      {"multiply(x, -1) => negate(x)",
       "x = f32[12] parameter(0)  z = f32[] constant(-1)  b = f32[12] broadcast(z), dimensions={}  ROOT r = f32[12] "
       "multiply(x, b)",
       "negate(x)"},
      {"multiply(x, -1) => negate(x)",
       "x = s32[12] parameter(0)  z = s32[] constant(-1)  b = s32[12] broadcast(z), dimensions={}  ROOT r = s32[12] "
       "multiply(b, x)",
       "negate(x)"},
      {"multiply(x, convert(p)) => select(p, x, 0), of a truth value",
       "x = f32[6] parameter(0)  p = pred[6] parameter(1)  f = f32[6] convert(p)  ROOT r = f32[6] multiply(f, x)",
       "select(p, x, broadcast(0))"},
      {"",  // of a number
       "x = f32[6] parameter(0)  p = s8[6] parameter(1)  f = f32[6] convert(p)  ROOT r = f32[6] multiply(f, x)",
       "multiply(convert(p), x)"},
      {"multiply(x, 0) => 0, integers",
       "x = s32[8] parameter(0)  z = s32[] constant(0)  b = s32[8] broadcast(z), dimensions={}  ROOT r = s32[8] "
       "multiply(x, b)",
       "broadcast(0)"},
      {"",
       "x = f32[8] parameter(0)  z = f32[] constant(0)  b = f32[8] broadcast(z), dimensions={}  ROOT r = f32[8] "
       "multiply(x, b)",
       "multiply(x, broadcast(0))"},
      {"divide(x, 1) => x",
       "x = s32[8] parameter(0)  z = s32[] constant(1)  b = s32[8] broadcast(z), dimensions={}  ROOT r = s32[8] "
       "divide(x, b)",
       "x"},
      {"divide(x, 1 + 0i) => x",
       "x = c64[8] parameter(0)  z = c64[] constant((1, 0))  b = c64[8] broadcast(z), dimensions={}  ROOT r = c64[8] "
       "divide(x, b)",
       "x"},
      {"divide(x, 2^n) => multiply(x, 2^-n)",
       "x = f32[12] parameter(0)  z = f32[] constant(8)  b = f32[12] broadcast(z), dimensions={}  ROOT r = f32[12] "
       "divide(x, b)",
       "multiply(x, broadcast(0.125))"},
      {"divide(x, 2^n) => multiply(x, 2^-n)",
       "x = f16[12] parameter(0)  z = f16[] constant(-2048)  b = f16[12] broadcast(z), dimensions={}  ROOT r = f16[12] "
       "divide(x, b)",
       "multiply(x, broadcast(-0.0004883))"},
      {"divide(x, c) => multiply(x, 1 / c)",
       "x = f32[8] parameter(0)  z = f32[] constant(3)  b = f32[8] broadcast(z), dimensions={}  ROOT r = f32[8] "
       "divide(x, b)",
       "multiply(x, broadcast(0.33333334))"},
      {"",
       "x = f16[8] parameter(0)  z = f16[] constant(3)  b = f16[8] broadcast(z), dimensions={}  ROOT r = f16[8] "
       "divide(x, b)",
       "divide(x, broadcast(3))"},
      {"divide(x, power(y, c)) => multiply(x, power(y, -c))",
       "x = f32[2,3] parameter(0)  y = f32[2] parameter(1)  z = f32[] constant(0.5)  b = f32[2] broadcast(z), "
       "dimensions={}  p = f32[2] power(y, b)  q = f32[2,3] broadcast(p), dimensions={0}  ROOT r = f32[2,3] divide(x, "
       "q)",
       "multiply(x, broadcast(power(y, broadcast(-0.5))))"},
      {"power(sqrt(x), c) => power(x, c / 2), of squares and their like",
       "x = f32[8] parameter(0)  s = f32[8] abs(x)  q = f32[8] sqrt(s)  z = f32[] constant(1.5)  b = f32[8] "
       "broadcast(z), dimensions={}  ROOT r = f32[8] power(q, b)",
       "power(abs(x), broadcast(0.75))"},
      {"",
       "x = f32[8] parameter(0)  q = f32[8] sqrt(x)  z = f32[] constant(1.5)  b = f32[8] broadcast(z), dimensions={}  "
       "ROOT r = f32[8] power(q, b)",
       "power(sqrt(x), broadcast(1.5))"},
      {"",
       "x = s32[8] parameter(0)  z = s32[] constant(4)  b = s32[8] broadcast(z), dimensions={}  ROOT r = s32[8] "
       "divide(x, b)",
       "divide(x, broadcast(4))"},
      {"",
       "x = f32[8] parameter(0)  z = f32[] constant(0)  b = f32[8] broadcast(z), dimensions={}  ROOT r = f32[8] "
       "divide(x, b)",
       "divide(x, broadcast(0))"},
      {"power(x, 1) => x",
       "x = f32[8] parameter(0)  z = f32[] constant(1)  b = f32[8] broadcast(z), dimensions={}  ROOT r = f32[8] "
       "power(x, b)",
       "x"},
      {"power(x, 2) => multiply(x, x)",
       "x = f32[8] parameter(0)  z = f32[] constant(2)  b = f32[8] broadcast(z), dimensions={}  ROOT r = f32[8] "
       "power(x, b)",
       "multiply(x, x)"},
      {"",
       "x = f32[8] parameter(0)  z = f32[] constant(3)  b = f32[8] broadcast(z), dimensions={}  ROOT r = f32[8] "
       "power(x, b)",
       "power(x, broadcast(3))"},
      {"negate(negate(x)) => x", "x = s32[12] parameter(0)  n = s32[12] negate(x)  ROOT r = s32[12] negate(n)", "x"},
      {"", "x = f32[8] parameter(0)  n = f32[8] abs(x)  ROOT r = f32[8] negate(n)", "negate(abs(x))"},
      {"not(not(x)) => x", "x = s32[8] parameter(0)  n = s32[8] not(x)  ROOT r = s32[8] not(n)", "x"},
      {"not(compare(x, y)) => the opposite compare(x, y), integers",
       "x = s32[8] parameter(0)  y = s32[8] parameter(1)  c = pred[8] compare(x, y), direction=LE  ROOT r = pred[8] "
       "not(c)",
       "compare(x, y)"},
      {"",
       "x = f32[8] parameter(0)  y = f32[8] parameter(1)  c = pred[8] compare(x, y), direction=LE  ROOT r = pred[8] "
       "not(c)",
       "not(compare(x, y))"},
      {"compare(x, x) => constant, integers", "x = s32[8] parameter(0)  ROOT r = pred[8] compare(x, x), direction=GE",
       "broadcast(true)"},
      {"compare(x, x) => constant, integers", "x = s32[8] parameter(0)  ROOT r = pred[8] compare(x, x), direction=LT",
       "broadcast(false)"},
      {"", "x = f32[8] parameter(0)  ROOT r = pred[8] compare(x, x), direction=EQ", "compare(x, x)"},
      {"compare(x, y) => constant, of integers whose ranges decide",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(0)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=LT",
       "broadcast(false)"},
      {"compare(x, y) => constant, of integers whose ranges decide",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(0)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=GE",
       "broadcast(true)"},
      {"compare(x, y) => constant, of integers whose ranges decide",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(8)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=LT",
       "broadcast(true)"},
      {"compare(x, y) => constant, of integers whose ranges decide",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(8)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=GE",
       "broadcast(false)"},
      {"compare(x, y) => constant, of integers whose ranges decide",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(7)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=GT",
       "broadcast(false)"},
      {"compare(x, y) => constant, of integers whose ranges decide",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(7)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=LE",
       "broadcast(true)"},
      {"compare(x, y) => constant, of integers whose ranges decide",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(-1)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=GT",
       "broadcast(true)"},
      {"compare(x, y) => constant, of integers whose ranges decide",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(-1)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=LE",
       "broadcast(false)"},
      {"compare(x, y) => constant, of integers whose ranges decide",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(8)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=EQ",
       "broadcast(false)"},
      {"compare(x, y) => constant, of integers whose ranges decide",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(-1)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=NE",
       "broadcast(true)"},
      {"compare(x, y) => compare(x, y) of S32, of affine indices of S64 that fit",
       "i = s64[4,8] iota(), iota_dimension=0  j = s64[4,8] iota(), iota_dimension=1  c = s64[] constant(-2)  b = "
       "s64[4,8] broadcast(c), dimensions={}  k = s64[4,8] add(i, b)  ROOT r = pred[4,8] compare(k, j), direction=GE",
       "compare(add(broadcast(-2), iota()), iota())"},
      {"compare(x, y) => compare(x, y) of S32, of affine indices of S64 that fit",
       "i = s64[8] iota(), iota_dimension=0  c = s64[] constant(3)  b = s64[8] broadcast(c), dimensions={}  k = s64[8] "
       "multiply(i, b)  d = s64[] constant(7)  e = s64[8] broadcast(d), dimensions={}  ROOT r = pred[8] compare(k, e), "
       "direction=LT",
       "compare(multiply(iota(), broadcast(3)), broadcast(7))"},
      {"",
       "i = s64[8] iota(), iota_dimension=0  c = s64[] constant(1000000000)  b = s64[8] broadcast(c), dimensions={}  k "
       "= s64[8] multiply(i, b)  ROOT r = pred[8] compare(k, b), direction=LT",
       "compare(multiply(iota(), broadcast(1000000000)), broadcast(1000000000))"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(1)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=LT",
       "compare(iota(), broadcast(1))"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(7)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=LT",
       "compare(iota(), broadcast(7))"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(1)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=GE",
       "compare(iota(), broadcast(1))"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(7)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=GE",
       "compare(iota(), broadcast(7))"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(0)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=GT",
       "compare(iota(), broadcast(0))"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(6)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=GT",
       "compare(iota(), broadcast(6))"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(0)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=LE",
       "compare(iota(), broadcast(0))"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(6)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=LE",
       "compare(iota(), broadcast(6))"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(0)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=EQ",
       "compare(iota(), broadcast(0))"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(7)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=NE",
       "compare(iota(), broadcast(7))"},
      {"",
       "x = u8[8] parameter(0)  z = u8[] constant(255)  b = u8[8] broadcast(z), dimensions={}  ROOT r = pred[8] "
       "compare(x, b), direction=LT",
       "compare(x, broadcast(255))"},
      {"",
       "i = f32[8] iota(), iota_dimension=0  z = f32[] constant(0)  b = f32[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] compare(i, b), direction=LT",
       "compare(iota(), broadcast(0))"},
      {"maximum(x, y) => x, of integers that are never less than y",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(0)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "s32[8] maximum(i, b)",
       "iota()"},
      {"maximum(x, y) => x, of integers that are never less than y",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(0)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "s32[8] maximum(b, i)",
       "iota()"},
      {"maximum(x, y) => x, of integers that are never less than y",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(7)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "s32[8] maximum(i, b)",
       "broadcast(7)"},
      {"maximum(x, y) => x, of integers that are never less than y",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(7)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "s32[8] maximum(b, i)",
       "broadcast(7)"},
      {"minimum(x, y) => x, of integers that are never more than y",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(7)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "s32[8] minimum(i, b)",
       "iota()"},
      {"minimum(x, y) => x, of integers that are never more than y",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(7)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "s32[8] minimum(b, i)",
       "iota()"},
      {"minimum(x, y) => x, of integers that are never more than y",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(0)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "s32[8] minimum(i, b)",
       "broadcast(0)"},
      {"minimum(x, y) => x, of integers that are never more than y",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(0)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "s32[8] minimum(b, i)",
       "broadcast(0)"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(1)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "s32[8] maximum(i, b)",
       "maximum(iota(), broadcast(1))"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(6)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "s32[8] maximum(i, b)",
       "maximum(iota(), broadcast(6))"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(1)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "s32[8] minimum(i, b)",
       "minimum(iota(), broadcast(1))"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(6)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "s32[8] minimum(i, b)",
       "minimum(iota(), broadcast(6))"},
      {"clamp(x, y, z) => y, of integers that are between the bounds",
       "i = s32[8] iota(), iota_dimension=0  l = s32[] constant(0)  h = s32[] constant(7)  ROOT r = s32[8] clamp(l, i, "
       "h)",
       "iota()"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  l = s32[] constant(1)  h = s32[] constant(7)  ROOT r = s32[8] clamp(l, i, "
       "h)",
       "clamp(1, iota(), 7)"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  l = s32[] constant(0)  h = s32[] constant(6)  ROOT r = s32[8] clamp(l, i, "
       "h)",
       "clamp(0, iota(), 6)"},
      {"remainder(x, y) => x, of integers that are less than y",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(8)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "s32[8] remainder(i, b)",
       "iota()"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(7)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "s32[8] remainder(i, b)",
       "remainder(iota(), broadcast(7))"},
      {"",
       "i = s32[8] iota(), iota_dimension=0  z = s32[] constant(-9)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "s32[8] remainder(i, b)",
       "remainder(iota(), broadcast(-9))"},
      {"",
       "x = s32[8] parameter(0)  z = s32[] constant(2147483647)  b = s32[8] broadcast(z), dimensions={}  ROOT r = "
       "s32[8] remainder(x, b)",
       "remainder(x, broadcast(2147483647))"},
      {"remainder(x, y) => in 32 bits, of integers of 64 bits that are small",
       "i = s64[8] iota(), iota_dimension=0  y = s64[8] parameter(0)  ROOT r = s64[8] remainder(i, y)",
       "convert(remainder(convert(iota()), convert(clamp(broadcast(-2147483647), y, broadcast(2147483647)))))"},
      {"divide(x, y) => in 32 bits, of integers of 64 bits that are small",
       "i = s64[8] iota(), iota_dimension=0  d = s64[] constant(7)  e = s64[8] broadcast(d), dimensions={}  ROOT r = "
       "s64[8] divide(i, e)",
       "convert(divide(convert(iota()), broadcast(convert(7))))"},
      // -2^31 by -1 is no number of 32 bits.
      {"", "x = s32[8] parameter(0)  y = s64[8] parameter(1)  i = s64[8] convert(x)  ROOT r = s64[8] remainder(i, y)",
       "remainder(convert(x), y)"},
      {"", "i = s64[4] iota(), iota_dimension=0  y = s64[4] parameter(0)  ROOT r = s64[4] divide(i, y)",
       "divide(iota(), y)"},
      {"and(x, true) => x",
       "x = pred[8] parameter(0)  z = pred[] constant(true)  b = pred[8] broadcast(z), dimensions={}  ROOT r = pred[8] "
       "and(x, b)",
       "x"},
      {"and(true, x) => x",
       "x = pred[8] parameter(0)  z = pred[] constant(true)  b = pred[8] broadcast(z), dimensions={}  ROOT r = pred[8] "
       "and(b, x)",
       "x"},
      {"",
       "x = s32[8] parameter(0)  z = s32[] constant(1)  b = s32[8] broadcast(z), dimensions={}  ROOT r = s32[8] and(x, "
       "b)",
       "and(x, broadcast(1))"},
      {"and(x, x) => x", "x = s32[8] parameter(0)  ROOT r = s32[8] and(x, x)", "x"},
      {"or(x, x) => x", "x = s32[8] parameter(0)  ROOT r = s32[8] or(x, x)", "x"},
      {"or(x, false) => x",
       "x = s32[8] parameter(0)  z = s32[] constant(0)  b = s32[8] broadcast(z), dimensions={}  ROOT r = s32[8] or(x, "
       "b)",
       "x"},
      {"or(false, x) => x",
       "x = pred[8] parameter(0)  z = pred[] constant(false)  b = pred[8] broadcast(z), dimensions={}  ROOT r = "
       "pred[8] or(b, x)",
       "x"},
      {"xor(x, 0) => x",
       "x = s32[8] parameter(0)  z = s32[] constant(0)  b = s32[8] broadcast(z), dimensions={}  ROOT r = s32[8] xor(x, "
       "b)",
       "x"},
      {"", "x = s32[8] parameter(0)  ROOT r = s32[8] xor(x, x)", "xor(x, x)"},
      {"maximum(x, x) => x", "x = f32[12] parameter(0)  ROOT r = f32[12] maximum(x, x)", "x"},
      {"minimum(x, x) => x", "x = f32[12] parameter(0)  ROOT r = f32[12] minimum(x, x)", "x"},
      {"", "x = f32[12] parameter(0)  y = f32[12] parameter(1)  ROOT r = f32[12] minimum(x, y)", "minimum(x, y)"},
      {"maximum(x, -inf) => x", "x = f32[] parameter(0)  c = f32[] constant(-inf)  ROOT r = f32[] maximum(x, c)", "x"},
      {"maximum(-inf, x) => x", "x = f32[] parameter(0)  c = f32[] constant(-inf)  ROOT r = f32[] maximum(c, x)", "x"},
      {"minimum(x, inf) => x", "x = f32[] parameter(0)  c = f32[] constant(inf)  ROOT r = f32[] minimum(x, c)", "x"},
      {"minimum(inf, x) => x", "x = f32[] parameter(0)  c = f32[] constant(inf)  ROOT r = f32[] minimum(c, x)", "x"},
      {"", "x = f32[] parameter(0)  c = f32[] constant(inf)  ROOT r = f32[] maximum(x, c)", "maximum(x, inf)"},
      {"", "x = f32[] parameter(0)  c = f32[] constant(-inf)  ROOT r = f32[] minimum(x, c)", "minimum(x, -inf)"},
      {"", "x = f32[] parameter(0)  c = f32[] constant(-3e38)  ROOT r = f32[] maximum(x, c)", "maximum(x, -3e+38)"},
      {"select(true, x, y) => x",
       "x = f32[8] parameter(0)  y = f32[8] parameter(1)  p = pred[] constant(true)  ROOT r = f32[8] select(p, x, y)",
       "x"},
      {"select(false, x, y) => y",
       "x = f32[8] parameter(0)  y = f32[8] parameter(1)  p = pred[] constant(false)  b = pred[8] broadcast(p), "
       "dimensions={}  ROOT r = f32[8] select(b, x, y)",
       "y"},
      {"select(p, x, x) => x", "x = f32[8] parameter(0)  p = pred[8] parameter(1)  ROOT r = f32[8] select(p, x, x)",
       "x"},
      {"select(not(p), x, y) => select(p, y, x)",
       "x = f32[8] parameter(0)  y = f32[8] parameter(1)  p = pred[8] parameter(2)  n = pred[8] not(p)  ROOT r = "
       "f32[8] select(n, x, y)",
       "select(p, y, x)"},
      {"",
       "x = f32[8] parameter(0)  y = f32[8] parameter(1)  p = pred[8] parameter(2)  ROOT r = f32[8] select(p, x, y)",
       "select(p, x, y)"},
      {"convert(x) => x, of the same type", "x = f32[8] parameter(0)  ROOT r = f32[8] convert(x)", "x"},
      {"convert(convert(x)) => convert(x), by way of a type that holds every x",
       "x = bf16[12] parameter(0)  w = f32[12] convert(x)  ROOT r = bf16[12] convert(w)", "x"},
      {"convert(convert(x)) => convert(x), by way of a type that holds every x",
       "x = s8[12] parameter(0)  w = s32[12] convert(x)  ROOT r = f16[12] convert(w)", "convert(x)"},
      {"convert(convert(x)) => convert(x), by way of a type that holds every x",
       "x = pred[12] parameter(0)  w = f32[12] convert(x)  ROOT r = bf16[12] convert(w)", "convert(x)"},
      {"", "x = s8[12] parameter(0)  w = f32[12] convert(x)  ROOT r = u8[12] convert(w)",
       "convert(convert(x))"},  // saturates, where s8 to u8 wraps
      {"", "x = f32[12] parameter(0)  w = bf16[12] convert(x)  ROOT r = f32[12] convert(w)", "convert(convert(x))"},
      {"", "x = s32[12] parameter(0)  w = f32[12] convert(x)  ROOT r = s32[12] convert(w)", "convert(convert(x))"},
      {"", "x = s8[12] parameter(0)  w = u32[12] convert(x)  ROOT r = s64[12] convert(w)", "convert(convert(x))"},
      {"", "x = f16[12] parameter(0)  w = bf16[12] convert(x)  ROOT r = f32[12] convert(w)", "convert(convert(x))"},
      {"bitcast-convert(x) => x, of the same type", "x = f32[8] parameter(0)  ROOT r = f32[8] bitcast-convert(x)", "x"},
      {"", "x = f32[8] parameter(0)  ROOT r = s32[8] bitcast-convert(x)", "bitcast-convert(x)"},
      {"real(complex(x, y)) => x",
       "x = f32[8] parameter(0)  y = f32[8] parameter(1)  c = c64[8] complex(x, y)  ROOT r = f32[8] real(c)", "x"},
      {"imag(complex(x, y)) => y",
       "x = f32[8] parameter(0)  y = f32[8] parameter(1)  c = c64[8] complex(x, y)  ROOT r = f32[8] imag(c)", "y"},
      {"complex(real(z), imag(z)) => z",
       "z = c64[8] parameter(0)  x = f32[8] real(z)  y = f32[8] imag(z)  ROOT c = c64[8] complex(x, y)", "z"},
      {"", "z = c64[8] parameter(0)  x = f32[8] real(z)  y = f32[8] imag(z)  ROOT c = c64[8] complex(y, x)",
       "complex(imag(z), real(z))"},
      {"op(broadcast(x), broadcast(y)) => broadcast(op(x, y))",
       "x = f32[3] parameter(0)  y = f32[3] parameter(1)  a = f32[4,3] broadcast(x), dimensions={1}  b = f32[4,3] "
       "broadcast(y), dimensions={1}  ROOT r = f32[4,3] maximum(a, b)",
       "broadcast(maximum(x, y))"},
      {"op(broadcast(x), broadcast(y)) => broadcast(op(x, y))",
       "x = f32[3] parameter(0)  y = f32[] parameter(1)  a = f32[4,3] broadcast(x), dimensions={1}  b = f32[4,3] "
       "broadcast(y), dimensions={}  ROOT r = pred[4,3] compare(b, a), direction=LT",
       "broadcast(compare(broadcast(y), x))"},
      {"op(broadcast(x), broadcast(y)) => broadcast(op(x, y))",
       "x = f32[3] parameter(0)  p = pred[] parameter(1)  y = f32[3] parameter(2)  a = f32[4,3] broadcast(x), "
       "dimensions={1}  b = f32[4,3] broadcast(y), dimensions={1}  ROOT r = f32[4,3] select(p, a, b)",
       "broadcast(select(p, x, y))"},
      {"op(broadcast(x), broadcast(y)) => broadcast(op(x, y))",
       "x = f32[] parameter(0)  a = f32[4] broadcast(x), dimensions={}  ROOT r = f32[4] negate(a)",
       "broadcast(negate(x))"},
      {"",
       "x = f32[3] parameter(0)  y = f32[3] parameter(1)  a = f32[3,3] broadcast(x), dimensions={1}  b = f32[3,3] "
       "broadcast(y), dimensions={0}  ROOT r = f32[3,3] add(a, b)",
       "add(broadcast(x), broadcast(y))"},
      {"",
       "x = f32[3] parameter(0)  y = f32[4,3] parameter(1)  a = f32[4,3] broadcast(x), dimensions={1}  ROOT r = "
       "f32[4,3] add(a, y)",
       "add(broadcast(x), y)"},
  };
}

}  // namespace hilo::testing

#endif  // HILO_TESTS_UNIT_HLO_PASSES_SIMPLIFY_ARITHMETIC_CASES_H_
