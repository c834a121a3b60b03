// What every device must do, over the emulated one and, where there is one, a real one: the same kernels, compiled to
// what it takes.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "absl/strings/match.h"
#include "hilo/status_macros.h"
#include "tests/support/gpu_device_test.h"
#include "tests/unit/backends/gpu/test_kernels.h"

namespace hilo::gpu {
namespace {

uint64_t Bits(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

class GpuDriverTest : public GpuDeviceTest {
 protected:
  GpuKernel* Load(const std::string& text, const std::string& name) {
    const GpuImageFormat format = driver_->image_format();
    const auto code = CompileText(text, {.arch = driver_->properties().arch(),
                                         .bitcode = format == GpuImageFormat::kBitcode,
                                         .ptx = format == GpuImageFormat::kPtx,
                                         .cubin = format == GpuImageFormat::kCubin});
    EXPECT_TRUE(code.ok()) << code.status();
    if (!code.ok()) return nullptr;
    auto module = driver_->LoadModule(code->image(format));
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return nullptr;
    modules_.push_back(*std::move(module));
    return *modules_.back()->GetKernel(name);
  }

  std::vector<std::unique_ptr<GpuModule>> modules_;
};

std::vector<float> Numbers(int64_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

TEST_P(GpuDriverTest, Properties) {
  const GpuProperties& properties = driver_->properties();
  EXPECT_FALSE(properties.name.empty());
  EXPECT_GE(properties.compute_major, 7);
  EXPECT_GE(properties.max_threads_per_block, 512);
  EXPECT_GE(properties.max_shared_bytes_per_block, 48 << 10);
  EXPECT_GE(driver_->MemoryInfo()->total_bytes, driver_->MemoryInfo()->free_bytes);
}

TEST_P(GpuDriverTest, CopiesAndFills) {
  const std::vector<float> values = Numbers(1000);
  float* memory = ToDevice(values);
  EXPECT_EQ(ToHost(memory, 1000), values);
  ASSERT_TRUE(stream_->Fill(memory + 1, 0x3f800000, 4, 8).ok());
  ASSERT_TRUE(stream_->Fill(memory + 4, 0, 1, 4).ok());
  ASSERT_TRUE(stream_->Fill(memory + 5, 0x1234, 2, 4).ok());
  const std::vector<float> filled = ToHost(memory, 7);
  EXPECT_EQ(filled[0], 1.0f);
  EXPECT_EQ(filled[1], 1.0f);
  EXPECT_EQ(filled[2], 1.0f);
  EXPECT_EQ(filled[3], 4.0f);
  EXPECT_EQ(filled[4], 0.0f);
  uint32_t bits;
  std::memcpy(&bits, &filled[5], 4);
  EXPECT_EQ(bits, 0x12341234u);
  EXPECT_EQ(filled[6], 7.0f);
  EXPECT_TRUE(driver_->Free(memory).ok());
}

TEST_P(GpuDriverTest, Multiply) {
  GpuKernel* kernel = Load(MultiplyKernel(), "multiply");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->name(), "multiply");
  const std::vector<float> values = Numbers(1000);
  float *a = ToDevice(values), *b = ToDevice(values), *c = ToDevice(values);
  ASSERT_TRUE(stream_
                  ->Launch(kernel, {{4}, {256}}, {Bits(a), Bits(b), Bits(c), 1000},
                           {GpuSlice::Read(a, 4000), GpuSlice::Read(b, 4000), GpuSlice::Write(c, 4000)})
                  .ok());
  const std::vector<float> result = ToHost(c, 1000);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(result[i], values[i] * values[i]);
}

TEST_P(GpuDriverTest, BlockSum) {
  GpuKernel* kernel = Load(BlockSumKernel(), "block_sum");
  float *a = ToDevice(Numbers(1024)), *out = ToDevice(Numbers(4));
  ASSERT_TRUE(
      stream_->Launch(kernel, {{4}, {256}}, {Bits(a), Bits(out)}, {GpuSlice::Read(a, 4096), GpuSlice::Write(out, 16)})
          .ok());
  EXPECT_EQ(ToHost(out, 4), std::vector<float>({32896, 98432, 163968, 229504}));
}

TEST_P(GpuDriverTest, Reverse) {
  GpuKernel* kernel = Load(ReverseKernel(), "reverse");
  float *a = ToDevice(Numbers(512)), *out = ToDevice(Numbers(256));
  ASSERT_TRUE(
      stream_
          ->Launch(kernel, {{1}, {256}}, {Bits(a), Bits(out), 2}, {GpuSlice::Read(a, 2048), GpuSlice::Write(out, 1024)})
          .ok());
  const std::vector<float> result = ToHost(out, 256);
  EXPECT_EQ(result[0], 256.0f + 512.0f);
  EXPECT_EQ(result[255], 1.0f + 257.0f);
}

TEST_P(GpuDriverTest, Histogram) {
  GpuKernel* kernel = Load(HistogramKernel(), "histogram");
  std::vector<uint8_t> bytes(10000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 / 3);
  std::vector<int32_t> expected(256, 0);
  for (uint8_t byte : bytes) ++expected[byte];
  uint8_t* a = ToDevice(bytes);
  int32_t* out = ToDevice(std::vector<int32_t>(256, 0));
  ASSERT_TRUE(stream_
                  ->Launch(kernel, {{3}, {256}}, {Bits(a), Bits(out), bytes.size()},
                           {GpuSlice::Read(a, BytesOf(bytes)), GpuSlice::Write(out, 1024)})
                  .ok());
  EXPECT_EQ(ToHost(out, 256), expected);
}

TEST_P(GpuDriverTest, Transpose) {
  GpuKernel* kernel = Load(TransposeKernel(), "transpose");
  const std::vector<float> values = Numbers(4096);
  float *a = ToDevice(values), *out = ToDevice(values);
  ASSERT_TRUE(stream_
                  ->Launch(kernel, {{2, 2}, {32, 8}}, {Bits(a), Bits(out)},
                           {GpuSlice::Read(a, 16384), GpuSlice::Write(out, 16384)})
                  .ok());
  const std::vector<float> result = ToHost(out, 4096);
  for (int r = 0; r < 64; ++r) {
    for (int c = 0; c < 64; ++c) ASSERT_EQ(result[c * 64 + r], values[r * 64 + c]);
  }
}

TEST_P(GpuDriverTest, Sine) {
  GpuKernel* kernel = Load(KernelText("sine", "ptr noalias align 256 %out", R"(
  %index = zext nneg i32 %t to i64
  %po = getelementptr inbounds double, ptr %out, i64 %index
  %x = load double, ptr %po
  %y = call double @hilo_math_sin(double %x)
  store double %y, ptr %po
  ret void)"),
                           "sine");
  const std::vector<double> values = {0.5, -3.0, 1e10, 1e300};
  double* x = ToDevice(values);
  ASSERT_TRUE(stream_->Launch(kernel, {{1}, {4}}, {Bits(x)}, {GpuSlice::Write(x, 32)}).ok());
  const std::vector<double> result = ToHost(x, 4);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(result[i], std::sin(values[i]), 1e-15);
}

TEST_P(GpuDriverTest, EventsOrderStreams) {
  auto second = *driver_->CreateStream();
  auto start = *driver_->CreateEvent(), event = *driver_->CreateEvent(), end = *driver_->CreateEvent();
  const std::vector<float> values = Numbers(1 << 16);
  float *memory = ToDevice(values), *other = ToDevice(values);
  std::vector<float> result(values.size());
  EXPECT_TRUE(*event->IsDone());
  ASSERT_TRUE(stream_->Record(start.get()).ok());
  ASSERT_TRUE(stream_->Fill(memory, 0, 1, BytesOf(values)).ok());
  ASSERT_TRUE(stream_->Record(event.get()).ok());
  ASSERT_TRUE(second->Wait(*event).ok());
  ASSERT_TRUE(second->Copy(other, memory, BytesOf(values)).ok());
  ASSERT_TRUE(second->Copy(result.data(), other, BytesOf(values)).ok());
  ASSERT_TRUE(second->Record(end.get()).ok());
  ASSERT_TRUE(end->Synchronize().ok());
  EXPECT_TRUE(*end->IsDone());
  EXPECT_TRUE(*event->IsDone());
  EXPECT_EQ(result, std::vector<float>(values.size(), 0.0f));
  EXPECT_GE(*end->MillisecondsSince(*start), 0.0);
}

TEST_P(GpuDriverTest, HostFunctionsAndCalls) {
  int order = 0, host = 0, call = 0;
  ASSERT_TRUE(stream_->Call([&](void*) { return call = 1, absl::OkStatus(); }, {}).ok());
  ASSERT_TRUE(stream_->Host([&] { return host = ++order, absl::OkStatus(); }, {}).ok());
  ASSERT_TRUE(stream_->Synchronize().ok());
  EXPECT_EQ(host, 1);
  EXPECT_EQ(call, 1);
  ASSERT_TRUE(stream_->Host([] { return absl::CancelledError("the host says no"); }, {}).ok());
  EXPECT_EQ(stream_->Synchronize().message(), "the host says no");
}

TEST_P(GpuDriverTest, GraphsReplay) {
  GpuKernel* kernel = Load(MultiplyKernel(), "multiply");
  const std::vector<float> values = Numbers(256);
  float *a = ToDevice(values), *b = ToDevice(values), *c = ToDevice(values);
  ASSERT_TRUE(stream_->BeginCapture().ok());
  ASSERT_TRUE(stream_
                  ->Launch(kernel, {{1}, {256}}, {Bits(a), Bits(b), Bits(c), 256},
                           {GpuSlice::Read(a, 1024), GpuSlice::Read(b, 1024), GpuSlice::Write(c, 1024)})
                  .ok());
  ASSERT_TRUE(stream_->Copy(a, c, 1024).ok());
  auto graph = stream_->EndCapture();
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(stream_->LaunchGraph(graph->get()).ok());
  EXPECT_EQ(ToHost(a, 4), std::vector<float>({1, 8, 27, 64}));
}

// The device counts the iterations: each moves what is in both arrays by one.
TEST_P(GpuDriverTest, CapturedLoops) {
  if (!stream_->CapturesControlFlow()) GTEST_SKIP() << "the driver has no conditions in graphs";
  uint8_t *more = ToDevice<uint8_t>({1, 1, 1, 0, 1, 1, 1, 1}), *values = ToDevice<uint8_t>({1, 2, 3, 4, 5, 6, 7, 8}),
          *moved = ToDevice(std::vector<uint8_t>(8));
  ASSERT_TRUE(stream_->BeginCapture().ok());
  const absl::Status status = stream_->CaptureWhile(more, [&](GpuStream& stream) -> absl::Status {
    for (uint8_t* array : {more, values}) {
      HILO_RETURN_IF_ERROR(stream.Copy(moved, array + 1, 7));
      HILO_RETURN_IF_ERROR(stream.Copy(array, moved, 7));
    }
    return absl::OkStatus();
  });
  ASSERT_TRUE(status.ok()) << status;
  auto graph = stream_->EndCapture();
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (const uint8_t first : {4, 4}) {  // the second time it does not begin
    ASSERT_TRUE(stream_->LaunchGraph(graph->get()).ok());
    EXPECT_EQ(ToHost(values, 2), std::vector<uint8_t>({first, static_cast<uint8_t>(first + 1)}));
  }
}

TEST_P(GpuDriverTest, CapturedLoopsCanBeEnded) {
  if (!stream_->CapturesControlFlow()) GTEST_SKIP() << "the driver has no conditions in graphs";
  uint8_t *more = ToDevice<uint8_t>({1}), *values = ToDevice<uint8_t>({1, 2});
  ASSERT_TRUE(stream_->BeginCapture().ok());
  ASSERT_TRUE(stream_->CaptureWhile(more, [&](GpuStream& stream) { return stream.Copy(values, values + 1, 1); }).ok());
  auto graph = stream_->EndCapture();
  ASSERT_TRUE(graph.ok()) << graph.status();
  volatile int32_t flag = 0;
  stream_->EndLoopsWhen(&flag);
  ASSERT_TRUE(stream_->LaunchGraph(graph->get()).ok());
  std::thread ends([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    flag = 1;
  });
  EXPECT_TRUE(stream_->Synchronize().ok());
  EXPECT_EQ(flag, 1);
  ends.join();
  stream_->EndLoopsWhen(nullptr);
}

// A branch may write over what it was chosen by.
TEST_P(GpuDriverTest, CapturedBranches) {
  if (!stream_->CapturesControlFlow()) GTEST_SKIP() << "the driver has no conditions in graphs";
  uint8_t* taken = ToDevice<uint8_t>({0});
  for (const bool is_pred : {true, false}) {
    int32_t* selector = ToDevice<int32_t>({0});
    const auto branch = [&](int number) {
      return [=](GpuStream& stream) -> absl::Status {
        HILO_RETURN_IF_ERROR(stream.Fill(taken, static_cast<uint32_t>(number), 1, 1));
        return stream.Fill(selector, static_cast<uint32_t>(number + 1), 4, 4);
      };
    };
    std::vector<GpuStream::Part> branches = {branch(0), branch(1)};
    if (!is_pred) branches.push_back(branch(2));
    ASSERT_TRUE(stream_->BeginCapture().ok());
    const absl::Status status = stream_->CaptureBranches(selector, is_pred, branches);
    ASSERT_TRUE(status.ok()) << status;
    auto graph = stream_->EndCapture();
    ASSERT_TRUE(graph.ok()) << graph.status();
    for (const int32_t number : {0, 1, 2, 7, -1}) {
      if (is_pred && number > 1) continue;
      ASSERT_TRUE(stream_->Copy(selector, &number, 4).ok());
      ASSERT_TRUE(stream_->LaunchGraph(graph->get()).ok());
      const int want = is_pred ? (number != 0 ? 0 : 1) : (number < 0 || number > 2 ? 2 : number);
      EXPECT_EQ(ToHost(taken, 1), std::vector<uint8_t>({static_cast<uint8_t>(want)})) << number;
    }
  }
}

TEST_P(GpuDriverTest, ControlFlowIsForCaptures) {
  uint8_t* more = ToDevice<uint8_t>({0});
  EXPECT_FALSE(stream_->CaptureWhile(more, [](GpuStream&) { return absl::OkStatus(); }).ok());
}

TEST_P(GpuDriverTest, MemoryRunsOut) {
  const absl::Status status = driver_->Allocate(int64_t{1} << 50).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(absl::StrContains(status.message(), "1125899906842624 bytes")) << status;
  EXPECT_EQ(*driver_->Allocate(0), nullptr);
  void* memory = *driver_->Allocate(1000, stream_.get());
  EXPECT_EQ(Bits(memory) % kDeviceAlignment, 0u);
  EXPECT_TRUE(stream_->Fill(memory, 1, 1, 1000).ok());
  EXPECT_TRUE(driver_->Free(memory, stream_.get()).ok());
  EXPECT_TRUE(stream_->Synchronize().ok());
  void* pinned = *driver_->AllocateHost(100);
  std::memset(pinned, 1, 100);
  driver_->FreeHost(pinned);
}

// Static and dynamic memory count together: 20 and 40 KB need what neither needs alone.
TEST_P(GpuDriverTest, SharedMemoryOfBothKinds) {
  GpuKernel* kernel = Load(KernelText("both_kinds", "ptr noalias align 256 %out", R"(
  %from = sub nuw nsw i32 255, %t
  %index = zext nneg i32 %t to i64
  %other = zext nneg i32 %from to i64
  %ps = getelementptr inbounds i32, ptr addrspace(3) @fixed, i64 %index
  %pd = getelementptr inbounds i32, ptr addrspace(3) @large, i64 %index
  store i32 %t, ptr addrspace(3) %ps
  store i32 %i, ptr addrspace(3) %pd
  call void @llvm.nvvm.barrier0()
  %qs = getelementptr inbounds i32, ptr addrspace(3) @fixed, i64 %other
  %qd = getelementptr inbounds i32, ptr addrspace(3) @large, i64 %other
  %x = load i32, ptr addrspace(3) %qs
  %y = load i32, ptr addrspace(3) %qd
  %z = add i32 %x, %y
  %po = getelementptr inbounds i32, ptr %out, i64 %index
  store i32 %z, ptr %po
  ret void)",
                                      R"(
@fixed = internal addrspace(3) global [5120 x i32] poison, align 16
@large = external addrspace(3) global [0 x i8], align 16
)"),
                           "both_kinds");
  ASSERT_NE(kernel, nullptr);
  int32_t* out = ToDevice(std::vector<int32_t>(256, 0));
  ASSERT_TRUE(stream_
                  ->Launch(kernel, {.grid = {1}, .block = {256}, .dynamic_shared_bytes = 40 << 10}, {Bits(out)},
                           {GpuSlice::Write(out, 1024)})
                  .ok());
  const std::vector<int32_t> result = ToHost(out, 256);
  for (int i = 0; i < 256; ++i) ASSERT_EQ(result[i], 2 * (255 - i));
}

TEST_P(GpuDriverTest, NoBytesAreCaptured) {
  float* memory = ToDevice(Numbers(4));
  ASSERT_TRUE(stream_->BeginCapture().ok());
  EXPECT_TRUE(stream_->Copy(memory, memory + 2, 0).ok());
  EXPECT_TRUE(stream_->Fill(memory, 0, 1, 0).ok());
  EXPECT_TRUE(stream_->Copy(memory, memory + 2, 4).ok());
  auto graph = stream_->EndCapture();
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_TRUE(stream_->LaunchGraph(graph->get()).ok());
  EXPECT_EQ(ToHost(memory, 4), std::vector<float>({3, 2, 3, 4}));
}

// Memory that waits for work of another stream to be freed is not what an allocation gets.
TEST_P(GpuDriverTest, AllocationDoesNotWait) {
  if (driver_->properties().is_emulated) GTEST_SKIP() << "one queue does the work of all streams";
  constexpr int64_t kBytes = int64_t{64} << 20;
  auto second = *driver_->CreateStream();
  void* freed = *driver_->Allocate(kBytes, stream_.get());
  std::atomic<bool> is_allocated{false}, was_in_time{false};
  const auto work = [&] {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!is_allocated && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    was_in_time = is_allocated.load();
    return absl::OkStatus();
  };
  ASSERT_TRUE(stream_->Host(work, {GpuSlice::Write(freed, kBytes)}).ok());
  ASSERT_TRUE(driver_->Free(freed, stream_.get()).ok());
  void* memory = *driver_->Allocate(kBytes, second.get());
  ASSERT_TRUE(second->Synchronize().ok());
  is_allocated = true;
  ASSERT_TRUE(stream_->Synchronize().ok());
  EXPECT_TRUE(was_in_time);
  EXPECT_TRUE(driver_->Free(memory, second.get()).ok());
}

TEST_P(GpuDriverTest, MissingKernel) {
  ASSERT_NE(Load(MultiplyKernel(), "multiply"), nullptr);
  EXPECT_EQ(modules_.back()->GetKernel("divide").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(driver_->LoadModule("nothing that a device knows").ok());
}

HILO_TEST_ON_GPUS(GpuDriverTest);

}  // namespace
}  // namespace hilo::gpu
