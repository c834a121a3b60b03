#include "backends/gpu/runtime/device_fixtures.h"

#include "absl/strings/str_cat.h"
#include "backends/gpu/lib/convolution.h"
#include "backends/gpu/lib/gemm.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "hilo/status_macros.h"

#ifdef HILO_HAVE_CUDA
#include "backends/gpu/cuda/cuda_report.h"
#include "backends/gpu/cuda/cudnn_graph.h"
#endif

namespace hilo::gpu {
namespace {

constexpr int kMaxAlgorithms = 32;

// Square ones, and those of a transformer's layer.
std::vector<LibraryWork> Products(const LibraryDevice& device) {
  std::vector<LibraryWork> work;
  for (PrimitiveType type : {F32, BF16, F16, F64}) {
    for (const auto& [m, n, k] : {std::tuple(1024, 1024, 1024), std::tuple(8192, 8192, 8192),
                                  std::tuple(4096, 512, 1024), std::tuple(64, 4096, 4096)}) {
      work.push_back(GemmWork(device, {.a_type = type,
                                       .b_type = type,
                                       .d_type = type,
                                       .m = m,
                                       .n = n,
                                       .k = k,
                                       .lda = m,
                                       .ldb = k,
                                       .ldd = m,
                                       .allow_tf32 = type == F32}));
    }
  }
  return work;
}

// Of a residual network: 3 x 3 in its four sizes, forward with what follows, and gradients.
std::vector<LibraryWork> Convolutions(const LibraryDevice& device) {
  std::vector<LibraryWork> work;
  for (PrimitiveType type : {F32, BF16, F16}) {
    for (const auto& [size, features] :
         {std::pair(56, 64), std::pair(28, 128), std::pair(14, 256), std::pair(7, 512)}) {
      ConvolutionDescriptor convolution{.type = type,
                                        .result_type = type,
                                        .features_last = true,
                                        .images = 32,
                                        .in_features = features,
                                        .out_features = features,
                                        .in = {size, size},
                                        .taps = {3, 3},
                                        .out = {size, size},
                                        .strides = {1, 1},
                                        .dilations = {1, 1},
                                        .padding_low = {1, 1},
                                        .padding_high = {1, 1},
                                        .allow_tf32 = type == F32};
      for (ConvolutionKind kind :
           {ConvolutionKind::kForward, ConvolutionKind::kBackwardInput, ConvolutionKind::kBackwardFilter}) {
        convolution.kind = kind;
        work.push_back(ConvolutionWork(device, convolution));
      }
      convolution.kind = ConvolutionKind::kForward;
      convolution.has_residual = convolution.has_bias = true;
      convolution.activation = ConvolutionActivation::kRelu;
      work.push_back(ConvolutionWork(device, convolution));
    }
  }
  return work;
}

std::string Algorithms(const GpuDriver& driver, const std::vector<LibraryWork>& all) {
  std::string text;
  for (const LibraryWork& work : all) {
    const absl::StatusOr<std::string> version = work.version();
    const absl::StatusOr<std::vector<LibraryAlgorithm>> algorithms =
        version.ok() ? work.algorithms(kMaxAlgorithms) : version.status();
    const std::string start =
        absl::StrCat(driver.properties().name, "\t", version.value_or("none"), "\t", work.text, "\t");
    if (!algorithms.ok()) absl::StrAppend(&text, start, algorithms.status().ToString(), "\n");
    for (const LibraryAlgorithm& algorithm : algorithms.value_or(std::vector<LibraryAlgorithm>()))
      absl::StrAppend(&text, start, algorithm.code, "\t", algorithm.workspace_bytes, "\n");
  }
  return text;
}

std::string Properties(const GpuProperties& p) {
  return absl::StrCat("name ", p.name, "\narch ", p.arch(), "\nmultiprocessors ", p.multiprocessors,
                      "\nmax_threads_per_block ", p.max_threads_per_block, "\nmax_shared_bytes_per_block ",
                      p.max_shared_bytes_per_block, "\nl2_bytes ", p.l2_bytes, "\nmemory_bytes ", p.memory_bytes, "\n");
}

}  // namespace

absl::StatusOr<std::vector<DeviceFixture>> DumpFixtures(absl::string_view platform, int device) {
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<GpuDriver> driver, OpenGpuDriver(platform, device));
  const LibraryDevice library{.is_emulated = driver->properties().is_emulated, .driver = driver.get()};
  std::vector<DeviceFixture> fixtures = {{"properties.txt", Properties(driver->properties())}};
#ifdef HILO_HAVE_CUDA
  if (!library.is_emulated) {
    fixtures[0].text += CudaDeviceReport(device);
    const absl::StatusOr<std::string> json = CudnnDeviceJson(device);
    fixtures.push_back({"cudnn_device.json", json.ok() ? *json : json.status().ToString()});
  }
#endif
  fixtures.push_back({"gemm_algorithms.txt", Algorithms(*driver, Products(library))});
  fixtures.push_back({"convolution_algorithms.txt", Algorithms(*driver, Convolutions(library))});
  return fixtures;
}

}  // namespace hilo::gpu
