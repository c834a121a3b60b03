// Functions of the table that this plugin refuses, by name: streams of chunks and transfers in parts, which serve devices behind a link, and what only
// TPUs, topologies without devices, or several processes need.
#include "pjrt/error.h"

namespace hilo::pjrt {

#define HILO_PJRT_REFUSE(function) \
  absl::Status function(PJRT_##function##_Args*) { return Unimplemented("PJRT_" #function); }

HILO_PJRT_REFUSE(CopyToDeviceStream_Destroy)
HILO_PJRT_REFUSE(CopyToDeviceStream_AddChunk)
HILO_PJRT_REFUSE(CopyToDeviceStream_TotalBytes)
HILO_PJRT_REFUSE(CopyToDeviceStream_GranuleSize)
HILO_PJRT_REFUSE(CopyToDeviceStream_CurrentBytes)
HILO_PJRT_REFUSE(TopologyDescription_Create)
HILO_PJRT_REFUSE(TopologyDescription_Deserialize)
HILO_PJRT_REFUSE(TopologyDescription_MakeCanonicalShapeForMemorySpace)
HILO_PJRT_REFUSE(Compile)
HILO_PJRT_REFUSE(Client_Load)
HILO_PJRT_REFUSE(Client_CreateBuffersForAsyncHostToDevice)
HILO_PJRT_REFUSE(AsyncHostToDeviceTransferManager_Destroy)
HILO_PJRT_REFUSE(AsyncHostToDeviceTransferManager_TransferData)
HILO_PJRT_REFUSE(AsyncHostToDeviceTransferManager_RetrieveBuffer)
HILO_PJRT_REFUSE(AsyncHostToDeviceTransferManager_Device)
HILO_PJRT_REFUSE(AsyncHostToDeviceTransferManager_BufferCount)
HILO_PJRT_REFUSE(AsyncHostToDeviceTransferManager_BufferSize)
HILO_PJRT_REFUSE(AsyncHostToDeviceTransferManager_SetBufferError)
HILO_PJRT_REFUSE(AsyncHostToDeviceTransferManager_AddMetadata)
HILO_PJRT_REFUSE(AsyncHostToDeviceTransferManager_TransferLiteral)
HILO_PJRT_REFUSE(Client_CreateAliasBuffer)
HILO_PJRT_REFUSE(Client_FulfillAliasBuffer)
HILO_PJRT_REFUSE(Buffer_CopyRawToHostFuture)
HILO_PJRT_REFUSE(Buffer_DonateWithControlDependency)
HILO_PJRT_REFUSE(Buffer_Bitcast)
HILO_PJRT_REFUSE(Device_PoisonExecution)
HILO_PJRT_REFUSE(Device_CreateAsyncTrackingEvent)
HILO_PJRT_REFUSE(AsyncTrackingEvent_Destroy)

#undef HILO_PJRT_REFUSE

}  // namespace hilo::pjrt
