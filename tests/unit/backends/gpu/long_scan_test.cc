// Running sums along lines and columns of so many parts that the interpreter, which adds up each window, would not end.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hilo/client.h"
#include "hilo/literal.h"

namespace hilo {
namespace {

// Along dimension 1 of [outer, size, inner], from the front and from the back: each sum differs from its neighbour by
// an element, and the last is the sum of all. Returns how many do not.
std::string RunningSums(int64_t outer, int64_t size, int64_t inner) {
  const auto shape = [&](absl::string_view type, int64_t length) {
    return absl::StrCat(type, "[", outer, ",", length, ",", inner, "]");
  };
  const std::string all = shape("s32", size), fewer = shape("s32", size - 1), last = std::to_string(size - 1);
  const auto slice = [&](absl::string_view array, int64_t from) {
    return absl::StrCat(fewer, " slice(", array, "), slice={[0:", outer, "], [", from, ":", from + size - 1,
                        "], [0:", inner, "]}");
  };
  const auto scan = [&](absl::string_view pad) {
    return absl::StrCat(all, " reduce-window(x, zero), window={size=1x", size, "x1 pad=0_0x", pad,
                        "x0_0}, to_apply=add");
  };
  return absl::StrCat(
      "HloModule running_sums\nadd { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT s = s32[] add(a, b) }\n",
      "ENTRY main {\n p = s32[] parameter(0)\n zero = s32[] constant(0)\n i = ", all,
      " iota(), iota_dimension=1\n j = ", all, " iota(), iota_dimension=2\n q = ", all,
      " broadcast(p), dimensions={}\n square = ", all, " multiply(i, i)\n moved = ", all, " add(square, j)\n x = ", all,
      " multiply(moved, q)\n y = ", scan(absl::StrCat(last, "_0")), "\n z = ", scan(absl::StrCat("0_", last)),
      "\n x1 = ", slice("x", 1), "\n y0 = ", slice("y", 0), "\n y1 = ", slice("y", 1), "\n y0x1 = ", fewer,
      " add(y0, x1)\n y_wrong = ", shape("pred", size - 1), " compare(y0x1, y1), direction=NE\n sums = ", all,
      " add(y, z)\n less_x = ", all, " subtract(sums, x)\n total = s32[", outer, ",", inner,
      "] reduce(x, zero), dimensions={1}, to_apply=add\n totals = ", all,
      " broadcast(total), dimensions={0,2}\n z_wrong = ", shape("pred", size),
      " compare(less_x, totals), direction=NE\n ys = ", fewer, " convert(y_wrong)\n zs = ", all,
      " convert(z_wrong)\n a = s32[] reduce(ys, zero), dimensions={0,1,2}, to_apply=add\n",
      " b = s32[] reduce(zs, zero), dimensions={0,1,2}, to_apply=add\n ROOT r = (s32[], s32[]) tuple(a, b)\n}\n");
}

class LongScanTest : public testing::TestWithParam<std::string> {};

void ExpectRightSums(const std::string& platform, const std::string& program) {
  ClientOptions options;
  options.platform = platform;
  const auto client = Client::Create(options);
  ASSERT_TRUE(client.ok()) << client.status();
  const auto executable = (*client)->CompileHloText(program, {});
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal factor = LiteralUtil::CreateR0<int32_t>(31);
  const Literal* arguments[] = {&factor};
  auto wrong = (*executable)->ExecuteLiterals(arguments);
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  const std::vector<Literal> counts = std::move(*wrong).DecomposeTuple();
  ASSERT_EQ(counts.size(), 2u);
  for (const Literal& count : counts) EXPECT_EQ(count, LiteralUtil::CreateR0<int32_t>(0));
}

TEST_P(LongScanTest, SumsAlongLines) { ExpectRightSums(GetParam(), RunningSums(2, 150001, 1)); }

// Threads with one column and with several, columns that fill no tile, groups of parts.
TEST_P(LongScanTest, SumsAlongColumns) {
  ExpectRightSums(GetParam(), RunningSums(1, 70001, 5));
  ExpectRightSums(GetParam(), RunningSums(2, 2501, 132));
}

INSTANTIATE_TEST_SUITE_P(Platforms, LongScanTest, testing::Values("cpu", "cuda-emulated"),
                         [](const auto& info) { return info.param == "cpu" ? "cpu" : "cuda_emulated"; });

}  // namespace
}  // namespace hilo
