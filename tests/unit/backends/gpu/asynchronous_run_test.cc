// Runs that return when their work is queued: the host waits for the device between no two of them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/emulated/emulated_driver.h"
#include "backends/gpu/runtime/gpu_devices.h"
#include "hilo/client.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/runtime_access.h"

namespace hilo::gpu {
namespace {

constexpr int kRuns = 100;
constexpr int64_t kElements = 1000;

class AsynchronousRunTest : public testing::Test {
 protected:
  void Open(const EmulatedOptions& options = {}) {
    auto driver = CreateEmulatedDriver(options);
    ASSERT_TRUE(driver.ok()) << driver.status();
    device_ = driver->get();
    const auto devices = std::make_shared<GpuDevices>(kEmulatedPlatform);
    devices->Use(0, *std::move(driver));
    order_ = &devices->OrderOf(0);
    auto client =
        RuntimeAccess::CreateClient({.device_count = 1}, CreateGpuCompiler(kEmulatedPlatform, {.devices = devices}));
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  // x + 1; with `header` in the module's first line.
  std::unique_ptr<Executable> AddOne(absl::string_view header = "") {
    auto executable =
        RuntimeAccess::Compile(client_.get(), *ParseHloModule(absl::StrCat("HloModule add_one", header, R"(
ENTRY main {
  x = f32[1000] parameter(0)
  one = f32[] constant(1)
  ones = f32[1000] broadcast(one), dimensions={}
  ROOT sum = f32[1000] add(x, ones)
})")));
    EXPECT_TRUE(executable.ok()) << executable.status();
    return *std::move(executable);
  }

  std::unique_ptr<Buffer> Zeros() {
    auto buffer =
        client_->BufferFromLiteral(LiteralUtil::CreateFromArray<float>(std::vector<float>(kElements), {kElements}));
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    return *std::move(buffer);
  }

  // Runs `executable` on its own result `runs` times, in place if `donates`.
  std::unique_ptr<Buffer> Repeat(const Executable& executable, std::unique_ptr<Buffer> buffer, int runs, bool donates,
                                 std::shared_ptr<CancellationToken> token = nullptr) {
    constexpr int64_t kFirst[] = {0};
    for (int i = 0; i < runs; ++i) {
      ExecuteOptions options{.cancellation = token};
      if (donates) options.donate = kFirst;
      auto results = executable.Execute({buffer.get()}, options);
      EXPECT_TRUE(results.ok()) << results.status();
      if (!results.ok()) return nullptr;
      buffer = std::move(results->front());
    }
    return buffer;
  }

  // Waits until at least `operations` wait on the paused device; false if they do not come within a minute.
  bool AreQueued(int64_t operations) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (device_->PendingCount() < operations) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
  }

  // Waits until the buffer has a value or an error; false if neither comes within a minute.
  static bool IsReadySoon(const Buffer& buffer) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!buffer.IsReady()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
  }

  static void ExpectAll(const Buffer& buffer, float value) {
    const auto literal = buffer.ToLiteral();
    ASSERT_TRUE(literal.ok()) << literal.status();
    for (int64_t i = 0; i < kElements; ++i) ASSERT_EQ(literal->Get<float>({i}), value) << i;
  }

  void ExpectNoReports() {
    for (const EmulatedReport& report : device_->TakeReports()) ADD_FAILURE() << report.kind << ": " << report.text;
  }

  EmulatedDriver* device_ = nullptr;
  RunOrder* order_ = nullptr;
  std::unique_ptr<Client> client_;
};

TEST_F(AsynchronousRunTest, QueueHoldsRunsInPlace) {
  for (const bool asynchronous : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(Open({.asynchronous = asynchronous}));
    const auto add_one = AddOne(", input_output_alias={ {}: (0, {}, must-alias) }");
    auto buffer = Repeat(*add_one, Zeros(), 3, /*donates=*/true);
    ASSERT_NE(buffer, nullptr);
    ExpectAll(*buffer, 3);
    const int64_t free_bytes = device_->MemoryInfo()->free_bytes;
    device_->SetPaused(true);
    buffer = Repeat(*add_one, std::move(buffer), kRuns, /*donates=*/true);
    EXPECT_TRUE(AreQueued(kRuns));
    ASSERT_NE(buffer, nullptr);
    EXPECT_FALSE(buffer->IsReady());
    EXPECT_EQ(device_->MemoryInfo()->free_bytes, free_bytes);
    device_->SetPaused(false);
    ExpectAll(*buffer, 3 + kRuns);
    ExpectNoReports();
  }
}

// A run that the host waits for may have an argument that an earlier one still reads.
TEST_F(AsynchronousRunTest, SynchronousRunsFollowQueuedOnes) {
  ASSERT_NO_FATAL_FAILURE(Open({.asynchronous = true}));
  const auto reads = AddOne(), writes = AddOne(", input_output_alias={ {}: (0, {}, must-alias) }");
  const std::unique_ptr<Buffer> x = Zeros();
  device_->SetPaused(true);
  const auto read = reads->Execute({x.get()});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(AreQueued(1));
  std::thread writer([&] {
    const int64_t first = 0;
    const auto written = writes->Execute({x.get()}, {.donate = absl::MakeConstSpan(&first, 1), .synchronous = true});
    EXPECT_TRUE(written.ok()) << written.status();
  });
  EXPECT_TRUE(AreQueued(3));
  device_->SetPaused(false);
  writer.join();
  ExpectAll(*read->front(), 1);
  ExpectNoReports();
}

// Another library still writes the memory of a view on its stream.
TEST_F(AsynchronousRunTest, StreamsOfOthersAreAwaited) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const auto stream = device_->CreateStream();
  ASSERT_TRUE(stream.ok()) << stream.status();
  const std::unique_ptr<Buffer> x = Zeros();
  uint8_t* const memory = (*RuntimeAccess::Share(*x))->memory->data();
  const std::vector<float> ones(kElements, 1.0f);
  device_->SetPaused(true);
  ASSERT_TRUE((*stream)->Copy(memory, ones.data(), kElements * sizeof(float)).ok());
  EXPECT_TRUE(AreQueued(1));
  std::atomic<bool> resumed{false};
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    resumed = true;
    device_->SetPaused(false);
  });
  EXPECT_TRUE(RuntimeAccess::AwaitStream(client_.get(), 0, stream->get()).ok());
  EXPECT_TRUE(resumed);
  EXPECT_EQ(device_->PendingCount(), 0);
  other.join();
  ExpectAll(*x, 1);
  ExpectNoReports();
}

// Nothing can end the loop early, so all its iterations are queued.
TEST_F(AsynchronousRunTest, QueueHoldsCountedLoops) {
  ASSERT_NO_FATAL_FAILURE(Open());
  auto loop = RuntimeAccess::Compile(client_.get(), *ParseHloModule(R"(HloModule loop
more {
  s = (s32[], f32[1000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(200)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[1000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[1000] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  half = f32[] constant(0.5)
  halves = f32[1000] broadcast(half), dimensions={}
  y = f32[1000] multiply(x, halves)
  ones = f32[1000] broadcast(half), dimensions={}
  z = f32[1000] add(y, ones)
  ROOT r = (s32[], f32[1000]) tuple(next, z)
}
ENTRY main {
  x = f32[1000] parameter(0)
  zero = s32[] constant(0)
  s = (s32[], f32[1000]) tuple(zero, x)
  w = (s32[], f32[1000]) while(s), condition=more, body=body
  ROOT r = f32[1000] get-tuple-element(w), index=1
})"));
  ASSERT_TRUE(loop.ok()) << loop.status();
  ExpectAll(*Repeat(**loop, Zeros(), 1, /*donates=*/false), 1);
  auto first = Zeros();
  device_->SetPaused(true);
  const auto last = Repeat(**loop, std::move(first), 3, /*donates=*/false);
  EXPECT_TRUE(AreQueued(3 * 200));
  ASSERT_NE(last, nullptr);
  EXPECT_FALSE(last->IsReady());
  device_->SetPaused(false);
  ExpectAll(*last, 1);
  ExpectNoReports();
}

// Each result is freed while the run that reads it is pending.
TEST_F(AsynchronousRunTest, MemoryIsFreedBehindItsLastRun) {
  for (const bool asynchronous : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(Open({.check_accesses = true, .asynchronous = asynchronous}));
    const auto add_one = AddOne();
    auto buffer = Repeat(*add_one, Zeros(), 3, /*donates=*/false);
    ASSERT_NE(buffer, nullptr);
    ExpectAll(*buffer, 3);
    ExpectNoReports();
    const int64_t free_bytes = device_->MemoryInfo()->free_bytes;
    device_->SetPaused(true);
    buffer = Repeat(*add_one, std::move(buffer), kRuns, /*donates=*/false);
    EXPECT_TRUE(AreQueued(kRuns));
    EXPECT_FALSE(buffer->IsReady());
    device_->SetPaused(false);
    ExpectAll(*buffer, 3 + kRuns);
    ExpectNoReports();
    EXPECT_EQ(device_->MemoryInfo()->free_bytes, free_bytes);
  }
}

// Memory that pending runs will free is waited for before an allocation fails.
TEST_F(AsynchronousRunTest, AllocationWaitsForFrees) {
  ASSERT_NO_FATAL_FAILURE(Open({.asynchronous = true, .delay_microseconds = 100, .memory_bytes = 10 * 4 * kElements}));
  const auto buffer = Repeat(*AddOne(), Zeros(), kRuns, /*donates=*/false);
  ASSERT_NE(buffer, nullptr);
  ExpectAll(*buffer, kRuns);
  ExpectNoReports();
}

// A run waits for what is copied to the device, and what is copied back for the run.
TEST_F(AsynchronousRunTest, ProgramsFollowEachOther) {
  ASSERT_NO_FATAL_FAILURE(Open({.asynchronous = true, .delay_microseconds = 200}));
  const auto one = AddOne(), in_place = AddOne(", input_output_alias={ {}: (0, {}, may-alias) }");
  for (int i = 0; i < 20; ++i) {
    auto kept = Repeat(*one, Zeros(), 2, /*donates=*/false);
    ASSERT_NE(kept, nullptr);
    auto copied = Repeat(*in_place, Zeros(), 1, /*donates=*/false);
    auto results = in_place->Execute({kept.get()});  // keeps its argument, and so copies it
    ASSERT_TRUE(results.ok()) << results.status();
    auto last = Repeat(*in_place, std::move(results->front()), 2, /*donates=*/true);
    ExpectAll(*last, 5);
    ExpectAll(*kept, 2);
    ExpectAll(*copied, 1);
  }
  ExpectNoReports();
}

TEST_F(AsynchronousRunTest, FaultsOfTheDevice_ReachTheBuffers) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const auto add_one = AddOne();
  auto buffer = Repeat(*add_one, Zeros(), 3, /*donates=*/false);
  ExpectAll(*buffer, 3);
  device_->SetPaused(true);
  // Work that fails, between the runs before and the next.
  auto fails = *device_->CreateStream();
  const auto followed = order_->Follow(*fails);
  ASSERT_TRUE(followed.ok()) << followed.status();
  ASSERT_TRUE(fails->Host([] { return absl::InternalError("a fault"); }, {}).ok());
  ASSERT_TRUE(order_->Add(*device_, *fails, *followed).ok());
  buffer = Repeat(*add_one, std::move(buffer), 2, /*donates=*/false);
  ASSERT_NE(buffer, nullptr);
  EXPECT_TRUE(AreQueued(4));
  EXPECT_FALSE(buffer->IsReady());
  device_->SetPaused(false);
  EXPECT_EQ(buffer->Await().message(), "a fault");
  EXPECT_EQ(buffer->ToLiteral().status().message(), "a fault");
}

TEST_F(AsynchronousRunTest, CancelledRuns_EndThoseThatNeedThem) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const auto add_one = AddOne();
  ExpectAll(*Repeat(*add_one, Zeros(), 3, /*donates=*/false), 3);
  auto first = Zeros(), second = Zeros();  // copies wait for the device
  device_->SetPaused(true);
  const auto token = std::make_shared<CancellationToken>();
  const auto cancelled = Repeat(*add_one, std::move(first), 1, /*donates=*/false, token);
  auto results = add_one->Execute({cancelled.get()});
  const auto other = Repeat(*add_one, std::move(second), 1, /*donates=*/false);
  EXPECT_TRUE(AreQueued(3));
  token->Cancel();
  device_->SetPaused(false);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(cancelled->Await().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(results->front()->ToLiteral().status().code(), absl::StatusCode::kCancelled);
  ExpectAll(*other, 1);
  ExpectNoReports();
}

// Adds one until the first element is 50.
constexpr char kCounts[] = R"(HloModule counts
condition {
  state = (f32[1000], f32[]) parameter(0)
  count = f32[] get-tuple-element(state), index=1
  limit = f32[] constant(50)
  ROOT less = pred[] compare(count, limit), direction=LT
}
body {
  state = (f32[1000], f32[]) parameter(0)
  sum = f32[1000] get-tuple-element(state), index=0
  count = f32[] get-tuple-element(state), index=1
  one = f32[] constant(1)
  next = f32[] add(count, one)
  ones = f32[1000] broadcast(one), dimensions={}
  more = f32[1000] add(sum, ones)
  ROOT result = (f32[1000], f32[]) tuple(more, next)
}
ENTRY main {
  x = f32[1000] parameter(0)
  first = f32[1] slice(x), slice={[0:1]}
  count = f32[] reshape(first)
  init = (f32[1000], f32[]) tuple(x, count)
  loop = (f32[1000], f32[]) while(init), condition=condition, body=body
  ROOT sum = f32[1000] get-tuple-element(loop), index=0
})";

// Runs of a program may follow each other on one stream, before the first has ended: its loops are not those of the
// run that is cancelled, which ends without a wait for them.
TEST_F(AsynchronousRunTest, CancelledRuns_EndNoLoopsOfEarlierRuns) {
  for (const bool asynchronous : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(Open({.asynchronous = asynchronous}));
    const auto counts = RuntimeAccess::Compile(client_.get(), *ParseHloModule(kCounts));
    ASSERT_TRUE(counts.ok()) << counts.status();
    const std::unique_ptr<Buffer> x = Zeros();
    for (int i = 0; i < 3; ++i) {
      auto results = (*counts)->Execute({x.get()});
      ASSERT_TRUE(results.ok()) << results.status();
      ExpectAll(*results->front(), 50);
    }
    device_->SetPaused(true);
    auto first = (*counts)->Execute({x.get()});
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_TRUE(AreQueued(1));
    const auto token = std::make_shared<CancellationToken>();
    auto second = (*counts)->Execute({x.get()}, {.cancellation = token});
    ASSERT_TRUE(second.ok()) << second.status();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the queue's thread takes the run
    EXPECT_FALSE(second->front()->IsReady());
    token->Cancel();
    EXPECT_TRUE(IsReadySoon(*second->front()));
    EXPECT_FALSE(first->front()->IsReady());
    device_->SetPaused(false);
    EXPECT_EQ(second->front()->Await().code(), absl::StatusCode::kCancelled);
    ExpectAll(*first->front(), 50);
    // The lane is in use again.
    auto third = (*counts)->Execute({x.get()}, {.cancellation = std::make_shared<CancellationToken>()});
    ASSERT_TRUE(third.ok()) << third.status();
    ExpectAll(*third->front(), 50);
    ExpectNoReports();
  }
}

}  // namespace
}  // namespace hilo::gpu
