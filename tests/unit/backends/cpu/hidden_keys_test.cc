// Causal attention whose groups of rows leave out the keys that the mask hides
// (hlo/passes/attention/attention_blocks.h) gives what all keys give, also where what is hidden counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "hilo/client.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/runtime_access.h"

namespace hilo {
namespace {

constexpr int64_t kHeads = 4, kRows = 800, kKeys = 1000, kFeatures = 4;

// Row r sees the keys up to r + 20.
constexpr char kAttention[] = R"(
HloModule causal_attention
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] maximum(a, b) }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  q = f32[4,800,4] parameter(0)
  k = f32[4,1000,4] parameter(1)
  v = f32[4,1000,4] parameter(2)
  s = f32[4,800,1000] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  row = s32[800,1000] iota(), iota_dimension=0
  twenty = s32[] constant(20)
  offset = s32[800,1000] broadcast(twenty), dimensions={}
  last = s32[800,1000] add(row, offset)
  key = s32[800,1000] iota(), iota_dimension=1
  before = pred[800,1000] compare(last, key), direction=GE
  seen = pred[4,800,1000] broadcast(before), dimensions={1,2}
  least = f32[] constant(-1e9)
  hidden = f32[4,800,1000] broadcast(least), dimensions={}
  masked = f32[4,800,1000] select(seen, s, hidden)
  infinity = f32[] constant(-inf)
  most = f32[4,800] reduce(masked, infinity), dimensions={2}, to_apply=max
  mosts = f32[4,800,1000] broadcast(most), dimensions={0,1}
  less = f32[4,800,1000] subtract(masked, mosts)
  e = f32[4,800,1000] exponential(less)
  zero = f32[] constant(0)
  sum = f32[4,800] reduce(e, zero), dimensions={2}, to_apply=add
  sums = f32[4,800,1000] broadcast(sum), dimensions={0,1}
  p = f32[4,800,1000] divide(e, sums)
  ROOT r = f32[4,800,4] dot(p, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
}
)";

Literal ArrayOf(int64_t rows, const std::function<float(int64_t row, int64_t i)>& element) {
  absl::StatusOr<Literal> literal = Literal::Create(ShapeUtil::MakeShape(F32, {kHeads, rows, kFeatures}));
  EXPECT_TRUE(literal.ok()) << literal.status();
  int64_t i = 0;
  for (float& value : literal->data<float>()) {
    value = element(i / kFeatures % rows, i);
    ++i;
  }
  return *std::move(literal);
}

std::vector<float> ResultOf(const std::vector<Literal>& arguments, std::vector<std::string> disabled_passes) {
  const auto client = Client::Create({.platform = "cpu", .num_threads = 2});
  EXPECT_TRUE(client.ok()) << client.status();
  auto module = ParseHloModule(kAttention);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!client.ok() || !module.ok()) return {};
  CompileOptions options;
  options.disabled_passes = std::move(disabled_passes);
  const auto executable = RuntimeAccess::Compile(client->get(), *std::move(module), options);
  EXPECT_TRUE(executable.ok()) << executable.status();
  if (!executable.ok()) return {};
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  const auto result = (*executable)->ExecuteLiterals(pointers);
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return {};
  return {result->data<float>().begin(), result->data<float>().end()};
}

// Rows from `first_low` on have scores far below what is masked. Products are whole numbers, and exact.
std::vector<Literal> Arguments(int64_t first_low, float last_value) {
  std::vector<Literal> arguments;
  arguments.push_back(ArrayOf(kRows, [&](int64_t row, int64_t i) {
    return static_cast<float>(1 + i * i % 3) * (row < first_low ? 0.5F : -0x1p40F);
  }));
  arguments.push_back(ArrayOf(kKeys, [](int64_t, int64_t i) { return static_cast<float>(1 + i * i % 5); }));
  arguments.push_back(ArrayOf(
      kKeys, [&](int64_t row, int64_t i) { return row == kKeys - 1 ? last_value : std::sin(static_cast<float>(i)); }));
  return arguments;
}

void ExpectAllKeysCount(const std::vector<Literal>& arguments) {
  const std::vector<float> got = ResultOf(arguments, {}), want = ResultOf(arguments, {"divide-attention"});
  ASSERT_EQ(want.size(), kHeads * kRows * kFeatures);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i])) {
      ASSERT_TRUE(std::isnan(got[i])) << i;
    } else if (std::isinf(want[i])) {
      ASSERT_EQ(got[i], want[i]) << i;
    } else {
      ASSERT_NEAR(got[i], want[i], 2e-6) << i;
    }
  }
}

TEST(HiddenKeysTest, AreLeftOutWhereTheirWeightsAreZero) { ExpectAllKeysCount(Arguments(kRows, 1)); }

TEST(HiddenKeysTest, CountInRowsWithLowScores) {
  ExpectAllKeysCount(Arguments(0, 1));
  ExpectAllKeysCount(Arguments(650, 1));  // the first group of rows leaves out nothing that counts
}

TEST(HiddenKeysTest, CountWhereValuesAreNotFinite) {
  ExpectAllKeysCount(Arguments(kRows, std::numeric_limits<float>::infinity()));
  ExpectAllKeysCount(Arguments(kRows, std::numeric_limits<float>::quiet_NaN()));
}

}  // namespace
}  // namespace hilo
