// Every function checks the size of its arguments, so that a handler which was compiled against another version gets an
// error instead of garbage.
#include "runtime/ffi/ffi_api.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>

#include "base/errors.h"
#include "base/log_sink.h"
#include "hilo/ffi.h"
#include "hilo/host.h"
#include "hilo/status_macros.h"
#include "runtime/ffi/task_threads.h"
#include "runtime/ffi/type_registry.h"
#include "runtime/ffi/xla_ffi_abi.h"

struct XLA_FFI_Error {
  absl::Status status;
  std::string message;
};

// Completed once; its two owners, the handler's side and the runtime, each release it once.
struct XLA_FFI_Future {
  std::mutex mutex;
  std::condition_variable changed;
  bool complete = false;
  absl::Status status;
  int owners = 2;
};

XLA_FFI_InvokeContext::~XLA_FFI_InvokeContext() {
  for (const auto& [memory, size] : scratch) {
    if (device == nullptr) {
      std::free(memory);
    } else {
      device->Free(memory).IgnoreError();
    }
  }
}

namespace hilo::ffi {

XLA_FFI_Error* MakeError(absl::Status status) {
  if (status.ok()) return nullptr;
  std::string message(status.message());
  return new XLA_FFI_Error{std::move(status), std::move(message)};
}

namespace {

// Runs `body` if the arguments are at least as large as this version's.
template <typename Args, typename Body>
XLA_FFI_Error* Checked(const char* name, Args* args, size_t size, const Body& body) {
  if (args == nullptr || args->struct_size < size) {
    return MakeError(InvalidArgument(name, ": expected arguments of at least ", size, " bytes, got ",
                                     args == nullptr ? 0 : args->struct_size));
  }
  try {
    return MakeError(body());
  } catch (const std::exception& error) {
    return MakeError(ResourceExhausted(name, ": ", error.what()));
  } catch (...) {
    return MakeError(Internal(name, ": an exception of an unknown type"));
  }
}
template <typename Args, typename Body>
XLA_FFI_Error* Checked(const char* name, Args* args, const Body& body) {
  return Checked(name, args, sizeof(Args), body);
}

absl::string_view View(XLA_FFI_ByteSpan span) {
  return span.ptr == nullptr ? absl::string_view() : absl::string_view(span.ptr, span.len);
}

absl::Status NoRun() { return FailedPrecondition("there is no run while handlers are instantiated"); }

XLA_FFI_Error* ErrorCreate(XLA_FFI_Error_Create_Args* args) {
  const auto code =
      args->errc > 0 && args->errc <= 16 ? static_cast<absl::StatusCode>(args->errc) : absl::StatusCode::kUnknown;
  std::string message = args->message == nullptr ? "" : args->message;
  return new XLA_FFI_Error{absl::Status(code, message), message};
}
void ErrorGetDetails(XLA_FFI_Error_GetDetails_Args* args) {
  args->message = args->error->message.c_str();
  if (args->struct_size >= offsetof(XLA_FFI_Error_GetDetails_Args, errc) + sizeof(args->errc))
    args->errc = static_cast<XLA_FFI_Error_Code>(args->error->status.code());
}
void ErrorDestroy(XLA_FFI_Error_Destroy_Args* args) { delete args->error; }

XLA_FFI_Error* HandlerRegister(XLA_FFI_Handler_Register_Args* args) {
  return Checked("XLA_FFI_Handler_Register", args, [&] {
    const XLA_FFI_Handler_Bundle& bundle = args->bundle;
    return CustomCallRegistry::Default().RegisterFfi(View(args->name),
                                                     FfiHandlers{.instantiate = bundle.instantiate,
                                                                 .prepare = bundle.prepare,
                                                                 .initialize = bundle.initialize,
                                                                 .execute = bundle.execute},
                                                     View(args->platform));
  });
}

XLA_FFI_Error* TypeRegister(XLA_FFI_Type_Register_Args* args) {
  return Checked("XLA_FFI_Type_Register", args, XLA_FFI_Type_Register_Args_STRUCT_SIZE, [&]() -> absl::Status {
    if (args->type_id == nullptr) return InvalidArgument("XLA_FFI_Type_Register: type_id is null");
    // The size that XLA's header states ends before type_info, which handlers set all the same.
    const auto id = RegisterType(View(args->name), args->type_id->type_id,
                                 {.deleter = args->type_info == nullptr ? nullptr : args->type_info->deleter});
    if (!id.ok()) return id.status();
    args->type_id->type_id = *id;
    return absl::OkStatus();
  });
}

XLA_FFI_Error* InvokeContextGet(XLA_FFI_InvokeContext_Get_Args* args) {
  return Checked("XLA_FFI_InvokeContext_Get", args, [&]() -> absl::Status {
    const ExecutionContext* context = args->ctx->run == nullptr ? nullptr : args->ctx->run->ffi_context;
    args->data = context == nullptr ? nullptr : context->Find(args->type_id->type_id);
    if (args->data != nullptr) return absl::OkStatus();
    return NotFound("the run's execution context has no object of FFI type ", args->type_id->type_id);
  });
}

// Hilo attaches nothing to runs, and takes no options for their handlers.
XLA_FFI_Error* InvokeContextFindExtension(XLA_FFI_InvokeContext_FindExtension_Args* args) {
  return Checked("XLA_FFI_InvokeContext_FindExtension", args, [&] {
    args->extension = nullptr;
    return absl::OkStatus();
  });
}
XLA_FFI_Error* CustomOptionsGet(XLA_FFI_CustomOptions_Get_Args* args) {
  static constexpr XLA_FFI_Attrs kNone = {.struct_size = sizeof(XLA_FFI_Attrs)};
  return Checked("XLA_FFI_CustomOptions_Get", args, [&] {
    args->attrs = &kNone;
    return absl::OkStatus();
  });
}

// The state of args->stage, or null.
State* StateOf(const XLA_FFI_State_Args& args) {
  const size_t stage = static_cast<size_t>(args.stage);
  return stage < args.ctx->states.size() ? args.ctx->states[stage] : nullptr;
}

XLA_FFI_Error* StateSet(XLA_FFI_State_Args* args) {
  return Checked("XLA_FFI_State_Set", args, [&]() -> absl::Status {
    State* state = StateOf(*args);
    if (state == nullptr || args->stage != args->ctx->stage) {
      return FailedPrecondition("a handler of stage ", args->ctx->stage, " cannot set the state of stage ",
                                static_cast<int>(args->stage));
    }
    return state->Set(args->type_id->type_id, args->state);
  });
}
XLA_FFI_Error* StateGet(XLA_FFI_State_Args* args) {
  return Checked("XLA_FFI_State_Get", args, [&]() -> absl::Status {
    const State* state = StateOf(*args);
    if (state == nullptr) return NotFound("there is no state of stage ", static_cast<int>(args->stage), " here");
    return state->Get(args->type_id->type_id, &args->state);
  });
}

XLA_FFI_Error* StreamGet(XLA_FFI_Stream_Get_Args* args) {
  return Checked("XLA_FFI_Stream_Get", args, [&]() -> absl::Status {
    if (args->ctx->device == nullptr)
      return Unimplemented("there is no stream here: the call is on memory of the host");
    args->stream = args->ctx->device->stream();
    return absl::OkStatus();
  });
}

// Of `size` bytes, a multiple of the alignment.
absl::StatusOr<void*> AllocateScratch(const XLA_FFI_InvokeContext& context, size_t size, size_t alignment) {
  if (context.device != nullptr) {
    constexpr size_t kAlignment = 256;
    if (alignment > kAlignment)
      return InvalidArgument("expected an alignment of at most ", kAlignment, " on a device, got ", alignment);
    return context.device->Allocate(static_cast<int64_t>(size));
  }
  void* memory = std::aligned_alloc(alignment, size);
  if (memory == nullptr) return ResourceExhausted("cannot get ", size, " bytes of scratch memory");
  return memory;
}

XLA_FFI_Error* DeviceMemoryAllocate(XLA_FFI_DeviceMemory_Allocate_Args* args) {
  return Checked("XLA_FFI_DeviceMemory_Allocate", args, [&]() -> absl::Status {
    if (args->ctx->run == nullptr) return NoRun();
    args->data = nullptr;
    if (args->size == 0) return absl::OkStatus();
    const size_t alignment = std::max<size_t>(args->alignment, 64);
    if ((alignment & (alignment - 1)) != 0 || alignment > (size_t{1} << 30)) {
      return InvalidArgument("expected an alignment that is a power of two up to 2^30, got ", args->alignment);
    }
    if (args->size > (size_t{1} << 62)) return ResourceExhausted("cannot get ", args->size, " bytes of scratch memory");
    const size_t size = (args->size + alignment - 1) / alignment * alignment;
    HILO_ASSIGN_OR_RETURN(void* memory, AllocateScratch(*args->ctx, size, alignment));
    std::lock_guard<std::mutex> lock(args->ctx->mutex);
    args->ctx->scratch[memory] = args->size;
    args->data = memory;
    return absl::OkStatus();
  });
}
XLA_FFI_Error* DeviceMemoryFree(XLA_FFI_DeviceMemory_Free_Args* args) {
  return Checked("XLA_FFI_DeviceMemory_Free", args, [&]() -> absl::Status {
    if (args->data == nullptr) return absl::OkStatus();
    std::lock_guard<std::mutex> lock(args->ctx->mutex);
    if (args->ctx->scratch.erase(args->data) == 0) return InvalidArgument("this is no scratch memory of the call");
    if (args->ctx->device != nullptr) return args->ctx->device->Free(args->data);
    std::free(args->data);
    return absl::OkStatus();
  });
}

int ThreadsOf(const XLA_FFI_InvokeContext& context) {
  return context.run == nullptr || context.run->thread_pool == nullptr ? 1 : context.run->thread_pool->num_threads();
}

XLA_FFI_Error* ThreadPoolSchedule(XLA_FFI_ThreadPool_Schedule_Args* args) {
  return Checked("XLA_FFI_ThreadPool_Schedule", args, [&]() -> absl::Status {
    if (args->ctx->run == nullptr) return NoRun();
    ScheduleTask(
        [task = args->task, data = args->data] {
          try {
            task(data);
          } catch (...) {
            LogWarning("a task of an FFI handler threw an exception, which is lost");
          }
        },
        ThreadsOf(*args->ctx));
    return absl::OkStatus();
  });
}
XLA_FFI_Error* ThreadPoolNumThreads(XLA_FFI_ThreadPool_NumThreads_Args* args) {
  return Checked("XLA_FFI_ThreadPool_NumThreads", args, [&]() -> absl::Status {
    if (args->ctx->run == nullptr) return NoRun();
    *args->num_threads = ThreadsOf(*args->ctx);
    return absl::OkStatus();
  });
}

void Release(XLA_FFI_Future* future) {
  future->mutex.lock();
  const bool last = --future->owners == 0;
  future->mutex.unlock();
  if (last) delete future;
}

absl::Status Complete(XLA_FFI_Future* future, absl::Status status) {
  {
    std::lock_guard<std::mutex> lock(future->mutex);
    if (future->complete) return FailedPrecondition("the future is complete already");
    future->complete = true;
    future->status = std::move(status);
    future->changed.notify_all();
  }
  Release(future);
  return absl::OkStatus();
}

XLA_FFI_Error* FutureCreate(XLA_FFI_Future_Create_Args* args) {
  return Checked("XLA_FFI_Future_Create", args, XLA_FFI_Future_Create_Args_STRUCT_SIZE, [&] {
    args->future = new XLA_FFI_Future();
    return absl::OkStatus();
  });
}
XLA_FFI_Error* FutureSetAvailable(XLA_FFI_Future_SetAvailable_Args* args) {
  return Checked("XLA_FFI_Future_SetAvailable", args, [&] { return Complete(args->future, absl::OkStatus()); });
}
XLA_FFI_Error* FutureSetError(XLA_FFI_Future_SetError_Args* args) {
  return Checked("XLA_FFI_Future_SetError", args, [&] {
    absl::Status status = TakeError(args->error);
    if (status.ok()) status = absl::UnknownError("a future was completed with an error that is none");
    return Complete(args->future, std::move(status));
  });
}

XLA_FFI_Error* RunIdGet(XLA_FFI_RunId_Get_Args* args) {
  return Checked("XLA_FFI_RunId_Get", args, [&]() -> absl::Status {
    if (args->ctx->run == nullptr) return NoRun();
    args->run_id = args->ctx->run->run_id;
    return absl::OkStatus();
  });
}
XLA_FFI_Error* DeviceOrdinalGet(XLA_FFI_DeviceOrdinal_Get_Args* args) {
  return Checked("XLA_FFI_DeviceOrdinal_Get", args, XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE, [&]() -> absl::Status {
    if (args->ctx->run == nullptr) return NoRun();
    args->device_ordinal = args->ctx->run->device;
    return absl::OkStatus();
  });
}

}  // namespace

const XLA_FFI_Api* GetXlaFfiApi() {
  static constexpr XLA_FFI_Api kApi = {
      .struct_size = sizeof(XLA_FFI_Api),
      .extension_start = nullptr,
      .api_version = {sizeof(XLA_FFI_Api_Version), nullptr, XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR},
      .internal_api = nullptr,
      .XLA_FFI_Error_Create_field = ErrorCreate,
      .XLA_FFI_Error_GetDetails_field = ErrorGetDetails,
      .XLA_FFI_Error_Destroy_field = ErrorDestroy,
      .XLA_FFI_Handler_Register_field = HandlerRegister,
      .XLA_FFI_Stream_Get_field = StreamGet,
      .XLA_FFI_Type_Register_field = TypeRegister,
      .XLA_FFI_InvokeContext_Get_field = InvokeContextGet,
      .XLA_FFI_State_Set_field = StateSet,
      .XLA_FFI_State_Get_field = StateGet,
      .XLA_FFI_DeviceMemory_Allocate_field = DeviceMemoryAllocate,
      .XLA_FFI_DeviceMemory_Free_field = DeviceMemoryFree,
      .XLA_FFI_ThreadPool_Schedule_field = ThreadPoolSchedule,
      .XLA_FFI_ThreadPool_NumThreads_field = ThreadPoolNumThreads,
      .XLA_FFI_Future_Create_field = FutureCreate,
      .XLA_FFI_Future_SetAvailable_field = FutureSetAvailable,
      .XLA_FFI_Future_SetError_field = FutureSetError,
      .XLA_FFI_RunId_Get_field = RunIdGet,
      .XLA_FFI_DeviceOrdinal_Get_field = DeviceOrdinalGet,
      .XLA_FFI_InvokeContext_FindExtension_field = InvokeContextFindExtension,
      .XLA_FFI_CustomOptions_Get_field = CustomOptionsGet,
  };
  return &kApi;
}

State::~State() {
  if (object_ != nullptr && deleter_ != nullptr) deleter_(object_);
}

absl::Status State::Set(int64_t type_id, void* object) {
  const std::optional<TypeInfo> type = FindType(type_id);
  if (!type.has_value())
    return InvalidArgument("there is no FFI type of number ", type_id, "; states are of registered types");
  if (object_ != nullptr) return FailedPrecondition("the stage has a state already");
  type_id_ = type_id;
  object_ = object;
  deleter_ = type->deleter;
  return absl::OkStatus();
}

absl::Status State::Get(int64_t type_id, void** object) const {
  if (object_ == nullptr) return NotFound("the stage has no state");
  if (type_id != type_id_) return InvalidArgument("the state is of FFI type ", type_id_, ", not ", type_id);
  *object = object_;
  return absl::OkStatus();
}

bool AnswersMetadata(const XLA_FFI_CallFrame& frame) {
  if (frame.extension_start == nullptr || frame.extension_start->type != XLA_FFI_Extension_Metadata) return false;
  XLA_FFI_Metadata& metadata = *reinterpret_cast<XLA_FFI_Metadata_Extension*>(frame.extension_start)->metadata;
  metadata.api_version.major_version = XLA_FFI_API_MAJOR;
  metadata.api_version.minor_version = XLA_FFI_API_MINOR;
  return true;
}

absl::Status TakeError(XLA_FFI_Error* error) {
  if (error == nullptr) return absl::OkStatus();
  absl::Status status = std::move(error->status);
  delete error;
  return status;
}

absl::Status AwaitFuture(XLA_FFI_Future* future) {
  absl::Status status;
  {
    std::unique_lock<std::mutex> lock(future->mutex);
    future->changed.wait(lock, [&] { return future->complete; });
    status = std::move(future->status);
  }
  Release(future);
  return status;
}

}  // namespace hilo::ffi
