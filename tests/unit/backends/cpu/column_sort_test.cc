// Sorts along columns that are sorts along rows of transposed arrays (hlo/passes/fusion/sort_transposition.cc).
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "tests/support/same_results.h"

namespace hilo {
namespace {

TEST(ColumnSortTest, OneArray) {
  for (const char* type : {"s8", "s32", "f32", "f64", "bf16"}) {
    for (const char* sizes : {"70,30", "3,40,20", "2,33,5,7"}) {
      ExpectSameResults(
          absl::Substitute("HloModule sort\nless {\n  a = $0[] parameter(0)\n  b = $0[] parameter(1)\n"
                           "  ROOT c = pred[] compare(a, b), direction=LT\n}\n"
                           "ENTRY main {\n  x = s32[$1] parameter(0)\n  y = $0[$1] convert(x)\n"
                           "  ROOT s = $0[$1] sort(y), dimensions={$2}, is_stable=true, to_apply=less\n}\n",
                           type, sizes, sizes[0] == '7' ? 0 : 1));
    }
  }
}

// Equal keys keep their order, in any result that is read.
TEST(ColumnSortTest, PositionsOfEqualKeys) {
  for (const char* root : {"tuple(k, p, k)", "tuple(p)", "tuple(s)"}) {
    ExpectSameResults(absl::Substitute(
        "HloModule sort\nless {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  i = s32[] parameter(2)\n"
        "  j = s32[] parameter(3)\n  ROOT c = pred[] compare(a, b), direction=GT\n}\n"
        "ENTRY main {\n  x = s32[3,60,20] parameter(0)\n  i = s32[3,60,20] iota(), iota_dimension=1\n"
        "  s = (s32[3,60,20], s32[3,60,20]) sort(x, i), dimensions={1}, is_stable=true, to_apply=less\n"
        "  k = s32[3,60,20] get-tuple-element(s), index=0\n  p = s32[3,60,20] get-tuple-element(s), index=1\n"
        "  ROOT r = $0\n}\n",
        root));
  }
}

}  // namespace
}  // namespace hilo
