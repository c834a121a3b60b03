// From PTX text to machine code, by NVIDIA's assembler: nvJitLink in this process, or else ptxas as a process of its
// own. Neither needs a GPU or a driver.
#ifndef HILO_BACKENDS_GPU_COMPILE_ASSEMBLER_H_
#define HILO_BACKENDS_GPU_COMPILE_ASSEMBLER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/gpu/compile/gpu_image.h"

namespace hilo::gpu {

struct AssembledCode {
  std::string cubin;
  std::vector<KernelResources> resources;
};

// Any number of threads at once. Errors: InvalidArgument for an architecture that the assembler does not know; Internal
// with the assembler's words; Unavailable if there is none, saying what was looked for.
absl::StatusOr<AssembledCode> Assemble(absl::string_view ptx, absl::string_view arch);

// Another text for every assembler whose code may differ. Errors: Unavailable if there is none.
absl::StatusOr<std::string> AssemblerVersion();

// The instructions of machine code, by nvdisasm: found on the PATH or among CUDA's files (cuda_library.h). Errors:
// Unavailable, saying what to install; Internal with nvdisasm's words.
absl::StatusOr<std::string> Disassemble(absl::string_view cubin);
absl::Status CheckDisassembler();

// By one of the two, for tests. Errors: as above.
absl::StatusOr<AssembledCode> AssembleInProcess(absl::string_view ptx, absl::string_view arch);
absl::StatusOr<AssembledCode> AssembleByPtxas(absl::string_view ptx, absl::string_view arch);

// Reads the assembler's verbose log, in which a kernel is some three lines.
std::vector<KernelResources> ParseResourceLog(absl::string_view log);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_ASSEMBLER_H_
