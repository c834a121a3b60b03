// Buffers that represent the framework's promises: aliases of later buffers, donations that await confirmation, and
// copies to memory that it names later. Each call returns a number for the framework to call back with, which is
// consumed by that one call.
#include <cstring>

#include "hilo/status_macros.h"
#include "pjrt/buffer.h"
#include "pjrt/error.h"
#include "pjrt/event.h"
#include "pjrt/promises.h"
#include "pjrt/strided_copy.h"
#include "runtime/runtime_access.h"

// An alias that waits for its buffer.
struct PJRT_FulfillAliasBufferCallback {
  std::shared_ptr<const hilo::Shape> shape;
  std::shared_ptr<hilo::BufferValue> value;
};

// The framework's work, which it wants to see in traces.
struct PJRT_AsyncTrackingEvent {};

namespace hilo::pjrt {
namespace {

// Calls `body` and, if it fails or throws, `fail` with the error.
template <typename Body, typename Fail>
void CallGuarded(const Body& body, const Fail& fail) noexcept {
  try {
    absl::Status status = Guarded(body);
    if (!status.ok()) fail(std::move(status));
  } catch (...) {
    fail(absl::Status(absl::StatusCode::kResourceExhausted, ""));  // no memory for a text either
  }
}

// A donated value and its replacement.
struct Donation {
  std::shared_ptr<BufferValue> given, promise;
};

// The framework calls this, and TargetReady, from wherever it is ready: no exception may leave them.
void DependencyReady(PJRT_Buffer_DonateWithControlDependency_Callback_Args* args) noexcept {
  const std::unique_ptr<Donation> donation(static_cast<Donation*>(args->callback_data));
  CallGuarded(
      [&]() -> absl::Status {
        HILO_RETURN_IF_ERROR(StatusFromCaller(args->error_code, args->error_message, args->error_message_size));
        return Fulfill(donation->promise, donation->given);
      },
      [&](const absl::Status& status) { Fail(donation->promise, status); });
}

struct RawCopy {
  std::shared_ptr<BufferValue> value;
  int64_t offset, size;
  std::shared_ptr<Event> done;

  absl::Status Run(uint8_t* target) const {
    if (size == 0) return absl::OkStatus();
    const MemoryBlock& memory = *value->memory;
    if (memory.on_host()) {
      std::memcpy(target, memory.data() + offset, size);
      return absl::OkStatus();
    }
    std::vector<uint8_t> bytes(memory.size());
    HILO_RETURN_IF_ERROR(memory.CopyToHost(bytes.data()));
    std::memcpy(target, bytes.data() + offset, size);
    return absl::OkStatus();
  }
};

void TargetReady(PJRT_Buffer_CopyRawToHostFuture_Callback_Args* args) noexcept {
  std::unique_ptr<RawCopy> given(static_cast<RawCopy*>(args->callback_data));
  const std::shared_ptr<Event> done = given->done;
  CallGuarded(
      [&]() -> absl::Status {
        HILO_RETURN_IF_ERROR(StatusFromCaller(args->error_code, args->error_message, args->error_message_size));
        const std::shared_ptr<RawCopy> copy = std::move(given);
        const auto run = [copy, target = static_cast<uint8_t*>(args->dst)](const absl::Status& status) {
          copy->done->Set(status.ok() ? Guarded([&] { return copy->Run(target); }) : status);
        };
        if (copy->value->definition == nullptr) {
          run(absl::OkStatus());
        } else {
          copy->value->definition->OnDone(run);
        }
        return absl::OkStatus();
      },
      [&](const absl::Status& status) { done->Set(status); });
}

// Errors: InvalidArgument if the buffer has been deleted.
absl::StatusOr<std::shared_ptr<BufferValue>> ValueOf(PJRT_Buffer* buffer) {
  HILO_RETURN_IF_ERROR(CheckHandle(buffer, "PJRT_Buffer"));
  absl::StatusOr<std::shared_ptr<BufferValue>> value = RuntimeAccess::Share(*buffer->value);
  if (!value.ok()) return InvalidArgument(value.status().message());
  return value;
}

PJRT_Buffer* BufferOf(const std::shared_ptr<PJRT_Client>& client, PJRT_Memory* memory,
                      std::shared_ptr<const Shape> shape, std::shared_ptr<BufferValue> value) {
  return new PJRT_Buffer(client, memory,
                         RuntimeAccess::MakeBuffer(std::move(shape), memory->device->number(), std::move(value)));
}

}  // namespace

absl::Status Client_CreateAliasBuffer(PJRT_Client_CreateAliasBuffer_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->client, "PJRT_Client"));
  HILO_ASSIGN_OR_RETURN(PJRT_Memory* const memory, MemoryFor(args->memory, nullptr));
  if (memory->device->client != args->client) return Unimplemented("transfers between two clients");
  HILO_ASSIGN_OR_RETURN(Shape shape, ShapeFromDims(args->shape_element_type, args->shape_dims, args->shape_num_dims));
  HILO_ASSIGN_OR_RETURN(shape, ShapeWithLayout(std::move(shape), args->shape_layout));
  auto callback = std::make_unique<PJRT_FulfillAliasBufferCallback>(PJRT_FulfillAliasBufferCallback{
      .shape = std::make_shared<const Shape>(std::move(shape)), .value = MakePromise()});
  args->alias_buffer = BufferOf(args->client->self, memory, callback->shape, callback->value);
  args->fulfill_alias_buffer_cb = callback.release();
  return absl::OkStatus();
}

absl::Status Client_FulfillAliasBuffer(PJRT_Client_FulfillAliasBuffer_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->fulfill_alias_buffer_cb, "PJRT_FulfillAliasBufferCallback"));
  const std::unique_ptr<PJRT_FulfillAliasBufferCallback> callback(args->fulfill_alias_buffer_cb);
  const absl::Status status = Guarded([&]() -> absl::Status {
    if (args->status_code != 0) {
      Fail(callback->value, StatusFromCaller(args->status_code, args->error_message, args->error_message_size));
      return absl::OkStatus();
    }
    HILO_ASSIGN_OR_RETURN(std::shared_ptr<BufferValue> value, ValueOf(args->buffer));
    if (const Shape& shape = args->buffer->value->shape(); !ShapeUtil::Equal(shape, *callback->shape)) {
      return InvalidArgument("an alias of ", callback->shape->ToString(true), " was given ", shape.ToString(true));
    }
    return Fulfill(callback->value, std::move(value));
  });
  if (!status.ok()) Fail(callback->value, status);  // the number is consumed: the alias has no other chance
  return status;
}

absl::Status Buffer_DonateWithControlDependency(PJRT_Buffer_DonateWithControlDependency_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  absl::StatusOr<std::shared_ptr<BufferValue>> given = RuntimeAccess::Donate(args->buffer->value.get());
  if (!given.ok()) return InvalidArgument(given.status().message());
  auto donation = std::make_unique<Donation>(Donation{.given = *std::move(given), .promise = MakePromise()});
  args->out_buffer = BufferOf(args->buffer->client, args->buffer->memory,
                              RuntimeAccess::SharedShape(*args->buffer->value), donation->promise);
  args->callback_data = donation.release();
  args->dependency_ready_callback = DependencyReady;
  return absl::OkStatus();
}

absl::Status Buffer_CopyRawToHostFuture(PJRT_Buffer_CopyRawToHostFuture_Args* args) {
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<BufferValue> value, ValueOf(args->buffer));
  const int64_t size = ShapeUtil::ByteSizeOf(args->buffer->value->shape());
  if (args->offset < 0 || args->transfer_size < 0 || args->offset > size || args->transfer_size > size - args->offset) {
    return InvalidArgument(args->transfer_size, " bytes at ", args->offset, " are not within the buffer's ", size);
  }
  auto copy = std::make_unique<RawCopy>(RawCopy{.value = std::move(value),
                                                .offset = args->offset,
                                                .size = args->transfer_size,
                                                .done = std::make_shared<Event>()});
  args->event = new PJRT_Event{copy->done};
  args->callback_data = copy.release();
  args->future_ready_callback = TargetReady;
  return absl::OkStatus();
}

// The same bytes as another array. Errors: InvalidArgument if it is not of the same size.
absl::Status Buffer_Bitcast(PJRT_Buffer_Bitcast_Args* args) {
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<BufferValue> value, ValueOf(args->buffer));
  const Shape& from = args->buffer->value->shape();
  HILO_ASSIGN_OR_RETURN(Shape shape, ShapeFromDims(args->element_type, args->dims, args->num_dims));
  HILO_ASSIGN_OR_RETURN(shape, ShapeWithLayout(std::move(shape), args->device_layout));
  const bool packed = IsSubByteType(shape.element_type()) || shape.element_type() == PRED;
  if (!from.IsArray() || ShapeUtil::ByteSizeOf(shape) != ShapeUtil::ByteSizeOf(from) ||
      (packed && shape.element_type() != from.element_type())) {
    return InvalidArgument("the bytes of ", from.ToString(), " are not those of ", shape.ToString());
  }
  args->out_buffer = BufferOf(args->buffer->client, args->buffer->memory,
                              std::make_shared<const Shape>(std::move(shape)), std::move(value));
  return absl::OkStatus();
}

absl::Status Device_CreateAsyncTrackingEvent(PJRT_Device_CreateAsyncTrackingEvent_Args* args) {
  args->event = new PJRT_AsyncTrackingEvent;
  return absl::OkStatus();
}

absl::Status AsyncTrackingEvent_Destroy(PJRT_AsyncTrackingEvent_Destroy_Args* args) {
  delete args->event;
  return absl::OkStatus();
}

}  // namespace hilo::pjrt
