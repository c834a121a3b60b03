// The GPU backend: HLO to kernels and thunks, for a CUDA device or for the emulated one.
#ifndef HILO_BACKENDS_GPU_COMPILE_GPU_COMPILER_H_
#define HILO_BACKENDS_GPU_COMPILE_GPU_COMPILER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "backends/gpu/driver/gpu_devices.h"
#include "backends/gpu/driver/libraries.h"
#include "hlo/passes/hlo_pass.h"
#include "runtime/compiler.h"

namespace hilo::gpu {

class DeviceCommunicatorLibrary;

struct GpuCompilerOptions {
  // See EmissionOptions. Tests set these to reach every emitter with small arrays.
  bool sequences = true;
  int64_t group_elements_from = int64_t{1} << 12;
  int64_t radix_sort_from = int64_t{1} << 18;
  // Collectives work on a stream of their own, beside what does not need their results.
  bool overlap_collectives = true;
  // Null: the platform's.
  std::shared_ptr<DeviceCommunicatorLibrary> communicators;
  // The emulated device gets code that is optimised as for a GPU, so that its accesses are those of a GPU; otherwise
  // what compiles fast.
  bool optimize_for_emulation = false;
  // To run on, for tests that look at them; null: the platform's, opened when they are needed.
  std::shared_ptr<GpuDevices> devices;
  LibraryThresholds libraries;
  // Thunks in a row that become a graph; HILO_GPU_GRAPHS=off: none do; =always: in the first run already.
  int64_t graph_thunks_from = 4;
  // Code names the instructions whose arrays it reads and writes, for compute-sanitizer and profilers (line_info.h),
  // and kernels are the same less often. HILO_GPU_LINES=on: it does.
  bool line_info = false;
  // Machine code of kernels is kept there; without a value in the folder that the variable HILO_CACHE_DIR names. Empty:
  // nowhere.
  std::optional<std::string> cache_dir;
};

// `platform` is kCudaPlatform or kEmulatedPlatform. CompileOptions::cpu is the architecture, as in sm_90; empty: the
// device's, and in Emit, which needs no device, kDefaultArch.
std::unique_ptr<Compiler> CreateGpuCompiler(absl::string_view platform, const GpuCompilerOptions& options = {});

// The passes from kInput to kFused, as a table of contents; `target` and `libraries` (null: none) outlive the pipeline.
PassPipeline GpuPipeline(const Target* target, const CompileOptions& options, Libraries* libraries);

std::unique_ptr<Target> CreateGpuTarget();

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_GPU_COMPILER_H_
