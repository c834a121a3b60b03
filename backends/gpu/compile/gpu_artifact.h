// Serialized GPU programs: the input module, everything that determined its compilation (options, settings and
// libraries' algorithms), and the compiled kernels. Thunks are emitted again from the module, which takes little time
// beside compiling kernels. They match the kernels in any environment of the loading process.
#ifndef HILO_BACKENDS_GPU_COMPILE_GPU_ARTIFACT_H_
#define HILO_BACKENDS_GPU_COMPILE_GPU_ARTIFACT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/gpu/compile/gpu_image.h"
#include "backends/gpu/compile/kernel_settings.h"
#include "backends/gpu/driver/library_decisions.h"
#include "hilo/executable.h"
#include "hlo/ir/hlo_module.h"
#include "runtime/artifact.h"

namespace hilo::gpu {

struct EmittedProgram;

// The inputs of a program's compilation, other than its kernels.
struct ProgramSource {
  std::unique_ptr<const HloModule> module;  // at HloStage::kInput
  CompileOptions options;                   // only those that determine what is emitted count
  KernelSettings settings;
  LibraryDecisions::Table libraries;
  std::string arch;  // as in sm_90
  GpuImageFormat format = GpuImageFormat::kCubin;
};

void EncodeGpuProgram(const ProgramSource& source, const EmittedProgram& program, absl::Span<const KernelImage> images,
                      Artifact* artifact);

struct DecodedGpuProgram {
  ProgramSource source;
  std::vector<std::string> kernel_names, kernel_digests;  // as in EmittedProgram
  std::vector<KernelImage> images;
};
// Errors: InvalidArgument for what EncodeGpuProgram cannot have written.
absl::StatusOr<DecodedGpuProgram> DecodeGpuProgram(const Artifact& artifact);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_GPU_ARTIFACT_H_
