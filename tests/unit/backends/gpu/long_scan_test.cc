// Running sums along lines of so many parts that the interpreter, which adds up each window, would not end.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "hilo/client.h"
#include "hilo/literal.h"

namespace hilo {
namespace {

// From the front and from the back: each sum differs from its neighbour by an element, and the last is the sum of all.
// Returns how many do not.
constexpr char kRunningSums[] = R"(
HloModule running_sums
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT s = s32[] add(a, b) }
ENTRY main {
  p = s32[] parameter(0)
  i = s32[2,150001] iota(), iota_dimension=1
  q = s32[2,150001] broadcast(p), dimensions={}
  square = s32[2,150001] multiply(i, i)
  x = s32[2,150001] multiply(square, q)
  zero = s32[] constant(0)
  y = s32[2,150001] reduce-window(x, zero), window={size=1x150001 pad=0_0x150000_0}, to_apply=add
  z = s32[2,150001] reduce-window(x, zero), window={size=1x150001 pad=0_0x0_150000}, to_apply=add
  x1 = s32[2,150000] slice(x), slice={[0:2], [1:150001]}
  y0 = s32[2,150000] slice(y), slice={[0:2], [0:150000]}
  y1 = s32[2,150000] slice(y), slice={[0:2], [1:150001]}
  y0x1 = s32[2,150000] add(y0, x1)
  y_wrong = pred[2,150000] compare(y0x1, y1), direction=NE
  sums = s32[2,150001] add(y, z)
  less_x = s32[2,150001] subtract(sums, x)
  total = s32[2] reduce(x, zero), dimensions={1}, to_apply=add
  totals = s32[2,150001] broadcast(total), dimensions={0}
  z_wrong = pred[2,150001] compare(less_x, totals), direction=NE
  ys = s32[2,150000] convert(y_wrong)
  zs = s32[2,150001] convert(z_wrong)
  a = s32[] reduce(ys, zero), dimensions={0,1}, to_apply=add
  b = s32[] reduce(zs, zero), dimensions={0,1}, to_apply=add
  ROOT r = (s32[], s32[]) tuple(a, b)
}
)";

class LongScanTest : public testing::TestWithParam<std::string> {};

TEST_P(LongScanTest, SumsDifferByTheirElements) {
  ClientOptions options;
  options.platform = GetParam();
  const auto client = Client::Create(options);
  ASSERT_TRUE(client.ok()) << client.status();
  const auto executable = (*client)->CompileHloText(kRunningSums, {});
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal factor = LiteralUtil::CreateR0<int32_t>(31);
  const Literal* arguments[] = {&factor};
  auto wrong = (*executable)->ExecuteLiterals(arguments);
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  const std::vector<Literal> counts = std::move(*wrong).DecomposeTuple();
  ASSERT_EQ(counts.size(), 2u);
  for (const Literal& count : counts) EXPECT_EQ(count, LiteralUtil::CreateR0<int32_t>(0));
}

INSTANTIATE_TEST_SUITE_P(Platforms, LongScanTest, testing::Values("cpu", "cuda-emulated"),
                         [](const auto& info) { return info.param == "cpu" ? "cpu" : "cuda_emulated"; });

}  // namespace
}  // namespace hilo
