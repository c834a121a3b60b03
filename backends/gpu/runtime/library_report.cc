#include "backends/gpu/runtime/library_report.h"

#include <dlfcn.h>

#include "absl/strings/string_view.h"
#include "backends/gpu/driver/cuda_library.h"

namespace hilo::gpu {
namespace {

struct Library {
  const char* name;
  std::vector<absl::string_view> sonames;
  const char* function;  // one of its own, by whose address the file is known
};

std::string Find(const Library& library) {
  const absl::StatusOr<void*> loaded = LoadCudaLibrary(library.sonames);
  if (!loaded.ok()) return std::string(loaded.status().message());
  const absl::StatusOr<void*> function = CudaSymbol(*loaded, library.function);
  if (!function.ok()) return std::string(function.status().message());
  Dl_info info;
  return dladdr(*function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "loaded";
}

}  // namespace

std::vector<LibraryFinding> FindLibraries() {
  const std::vector<Library> libraries = {
      {"nvJitLink", {"libnvJitLink.so.13", "libnvJitLink.so.12"}, "nvJitLinkVersion"},
      {"cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12"}, "cublasLtGetVersion"},
      {"cuBLAS", {"libcublas.so.13", "libcublas.so.12"}, "cublasCreate_v2"},
      {"cuDNN", {"libcudnn.so.9"}, "cudnnBackendExecute"},
      {"cuFFT", {"libcufft.so.12", "libcufft.so.11"}, "cufftGetVersion"},
      {"cuSOLVER", {"libcusolver.so.12", "libcusolver.so.11"}, "cusolverDnCreate"},
      {"NCCL", {"libnccl.so.2"}, "ncclGetVersion"}};
  std::vector<LibraryFinding> findings;
  for (const Library& library : libraries) findings.push_back({library.name, Find(library)});
  for (const char* file : {"libdevice.10.bc", "ptxas", "nvdisasm"}) {
    const absl::StatusOr<std::string> path = FindCudaFile(file);
    findings.push_back({file, path.ok() ? *path : std::string(path.status().message())});
  }
  return findings;
}

}  // namespace hilo::gpu
