// Streams, events, graphs and memory of the emulated device.
#include <gtest/gtest.h>

#include <cstring>

#include "absl/synchronization/notification.h"
#include "backends/gpu/emulated/emulated_driver.h"
#include "tests/unit/backends/gpu/test_kernels.h"

namespace hilo::gpu {
namespace {

std::unique_ptr<EmulatedDriver> Make(const EmulatedOptions& options = {}) {
  auto driver = CreateEmulatedDriver(options);
  EXPECT_TRUE(driver.ok()) << driver.status();
  return *std::move(driver);
}

TEST(EmulatedStreamTest, NothingRunsBeforeAWait) {
  auto driver = Make();
  auto stream = *driver->CreateStream();
  int value = 0;
  ASSERT_TRUE(stream->Host([&] { return value = 1, absl::OkStatus(); }, {}).ok());
  EXPECT_EQ(value, 0);
  auto event = *driver->CreateEvent();
  EXPECT_TRUE(*event->IsDone());
  ASSERT_TRUE(stream->Record(event.get()).ok());
  while (!*event->IsDone()) {
  }
  EXPECT_EQ(value, 1);
}

TEST(EmulatedStreamTest, Asynchronous_RunsWithoutAWait) {
  auto driver = Make({.asynchronous = true});
  auto first = *driver->CreateStream(), second = *driver->CreateStream();
  auto event = *driver->CreateEvent();
  absl::Notification begins, ended;
  ASSERT_TRUE(first->Host([&] { return begins.WaitForNotification(), absl::OkStatus(); }, {}).ok());
  ASSERT_TRUE(first->Record(event.get()).ok());
  ASSERT_TRUE(second->Wait(*event).ok());
  ASSERT_TRUE(second->Host([&] { return ended.Notify(), absl::OkStatus(); }, {}).ok());
  EXPECT_FALSE(*event->IsDone());
  EXPECT_FALSE(ended.HasBeenNotified());
  begins.Notify();
  ended.WaitForNotification();
  EXPECT_TRUE(*event->IsDone());
}

TEST(EmulatedStreamTest, Paused_RunsNothing) {
  for (const bool asynchronous : {false, true}) {
    auto driver = Make({.asynchronous = asynchronous});
    auto stream = *driver->CreateStream();
    auto event = *driver->CreateEvent();
    driver->SetPaused(true);
    int value = 0;
    ASSERT_TRUE(stream->Host([&] { return value = 1, absl::OkStatus(); }, {}).ok());
    ASSERT_TRUE(stream->Record(event.get()).ok());
    EXPECT_EQ(driver->PendingCount(), 2);
    EXPECT_FALSE(*event->IsDone());
    EXPECT_EQ(value, 0);
    driver->SetPaused(false);
    EXPECT_TRUE(stream->Synchronize().ok());
    EXPECT_EQ(value, 1);
    EXPECT_EQ(driver->PendingCount(), 0);
  }
}

// A copy on one stream and a reader on another; the event between them may be forgotten.
std::string TwoStreams(bool ordered, uint32_t seed) {
  auto driver = Make({.seed = seed});
  auto first = *driver->CreateStream(), second = *driver->CreateStream();
  auto event = *driver->CreateEvent();
  int32_t source = 5, result = 0;
  void* memory = *driver->Allocate(4);
  EXPECT_TRUE(first->Copy(memory, &source, 4).ok());
  EXPECT_TRUE(first->Record(event.get()).ok());
  if (ordered) {
    EXPECT_TRUE(second->Wait(*event).ok());
  }
  EXPECT_TRUE(second->Copy(&result, memory, 4).ok());
  const absl::Status status = second->Synchronize();
  EXPECT_EQ(status.ok(), ordered) << status;
  if (ordered) {
    EXPECT_EQ(result, 5);
  }
  std::string kinds;
  for (const EmulatedReport& report : driver->TakeReports()) kinds += report.kind;
  return kinds;
}

TEST(EmulatedStreamTest, MissingEvent_IsARace) {
  for (uint32_t seed = 2; seed < 12; ++seed) {
    EXPECT_EQ(TwoStreams(true, seed), "");
    EXPECT_EQ(TwoStreams(false, seed), "stream-race");
  }
}

TEST(EmulatedStreamTest, HostWaits_OrderAccesses) {
  auto driver = Make();
  auto first = *driver->CreateStream(), second = *driver->CreateStream();
  int32_t source = 5, result = 0;
  void* memory = *driver->Allocate(4);
  ASSERT_TRUE(first->Copy(memory, &source, 4).ok());
  ASSERT_TRUE(first->Synchronize().ok());
  ASSERT_TRUE(second->Copy(&result, memory, 4).ok());
  EXPECT_TRUE(second->Synchronize().ok());
  EXPECT_EQ(result, 5);
  EXPECT_TRUE(driver->TakeReports().empty());
}

TEST(EmulatedStreamTest, FirstError_IsKept) {
  auto driver = Make();
  auto stream = *driver->CreateStream();
  bool ran = false;
  ASSERT_TRUE(stream->Host([] { return absl::InternalError("first"); }, {}).ok());
  ASSERT_TRUE(stream->Host([&] { return ran = true, absl::InternalError("second"); }, {}).ok());
  EXPECT_EQ(stream->Synchronize().message(), "first");
  EXPECT_EQ(stream->Synchronize().message(), "first");
  EXPECT_FALSE(ran);
}

TEST(EmulatedStreamTest, MemoryHasALimit) {
  auto driver = Make({.memory_bytes = 1000});
  void* memory = *driver->Allocate(600);
  const absl::Status status = driver->Allocate(600).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("400 of the device's 1000 are free"), absl::string_view::npos) << status;
  EXPECT_EQ(driver->MemoryInfo()->free_bytes, 400);
  // What waits in a stream to be freed is freed for it.
  auto stream = *driver->CreateStream();
  ASSERT_TRUE(driver->Free(memory, stream.get()).ok());
  EXPECT_TRUE(driver->Allocate(600).ok());
  EXPECT_EQ(driver->Free(&driver).code(), absl::StatusCode::kInvalidArgument);
}

TEST(EmulatedStreamTest, FreedMemory_MovesBetweenStreams) {
  auto driver = Make({.memory_bytes = 1000});
  std::unique_ptr<GpuStream> streams[] = {*driver->CreateStream(), *driver->CreateStream()};
  bool again = false;
  void* last = nullptr;
  for (int i = 0; i < 50; ++i) {
    GpuStream* const stream = streams[i % 2].get();
    void* memory = *driver->Allocate(600, stream);
    again |= memory == last;
    last = memory;
    ASSERT_TRUE(stream->Fill(memory, 1, 4, 600).ok());
    ASSERT_TRUE(driver->Free(memory, stream).ok());
  }
  EXPECT_TRUE(again);
  EXPECT_TRUE(driver->TakeReports().empty());
  // To use what another stream frees is a race all the same.
  void* memory = *driver->Allocate(600, streams[0].get());
  ASSERT_TRUE(driver->Free(memory, streams[0].get()).ok());
  ASSERT_TRUE(streams[1]->Fill(memory, 1, 4, 600).ok());
  EXPECT_EQ(driver->TakeReports().size(), 1u);
}

TEST(EmulatedStreamTest, CopiesAndFillsStayInBounds) {
  auto driver = Make();
  auto stream = *driver->CreateStream();
  auto* memory = static_cast<uint8_t*>(*driver->Allocate(16));
  uint8_t host[32] = {};
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(memory[15], 0xff);
  EXPECT_EQ(stream->Copy(memory, host, 17).code(), invalid);
  EXPECT_EQ(stream->Copy(host, memory + 10, 7).code(), invalid);
  EXPECT_EQ(stream->Copy(memory - 1, host, 2).code(), invalid);
  EXPECT_EQ(stream->Fill(memory + 8, 0, 1, 9).code(), invalid);
  EXPECT_EQ(stream->Fill(memory, 0, 4, 6).code(), invalid);
  EXPECT_EQ(stream->Fill(memory, 0, 3, 6).code(), invalid);
  ASSERT_TRUE(stream->Fill(memory, 0x1234, 2, 6).ok());
  ASSERT_TRUE(stream->Copy(host, memory, 7).ok());
  ASSERT_TRUE(stream->Synchronize().ok());
  EXPECT_EQ(host[4], 0x34);
  EXPECT_EQ(host[5], 0x12);
  EXPECT_EQ(host[6], 0xff);
}

TEST(EmulatedStreamTest, GraphsReplay) {
  auto driver = Make();
  auto stream = *driver->CreateStream(), side = *driver->CreateStream();
  auto fork = *driver->CreateEvent(), join = *driver->CreateEvent();
  auto* memory = static_cast<int32_t*>(*driver->Allocate(8));
  int32_t source = 0, result[2] = {};
  ASSERT_TRUE(stream->BeginCapture().ok());
  ASSERT_TRUE(stream->Copy(memory, &source, 4).ok());
  ASSERT_TRUE(stream->Record(fork.get()).ok());
  ASSERT_TRUE(side->Wait(*fork).ok());
  ASSERT_TRUE(side->Copy(memory + 1, memory, 4).ok());
  ASSERT_TRUE(side->Record(join.get()).ok());
  ASSERT_TRUE(stream->Wait(*join).ok());
  ASSERT_TRUE(stream->Copy(result, memory, 8).ok());
  EXPECT_EQ(stream->Synchronize().code(), absl::StatusCode::kFailedPrecondition);
  auto graph = stream->EndCapture();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(result[1], 0);
  for (int32_t value : {3, 4}) {
    source = value;
    ASSERT_TRUE(stream->LaunchGraph(graph->get()).ok());
    ASSERT_TRUE(stream->Synchronize().ok());
    EXPECT_EQ(result[0], value);
    EXPECT_EQ(result[1], value);
  }
  EXPECT_TRUE(driver->TakeReports().empty());
  // The stream that took part is free again.
  EXPECT_TRUE(side->Synchronize().ok());
}

TEST(EmulatedStreamTest, Capture_ReturnsToItsOrigin) {
  auto driver = Make();
  auto stream = *driver->CreateStream(), side = *driver->CreateStream();
  auto fork = *driver->CreateEvent();
  auto* memory = static_cast<int32_t*>(*driver->Allocate(8));
  ASSERT_TRUE(stream->BeginCapture().ok());
  ASSERT_TRUE(stream->Fill(memory, 0, 4, 4).ok());
  ASSERT_TRUE(stream->Record(fork.get()).ok());
  ASSERT_TRUE(side->Wait(*fork).ok());
  ASSERT_TRUE(side->Fill(memory, 1, 4, 4).ok());
  EXPECT_EQ(stream->EndCapture().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(stream->EndCapture().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(EmulatedStreamTest, OptionsFromTheEnvironment) {
  setenv("HILO_EMULATED", "async,check,count,delay=7,seed=9,threads=2,memory=123", 1);
  const auto options = EmulatedOptions::FromEnvironment();
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_TRUE(options->check_accesses && options->count_accesses);
  EXPECT_TRUE(options->asynchronous);
  EXPECT_EQ(options->delay_microseconds, 7);
  EXPECT_EQ(options->seed, 9u);
  EXPECT_EQ(options->host_threads, 2);
  EXPECT_EQ(options->memory_bytes, 123);
  setenv("HILO_EMULATED", "seed=x", 1);
  EXPECT_EQ(EmulatedOptions::FromEnvironment().status().code(), absl::StatusCode::kInvalidArgument);
  unsetenv("HILO_EMULATED");
}

}  // namespace
}  // namespace hilo::gpu
