#include "backends/gpu/cuda/cuda_report.h"

#include <cuda_runtime_api.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace hilo::gpu {

std::string CudaDeviceReport(int device) {
  constexpr int kMaxAttributes = 256;
  std::string text;
  int value = 0;
  if (cudaDriverGetVersion(&value) == cudaSuccess) absl::StrAppend(&text, "driver_version ", value, "\n");
  if (cudaRuntimeGetVersion(&value) == cudaSuccess) absl::StrAppend(&text, "runtime_version ", value, "\n");
  for (int attribute = 1; attribute < kMaxAttributes; ++attribute) {
    if (cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(attribute), device) == cudaSuccess)
      absl::StrAppend(&text, "attribute ", attribute, " ", value, "\n");
  }
  cudaDeviceProp properties = {};
  if (cudaGetDeviceProperties(&properties, device) == cudaSuccess) {
    absl::StrAppend(&text, "cudaDeviceProp ",
                    absl::BytesToHexString({reinterpret_cast<const char*>(&properties), sizeof(properties)}), "\n");
  }
  cudaGetLastError();  // for attributes that do not exist
  return text;
}

}  // namespace hilo::gpu
