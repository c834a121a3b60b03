// The extensions of the plugin (pjrt/abi_extensions.h), each in a separate file.
#ifndef HILO_PJRT_EXTENSIONS_H_
#define HILO_PJRT_EXTENSIONS_H_

#include "pjrt/abi_extensions.h"

namespace hilo::pjrt {

// The start of the chain. Lives as long as the process.
PJRT_Extension_Base* Extensions();

// Each puts its extension before `next`.
PJRT_Extension_Base* LayoutsExtension(PJRT_Extension_Base* next);
PJRT_Extension_Base* ShardingsExtension(PJRT_Extension_Base* next);
PJRT_Extension_Base* FfiExtension(PJRT_Extension_Base* next);
PJRT_Extension_Base* FfiApiExtension(PJRT_Extension_Base* next);
PJRT_Extension_Base* MemoryDescriptionsExtension(PJRT_Extension_Base* next);
PJRT_Extension_Base* ProfilerExtension(PJRT_Extension_Base* next);

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_EXTENSIONS_H_
