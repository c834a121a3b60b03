// Rows with padding between their elements: patterns of lanes that are known at compile time, and others.
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "tests/support/same_results.h"

namespace hilo {
namespace {

TEST(InteriorPaddingTest, Rows) {
  for (const char* type : {"f32", "f64", "u8", "bf16", "c64"}) {
    for (const int64_t columns : {1, 5, 33, 130}) {
      for (const int64_t interior : {1, 2, 3}) {
        for (const int64_t low : {0, 1, 7, -1, -4}) {
          const int64_t size = (columns - 1) * (interior + 1) + 1 + low + 5;
          if (size <= 0) continue;
          ExpectSameResults(absl::Substitute(R"(
            HloModule padded
            ENTRY main {
              p = s32[9,$1] parameter(0)
              q = s32[17,19] parameter(1)
              x = $0[9,$1] convert(p)
              y = $0[17,19] convert(q)
              three = s32[] constant(3)
              z = $0[] convert(three)
              a = $0[17,$2] pad(x, z), padding=0_0_1x$3_5_$4
              b = $0[17,$5] concatenate(a, y, a), dimensions={1}
              c = $0[17,$2] multiply(a, a)
              d = $0[17,$6] pad(a, z), padding=0_0x1_1_1
              ROOT r = ($0[17,$2], $0[17,$5], $0[17,$2], $0[17,$6]) tuple(a, b, c, d)
            })",
                                             type, columns, size, low, interior, 2 * size + 19, 2 * size + 1));
        }
      }
    }
  }
}

}  // namespace
}  // namespace hilo
