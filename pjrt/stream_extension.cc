// Order between the buffers of the plugin and what others do on the same device.
//
// Devices on the host have no streams: what others have written is there when they say so, and stream 0 stands for
// that. Waiting blocks the caller until the buffer is ready, which holds for any stream of any device.
#include "base/errors.h"
#include "base/status_macros.h"
#include "pjrt/buffer.h"
#include "pjrt/client.h"
#include "pjrt/error.h"
#include "pjrt/extensions.h"

namespace hilo::pjrt {
namespace {

absl::Status GetStream(PJRT_Get_Stream_For_External_Ready_Events_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->device, "PJRT_Device"));
  if (!args->device->client->client->memory_is_on_host()) {
    return Unimplemented("a stream of this device for the events of others: wait for them on the host");
  }
  args->stream = 0;
  return absl::OkStatus();
}

absl::Status WaitStream(PJRT_Wait_Until_Buffer_Ready_On_Stream_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  HILO_ASSIGN_OR_RETURN(const auto value, args->buffer->value->Share());
  return value->Await();
}

}  // namespace

PJRT_Extension_Base* StreamExtension(PJRT_Extension_Base* next) {
  static PJRT_Stream_Extension extension = {
      .base = {.struct_size = sizeof(PJRT_Stream_Extension), .type = PJRT_Extension_Type_Stream, .next = next},
      .get_stream = Boundary<PJRT_Get_Stream_For_External_Ready_Events_Args, GetStream>,
      .wait_stream = Boundary<PJRT_Wait_Until_Buffer_Ready_On_Stream_Args, WaitStream>};
  return &extension.base;
}

}  // namespace hilo::pjrt
