// Communicators by themselves: what the emulated one refuses, what one rank alone can ask of any library, and what NCCL
// does without a GPU.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "absl/strings/match.h"
#include "backends/gpu/collectives/device_communicator.h"
#include "backends/gpu/collectives/emulated_communicator.h"
#include "backends/gpu/collectives/nccl_communicator.h"
#include "backends/gpu/runtime/gpu_platform.h"

namespace hilo::gpu {
namespace {

using Ranks = std::vector<std::unique_ptr<DeviceCommunicator>>;

// Emulated devices with a communicator between them; every rank's part runs on a thread.
class EmulatedCommunicatorTest : public testing::Test {
 protected:
  static constexpr int kRanks = 3;
  void SetUp() override {
    const auto library = CreateEmulatedCommunicatorLibrary();
    const std::string id = *library->MakeUniqueId();
    for (int rank = 0; rank < kRanks; ++rank) {
      drivers_.push_back(*OpenGpuDriver(kEmulatedPlatform, rank));
      streams_.push_back(*drivers_[rank]->CreateStream());
      memory_.push_back(static_cast<float*>(*drivers_[rank]->Allocate(64 * sizeof(float))));
    }
    ranks_.resize(kRanks);
    const absl::Status status = OnAll([&](int rank) {
      auto made = library->Create(id, kRanks, rank, *drivers_[rank], rank, nullptr);
      if (made.ok()) ranks_[rank] = *std::move(made);
      return made.status();
    });
    ASSERT_TRUE(status.ok()) << status;
  }

  // The first error of the ranks, each of which calls `part` and waits for its stream.
  absl::Status OnAll(const std::function<absl::Status(int)>& part) {
    std::vector<absl::Status> status(kRanks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] {
        status[rank] = part(rank);
        if (!status[rank].ok() && ranks_[rank] != nullptr) ranks_[rank]->Abort(status[rank]);
        const absl::Status done = streams_[rank]->Synchronize();
        if (status[rank].ok()) status[rank] = done;
        if (status[rank].ok() && ranks_[rank] != nullptr) status[rank] = ranks_[rank]->AsyncError();
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const absl::Status& one : status) {
      if (!one.ok()) return one;
    }
    return absl::OkStatus();
  }
  std::string ErrorOnAll(const std::function<absl::Status(int)>& part) { return std::string(OnAll(part).message()); }
  // An all-reduce as the rank's graph.
  void Capture(int rank) {
    ASSERT_TRUE(stream(rank).BeginCapture().ok());
    ASSERT_TRUE(at(rank).AllReduce(data(rank), data(rank), 4, F32, DeviceReduction::kSum, stream(rank)).ok());
    graphs_.push_back(*stream(rank).EndCapture());
  }
  DeviceCommunicator& at(int rank) { return *ranks_[rank]; }
  float* data(int rank) { return memory_[rank]; }
  GpuStream& stream(int rank) { return *streams_[rank]; }

  std::vector<std::unique_ptr<GpuDriver>> drivers_;
  std::vector<std::unique_ptr<GpuStream>> streams_;
  std::vector<float*> memory_;
  Ranks ranks_;
  std::vector<std::unique_ptr<GpuGraph>> graphs_;
};

TEST_F(EmulatedCommunicatorTest, RankDisagreements) {
  EXPECT_TRUE(absl::StrContains(ErrorOnAll([&](int r) {
                                  return at(r).AllReduce(data(r), data(r), r == 2 ? 5 : 4, F32, DeviceReduction::kSum,
                                                         stream(r));
                                }),
                                "rank 0 is at all-reduce of 4 f32 by sum, but rank 2 at all-reduce of 5 f32 by sum"));
}
TEST_F(EmulatedCommunicatorTest, Types) {
  EXPECT_TRUE(absl::StrContains(ErrorOnAll([&](int r) {
                                  return at(r).AllReduce(data(r), data(r), 4, r == 1 ? S32 : F32, DeviceReduction::kSum,
                                                         stream(r));
                                }),
                                "disagree"));
}
TEST_F(EmulatedCommunicatorTest, Reductions) {
  EXPECT_TRUE(absl::StrContains(ErrorOnAll([&](int r) {
                                  return at(r).AllReduce(data(r), data(r), 4, F32,
                                                         r == 1 ? DeviceReduction::kMax : DeviceReduction::kSum,
                                                         stream(r));
                                }),
                                "by max"));
}
TEST_F(EmulatedCommunicatorTest, Roots) {
  EXPECT_TRUE(absl::StrContains(
      ErrorOnAll([&](int r) { return at(r).Broadcast(data(r), data(r), 4, F32, r == 2 ? 1 : 0, stream(r)); }),
      "from rank 1"));
}
TEST_F(EmulatedCommunicatorTest, Order) {
  EXPECT_TRUE(absl::StrContains(
      ErrorOnAll([&](int r) {
        if (r == 1) {
          const absl::Status status = at(r).AllGather(data(r), data(r) + 8, 4, F32, stream(r));
          return status.ok() ? at(r).AllReduce(data(r), data(r), 4, F32, DeviceReduction::kSum, stream(r)) : status;
        }
        const absl::Status status = at(r).AllReduce(data(r), data(r), 4, F32, DeviceReduction::kSum, stream(r));
        return status.ok() ? at(r).AllGather(data(r), data(r) + 8, 4, F32, stream(r)) : status;
      }),
      "rank 0 is at all-reduce of 4 f32 by sum, but rank 1 at all-gather of 4 f32"));
}
TEST_F(EmulatedCommunicatorTest, SizesOfWhatIsSent) {
  EXPECT_TRUE(absl::StrContains(ErrorOnAll([&](int r) {
                                  if (r == 0) return at(r).Send(data(r), 4, F32, 1, stream(r));
                                  return r == 1 ? at(r).Receive(data(r), 3, F32, 0, stream(r)) : absl::OkStatus();
                                }),
                                "rank 0 sends 16 bytes to rank 1, which expects 12"));
}
TEST_F(EmulatedCommunicatorTest, BadCalls_FailImmediately) {
  EXPECT_EQ(at(0).Send(data(0), 4, F32, 3, stream(0)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(at(0).AllReduce(data(0), data(0), -1, F32, DeviceReduction::kSum, stream(0)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(at(0).AllReduce(data(0), data(0), 4, C64, DeviceReduction::kSum, stream(0)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(at(0).GroupEnd().code(), absl::StatusCode::kInvalidArgument);
}

// Outside of a group each would wait for the other's receive.
TEST_F(EmulatedCommunicatorTest, AGroupIsOneCall) {
  const absl::Status status = OnAll([&](int r) {
    (void)at(r).GroupStart();
    (void)at(r).GroupStart();
    (void)at(r).Send(data(r), 4, F32, (r + 1) % kRanks, stream(r));
    (void)at(r).GroupEnd();
    (void)at(r).Receive(data(r) + 8, 4, F32, (r + 2) % kRanks, stream(r));
    return at(r).GroupEnd();
  });
  EXPECT_TRUE(status.ok()) << status;
}

// All ranks capture a call, or none does.
TEST_F(EmulatedCommunicatorTest, GraphsAreOfAllRanks) {
  for (int r = 0; r < kRanks; ++r) {
    ASSERT_TRUE(stream(r).Fill(data(r), 0x3f800000, 4, 16).ok());
    Capture(r);
  }
  for (int launch = 1; launch <= 2; ++launch) {
    ASSERT_TRUE(OnAll([&](int r) { return stream(r).LaunchGraph(graphs_[r].get()); }).ok());
    EXPECT_EQ(data(0)[0], launch == 1 ? 3 : 9);
  }
  EXPECT_TRUE(absl::StrContains(ErrorOnAll([&](int r) {
                                  return r == 1 ? at(r).AllReduce(data(r), data(r), 4, F32, DeviceReduction::kSum,
                                                                  stream(r))
                                                : stream(r).LaunchGraph(graphs_[r].get());
                                }),
                                "rank 0 is at all-reduce of 4 f32 by sum of a graph, captured as number 0, but rank 1 "
                                "at all-reduce of 4 f32 by sum"));
}

TEST_F(EmulatedCommunicatorTest, Abort_EndsGraphs) {
  for (int r = 0; r < kRanks; ++r) Capture(r);
  const absl::Status status = OnAll([&](int r) {
    if (r == 0) return absl::OkStatus();
    const absl::Status launched = stream(r).LaunchGraph(graphs_[r].get());
    at(r).Abort(absl::CancelledError("given up"));
    return launched;
  });
  EXPECT_EQ(status.message(), "given up");
}

// The others hear nothing of it, as with NCCL: they go on waiting until they give up themselves.
TEST_F(EmulatedCommunicatorTest, Abort_EndsTheRanksOwnCalls) {
  const absl::Status status = OnAll([&](int r) {
    if (r == 0) return absl::OkStatus();
    const absl::Status queued = at(r).AllReduce(data(r), data(r), 4, F32, DeviceReduction::kSum, stream(r));
    at(r).Abort(absl::CancelledError("given up"));
    return queued;
  });
  EXPECT_EQ(status.message(), "given up");
  EXPECT_TRUE(at(0).AsyncError().ok());
  EXPECT_EQ(at(1).AllReduce(data(1), data(1), 4, F32, DeviceReduction::kSum, stream(1)).message(), "given up");
}

TEST_F(EmulatedCommunicatorTest, PartsAreNumberedByKey) {
  std::vector<std::unique_ptr<DeviceCommunicator>> parts(kRanks);
  const absl::Status status = OnAll([&](int r) {
    auto part = at(r).Split(r == 1 ? -1 : 7, 10 - r, nullptr);
    if (part.ok()) parts[r] = *std::move(part);
    return part.status();
  });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(parts[1], nullptr);
  EXPECT_EQ(parts[0]->rank(), 1);
  EXPECT_EQ(parts[2]->rank(), 0);
  EXPECT_EQ(parts[0]->size(), 2);
}

// One rank alone, on any library.
class DeviceCommunicatorTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto driver = OpenGpuDriver(GetParam(), 0);
    if (absl::IsUnavailable(driver.status())) GTEST_SKIP() << driver.status();
    ASSERT_TRUE(driver.ok()) << driver.status();
    driver_ = *std::move(driver);
    library_ = CommunicatorLibraryOf(GetParam());
    auto version = library_->Version();
    if (absl::IsUnavailable(version.status())) GTEST_SKIP() << version.status();
    auto made = library_->Create(*library_->MakeUniqueId(), 1, 0, *driver_, 0, nullptr);
    ASSERT_TRUE(made.ok()) << made.status();
    alone_ = *std::move(made);
    stream_ = *driver_->CreateStream();
    send_ = static_cast<float*>(*driver_->Allocate(64));
    receive_ = static_cast<float*>(*driver_->Allocate(64));
  }
  // What the call makes of 1, 2, 3, 4.
  std::vector<float> After(const std::function<absl::Status()>& call) {
    const std::vector<float> numbers{1, 2, 3, 4};
    std::vector<float> result(4);
    EXPECT_TRUE(stream_->Copy(send_, numbers.data(), 16).ok());
    EXPECT_TRUE(stream_->Fill(receive_, 0, 1, 16).ok());
    absl::Status status = call();
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(stream_->Copy(result.data(), receive_, 16).ok());
    status = stream_->Synchronize();
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(alone_->AsyncError().ok()) << alone_->AsyncError();
    return result;
  }

  std::unique_ptr<GpuDriver> driver_;
  std::shared_ptr<DeviceCommunicatorLibrary> library_;
  std::unique_ptr<GpuStream> stream_;
  std::unique_ptr<DeviceCommunicator> alone_;
  float *send_ = nullptr, *receive_ = nullptr;
};

TEST_P(DeviceCommunicatorTest, EveryFunction) {
  const std::vector<float> all{1, 2, 3, 4};
  EXPECT_EQ(alone_->rank(), 0);
  EXPECT_EQ(alone_->size(), 1);
  for (const DeviceReduction reduction :
       {DeviceReduction::kSum, DeviceReduction::kProd, DeviceReduction::kMax, DeviceReduction::kMin}) {
    EXPECT_EQ(After([&] { return alone_->AllReduce(send_, receive_, 4, F32, reduction, *stream_); }), all);
    EXPECT_EQ(After([&] { return alone_->ReduceScatter(send_, receive_, 4, F32, reduction, *stream_); }), all);
  }
  for (const PrimitiveType type : {S8, U8, S32, U32, S64, U64, F16, BF16, F64}) {
    const int64_t count = 16 / PrimitiveTypeByteSize(type);
    EXPECT_EQ(After([&] { return alone_->AllReduce(send_, receive_, count, type, DeviceReduction::kSum, *stream_); }),
              all)
        << PrimitiveTypeName(type);
  }
  EXPECT_EQ(After([&] { return alone_->AllGather(send_, receive_, 4, F32, *stream_); }), all);
  EXPECT_EQ(After([&] { return alone_->Broadcast(send_, receive_, 4, F32, 0, *stream_); }), all);
  if (alone_->has_all_to_all()) {
    EXPECT_EQ(After([&] { return alone_->AllToAll(send_, receive_, 4, F32, *stream_); }), all);
  }
  EXPECT_EQ(After([&] {
              (void)alone_->GroupStart();
              (void)alone_->Send(send_, 4, F32, 0, *stream_);
              (void)alone_->Receive(receive_, 4, F32, 0, *stream_);
              return alone_->GroupEnd();
            }),
            all);
}

TEST_P(DeviceCommunicatorTest, APartOfIt) {
  auto part = alone_->Split(0, 0, nullptr);
  ASSERT_TRUE(part.ok()) << part.status();
  alone_ = *std::move(part);
  EXPECT_EQ(alone_->size(), 1);
  EXPECT_EQ(After([&] { return alone_->AllReduce(send_, receive_, 4, F32, DeviceReduction::kSum, *stream_); }),
            (std::vector<float>{1, 2, 3, 4}));
}

TEST_P(DeviceCommunicatorTest, AfterAnAbortCallsFail) {
  alone_->Abort(absl::CancelledError("given up"));
  alone_->Abort(absl::CancelledError("again"));
  EXPECT_EQ(alone_->AllReduce(send_, receive_, 4, F32, DeviceReduction::kSum, *stream_).message(), "given up");
  EXPECT_EQ(alone_->AsyncError().message(), "given up");
  EXPECT_TRUE(stream_->Synchronize().ok());
}

TEST_P(DeviceCommunicatorTest, InAGraph) {
  ASSERT_TRUE(stream_->BeginCapture().ok());
  const absl::Status captured = alone_->AllReduce(send_, receive_, 4, F32, DeviceReduction::kSum, *stream_);
  auto graph = stream_->EndCapture();
  ASSERT_TRUE(captured.ok()) << captured;
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(After([&] { return stream_->LaunchGraph(graph->get()); }), (std::vector<float>{1, 2, 3, 4}));
}

INSTANTIATE_TEST_SUITE_P(Gpu, DeviceCommunicatorTest, testing::Values(kEmulatedPlatform, kCudaPlatform),
                         [](const auto& info) {
                           return std::string(info.param) == kCudaPlatform ? "Cuda" : "Emulated";
                         });

// The library without a GPU: it is loaded, tells its version, makes ids, and says in words why it cannot do more.
TEST(NcclTest, WithoutAGpu) {
  setenv("NCCL_SOCKET_IFNAME", "lo", /*overwrite=*/0);
  const auto library = CreateNcclLibrary();
  const auto version = library->Version();
  if (!version.ok()) {
    EXPECT_TRUE(absl::StrContains(version.status().message(), "libnccl.so.2")) << version.status();
    GTEST_SKIP() << version.status();
  }
  EXPECT_TRUE(absl::StartsWith(*version, "NCCL 2.")) << *version;
  const auto first = library->MakeUniqueId(), second = library->MakeUniqueId();
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  EXPECT_EQ(first->size(), 128u);
  EXPECT_NE(*first, *second);
  const auto driver = OpenGpuDriver(kEmulatedPlatform, 0);
  EXPECT_EQ(library->Create("short", 1, 0, **driver, 0, nullptr).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(library->Create(*first, 1, 1, **driver, 0, nullptr).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hilo::gpu
