/* The PJRT C API, version 0.112, as far as layout goes: what a framework such as JAX calls in a plugin. The layout of
   these structs is a contract with binaries; names, numbers and order are XLA's. Valid as C and as C++.

   A plugin exports GetPjrtApi(), which returns a table of functions. Each function takes one struct, arguments and
   results together, and returns null or an error that the caller destroys. Every struct starts with its size as its
   maker knows it: the end of its last field, without padding (PJRT_STRUCT_SIZE). A struct may be shorter than the other
   side's idea of it; what lies beyond its size is neither read nor written. */
#ifndef HILO_PJRT_ABI_H_
#define HILO_PJRT_ABI_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PJRT_API_MAJOR 0
#define PJRT_API_MINOR 112

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

/* --- The arguments of each function, in the order of the table. --- */
#define PJRT_ARGS(function, ...) \
  typedef struct {               \
    PJRT_HEAD;                   \
    __VA_ARGS__                  \
  } PJRT_##function##_Args

PJRT_ARGS(Error_Destroy, PJRT_Error* error;);
PJRT_ARGS(Error_Message, const PJRT_Error* error; const char* message; size_t message_size;);
PJRT_ARGS(Error_GetCode, const PJRT_Error* error; PJRT_Error_Code code;);
PJRT_ARGS(Plugin_Initialize, );
PJRT_ARGS(Plugin_Attributes, const PJRT_NamedValue* attributes; size_t num_attributes;);
PJRT_ARGS(Event_Destroy, PJRT_Event* event;);
PJRT_ARGS(Event_IsReady, PJRT_Event* event; bool is_ready;);
PJRT_ARGS(Event_Error, PJRT_Event* event;);
PJRT_ARGS(Event_Await, PJRT_Event* event;);
PJRT_ARGS(Event_OnReady, PJRT_Event* event; PJRT_Event_OnReadyCallback * callback; void* user_arg;);
PJRT_ARGS(Client_Create, const PJRT_NamedValue* create_options; size_t num_options;
          PJRT_KeyValueGetCallback * kv_get_callback; void* kv_get_user_arg; PJRT_KeyValuePutCallback * kv_put_callback;
          void* kv_put_user_arg; PJRT_Client * client; PJRT_KeyValueTryGetCallback * kv_try_get_callback;
          void* kv_try_get_user_arg;);
PJRT_ARGS(Client_Destroy, PJRT_Client* client;);
PJRT_ARGS(Client_PlatformName, PJRT_Client* client; const char* platform_name; size_t platform_name_size;);
PJRT_ARGS(Client_ProcessIndex, PJRT_Client* client; int process_index;);
PJRT_ARGS(Client_PlatformVersion, PJRT_Client* client; const char* platform_version; size_t platform_version_size;);
PJRT_ARGS(Client_Devices, PJRT_Client* client; PJRT_Device* const* devices; size_t num_devices;);
PJRT_ARGS(Client_AddressableDevices, PJRT_Client* client; PJRT_Device* const* addressable_devices;
          size_t num_addressable_devices;);
PJRT_ARGS(Client_LookupDevice, PJRT_Client* client; int id; PJRT_Device * device;);
PJRT_ARGS(Client_LookupAddressableDevice, PJRT_Client* client; int local_hardware_id;
          PJRT_Device * addressable_device;);
PJRT_ARGS(Client_AddressableMemories, PJRT_Client* client; PJRT_Memory* const* addressable_memories;
          size_t num_addressable_memories;);
PJRT_ARGS(Client_Compile, PJRT_Client* client; const PJRT_Program* program; const char* compile_options;
          size_t compile_options_size; PJRT_LoadedExecutable * executable;);
PJRT_ARGS(Client_DefaultDeviceAssignment, PJRT_Client* client; int num_replicas; int num_partitions;
          size_t default_assignment_size; int* default_assignment;);
PJRT_ARGS(Client_BufferFromHostBuffer, PJRT_Client* client; const void* data; PJRT_Buffer_Type type;
          const int64_t* dims; size_t num_dims; const int64_t* byte_strides; size_t num_byte_strides;
          PJRT_HostBufferSemantics host_buffer_semantics; PJRT_Device * device; PJRT_Memory * memory;
          PJRT_Buffer_MemoryLayout * device_layout; PJRT_Event * done_with_host_buffer; PJRT_Buffer * buffer;);
PJRT_ARGS(DeviceDescription_Id, PJRT_DeviceDescription* device_description; int id;);
PJRT_ARGS(DeviceDescription_ProcessIndex, PJRT_DeviceDescription* device_description; int process_index;);
PJRT_ARGS(DeviceDescription_Attributes, PJRT_DeviceDescription* device_description; size_t num_attributes;
          const PJRT_NamedValue* attributes;);
PJRT_ARGS(DeviceDescription_Kind, PJRT_DeviceDescription* device_description; const char* device_kind;
          size_t device_kind_size;);
PJRT_ARGS(DeviceDescription_DebugString, PJRT_DeviceDescription* device_description; const char* debug_string;
          size_t debug_string_size;);
PJRT_ARGS(DeviceDescription_ToString, PJRT_DeviceDescription* device_description; const char* to_string;
          size_t to_string_size;);
PJRT_ARGS(Device_GetDescription, PJRT_Device* device; PJRT_DeviceDescription * device_description;);
PJRT_ARGS(Device_IsAddressable, PJRT_Device* device; bool is_addressable;);
PJRT_ARGS(Device_LocalHardwareId, PJRT_Device* device; int local_hardware_id;);
PJRT_ARGS(Device_AddressableMemories, PJRT_Device* device; PJRT_Memory* const* memories; size_t num_memories;);
PJRT_ARGS(Device_DefaultMemory, PJRT_Device* device; PJRT_Memory * memory;);
PJRT_ARGS(Device_MemoryStats, PJRT_Device* device; int64_t bytes_in_use; int64_t peak_bytes_in_use;
          bool peak_bytes_in_use_is_set; int64_t num_allocs; bool num_allocs_is_set; int64_t largest_alloc_size;
          bool largest_alloc_size_is_set; int64_t bytes_limit; bool bytes_limit_is_set; int64_t bytes_reserved;
          bool bytes_reserved_is_set; int64_t peak_bytes_reserved; bool peak_bytes_reserved_is_set;
          int64_t bytes_reservable_limit; bool bytes_reservable_limit_is_set; int64_t largest_free_block_bytes;
          bool largest_free_block_bytes_is_set; int64_t pool_bytes; bool pool_bytes_is_set; int64_t peak_pool_bytes;
          bool peak_pool_bytes_is_set; int64_t peak_allocated_bytes; bool peak_allocated_bytes_is_set;);
PJRT_ARGS(Memory_Id, PJRT_Memory* memory; int id;);
PJRT_ARGS(Memory_Kind, PJRT_Memory* memory; const char* kind; size_t kind_size;);
PJRT_ARGS(Memory_DebugString, PJRT_Memory* memory; const char* debug_string; size_t debug_string_size;);
PJRT_ARGS(Memory_ToString, PJRT_Memory* memory; const char* to_string; size_t to_string_size;);
PJRT_ARGS(Memory_AddressableByDevices, PJRT_Memory* memory; PJRT_Device* const* devices; size_t num_devices;);
PJRT_ARGS(Executable_Destroy, PJRT_Executable* executable;);
PJRT_ARGS(Executable_Name, PJRT_Executable* executable; const char* executable_name; size_t executable_name_size;);
PJRT_ARGS(Executable_NumReplicas, PJRT_Executable* executable; size_t num_replicas;);
PJRT_ARGS(Executable_NumPartitions, PJRT_Executable* executable; size_t num_partitions;);
PJRT_ARGS(Executable_NumOutputs, PJRT_Executable* executable; size_t num_outputs;);
PJRT_ARGS(Executable_SizeOfGeneratedCodeInBytes, PJRT_Executable* executable; int64_t size_in_bytes;);
PJRT_ARGS(Executable_GetCostAnalysis, PJRT_Executable* executable; size_t num_properties;
          const PJRT_NamedValue* properties;);
PJRT_ARGS(Executable_OutputMemoryKinds, PJRT_Executable* executable; size_t num_outputs;
          const char* const* memory_kinds; const size_t* memory_kind_sizes;);
PJRT_ARGS(Executable_OptimizedProgram, PJRT_Executable* executable; PJRT_Program * program;);
PJRT_ARGS(Executable_Serialize, PJRT_Executable* executable; const char* serialized_bytes; size_t serialized_bytes_size;
          PJRT_SerializedExecutable * serialized_executable;
          void (*serialized_executable_deleter)(PJRT_SerializedExecutable* owner););
PJRT_ARGS(LoadedExecutable_Destroy, PJRT_LoadedExecutable* executable;);
PJRT_ARGS(LoadedExecutable_GetExecutable, PJRT_LoadedExecutable* loaded_executable; PJRT_Executable * executable;);
PJRT_ARGS(LoadedExecutable_AddressableDevices, PJRT_LoadedExecutable* executable;
          PJRT_Device* const* addressable_devices; size_t num_addressable_devices;);
PJRT_ARGS(LoadedExecutable_Delete, PJRT_LoadedExecutable* executable;);
PJRT_ARGS(LoadedExecutable_IsDeleted, PJRT_LoadedExecutable* executable; bool is_deleted;);
PJRT_ARGS(LoadedExecutable_Execute, PJRT_LoadedExecutable* executable; PJRT_ExecuteOptions * options;
          PJRT_Buffer* const* const* argument_lists; size_t num_devices; size_t num_args;
          PJRT_Buffer * * const* output_lists; PJRT_Event * *device_complete_events; PJRT_Device * execute_device;);
PJRT_ARGS(Executable_DeserializeAndLoad, PJRT_Client* client; const char* serialized_executable;
          size_t serialized_executable_size; PJRT_LoadedExecutable * loaded_executable;
          const char* overridden_serialized_compile_options; size_t overridden_serialized_compile_options_size;
          const PJRT_NamedValue* load_options;);
PJRT_ARGS(LoadedExecutable_Fingerprint, PJRT_LoadedExecutable* executable; const char* executable_fingerprint;
          size_t executable_fingerprint_size;);
PJRT_ARGS(Buffer_Destroy, PJRT_Buffer* buffer;);
PJRT_ARGS(Buffer_ElementType, PJRT_Buffer* buffer; PJRT_Buffer_Type type;);
PJRT_ARGS(Buffer_Dimensions, PJRT_Buffer* buffer; const int64_t* dims; size_t num_dims;);
PJRT_ARGS(Buffer_UnpaddedDimensions, PJRT_Buffer* buffer; const int64_t* unpadded_dims; size_t num_dims;);
PJRT_ARGS(Buffer_DynamicDimensionIndices, PJRT_Buffer* buffer; const size_t* dynamic_dim_indices;
          size_t num_dynamic_dims;);
PJRT_ARGS(Buffer_GetMemoryLayout, PJRT_Buffer* buffer; PJRT_Buffer_MemoryLayout layout;);
PJRT_ARGS(Buffer_OnDeviceSizeInBytes, PJRT_Buffer* buffer; size_t on_device_size_in_bytes;);
PJRT_ARGS(Buffer_Device, PJRT_Buffer* buffer; PJRT_Device * device;);
PJRT_ARGS(Buffer_Memory, PJRT_Buffer* buffer; PJRT_Memory * memory;);
PJRT_ARGS(Buffer_Delete, PJRT_Buffer* buffer;);
PJRT_ARGS(Buffer_IsDeleted, PJRT_Buffer* buffer; bool is_deleted;);
PJRT_ARGS(Buffer_CopyToDevice, PJRT_Buffer* buffer; PJRT_Device * dst_device; PJRT_Buffer * dst_buffer;);
PJRT_ARGS(Buffer_ToHostBuffer, PJRT_Buffer* src; PJRT_Buffer_MemoryLayout * host_layout; void* dst; size_t dst_size;
          PJRT_Event * event;);
PJRT_ARGS(Buffer_IsOnCpu, PJRT_Buffer* buffer; bool is_on_cpu;);
PJRT_ARGS(Buffer_ReadyEvent, PJRT_Buffer* buffer; PJRT_Event * event;);
PJRT_ARGS(Buffer_UnsafePointer, PJRT_Buffer* buffer; uintptr_t buffer_pointer;);
PJRT_ARGS(Buffer_IncreaseExternalReferenceCount, PJRT_Buffer* buffer;);
PJRT_ARGS(Buffer_DecreaseExternalReferenceCount, PJRT_Buffer* buffer;);
PJRT_ARGS(Buffer_OpaqueDeviceMemoryDataPointer, PJRT_Buffer* buffer; void* device_memory_ptr;);
PJRT_ARGS(CopyToDeviceStream_Destroy, PJRT_CopyToDeviceStream* stream;);
PJRT_ARGS(CopyToDeviceStream_AddChunk, PJRT_CopyToDeviceStream* stream; PJRT_Chunk * chunk;
          PJRT_Event * transfer_complete;);
PJRT_ARGS(CopyToDeviceStream_TotalBytes, PJRT_CopyToDeviceStream* stream; int64_t total_bytes;);
PJRT_ARGS(CopyToDeviceStream_GranuleSize, PJRT_CopyToDeviceStream* stream; int64_t granule_size_in_bytes;);
PJRT_ARGS(CopyToDeviceStream_CurrentBytes, PJRT_CopyToDeviceStream* stream; int64_t current_bytes;);
PJRT_ARGS(TopologyDescription_Create, const char* topology_name; size_t topology_name_size;
          const PJRT_NamedValue* create_options; size_t num_options; PJRT_TopologyDescription * topology;);
PJRT_ARGS(TopologyDescription_Destroy, PJRT_TopologyDescription* topology;);
PJRT_ARGS(TopologyDescription_PlatformName, PJRT_TopologyDescription* topology; const char* platform_name;
          size_t platform_name_size;);
PJRT_ARGS(TopologyDescription_PlatformVersion, PJRT_TopologyDescription* topology; const char* platform_version;
          size_t platform_version_size;);
PJRT_ARGS(TopologyDescription_GetDeviceDescriptions, PJRT_TopologyDescription* topology;
          PJRT_DeviceDescription* const* descriptions; size_t num_descriptions;);
PJRT_ARGS(TopologyDescription_Serialize, PJRT_TopologyDescription* topology; const char* serialized_bytes;
          size_t serialized_bytes_size; PJRT_SerializedTopology * serialized_topology;
          void (*serialized_topology_deleter)(PJRT_SerializedTopology* owner););
PJRT_ARGS(TopologyDescription_Attributes, PJRT_TopologyDescription* topology; const PJRT_NamedValue* attributes;
          size_t num_attributes;);
PJRT_ARGS(Compile, PJRT_TopologyDescription* topology; const PJRT_Program* program; const char* compile_options;
          size_t compile_options_size; PJRT_Client * client; PJRT_Executable * executable;);
PJRT_ARGS(Executable_OutputElementTypes, PJRT_Executable* executable; const PJRT_Buffer_Type* output_types;
          size_t num_output_types;);
PJRT_ARGS(Executable_OutputDimensions, PJRT_Executable* executable; size_t num_outputs; const int64_t* dims;
          const size_t* dim_sizes;);
PJRT_ARGS(Buffer_CopyToMemory, PJRT_Buffer* buffer; PJRT_Memory * dst_memory; PJRT_Buffer * dst_buffer;);
PJRT_ARGS(Client_CreateViewOfDeviceBuffer, PJRT_Client* client; void* device_buffer_ptr; const int64_t* dims;
          size_t num_dims; PJRT_Buffer_Type element_type; PJRT_Buffer_MemoryLayout * layout; PJRT_Device * device;
          void (*on_delete_callback)(void* device_buffer, void* user_arg); void* on_delete_callback_arg;
          intptr_t stream; PJRT_Buffer * buffer; PJRT_Memory * memory;);
PJRT_ARGS(Executable_Fingerprint, PJRT_Executable* executable; const char* executable_fingerprint;
          size_t executable_fingerprint_size;);
PJRT_ARGS(Client_TopologyDescription, PJRT_Client* client; PJRT_TopologyDescription * topology;);
PJRT_ARGS(Executable_GetCompiledMemoryStats, PJRT_Executable* executable; int64_t generated_code_size_in_bytes;
          int64_t argument_size_in_bytes; int64_t output_size_in_bytes; int64_t alias_size_in_bytes;
          int64_t temp_size_in_bytes; int64_t host_generated_code_size_in_bytes; int64_t host_argument_size_in_bytes;
          int64_t host_output_size_in_bytes; int64_t host_alias_size_in_bytes; int64_t host_temp_size_in_bytes;
          int64_t peak_memory_in_bytes; int64_t total_size_in_bytes; int64_t total_allocation_bytes;
          int64_t indefinite_allocations; int64_t peak_unpadded_heap_bytes;);
PJRT_ARGS(Memory_Kind_Id, PJRT_Memory* memory; int kind_id;);
PJRT_ARGS(ExecuteContext_Create, PJRT_ExecuteContext* context;);
PJRT_ARGS(ExecuteContext_Destroy, PJRT_ExecuteContext* context;);
PJRT_ARGS(Buffer_CopyRawToHost, PJRT_Buffer* buffer; void* dst; int64_t offset; int64_t transfer_size;
          PJRT_Event * event;);
PJRT_ARGS(AsyncHostToDeviceTransferManager_Destroy, PJRT_AsyncHostToDeviceTransferManager* transfer_manager;);
PJRT_ARGS(AsyncHostToDeviceTransferManager_TransferData, PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
          int buffer_index; const void* data; int64_t offset; int64_t transfer_size; bool is_last_transfer;
          PJRT_Event * done_with_h2d_transfer;);
PJRT_ARGS(Client_CreateBuffersForAsyncHostToDevice, PJRT_Client* client; const PJRT_ShapeSpec* shape_specs;
          size_t num_shape_specs; PJRT_Buffer_MemoryLayout * *device_layouts; size_t num_device_layouts;
          PJRT_Memory * memory; PJRT_AsyncHostToDeviceTransferManager * transfer_manager;);
PJRT_ARGS(AsyncHostToDeviceTransferManager_RetrieveBuffer, PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
          int buffer_index; PJRT_Buffer * buffer_out;);
PJRT_ARGS(AsyncHostToDeviceTransferManager_Device, PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
          PJRT_Device * device_out;);
PJRT_ARGS(AsyncHostToDeviceTransferManager_BufferCount, PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
          size_t buffer_count;);
PJRT_ARGS(AsyncHostToDeviceTransferManager_BufferSize, PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
          int buffer_index; size_t buffer_size;);
PJRT_ARGS(AsyncHostToDeviceTransferManager_SetBufferError, PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
          int buffer_index; PJRT_Error_Code error_code; const char* error_message; size_t error_message_size;);
PJRT_ARGS(AsyncHostToDeviceTransferManager_AddMetadata, PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
          const PJRT_NamedValue* transfer_metadata; size_t num_metadata;);
PJRT_ARGS(Client_DmaMap, PJRT_Client* client; void* data; size_t size;);
PJRT_ARGS(Client_DmaUnmap, PJRT_Client* client; void* data;);
PJRT_ARGS(Client_CreateUninitializedBuffer, PJRT_Client* client; const int64_t* shape_dims; size_t shape_num_dims;
          PJRT_Buffer_Type shape_element_type; PJRT_Buffer_MemoryLayout * shape_layout; PJRT_Device * device;
          PJRT_Memory * memory; PJRT_Buffer * buffer;);
PJRT_ARGS(Client_UpdateGlobalProcessInfo, PJRT_Client* client; const PJRT_ProcessInfo* process_infos;
          size_t num_process_infos;);
PJRT_ARGS(TopologyDescription_Deserialize, const char* serialized_topology; size_t serialized_topology_size;
          PJRT_TopologyDescription * topology;);
PJRT_ARGS(Client_CreateAliasBuffer, PJRT_Client* client; PJRT_Memory * memory; const int64_t* shape_dims;
          size_t shape_num_dims; PJRT_Buffer_Type shape_element_type; PJRT_Buffer_MemoryLayout * shape_layout;
          PJRT_Buffer * alias_buffer; PJRT_FulfillAliasBufferCallback * fulfill_alias_buffer_cb;);
PJRT_ARGS(Client_FulfillAliasBuffer, PJRT_Client* client; PJRT_Buffer * buffer; PJRT_Error_Code status_code;
          const char* error_message; size_t error_message_size;
          PJRT_FulfillAliasBufferCallback * fulfill_alias_buffer_cb;);
PJRT_ARGS(LoadedExecutable_GetDeviceAssignment, PJRT_LoadedExecutable* executable; const char* serialized_bytes;
          size_t serialized_bytes_size; PJRT_SerializedDeviceAssignment * serialized_device_assignment;
          void (*serialized_device_assignment_deleter)(PJRT_SerializedDeviceAssignment* owner););
PJRT_ARGS(Client_CreateErrorBuffer, PJRT_Client* client; PJRT_Error_Code error_code; const char* error_message;
          size_t error_message_size; const int64_t* shape_dims; size_t shape_num_dims;
          PJRT_Buffer_Type shape_element_type; PJRT_Buffer_MemoryLayout * shape_layout; PJRT_Memory * memory;
          PJRT_Buffer * buffer; const PJRT_NamedValue* payload; size_t num_payload;);
PJRT_ARGS(AsyncHostToDeviceTransferManager_TransferLiteral, PJRT_AsyncHostToDeviceTransferManager* transfer_manager;
          int buffer_index; const void* data; const int64_t* shape_dims; size_t shape_num_dims;
          PJRT_Buffer_Type shape_element_type; PJRT_Buffer_MemoryLayout * shape_layout;
          PJRT_Event * done_with_h2d_transfer;);
PJRT_ARGS(Buffer_CopyRawToHostFuture, PJRT_Buffer* buffer; int64_t offset; int64_t transfer_size; PJRT_Event * event;
          void* callback_data; void (*future_ready_callback)(PJRT_Buffer_CopyRawToHostFuture_Callback_Args* args););
PJRT_ARGS(Device_PoisonExecution, PJRT_Device* device; int launch_id; PJRT_Error_Code error_code;
          const char* error_message; size_t error_message_size; bool poisoned; const PJRT_NamedValue* payload;
          size_t num_payload;);
PJRT_ARGS(Device_CreateAsyncTrackingEvent, PJRT_Device* device; const char* description; size_t description_size;
          PJRT_AsyncTrackingEvent * event;);
PJRT_ARGS(AsyncTrackingEvent_Destroy, PJRT_AsyncTrackingEvent* event;);
PJRT_ARGS(Executable_GetCompileOptions, PJRT_Executable* executable; const char* serialized_bytes;
          size_t serialized_bytes_size; PJRT_SerializedCompileOptions * serialized_compile_options;
          void (*serialized_compile_options_deleter)(PJRT_SerializedCompileOptions* owner););
PJRT_ARGS(Buffer_DonateWithControlDependency, PJRT_Buffer* buffer; void* callback_data;
          void (*dependency_ready_callback)(PJRT_Buffer_DonateWithControlDependency_Callback_Args* args);
          PJRT_Buffer * out_buffer;);
PJRT_ARGS(Event_Create, PJRT_Event* event;);
PJRT_ARGS(Event_Set, PJRT_Event* event; PJRT_Error_Code error_code; const char* error_message;
          size_t error_message_size;);
PJRT_ARGS(Device_GetAttributes, PJRT_Device* device; const PJRT_NamedValue* attributes; size_t num_attributes;
          PJRT_Device_AttributesOwner * device_attributes;
          void (*attributes_deleter)(PJRT_Device_AttributesOwner* owner););
PJRT_ARGS(Client_Load, PJRT_Client* client; PJRT_Executable * executable; const char* compile_options;
          size_t compile_options_size; PJRT_LoadedExecutable * loaded_executable;);
PJRT_ARGS(LoadedExecutable_AddressableDeviceLogicalIds, PJRT_LoadedExecutable* executable;
          const PJRT_LogicalDeviceIds* addressable_device_logical_ids; size_t num_addressable_device_logical_ids;);
PJRT_ARGS(Buffer_Bitcast, PJRT_Buffer* buffer; PJRT_Buffer_Type element_type; const int64_t* dims; size_t num_dims;
          PJRT_Buffer_MemoryLayout * device_layout; PJRT_Buffer * out_buffer;);
PJRT_ARGS(Error_ForEachPayload, const PJRT_Error* error; PJRT_Error_PayloadVisitor * visitor; void* user_arg;);
PJRT_ARGS(TopologyDescription_Fingerprint, PJRT_TopologyDescription* topology; uint64_t fingerprint;);
PJRT_ARGS(Executable_ParameterMemoryKinds, PJRT_Executable* executable; size_t num_parameters;
          const char* const* memory_kinds; const size_t* memory_kind_sizes;);
PJRT_ARGS(Device_ClearMemoryStats, PJRT_Device* device;);
PJRT_ARGS(TopologyDescription_MakeCanonicalShapeForMemorySpace, PJRT_TopologyDescription* topology;
          int memory_space_kind_id; const int64_t* dims; size_t num_dims; PJRT_Buffer_Type element_type;
          PJRT_Buffer_MemoryLayout * layout; const char* serialized_shape; size_t serialized_shape_size;
          void (*serialized_shape_deleter)(const char* serialized_shape););
PJRT_ARGS(TopologyDescription_GetMemorySpaceKindIds, PJRT_TopologyDescription* topology;
          const int* memory_space_kind_ids; size_t num_memory_space_kind_ids;);

#undef PJRT_ARGS

/* All functions but the first two, which return nothing. */
/* clang-format off */
#define PJRT_FUNCTIONS(X) \
  X(Error_GetCode) X(Plugin_Initialize) X(Plugin_Attributes) X(Event_Destroy) X(Event_IsReady) X(Event_Error) \
  X(Event_Await) X(Event_OnReady) X(Client_Create) X(Client_Destroy) X(Client_PlatformName) X(Client_ProcessIndex) \
  X(Client_PlatformVersion) X(Client_Devices) X(Client_AddressableDevices) X(Client_LookupDevice) \
  X(Client_LookupAddressableDevice) X(Client_AddressableMemories) X(Client_Compile) X(Client_DefaultDeviceAssignment) \
  X(Client_BufferFromHostBuffer) X(DeviceDescription_Id) X(DeviceDescription_ProcessIndex) \
  X(DeviceDescription_Attributes) X(DeviceDescription_Kind) X(DeviceDescription_DebugString) \
  X(DeviceDescription_ToString) X(Device_GetDescription) X(Device_IsAddressable) X(Device_LocalHardwareId) \
  X(Device_AddressableMemories) X(Device_DefaultMemory) X(Device_MemoryStats) X(Memory_Id) X(Memory_Kind) \
  X(Memory_DebugString) X(Memory_ToString) X(Memory_AddressableByDevices) X(Executable_Destroy) X(Executable_Name) \
  X(Executable_NumReplicas) X(Executable_NumPartitions) X(Executable_NumOutputs) \
  X(Executable_SizeOfGeneratedCodeInBytes) X(Executable_GetCostAnalysis) X(Executable_OutputMemoryKinds) \
  X(Executable_OptimizedProgram) X(Executable_Serialize) X(LoadedExecutable_Destroy) \
  X(LoadedExecutable_GetExecutable) X(LoadedExecutable_AddressableDevices) X(LoadedExecutable_Delete) \
  X(LoadedExecutable_IsDeleted) X(LoadedExecutable_Execute) X(Executable_DeserializeAndLoad) \
  X(LoadedExecutable_Fingerprint) X(Buffer_Destroy) X(Buffer_ElementType) X(Buffer_Dimensions) \
  X(Buffer_UnpaddedDimensions) X(Buffer_DynamicDimensionIndices) X(Buffer_GetMemoryLayout) \
  X(Buffer_OnDeviceSizeInBytes) X(Buffer_Device) X(Buffer_Memory) X(Buffer_Delete) X(Buffer_IsDeleted) \
  X(Buffer_CopyToDevice) X(Buffer_ToHostBuffer) X(Buffer_IsOnCpu) X(Buffer_ReadyEvent) X(Buffer_UnsafePointer) \
  X(Buffer_IncreaseExternalReferenceCount) X(Buffer_DecreaseExternalReferenceCount) \
  X(Buffer_OpaqueDeviceMemoryDataPointer) X(CopyToDeviceStream_Destroy) X(CopyToDeviceStream_AddChunk) \
  X(CopyToDeviceStream_TotalBytes) X(CopyToDeviceStream_GranuleSize) X(CopyToDeviceStream_CurrentBytes) \
  X(TopologyDescription_Create) X(TopologyDescription_Destroy) X(TopologyDescription_PlatformName) \
  X(TopologyDescription_PlatformVersion) X(TopologyDescription_GetDeviceDescriptions) \
  X(TopologyDescription_Serialize) X(TopologyDescription_Attributes) X(Compile) X(Executable_OutputElementTypes) \
  X(Executable_OutputDimensions) X(Buffer_CopyToMemory) X(Client_CreateViewOfDeviceBuffer) X(Executable_Fingerprint) \
  X(Client_TopologyDescription) X(Executable_GetCompiledMemoryStats) X(Memory_Kind_Id) X(ExecuteContext_Create) \
  X(ExecuteContext_Destroy) X(Buffer_CopyRawToHost) X(AsyncHostToDeviceTransferManager_Destroy) \
  X(AsyncHostToDeviceTransferManager_TransferData) X(Client_CreateBuffersForAsyncHostToDevice) \
  X(AsyncHostToDeviceTransferManager_RetrieveBuffer) X(AsyncHostToDeviceTransferManager_Device) \
  X(AsyncHostToDeviceTransferManager_BufferCount) X(AsyncHostToDeviceTransferManager_BufferSize) \
  X(AsyncHostToDeviceTransferManager_SetBufferError) X(AsyncHostToDeviceTransferManager_AddMetadata) X(Client_DmaMap) \
  X(Client_DmaUnmap) X(Client_CreateUninitializedBuffer) X(Client_UpdateGlobalProcessInfo) \
  X(TopologyDescription_Deserialize) X(Client_CreateAliasBuffer) X(Client_FulfillAliasBuffer) \
  X(LoadedExecutable_GetDeviceAssignment) X(Client_CreateErrorBuffer) \
  X(AsyncHostToDeviceTransferManager_TransferLiteral) X(Buffer_CopyRawToHostFuture) X(Device_PoisonExecution) \
  X(Device_CreateAsyncTrackingEvent) X(AsyncTrackingEvent_Destroy) X(Executable_GetCompileOptions) \
  X(Buffer_DonateWithControlDependency) X(Event_Create) X(Event_Set) X(Device_GetAttributes) X(Client_Load) \
  X(LoadedExecutable_AddressableDeviceLogicalIds) X(Buffer_Bitcast) X(Error_ForEachPayload) \
  X(TopologyDescription_Fingerprint) X(Executable_ParameterMemoryKinds) X(Device_ClearMemoryStats) \
  X(TopologyDescription_MakeCanonicalShapeForMemorySpace) X(TopologyDescription_GetMemorySpaceKindIds)
/* clang-format on */

typedef struct PJRT_Api {
  PJRT_HEAD;
  PJRT_Api_Version pjrt_api_version;
  void (*PJRT_Error_Destroy)(PJRT_Error_Destroy_Args* args);
  void (*PJRT_Error_Message)(PJRT_Error_Message_Args* args);
#define PJRT_SLOT(function) PJRT_Error* (*PJRT_##function)(PJRT_##function##_Args * args);
  PJRT_FUNCTIONS(PJRT_SLOT)
#undef PJRT_SLOT
} PJRT_Api;

/* The one function that the plugin exports. The table lasts as long as the process. */
const PJRT_Api* GetPjrtApi(void);

#ifdef __cplusplus
}
#endif

#endif /* HILO_PJRT_ABI_H_ */
