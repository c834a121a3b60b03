// Arrays between the host and buffers, and between buffers.
//
// Buffers never change, so a copy to another device or to memory of another kind of the same host is a second handle on
// the same bytes: no program writes to bytes that two values share. Between devices with separate memory bytes
// are copied. Host memory is used in place if the caller allows it, it is aligned as Hilo's own, and it has
// the buffer's layout.
#include <cstring>

#include "hilo/status_macros.h"
#include "pjrt/buffer.h"
#include "pjrt/error.h"
#include "pjrt/event.h"
#include "pjrt/strided_copy.h"
#include "runtime/runtime_access.h"
#include "runtime/wait_habit.h"
#include "shape/canonical.h"

namespace hilo::pjrt {
namespace {

PJRT_Buffer* NewBuffer(const std::shared_ptr<PJRT_Client>& client, PJRT_Memory* memory, std::unique_ptr<Buffer> value) {
  return new PJRT_Buffer(client, memory, std::move(value));
}

// Errors: InvalidArgument if the memory is another client's.
absl::Status CheckMemory(const PJRT_Client* client, const PJRT_Memory* memory) {
  HILO_RETURN_IF_ERROR(CheckHandle(client, "PJRT_Client"));
  if (!memory->device->addressable()) return InvalidArgument(memory->text, " is in another process");
  if (memory->device->client == client) return absl::OkStatus();
  return Unimplemented("transfers between two clients");
}

// A separate copy, in a memory of the source's client. Waits.
absl::StatusOr<PJRT_Buffer*> CopyTo(PJRT_Buffer* source, PJRT_Memory* memory) {
  HILO_ASSIGN_OR_RETURN(const std::shared_ptr<const MemoryBlock> bytes, MemoryOf(source));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> copy,
                        RuntimeAccess::UninitializedBuffer(source->client->client.get(), source->value->shape(),
                                                           memory->device->number()));
  HILO_ASSIGN_OR_RETURN(const std::shared_ptr<BufferValue> value, RuntimeAccess::Share(*copy));
  HILO_RETURN_IF_ERROR(value->memory->CopyFrom(*bytes));
  return NewBuffer(source->client, memory, std::move(copy));
}

// Calls `copy` with the bytes of `memory` on the host (null: none).
template <typename Copy>
absl::Status CopyFromBlock(const MemoryBlock* memory, const Copy& copy) {
  if (memory == nullptr || memory->size() == 0 || memory->on_host()) {
    copy(memory == nullptr ? nullptr : memory->data());
    return absl::OkStatus();
  }
  std::vector<uint8_t> bytes(memory->size());
  HILO_RETURN_IF_ERROR(memory->CopyToHost(bytes.data()));
  copy(bytes.data());
  return absl::OkStatus();
}

// Bytes of another client's, by way of the host. Waits.
absl::StatusOr<PJRT_Buffer*> CopyToOther(PJRT_Buffer* source, PJRT_Memory* memory) {
  const PJRT_Client& other = *memory->device->client;
  HILO_RETURN_IF_ERROR(CheckMemory(&other, memory));
  const Shape& shape = source->value->shape();
  if (!shape.IsArray()) return Unimplemented("a copy of ", shape.ToString(), " to another client");
  HILO_ASSIGN_OR_RETURN(const std::shared_ptr<const MemoryBlock> block, MemoryOf(source));
  absl::StatusOr<std::unique_ptr<Buffer>> copy = nullptr;
  const auto take = [&](const uint8_t* bytes) {
    copy = other.client->BufferFromHostMemory(bytes, shape, memory->device->number());
  };
  HILO_RETURN_IF_ERROR(CopyFromBlock(block.get(), take));
  HILO_RETURN_IF_ERROR(copy.status());
  return NewBuffer(other.self, memory, *std::move(copy));
}

// A second handle on the same value.
absl::StatusOr<PJRT_Buffer*> ShareWith(PJRT_Buffer* source, PJRT_Memory* memory) {
  if (memory->device->client != source->client.get()) return CopyToOther(source, memory);
  HILO_RETURN_IF_ERROR(CheckMemory(source->client.get(), memory));
  absl::StatusOr<std::shared_ptr<BufferValue>> value = RuntimeAccess::Share(*source->value);
  if (!value.ok()) return InvalidArgument(value.status().message());
  if (!source->client->client->memory_is_on_host() && memory->device != source->memory->device &&
      source->value->shape().IsArray()) {
    return CopyTo(source, memory);
  }
  return NewBuffer(source->client, memory,
                   RuntimeAccess::MakeBuffer(RuntimeAccess::SharedShape(*source->value), memory->device->number(),
                                             *std::move(value)));
}

// Calls `copy` with the bytes of `source` once they are there, and returns the event of its end.
template <typename Copy>
absl::StatusOr<PJRT_Event*> CopyWhenReady(PJRT_Buffer* source, Copy copy) {
  WaitHabit::Waits();
  absl::StatusOr<std::shared_ptr<BufferValue>> shared = RuntimeAccess::Share(*source->value);
  if (!shared.ok()) return InvalidArgument(shared.status().message());
  std::shared_ptr<BufferValue> value = *std::move(shared);
  if (value->defined()) {
    HILO_RETURN_IF_ERROR(value->Await());
    HILO_RETURN_IF_ERROR(CopyFromBlock(value->memory.get(), copy));
    return new PJRT_Event{};
  }
  auto done = std::make_shared<Event>();
  Event& definition = *value->definition;
  definition.OnDone([value = std::move(value), done, copy](const absl::Status& status) {
    done->Set(!status.ok() ? status : Guarded([&] { return CopyFromBlock(value->memory.get(), copy); }));
  });
  return new PJRT_Event{std::move(done)};
}

}  // namespace

absl::Status Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args* args) {
  HILO_ASSIGN_OR_RETURN(PJRT_Memory* const memory, MemoryFor(args->memory, args->device));
  HILO_RETURN_IF_ERROR(CheckMemory(args->client, memory));
  Client& client = *args->client->client;
  const int device = memory->device->number();
  HILO_ASSIGN_OR_RETURN(Shape shape, ShapeFromDims(args->type, args->dims, args->num_dims));
  const std::vector<int64_t> row_major = DenseByteStrides(shape);
  HILO_ASSIGN_OR_RETURN(shape, ShapeWithLayout(std::move(shape), args->device_layout));
  absl::Span<const int64_t> strides(args->byte_strides, args->byte_strides == nullptr ? 0 : args->num_byte_strides);
  if (args->byte_strides == nullptr) strides = row_major;
  if (strides.size() != args->num_dims)
    return InvalidArgument(strides.size(), " strides do not fit ", shape.ToString());
  if (const int64_t size = ShapeUtil::ByteSizeOf(shape); args->data == nullptr && size > 0)
    return InvalidArgument("expected ", size, " bytes of host memory, got null");
  std::unique_ptr<Buffer> value;
  std::shared_ptr<Event> done;
  const PrimitiveType type = shape.element_type();
  if (!IsDense(shape, strides)) {
    const int width = PrimitiveTypeByteSize(type);
    if (client.memory_is_on_host()) {
      HILO_ASSIGN_OR_RETURN(value, RuntimeAccess::UninitializedBuffer(&client, shape, device));
      HILO_ASSIGN_OR_RETURN(const std::shared_ptr<BufferValue> made, RuntimeAccess::Share(*value));
      const std::shared_ptr<MemoryBlock>& bytes = made->memory;
      StridedCopy(shape.dimensions(), width, args->data, strides, bytes->data(), DenseByteStrides(shape));
      Canonicalize(type, absl::MakeSpan(bytes->data(), bytes->size()));
    } else {
      std::vector<uint8_t> bytes(ShapeUtil::ByteSizeOf(shape));
      StridedCopy(shape.dimensions(), width, args->data, strides, bytes.data(), DenseByteStrides(shape));
      HILO_ASSIGN_OR_RETURN(value, client.BufferFromHostMemory(bytes.data(), shape, device));
    }
  } else if (args->host_buffer_semantics >= PJRT_HostBufferSemantics_kImmutableZeroCopy) {
    done = std::make_shared<Event>();
    HILO_ASSIGN_OR_RETURN(
        value, client.BufferFromHostMemory(args->data, shape, device, [done] { done->Set(absl::OkStatus()); }));
  } else {
    HILO_ASSIGN_OR_RETURN(value, client.BufferFromHostMemory(args->data, shape, device));
  }
  auto event = std::make_unique<PJRT_Event>(PJRT_Event{std::move(done)});
  args->buffer = NewBuffer(args->client->self, memory, std::move(value));
  args->done_with_host_buffer = event.release();
  return absl::OkStatus();
}

// Memory that is not aligned as Hilo's own is copied, as kernels rely on that. A stream, on which the memory is still
// written, is awaited. Errors: Unimplemented for one where the platform has none.
absl::Status Client_CreateViewOfDeviceBuffer(PJRT_Client_CreateViewOfDeviceBuffer_Args* args) {
  HILO_ASSIGN_OR_RETURN(PJRT_Memory* const memory, MemoryFor(args->memory, args->device));
  HILO_RETURN_IF_ERROR(CheckMemory(args->client, memory));
  HILO_ASSIGN_OR_RETURN(Shape shape, ShapeFromDims(args->element_type, args->dims, args->num_dims));
  HILO_ASSIGN_OR_RETURN(shape, ShapeWithLayout(std::move(shape), args->layout));
  if (args->stream != 0) {
    HILO_RETURN_IF_ERROR(RuntimeAccess::AwaitStream(args->client->client.get(), memory->device->number(),
                                                    reinterpret_cast<void*>(args->stream)));
  }
  std::function<void()> release = [] {};
  if (args->on_delete_callback != nullptr) {
    release = [callback = args->on_delete_callback, data = args->device_buffer_ptr,
               user_arg = args->on_delete_callback_arg] { callback(data, user_arg); };
  }
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> value,
                        args->client->client->BufferFromDeviceMemory(args->device_buffer_ptr, shape,
                                                                     memory->device->number(), std::move(release)));
  args->buffer = NewBuffer(args->client->self, memory, std::move(value));
  return absl::OkStatus();
}

absl::Status Client_CreateUninitializedBuffer(PJRT_Client_CreateUninitializedBuffer_Args* args) {
  HILO_ASSIGN_OR_RETURN(PJRT_Memory* const memory, MemoryFor(args->memory, args->device));
  HILO_RETURN_IF_ERROR(CheckMemory(args->client, memory));
  HILO_ASSIGN_OR_RETURN(Shape shape, ShapeFromDims(args->shape_element_type, args->shape_dims, args->shape_num_dims));
  HILO_ASSIGN_OR_RETURN(shape, ShapeWithLayout(std::move(shape), args->shape_layout));
  HILO_ASSIGN_OR_RETURN(
      std::unique_ptr<Buffer> value,
      RuntimeAccess::UninitializedBuffer(args->client->client.get(), shape, memory->device->number()));
  args->buffer = NewBuffer(args->client->self, memory, std::move(value));
  return absl::OkStatus();
}

absl::Status Client_CreateErrorBuffer(PJRT_Client_CreateErrorBuffer_Args* args) {
  HILO_ASSIGN_OR_RETURN(PJRT_Memory* const memory, MemoryFor(args->memory, nullptr));
  HILO_RETURN_IF_ERROR(CheckMemory(args->client, memory));
  HILO_ASSIGN_OR_RETURN(Shape shape, ShapeFromDims(args->shape_element_type, args->shape_dims, args->shape_num_dims));
  HILO_ASSIGN_OR_RETURN(shape, ShapeWithLayout(std::move(shape), args->shape_layout));
  auto value = std::make_shared<BufferValue>();
  value->definition = HappenedWith(StatusFromCaller(args->error_code, args->error_message, args->error_message_size));
  if (value->definition == nullptr) return InvalidArgument("expected the code of an error, got OK");
  args->buffer = NewBuffer(args->client->self, memory,
                           RuntimeAccess::MakeBuffer(std::make_shared<const Shape>(std::move(shape)),
                                                     memory->device->number(), std::move(value)));
  return absl::OkStatus();
}

absl::Status Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  HILO_ASSIGN_OR_RETURN(PJRT_Memory* const memory, MemoryFor(nullptr, args->dst_device));
  HILO_ASSIGN_OR_RETURN(args->dst_buffer, ShareWith(args->buffer, memory));
  return absl::OkStatus();
}

absl::Status Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  HILO_ASSIGN_OR_RETURN(PJRT_Memory* const memory, MemoryFor(args->dst_memory, nullptr));
  if (memory == args->buffer->memory && args->buffer->value->shape().IsArray()) {
    HILO_ASSIGN_OR_RETURN(args->dst_buffer, CopyTo(args->buffer, memory));
  } else {
    HILO_ASSIGN_OR_RETURN(args->dst_buffer, ShareWith(args->buffer, memory));
  }
  return absl::OkStatus();
}

absl::Status Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->src, "PJRT_Buffer"));
  const Shape& shape = args->src->value->shape();
  const int64_t size = ShapeUtil::ByteSizeOf(shape);
  if (args->dst == nullptr) {
    args->dst_size = size;
    return absl::OkStatus();
  }
  if (args->dst_size < static_cast<size_t>(size))
    return InvalidArgument("expected room for ", size, " bytes, got ", args->dst_size);
  if (!shape.IsArray()) {
    HILO_ASSIGN_OR_RETURN(args->event, CopyWhenReady(args->src, [](const uint8_t*) {}));
    return absl::OkStatus();
  }
  HILO_ASSIGN_OR_RETURN(const Shape wanted, ShapeWithLayout(ShapeUtil::MakeStaticShape(shape), args->host_layout));
  HILO_ASSIGN_OR_RETURN(args->event, CopyWhenReady(args->src, [target = args->dst, size,
                                                               from = RuntimeAccess::SharedShape(*args->src->value),
                                                               wanted](const uint8_t* bytes) {
                          if (size == 0) return;
                          const std::vector<int64_t> strides = DenseByteStrides(wanted);
                          if (IsDense(*from, strides)) {
                            std::memcpy(target, bytes, size);
                          } else {
                            StridedCopy(from->dimensions(), PrimitiveTypeByteSize(from->element_type()), bytes,
                                        DenseByteStrides(*from), target, strides);
                          }
                          ClearUnusedBits(from->element_type(), absl::MakeSpan(static_cast<uint8_t*>(target), size));
                        }));
  return absl::OkStatus();
}

absl::Status Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  const int64_t size = ShapeUtil::ByteSizeOf(args->buffer->value->shape());
  if (args->offset < 0 || args->transfer_size < 0 || args->offset > size || args->transfer_size > size - args->offset) {
    return InvalidArgument(args->transfer_size, " bytes at ", args->offset, " are not within the buffer's ", size);
  }
  if (args->transfer_size > 0 && args->dst == nullptr) return InvalidArgument("expected memory of the host, got null");
  HILO_ASSIGN_OR_RETURN(args->event, CopyWhenReady(args->buffer, [target = args->dst, offset = args->offset,
                                                                  count = args->transfer_size](const uint8_t* bytes) {
                          if (count > 0) std::memcpy(target, bytes + offset, count);
                        }));
  return absl::OkStatus();
}

}  // namespace hilo::pjrt
