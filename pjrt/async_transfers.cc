// Buffers that the framework fills in parts, from any thread: AsyncHostToDeviceTransferManager.
//
// The buffers exist before their bytes do. Each has an event, which its last part sets, and programs that are given the
// buffer wait for it. Parts are copied during the call: where devices use the host's memory into the buffer itself,
// else into memory that is transferred to the device as a whole.
#include <cstring>

#include "hilo/status_macros.h"
#include "pjrt/buffer.h"
#include "pjrt/error.h"
#include "pjrt/event.h"
#include "pjrt/strided_copy.h"
#include "runtime/runtime_access.h"
#include "shape/canonical.h"

namespace hilo::pjrt {
namespace {

struct Target {
  std::shared_ptr<const Shape> shape;
  std::shared_ptr<BufferValue> value;
  std::shared_ptr<MemoryBlock> block;  // null: the bytes are staged
  std::vector<uint8_t> staged;
  std::unique_ptr<PJRT_Buffer> buffer;  // until it is retrieved

  int64_t size() const { return ShapeUtil::ByteSizeOf(*shape); }
  uint8_t* bytes() { return block != nullptr ? block->data() : staged.data(); }
};

}  // namespace
}  // namespace hilo::pjrt

struct PJRT_AsyncHostToDeviceTransferManager {
  std::shared_ptr<PJRT_Client> client;
  PJRT_Memory* memory = nullptr;
  std::mutex mutex;
  std::vector<hilo::pjrt::Target> targets;

  ~PJRT_AsyncHostToDeviceTransferManager() {
    for (hilo::pjrt::Target& target : targets) {
      if (target.value != nullptr)
        target.value->definition->Set(
            absl::CancelledError("the transfer manager was destroyed before the buffer's last part came"));
    }
  }
};

namespace hilo::pjrt {
namespace {

absl::Status AddTarget(const PJRT_ShapeSpec& given, PJRT_Buffer_MemoryLayout* layout,
                       PJRT_AsyncHostToDeviceTransferManager* manager) {
  Client& client = *manager->client->client;
  const int device = manager->memory->device->number();
  HILO_ASSIGN_OR_RETURN(Shape shape, ShapeFromDims(given.element_type, given.dims, given.num_dims));
  HILO_ASSIGN_OR_RETURN(shape, ShapeWithLayout(std::move(shape), layout));
  Target target;
  target.value = std::make_shared<BufferValue>();
  target.value->definition = std::make_shared<Event>();
  if (client.memory_is_on_host()) {
    HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Buffer> memory,
                          RuntimeAccess::UninitializedBuffer(&client, shape, device));
    HILO_ASSIGN_OR_RETURN(const std::shared_ptr<BufferValue> value, RuntimeAccess::Share(*memory));
    target.block = value->memory;
  } else {
    target.staged.resize(ShapeUtil::ByteSizeOf(shape));
  }
  target.shape = std::make_shared<const Shape>(std::move(shape));
  target.buffer = std::make_unique<PJRT_Buffer>(manager->client, manager->memory,
                                                RuntimeAccess::MakeBuffer(target.shape, device, target.value));
  manager->targets.push_back(std::move(target));
  return absl::OkStatus();
}

absl::StatusOr<Target*> TargetOf(PJRT_AsyncHostToDeviceTransferManager* manager, int index) {
  const auto count = static_cast<int>(manager->targets.size());
  if (index < 0 || index >= count)
    return InvalidArgument("there is no buffer ", index, "; the transfer manager has ", count);
  return &manager->targets[index];
}

// One that still waits for parts.
absl::StatusOr<Target*> OpenTarget(PJRT_AsyncHostToDeviceTransferManager* manager, int index) {
  HILO_ASSIGN_OR_RETURN(Target* const target, TargetOf(manager, index));
  if (target->value == nullptr) return FailedPrecondition("the last part of buffer ", index, " has come already");
  return target;
}

// The bytes are complete. Returns the value whose event is to be set, outside of the manager's lock: its waiters
// may call the manager.
absl::StatusOr<std::shared_ptr<BufferValue>> Close(const PJRT_AsyncHostToDeviceTransferManager& manager,
                                                   Target* target) {
  if (target->block != nullptr) {
    if (target->size() > 0)
      Canonicalize(target->shape->element_type(), absl::MakeSpan(target->bytes(), target->size()));
    target->value->memory = target->block;
  } else {
    HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Buffer> copy,
                          manager.client->client->BufferFromHostMemory(target->staged.data(), *target->shape,
                                                                       manager.memory->device->number()));
    HILO_RETURN_IF_ERROR(copy->Await());
    HILO_ASSIGN_OR_RETURN(const std::shared_ptr<BufferValue> value, RuntimeAccess::Share(*copy));
    target->value->memory = value->memory;
    target->staged = {};
  }
  return std::move(target->value);
}

}  // namespace

absl::Status Client_CreateBuffersForAsyncHostToDevice(PJRT_Client_CreateBuffersForAsyncHostToDevice_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->client, "PJRT_Client"));
  HILO_RETURN_IF_ERROR(CheckHandle(args->memory, "PJRT_Memory"));
  if (args->memory->device->client != args->client) return Unimplemented("transfers between two clients");
  if (args->num_device_layouts != 0 && args->num_device_layouts != args->num_shape_specs) {
    return InvalidArgument(args->num_device_layouts, " layouts for ", args->num_shape_specs, " buffers");
  }
  auto manager = std::make_unique<PJRT_AsyncHostToDeviceTransferManager>();
  manager->client = args->client->self;
  manager->memory = args->memory;
  for (size_t i = 0; i < args->num_shape_specs; ++i) {
    HILO_RETURN_IF_ERROR(AddTarget(args->shape_specs[i],
                                   args->num_device_layouts == 0 ? nullptr : args->device_layouts[i], manager.get()));
  }
  args->transfer_manager = manager.release();
  return absl::OkStatus();
}

absl::Status AsyncHostToDeviceTransferManager_Destroy(PJRT_AsyncHostToDeviceTransferManager_Destroy_Args* args) {
  delete args->transfer_manager;
  return absl::OkStatus();
}

absl::Status AsyncHostToDeviceTransferManager_TransferData(
    PJRT_AsyncHostToDeviceTransferManager_TransferData_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->transfer_manager, "PJRT_AsyncHostToDeviceTransferManager"));
  std::shared_ptr<BufferValue> whole;
  {
    std::lock_guard<std::mutex> lock(args->transfer_manager->mutex);
    HILO_ASSIGN_OR_RETURN(Target* const target, OpenTarget(args->transfer_manager, args->buffer_index));
    if (args->offset < 0 || args->transfer_size < 0 || args->offset > target->size() ||
        args->transfer_size > target->size() - args->offset) {
      return InvalidArgument(args->transfer_size, " bytes at ", args->offset, " are not within the buffer's ",
                             target->size());
    }
    if (args->transfer_size > 0) {
      HILO_RETURN_IF_ERROR(CheckHandle(args->data, "memory of the host"));
      std::memcpy(target->bytes() + args->offset, args->data, args->transfer_size);
    }
    if (args->is_last_transfer) {
      HILO_ASSIGN_OR_RETURN(whole, Close(*args->transfer_manager, target));
    }
  }
  args->done_with_h2d_transfer = new PJRT_Event{};
  if (whole != nullptr) whole->definition->Set(absl::OkStatus());
  return absl::OkStatus();
}

absl::Status AsyncHostToDeviceTransferManager_TransferLiteral(
    PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->transfer_manager, "PJRT_AsyncHostToDeviceTransferManager"));
  HILO_ASSIGN_OR_RETURN(Shape shape, ShapeFromDims(args->shape_element_type, args->shape_dims, args->shape_num_dims));
  HILO_ASSIGN_OR_RETURN(shape, ShapeWithLayout(std::move(shape), args->shape_layout));
  std::shared_ptr<BufferValue> whole;
  {
    std::lock_guard<std::mutex> lock(args->transfer_manager->mutex);
    HILO_ASSIGN_OR_RETURN(Target* const target, OpenTarget(args->transfer_manager, args->buffer_index));
    if (!ShapeUtil::Compatible(shape, *target->shape)) {
      return InvalidArgument("buffer ", args->buffer_index, ": expected ", target->shape->ToString(), ", got ",
                             shape.ToString());
    }
    if (target->size() > 0) {
      HILO_RETURN_IF_ERROR(CheckHandle(args->data, "memory of the host"));
      StridedCopy(shape.dimensions(), PrimitiveTypeByteSize(shape.element_type()), args->data, DenseByteStrides(shape),
                  target->bytes(), DenseByteStrides(*target->shape));
    }
    HILO_ASSIGN_OR_RETURN(whole, Close(*args->transfer_manager, target));
  }
  args->done_with_h2d_transfer = new PJRT_Event{};
  whole->definition->Set(absl::OkStatus());
  return absl::OkStatus();
}

absl::Status AsyncHostToDeviceTransferManager_SetBufferError(
    PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->transfer_manager, "PJRT_AsyncHostToDeviceTransferManager"));
  const absl::Status error = StatusFromCaller(args->error_code, args->error_message, args->error_message_size);
  if (error.ok()) return InvalidArgument("expected the code of an error, got OK");
  std::shared_ptr<BufferValue> value;
  {
    std::lock_guard<std::mutex> lock(args->transfer_manager->mutex);
    HILO_ASSIGN_OR_RETURN(Target* const target, OpenTarget(args->transfer_manager, args->buffer_index));
    value = std::move(target->value);
  }
  value->definition->Set(error);
  return absl::OkStatus();
}

absl::Status AsyncHostToDeviceTransferManager_RetrieveBuffer(
    PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->transfer_manager, "PJRT_AsyncHostToDeviceTransferManager"));
  std::lock_guard<std::mutex> lock(args->transfer_manager->mutex);
  HILO_ASSIGN_OR_RETURN(Target* const target, TargetOf(args->transfer_manager, args->buffer_index));
  if (target->buffer == nullptr)
    return FailedPrecondition("buffer ", args->buffer_index, " has been retrieved already");
  args->buffer_out = target->buffer.release();
  return absl::OkStatus();
}

absl::Status AsyncHostToDeviceTransferManager_Device(PJRT_AsyncHostToDeviceTransferManager_Device_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->transfer_manager, "PJRT_AsyncHostToDeviceTransferManager"));
  args->device_out = args->transfer_manager->memory->device;
  return absl::OkStatus();
}

absl::Status AsyncHostToDeviceTransferManager_BufferCount(
    PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->transfer_manager, "PJRT_AsyncHostToDeviceTransferManager"));
  args->buffer_count = args->transfer_manager->targets.size();
  return absl::OkStatus();
}

absl::Status AsyncHostToDeviceTransferManager_BufferSize(PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->transfer_manager, "PJRT_AsyncHostToDeviceTransferManager"));
  HILO_ASSIGN_OR_RETURN(Target* const target, TargetOf(args->transfer_manager, args->buffer_index));
  args->buffer_size = target->size();
  return absl::OkStatus();
}

// Says how the transfers are to be traced; nothing is.
absl::Status AsyncHostToDeviceTransferManager_AddMetadata(PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args*) {
  return absl::OkStatus();
}

}  // namespace hilo::pjrt
