// XLA's FFI C API, version 0.5, that of jaxlib 0.12: the interface that handlers of typed FFI calls are compiled
// against. Those of 0.3 (jaxlib 0.10) have the same functions and smaller structs. The layout of its structs is a
// binary contract; names, numbers and order are XLA's. A program that includes XLA's own header must not
// include this one; the declarations are the same.
//
// A handler is called with a call frame: arrays, attributes, and a table of functions (XLA_FFI_Api) for further
// queries. Every struct starts with its size, as its creator was compiled with. Errors are objects owned by
// their receiver; null is success.
#ifndef HILO_RUNTIME_FFI_XLA_FFI_ABI_H_
#define HILO_RUNTIME_FFI_XLA_FFI_ABI_H_

#include <cstddef>
#include <cstdint>

extern "C" {

inline constexpr int XLA_FFI_API_MAJOR = 0;
inline constexpr int XLA_FFI_API_MINOR = 5;

enum XLA_FFI_InternalExtension_Type { XLA_FFI_Extension_Metadata = 1 };
struct XLA_FFI_InternalExtension {
  size_t struct_size;
  XLA_FFI_InternalExtension_Type type;
  XLA_FFI_InternalExtension* next;
};
// The header of every other struct.
#define HILO_FFI_HEAD \
  size_t struct_size; \
  XLA_FFI_InternalExtension* extension_start

struct XLA_FFI_Api_Version {
  HILO_FFI_HEAD;
  int major_version;
  int minor_version;
};

// --- errors: the codes are absl's ---
struct XLA_FFI_Error;
typedef int XLA_FFI_Error_Code;
static_assert(sizeof(XLA_FFI_Error_Code) == 4);
struct XLA_FFI_Error_Create_Args {
  HILO_FFI_HEAD;
  const char* message;
  XLA_FFI_Error_Code errc;
};
typedef XLA_FFI_Error* XLA_FFI_Error_Create(XLA_FFI_Error_Create_Args* args);
struct XLA_FFI_Error_GetDetails_Args {
  HILO_FFI_HEAD;
  XLA_FFI_Error* error;
  const char* message;      // out
  XLA_FFI_Error_Code errc;  // out, from 0.4 on
};
// Until 0.3 this was XLA_FFI_Error_GetMessage, whose arguments end before `errc`.
typedef void XLA_FFI_Error_GetDetails(XLA_FFI_Error_GetDetails_Args* args);
struct XLA_FFI_Error_Destroy_Args {
  HILO_FFI_HEAD;
  XLA_FFI_Error* error;
};
typedef void XLA_FFI_Error_Destroy(XLA_FFI_Error_Destroy_Args* args);

// --- values: data types have the numbers of PrimitiveType ---
typedef int XLA_FFI_DataType;
struct XLA_FFI_Buffer {
  HILO_FFI_HEAD;
  XLA_FFI_DataType dtype;
  void* data;
  int64_t rank;
  int64_t* dims;
};
enum XLA_FFI_ArgType { XLA_FFI_ArgType_BUFFER = 1 };
enum XLA_FFI_RetType { XLA_FFI_RetType_BUFFER = 1 };
enum XLA_FFI_AttrType {
  XLA_FFI_AttrType_ARRAY = 1,
  XLA_FFI_AttrType_DICTIONARY = 2,
  XLA_FFI_AttrType_SCALAR = 3,
  XLA_FFI_AttrType_STRING = 4,
};
struct XLA_FFI_ByteSpan {
  const char* ptr;
  size_t len;
};
struct XLA_FFI_Scalar {
  XLA_FFI_DataType dtype;
  void* value;
};
struct XLA_FFI_Array {
  XLA_FFI_DataType dtype;
  size_t size;
  void* data;
};

// --- the call frame ---
struct XLA_FFI_InvokeContext;
struct XLA_FFI_Api;
struct XLA_FFI_InternalApi;
struct XLA_FFI_Future;
enum XLA_FFI_ExecutionStage {
  XLA_FFI_ExecutionStage_INSTANTIATE = 0,
  XLA_FFI_ExecutionStage_PREPARE = 1,
  XLA_FFI_ExecutionStage_INITIALIZE = 2,
  XLA_FFI_ExecutionStage_EXECUTE = 3,
};
struct XLA_FFI_Args {
  HILO_FFI_HEAD;
  int64_t size;
  XLA_FFI_ArgType* types;
  void** args;
};
struct XLA_FFI_Rets {
  HILO_FFI_HEAD;
  int64_t size;
  XLA_FFI_RetType* types;
  void** rets;
};
struct XLA_FFI_Attrs {  // sorted by name
  HILO_FFI_HEAD;
  int64_t size;
  XLA_FFI_AttrType* types;
  XLA_FFI_ByteSpan** names;
  void** attrs;
};
struct XLA_FFI_CallFrame {
  HILO_FFI_HEAD;
  const XLA_FFI_Api* api;
  XLA_FFI_InvokeContext* ctx;
  XLA_FFI_ExecutionStage stage;
  XLA_FFI_Args args;
  XLA_FFI_Rets rets;
  XLA_FFI_Attrs attrs;
  XLA_FFI_Future* future;  // out; not counted in the size
};
inline constexpr size_t XLA_FFI_CallFrame_STRUCT_SIZE = offsetof(XLA_FFI_CallFrame, future);

typedef XLA_FFI_Error* XLA_FFI_Handler(XLA_FFI_CallFrame* call_frame);
struct XLA_FFI_Handler_Bundle {
  XLA_FFI_Handler* instantiate;
  XLA_FFI_Handler* prepare;
  XLA_FFI_Handler* initialize;
  XLA_FFI_Handler* execute;
};
// Behind the bundle XLA has traits, and before them, from 0.4 on, one more handler, which records graphs of a GPU.
struct XLA_FFI_Handler_Register_Args {
  HILO_FFI_HEAD;
  XLA_FFI_ByteSpan name;
  XLA_FFI_ByteSpan platform;
  XLA_FFI_Handler_Bundle bundle;
};
typedef XLA_FFI_Error* XLA_FFI_Handler_Register(XLA_FFI_Handler_Register_Args* args);

// --- types of user data and states; id 0 is unknown ---
struct XLA_FFI_TypeId {
  int64_t type_id;
};
struct XLA_FFI_TypeInfo {
  HILO_FFI_HEAD;
  void (*deleter)(void* object);
};
struct XLA_FFI_Type_Register_Args {
  HILO_FFI_HEAD;
  XLA_FFI_ByteSpan name;
  XLA_FFI_TypeId* type_id;  // in and out
  const XLA_FFI_TypeInfo* type_info;
};
inline constexpr size_t XLA_FFI_Type_Register_Args_STRUCT_SIZE = offsetof(XLA_FFI_Type_Register_Args, type_info);
typedef XLA_FFI_Error* XLA_FFI_Type_Register(XLA_FFI_Type_Register_Args* args);
struct XLA_FFI_InvokeContext_Get_Args {
  HILO_FFI_HEAD;
  XLA_FFI_InvokeContext* ctx;
  XLA_FFI_TypeId* type_id;
  void* data;  // out
};
typedef XLA_FFI_Error* XLA_FFI_InvokeContext_Get(XLA_FFI_InvokeContext_Get_Args* args);
// Options of one run, beside the attributes of the call.
struct XLA_FFI_CustomOptions_Get_Args {
  HILO_FFI_HEAD;
  XLA_FFI_InvokeContext* ctx;
  const XLA_FFI_Attrs* attrs;  // out
};
typedef XLA_FFI_Error* XLA_FFI_CustomOptions_Get(XLA_FFI_CustomOptions_Get_Args* args);
// User data attached to a run for its handlers.
struct XLA_FFI_Extension;
struct XLA_FFI_InvokeContext_FindExtension_Args {
  HILO_FFI_HEAD;
  XLA_FFI_InvokeContext* ctx;
  int64_t extension_type;
  const XLA_FFI_Extension* extension;  // out
};
typedef XLA_FFI_Error* XLA_FFI_InvokeContext_FindExtension(XLA_FFI_InvokeContext_FindExtension_Args* args);
struct XLA_FFI_State_Args {
  HILO_FFI_HEAD;
  XLA_FFI_InvokeContext* ctx;
  XLA_FFI_ExecutionStage stage;
  XLA_FFI_TypeId* type_id;
  void* state;  // in of Set, out of Get
};
typedef XLA_FFI_State_Args XLA_FFI_State_Set_Args;
typedef XLA_FFI_State_Args XLA_FFI_State_Get_Args;
typedef XLA_FFI_Error* XLA_FFI_State_Set(XLA_FFI_State_Set_Args* args);
typedef XLA_FFI_Error* XLA_FFI_State_Get(XLA_FFI_State_Get_Args* args);

// --- queries of the run ---
struct XLA_FFI_Stream_Get_Args {
  HILO_FFI_HEAD;
  XLA_FFI_InvokeContext* ctx;
  void* stream;  // out
};
typedef XLA_FFI_Error* XLA_FFI_Stream_Get(XLA_FFI_Stream_Get_Args* args);
struct XLA_FFI_DeviceMemory_Allocate_Args {
  HILO_FFI_HEAD;
  XLA_FFI_InvokeContext* ctx;
  size_t size;
  size_t alignment;
  void* data;  // out
};
typedef XLA_FFI_Error* XLA_FFI_DeviceMemory_Allocate(XLA_FFI_DeviceMemory_Allocate_Args* args);
struct XLA_FFI_DeviceMemory_Free_Args {
  HILO_FFI_HEAD;
  XLA_FFI_InvokeContext* ctx;
  size_t size;
  void* data;
};
typedef XLA_FFI_Error* XLA_FFI_DeviceMemory_Free(XLA_FFI_DeviceMemory_Free_Args* args);
typedef void XLA_FFI_Task(void* data);
struct XLA_FFI_ThreadPool_Schedule_Args {
  HILO_FFI_HEAD;
  XLA_FFI_InvokeContext* ctx;
  XLA_FFI_Task* task;
  void* data;
};
typedef XLA_FFI_Error* XLA_FFI_ThreadPool_Schedule(XLA_FFI_ThreadPool_Schedule_Args* args);
struct XLA_FFI_ThreadPool_NumThreads_Args {
  HILO_FFI_HEAD;
  XLA_FFI_InvokeContext* ctx;
  int64_t* num_threads;  // out
};
typedef XLA_FFI_Error* XLA_FFI_ThreadPool_NumThreads(XLA_FFI_ThreadPool_NumThreads_Args* args);
struct XLA_FFI_Future_Create_Args {
  HILO_FFI_HEAD;
  XLA_FFI_Future* future;  // out
};
inline constexpr size_t XLA_FFI_Future_Create_Args_STRUCT_SIZE = offsetof(XLA_FFI_Future_Create_Args, future);
typedef XLA_FFI_Error* XLA_FFI_Future_Create(XLA_FFI_Future_Create_Args* args);
struct XLA_FFI_Future_SetAvailable_Args {
  HILO_FFI_HEAD;
  XLA_FFI_Future* future;
};
typedef XLA_FFI_Error* XLA_FFI_Future_SetAvailable(XLA_FFI_Future_SetAvailable_Args* args);
struct XLA_FFI_Future_SetError_Args {
  HILO_FFI_HEAD;
  XLA_FFI_Future* future;
  XLA_FFI_Error* error;  // given away
};
typedef XLA_FFI_Error* XLA_FFI_Future_SetError(XLA_FFI_Future_SetError_Args* args);
struct XLA_FFI_RunId_Get_Args {
  HILO_FFI_HEAD;
  XLA_FFI_InvokeContext* ctx;
  int64_t run_id;  // out
};
typedef XLA_FFI_Error* XLA_FFI_RunId_Get(XLA_FFI_RunId_Get_Args* args);
struct XLA_FFI_DeviceOrdinal_Get_Args {
  HILO_FFI_HEAD;
  XLA_FFI_InvokeContext* ctx;
  int32_t device_ordinal;  // out
};
inline constexpr size_t XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE =
    offsetof(XLA_FFI_DeviceOrdinal_Get_Args, device_ordinal) + sizeof(int32_t);
typedef XLA_FFI_Error* XLA_FFI_DeviceOrdinal_Get(XLA_FFI_DeviceOrdinal_Get_Args* args);

// --- metadata of a handler, queried by a call frame with this extension ---
struct XLA_FFI_Metadata {
  size_t struct_size;
  XLA_FFI_Api_Version api_version;
  uint32_t traits;
  XLA_FFI_TypeId state_type_id;
};
struct XLA_FFI_Metadata_Extension {
  XLA_FFI_InternalExtension extension_base;
  XLA_FFI_Metadata* metadata;
};

struct XLA_FFI_Api {
  HILO_FFI_HEAD;
  XLA_FFI_Api_Version api_version;
  const XLA_FFI_InternalApi* internal_api;
#define HILO_FFI_FUNCTION(type) type* type##_field
  HILO_FFI_FUNCTION(XLA_FFI_Error_Create);
  HILO_FFI_FUNCTION(XLA_FFI_Error_GetDetails);
  HILO_FFI_FUNCTION(XLA_FFI_Error_Destroy);
  HILO_FFI_FUNCTION(XLA_FFI_Handler_Register);
  HILO_FFI_FUNCTION(XLA_FFI_Stream_Get);
  HILO_FFI_FUNCTION(XLA_FFI_Type_Register);
  HILO_FFI_FUNCTION(XLA_FFI_InvokeContext_Get);
  HILO_FFI_FUNCTION(XLA_FFI_State_Set);
  HILO_FFI_FUNCTION(XLA_FFI_State_Get);
  HILO_FFI_FUNCTION(XLA_FFI_DeviceMemory_Allocate);
  HILO_FFI_FUNCTION(XLA_FFI_DeviceMemory_Free);
  HILO_FFI_FUNCTION(XLA_FFI_ThreadPool_Schedule);
  HILO_FFI_FUNCTION(XLA_FFI_ThreadPool_NumThreads);
  HILO_FFI_FUNCTION(XLA_FFI_Future_Create);
  HILO_FFI_FUNCTION(XLA_FFI_Future_SetAvailable);
  HILO_FFI_FUNCTION(XLA_FFI_Future_SetError);
  HILO_FFI_FUNCTION(XLA_FFI_RunId_Get);
  HILO_FFI_FUNCTION(XLA_FFI_DeviceOrdinal_Get);
  HILO_FFI_FUNCTION(XLA_FFI_InvokeContext_FindExtension);
  HILO_FFI_FUNCTION(XLA_FFI_CustomOptions_Get);
#undef HILO_FFI_FUNCTION
};
#undef HILO_FFI_HEAD

}  // extern "C"

static_assert(sizeof(XLA_FFI_Buffer) == 48 && sizeof(XLA_FFI_Attrs) == 48 && sizeof(XLA_FFI_Args) == 40);
static_assert(XLA_FFI_CallFrame_STRUCT_SIZE == 168 && sizeof(XLA_FFI_CallFrame) == 176);
static_assert(sizeof(XLA_FFI_Metadata) == 48 && sizeof(XLA_FFI_Api) == 208);

#endif  // HILO_RUNTIME_FFI_XLA_FFI_ABI_H_
