#include "backends/gpu/thunks/program_image.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "backends/gpu/driver/gpu_arch.h"
#include "base/errors.h"

namespace hilo::gpu {

std::vector<int64_t> LeafBytes(const Shape& shape) {
  std::vector<int64_t> bytes;
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape)) bytes.push_back(ShapeUtil::ByteSizeOf(*leaf.shape));
  return bytes;
}

absl::Status SelectCode(const std::string& arch, GpuImageFormat taken, ProgramImage* image) {
  // CUDA's driver takes PTX and machine code alike.
  if ((image->format == GpuImageFormat::kBitcode) != (taken == GpuImageFormat::kBitcode)) {
    return FailedPrecondition("the serialized executable has kernels as ", FormatName(image->format),
                              "; this device takes ", FormatName(taken));
  }
  const absl::Status runs = CheckRunsOn(image->arch, image->format, arch);
  const bool has_ptx = absl::c_none_of(image->images, [](const KernelImage& one) { return one.ptx.empty(); });
  if (runs.ok() || !has_ptx || !CheckRunsOn(image->arch, GpuImageFormat::kPtx, arch).ok()) return runs;
  image->format = GpuImageFormat::kPtx;
  for (KernelImage& one : image->images) one.bytes = std::exchange(one.ptx, {});
  return absl::OkStatus();
}

}  // namespace hilo::gpu
