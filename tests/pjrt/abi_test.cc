// The layout of the PJRT C API against a table of the end of each struct's last field, which was written down apart
// from the declarations.
#include "pjrt/abi_extensions.h"

namespace {

#define ROW(slot, function, last_field, size)                                             \
  static_assert(PJRT_STRUCT_SIZE(PJRT_##function##_Args, last_field) == size, #function); \
  static_assert(offsetof(PJRT_Api, PJRT_##function) == 40 + 8 * slot, #function)

ROW(0, Error_Destroy, error, 24);
ROW(1, Error_Message, message_size, 40);
ROW(2, Error_GetCode, code, 28);
ROW(3, Plugin_Initialize, extension_start, 16);
ROW(4, Plugin_Attributes, num_attributes, 32);
ROW(5, Event_Destroy, event, 24);
ROW(6, Event_IsReady, is_ready, 25);
ROW(7, Event_Error, event, 24);
ROW(8, Event_Await, event, 24);
ROW(9, Event_OnReady, user_arg, 40);
ROW(10, Client_Create, kv_try_get_user_arg, 88);
ROW(11, Client_Destroy, client, 24);
ROW(12, Client_PlatformName, platform_name_size, 40);
ROW(13, Client_ProcessIndex, process_index, 28);
ROW(14, Client_PlatformVersion, platform_version_size, 40);
ROW(15, Client_Devices, num_devices, 40);
ROW(16, Client_AddressableDevices, num_addressable_devices, 40);
ROW(17, Client_LookupDevice, device, 40);
ROW(18, Client_LookupAddressableDevice, addressable_device, 40);
ROW(19, Client_AddressableMemories, num_addressable_memories, 40);
ROW(20, Client_Compile, executable, 56);
ROW(21, Client_DefaultDeviceAssignment, default_assignment, 48);
ROW(22, Client_BufferFromHostBuffer, buffer, 120);
ROW(23, DeviceDescription_Id, id, 28);
ROW(24, DeviceDescription_ProcessIndex, process_index, 28);
ROW(25, DeviceDescription_Attributes, attributes, 40);
ROW(26, DeviceDescription_Kind, device_kind_size, 40);
ROW(27, DeviceDescription_DebugString, debug_string_size, 40);
ROW(28, DeviceDescription_ToString, to_string_size, 40);
ROW(29, Device_GetDescription, device_description, 32);
ROW(30, Device_IsAddressable, is_addressable, 25);
ROW(31, Device_LocalHardwareId, local_hardware_id, 28);
ROW(32, Device_AddressableMemories, num_memories, 40);
ROW(33, Device_DefaultMemory, memory, 32);
ROW(34, Device_MemoryStats, peak_allocated_bytes_is_set, 201);
ROW(35, Memory_Id, id, 28);
ROW(36, Memory_Kind, kind_size, 40);
ROW(37, Memory_DebugString, debug_string_size, 40);
ROW(38, Memory_ToString, to_string_size, 40);
ROW(39, Memory_AddressableByDevices, num_devices, 40);
ROW(40, Executable_Destroy, executable, 24);
ROW(41, Executable_Name, executable_name_size, 40);
ROW(42, Executable_NumReplicas, num_replicas, 32);
ROW(43, Executable_NumPartitions, num_partitions, 32);
ROW(44, Executable_NumOutputs, num_outputs, 32);
ROW(45, Executable_SizeOfGeneratedCodeInBytes, size_in_bytes, 32);
ROW(46, Executable_GetCostAnalysis, properties, 40);
ROW(47, Executable_OutputMemoryKinds, memory_kind_sizes, 48);
ROW(48, Executable_OptimizedProgram, program, 32);
ROW(49, Executable_Serialize, serialized_executable_deleter, 56);
ROW(50, LoadedExecutable_Destroy, executable, 24);
ROW(51, LoadedExecutable_GetExecutable, executable, 32);
ROW(52, LoadedExecutable_AddressableDevices, num_addressable_devices, 40);
ROW(53, LoadedExecutable_Delete, executable, 24);
ROW(54, LoadedExecutable_IsDeleted, is_deleted, 25);
ROW(55, LoadedExecutable_Execute, execute_device, 80);
ROW(56, Executable_DeserializeAndLoad, load_options, 72);
ROW(57, LoadedExecutable_Fingerprint, executable_fingerprint_size, 40);
ROW(58, Buffer_Destroy, buffer, 24);
ROW(59, Buffer_ElementType, type, 28);
ROW(60, Buffer_Dimensions, num_dims, 40);
ROW(61, Buffer_UnpaddedDimensions, num_dims, 40);
ROW(62, Buffer_DynamicDimensionIndices, num_dynamic_dims, 40);
ROW(63, Buffer_GetMemoryLayout, layout, 104);
ROW(64, Buffer_OnDeviceSizeInBytes, on_device_size_in_bytes, 32);
ROW(65, Buffer_Device, device, 32);
ROW(66, Buffer_Memory, memory, 32);
ROW(67, Buffer_Delete, buffer, 24);
ROW(68, Buffer_IsDeleted, is_deleted, 25);
ROW(69, Buffer_CopyToDevice, dst_buffer, 40);
ROW(70, Buffer_ToHostBuffer, event, 56);
ROW(71, Buffer_IsOnCpu, is_on_cpu, 25);
ROW(72, Buffer_ReadyEvent, event, 32);
ROW(73, Buffer_UnsafePointer, buffer_pointer, 32);
ROW(74, Buffer_IncreaseExternalReferenceCount, buffer, 24);
ROW(75, Buffer_DecreaseExternalReferenceCount, buffer, 24);
ROW(76, Buffer_OpaqueDeviceMemoryDataPointer, device_memory_ptr, 32);
ROW(77, CopyToDeviceStream_Destroy, stream, 24);
ROW(78, CopyToDeviceStream_AddChunk, transfer_complete, 40);
ROW(79, CopyToDeviceStream_TotalBytes, total_bytes, 32);
ROW(80, CopyToDeviceStream_GranuleSize, granule_size_in_bytes, 32);
ROW(81, CopyToDeviceStream_CurrentBytes, current_bytes, 32);
ROW(82, TopologyDescription_Create, topology, 56);
ROW(83, TopologyDescription_Destroy, topology, 24);
ROW(84, TopologyDescription_PlatformName, platform_name_size, 40);
ROW(85, TopologyDescription_PlatformVersion, platform_version_size, 40);
ROW(86, TopologyDescription_GetDeviceDescriptions, num_descriptions, 40);
ROW(87, TopologyDescription_Serialize, serialized_topology_deleter, 56);
ROW(88, TopologyDescription_Attributes, num_attributes, 40);
ROW(89, Compile, executable, 64);
ROW(90, Executable_OutputElementTypes, num_output_types, 40);
ROW(91, Executable_OutputDimensions, dim_sizes, 48);
ROW(92, Buffer_CopyToMemory, dst_buffer, 40);
ROW(93, Client_CreateViewOfDeviceBuffer, memory, 112);
ROW(94, Executable_Fingerprint, executable_fingerprint_size, 40);
ROW(95, Client_TopologyDescription, topology, 32);
ROW(96, Executable_GetCompiledMemoryStats, peak_unpadded_heap_bytes, 144);
ROW(97, Memory_Kind_Id, kind_id, 28);
ROW(98, ExecuteContext_Create, context, 24);
ROW(99, ExecuteContext_Destroy, context, 24);
ROW(100, Buffer_CopyRawToHost, event, 56);
ROW(101, AsyncHostToDeviceTransferManager_Destroy, transfer_manager, 24);
ROW(102, AsyncHostToDeviceTransferManager_TransferData, done_with_h2d_transfer, 72);
ROW(103, Client_CreateBuffersForAsyncHostToDevice, transfer_manager, 72);
ROW(104, AsyncHostToDeviceTransferManager_RetrieveBuffer, buffer_out, 40);
ROW(105, AsyncHostToDeviceTransferManager_Device, device_out, 32);
ROW(106, AsyncHostToDeviceTransferManager_BufferCount, buffer_count, 32);
ROW(107, AsyncHostToDeviceTransferManager_BufferSize, buffer_size, 40);
ROW(108, AsyncHostToDeviceTransferManager_SetBufferError, error_message_size, 48);
ROW(109, AsyncHostToDeviceTransferManager_AddMetadata, num_metadata, 40);
ROW(110, Client_DmaMap, size, 40);
ROW(111, Client_DmaUnmap, data, 32);
ROW(112, Client_CreateUninitializedBuffer, buffer, 80);
ROW(113, Client_UpdateGlobalProcessInfo, num_process_infos, 40);
ROW(114, TopologyDescription_Deserialize, topology, 40);
ROW(115, Client_CreateAliasBuffer, fulfill_alias_buffer_cb, 80);
ROW(116, Client_FulfillAliasBuffer, fulfill_alias_buffer_cb, 64);
ROW(117, LoadedExecutable_GetDeviceAssignment, serialized_device_assignment_deleter, 56);
ROW(118, Client_CreateErrorBuffer, num_payload, 112);
ROW(119, AsyncHostToDeviceTransferManager_TransferLiteral, done_with_h2d_transfer, 80);
ROW(120, Buffer_CopyRawToHostFuture, future_ready_callback, 64);
ROW(121, Device_PoisonExecution, num_payload, 72);
ROW(122, Device_CreateAsyncTrackingEvent, event, 48);
ROW(123, AsyncTrackingEvent_Destroy, event, 24);
ROW(124, Executable_GetCompileOptions, serialized_compile_options_deleter, 56);
ROW(125, Buffer_DonateWithControlDependency, out_buffer, 48);
ROW(126, Event_Create, event, 24);
ROW(127, Event_Set, error_message_size, 48);
ROW(128, Device_GetAttributes, attributes_deleter, 56);
ROW(129, Client_Load, loaded_executable, 56);
ROW(130, LoadedExecutable_AddressableDeviceLogicalIds, num_addressable_device_logical_ids, 40);
ROW(131, Buffer_Bitcast, out_buffer, 64);
ROW(132, Error_ForEachPayload, user_arg, 40);
ROW(133, TopologyDescription_Fingerprint, fingerprint, 32);
ROW(134, Executable_ParameterMemoryKinds, memory_kind_sizes, 48);
ROW(135, Device_ClearMemoryStats, device, 24);
ROW(136, TopologyDescription_MakeCanonicalShapeForMemorySpace, serialized_shape_deleter, 88);
ROW(137, TopologyDescription_GetMemorySpaceKindIds, num_memory_space_kind_ids, 40);
#undef ROW

static_assert(sizeof(PJRT_Api) == 40 + 8 * 138);
static_assert(sizeof(PJRT_Api_Version) == 24);
static_assert(sizeof(PJRT_NamedValue) == 56 && offsetof(PJRT_NamedValue, int64_value) == 40);
static_assert(sizeof(PJRT_Buffer_MemoryLayout) == 80 && offsetof(PJRT_Buffer_MemoryLayout, type) == 72);
static_assert(sizeof(PJRT_Program) == 48);
static_assert(sizeof(PJRT_ExecuteOptions) == 144);
static_assert(sizeof(PJRT_ProcessInfo) == 48 && sizeof(PJRT_Chunk) == 32 && sizeof(PJRT_LogicalDeviceIds) == 8);
static_assert(PJRT_STRUCT_SIZE(PJRT_ShapeSpec, element_type) == 36);
static_assert(sizeof(PJRT_KeyValueGetCallback_Args) == 80 && sizeof(PJRT_KeyValueTryGetCallback_Args) == 72 &&
              sizeof(PJRT_KeyValuePutCallback_Args) == 64);
static_assert(sizeof(PJRT_Buffer_CopyRawToHostFuture_Callback_Args) == 48 &&
              sizeof(PJRT_Buffer_DonateWithControlDependency_Callback_Args) == 40);
static_assert(PJRT_Buffer_Type_F4E2M1FN == 29 && PJRT_Buffer_Type_TOKEN == 23 && PJRT_Error_Code_UNAUTHENTICATED == 16);
static_assert(sizeof(PJRT_Layouts_Extension) == 80 && sizeof(PJRT_Layouts_MemoryLayout_Serialize_Args) == 56 &&
              sizeof(PJRT_Layouts_PJRT_Executable_GetLayouts_Args) == 40);
static_assert(sizeof(PJRT_FFI_Extension) == 48 && sizeof(PJRT_FFI_Type_Register_Args) == 48 &&
              sizeof(PJRT_FFI_UserData_Add_Args) == 40 &&
              PJRT_STRUCT_SIZE(PJRT_FFI_Register_Handler_Args, traits) == 52);
static_assert(sizeof(PJRT_MemoryDescriptions_Extension) == 40 &&
              PJRT_STRUCT_SIZE(PJRT_MemoryDescription_Kind_Args, kind_id) == 44 &&
              sizeof(PJRT_DeviceDescription_MemoryDescriptions_Args) == 48);
static_assert(sizeof(PJRT_Shardings_Extension) == 40);

}  // namespace
