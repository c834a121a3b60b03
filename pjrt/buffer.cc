// Buffers, and external references to their memory. While there are such references the memory does not
// change: the runtime lets no program write to memory with other holders.
#include "pjrt/buffer.h"

#include "hilo/status_macros.h"
#include "pjrt/error.h"
#include "pjrt/event.h"
#include "pjrt/strided_copy.h"
#include "runtime/runtime_access.h"
#include "runtime/wait_habit.h"

absl::Span<const int64_t> PJRT_Buffer::dimensions() const {
  static constexpr int64_t kTokenDimensions[] = {0};
  if (value->shape().IsToken()) return kTokenDimensions;
  return value->shape().dimensions();
}

PJRT_Buffer_Type PJRT_Buffer::element_type() const {
  return value->shape().IsToken() ? PJRT_Buffer_Type_PRED : hilo::pjrt::BufferTypeOf(value->shape().element_type());
}

namespace hilo::pjrt {

absl::StatusOr<PJRT_Memory*> MemoryFor(PJRT_Memory* memory, PJRT_Device* device) {
  if (memory != nullptr) return memory;
  if (device != nullptr) return &device->memories[kDefaultMemory];
  return InvalidArgument("expected a memory or a device, got neither");
}

absl::Status CheckDimensions(size_t num_dims) {
  constexpr size_t kMaxDimensions = 4096;
  return num_dims <= kMaxDimensions
             ? absl::OkStatus()
             : InvalidArgument("expected at most ", kMaxDimensions, " dimensions, got ", num_dims);
}

absl::StatusOr<Shape> ShapeFromDims(PJRT_Buffer_Type type, const int64_t* dims, size_t num_dims) {
  HILO_ASSIGN_OR_RETURN(const PrimitiveType element_type, PrimitiveTypeOf(type));
  HILO_RETURN_IF_ERROR(CheckDimensions(num_dims));  // before the list, which is the caller's memory, is read
  if (num_dims > 0) HILO_RETURN_IF_ERROR(CheckHandle(dims, "list of dimensions"));
  Shape shape(element_type, absl::MakeSpan(dims, num_dims));
  ShapeUtil::SetToDefaultLayout(&shape);
  HILO_RETURN_IF_ERROR(ShapeUtil::ValidateWithLayout(shape));
  return shape;
}

absl::StatusOr<std::shared_ptr<const MemoryBlock>> MemoryOf(PJRT_Buffer* buffer) {
  {
    std::lock_guard<std::mutex> lock(buffer->mutex);
    if (buffer->held != nullptr) return buffer->held;
  }
  HILO_ASSIGN_OR_RETURN(const std::shared_ptr<BufferValue> value, RuntimeAccess::Share(*buffer->value));
  HILO_RETURN_IF_ERROR(value->Await());
  return std::shared_ptr<const MemoryBlock>(value->memory);
}

namespace {

// Of empty arrays.
alignas(kBufferAlignment) uint8_t no_bytes[kBufferAlignment];

absl::StatusOr<void*> PointerOf(PJRT_Buffer* buffer) {
  HILO_RETURN_IF_ERROR(CheckHandle(buffer, "PJRT_Buffer"));
  HILO_ASSIGN_OR_RETURN(const std::shared_ptr<const MemoryBlock> memory, MemoryOf(buffer));
  return memory == nullptr || memory->data() == nullptr ? no_bytes : memory->data();
}

}  // namespace

absl::Status Buffer_Destroy(PJRT_Buffer_Destroy_Args* args) {
  delete args->buffer;
  return absl::OkStatus();
}

absl::Status Buffer_ElementType(PJRT_Buffer_ElementType_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  args->type = args->buffer->element_type();
  return absl::OkStatus();
}

absl::Status Buffer_Dimensions(PJRT_Buffer_Dimensions_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  args->dims = args->buffer->dimensions().data();
  args->num_dims = args->buffer->dimensions().size();
  return absl::OkStatus();
}

absl::Status Buffer_UnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  args->unpadded_dims = args->buffer->dimensions().data();
  args->num_dims = args->buffer->dimensions().size();
  return absl::OkStatus();
}

absl::Status Buffer_DynamicDimensionIndices(PJRT_Buffer_DynamicDimensionIndices_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  const Shape& shape = args->buffer->value->shape();
  std::lock_guard lock(args->buffer->mutex);
  std::vector<size_t>& indices = args->buffer->dynamic_dimensions;
  if (indices.empty() && shape.IsArray()) {
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (shape.is_dynamic_dimension(d)) indices.push_back(static_cast<size_t>(d));
    }
  }
  args->dynamic_dim_indices = indices.data();
  args->num_dynamic_dims = indices.size();
  return absl::OkStatus();
}

absl::Status Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  static constexpr int64_t kTokenLayout[] = {0};
  const Shape& shape = args->buffer->value->shape();
  PJRT_Buffer_MemoryLayout layout = {};
  layout.struct_size = PJRT_STRUCT_SIZE(PJRT_Buffer_MemoryLayout, type);
  layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout.tiled.struct_size = sizeof(PJRT_Buffer_MemoryLayout_Tiled);
  layout.tiled.minor_to_major = shape.IsToken() ? kTokenLayout : shape.layout().minor_to_major.data();
  layout.tiled.minor_to_major_size = args->buffer->dimensions().size();
  args->layout = layout;
  return absl::OkStatus();
}

absl::Status Buffer_OnDeviceSizeInBytes(PJRT_Buffer_OnDeviceSizeInBytes_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  args->on_device_size_in_bytes = ShapeUtil::ByteSizeOf(args->buffer->value->shape());
  return absl::OkStatus();
}

absl::Status Buffer_Device(PJRT_Buffer_Device_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  args->device = args->buffer->memory->device;
  return absl::OkStatus();
}

absl::Status Buffer_Memory(PJRT_Buffer_Memory_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  args->memory = args->buffer->memory;
  return absl::OkStatus();
}

absl::Status Buffer_Delete(PJRT_Buffer_Delete_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  args->buffer->value->Delete();
  return absl::OkStatus();
}

absl::Status Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  args->is_deleted = args->buffer->value->IsDeleted();
  return absl::OkStatus();
}

absl::Status Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  args->is_on_cpu = args->buffer->client->client->memory_is_on_host();
  return absl::OkStatus();
}

absl::Status Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  WaitHabit::Waits();
  const auto value = RuntimeAccess::Share(*args->buffer->value);
  args->event =
      new PJRT_Event{value.ok() ? (*value)->definition : HappenedWith(InvalidArgument(value.status().message()))};
  return absl::OkStatus();
}

absl::Status Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args* args) {
  HILO_ASSIGN_OR_RETURN(void* const pointer, PointerOf(args->buffer));
  args->buffer_pointer = reinterpret_cast<uintptr_t>(pointer);
  return absl::OkStatus();
}

absl::Status Buffer_OpaqueDeviceMemoryDataPointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args* args) {
  HILO_ASSIGN_OR_RETURN(args->device_memory_ptr, PointerOf(args->buffer));
  return absl::OkStatus();
}

absl::Status Buffer_IncreaseExternalReferenceCount(PJRT_Buffer_IncreaseExternalReferenceCount_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<const MemoryBlock> memory, MemoryOf(args->buffer));
  std::lock_guard<std::mutex> lock(args->buffer->mutex);
  args->buffer->held = std::move(memory);
  ++args->buffer->external_references;
  return absl::OkStatus();
}

absl::Status Buffer_DecreaseExternalReferenceCount(PJRT_Buffer_DecreaseExternalReferenceCount_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  std::shared_ptr<const MemoryBlock> released;  // destroyed after the lock
  std::lock_guard<std::mutex> lock(args->buffer->mutex);
  if (args->buffer->external_references == 0) return FailedPrecondition("the buffer has no external references");
  if (--args->buffer->external_references == 0) released.swap(args->buffer->held);
  return absl::OkStatus();
}

}  // namespace hilo::pjrt
