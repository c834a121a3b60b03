/* The PJRT C API, version 0.112, as far as layout goes: what a framework such as JAX calls in a plugin. The layout of
   these structs is a contract with binaries; names, numbers and order are XLA's. Valid as C and as C++.

   A plugin exports GetPjrtApi(), which returns a table of functions. Each function takes one struct, arguments and
   results together, and returns null or an error that the caller destroys. pjrt/abi_types.h has what the arguments
   consist of, and says what the size at the start of each struct means. */
#ifndef HILO_PJRT_ABI_H_
#define HILO_PJRT_ABI_H_

#include "pjrt/abi_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PJRT_API_MAJOR 0
#define PJRT_API_MINOR 112

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
