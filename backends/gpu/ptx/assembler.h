// Assembles PTX to machine code with NVIDIA's assembler: nvJitLink in this process, or else ptxas in a process of its
// own. Neither needs a GPU or a driver.
//
// nvJitLink assembles code that could be linked with other code, and allocates registers as that demands. Kernels that
// need many of them then need more, or spill: for those ptxas is asked too, if it is there.
#ifndef HILO_BACKENDS_GPU_PTX_ASSEMBLER_H_
#define HILO_BACKENDS_GPU_PTX_ASSEMBLER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/gpu/driver/gpu_image.h"

namespace hilo::gpu {

struct AssembledCode {
  std::string cubin;
  std::vector<KernelResources> resources;
};

// Thread-safe. Errors: InvalidArgument for an architecture that the assembler does not support; Internal with the
// assembler's message; Unavailable if there is none, with the names that were searched for.
absl::StatusOr<AssembledCode> Assemble(absl::string_view ptx, absl::string_view arch);

// Returns a different text for every assembler whose code may differ. Errors: Unavailable if there is none.
absl::StatusOr<std::string> AssemblerVersion();

// Disassembles machine code with nvdisasm, found on the PATH or among CUDA's files (cuda_library.h). Errors:
// Unavailable, naming what to install; Internal with nvdisasm's message.
absl::StatusOr<std::string> Disassemble(absl::string_view cubin);
absl::Status CheckDisassembler();

// Assemble with one of the two, for tests. Errors: as above.
absl::StatusOr<AssembledCode> AssembleInProcess(absl::string_view ptx, absl::string_view arch);
absl::StatusOr<AssembledCode> AssembleByPtxas(absl::string_view ptx, absl::string_view arch);

// Parses the assembler's verbose log, which has about three lines per kernel.
std::vector<KernelResources> ParseResourceLog(absl::string_view log);

// Returns OK if there is an assembler: if CompileGpuModule can make cubin here; else Unavailable, naming what was
// searched for.
absl::Status CheckAssembler();

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_PTX_ASSEMBLER_H_
