// The contents of a compiled GPU program: thunks, the memory that they name, and the code of their kernels. This is
// what a serialized executable holds, and all that a run needs.
#ifndef HILO_BACKENDS_GPU_THUNKS_PROGRAM_IMAGE_H_
#define HILO_BACKENDS_GPU_THUNKS_PROGRAM_IMAGE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/gpu/collectives/collective_plan.h"
#include "backends/gpu/driver/gpu_image.h"
#include "backends/gpu/thunks/thunk.h"
#include "hilo/shape.h"

namespace hilo::gpu {

struct ProgramKernel {
  std::string name;
  int64_t arguments = 0;
};

struct ProgramConstant {
  std::shared_ptr<const void> owner;  // of the bytes
  absl::Span<const uint8_t> bytes;
};

struct ProgramImage {
  ProgramShape shape;
  std::vector<std::pair<int64_t, int64_t>> donations;  // output leaf, parameter leaf
  int64_t replica_count = 1, partition_count = 1;
  std::string arch;  // as in sm_90
  GpuImageFormat format = GpuImageFormat::kCubin;
  std::vector<ProgramKernel> kernels;
  std::vector<KernelImage> images;
  std::vector<ProgramConstant> constants;
  int64_t scratch_bytes = 0;
  // The largest workspace of a library call. It is memory of its own, sized by the libraries of the process that runs
  // the program, and so is no part of what is serialized: another version may need more.
  int64_t workspace_bytes = 0;
  std::vector<CollectiveSpec> collectives;
  CollectivePlan plan;  // of `collectives`
  bool overlap_collectives = true;
  std::vector<std::unique_ptr<ThunkScope>> scopes;  // callees first; the entry is last

  const ThunkScope& entry() const { return *scopes.back(); }
};

// Bytes of the arrays of a shape, depth first, as in ThunkScope.
std::vector<int64_t> LeafBytes(const Shape& shape);

// Leaves the code of the image that runs on a device of architecture `arch`, which takes images in the format `taken`:
// its machine code, or the PTX that this was assembled from, which the driver compiles. Errors: FailedPrecondition
// naming both.
absl::Status SelectCode(const std::string& arch, GpuImageFormat taken, ProgramImage* image);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_PROGRAM_IMAGE_H_
