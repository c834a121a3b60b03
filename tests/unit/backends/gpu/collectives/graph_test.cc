// Collectives in graphs: captured by all ranks or by none, launched from what all have captured together, and ended
// like any others.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "hlo/text/hlo_parser.h"
#include "tests/unit/backends/gpu/collectives/devices.h"

namespace hilo::gpu {
namespace {

constexpr char kStep[] = R"(HloModule step, replica_count=2
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[8,8] parameter(0)
  y = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[8,8] all-reduce(y), replica_groups={}, to_apply=f
  e = f32[8,8] transpose(y), dimensions={1,0}
  z = f32[8,8] dot(c, e), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  g = f32[16,8] all-gather(z), replica_groups={}, dimensions={0}
  ROOT r = f32[16,8] negate(g)
})";

constexpr char kScan[] = R"(HloModule scan, replica_count=2
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
c { s = (s32[], f32[8,8]) parameter(0)  i = s32[] get-tuple-element(s), index=0  e = s32[] constant(5)  ROOT t = pred[] compare(i, e), direction=LT }
b {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[8,8] get-tuple-element(s), index=1
  o = s32[] constant(1)
  n = s32[] add(i, o)
  w = f32[8,8] dot(v, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  a = f32[8,8] all-reduce(w), replica_groups={}, to_apply=f
  t = f32[8,8] transpose(a), dimensions={1,0}
  q = f32[8,8] tanh(t)
  ROOT r = (s32[], f32[8,8]) tuple(n, q)
}
ENTRY main {
  x = f32[8,8] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[8,8]) tuple(z, x)
  l = (s32[], f32[8,8]) while(t), condition=c, body=b
  ROOT r = f32[8,8] get-tuple-element(l), index=1
})";

// The trip count depends on the rank's data: collectives inside may not be captured.
constexpr char kChoice[] = R"(HloModule choice, replica_count=2
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
yes { v = f32[8,8] parameter(0)  w = f32[8,8] transpose(v), dimensions={1,0}  a = f32[8,8] all-reduce(w), replica_groups={}, to_apply=f  t = f32[8,8] dot(a, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}  ROOT q = f32[8,8] tanh(t) }
no { v = f32[8,8] parameter(0)  ROOT w = f32[8,8] negate(v) }
ENTRY main {
  x = f32[8,8] parameter(0)
  zero = f32[] constant(0)
  n = f32[] reduce(x, zero), dimensions={0,1}, to_apply=f
  p = pred[] compare(n, zero), direction=GE
  ROOT r = f32[8,8] conditional(p, x, x), true_computation=yes, false_computation=no
})";

Literal Numbers(int seed) {
  std::vector<float> values(64);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 7 + static_cast<size_t>(seed) * 13) % 31) / 64;
  return LiteralUtil::CreateFromArray<float>(values, {8, 8});
}

std::vector<Literal> ListOf(Literal one) {
  std::vector<Literal> list;
  list.push_back(std::move(one));
  return list;
}

GpuCompilerOptions Options(int64_t graph_thunks_from, bool overlap = true) {
  return {.kernels = {.sequences = false, .overlap_collectives = overlap}, .graph_thunks_from = graph_thunks_from};
}

std::string Thunks(absl::string_view text) {
  const auto thunks = CreateGpuCompiler(kEmulatedPlatform, Options(2))->Emit(*ParseHloModule(text), {}, "thunks");
  EXPECT_TRUE(thunks.ok()) << thunks.status();
  return thunks.ok() ? *thunks : "";
}

class CollectiveGraph : public testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(CollectiveGraph, RunsAreAsWithoutGraphs) {
  const auto [text, overlap] = GetParam();
  Devices plain(2, {}, Options(INT64_MAX, overlap)), graphs(2, {}, Options(2, overlap));
  plain.Compile(text);
  graphs.Compile(text);
  // Arguments that are kept make others lie elsewhere.
  for (int i = 0; i < 12; ++i) {
    const auto want = plain.Run(ListOf(Numbers(i % 3))), got = graphs.Run(ListOf(Numbers(i % 3)));
    ASSERT_TRUE(want.ok()) << want.status();
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(*want, *got) << "run " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, CollectiveGraph,
                         testing::Combine(testing::Values(kStep, kScan, kChoice), testing::Bool()),
                         [](const auto& info) {
                           const absl::string_view text = std::get<0>(info.param);
                           return absl::StrCat(text == kStep   ? "Step"
                                               : text == kScan ? "Scan"
                                                               : "Choice",
                                               std::get<1>(info.param) ? "Overlapped" : "InOrder");
                         });

TEST(CollectiveGraphTest, HoldsTheResultOfAllRanks) {
  EXPECT_TRUE(absl::StartsWith(Thunks(kStep), "graph\n  kernel y")) << Thunks(kStep);
  EXPECT_TRUE(absl::StrContains(Thunks(kStep), "\n  all-gather %g")) << Thunks(kStep);
  EXPECT_TRUE(absl::StrContains(Thunks(kScan), "loop of 5 iterations\n body\n  graph\n")) << Thunks(kScan);
  EXPECT_TRUE(absl::StrContains(Thunks(kScan), "\n    all-reduce %a")) << Thunks(kScan);
  EXPECT_TRUE(absl::StrContains(Thunks(kChoice), "\n  all-reduce %a"))
      << Thunks(kChoice);  // of a branch, not of its graph
}

// The result lies where the argument did, so runs of a chain have the same addresses.
constexpr char kChain[] = R"(HloModule chain, replica_count=2, input_output_alias={ {}: (0, {}, must-alias) }
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[8,8] parameter(0)
  y = f32[8,8] transpose(x), dimensions={1,0}
  c = f32[8,8] all-reduce(y), replica_groups={}, to_apply=f
  z = f32[8,8] dot(c, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[8,8] tanh(z)
})";

TEST(CollectiveGraphCalls, AreCreatedOncePerIteration) {
  Devices devices(2, {}, Options(2));
  devices.Compile(kChain);
  std::unique_ptr<Buffer> values[2];
  auto renew = [&](int device) { values[device] = *devices.client().BufferFromLiteral(Numbers(1), device); };
  // The calls of both devices in a run.
  auto calls = [&] {
    const int64_t donate[] = {0};
    auto results = devices.executable().ExecuteReplicated({{values[0].get()}, {values[1].get()}},
                                                          {.donate = donate, .synchronous = true});
    EXPECT_TRUE(results.ok()) << results.status();
    for (int device = 0; device < 2; ++device) values[device] = std::move((*results)[device][0]);
    const std::string first = absl::StrJoin(devices.Calls(0), "; ");
    EXPECT_EQ(first, absl::StrJoin(devices.Calls(1), "; "));
    return first;
  };
  constexpr char kCalls[] = "GroupStart; AllReduce 64 f32 sum; GroupEnd";
  renew(0);
  renew(1);
  EXPECT_EQ(calls(), kCalls);  // the first run captures nothing
  EXPECT_EQ(calls(), kCalls);
  EXPECT_EQ(calls(), "");
  EXPECT_EQ(calls(), "");
  const std::unique_ptr<Buffer> keeps_its_place = std::move(values[1]);
  renew(1);  // one rank's argument lies elsewhere: both capture
  EXPECT_EQ(calls(), kCalls);
  EXPECT_EQ(calls(), "");
}

// If one rank cannot capture, no rank launches the graph.
TEST(CollectiveGraphCalls, AreCreatedByAllRanksIfOneIsRefused) {
  Devices plain(2, {}, Options(INT64_MAX)), graphs(2, {}, Options(2));
  plain.Compile(kStep);
  graphs.Compile(kStep);
  for (int run = 0; run < 4; ++run) {
    if (run == 1) graphs.log().SetFault({.kind = CommunicatorFault::Kind::kRefused, .device = 1, .call = 1});
    const auto want = plain.Run(ListOf(Numbers(run))), got = graphs.Run(ListOf(Numbers(run)));
    ASSERT_TRUE(want.ok()) << want.status();
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(*want, *got) << "run " << run;
    EXPECT_EQ(graphs.Calls(0).empty(), false) << "run " << run;
  }
}

// Of a rank that waits in a loop of its own, which is a part of the graph, while the others are at a collective of
// theirs.
TEST(CollectiveGraphDeadline, EndsTheGraphsOfAll) {
  Devices devices(2, {}, Options(1));
  devices.Compile(R"(HloModule hang, replica_count=2
f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
again { n = u32[] parameter(0)  zero = u32[] constant(0)  ROOT t = pred[] compare(n, zero), direction=NE }
same { n = u32[] parameter(0)  big = u32[1024] broadcast(n), dimensions={}  one = u32[1] slice(big), slice={[0:1]}  ROOT m = u32[] reshape(one) }
ENTRY main {
  on = u32[] parameter(0)
  id = u32[] replica-id()
  mine = u32[] multiply(id, on)
  n = u32[] while(mine), condition=again, body=same
  x = f32[] convert(n)
  ROOT y = f32[] all-reduce(x), replica_groups={}, to_apply=f
})");
  const std::vector<Literal> off = ListOf(LiteralUtil::CreateR0<uint32_t>(0)),
                             on = ListOf(LiteralUtil::CreateR0<uint32_t>(1));
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(devices.Run(off).ok());
  for (int run = 0; run < 2; ++run) {
    const absl::Time before = absl::Now();
    const absl::Status status = devices.Run(on, absl::Milliseconds(300)).status();
    EXPECT_LT(absl::Now() - before, absl::Seconds(3));
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
    for (int after = 0; after < 3; ++after) ASSERT_TRUE(devices.Run(off).ok());
  }
}

}  // namespace
}  // namespace hilo::gpu
