#include "pjrt/extensions.h"

namespace hilo::pjrt {

PJRT_Extension_Base* Extensions() {
  static PJRT_Extension_Base* const start = LayoutsExtension(
      ShardingsExtension(FfiExtension(FfiApiExtension(MemoryDescriptionsExtension(ProfilerExtension(nullptr))))));
  return start;
}

}  // namespace hilo::pjrt
