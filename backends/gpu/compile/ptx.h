// From LLVM modules of kernels to what devices take: bitcode, PTX, machine code. No CUDA headers and no GPU are needed;
// libdevice (for PTX that calls transcendental functions) and the assembler are looked for at run time (cuda_paths.h).
#ifndef HILO_BACKENDS_GPU_COMPILE_PTX_H_
#define HILO_BACKENDS_GPU_COMPILE_PTX_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/gpu/compile/gpu_arch.h"
#include "backends/gpu/compile/gpu_image.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace hilo {
class DiskCache;
}

namespace hilo::gpu {

// How hard LLVM works on a module.
enum class GpuOptLevel {
  kFast,     // what the emulated device wants: memory to registers, folding, inlining
  kThorough  // O3 with SLP, for code that a GPU runs
};

struct GpuCompileOptions {
  // Of the device, as in sm_90. For one that LLVM does not know yet PTX is that of an older one, and machine code the
  // assembler's for this one.
  std::string arch = kDefaultArch;
  GpuOptLevel opt_level = GpuOptLevel::kThorough;
  // What is wanted beside the optimised module.
  bool bitcode = false;
  bool ptx = false;
  bool cubin = false;
  DiskCache* cubins = nullptr;  // where machine code is kept; null: nowhere
};

struct GpuCode {
  std::string bitcode;
  std::string ptx;
  std::string cubin;
  std::vector<KernelResources> resources;  // with cubin: a line a kernel

  // The bytes in a format that was asked for.
  const std::string& image(GpuImageFormat format) const;
};

// Gives the module the target's triple and data layout; emitters call it first. Errors: InvalidArgument for an unknown
// arch.
absl::Status PrepareGpuModule(llvm::Module* module, absl::string_view arch);

// Makes `function` a kernel: its calling convention, and the most threads that a block has. Pointer parameters get
// kDeviceAlignment.
void MarkKernel(llvm::Function* function, int max_threads_per_block);

// Links libdevice, optimises, and emits what the options ask for. The module is used up. Calls of the host's math
// functions (codegen::MathSymbols) become libdevice's, if that was found; else they stay in bitcode. Any number of
// threads at once, a context each. Errors: InvalidArgument for an unknown arch; Internal with LLVM's or the assembler's
// words; Unimplemented for PTX that needs libdevice where there is none; Unavailable, saying what was looked for, for
// cubin without an assembler.
absl::StatusOr<GpuCode> CompileGpuModule(llvm::Module* module, const GpuCompileOptions& options);

// Whether CompileGpuModule can make cubin here; else Unavailable, saying what was looked for.
absl::Status CheckAssembler();

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_PTX_H_
