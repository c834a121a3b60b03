// Compiled kernels as bytes.
#ifndef HILO_BACKENDS_GPU_DRIVER_GPU_IMAGE_H_
#define HILO_BACKENDS_GPU_DRIVER_GPU_IMAGE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace hilo::gpu {

enum class GpuImageFormat {
  kBitcode,  // LLVM bitcode after the NVPTX pipeline: the input of the emulated device
  kPtx,      // text, which a driver compiles
  kCubin     // machine code of one architecture
};

// One kernel's use of multiprocessor resources, as reported by the assembler.
struct KernelResources {
  std::string kernel;
  int registers = 0;        // per thread
  int64_t stack_bytes = 0;  // per thread
  int64_t spill_store_bytes = 0, spill_load_bytes = 0;
  int64_t shared_bytes = 0;    // per block, declared
  int64_t constant_bytes = 0;  // parameters included
};

// The kernels of one image, as indices into the program's kernels.
struct KernelImage {
  std::string bytes;
  std::string ptx;  // of a cubin: what it was assembled from, for devices of later generations; else empty
  std::vector<int64_t> kernels;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_DRIVER_GPU_IMAGE_H_
