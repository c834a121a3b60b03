// Finds and loads CUDA's files and libraries on first use: the same binary works with and without them.
//
// Search order: the folders of HILO_CUDA_PATH (separated by colons); the process's own search path (libraries);
// $CUDA_HOME, $CUDA_PATH, /usr/local/cuda; the nvidia/*/ folders of Python environments ($VIRTUAL_ENV, then the
// system's), where NVIDIA's packages install them. HILO_CUDA_PATH=none finds nothing at all.
#ifndef HILO_BACKENDS_GPU_DRIVER_CUDA_LIBRARY_H_
#define HILO_BACKENDS_GPU_DRIVER_CUDA_LIBRARY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hilo::gpu {

// Returns the existing folders that may contain CUDA's files, in the order above.
std::vector<std::string> CudaFolders();

// Returns the path of a file: "libdevice.10.bc", "ptxas". Errors: NotFound with the folders.
absl::StatusOr<std::string> FindCudaFile(absl::string_view name);

// Loads the first of `sonames` that is found, for the life of the process. Errors: Unavailable with the names, the
// folders, and the loader's message.
absl::StatusOr<void*> LoadCudaLibrary(absl::Span<const absl::string_view> sonames);

// Returns the address of a function. Errors: Unavailable naming it.
absl::StatusOr<void*> CudaSymbol(void* library, absl::string_view name);

}  // namespace hilo::gpu

// A table of functions is a .def file of rows HILO_CUDA_FN(result, name, (parameters)); see nvjitlink.def and its use
// in assembler.cc.
#define HILO_CUDA_FN_MEMBER(result, name, parameters) result(*name) parameters = nullptr;
#define HILO_CUDA_FN_LOAD(result, name, parameters)                                \
  do {                                                                             \
    HILO_ASSIGN_OR_RETURN(void* address, ::hilo::gpu::CudaSymbol(library, #name)); \
    table.name = reinterpret_cast<result(*) parameters>(address);                  \
  } while (false);

#endif  // HILO_BACKENDS_GPU_DRIVER_CUDA_LIBRARY_H_
