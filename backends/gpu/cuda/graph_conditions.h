// Conditional nodes of graphs, whose bodies the device repeats or selects: their conditions are set by kernels.
#ifndef HILO_BACKENDS_GPU_CUDA_GRAPH_CONDITIONS_H_
#define HILO_BACKENDS_GPU_CUDA_GRAPH_CONDITIONS_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hilo::gpu {

// Returns the kernel that sets conditions, as PTX; the driver supplies the function that it calls.
absl::string_view ConditionPtx();

// The source of a condition, read when the kernel runs.
struct ConditionSource {
  enum class Kind : uint32_t {
    kByte = 0,    // true unless the byte at `address` is 0, or the word at `end` is not
    kPred = 1,    // branch 0 if the byte is not 0, else branch 1
    kNumber = 2,  // the branch with the s32's index, `last` if there is none
  };
  Kind kind = Kind::kByte;
  const void* address = nullptr;
  int32_t branch = 0, last = 0;
  const volatile uint32_t* end = nullptr;  // null: never
};

// The loaded kernel. Thread-safe.
class GraphConditions {
 public:
  // Errors: Unimplemented if the driver is older than 12.4, or rejects the kernel, with its message.
  static absl::StatusOr<GraphConditions> Load(int device);

  // Adds a sequence of nodes, one per condition, to `stream`, which is being captured. The body of a node is what
  // `body` queues on the stream passed to it with the condition's index; it runs while (`repeats`), or if, the
  // condition holds. All conditions are read before the first node.
  absl::Status Capture(cudaStream_t stream, absl::Span<const ConditionSource> sources, bool repeats,
                       const std::function<absl::Status(size_t number, cudaStream_t stream)>& body) const;

 private:
  absl::Status Set(cudaStream_t stream, const ConditionSource& source, cudaGraphConditionalHandle handle) const;
  cudaKernel_t kernel_ = nullptr;  // never unloaded
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CUDA_GRAPH_CONDITIONS_H_
