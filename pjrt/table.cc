// GetPjrtApi: the table of all functions.
#include "pjrt/error.h"
#include "pjrt/extensions.h"

namespace hilo::pjrt {
namespace {

void Error_Destroy(PJRT_Error_Destroy_Args* args) {
  if (args != nullptr && args->error != nullptr) args->error->functions->destroy(args->error);
}

void Error_Message(PJRT_Error_Message_Args* args) {
  if (args == nullptr) return;
  if (args->error != nullptr) return args->error->functions->message(args->error, &args->message, &args->message_size);
  args->message = "";
  args->message_size = 0;
}

PJRT_Api MakeTable() {
  PJRT_Api api = {};
  api.struct_size = sizeof(PJRT_Api);
  api.extension_start = Extensions();
  api.pjrt_api_version = {.struct_size = sizeof(PJRT_Api_Version),
                          .extension_start = nullptr,
                          .major_version = PJRT_API_MAJOR,
                          .minor_version = PJRT_API_MINOR};
  api.PJRT_Error_Destroy = Error_Destroy;
  api.PJRT_Error_Message = Error_Message;
#define HILO_PJRT_FILL(function) api.PJRT_##function = Boundary<PJRT_##function##_Args, function>;
  PJRT_FUNCTIONS(HILO_PJRT_FILL)
#undef HILO_PJRT_FILL
  return api;
}

}  // namespace
}  // namespace hilo::pjrt

extern "C" __attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api api = hilo::pjrt::MakeTable();
  return &api;
}
