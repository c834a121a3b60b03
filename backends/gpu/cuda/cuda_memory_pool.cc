#include "backends/gpu/cuda/cuda_memory_pool.h"

#include <cstdint>
#include <vector>

#include "backends/gpu/cuda/cuda_status.h"
#include "base/log_sink.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

absl::Status Configure(cudaMemPool_t pool) {
  uint64_t everything = UINT64_MAX;  // of what is freed is kept; by default nothing, from a synchronization on
  HILO_CUDA_RETURN_IF_ERROR(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything));
  int waits = 0;
  return CudaStatus(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowInternalDependencies, &waits),
                    "cudaMemPoolSetAttribute");
}

absl::Status AllowPeers(cudaMemPool_t pool, int device) {
  int count = 0;
  HILO_CUDA_RETURN_IF_ERROR(cudaGetDeviceCount(&count));
  std::vector<cudaMemAccessDesc> peers;
  for (int peer = 0; peer < count; ++peer) {
    int can_access = 0;
    if (peer != device) HILO_CUDA_RETURN_IF_ERROR(cudaDeviceCanAccessPeer(&can_access, peer, device));
    if (can_access == 0) continue;
    cudaMemAccessDesc& access = peers.emplace_back();
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = peer;
    access.flags = cudaMemAccessFlagsProtReadWrite;
  }
  if (peers.empty()) return absl::OkStatus();
  return CudaStatus(cudaMemPoolSetAccess(pool, peers.data(), peers.size()), "cudaMemPoolSetAccess");
}

}  // namespace

absl::StatusOr<CudaMemoryPool> CudaMemoryPool::Create(int device) {
  int has_pools = 0;
  HILO_CUDA_RETURN_IF_ERROR(cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, device));
  if (has_pools == 0) return CudaMemoryPool(nullptr);
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t made = nullptr;
  HILO_CUDA_RETURN_IF_ERROR(cudaMemPoolCreate(&made, &properties));
  CudaMemoryPool pool(made);
  HILO_RETURN_IF_ERROR(Configure(made));
  if (const absl::Status status = AllowPeers(made, device); !status.ok()) {
    cudaGetLastError();  // not a fault of the device
    LogWarning("other devices cannot access the memory of device ", device, ": ", status.message());
  }
  return pool;
}

CudaMemoryPool::~CudaMemoryPool() {
  if (pool_ != nullptr) cudaMemPoolDestroy(pool_);
}

void CudaMemoryPool::ReleaseUnused() const {
  if (pool_ != nullptr && cudaMemPoolTrimTo(pool_, 0) != cudaSuccess) cudaGetLastError();
}

}  // namespace hilo::gpu
