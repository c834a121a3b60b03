// The GPU backend: compiles HLO to kernels and thunks, for a CUDA device or the emulated one.
#ifndef HILO_BACKENDS_GPU_COMPILE_GPU_COMPILER_H_
#define HILO_BACKENDS_GPU_COMPILE_GPU_COMPILER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "backends/gpu/choice/kernel_settings.h"
#include "backends/gpu/lib/libraries.h"
#include "backends/gpu/runtime/gpu_devices.h"
#include "hlo/passes/hlo_pass.h"
#include "runtime/compiler.h"

namespace hilo::gpu {

class DeviceCommunicatorLibrary;
struct KernelFacts;

struct GpuCompilerOptions {
  // Tests set these to reach every emitter with small arrays. HILO_GPU_LINES=on: line_info.
  KernelSettings kernels;
  // Null: the platform's library.
  std::shared_ptr<DeviceCommunicatorLibrary> communicators;
  // Optimizes code for the emulated device as for a GPU, so that its memory accesses are those of a GPU; otherwise it
  // is compiled for compile speed.
  bool optimize_for_emulation = false;
  // The devices to run on, for tests that inspect them; null: the platform's, opened on first use.
  std::shared_ptr<GpuDevices> devices;
  // Minimum number of consecutive thunks for a graph. HILO_GPU_GRAPHS=off: no graphs; =always: also in the first run.
  int64_t graph_thunks_from = 4;
  // The folder that caches machine code of kernels; nullopt: the folder in HILO_CACHE_DIR. Empty: no
  // cache.
  std::optional<std::string> cache_dir;
};

// `platform` is kCudaPlatform or kEmulatedPlatform. CompileOptions::cpu is the architecture, as in sm_90; empty: the
// device's, or, in Emit, which needs no device, kDefaultArch.
std::unique_ptr<Compiler> CreateGpuCompiler(absl::string_view platform, const GpuCompilerOptions& options = {});

// The passes from kInput to kFused, in order. `target` and the facts' libraries must outlive the pipeline.
PassPipeline GpuPipeline(const Target* target, const CompileOptions& options, const KernelFacts& kernels);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_GPU_COMPILER_H_
