#include "backends/gpu/collectives/nccl_abi.h"

#if __has_include(<nccl.h>)
#include <nccl.h>

namespace hilo::gpu {

static_assert(kNcclSuccess == ncclSuccess && kNcclUnhandledCudaError == ncclUnhandledCudaError &&
              kNcclSystemError == ncclSystemError && kNcclInternalError == ncclInternalError &&
              kNcclInvalidArgument == ncclInvalidArgument && kNcclInvalidUsage == ncclInvalidUsage &&
              kNcclRemoteError == ncclRemoteError && kNcclInProgress == ncclInProgress);
static_assert(kNcclInt8 == ncclInt8 && kNcclUint8 == ncclUint8 && kNcclInt32 == ncclInt32 &&
              kNcclUint32 == ncclUint32 && kNcclInt64 == ncclInt64 && kNcclUint64 == ncclUint64 &&
              kNcclFloat16 == ncclFloat16 && kNcclFloat32 == ncclFloat32 && kNcclFloat64 == ncclFloat64 &&
              kNcclBfloat16 == ncclBfloat16);
static_assert(kNcclSum == ncclSum && kNcclProd == ncclProd && kNcclMax == ncclMax && kNcclMin == ncclMin);
static_assert(sizeof(NcclUniqueId) == sizeof(ncclUniqueId));
static_assert(sizeof(NcclConfig) <= sizeof(ncclConfig_t) &&
              offsetof(NcclConfig, magic) == offsetof(ncclConfig_t, magic) &&
              offsetof(NcclConfig, blocking) == offsetof(ncclConfig_t, blocking) &&
              offsetof(NcclConfig, net_name) == offsetof(ncclConfig_t, netName) &&
              offsetof(NcclConfig, split_share) == offsetof(ncclConfig_t, splitShare));
static_assert(NCCL_CONFIG_UNDEF_INT == INT_MIN);

}  // namespace hilo::gpu
#endif
