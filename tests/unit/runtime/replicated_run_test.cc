#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hilo/client.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/lapack/lapack_targets.h"
#include "runtime/transfer_ops.h"

namespace hilo {
namespace {

constexpr char kDoubleOnFour[] = R"(HloModule double, replica_count=2, num_partitions=2
ENTRY main { x = f32[] parameter(0)  ROOT y = f32[] add(x, x) })";

// Counts up to 100 from the argument; never ends for arguments above that.
constexpr char kCount[] = R"(HloModule count, replica_count=2
condition { s = s32[] parameter(0)  end = s32[] constant(100)  ROOT t = pred[] compare(s, end), direction=NE }
body { s = s32[] parameter(0)  one = s32[] constant(1)  most = s32[] constant(1000)  n = s32[] add(s, one)
       ROOT k = s32[] minimum(n, most) }
ENTRY main { x = s32[] parameter(0)  ROOT w = s32[] while(x), condition=condition, body=body })";

class ReplicatedRunTest : public testing::Test {
 protected:
  void Compile(absl::string_view text, int devices, CompileOptions options = {}) {
    auto client = Client::Create({.device_count = devices});
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
    auto executable = client_->CompileHloText(text, options);
    ASSERT_TRUE(executable.ok()) << executable.status();
    executable_ = *std::move(executable);
  }
  template <typename T>
  std::vector<std::vector<Buffer*>> Put(const std::vector<T>& values) {
    std::vector<std::vector<Buffer*>> arguments;
    for (size_t i = 0; i < values.size(); ++i) {
      buffers_.push_back(
          *client_->BufferFromLiteral(LiteralUtil::CreateR0<T>(values[i]), executable_->assignment().devices()[i]));
      arguments.push_back({buffers_.back().get()});
    }
    return arguments;
  }

  std::unique_ptr<Client> client_;
  std::unique_ptr<Executable> executable_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

TEST_F(ReplicatedRunTest, EveryDeviceHasArgumentsAndResultsOfItsOwn) {
  Compile(kDoubleOnFour, 4);
  EXPECT_EQ("{{0,1},{2,3}}", executable_->assignment().ToString());
  for (bool synchronous : {true, false}) {
    auto results = executable_->ExecuteReplicated(Put<float>({1, 2, 3, 4}), {.synchronous = synchronous});
    ASSERT_TRUE(results.ok()) << results.status();
    ASSERT_EQ(4u, results->size());
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(i, (*results)[i][0]->device());
      EXPECT_EQ(2.0f * static_cast<float>(i + 1), (*results)[i][0]->ToLiteral()->GetFirstElement<float>());
    }
  }
}

TEST_F(ReplicatedRunTest, RefusedRunsTakeNoDonations) {
  Compile(kDoubleOnFour, 4);
  std::vector<std::vector<Buffer*>> arguments = Put<float>({1, 2, 3, 4});
  const auto wrong = client_->BufferFromLiteral(LiteralUtil::CreateR1<float>({1, 2}), 3);
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  arguments[3] = {wrong->get()};
  const int64_t zero = 0;
  const auto refused = executable_->ExecuteReplicated(arguments, {.donate = absl::MakeConstSpan(&zero, 1)});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(2.0f, buffers_[1]->ToLiteral()->GetFirstElement<float>());
}

TEST_F(ReplicatedRunTest, DevicesCanBeChosen) {
  Compile(kDoubleOnFour, 5, {.replica_count = 3, .num_partitions = 1, .devices = {4, 0, 2}});
  auto results = executable_->ExecuteReplicated(Put<float>({1, 2, 3}));
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(4, (*results)[0][0]->device());
  EXPECT_EQ(4.0f, (*results)[1][0]->ToLiteral()->GetFirstElement<float>());
}

// Counts to a billion that it never reaches.
constexpr char kEndlessOnTwo[] = R"(HloModule forever, replica_count=2
condition { s = s32[] parameter(0)  end = s32[] constant(1000000000)  ROOT t = pred[] compare(s, end), direction=NE }
body { s = s32[] parameter(0)  one = s32[] constant(1)  most = s32[] constant(1000)  n = s32[] add(s, one)
       ROOT k = s32[] minimum(n, most) }
ENTRY main { x = s32[] parameter(0)  ROOT w = s32[] while(x), condition=condition, body=body })";

// A short program runs in part on the calling thread, but not if that would have to wait for what the devices do.
TEST_F(ReplicatedRunTest, Launch_DoesNotWaitForBusyDevices) {
  Compile(R"(HloModule double, replica_count=2
ENTRY main { x = f32[] parameter(0)  ROOT y = f32[] add(x, x) })",
          2);
  const auto arguments = Put<float>({1, 2});
  const std::unique_ptr<Executable> forever = *client_->CompileHloText(kEndlessOnTwo);
  const absl::Time start = absl::Now();
  auto endless = forever->ExecuteReplicated(Put<int32_t>({1, 1}), {.deadline = absl::Milliseconds(500)});
  auto results = executable_->ExecuteReplicated(arguments);
  EXPECT_LT(absl::Now() - start, absl::Milliseconds(400));
  ASSERT_TRUE(endless.ok() && results.ok());
  EXPECT_EQ(4.0f, (*results)[1][0]->ToLiteral()->GetFirstElement<float>());
  EXPECT_EQ(absl::StatusCode::kDeadlineExceeded, (*endless)[0][0]->ToLiteral().status().code());
}

// Combinations are compiled for vectors of elements, with a rest.
TEST_F(ReplicatedRunTest, ReductionsOfAllKindsAreThoseOfTheInterpreter) {
  const char* programs[] = {"f32 add", "f64 multiply", "bf16 add",      "f16 maximum",  "s8 add", "u64 minimum",
                            "pred or", "c64 add",      "c128 multiply", "f8e4m3fn add", "s4 add"};
  for (const std::string program : programs) {
    const size_t space = program.find(' ');
    const std::string type = program.substr(0, space), op = program.substr(space + 1);
    const std::string text = absl::StrCat(
        "HloModule sums, replica_count=3\ncombine { a = ", type, "[] parameter(0)  b = ", type,
        "[] parameter(1)  ROOT c = ", type, "[] ", op,
        "(a, b) }\nENTRY main { id = u32[] replica-id()  ids = u32[1003] broadcast(id), dimensions={}  i = u32[1003] "
        "iota(), iota_dimension=0  p = u32[1003] multiply(ids, i)",
        "  five = u32[] constant(5)  fives = u32[1003] broadcast(five), dimensions={}  m = u32[1003] remainder(p, "
        "fives)  x = ",
        type, "[1003] convert(m)  ROOT y = ", type, "[1003] all-reduce(x), replica_groups={}, to_apply=combine }");
    std::vector<Literal> literals;
    for (const char* platform : {"interpreter", "cpu"}) {
      auto client = Client::Create({.platform = platform, .device_count = 3});
      ASSERT_TRUE(client.ok()) << client.status();
      auto executable = (*client)->CompileHloText(text);
      ASSERT_TRUE(executable.ok()) << program << ": " << executable.status();
      auto results = (*executable)->ExecuteReplicated(std::vector<std::vector<Buffer*>>(3), {.synchronous = true});
      ASSERT_TRUE(results.ok()) << program << ": " << results.status();
      for (int i : {0, 2}) literals.push_back(*(*results)[i][0]->ToLiteral());
    }
    for (const Literal& literal : literals) EXPECT_EQ(literal.untyped_data(), literals[0].untyped_data()) << program;
  }
}

TEST_F(ReplicatedRunTest, ThousandRuns_GiveTheSameBits) {
  Compile(R"(HloModule sum, replica_count=3
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[] parameter(0)
  xs = f32[100] broadcast(x), dimensions={}
  i = f32[100] iota(), iota_dimension=0
  e = f32[100] exponential(i)
  p = f32[100] multiply(xs, e)
  ROOT y = f32[100] all-reduce(p), replica_groups={}, to_apply=add
})",
          3);
  const auto arguments = Put<float>({0.1f, 1e-7f, 3e5f});
  std::vector<uint8_t> first;
  for (int run = 0; run < 1000; ++run) {
    auto results = executable_->ExecuteReplicated(arguments);
    ASSERT_TRUE(results.ok()) << results.status();
    for (const auto& result : *results) {
      const Literal literal = *result[0]->ToLiteral();
      const absl::Span<const uint8_t> bytes = literal.untyped_data();
      if (first.empty()) first.assign(bytes.begin(), bytes.end());
      ASSERT_EQ(bytes, absl::MakeConstSpan(first)) << "run " << run;
    }
  }
}

TEST_F(ReplicatedRunTest, BadAssignmentsAndArgumentsAreRefused) {
  auto client = *Client::Create({.device_count = 3});
  auto error = [&](const CompileOptions& options) {
    return std::string(client->CompileHloText(kDoubleOnFour, options).status().message());
  };
  EXPECT_TRUE(absl::StrContains(error({}), "2 replicas and 2 partitions, but the client has 3 devices"));
  EXPECT_TRUE(absl::StrContains(error({.replica_count = -1}), "-1 replicas"));
  EXPECT_TRUE(absl::StrContains(error({.replica_count = int64_t{1} << 62, .num_partitions = 4}),
                                "but the client has 3 devices"));
  EXPECT_TRUE(absl::StrContains(error({.replica_count = 2, .num_partitions = 1, .devices = {1, 1}}),
                                "expected different devices"));
  EXPECT_TRUE(absl::StrContains(error({.replica_count = 2, .num_partitions = 1, .devices = {1}}), "got 1"));
  EXPECT_TRUE(absl::StrContains(error({.replica_count = 2, .num_partitions = 1, .devices = {1, 9}}), "no device 9"));
  Compile(kDoubleOnFour, 4);
  auto arguments = Put<float>({1, 2, 3, 4});
  EXPECT_TRUE(absl::StrContains(executable_->Execute(arguments[0]).status().message(), "use ExecuteReplicated"));
  std::swap(arguments[1], arguments[2]);
  EXPECT_TRUE(
      absl::StrContains(executable_->ExecuteReplicated(arguments).status().message(), "replica 0, partition 1"));
  arguments.pop_back();
  EXPECT_TRUE(absl::StrContains(executable_->ExecuteReplicated(arguments).status().message(), "got arguments for 3"));
}

// Every rank posts a receive, sends, and then waits; rank 0 has no sender.
constexpr char kPassOn[] = R"(HloModule pass_on, replica_count=3
ENTRY main {
  x = f32[] parameter(0)
  t = token[] after-all()
  r = (f32[], u32[], token[]) recv(t), channel_id=0, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,2}}}
  s = (f32[], u32[], token[]) send(x, t), channel_id=0, control-predecessors={r},
      frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,2}}}
  rd = (f32[], token[]) recv-done(r), channel_id=0, control-predecessors={s}
  sd = token[] send-done(s), channel_id=0
  ROOT y = f32[] get-tuple-element(rd), index=0
})";

TEST_F(ReplicatedRunTest, SendAndRecvBetweenDevices) {
  for (const char* platform : {"cpu", "interpreter"}) {
    client_ = *Client::Create({.platform = platform, .device_count = 3});
    executable_ = *client_->CompileHloText(kPassOn);
    for (int round = 0; round < 20; ++round) {
      auto results = executable_->ExecuteReplicated(Put<float>({1, 2, 3}));
      ASSERT_TRUE(results.ok()) << results.status();
      const float expected[] = {0, 1, 2};
      for (int i = 0; i < 3; ++i)
        EXPECT_EQ(expected[i], (*results)[i][0]->ToLiteral()->GetFirstElement<float>()) << platform;
    }
  }
}

TEST_F(ReplicatedRunTest, PartitionsSendToPartitionsOfTheirReplica) {
  std::string text = kPassOn;
  for (size_t at; (at = text.find("channel_id=0")) != std::string::npos;) text.replace(at, 12, "channel_id=7");
  text.replace(text.find("replica_count=3"), 15, "replica_count=2, num_partitions=3");
  Compile(text, 6);
  auto results = executable_->ExecuteReplicated(Put<float>({1, 2, 3, 4, 5, 6}));
  ASSERT_TRUE(results.ok()) << results.status();
  const float expected[] = {0, 1, 2, 0, 4, 5};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(expected[i], (*results)[i][0]->ToLiteral()->GetFirstElement<float>());
}

TEST_F(ReplicatedRunTest, RecvWithoutSend_IsAnError) {
  // Only the recv names a pair.
  std::string text = kPassOn;
  const size_t send = text.find("send(x");
  text.replace(text.find("{{0,1},{1,2}}", send), 13, "{}");
  Compile(text, 3);
  auto results = executable_->ExecuteReplicated(Put<float>({1, 2, 3}));
  const absl::Status status = results.ok() ? (*results)[1][0]->Await() : results.status();
  EXPECT_EQ(absl::StatusCode::kFailedPrecondition, status.code()) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "recv-done %rd: rank 0 has ended its run without it")) << status;
}

TEST_F(ReplicatedRunTest, Deadline_EndsAllDevices) {
  Compile(kCount, 2);
  auto results = executable_->ExecuteReplicated(Put<int32_t>({1, 101}), {.deadline = absl::Milliseconds(100)});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(absl::StatusCode::kDeadlineExceeded, (*results)[1][0]->Await().code());
  // The device that had already ended keeps its result.
  EXPECT_EQ(100, (*results)[0][0]->ToLiteral()->GetFirstElement<int32_t>());
  EXPECT_FALSE(
      executable_->ExecuteReplicated(Put<int32_t>({1, 101}), {.deadline = absl::Milliseconds(50), .synchronous = true})
          .ok());
}

int ThreadsOfProcess() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) count += entry.is_directory();
  return count;
}

constexpr char kShortSums[] = R"(HloModule sums, replica_count=8
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
condition { t = (s32[], f32[]) parameter(0)  i = s32[] get-tuple-element(t), index=0  n = s32[] constant(5)
            ROOT c = pred[] compare(i, n), direction=LT }
body { t = (s32[], f32[]) parameter(0)  i = s32[] get-tuple-element(t), index=0  one = s32[] constant(1)
       j = s32[] add(i, one)  x = f32[] get-tuple-element(t), index=1
       s = f32[] all-reduce(x), replica_groups={{0,1,2,3},{4,5,6,7}}, to_apply=add
       quarter = f32[] constant(0.25)  y = f32[] multiply(s, quarter)  ROOT r = (s32[], f32[]) tuple(j, y) }
ENTRY main { x = f32[] parameter(0)  zero = s32[] constant(0)  t = (s32[], f32[]) tuple(zero, x)
             w = (s32[], f32[]) while(t), condition=condition, body=body  y = f32[] get-tuple-element(w), index=1
             ROOT z = f32[] collective-permute(y), source_target_pairs={{0,7},{7,0},{1,6}} })";

// They are fibers of the calling thread, which wait for each other in collectives.
TEST_F(ReplicatedRunTest, ShortProgram_WakesNoThread) {
  auto client = Client::Create({.device_count = 8, .num_threads = 1});
  ASSERT_TRUE(client.ok()) << client.status();
  client_ = *std::move(client);
  executable_ = *client_->CompileHloText(kShortSums);
  const auto arguments = Put<float>({0, 1, 2, 3, 40, 50, 60, 70});
  const int before = ThreadsOfProcess();
  for (bool synchronous : {true, false}) {
    auto results = executable_->ExecuteReplicated(arguments, {.synchronous = synchronous});
    ASSERT_TRUE(results.ok()) << results.status();
    std::vector<float> values;
    for (const auto& result : *results) values.push_back(result[0]->ToLiteral()->GetFirstElement<float>());
    EXPECT_EQ(values, (std::vector<float>{55, 0, 0, 0, 0, 0, 1.5, 1.5}));
  }
#if !defined(__SANITIZE_THREAD__)
  EXPECT_EQ(ThreadsOfProcess(), before);
#endif
}

constexpr char kShortFactor[] = R"(HloModule factor, replica_count=8
ENTRY main {
  x = f32[] parameter(0)
  a = f32[2,2]{0,1} broadcast(x), dimensions={}
  i = s32[2,2]{0,1} iota(), iota_dimension=0
  j = s32[2,2]{0,1} iota(), iota_dimension=1
  same = pred[2,2]{0,1} compare(i, j), direction=EQ
  twice = f32[2,2]{0,1} add(a, a)
  positive = f32[2,2]{0,1} select(same, twice, a)
  factored = (f32[2,2]{0,1}, s32[]) custom-call(positive), custom_call_target="lapack_spotrf_ffi", operand_layout_constraints={f32[2,2]{0,1}}, api_version=API_VERSION_TYPED_FFI, backend_config={uplo = 76 : ui8}
  factor = f32[2,2]{0,1} get-tuple-element(factored), index=0
  corner = f32[1,1] slice(factor), slice={[0:1], [0:1]}
  ROOT r = f32[] reshape(corner)
})";

// The functions of linear algebra wait for nothing but their threads, which other custom calls may.
TEST_F(ReplicatedRunTest, ShortFactor_WakesNoThread) {
  auto client = Client::Create({.device_count = 8, .num_threads = 1});
  ASSERT_TRUE(client.ok()) << client.status();
  client_ = *std::move(client);
  auto executable = client_->CompileHloText(kShortFactor);
  ASSERT_TRUE(executable.ok()) << executable.status();
  executable_ = *std::move(executable);
  const auto arguments = Put<float>({2, 8, 18, 32, 50, 72, 98, 128});
  const int before = ThreadsOfProcess();
  for (bool is_saved : {false, true}) {
    if (is_saved) executable_ = *client_->Load(*executable_->Serialize());
    auto results = executable_->ExecuteReplicated(arguments, {.synchronous = true});
    ASSERT_TRUE(results.ok()) << results.status();
    std::vector<float> values;
    for (const auto& result : *results) values.push_back(result[0]->ToLiteral()->GetFirstElement<float>());
    EXPECT_EQ(values, (std::vector<float>{2, 4, 6, 8, 10, 12, 14, 16}));
  }
#if !defined(__SANITIZE_THREAD__)
  EXPECT_EQ(ThreadsOfProcess(), before);
#endif
}

TEST(ProgramEffectsTest, FunctionsInPlaceOfLapacksMayWait) {
  const auto module = ParseHloModule(kShortFactor, {});
  ASSERT_TRUE(module.ok()) << module.status();
  const ProgramEffects found = FindEffects(**module);
  EXPECT_FALSE(found.custom_calls);
  EXPECT_EQ(found.lapack_calls, std::vector<std::string>{"lapack_spotrf_ffi"});
  CustomCallRegistry registry(&CustomCallRegistry::Default());
  ProgramEffects effects = found;
  FindReplacedCalls(registry, "cpu", &effects);
  EXPECT_FALSE(effects.custom_calls);
  for (const char* name : {"lapack_dpotrf_ffi", "lapack_spotrf_ffi"}) {
    ASSERT_TRUE(registry.RegisterFfi(name, lapack::HandlerOf("lapack_sgetrf_ffi"), "cpu").ok());
    FindReplacedCalls(registry, "cpu", &effects);
    EXPECT_EQ(effects.custom_calls, name == found.lapack_calls[0]) << name;
  }
}

TEST_F(ReplicatedRunTest, ShortProgram_SetsTheEndsOfAllDevices) {
  Compile(kDoubleOnFour, 4);
  std::vector<std::shared_ptr<Event>> ends;
  ASSERT_TRUE(executable_->ExecuteReplicated(Put<float>({1, 2, 3, 4}), {.ends = &ends}).ok());
  ASSERT_EQ(ends.size(), 4u);
  for (const std::shared_ptr<Event>& end : ends) EXPECT_TRUE(end->Await().ok());
}

// Half of the devices never get to the permute: those whose pairs exchange something do not wait for them.
TEST_F(ReplicatedRunTest, PermuteOfSome) {
  Compile(R"(HloModule some, replica_count=4
permuted { x = s32[] parameter(0)  ROOT y = s32[] collective-permute(x), source_target_pairs={{0,1},{1,0},{2,3},{3,2}} }
negated { x = s32[] parameter(0)  ROOT y = s32[] negate(x) }
ENTRY main { x = s32[] parameter(0)  id = u32[] replica-id()  two = u32[] constant(2)
             is_low = pred[] compare(id, two), direction=LT
             ROOT r = s32[] conditional(is_low, x, x), true_computation=permuted, false_computation=negated })",
          4);
  for (const bool synchronous : {true, false}) {
    auto results = executable_->ExecuteReplicated(Put<int32_t>({1, 2, 3, 4}), {.synchronous = synchronous});
    ASSERT_TRUE(results.ok()) << results.status();
    std::vector<int32_t> values;
    for (const auto& result : *results) values.push_back(result[0]->ToLiteral()->GetFirstElement<int32_t>());
    EXPECT_EQ(values, (std::vector<int32_t>{2, 1, -3, -4}));
  }
}

// Groups that wait for each other are an error on fibers, too.
TEST_F(ReplicatedRunTest, ShortProgramThatCannotEnd_IsAnError) {
  Compile(R"(HloModule lonely, replica_count=2
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
sum { x = f32[] parameter(0)  ROOT s = f32[] all-reduce(x), replica_groups={}, to_apply=add }
same { x = f32[] parameter(0)  ROOT y = f32[] copy(x) }
ENTRY main { x = f32[] parameter(0)  zero = f32[] constant(0)  p = pred[] compare(x, zero), direction=GT
             ROOT c = f32[] conditional(p, x, x), true_computation=sum, false_computation=same })",
          2);
  auto results = executable_->ExecuteReplicated(Put<float>({1, -1}), {.synchronous = true});
  EXPECT_EQ(results.status().code(), absl::StatusCode::kFailedPrecondition) << results.status();
  EXPECT_THAT(results.status().message(), testing::HasSubstr("rank 1 has ended its run without it"));
  // The client goes on.
  EXPECT_TRUE(executable_->ExecuteReplicated(Put<float>({1, 1}), {.synchronous = true}).ok());
}

TEST_F(ReplicatedRunTest, LaunchesFromManyThreads) {
  Compile(kDoubleOnFour, 4);
  std::vector<std::vector<Buffer*>> arguments = Put<float>({1, 2, 3, 4});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        auto results = executable_->ExecuteReplicated(arguments, {.synchronous = true});
        ASSERT_TRUE(results.ok()) << results.status();
        EXPECT_EQ(8.0f, (*results)[3][0]->ToLiteral()->GetFirstElement<float>());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hilo
