// A fixture for tests that run on device 0 of a platform: the emulated one and, where there is a GPU, a real one.
#ifndef HILO_TESTS_SUPPORT_GPU_DEVICE_TEST_H_
#define HILO_TESTS_SUPPORT_GPU_DEVICE_TEST_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "backends/gpu/lib/library_device.h"
#include "backends/gpu/runtime/gpu_platform.h"

namespace hilo::gpu {

// Memory is freed with the device.
class GpuDeviceTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto opened = OpenGpuDriver(GetParam(), 0);
    if (absl::IsUnavailable(opened.status())) {
      EXPECT_TRUE(absl::StrContains(opened.status().message(), "driver") ||
                  absl::StrContains(opened.status().message(), "built without"))
          << opened.status();
      GTEST_SKIP() << opened.status();
    }
    ASSERT_TRUE(opened.ok()) << opened.status();
    driver_ = *std::move(opened);
    auto stream = driver_->CreateStream();
    ASSERT_TRUE(stream.ok()) << stream.status();
    stream_ = *std::move(stream);
    device_ = {.is_emulated = driver_->properties().is_emulated, .driver = driver_.get()};
  }

  template <typename T>
  T* ToDevice(const std::vector<T>& values) {
    void* memory = *driver_->Allocate(BytesOf(values));
    EXPECT_TRUE(stream_->Copy(memory, values.data(), BytesOf(values)).ok());
    EXPECT_TRUE(stream_->Synchronize().ok());
    return static_cast<T*>(memory);
  }
  // Waits for the stream.
  template <typename T>
  std::vector<T> ToHost(const T* memory, size_t count) {
    std::vector<T> values(count);
    EXPECT_TRUE(stream_->Copy(values.data(), memory, BytesOf(values)).ok());
    const absl::Status status = stream_->Synchronize();
    EXPECT_TRUE(status.ok()) << status;
    return values;
  }
  template <typename T>
  static int64_t BytesOf(const std::vector<T>& values) {
    return static_cast<int64_t>(values.size() * sizeof(T));
  }

  std::unique_ptr<GpuDriver> driver_;
  std::unique_ptr<GpuStream> stream_;
  LibraryDevice device_;
};

}  // namespace hilo::gpu

// Runs a suite of TEST_P with this fixture on both platforms.
#define HILO_TEST_ON_GPUS(suite)                                                               \
  INSTANTIATE_TEST_SUITE_P(                                                                    \
      Gpu, suite, testing::Values(::hilo::gpu::kEmulatedPlatform, ::hilo::gpu::kCudaPlatform), \
      [](const auto& info) { return std::string(info.param) == ::hilo::gpu::kCudaPlatform ? "Cuda" : "Emulated"; })

#endif  // HILO_TESTS_SUPPORT_GPU_DEVICE_TEST_H_
