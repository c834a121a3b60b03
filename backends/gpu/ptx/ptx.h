// Compiles LLVM modules of kernels to bitcode, PTX, or machine code. No CUDA headers and no GPU are needed; libdevice
// (for PTX that calls transcendental functions) and the assembler are located at run time (driver/cuda_library.h).
#ifndef HILO_BACKENDS_GPU_PTX_PTX_H_
#define HILO_BACKENDS_GPU_PTX_PTX_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/gpu/driver/gpu_arch.h"
#include "backends/gpu/driver/gpu_image.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace hilo {
class DiskCache;
}

namespace hilo::gpu {

// LLVM's optimization effort for a module.
enum class GpuOptLevel {
  kFast,     // for the emulated device: memory to registers, folding, inlining
  kThorough  // O3 with SLP, for code that a GPU runs
};

struct GpuCompileOptions {
  // The device's architecture, as in sm_90. If LLVM does not support it, PTX is for an older architecture, and the
  // assembler compiles that PTX for this one.
  std::string arch = kDefaultArch;
  GpuOptLevel opt_level = GpuOptLevel::kThorough;
  // Requested outputs, in addition to the optimized module.
  bool bitcode = false;
  bool ptx = false;
  bool cubin = false;
  DiskCache* cubins = nullptr;  // cache of machine code; null: none
};

struct GpuCode {
  std::string bitcode;
  std::string ptx;
  std::string cubin;
  std::vector<KernelResources> resources;  // with cubin: one entry per kernel

  // Returns the bytes in a requested format.
  const std::string& image(GpuImageFormat format) const;
};

// Sets the module's target triple and data layout; emitters call it first. Errors: InvalidArgument for an unknown
// arch.
absl::Status PrepareGpuModule(llvm::Module* module, absl::string_view arch);

// An attribute of functions with instructions of one architecture alone: code of their module is for that architecture,
// sm_90a for sm_90, and runs on no later one.
inline constexpr char kExactArchitecture[] = "hilo-exact-architecture";
bool NeedsExactArchitecture(const llvm::Module& module);

// Makes `function` a kernel: sets its calling convention and the maximum number of threads of a block. Pointer
// parameters get kDeviceAlignment.
void MarkKernel(llvm::Function* function, int max_threads_per_block);

// Links libdevice, optimizes, and emits the requested outputs. Consumes the module. Calls of the host's math functions
// (codegen::MathSymbols) become libdevice's, if that was found; else they stay in bitcode. Thread-safe, with one
// context per thread. Errors: InvalidArgument for an unknown arch; Internal with LLVM's or the assembler's message;
// Unimplemented for PTX that needs libdevice where there is none; Unavailable, naming what was searched for, for cubin
// without an assembler.
absl::StatusOr<GpuCode> CompileGpuModule(llvm::Module* module, const GpuCompileOptions& options);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_PTX_PTX_H_
