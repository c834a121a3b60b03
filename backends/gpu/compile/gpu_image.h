// Compiled kernels as bytes.
#ifndef HILO_BACKENDS_GPU_COMPILE_GPU_IMAGE_H_
#define HILO_BACKENDS_GPU_COMPILE_GPU_IMAGE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace hilo::gpu {

enum class GpuImageFormat {
  kBitcode,  // LLVM bitcode after the NVPTX pipeline: what the emulated device takes
  kPtx,      // text, which a driver compiles
  kCubin     // machine code of one architecture
};

// What one kernel asks of a multiprocessor, as the assembler tells.
struct KernelResources {
  std::string kernel;
  int registers = 0;        // a thread
  int64_t stack_bytes = 0;  // a thread
  int64_t spill_store_bytes = 0, spill_load_bytes = 0;
  int64_t shared_bytes = 0;    // a block, declared
  int64_t constant_bytes = 0;  // parameters included
};

// The kernels of one image, by number of the program's kernels.
struct KernelImage {
  std::string bytes;
  std::vector<int64_t> kernels;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_GPU_IMAGE_H_
