// Reductions of short rows that lie one after the other, whose neighboring lanes are combined: each kind of number and
// of operation, rows with each prime factor, and numbers of rows that leave lanes over.
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "tests/support/same_results.h"

namespace hilo {
namespace {

// `type`, with a computation `op` that starts from 1, of rows of `row`, computed from s32 by `convert`.
void ExpectSameRows(const char* type, const char* op, int64_t row, int64_t rows) {
  ExpectSameResults(absl::Substitute(R"(
    HloModule rows
    f { a = $0[] parameter(0)  b = $0[] parameter(1)  ROOT c = $0[] $1(a, b) }
    ENTRY main {
      p = s32[$3,$2] parameter(0)
      x = $0[$3,$2] convert(p)
      one = $0[] constant(1)
      ROOT r = $0[$3] reduce(x, one), dimensions={1}, to_apply=f
    })",
                                     type, op, row, rows));
}

TEST(ShortRowsTest, EachType) {
  for (const char* type : {"u8", "s16", "u32", "s64", "f32", "f64", "bf16", "f16"}) {
    for (const int64_t row : {5, 6, 12}) {
      ExpectSameRows(type, "add", row, 203);
      ExpectSameRows(type, "maximum", row, 203);
    }
  }
}

TEST(ShortRowsTest, EachLength) {
  for (int64_t row = 5; row <= 18; ++row) {
    ExpectSameRows("s32", "add", row, 67);
    ExpectSameRows("u8", "xor", row, 150);
  }
}

TEST(ShortRowsTest, EachNumberOfRows) {
  for (const int64_t rows : {8, 15, 16, 17, 63, 64, 65, 1100}) {
    ExpectSameRows("f32", "add", 5, rows);
    ExpectSameRows("s8", "minimum", 6, rows);
  }
}

// The sum of predicates is their or, their product their and.
TEST(ShortRowsTest, Predicates) {
  for (const char* op : {"and", "or", "xor", "maximum", "minimum", "add", "multiply"}) {
    for (const int64_t row : {5, 8, 14}) {
      ExpectSameResults(absl::Substitute(R"(
        HloModule predicates
        f { a = pred[] parameter(0)  b = pred[] parameter(1)  ROOT c = pred[] $0(a, b) }
        ENTRY main {
          p = s32[131,$1] parameter(0)
          zero = s32[] constant(0)
          zeros = s32[131,$1] broadcast(zero), dimensions={}
          x = pred[131,$1] compare(p, zeros), direction=GE
          s = s32[131,$1] parameter(1)
          q = pred[131,$1] compare(s, p), direction=LT
          yes = pred[] constant(true)
          no = pred[] constant(false)
          a = pred[131] reduce(x, yes), dimensions={1}, to_apply=f
          b = pred[131] reduce(q, no), dimensions={1}, to_apply=f
          ROOT r = (pred[131], pred[131], pred[131,$1]) tuple(a, b, q)
        })",
                                         op, row));
    }
  }
}

TEST(ShortRowsTest, SpecialValues) {
  for (const char* type : {"f32", "f64"}) {
    for (const char* op : {"maximum", "minimum"}) {
      ExpectSameResults(absl::Substitute(R"(
        HloModule special
        f { a = $0[] parameter(0)  b = $0[] parameter(1)  ROOT c = $0[] $1(a, b) }
        ENTRY main {
          values = $0[9] constant({nan, -0, 0, inf, -inf, 1, -1, 0, -0})
          p = s32[100,5] parameter(0)
          nine = s32[] constant(9)
          nines = s32[100,5] broadcast(nine), dimensions={}
          m = s32[100,5] remainder(p, nines)
          i = s32[100,5] abs(m)
          x = $0[100,5] gather(values, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1}
          start = $0[] constant(-0)
          ROOT r = $0[100] reduce(x, start), dimensions={1}, to_apply=f
        })",
                                         type, op));
    }
  }
}

// Elements that are gathered one by one, in order; indices outside are clamped. Slices are rows of something else.
TEST(ShortRowsTest, Gathered) {
  for (const char* type : {"f32", "u8", "f64"}) {
    ExpectSameResults(absl::Substitute(R"(
      HloModule gathered
      f { a = $0[] parameter(0)  b = $0[] parameter(1)  ROOT c = $0[] maximum(a, b) }
      any { a = pred[] parameter(0)  b = pred[] parameter(1)  ROOT c = pred[] or(a, b) }
      ENTRY main {
        p = s32[5] parameter(0)
        q = s32[131,6] parameter(1)
        t = s32[5,4] parameter(2)
        table = $0[5] convert(p)
        matrix = $0[5,4] convert(t)
        three = s32[] constant(3)
        threes = s32[131,6] broadcast(three), dimensions={}
        i = s32[131,6] subtract(q, threes)
        j = s32[131,6,1] reshape(i)
        one = $0[] constant(1)
        no = pred[] constant(false)
        x = $0[131,6] gather(table, j), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1}
        a = $0[131] reduce(x, one), dimensions={1}, to_apply=f
        ones = $0[131,6] broadcast(one), dimensions={}
        is = pred[131,6] compare(x, ones), direction=EQ
        b = pred[131] reduce(is, no), dimensions={1}, to_apply=any
        y = $0[131,6] gather(matrix, i), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,1}
        c = $0[131] reduce(y, one), dimensions={1}, to_apply=f
        z = $0[131,6,4] gather(matrix, i), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,4}
        d = $0[131,6] reduce(z, one), dimensions={2}, to_apply=f
        v = s32[131,3,2] reshape(i)
        w = $0[131,3] gather(matrix, v), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=2, slice_sizes={1,1}
        e = $0[131] reduce(w, one), dimensions={1}, to_apply=f
        ROOT r = ($0[131], pred[131], $0[131], $0[131,6], $0[131]) tuple(a, b, c, d, e)
      })",
                                       type));
  }
}

// Several dimensions are a row; leading ones of one index; rows that do not lie one after the other are computed
// elsewhere.
TEST(ShortRowsTest, Dimensions) {
  ExpectSameResults(R"(
    HloModule dimensions
    f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
    ENTRY main {
      p = s32[9,7,2,3] parameter(0)
      q = s32[50] parameter(1)
      x = f32[9,7,2,3] convert(p)
      y = f32[50] convert(q)
      z = f32[] constant(0)
      a = f32[9,7] reduce(x, z), dimensions={2,3}, to_apply=f
      b = f32[9,2] reduce(x, z), dimensions={1,3}, to_apply=f
      c = f32[50,6] broadcast(y), dimensions={0}
      d = f32[50,6] multiply(c, c)
      e = f32[50] reduce(d, z), dimensions={1}, to_apply=f
      g = f32[126,1,3] reshape(x)
      h = f32[126] reduce(g, z), dimensions={1,2}, to_apply=f
      i = f32[63,6] reshape(x)
      j = f32[63,6] negate(i)
      k = f32[63] reduce(j, z), dimensions={1}, to_apply=f
      ROOT r = (f32[9,7], f32[9,2], f32[50], f32[126], f32[63]) tuple(a, b, e, h, k)
    })");
}

}  // namespace
}  // namespace hilo
