// Functions of the table that this plugin refuses, by name: the streams of chunks that serve recv callbacks of a run,
// and what only TPUs and several processes need.
#include "pjrt/error.h"

namespace hilo::pjrt {

#define HILO_PJRT_REFUSE(function) \
  absl::Status function(PJRT_##function##_Args*) { return Unimplemented("PJRT_" #function); }

HILO_PJRT_REFUSE(CopyToDeviceStream_Destroy)
HILO_PJRT_REFUSE(CopyToDeviceStream_AddChunk)
HILO_PJRT_REFUSE(CopyToDeviceStream_TotalBytes)
HILO_PJRT_REFUSE(CopyToDeviceStream_GranuleSize)
HILO_PJRT_REFUSE(CopyToDeviceStream_CurrentBytes)
HILO_PJRT_REFUSE(TopologyDescription_MakeCanonicalShapeForMemorySpace)
HILO_PJRT_REFUSE(Device_PoisonExecution)

#undef HILO_PJRT_REFUSE

}  // namespace hilo::pjrt
