// Handlers of typed FFI calls, and the objects that they find. Handlers belong to the process: all clients share them.
#include "hilo/ffi.h"
#include "hilo/status_macros.h"
#include "pjrt/error.h"
#include "pjrt/execute_context.h"
#include "pjrt/extensions.h"
#include "pjrt/program_shardings.h"
#include "pjrt/python_callback.h"
#include "runtime/ffi/ffi_api.h"
#include "runtime/ffi/type_registry.h"

namespace hilo::pjrt {
namespace {

absl::Status RegisterFfiType(PJRT_FFI_Type_Register_Args* args) {
  ffi::TypeInfo info;
  if (args->type_info != nullptr) info.deleter = args->type_info->deleter;
  HILO_ASSIGN_OR_RETURN(
      args->type_id, ffi::RegisterType(absl::string_view(args->type_name, args->type_name_size), args->type_id, info));
  return absl::OkStatus();
}

absl::Status AddUserData(PJRT_FFI_UserData_Add_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->context, "PJRT_ExecuteContext"));
  // Objects of unregistered types are for the framework's own handlers, which Hilo does not call.
  if (!ffi::FindType(args->user_data.type_id).has_value()) return absl::OkStatus();
  HILO_RETURN_IF_ERROR(args->context->objects.Insert(args->user_data.type_id, args->user_data.data));
  args->context->is_empty = false;
  return absl::OkStatus();
}

absl::Status RegisterHandler(PJRT_FFI_Register_Handler_Args* args) {
  const absl::string_view platform(args->platform_name, args->platform_name_size);
  return CustomCallRegistry::Default().RegisterFfi(absl::string_view(args->target_name, args->target_name_size),
                                                   reinterpret_cast<XLA_FFI_Handler*>(args->handler), platform);
}

}  // namespace

PJRT_Extension_Base* FfiExtension(PJRT_Extension_Base* next) {
  static PJRT_FFI_Extension extension = {
      .base = {.struct_size = sizeof(PJRT_FFI_Extension), .type = PJRT_Extension_Type_FFI, .next = next},
      .type_register = Boundary<PJRT_FFI_Type_Register_Args, RegisterFfiType>,
      .user_data_add = Boundary<PJRT_FFI_UserData_Add_Args, AddUserData>,
      .register_handler = Boundary<PJRT_FFI_Register_Handler_Args, RegisterHandler>};
  return &extension.base;
}

PJRT_Extension_Base* FfiApiExtension(PJRT_Extension_Base* next) {
  static Hilo_FfiApi_Extension extension = {
      .base = {.struct_size = sizeof(Hilo_FfiApi_Extension), .type = Hilo_Extension_Type_FfiApi, .next = next},
      .ffi_api = ffi::GetXlaFfiApi(),
      .set_sharding_inspector = SetShardingInspector,
      .set_python_function = SetPythonFunction};
  return &extension.base;
}

}  // namespace hilo::pjrt
