// NCCL's types and constants as its calls take them, since its header is in another package than the CUDA runtime's;
// where that header is installed, cuda/nccl_abi_check.cc compares them.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_NCCL_ABI_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_NCCL_ABI_H_

#include <climits>
#include <cstddef>

namespace hilo::gpu {

inline constexpr int kNcclOldest = 21800;  // 2.18.0: the first with ncclCommSplit

inline constexpr int kNcclSuccess = 0, kNcclUnhandledCudaError = 1, kNcclSystemError = 2, kNcclInternalError = 3,
                     kNcclInvalidArgument = 4, kNcclInvalidUsage = 5, kNcclRemoteError = 6, kNcclInProgress = 7;
inline constexpr int kNcclInt8 = 0, kNcclUint8 = 1, kNcclInt32 = 2, kNcclUint32 = 3, kNcclInt64 = 4, kNcclUint64 = 5,
                     kNcclFloat16 = 6, kNcclFloat32 = 7, kNcclFloat64 = 8, kNcclBfloat16 = 9;
inline constexpr int kNcclSum = 0, kNcclProd = 1, kNcclMax = 2, kNcclMin = 3;

struct NcclUniqueId {
  char internal[128];
};

// The layout of 2.18, which `version` states; later libraries fill in fields added since.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned int magic = 0xcafebeef;
  unsigned int version = kNcclOldest;
  int blocking = 0;
  int cga_cluster_size = INT_MIN;
  int min_ctas = INT_MIN;
  int max_ctas = INT_MIN;
  const char* net_name = nullptr;
  int split_share = INT_MIN;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_NCCL_ABI_H_
