/* Extensions of the PJRT C API that Hilo's plugin has: a chain of structs that starts at PJRT_Api::extension_start. */
#ifndef HILO_PJRT_ABI_EXTENSIONS_H_
#define HILO_PJRT_ABI_EXTENSIONS_H_

#include "pjrt/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Layouts: the order of dimensions in memory, as text such as "{1,0}" --- */
typedef struct PJRT_Layouts_MemoryLayout PJRT_Layouts_MemoryLayout;
typedef struct PJRT_Layouts_SerializedLayout PJRT_Layouts_SerializedLayout;
typedef struct {
  PJRT_HEAD;
  PJRT_Layouts_MemoryLayout* layout;
} PJRT_Layouts_MemoryLayout_Destroy_Args;
typedef struct {
  PJRT_HEAD;
  PJRT_Layouts_MemoryLayout* layout;
  const char* serialized_bytes;
  size_t serialized_bytes_size;
  PJRT_Layouts_SerializedLayout* serialized_layout;
  void (*serialized_layout_deleter)(PJRT_Layouts_SerializedLayout* owner);
} PJRT_Layouts_MemoryLayout_Serialize_Args;
typedef struct {
  PJRT_HEAD;
  PJRT_Client* client;
  PJRT_Buffer_Type type;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Layouts_MemoryLayout* layout; /* the caller's */
} PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args;
typedef struct {
  PJRT_HEAD;
  PJRT_Buffer* buffer;
  PJRT_Layouts_MemoryLayout* layout; /* the caller's */
} PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args;
typedef struct {
  PJRT_HEAD;
  PJRT_TopologyDescription* topology_description;
  PJRT_Buffer_Type type;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Layouts_MemoryLayout* layout; /* the caller's */
} PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args;
typedef struct {
  PJRT_HEAD;
  PJRT_Executable* executable;
  size_t num_layouts;
  PJRT_Layouts_MemoryLayout** layouts; /* the executable's */
} PJRT_Layouts_PJRT_Executable_GetLayouts_Args;
typedef struct {
  PJRT_Extension_Base base;
  PJRT_Error* (*memory_layout_destroy)(PJRT_Layouts_MemoryLayout_Destroy_Args* args);
  PJRT_Error* (*memory_layout_serialize)(PJRT_Layouts_MemoryLayout_Serialize_Args* args);
  PJRT_Error* (*client_get_default_layout)(PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args* args);
  PJRT_Error* (*buffer_memory_layout)(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args* args);
  PJRT_Error* (*topology_get_default_layout)(PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args* args);
  PJRT_Error* (*executable_get_output_layouts)(PJRT_Layouts_PJRT_Executable_GetLayouts_Args* args);
  PJRT_Error* (*executable_get_parameter_layouts)(PJRT_Layouts_PJRT_Executable_GetLayouts_Args* args);
} PJRT_Layouts_Extension;

/* --- FFI: handlers of custom calls, and objects that they find in the context of a run --- */
typedef struct {
  void (*deleter)(void* object);
  void* serialize;
  void* deserialize;
} PJRT_FFI_Type_Info;
typedef struct {
  PJRT_HEAD;
  const char* type_name;
  size_t type_name_size;
  int64_t type_id; /* in and out; 0 asks for one */
  const PJRT_FFI_Type_Info* type_info;
} PJRT_FFI_Type_Register_Args;
typedef struct {
  int64_t type_id;
  void* data;
} PJRT_FFI_UserData;
typedef struct {
  PJRT_HEAD;
  PJRT_ExecuteContext* context;
  PJRT_FFI_UserData user_data;
} PJRT_FFI_UserData_Add_Args;
typedef struct {
  size_t struct_size; /* and no chain of extensions */
  const char* target_name;
  size_t target_name_size;
  void* handler; /* XLA_FFI_Handler* */
  const char* platform_name;
  size_t platform_name_size;
  uint32_t traits;
} PJRT_FFI_Register_Handler_Args;
typedef struct {
  PJRT_Extension_Base base;
  PJRT_Error* (*type_register)(PJRT_FFI_Type_Register_Args* args);
  PJRT_Error* (*user_data_add)(PJRT_FFI_UserData_Add_Args* args);
  PJRT_Error* (*register_handler)(PJRT_FFI_Register_Handler_Args* args);
} PJRT_FFI_Extension;

/* --- Hilo's own: the table of XLA's FFI, by which handlers of all stages, and types, are registered for the platform
 * "Host" --- */
struct XLA_FFI_Api;
struct XLA_FFI_CallFrame;
struct XLA_FFI_Error;
/* The call in one array of numbers, which Python reads at once: the function's number; 1 if only the first partition
 * calls it; how many arguments and how many results there are; then of each of them the type (XLA_FFI_DataType), the
 * address, the rank and the dimensions. And what the function returns by: `finished`, or else an exception that it
 * could not catch ended it. */
typedef struct {
  size_t struct_size;
  struct XLA_FFI_Error* error; /* null: none; Hilo destroys it */
  int32_t finished;
  const int64_t* numbers;
  int64_t count;
} Hilo_PythonCall;
typedef void (*Hilo_PythonFunction)(struct XLA_FFI_CallFrame* frame, Hilo_PythonCall* call);
typedef struct {
  PJRT_Extension_Base base;
  const struct XLA_FFI_Api* ffi_api;
  /* Is told of each call of InspectSharding in a program that is compiled: the number in the call's backend_config, and
   * a serialized OpSharding. */
  void (*set_sharding_inspector)(void (*inspector)(uint64_t number, const char* sharding, size_t size));
  /* Is called for each custom call hilo_python_callback of a run, by any thread. */
  void (*set_python_function)(Hilo_PythonFunction function);
} Hilo_FfiApi_Extension;

/* --- Memory descriptions: the memories that a described device would have --- */
typedef struct PJRT_MemoryDescription PJRT_MemoryDescription;
typedef struct {
  PJRT_HEAD;
  PJRT_DeviceDescription* device_description;
  const PJRT_MemoryDescription* const* memory_descriptions;
  size_t num_memory_descriptions;
  size_t default_memory_index; /* size_t(-1): none */
} PJRT_DeviceDescription_MemoryDescriptions_Args;
typedef struct {
  PJRT_HEAD;
  const PJRT_MemoryDescription* memory_description;
  const char* kind;
  size_t kind_size;
  int kind_id;
} PJRT_MemoryDescription_Kind_Args;
typedef struct {
  PJRT_Extension_Base base;
  PJRT_Error* (*device_description_memory_descriptions)(PJRT_DeviceDescription_MemoryDescriptions_Args* args);
  PJRT_Error* (*memory_description_kind)(PJRT_MemoryDescription_Kind_Args* args);
} PJRT_MemoryDescriptions_Extension;

/* --- Profiler: a table of functions with errors of their own. Callers may leave struct_size unset in its structs. ---
 */
typedef struct PLUGIN_Profiler PLUGIN_Profiler;
typedef struct PLUGIN_Profiler_Error PLUGIN_Profiler_Error;
typedef struct {
  size_t struct_size;
  void* priv;
  PLUGIN_Profiler_Error* error; /* may be null */
} PLUGIN_Profiler_Error_Destroy_Args;
typedef struct {
  size_t struct_size;
  void* priv;
  const PLUGIN_Profiler_Error* error;
  const char* message; /* the error's */
  size_t message_size;
} PLUGIN_Profiler_Error_Message_Args;
typedef struct {
  size_t struct_size;
  void* priv;
  const PLUGIN_Profiler_Error* error;
  int code;
} PLUGIN_Profiler_Error_GetCode_Args;
typedef struct {
  size_t struct_size;
  const char* options; /* a serialized ProfileOptions */
  size_t options_size;
  PLUGIN_Profiler* profiler;
} PLUGIN_Profiler_Create_Args;
typedef struct {
  size_t struct_size;
  PLUGIN_Profiler* profiler;
} PLUGIN_Profiler_Args; /* of destroy, start and stop */
typedef struct {
  size_t struct_size;
  PLUGIN_Profiler* profiler;
  uint8_t* buffer; /* null: the call states the size, and where the profiler keeps the bytes; else the caller's */
  size_t buffer_size_in_bytes;
} PLUGIN_Profiler_CollectData_Args;
typedef struct {
  size_t struct_size;
  void* priv;
  void (*error_destroy)(PLUGIN_Profiler_Error_Destroy_Args* args);
  void (*error_message)(PLUGIN_Profiler_Error_Message_Args* args);
  PLUGIN_Profiler_Error* (*error_get_code)(PLUGIN_Profiler_Error_GetCode_Args* args);
  PLUGIN_Profiler_Error* (*create)(PLUGIN_Profiler_Create_Args* args);
  PLUGIN_Profiler_Error* (*destroy)(PLUGIN_Profiler_Args* args);
  PLUGIN_Profiler_Error* (*start)(PLUGIN_Profiler_Args* args);
  PLUGIN_Profiler_Error* (*stop)(PLUGIN_Profiler_Args* args);
  PLUGIN_Profiler_Error* (*collect_data)(PLUGIN_Profiler_CollectData_Args* args);
} PLUGIN_Profiler_Api;
typedef struct {
  PJRT_Extension_Base base;
  PLUGIN_Profiler_Api* profiler_api;
  int64_t traceme_context_id; /* in the arguments of calls alone */
} PJRT_Profiler_Extension;

/* --- Shardings: serialized OpSharding messages; none (0 and null) means unknown --- */
typedef struct {
  PJRT_HEAD;
  PJRT_Executable* executable;
  size_t num_shardings;
  const char* const* shardings; /* the executable's */
  const size_t* sharding_sizes;
} PJRT_Shardings_PJRT_Executable_Shardings_Args;
typedef struct {
  PJRT_Extension_Base base;
  PJRT_Error* (*executable_parameter_shardings)(PJRT_Shardings_PJRT_Executable_Shardings_Args* args);
  PJRT_Error* (*executable_output_shardings)(PJRT_Shardings_PJRT_Executable_Shardings_Args* args);
} PJRT_Shardings_Extension;

#ifdef __cplusplus
}
#endif

#endif /* HILO_PJRT_ABI_EXTENSIONS_H_ */
