#include "hilo/client.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "hlo/import/hlo_proto.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/watchdog.h"

namespace hilo {
namespace {

constexpr char kAdd[] = R"(HloModule add
ENTRY main { x = f32[4] parameter(0)  y = f32[4] parameter(1)  ROOT z = f32[4] add(x, y) })";

constexpr char kForever[] = R"(HloModule forever
condition { s = s32[] parameter(0)  ROOT t = pred[] constant(true) }
body { s = s32[] parameter(0)  one = s32[] constant(1)  ROOT n = s32[] add(s, one) }
ENTRY main { x = s32[] parameter(0)  ROOT w = s32[] while(x), condition=condition, body=body })";

// Too much work for the calling thread.
constexpr char kBig[] = R"(HloModule big
ENTRY main { x = f64[2000000] parameter(0)  y = f64[2000000] exponential(x)  ROOT z = f64[2000000] log(y) })";

constexpr char kAliased[] = R"(HloModule aliased, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY main { x = f32[100] parameter(0)  ROOT y = f32[100] add(x, x) })";

std::unique_ptr<Client> ClientWith(ClientOptions options = {}) {
  auto client = Client::Create(options);
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

std::unique_ptr<Executable> MustCompile(Client* client, absl::string_view text) {
  auto executable = client->CompileHloText(text);
  EXPECT_TRUE(executable.ok()) << executable.status();
  return *std::move(executable);
}

std::unique_ptr<Buffer> MustPut(Client* client, const Literal& literal) {
  auto buffer = client->BufferFromLiteral(literal);
  EXPECT_TRUE(buffer.ok()) << buffer.status();
  return *std::move(buffer);
}

Literal Filled(int64_t size, float value) {
  Literal literal = *Literal::Create(ShapeUtil::MakeShape(F32, {size}));
  for (float& one : literal.data<float>()) one = value;
  return literal;
}

int ThreadCount() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) count += entry.is_directory();
  return count;
}

class ClientTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ClientTest, AddsLiterals) {
  auto client = ClientWith({.platform = GetParam()});
  auto add = MustCompile(client.get(), kAdd);
  const Literal x = LiteralUtil::CreateR1<float>({1, 2, 3, 4}), y = LiteralUtil::CreateR1<float>({10, 20, 30, 40});
  auto sum = add->ExecuteLiterals({&x, &y});
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(*sum, LiteralUtil::CreateR1<float>({11, 22, 33, 44}));
}

// Seconds of work for the compiler.
std::string LargeProgram() {
  std::string text = "HloModule large\nENTRY main {\n  v0 = f32[40] parameter(0)\n  v1 = f32[40] parameter(1)\n";
  const char* const ops[] = {"add", "multiply", "atan2", "subtract", "power", "maximum"};
  constexpr int kCount = 6000;
  for (int i = 2; i < kCount; ++i) {
    absl::StrAppend(&text, i == kCount - 1 ? "  ROOT v" : "  v", i, " = f32[40] ", ops[i % 6], "(v", i - 1, ", v",
                    i * 7 % (i - 1), ")\n");
  }
  return text + "}\n";
}

TEST(RuntimeTest, Deadline_EndsCompilation) {
  auto client = ClientWith();
  const std::string text = LargeProgram();
  for (const int milliseconds : {0, 30, 300}) {
    auto token = std::make_shared<CancellationToken>();
    const auto executable =
        client->CompileHloText(text, {.deadline = absl::Milliseconds(milliseconds), .cancellation = token});
    EXPECT_EQ(executable.status().code(), absl::StatusCode::kDeadlineExceeded);
    // Where a pass was interrupted, its name follows.
    const std::string message(executable.status().message());
    EXPECT_EQ(message.rfind("the compilation was ended by its deadline", 0), 0u) << message;
  }
  MustCompile(client.get(), kAdd);
}

TEST_P(ClientTest, CancellationToken_EndsCompilation) {
  auto client = ClientWith({.platform = GetParam()});
  auto token = std::make_shared<CancellationToken>();
  EXPECT_TRUE(client->CompileHloText(kAdd, {.deadline = absl::Hours(1), .cancellation = token}).ok());
  token->Cancel();
  EXPECT_EQ(client->CompileHloText(kAdd, {.cancellation = token}).status().ToString(),
            "CANCELLED: the compilation was cancelled");
  EXPECT_TRUE(client->CompileHloText(kAdd).ok());
}

TEST_P(ClientTest, DeadlineEndsARun) {
  auto client = ClientWith({.platform = GetParam()});
  auto forever = MustCompile(client.get(), kForever);
  auto x = MustPut(client.get(), LiteralUtil::CreateR0<int32_t>(0));
  const absl::Time start = absl::Now();
  auto result = forever->Execute({x.get()}, {.deadline = absl::Milliseconds(50), .synchronous = true});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded) << result.status();
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
}

TEST_P(ClientTest, TokenEndsARunOnTheQueue) {
  auto client = ClientWith({.platform = GetParam()});
  auto forever = MustCompile(client.get(), kForever);
  auto x = MustPut(client.get(), LiteralUtil::CreateR0<int32_t>(0));
  auto token = std::make_shared<CancellationToken>();
  std::thread canceller([token] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    token->Cancel();
  });
  auto result = forever->Execute({x.get()}, {.cancellation = token});
  const absl::Status status = result.ok() ? (*result)[0]->Await() : result.status();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  canceller.join();
}

// Programs of one instruction that takes seconds to minutes.
constexpr const char* kLongPrograms[] = {
    R"(HloModule windows
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[16384,256] iota(), iota_dimension=0
  z = f32[] constant(0)
  ROOT y = f32[16384,256] reduce-window(x, z), window={size=16383x1 pad=8191_8191x0_0}, to_apply=add
})",
    R"(HloModule choices
ge { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=GE }
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[1024,1024] iota(), iota_dimension=0
  s = f32[512,512] iota(), iota_dimension=1
  z = f32[] constant(0)
  ROOT y = f32[1024,1024] select-and-scatter(x, s, z), window={size=513x513}, select=ge, scatter=add
})",
    R"(HloModule product
ENTRY main {
  x = s32[6144,6144] iota(), iota_dimension=0
  ROOT y = s32[6144,6144] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
    R"(HloModule convolution
ENTRY main {
  x = f32[1,384,384,64] iota(), iota_dimension=1
  k = f32[31,31,64,64] iota(), iota_dimension=2
  ROOT y = f32[1,384,384,64] convolution(x, k), window={size=31x31 pad=15_15x15_15}, dim_labels=b01f_01io->b01f
})",
    R"(HloModule order
less { a = s32[] parameter(0)  b = s32[] parameter(1)  c = s32[] constant(40503)  d = s32[] multiply(a, c)  e = s32[] multiply(b, c)  ROOT f = pred[] compare(d, e), direction=LT }
ENTRY main {
  x = s32[16777216] iota(), iota_dimension=0
  ROOT y = s32[16777216] sort(x), dimensions={0}, to_apply=less
})",
    R"(HloModule loop_in_a_map
cond { s = (s64[], f32[]) parameter(0)  i = s64[] get-tuple-element(s), index=0  n = s64[] constant(1000000000000000000)  ROOT r = pred[] compare(i, n), direction=LT }
body {
  s = (s64[], f32[]) parameter(0)
  i = s64[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  one = s64[] constant(1)
  i1 = s64[] add(i, one)
  y = f32[] cosine(x)
  ROOT t = (s64[], f32[]) tuple(i1, y)
}
f {
  x = f32[] parameter(0)
  z = s64[] constant(0)
  t = (s64[], f32[]) tuple(z, x)
  l = (s64[], f32[]) while(t), condition=cond, body=body
  ROOT r = f32[] get-tuple-element(l), index=1
}
ENTRY main { x = f32[2] constant({1, 2})  ROOT m = f32[2] map(x), dimensions={0}, to_apply=f })",
    R"(HloModule loop_in_a_comparison
cond { s = (s64[], f32[]) parameter(0)  i = s64[] get-tuple-element(s), index=0  n = s64[] constant(1000000000000000000)  ROOT r = pred[] compare(i, n), direction=LT }
body {
  s = (s64[], f32[]) parameter(0)
  i = s64[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  one = s64[] constant(1)
  i1 = s64[] add(i, one)
  y = f32[] cosine(x)
  ROOT t = (s64[], f32[]) tuple(i1, y)
}
less {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  z = s64[] constant(0)
  t = (s64[], f32[]) tuple(z, x)
  l = (s64[], f32[]) while(t), condition=cond, body=body
  r = f32[] get-tuple-element(l), index=1
  ROOT c = pred[] compare(r, y), direction=LT
}
ENTRY main { x = f32[2] constant({2, 1})  ROOT s = f32[2] sort(x), dimensions={0}, to_apply=less })"};

// Without polls these programs run for minutes; with them they stop within some 100 ms on an idle machine.
constexpr absl::Duration kMaxTimeToStop = absl::Seconds(3);

absl::Duration TimeUntilDeadlineExceeded(Client* client, const std::string& text) {
  auto program = MustCompile(client, text);
  const absl::Time start = absl::Now();
  auto result = program->Execute({}, {.deadline = absl::Milliseconds(50), .synchronous = true});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded) << text << result.status();
  return absl::Now() - start;
}

// Kernels of emulated GPUs are not interrupted.
class HostClientTest : public ClientTest {};

TEST_P(HostClientTest, DeadlineEndsLongInstructions) {
  auto client = ClientWith({.platform = GetParam()});
  for (const char* text : kLongPrograms)
    EXPECT_LT(TimeUntilDeadlineExceeded(client.get(), text), kMaxTimeToStop) << text;
}

// 2^34 elements that are in no memory.
TEST(RuntimeTest, DeadlineEndsALongFusion) {
  auto client = ClientWith();
  EXPECT_LT(TimeUntilDeadlineExceeded(client.get(), R"(HloModule sum
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  i = f32[131072,131072] iota(), iota_dimension=0
  x = f32[131072,131072] sine(i)
  z = f32[] constant(0)
  ROOT y = f32[] reduce(x, z), dimensions={0,1}, to_apply=add
})"),
            kMaxTimeToStop);
}

// Programs that may not end, or take long, return to the caller at once.
TEST(RuntimeTest, LoopsThatCountDownDoNotRunInline) {
  auto client = ClientWith();
  for (const char* condition : {"z = s32[] constant(0)  ROOT c = pred[] compare(i, z), direction=GT",
                                "v = f32[2000] get-tuple-element(p), index=1  s = f32[1] slice(v), slice={[0:1]}  t = "
                                "f32[] reshape(s)  o = f32[] constant(2)  "
                                "ROOT c = pred[] compare(t, o), direction=LT"}) {
    auto program = MustCompile(
        client.get(),
        absl::StrCat(
            "HloModule down\ncond { p = (s32[], f32[2000]) parameter(0)  i = s32[] get-tuple-element(p), index=0  ",
            condition, " }\n", R"(body {
  p = (s32[], f32[2000]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[2000] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] subtract(i, one)
  y = f32[2000] sine(x)
  ROOT t = (s32[], f32[2000]) tuple(j, y)
}
ENTRY main {
  x = f32[2000] iota(), iota_dimension=0
  n = s32[] constant(200000)
  t = (s32[], f32[2000]) tuple(n, x)
  w = (s32[], f32[2000]) while(t), condition=cond, body=body
  ROOT r = f32[2000] get-tuple-element(w), index=1
})"));
    EXPECT_GE(program->estimated_nanoseconds(), 100'000'000) << condition;
    auto token = std::make_shared<CancellationToken>();
    auto results = program->Execute({}, {.cancellation = token});
    ASSERT_TRUE(results.ok()) << results.status();
    token->Cancel();
    EXPECT_EQ((*results)[0]->Await().code(), absl::StatusCode::kCancelled);
  }
}

INSTANTIATE_TEST_SUITE_P(Platforms, ClientTest, ::testing::Values("interpreter", "cpu", "cuda-emulated"));
INSTANTIATE_TEST_SUITE_P(Platforms, HostClientTest, ::testing::Values("interpreter", "cpu"));

TEST(RuntimeTest, ResultsAndErrorsFlowThroughTheQueue) {
  auto client = ClientWith();
  auto big = MustCompile(client.get(), kBig);
  auto x = MustPut(client.get(), *Literal::Create(ShapeUtil::MakeShape(F64, {2000000})));
  auto first = big->Execute({x.get()});
  ASSERT_TRUE(first.ok()) << first.status();
  x.reset();  // the run keeps it
  auto second = big->Execute({(*first)[0].get()});
  ASSERT_TRUE(second.ok()) << second.status();
  (*first)[0].reset();
  big.reset();
  EXPECT_EQ((*second)[0]->ToLiteral()->Get<double>({1999999}), 0.0);

  big = MustCompile(client.get(), kBig);
  auto failed = big->Execute({(*second)[0].get()}, {.deadline = absl::ZeroDuration()});
  ASSERT_TRUE(failed.ok()) << failed.status();
  auto after = big->Execute({(*failed)[0].get()});
  const absl::Status status = after.ok() ? (*after)[0]->Await() : after.status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
}

// No run is awaited before the last has been started, so that they wait in the queue.
TEST(RuntimeTest, RunsWithSideEffectsKeepTheirOrderAndOthersTheirValues) {
  auto client = ClientWith({.num_threads = 2});
  auto draw = MustCompile(client.get(), R"(HloModule draws
ENTRY main {
  x = f64[100000] parameter(0)
  s = f64[100000] sine(x)
  state = u64[2] rng-get-and-update-state(), delta=1
  ROOT t = (u64[2], f64[100000]) tuple(state, s)
})");
  auto twice = MustCompile(client.get(), R"(HloModule twice
ENTRY main {
  x = f64[100000] parameter(0)
  y = f64[100000] sine(x)
  ROOT z = f64[100000] add(y, x)
})");
  constexpr int kRuns = 60;
  std::vector<std::unique_ptr<Buffer>> inputs;
  std::vector<std::vector<std::unique_ptr<Buffer>>> draws, sums;
  for (int i = 0; i < kRuns; ++i) {
    Literal x = *Literal::Create(ShapeUtil::MakeShape(F64, {100000}));
    x.data<double>()[99999] = i;
    inputs.push_back(MustPut(client.get(), x));
  }
  for (int i = 0; i < kRuns; ++i) {
    auto drawn = draw->Execute({inputs[i].get()});
    auto sum = twice->Execute({inputs[i].get()});
    ASSERT_TRUE(drawn.ok() && sum.ok()) << drawn.status() << sum.status();
    draws.push_back(*std::move(drawn));
    sums.push_back(*std::move(sum));
  }
  const uint64_t first = draws[0][0]->ToLiteral()->Get<uint64_t>({0});
  for (int i = 0; i < kRuns; ++i) {
    EXPECT_EQ(draws[i][0]->ToLiteral()->Get<uint64_t>({0}), first + i);
    EXPECT_NEAR(sums[i][0]->ToLiteral()->Get<double>({99999}), std::sin(i) + i, 1e-12);
  }
}

TEST(RuntimeTest, ProtosCompileAsTextDoes) {
  auto client = ClientWith();
  auto bytes = HloModuleToProto(**ParseHloModule(kAdd));
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  auto executable = client->CompileHloProto(*bytes);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal two = Filled(4, 2);
  EXPECT_EQ(*(*executable)->ExecuteLiterals({&two, &two}), Filled(4, 4));
  EXPECT_EQ(client->CompileHloProto("\x08").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(RuntimeTest, ResultsOutliveTheClient) {
  auto client = ClientWith();
  auto big = MustCompile(client.get(), kBig);
  auto x = MustPut(client.get(), *Literal::Create(ShapeUtil::MakeShape(F64, {2000000})));
  auto result = big->Execute({x.get()});
  ASSERT_TRUE(result.ok()) << result.status();
  big.reset();
  client.reset();
  EXPECT_TRUE((*result)[0]->ToLiteral().ok());
}

TEST(RuntimeTest, Callback_MayReleaseTheClient) {
  auto client = ClientWith();
  auto big = MustCompile(client.get(), kBig);
  auto x = MustPut(client.get(), *Literal::Create(ShapeUtil::MakeShape(F64, {2000000})));
  auto result = big->Execute({x.get()});
  auto later = big->Execute({x.get()});
  ASSERT_TRUE(result.ok() && later.ok());
  client.reset();
  Event released;
  (*result)[0]->OnReady([&](const absl::Status&) {
    big.reset();
    released.Set(absl::OkStatus());
  });
  EXPECT_TRUE((*later)[0]->Await().ok());
  EXPECT_TRUE(released.Await().ok());  // the runs are independent: `later` may end first
}

TEST(RuntimeTest, DonatedMemoryBecomesTheResult) {
  auto client = ClientWith();
  auto twice = MustCompile(client.get(), kAliased);
  auto x = MustPut(client.get(), Filled(100, 3));
  const uint8_t* memory = (*x->Bytes()).get();
  const int64_t zero = 0;
  auto result = twice->Execute({x.get()}, {.donate = absl::MakeConstSpan(&zero, 1), .synchronous = true});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*(*result)[0]->Bytes()).get(), memory);
  EXPECT_EQ(*(*result)[0]->ToLiteral(), Filled(100, 6));
  EXPECT_EQ(x->Await().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(twice->Execute({x.get()}).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(RuntimeTest, RefusedRunsTakeNoDonations) {
  auto client = ClientWith();
  auto twice = MustCompile(client.get(), kAliased);
  auto x = MustPut(client.get(), Filled(100, 3));
  const int64_t donate[] = {0, 99};
  const auto refused = twice->Execute({x.get()}, {.donate = donate, .synchronous = true});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(*x->ToLiteral(), Filled(100, 3));
}

TEST(RuntimeTest, AliasedArgumentsThatAreKeptOrSharedAreCopied) {
  auto client = ClientWith();
  auto twice = MustCompile(client.get(), kAliased);
  auto x = MustPut(client.get(), Filled(100, 3));
  auto kept = twice->Execute({x.get()}, {.synchronous = true});
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(*x->ToLiteral(), Filled(100, 3));
  auto reader = x->Bytes();  // another reference still reads it
  const int64_t zero = 0;
  auto shared = twice->Execute({x.get()}, {.donate = absl::MakeConstSpan(&zero, 1), .synchronous = true});
  ASSERT_TRUE(shared.ok()) << shared.status();
  EXPECT_EQ(reinterpret_cast<const float*>(reader->get())[99], 3.0f);
  EXPECT_EQ(*(*shared)[0]->ToLiteral(), Filled(100, 6));
}

TEST(RuntimeTest, HostMemoryIsLentIfAligned) {
  auto client = ClientWith();
  alignas(64) static float values[101] = {1, 2, 3, 4};
  const Shape shape = ShapeUtil::MakeShape(F32, {4});
  int released = 0;
  {
    auto lent = client->BufferFromHostMemory(values, shape, 0, [&] { ++released; });
    ASSERT_TRUE(lent.ok()) << lent.status();
    EXPECT_EQ((*(*lent)->Bytes()).get(), reinterpret_cast<uint8_t*>(values));
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  auto copied = client->BufferFromHostMemory(values + 1, shape, 0, [&] { ++released; });
  ASSERT_TRUE(copied.ok()) << copied.status();
  EXPECT_EQ(released, 2);
  EXPECT_EQ(*(*copied)->ToLiteral(), LiteralUtil::CreateR1<float>({2, 3, 4, 0}));
}

// Frameworks leave zeros, or other bits, above those of narrow elements.
TEST(RuntimeTest, UnusedBitsOfHostMemory_DoNotMatter) {
  for (const char* platform : {"interpreter", "cpu", "cuda-emulated"}) {
    auto client = Client::Create({.platform = platform});
    ASSERT_TRUE(client.ok()) << client.status();
    auto convert =
        (*client)->CompileHloText("HloModule m ENTRY e { p = s4[4] parameter(0) ROOT r = s32[4] convert(p) }");
    ASSERT_TRUE(convert.ok()) << convert.status();
    alignas(64) static const uint8_t bytes[] = {0x08, 0x0f, 0xf2, 0x07, 0x09};
    const Shape shape = ShapeUtil::MakeShape(S4, {4});
    int released = 0;
    const auto expect = [&](const uint8_t* data, const std::vector<int>& values, std::function<void()> release) {
      auto lent = (*client)->BufferFromHostMemory(data, shape, 0, std::move(release));
      ASSERT_TRUE(lent.ok()) << lent.status();
      auto results = (*convert)->Execute({lent->get()});
      ASSERT_TRUE(results.ok()) << results.status();
      EXPECT_EQ(*(*results)[0]->ToLiteral(), LiteralUtil::CreateR1<int>({values[0], values[1], values[2], values[3]}));
    };
    expect(bytes, {-8, -1, 2, 7}, [&] { ++released; });
    expect(bytes + 1, {-1, 2, 7, -7}, nullptr);
    EXPECT_EQ(released, 1);
  }
}

TEST(RuntimeTest, MemoryLimitSaysWhatIsFree) {
  auto client = ClientWith({.memory_limit = 1000});
  auto held = MustPut(client.get(), Filled(100, 1));
  auto refused = client->BufferFromLiteral(Filled(200, 1));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(absl::StrContains(refused.status().message(), "800 bytes: 600 of the limit of 1000")) << refused.status();
  held.reset();
  EXPECT_TRUE(client->BufferFromLiteral(Filled(200, 1)).ok());
  EXPECT_EQ(client->memory_stats().bytes_in_use, 0);
  EXPECT_EQ(client->memory_stats().peak_bytes, 800);
}

class CountingAllocator : public HostAllocator {
 public:
  void* Allocate(int64_t size, int64_t alignment) override {
    ++live;
    return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  }
  void Free(void* memory, int64_t) override {
    --live;
    std::free(memory);
  }
  int live = 0;
};

TEST(RuntimeTest, BuffersComeFromTheEmbeddersAllocator) {
  CountingAllocator allocator;
  auto client = ClientWith({.host_allocator = &allocator});
  auto add = MustCompile(client.get(), kAdd);
  auto x = MustPut(client.get(), Filled(4, 1));
  auto result = add->Execute({x.get(), x.get()});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(allocator.live, 2);
  result->clear();
  x.reset();
  EXPECT_EQ(allocator.live, 0);
}

TEST(RuntimeTest, WrongArgumentsAreNamed) {
  auto client = ClientWith();
  auto add = MustCompile(client.get(), kAdd);
  auto x = MustPut(client.get(), Filled(4, 1)), wrong = MustPut(client.get(), Filled(5, 1));
  EXPECT_EQ(add->Execute({x.get()}).status().message(),
            "the program takes 2 arguments (leaves of its parameters), but got 1");
  EXPECT_TRUE(
      absl::StrContains(add->Execute({x.get(), wrong.get()}).status().message(), "argument 1: expected f32[4]"));
  EXPECT_EQ(add->Execute({x.get(), nullptr}).status().message(), "argument 1 is null");
  EXPECT_EQ(add->Execute({x.get(), x.get()}, {.device = 1}).status().message(),
            "there is no device 1; the client has 1");
}

TEST(RuntimeTest, OneThreadIsEnough) {
  const int before = ThreadCount();
  auto client = ClientWith({.num_threads = 1});
  auto big = MustCompile(client.get(), kBig);
  auto x = MustPut(client.get(), *Literal::Create(ShapeUtil::MakeShape(F64, {2000000})));
  ASSERT_TRUE(big->Execute({x.get()}, {.synchronous = true}).ok());
  EXPECT_EQ(ThreadCount(), before);
}

TEST(RuntimeTest, ForkedChild_GetsAnError) {
  auto client = ClientWith({.num_threads = 2});
  auto big = MustCompile(client.get(), kBig);
  auto x = MustPut(client.get(), *Literal::Create(ShapeUtil::MakeShape(F64, {2000000})));
  auto running = big->Execute({x.get()});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool told = big->Execute({x.get()}).status().code() == absl::StatusCode::kFailedPrecondition &&
                      client->CompileHloText(kAdd).status().code() == absl::StatusCode::kFailedPrecondition;
    big.reset();
    client.reset();  // must not wait for threads that are not there
    _exit(told ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(running.ok());
}

TEST(CompileDeadlineTest, ForkedChild_HasItsOwn) {
  CompileOptions long_ones{.deadline = absl::Hours(1)};
  const CompileDeadline first(&long_ones);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    CompileOptions options{.deadline = absl::Milliseconds(20)};
    const CompileDeadline deadline(&options);
    for (int i = 0; i < 3000 && options.cancellation->status("").ok(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    _exit(options.cancellation->status("").ok() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(CompileDeadlineTest, EndsWithItsScope) {
  CompileOptions options{.deadline = absl::Milliseconds(50)};
  {
    const CompileDeadline deadline(&options);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_TRUE(options.cancellation->status("").ok());
}

// What was refused has been neither in use nor a peak.
TEST(RuntimeTest, MemoryThatIsNotThere_IsNotCounted) {
  auto client = ClientWith();
  const Shape huge = ShapeUtil::MakeShape(F32, {int64_t{1} << 58});
  const uint8_t byte = 0;
  EXPECT_EQ(client->BufferFromHostMemory(&byte, huge, 0, nullptr).status().message(),
            "cannot allocate 1152921504606846976 bytes; 0 are in use, at most 0 were");
  EXPECT_EQ(client->memory_stats().bytes_in_use, 0);
  EXPECT_EQ(client->memory_stats().peak_bytes, 0);
}

TEST(RuntimeTest, UnknownPlatformsAreListed) {
  EXPECT_EQ(Client::Create({.platform = "tpu"}).status().message(),
            "there is no platform 'tpu'; expected one of interpreter, cpu, cuda, cuda-emulated");
}

}  // namespace
}  // namespace hilo
