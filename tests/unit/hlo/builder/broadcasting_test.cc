// The rules and tables of the specification's "Broadcasting semantics".
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "hilo/xla_builder.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

using Dims = std::vector<int64_t>;

struct Case {
  Dims lhs, rhs, broadcast_dimensions;
  Dims result;  // or:
  const char* error = "";
};

class BinaryBroadcastTest : public testing::TestWithParam<Case> {};

TEST_P(BinaryBroadcastTest, BothOrders) {
  const Case& c = GetParam();
  for (const auto& [first, second] : {std::pair(c.lhs, c.rhs), std::pair(c.rhs, c.lhs)}) {
    XlaBuilder b("broadcast");
    const XlaOp x = Parameter(&b, 0, ShapeUtil::MakeShape(F32, first), "x");
    const XlaOp y = Parameter(&b, 1, ShapeUtil::MakeShape(F32, second), "y");
    const auto sum = b.GetShape(Add(x, y, c.broadcast_dimensions));
    if (*c.error != '\0') {
      EXPECT_EQ(b.first_error().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_TRUE(absl::StrContains(b.first_error().message(), c.error)) << b.first_error();
      continue;
    }
    ASSERT_TRUE(sum.ok()) << sum.status();
    EXPECT_EQ(sum->dimensions(), absl::MakeConstSpan(c.result));
    const auto less = b.GetShape(Lt(x, y, c.broadcast_dimensions));
    ASSERT_TRUE(less.ok()) << less.status();
    EXPECT_EQ(less->element_type(), PRED);
    EXPECT_EQ(less->dimensions(), absl::MakeConstSpan(c.result));
    EXPECT_TRUE(b.Build().ok());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BinaryBroadcastTest,
    testing::Values(
        // Rule 1
        Case{{2, 3}, {}, {}, {2, 3}}, Case{{}, {}, {}, {}}, Case{{0}, {}, {}, {0}},
        // Rule 2
        Case{{2, 3}, {3}, {1}, {2, 3}}, Case{{3, 3}, {3}, {0}, {3, 3}}, Case{{3, 3}, {3}, {1}, {3, 3}},
        Case{{2, 3, 4}, {3, 4}, {1, 2}, {2, 3, 4}}, Case{{5, 6, 7, 8}, {8}, {3}, {5, 6, 7, 8}},
        Case{{5, 6, 7, 8}, {7}, {2}, {5, 6, 7, 8}}, Case{{5, 6, 7, 8}, {6}, {1}, {5, 6, 7, 8}},
        Case{{5, 6, 7, 8}, {5}, {0}, {5, 6, 7, 8}}, Case{{5, 6, 7, 8}, {7, 8}, {2, 3}, {5, 6, 7, 8}},
        Case{{5, 6, 7, 8}, {6, 7}, {1, 2}, {5, 6, 7, 8}}, Case{{5, 6, 7, 8}, {5, 8}, {0, 3}, {5, 6, 7, 8}},
        Case{{2, 3}, {2, 3}, {0, 1}, {2, 3}},
        // Rule 3
        Case{{2, 1}, {2, 3}, {}, {2, 3}}, Case{{1, 2, 5}, {7, 2, 5}, {}, {7, 2, 5}},
        Case{{7, 2, 5}, {7, 1, 5}, {}, {7, 2, 5}}, Case{{2, 1}, {1, 3}, {}, {2, 3}}, Case{{0}, {1}, {}, {0}},
        // Rule 4
        Case{{4}, {1, 2}, {0}, {4, 2}}, Case{{1, 2}, {4, 3, 1}, {1, 2}, {4, 3, 2}},
        // The checks
        Case{{2, 3}, {3}, {}, {}, "need broadcast_dimensions"},
        Case{{2, 3}, {3}, {0, 1}, {}, "expected broadcast_dimensions for the 1"},
        Case{{5, 6, 7, 8}, {7, 6}, {2, 1}, {}, "strictly increasing"},
        Case{{5, 6, 7, 8}, {6, 6}, {1, 1}, {}, "strictly increasing"}, Case{{2, 3}, {3}, {2}, {}, "below the rank"},
        Case{{2, 3}, {3}, {-1}, {}, "below the rank"}, Case{{7, 2, 5}, {7, 2, 6}, {}, {}, "in dimension 2; got"},
        Case{{2, 3}, {3}, {0}, {}, "expected equal sizes"}, Case{{5, 6, 7, 8}, {8}, {2}, {}, "expected equal sizes"},
        Case{{5, 6, 7, 8}, {8, 7}, {2, 3}, {}, "expected equal sizes"},
        Case{{2, 3}, {2, 3}, {1, 0}, {}, "strictly increasing"}, Case{{2, 3}, {}, {0}, {}, "for the 0 dimensions"}));

TEST(BroadcastingTest, IsWrittenOut) {
  XlaBuilder b("b");
  const XlaOp v = Parameter(&b, 0, ShapeUtil::MakeShape(F32, {4}), "v");
  const XlaOp m = Parameter(&b, 1, ShapeUtil::MakeShape(F32, {1, 2}), "m");
  Add(v, m, {0});
  auto built = b.Build();
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_EQ(PrintHloModule(*built->module(), PrintOptions::Short()),
            "HloModule b\n\nENTRY b {\n  v = f32[4] parameter(0)\n  m = f32[1,2] parameter(1)\n"
            "  broadcast = f32[4,2] broadcast(v), dimensions={0}\n  reshape = f32[2] reshape(m)\n"
            "  broadcast.1 = f32[4,2] broadcast(reshape), dimensions={1}\n  ROOT add = f32[4,2] "
            "add(broadcast, broadcast.1)\n}\n");
}

TEST(BroadcastingTest, BroadcastInDim) {
  auto shape_of = [](const Dims& operand, const Dims& sizes, const Dims& dimensions) {
    XlaBuilder b("b");
    return b.GetShape(BroadcastInDim(Parameter(&b, 0, ShapeUtil::MakeShape(F32, operand), "x"), sizes, dimensions));
  };
  EXPECT_EQ(shape_of({1, 2}, {2, 2}, {0, 1})->ToString(), "f32[2,2]");
  EXPECT_EQ(shape_of({2}, {3, 2, 4}, {1})->ToString(), "f32[3,2,4]");
  EXPECT_EQ(shape_of({}, {3}, {})->ToString(), "f32[3]");
  EXPECT_FALSE(shape_of({2}, {3, 3}, {0}).ok());
  EXPECT_FALSE(shape_of({2, 3}, {3, 2}, {1, 0}).ok());
  EXPECT_FALSE(shape_of({2}, {2}, {}).ok());
  EXPECT_FALSE(shape_of({2}, {2}, {1}).ok());
  EXPECT_FALSE(shape_of({2}, {2, -1}, {0}).ok());
}

}  // namespace
}  // namespace hilo
