// The stream-ordered memory of a device: a pool that keeps freed memory, so that an allocation is a host operation.
//
// Two things differ from the device's default pool, which belongs to the whole process. An allocation never makes its
// stream wait for another stream's memory to be freed: the host waits for allocations, and would wait for the runs
// before that free. Other devices that can access the memory may do so: NCCL has ranks of one process read each other's
// arrays directly.
#ifndef HILO_BACKENDS_GPU_CUDA_CUDA_MEMORY_POOL_H_
#define HILO_BACKENDS_GPU_CUDA_CUDA_MEMORY_POOL_H_

#include <cuda_runtime_api.h>

#include <utility>

#include "absl/status/statusor.h"

namespace hilo::gpu {

class CudaMemoryPool {
 public:
  // Returns a pool that does not exist where the device has none, as on some virtual machines.
  static absl::StatusOr<CudaMemoryPool> Create(int device);
  CudaMemoryPool(CudaMemoryPool&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)) {}
  CudaMemoryPool& operator=(CudaMemoryPool&&) = delete;
  ~CudaMemoryPool();

  bool exists() const { return pool_ != nullptr; }
  cudaMemPool_t get() const { return pool_; }
  // Returns memory that is not in use to the device.
  void ReleaseUnused() const;

 private:
  explicit CudaMemoryPool(cudaMemPool_t pool) : pool_(pool) {}

  cudaMemPool_t pool_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CUDA_CUDA_MEMORY_POOL_H_
