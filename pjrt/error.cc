#include "pjrt/error.h"

#include <new>

#include "hilo/status_macros.h"

namespace hilo::pjrt {
namespace {

void Destroy(PJRT_Error* error);
void Message(const PJRT_Error* error, const char** message, size_t* message_size) {
  *message = error->status.message().data();
  *message_size = error->status.message().size();
}
PJRT_Error_Code Code(const PJRT_Error* error) { return static_cast<PJRT_Error_Code>(error->status.code()); }
void ForEachPayload(const PJRT_Error*, PJRT_Error_PayloadVisitor*, void*) {}

constexpr PJRT_Error_Functions kFunctions = {.struct_size = sizeof(PJRT_Error_Functions),
                                             .instance_size = sizeof(PJRT_Error),
                                             .extension_start = nullptr,
                                             .destroy = Destroy,
                                             .message = Message,
                                             .code = Code,
                                             .for_each_payload = ForEachPayload};

// Made while there is memory.
PJRT_Error* NoMemory() {
  static PJRT_Error* const error = new PJRT_Error{&kFunctions, ResourceExhausted("the process is out of memory")};
  return error;
}
PJRT_Error* const made_when_loaded = NoMemory();

void Destroy(PJRT_Error* error) {
  if (error != made_when_loaded) delete error;
}

}  // namespace

absl::Status StatusFromCaller(PJRT_Error_Code code, const char* message, size_t size) {
  constexpr size_t kMaxMessage = size_t{1} << 30;
  if (message == nullptr || size > kMaxMessage) size = 0;
  return absl::Status(static_cast<absl::StatusCode>(code), absl::string_view(message, size));
}

PJRT_Error* MakeError(const absl::Status& status) noexcept {
  if (status.ok()) return nullptr;
  auto* error = new (std::nothrow) PJRT_Error{&kFunctions, status};
  return error != nullptr ? error : made_when_loaded;
}

absl::Status Error_GetCode(PJRT_Error_GetCode_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->error, "PJRT_Error"));
  args->code = Code(args->error);
  return absl::OkStatus();
}

// Hilo's errors have no payloads.
absl::Status Error_ForEachPayload(PJRT_Error_ForEachPayload_Args*) { return absl::OkStatus(); }

}  // namespace hilo::pjrt
