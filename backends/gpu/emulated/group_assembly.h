// What warp groups are told by inline assembly: wgmma.mma_async, its fences, groups and waits.
#ifndef HILO_BACKENDS_GPU_EMULATED_GROUP_ASSEMBLY_H_
#define HILO_BACKENDS_GPU_EMULATED_GROUP_ASSEMBLY_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "backends/gpu/emulated/thread_context.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
}  // namespace llvm

namespace hilo::gpu {

bool IsGroupMultiplication(llvm::StringRef assembly);

struct GroupStepAssembly {
  GroupStep step = GroupStep::kFence;
  int64_t pending = 0;  // groups that may go on after a wait
};
// Returns nullopt for other assembly.
std::optional<GroupStepAssembly> GroupStepOf(llvm::StringRef assembly);

// Of barriers in shared memory: `{` and `}` are around the loop of a wait.
std::optional<BarrierStep> BarrierStepOf(llvm::StringRef assembly);
// Returns the number of dimensions of the tensor that is copied; nullopt for other assembly.
std::optional<int64_t> TensorCopyOf(llvm::StringRef assembly);

// The sums of a multiplication are in the registers once it has been waited for: until then other multiplications,
// fences and waits alone may use them. Errors: InvalidArgument, naming the kernel, for other uses.
absl::Status CheckPendingSums(const llvm::Function& kernel);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_GROUP_ASSEMBLY_H_
