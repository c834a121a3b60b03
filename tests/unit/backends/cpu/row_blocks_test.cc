// Rows that are shorter than two vectors, several of which are vectors: with rests of rows and of lanes, of all widths.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "tests/support/same_results.h"

namespace hilo {
namespace {

const char* const kTypes[] = {"f32", "f64", "s8", "bf16", "c64"};

TEST(RowBlocksTest, PermutedRows) {
  for (const char* type : kTypes) {
    for (int64_t columns : {5, 7, 9, 13, 20}) {
      ExpectSameResults(absl::Substitute(R"(
        HloModule permuted
        ENTRY main {
          p = s32[133,$1] parameter(0)
          x = $0[133,$1] convert(p)
          a = $0[133,$1] reverse(x), dimensions={1}
          b = $0[133,$1] reverse(x), dimensions={0,1}
          c = $0[133,3] slice(x), slice={[0:133], [1:4]}
          d = $0[67,3] slice(x), slice={[0:133:2], [0:5:2]}
          ROOT r = ($0[133,$1], $0[133,$1], $0[133,3], $0[67,3]) tuple(a, b, c, d)
        })",
                                         type, columns));
    }
  }
}

TEST(RowBlocksTest, RowsOfSeveralDimensions) {
  for (const char* type : kTypes) {
    ExpectSameResults(absl::Substitute(R"(
      HloModule matrices
      ENTRY main {
        p = s32[7,41,3,3] parameter(0)
        x = $0[7,41,3,3] convert(p)
        a = $0[7,41,3,3] transpose(x), dimensions={0,1,3,2}
        b = $0[7,41,3,3] reverse(x), dimensions={2}
        c = $0[7,41,3,3] reverse(x), dimensions={1,3}
        q = s32[40,5,7] parameter(1)
        y = $0[40,5,7] convert(q)
        d = $0[40,7,5] transpose(y), dimensions={0,2,1}
        e = $0[40,5,7] reverse(y), dimensions={1}
        ROOT r = ($0[7,41,3,3], $0[7,41,3,3], $0[7,41,3,3], $0[40,7,5], $0[40,5,7]) tuple(a, b, c, d, e)
      })",
                                       type));
  }
}

// Columns that are rolled along the rows, each by its own distance: a lane's element is at the same distance from the
// written one in all lanes of its column, unless the column is put in the place of another.
TEST(RowBlocksTest, RolledColumns) {
  for (const char* type : kTypes) {
    for (const bool swapped : {false, true}) {
      std::string columns, parts;
      for (int column = 0; column < 5; ++column) {
        const int from = swapped ? (column + 2) % 5 : column, by = column + 1;
        absl::StrAppend(&columns, absl::Substitute(R"(
          c$1 = $0[6,29,1] slice(x), slice={[0:6], [0:29], [$2:$3]}
          low$1 = $0[6,$5,1] slice(c$1), slice={[0:6], [0:$5], [0:1]}
          high$1 = $0[6,$4,1] slice(c$1), slice={[0:6], [$5:29], [0:1]}
          rolled$1 = $0[6,29,1] concatenate(high$1, low$1), dimensions={1})",
                                                   type, column, from, from + 1, by, 29 - by));
        absl::StrAppend(&parts, column == 0 ? "" : ", ", "rolled", column);
      }
      ExpectSameResults(absl::Substitute(R"(
        HloModule rolled
        ENTRY main {
          p = s32[6,29,5] parameter(0)
          x = $0[6,29,5] convert(p)$1
          ROOT r = $0[6,29,5] concatenate($2), dimensions={2}
        })",
                                         type, columns, parts));
    }
  }
}

// Rows that are put together from single columns, each of which is computed for the rows in the lanes.
TEST(RowBlocksTest, StackedColumns) {
  for (const char* type : kTypes) {
    for (const int count : {5, 9, 16, 17}) {
      std::string columns, parts;
      for (int column = 0; column < count; ++column) {
        absl::StrAppend(
            &columns, absl::Substitute(R"(
          s$1 = $0[3,37,1] slice(x), slice={[0:3], [0:37], [$2:$3]}
          c$1 = $0[3,37,1] $4(s$1, r))",
                                       type, column, column % 3, column % 3 + 1, column % 2 == 0 ? "add" : "multiply"));
        absl::StrAppend(&parts, column == 0 ? "" : ", ", "c", column);
      }
      ExpectSameResults(absl::Substitute(R"(
        HloModule stacked
        ENTRY main {
          p = s32[3,37,3] parameter(0)
          q = s32[3,37] parameter(1)
          x = $0[3,37,3] convert(p)
          y = $0[3,37] convert(q)
          r = $0[3,37,1] reshape(y)$1
          ROOT t = $0[3,37,$2] concatenate($3), dimensions={2}
        })",
                                         type, columns, count, parts));
    }
  }
}

// Columns that are gathered: all lanes read one row, which is in registers if it is short.
TEST(RowBlocksTest, GatheredColumns) {
  for (const char* type : kTypes) {
    for (const int columns : {2, 7, 16, 31, 32, 50, 64, 65}) {
      ExpectSameResults(absl::Substitute(R"(
        HloModule gathered
        ENTRY main {
          p = s32[9,$1] parameter(0)
          q = s32[37] parameter(1)
          x = $0[9,$1] convert(p)
          i = s32[37] multiply(q, q)
          g = $0[9,37] gather(x, i), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={9,1}
          ROOT r = $0[9,37] add(g, g)
        })",
                                         type, columns));
    }
  }
}

TEST(RowBlocksTest, ValuesOfRowsAndColumns) {
  for (const char* type : kTypes) {
    for (const char* columns : {"6", "11", "18"}) {
      ExpectSameResults(absl::Substitute(R"(
        HloModule rows_and_columns
        ENTRY main {
          p = s32[3,45,$1] parameter(0)
          q = s32[$1] parameter(1)
          s = s32[3,45] parameter(2)
          x = $0[3,45,$1] convert(p)
          y = $0[$1] convert(q)
          z = $0[3,45] convert(s)
          yb = $0[3,45,$1] broadcast(y), dimensions={2}
          zb = $0[3,45,$1] broadcast(z), dimensions={0,1}
          i = s32[3,45,$1] iota(), iota_dimension=2
          ib = $0[3,45,$1] convert(i)
          xy = $0[3,45,$1] multiply(x, yb)
          xyz = $0[3,45,$1] add(xy, zb)
          a = $0[3,45,$1] subtract(xyz, ib)
          c = $0[3,45,$1] reverse(a), dimensions={2}
          ROOT r = ($0[3,45,$1], $0[3,45,$1]) tuple(a, c)
        })",
                                         type, columns));
    }
  }
}

// Scans of rows of a few elements, in lanes that are the rows.
TEST(RowBlocksTest, ScansOfNarrowRows) {
  for (const char* type : {"f32", "f64", "s32"}) {
    for (int64_t columns : {2, 3, 4}) {
      ExpectSameResults(absl::Substitute(R"(
        HloModule scans
        add { a = $0[] parameter(0)  b = $0[] parameter(1)  ROOT c = $0[] add(a, b) }
        ENTRY main {
          p = s32[301,$1] parameter(0)
          x = $0[301,$1] convert(p)
          z = $0[] constant(0)
          a = $0[301,$1] reduce-window(x, z), window={size=1x$1 pad=0_0x$2_0}, to_apply=add
          b = $0[301,$1] reduce-window(x, z), window={size=1x$1 pad=0_0x0_$2}, to_apply=add
          ROOT r = ($0[301,$1], $0[301,$1]) tuple(a, b)
        })",
                                         type, columns, columns - 1));
    }
  }
}

// Columns of small tables that a loop carries, and which leave lanes idle.
TEST(RowBlocksTest, ColumnsOfLocals) {
  for (const char* type : {"f32", "f64", "s32", "c64"}) {
    for (int64_t rows : {5, 7, 8, 11}) {
      ExpectSameResults(absl::Substitute(R"(
        HloModule columns
        cond { s = (s32[], $0[$1,3]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(3)  ROOT c = pred[] compare(i, n), direction=LT }
        body {
          s = (s32[], $0[$1,3]) parameter(0)
          i = s32[] get-tuple-element(s), index=0
          x = $0[$1,3] get-tuple-element(s), index=1
          one = s32[] constant(1)
          next = s32[] add(i, one)
          a = $0[$1,1] slice(x), slice={[0:$1], [0:1]}
          b = $0[$1,1] slice(x), slice={[0:$1], [1:2]}
          c = $0[$1,1] slice(x), slice={[0:$1], [2:3]}
          ab = $0[$1,1] multiply(a, b)
          bc = $0[$1,1] subtract(b, c)
          ca = $0[$1,1] add(c, a)
          y = $0[$1,3] concatenate(ab, bc, ca), dimensions={1}
          ROOT r = (s32[], $0[$1,3]) tuple(next, y)
        }
        ENTRY main {
          p = s32[$1,3] parameter(0)
          x = $0[$1,3] convert(p)
          zero = s32[] constant(0)
          s = (s32[], $0[$1,3]) tuple(zero, x)
          w = (s32[], $0[$1,3]) while(s), condition=cond, body=body
          ROOT r = $0[$1,3] get-tuple-element(w), index=1
        })",
                                         type, rows));
    }
  }
}

// Products whose right factor has several free dimensions, which become one.
TEST(RowBlocksTest, ProductsOfShortRows) {
  ExpectSameResults(R"(
    HloModule products
    ENTRY main {
      p = s32[130,80] parameter(0)
      q = s32[80,60,3] parameter(1)
      s = s32[4,5,30,80] parameter(2)
      t = s32[4,80,5] parameter(3)
      x = f32[130,80] convert(p)
      y = f32[80,60,3] convert(q)
      u = f32[4,5,30,80] convert(s)
      v = f32[4,80,5] convert(t)
      a = f32[130,60,3] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      b = f32[4,5,5,30] dot(v, u), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={3}
      ROOT r = (f32[130,60,3], f32[4,5,5,30]) tuple(a, b)
    })");
}

}  // namespace
}  // namespace hilo
