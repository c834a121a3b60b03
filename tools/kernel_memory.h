// How the kernels of a program use memory, counted by the emulated device in a separate run: GPU memory
// statistics that need no GPU.
#ifndef HILO_TOOLS_KERNEL_MEMORY_H_
#define HILO_TOOLS_KERNEL_MEMORY_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "tools/session.h"

namespace hilo::tools {

// Totals of all launches of one kernel in a run.
struct KernelMemory {
  int64_t bytes = 0;                                // read and written by its threads in global memory
  int64_t sectors = 0;                              // of 32 bytes, of global memory
  int64_t bank_passes = 0, fewest_bank_passes = 0;  // over the banks of shared memory

  // Bytes transferred per byte requested: 1 is perfect; less where threads of a warp read the same.
  double SectorRatio() const {
    return bytes == 0 ? 1 : 32.0 * static_cast<double>(sectors) / static_cast<double>(bytes);
  }
  double BankRatio() const {
    return fewest_bank_passes == 0 ? 1 : static_cast<double>(bank_passes) / static_cast<double>(fewest_bank_passes);
  }
};

// By kernel, of a run on the first arguments of `session`, whose program `program` is. Every access is tracked, so a
// run takes about a hundred times longer. Errors: those of compiling and running; Unimplemented for programs
// of several devices.
absl::StatusOr<std::map<std::string, KernelMemory>> CountKernelMemory(const Program& program, const Session& session,
                                                                      const Flags& flags);

}  // namespace hilo::tools

#endif  // HILO_TOOLS_KERNEL_MEMORY_H_
