/* The values that functions of the PJRT C API (pjrt/abi.h) take and return: handles, enumerations, structs and
   callbacks. Valid as C and as C++.

   Every struct starts with its size as its maker knows it: the end of its last field, without padding
   (PJRT_STRUCT_SIZE). A struct may be shorter than the other side's idea of it; what lies beyond its size is neither
   read nor written. */
#ifndef HILO_PJRT_ABI_TYPES_H_
#define HILO_PJRT_ABI_TYPES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PJRT_STRUCT_SIZE(type, last_field) (offsetof(type, last_field) + sizeof(((type*)0)->last_field))

/* What the plugin makes, and only the plugin looks into. */
typedef struct PJRT_Error PJRT_Error;
typedef struct PJRT_Event PJRT_Event;
typedef struct PJRT_Client PJRT_Client;
typedef struct PJRT_Device PJRT_Device;
typedef struct PJRT_DeviceDescription PJRT_DeviceDescription;
typedef struct PJRT_Memory PJRT_Memory;
typedef struct PJRT_TopologyDescription PJRT_TopologyDescription;
typedef struct PJRT_Executable PJRT_Executable;
typedef struct PJRT_LoadedExecutable PJRT_LoadedExecutable;
typedef struct PJRT_Buffer PJRT_Buffer;
typedef struct PJRT_ExecuteContext PJRT_ExecuteContext;
typedef struct PJRT_SerializedExecutable PJRT_SerializedExecutable;
typedef struct PJRT_SerializedTopology PJRT_SerializedTopology;
typedef struct PJRT_SerializedCompileOptions PJRT_SerializedCompileOptions;
typedef struct PJRT_SerializedDeviceAssignment PJRT_SerializedDeviceAssignment;
typedef struct PJRT_Device_AttributesOwner PJRT_Device_AttributesOwner;
typedef struct PJRT_CopyToDeviceStream PJRT_CopyToDeviceStream;
typedef struct PJRT_AsyncHostToDeviceTransferManager PJRT_AsyncHostToDeviceTransferManager;
typedef struct PJRT_AsyncTrackingEvent PJRT_AsyncTrackingEvent;
typedef struct PJRT_FulfillAliasBufferCallback PJRT_FulfillAliasBufferCallback;

/* absl's codes. */
typedef enum {
  PJRT_Error_Code_CANCELLED = 1,
  PJRT_Error_Code_UNKNOWN,
  PJRT_Error_Code_INVALID_ARGUMENT,
  PJRT_Error_Code_DEADLINE_EXCEEDED,
  PJRT_Error_Code_NOT_FOUND,
  PJRT_Error_Code_ALREADY_EXISTS,
  PJRT_Error_Code_PERMISSION_DENIED,
  PJRT_Error_Code_RESOURCE_EXHAUSTED,
  PJRT_Error_Code_FAILED_PRECONDITION,
  PJRT_Error_Code_ABORTED,
  PJRT_Error_Code_OUT_OF_RANGE,
  PJRT_Error_Code_UNIMPLEMENTED,
  PJRT_Error_Code_INTERNAL,
  PJRT_Error_Code_UNAVAILABLE,
  PJRT_Error_Code_DATA_LOSS,
  PJRT_Error_Code_UNAUTHENTICATED,
} PJRT_Error_Code;

/* Element types. These are not the numbers of XLA's PrimitiveType. */
typedef enum {
  PJRT_Buffer_Type_INVALID = 0,
  PJRT_Buffer_Type_PRED,
  PJRT_Buffer_Type_S8,
  PJRT_Buffer_Type_S16,
  PJRT_Buffer_Type_S32,
  PJRT_Buffer_Type_S64,
  PJRT_Buffer_Type_U8,
  PJRT_Buffer_Type_U16,
  PJRT_Buffer_Type_U32,
  PJRT_Buffer_Type_U64,
  PJRT_Buffer_Type_F16,
  PJRT_Buffer_Type_F32,
  PJRT_Buffer_Type_F64,
  PJRT_Buffer_Type_BF16,
  PJRT_Buffer_Type_C64,
  PJRT_Buffer_Type_C128,
  PJRT_Buffer_Type_F8E5M2,
  PJRT_Buffer_Type_F8E4M3FN,
  PJRT_Buffer_Type_F8E4M3B11FNUZ,
  PJRT_Buffer_Type_F8E5M2FNUZ,
  PJRT_Buffer_Type_F8E4M3FNUZ,
  PJRT_Buffer_Type_S4,
  PJRT_Buffer_Type_U4,
  PJRT_Buffer_Type_TOKEN,
  PJRT_Buffer_Type_S2,
  PJRT_Buffer_Type_U2,
  PJRT_Buffer_Type_F8E4M3,
  PJRT_Buffer_Type_F8E3M4,
  PJRT_Buffer_Type_F8E8M0FNU,
  PJRT_Buffer_Type_F4E2M1FN,
  PJRT_Buffer_Type_S1,
  PJRT_Buffer_Type_U1,
} PJRT_Buffer_Type;

/* How long the caller's memory stays as it is. */
typedef enum {
  PJRT_HostBufferSemantics_kImmutableOnlyDuringCall = 0,
  PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes, /* until the event done_with_host_buffer */
  PJRT_HostBufferSemantics_kImmutableZeroCopy, /* as before; the event may wait for the end of the buffer */
  PJRT_HostBufferSemantics_kMutableZeroCopy,
} PJRT_HostBufferSemantics;

typedef enum {
  PJRT_Extension_Type_Profiler = 1,
  PJRT_Extension_Type_Layouts = 4,
  PJRT_Extension_Type_FFI = 5,
  PJRT_Extension_Type_MemoryDescriptions = 6,
  PJRT_Extension_Type_Shardings = 19,
  Hilo_Extension_Type_FfiApi = 0x48494c4f, /* Hilo's own */
} PJRT_Extension_Type;

/* A link of a chain of extensions. */
typedef struct PJRT_Extension_Base {
  size_t struct_size;
  PJRT_Extension_Type type;
  struct PJRT_Extension_Base* next;
} PJRT_Extension_Base;

/* What every other struct starts with. */
#define PJRT_HEAD     \
  size_t struct_size; \
  PJRT_Extension_Base* extension_start

typedef struct {
  PJRT_HEAD;
  int major_version;
  int minor_version;
} PJRT_Api_Version;

typedef enum {
  PJRT_NamedValue_kString = 0,
  PJRT_NamedValue_kInt64,
  PJRT_NamedValue_kInt64List,
  PJRT_NamedValue_kFloat,
  PJRT_NamedValue_kBool,
} PJRT_NamedValue_Type;

/* An attribute or option. */
typedef struct {
  PJRT_HEAD;
  const char* name;
  size_t name_size;
  PJRT_NamedValue_Type type;
  union {
    const char* string_value;
    int64_t int64_value;
    const int64_t* int64_array_value;
    float float_value;
    bool bool_value;
  };
  size_t value_size; /* of strings and lists; else 1 */
} PJRT_NamedValue;

typedef enum {
  PJRT_Buffer_MemoryLayout_Type_Tiled = 0,
  PJRT_Buffer_MemoryLayout_Type_Strides,
} PJRT_Buffer_MemoryLayout_Type;

typedef struct {
  PJRT_HEAD;
  const int64_t* minor_to_major;
  size_t minor_to_major_size;
  const int64_t* tile_dims; /* of all tiles, one after the other */
  const size_t* tile_dim_sizes;
  size_t num_tiles;
} PJRT_Buffer_MemoryLayout_Tiled;

typedef struct {
  PJRT_HEAD;
  const int64_t* byte_strides;
  size_t num_byte_strides;
} PJRT_Buffer_MemoryLayout_Strides;

typedef struct {
  PJRT_HEAD;
  union {
    PJRT_Buffer_MemoryLayout_Tiled tiled;
    PJRT_Buffer_MemoryLayout_Strides strides;
  };
  PJRT_Buffer_MemoryLayout_Type type;
} PJRT_Buffer_MemoryLayout;

typedef struct {
  PJRT_HEAD;
  char* code;
  size_t code_size;
  const char* format;
  size_t format_size;
} PJRT_Program;

typedef struct {
  PJRT_HEAD;
  void* send_callbacks;
  void* recv_callbacks;
  size_t num_send_ops;
  size_t num_recv_ops;
  int launch_id;
  const int64_t* non_donatable_input_indices;
  size_t num_non_donatable_input_indices;
  PJRT_ExecuteContext* context;
  const char* call_location;
  size_t num_tasks;
  int* task_ids;
  int64_t* incarnation_ids;
  void* multi_slice_config;
  bool use_major_to_minor_data_layout_for_callbacks;
  void* hlo_output_callbacks;
  size_t num_hlo_output_callbacks;
} PJRT_ExecuteOptions;

typedef struct {
  int replica;
  int partition;
} PJRT_LogicalDeviceIds;

typedef enum {
  PJRT_ProcessState_kUnspecified = 0,
  PJRT_ProcessState_kUninitialized,
  PJRT_ProcessState_kDisconnected,
  PJRT_ProcessState_kConnected,
  PJRT_ProcessState_kError,
} PJRT_ProcessState;

/* Of a process, which has another incarnation when it comes back; has no chain of extensions. */
typedef struct {
  size_t struct_size;
  int task_id;
  uint64_t incarnation_id;
  int state;
  int error_code;
  const char* error_message;
  size_t error_message_size;
} PJRT_ProcessInfo;

typedef struct {
  PJRT_HEAD;
  const int64_t* dims;
  size_t num_dims;
  PJRT_Buffer_Type element_type;
} PJRT_ShapeSpec;

typedef struct {
  void* data;
  size_t size;
  void (*deleter)(void* data, void* deleter_arg);
  void* deleter_arg;
} PJRT_Chunk;

/* Called once; `error` is null or belongs to the callback. */
typedef void PJRT_Event_OnReadyCallback(PJRT_Error* error, void* user_arg);
typedef void PJRT_Error_PayloadVisitor(const char* key, size_t key_size, const char* value, size_t value_size,
                                       void* user_arg);

/* How callbacks of the framework make an error of the plugin's. */
typedef PJRT_Error* PJRT_CallbackError(PJRT_Error_Code code, const char* message, size_t message_size);
typedef struct {
  PJRT_HEAD;
  const char* key;
  size_t key_size;
  int timeout_in_ms;
  PJRT_CallbackError** callback_error;
  void* user_arg;
  char* value;
  size_t value_size;
  void (*value_deleter_callback)(char* value);
} PJRT_KeyValueGetCallback_Args;
typedef PJRT_Error* PJRT_KeyValueGetCallback(PJRT_KeyValueGetCallback_Args* args);
typedef struct {
  PJRT_HEAD;
  const char* key;
  size_t key_size;
  PJRT_CallbackError** callback_error;
  void* user_arg;
  char* value;
  size_t value_size;
  void (*value_deleter_callback)(char* value);
} PJRT_KeyValueTryGetCallback_Args;
typedef PJRT_Error* PJRT_KeyValueTryGetCallback(PJRT_KeyValueTryGetCallback_Args* args);
typedef struct {
  PJRT_HEAD;
  const char* key;
  size_t key_size;
  const char* value;
  size_t value_size;
  PJRT_CallbackError** callback_error;
  void* user_arg;
} PJRT_KeyValuePutCallback_Args;
typedef PJRT_Error* PJRT_KeyValuePutCallback(PJRT_KeyValuePutCallback_Args* args);

typedef struct {
  size_t struct_size;
  void* callback_data;
  PJRT_Error_Code error_code;
  const char* error_message;
  size_t error_message_size;
  void* dst;
} PJRT_Buffer_CopyRawToHostFuture_Callback_Args;
typedef struct {
  size_t struct_size;
  void* callback_data;
  PJRT_Error_Code error_code;
  const char* error_message;
  size_t error_message_size;
} PJRT_Buffer_DonateWithControlDependency_Callback_Args;

#ifdef __cplusplus
}
#endif

#endif /* HILO_PJRT_ABI_TYPES_H_ */
