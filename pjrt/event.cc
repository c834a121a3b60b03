// The framework destroys events from within their callbacks, and before they complete. So a handle is only a
// reference, which is not accessed after a callback, and callbacks belong to the referenced event.
#include "pjrt/event.h"

#include <utility>

#include "hilo/status_macros.h"
#include "pjrt/error.h"

namespace hilo::pjrt {

std::shared_ptr<Event> HappenedWith(absl::Status status) {
  if (status.ok()) return nullptr;
  auto event = std::make_shared<Event>();
  event->Set(std::move(status));
  return event;
}

absl::Status Event_Destroy(PJRT_Event_Destroy_Args* args) {
  delete args->event;
  return absl::OkStatus();
}

absl::Status Event_IsReady(PJRT_Event_IsReady_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->event, "PJRT_Event"));
  args->is_ready = args->event->event == nullptr || args->event->event->done();
  return absl::OkStatus();
}

absl::Status Event_Error(PJRT_Event_Error_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->event, "PJRT_Event"));
  const std::shared_ptr<Event> event = args->event->event;
  if (event == nullptr) return absl::OkStatus();
  if (!event->done()) return FailedPrecondition("the event has not happened yet");
  return event->Await();
}

absl::Status Event_Await(PJRT_Event_Await_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->event, "PJRT_Event"));
  const std::shared_ptr<Event> event = args->event->event;
  return event == nullptr ? absl::OkStatus() : event->Await();
}

absl::Status Event_OnReady(PJRT_Event_OnReady_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->event, "PJRT_Event"));
  if (args->callback == nullptr) return InvalidArgument("expected a callback, got null");
  const std::shared_ptr<Event> event = args->event->event;
  PJRT_Event_OnReadyCallback* const callback = args->callback;
  void* const user_arg = args->user_arg;
  if (event == nullptr) {
    callback(nullptr, user_arg);
  } else {
    event->OnDone([callback, user_arg](const absl::Status& status) { callback(MakeError(status), user_arg); });
  }
  return absl::OkStatus();
}

absl::Status Event_Create(PJRT_Event_Create_Args* args) {
  args->event = new PJRT_Event{std::make_shared<Event>()};
  return absl::OkStatus();
}

absl::Status Event_Set(PJRT_Event_Set_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->event, "PJRT_Event"));
  const std::shared_ptr<Event> event = args->event->event;
  if (event == nullptr || event->done()) return FailedPrecondition("the event has happened already");
  event->Set(StatusFromCaller(args->error_code, args->error_message, args->error_message_size));
  return absl::OkStatus();
}

}  // namespace hilo::pjrt
