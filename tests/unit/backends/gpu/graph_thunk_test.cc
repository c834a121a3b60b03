// Graphs of thunks: runs of one executable give what runs without graphs give, on other inputs and at other addresses
// too.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "base/log_sink.h"
#include "hilo/client.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/runtime_access.h"

namespace hilo::gpu {
namespace {

// Every instruction a kernel, so that there is something to capture.
constexpr char kChain[] = R"(
HloModule chain
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[64,64] parameter(0)
  y = f32[64,64] parameter(1)
  z = f32[64,64] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[64,64] transpose(z), dimensions={1,0}
  u = f32[64,64] dot(t, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  zero = f32[] constant(0)
  ROOT r = f32[64] reduce(u, zero), dimensions={0}, to_apply=add
})";

constexpr char kLoop[] = R"(
HloModule loop
c { s = (s32[], f32[64,64]) parameter(0)  i = s32[] get-tuple-element(s), index=0  e = s32[] constant(9)  ROOT t = pred[] compare(i, e), direction=LT }
b {
  s = (s32[], f32[64,64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[64,64] get-tuple-element(s), index=1
  o = s32[] constant(1)
  n = s32[] add(i, o)
  w = f32[64,64] dot(v, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[64,64] transpose(w), dimensions={1,0}
  u = f32[64,64] dot(t, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  q = f32[64,64] tanh(u)
  ROOT r = (s32[], f32[64,64]) tuple(n, q)
}
ENTRY main {
  x = f32[64,64] parameter(0)
  y = f32[64,64] parameter(1)
  a = f32[64,64] add(x, y)
  z = s32[] constant(0)
  t = (s32[], f32[64,64]) tuple(z, a)
  l = (s32[], f32[64,64]) while(t), condition=c, body=b
  ROOT r = f32[64,64] get-tuple-element(l), index=1
})";

// The numbers decide how many iterations it has, and which branch it takes.
constexpr char kChoices[] = R"(
HloModule choices
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
first { v = f32[64,64] parameter(0)  t = f32[64,64] transpose(v), dimensions={1,0}  ROOT w = f32[64,64] dot(v, t), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
second { v = f32[64,64] parameter(0)  ROOT w = f32[64,64] transpose(v), dimensions={1,0} }
third { v = f32[64,64] parameter(0)  t = f32[64,64] transpose(v), dimensions={1,0}  ROOT w = f32[64,64] add(v, t) }
c {
  s = (f32[], f32[64,64]) parameter(0)
  n = f32[] get-tuple-element(s), index=0
  e = f32[] constant(3000)
  ROOT t = pred[] compare(n, e), direction=LT
}
b {
  s = (f32[], f32[64,64]) parameter(0)
  n = f32[] get-tuple-element(s), index=0
  v = f32[64,64] get-tuple-element(s), index=1
  k = s32[] convert(n)
  three = s32[] constant(3)
  which = s32[] remainder(k, three)
  w = f32[64,64] conditional(which, v, v, v), branch_computations={first, second, third}
  q = f32[64,64] tanh(w)
  zero = f32[] constant(0)
  m = f32[] reduce(q, zero), dimensions={0,1}, to_apply=add
  a = f32[] abs(m)
  p = f32[] add(n, a)
  ROOT r = (f32[], f32[64,64]) tuple(p, q)
}
ENTRY main {
  x = f32[64,64] parameter(0)
  y = f32[64,64] parameter(1)
  a = f32[64,64] add(x, y)
  zero = f32[] constant(0)
  n = f32[] reduce(a, zero), dimensions={0,1}, to_apply=add
  t = (f32[], f32[64,64]) tuple(n, a)
  l = (f32[], f32[64,64]) while(t), condition=c, body=b
  limit = f32[] constant(1500)
  few = pred[] compare(n, limit), direction=LT
  v = f32[64,64] get-tuple-element(l), index=1
  ROOT r = f32[64,64] conditional(few, v, v), true_computation=first, false_computation=third
})";

std::unique_ptr<Client> MakeClient(int64_t graph_thunks_from) {
  auto client = RuntimeAccess::CreateClient(
      {.device_count = 1},
      CreateGpuCompiler(kEmulatedPlatform, {.kernels = {.sequences = false}, .graph_thunks_from = graph_thunks_from}));
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

Literal Numbers(int seed) {
  std::vector<float> values(64 * 64);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 7 + static_cast<size_t>(seed) * 13) % 31) / 64;
  return LiteralUtil::CreateFromArray<float>(values, {64, 64});
}

class GraphThunkTest : public testing::TestWithParam<const char*> {};

TEST_P(GraphThunkTest, RunsAreAsWithoutGraphs) {
  const std::unique_ptr<Client> plain = MakeClient(INT64_MAX), graphs = MakeClient(1);
  const auto expected = RuntimeAccess::Compile(plain.get(), *ParseHloModule(GetParam())),
             compiled = RuntimeAccess::Compile(graphs.get(), *ParseHloModule(GetParam()));
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  // Arguments that are kept make others lie elsewhere: more addresses than there are graphs, then old ones again.
  std::vector<Literal> inputs;
  for (int i = 0; i < 8; ++i) inputs.push_back(Numbers(i));
  for (int i = 0; i < 12; ++i) {
    const Literal &x = inputs[i % 8], &y = inputs[i * 3 % 8];
    const auto want = (*expected)->ExecuteLiterals({&x, &y}), got = (*compiled)->ExecuteLiterals({&x, &y});
    ASSERT_TRUE(want.ok()) << want.status();
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(*want, *got) << "run " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, GraphThunkTest, testing::Values(kChain, kLoop, kChoices), [](const auto& info) {
  return std::string(info.index == 0 ? "Chain" : info.index == 1 ? "Loop" : "Choices");
});

TEST(GraphThunkTest, AreInTheDump) {
  for (const bool overlap : {true, false}) {
    const auto compiler =
        CreateGpuCompiler(kEmulatedPlatform, {.kernels = {.sequences = false, .overlap_collectives = overlap}});
    const auto text = compiler->Emit(*ParseHloModule(kLoop), {}, "thunks");
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_TRUE(absl::StrContains(*text, " body\n  graph\n    kernel")) << *text;
  }
}

// A refusal is logged, and the next run tries once more.
TEST(GraphThunkTest, RefusedCaptures) {
  for (const int refused : {1, 2}) {
    setenv("HILO_EMULATED", absl::StrCat("refuse-captures=", refused).c_str(), 1);
    const std::unique_ptr<Client> client = MakeClient(1);
    const auto executable = RuntimeAccess::Compile(client.get(), *ParseHloModule(kChain));
    unsetenv("HILO_EMULATED");
    ASSERT_TRUE(executable.ok()) << executable.status();
    std::vector<std::string> log;
    SetLogSink([&](LogSeverity, absl::string_view message) { log.emplace_back(message); });
    const Literal x = Numbers(1), y = Numbers(2);
    const auto want = (*executable)->ExecuteLiterals({&x, &y});
    ASSERT_TRUE(want.ok()) << want.status();
    for (int run = 1; run < 6; ++run) {
      const auto got = (*executable)->ExecuteLiterals({&x, &y});
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(*want, *got) << "run " << run;
    }
    SetLogSink(nullptr);
    ASSERT_EQ(log.size(), static_cast<size_t>(refused));
    EXPECT_TRUE(absl::StrContains(log[0], "refuses a graph of 3 operations (refusal 1 of at most 2)")) << log[0];
  }
}

// The host does not poll loops with a known trip count in each iteration; their runs can still be cancelled.
TEST(CountedLoopTest, EndsWithTheDeadline) {
  std::string text(kLoop);
  text.replace(text.find("constant(9)"), 11, "constant(1000000000)");
  const auto compiler = CreateGpuCompiler(kEmulatedPlatform, {.kernels = {.sequences = false}});
  const auto thunks = compiler->Emit(*ParseHloModule(text), {}, "thunks");
  ASSERT_TRUE(thunks.ok()) << thunks.status();
  EXPECT_TRUE(absl::StrContains(*thunks, "loop of 1000000000 iterations\n body\n")) << *thunks;
  const std::unique_ptr<Client> client = MakeClient(4);
  const auto executable = RuntimeAccess::Compile(client.get(), *ParseHloModule(text));
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal x = Numbers(1);
  const auto first = *client->BufferFromLiteral(x, 0), second = *client->BufferFromLiteral(x, 0);
  const auto results =
      (*executable)->Execute({first.get(), second.get()}, {.deadline = absl::Milliseconds(100), .synchronous = true});
  EXPECT_EQ(results.status().code(), absl::StatusCode::kDeadlineExceeded) << results.status();
}

// Control flow of which the device knows the conditions is part of the graph; its loops can be ended.
TEST(ControlFlowTest, IsInTheGraph) {
  const auto compiler = CreateGpuCompiler(kEmulatedPlatform, {.kernels = {.sequences = false}});
  const auto text = compiler->Emit(*ParseHloModule(kChoices), {}, "thunks");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_TRUE(absl::StartsWith(*text, "graph\n  kernel")) << *text;
  EXPECT_TRUE(absl::StrContains(*text, "\n  while (")) << *text;
  EXPECT_TRUE(absl::StrContains(*text, "\n  conditional (")) << *text;
}

TEST(ControlFlowTest, CapturedLoopsEndWithTheDeadline) {
  std::string text(kChoices);
  text.replace(text.find("constant(3000)"), 14, "constant(inf)");
  const std::unique_ptr<Client> client = MakeClient(4);
  const auto executable = RuntimeAccess::Compile(client.get(), *ParseHloModule(text));
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal x = Numbers(1);
  const auto first = *client->BufferFromLiteral(x, 0), second = *client->BufferFromLiteral(x, 0);
  for (int run = 0; run < 3; ++run) {  // from the second on as a graph
    const auto results =
        (*executable)->Execute({first.get(), second.get()}, {.deadline = absl::Milliseconds(50), .synchronous = true});
    EXPECT_EQ(results.status().code(), absl::StatusCode::kDeadlineExceeded) << results.status();
  }
}

// A short one is part of the graph of what is around it.
TEST(CountedLoopTest, IsInTheGraphAroundIt) {
  const auto compiler = CreateGpuCompiler(kEmulatedPlatform, {.kernels = {.sequences = false}, .graph_thunks_from = 1});
  const auto thunks = compiler->Emit(*ParseHloModule(kLoop), {}, "thunks");
  ASSERT_TRUE(thunks.ok()) << thunks.status();
  EXPECT_TRUE(absl::StrContains(*thunks, "graph\n  kernel")) << *thunks;
  EXPECT_TRUE(absl::StrContains(*thunks, "\n  loop of 9 iterations\n   body\n    graph\n")) << *thunks;
}

}  // namespace
}  // namespace hilo::gpu
