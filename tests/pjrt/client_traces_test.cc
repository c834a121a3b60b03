// The calls of clients that others wrote, in their order and with their choices of optional arguments, as their sources
// have them: gopjrt (GoMLX), EXLA, Reactant.jl, ZML and the crate pjrt for Rust.
#include <cstring>
#include <future>

#include "hlo/import/hlo_proto.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/ffi/xla_ffi_abi.h"
#include "tests/pjrt/plugin.h"

namespace hilo::pjrt_test {
namespace {

constexpr char kStep[] = R"(module @step {
  func.func @main(%w: tensor<2x3xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<f32>) {
    %sum = stablehlo.add %w, %x : tensor<2x3xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %total = stablehlo.reduce(%sum init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
    return %sum, %total : tensor<2x3xf32>, tensor<f32>
  }
})";
const std::vector<int64_t> kDims = {2, 3};
const std::vector<float> kW = {1, 2, 3, 4, 5, 6}, kX = {10, 20, 30, 40, 50, 60}, kSum = {11, 22, 33, 44, 55, 66};

struct BuildOptions {
  int64_t device_ordinal = -1, replicas = 1, partitions = 1;
  bool portable = false, spmd = false, shardy = false;
  std::vector<int64_t> assignment = {};  // a device for each partition
};

std::string CompileOptions(const BuildOptions& given) {
  WireWriter build, options;
  build.PutInt(1, given.device_ordinal);
  build.Int(4, given.replicas);
  build.Int(5, given.partitions);
  build.Bool(6, given.spmd);
  build.Bool(19, given.shardy);
  if (!given.assignment.empty()) {
    WireWriter assignment;
    assignment.PutInt(1, given.replicas);
    assignment.PutInt(2, given.partitions);
    for (const int64_t device : given.assignment) {
      WireWriter devices;
      devices.Ints(1, {device});
      assignment.Message(3, devices);
    }
    build.Message(9, assignment);
  }
  options.Message(3, build);
  options.Bool(4, given.portable);
  return std::move(options).Take();
}

class ClientTraces : public PluginTest {
 protected:
  void SetUp() override {}  // each client makes its own

  PJRT_LoadedExecutable* Build(const std::string& code, const std::string& format, const BuildOptions& options) {
    return Compile(code, CompileOptions(options), format);
  }
  // What XLA's own C++ client, on which EXLA and Reactant stand, asks before its user does.
  void OpenAsXlaDoes() {
    PJRT_CALL(Plugin_Initialize);
    const auto attributes = PJRT_CALL(Plugin_Attributes);
    EXPECT_GT(attributes.num_attributes, 0u);
    client_ = PJRT_CALL(Client_Create).client;
    PJRT_CALL(Client_PlatformName, .client = client_);
    PJRT_CALL(Client_PlatformVersion, .client = client_);
    EXPECT_EQ(PJRT_CALL(Client_ProcessIndex, .client = client_).process_index, 0);
    const auto all = PJRT_CALL(Client_Devices, .client = client_);
    devices_.assign(all.devices, all.devices + all.num_devices);
    for (PJRT_Device* device : devices_) {
      PJRT_DeviceDescription* const description = PJRT_CALL(Device_GetDescription, .device = device).device_description;
      PJRT_CALL(DeviceDescription_Id, .device_description = description);
      PJRT_CALL(DeviceDescription_ProcessIndex, .device_description = description);
      PJRT_CALL(DeviceDescription_Attributes, .device_description = description);
      PJRT_CALL(DeviceDescription_Kind, .device_description = description);
      PJRT_CALL(DeviceDescription_DebugString, .device_description = description);
      PJRT_CALL(DeviceDescription_ToString, .device_description = description);
      PJRT_CALL(Device_LocalHardwareId, .device = device);
    }
    EXPECT_EQ(PJRT_CALL(Client_AddressableDevices, .client = client_).num_addressable_devices, devices_.size());
    const auto memories = PJRT_CALL(Client_AddressableMemories, .client = client_);
    for (size_t i = 0; i < memories.num_addressable_memories; ++i) {
      PJRT_Memory* const memory = memories.addressable_memories[i];
      PJRT_CALL(Memory_Id, .memory = memory);
      PJRT_CALL(Memory_Kind, .memory = memory);
      PJRT_CALL(Memory_Kind_Id, .memory = memory);
      PJRT_CALL(Memory_DebugString, .memory = memory);
      PJRT_CALL(Memory_ToString, .memory = memory);
      EXPECT_GT(PJRT_CALL(Memory_AddressableByDevices, .memory = memory).num_devices, 0u);
    }
    PJRT_CALL(Client_TopologyDescription, .client = client_);
  }
  PJRT_Memory* MemoryOf(PJRT_Device* device) { return PJRT_CALL(Device_DefaultMemory, .device = device).memory; }
  // An event's end as futures learn of it: by a callback, after which the event is destroyed.
  static void AwaitByCallback(PJRT_Event* event) {
    std::promise<std::string> error;
    PJRT_CALL(
        Event_OnReady, .event = event,
        .callback = [](PJRT_Error* e, void* to) { static_cast<std::promise<std::string>*>(to)->set_value(TextOf(e)); },
        .user_arg = &error);
    EXPECT_EQ(error.get_future().get(), "");
    PJRT_CALL(Event_Destroy, .event = event);
  }
  static PJRT_Buffer_MemoryLayout MinorToMajor(const std::vector<int64_t>& order) {
    PJRT_Buffer_MemoryLayout layout = Make<PJRT_Buffer_MemoryLayout>();
    layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
    layout.tiled.minor_to_major = order.data();  // gopjrt leaves the size of this inner struct at 0
    layout.tiled.minor_to_major_size = order.size();
    return layout;
  }
};

TEST_F(ClientTraces, GoMlx) {
  // Its events are destroyed with arguments whose chain of extensions is what the stack held.
  const auto destroy = [](PJRT_Event* event) {
    PJRT_Event_Destroy_Args args;
    std::memset(&args, 0xa5, sizeof(args));
    args.struct_size = sizeof(args);
    args.event = event;
    EXPECT_EQ(TextOf(Api()->PJRT_Event_Destroy(&args)), "");
  };
  PJRT_CALL(Plugin_Initialize);
  PJRT_CALL(Plugin_Attributes);
  client_ = PJRT_CALL(Client_Create).client;
  PJRT_CALL(Client_PlatformName, .client = client_);
  PJRT_CALL(Client_ProcessIndex, .client = client_);
  const auto addressable = PJRT_CALL(Client_AddressableDevices, .client = client_);
  devices_.assign(addressable.addressable_devices,
                  addressable.addressable_devices + addressable.num_addressable_devices);
  EXPECT_TRUE(PJRT_CALL(Device_IsAddressable, .device = devices_[0]).is_addressable);

  const auto module = ParseHloModule(R"(HloModule axpy
ENTRY main { x = f32[2,3] parameter(0)  y = f32[2,3] parameter(1)  ROOT s = f32[2,3] add(x, y) })",
                                     {});
  ASSERT_TRUE(module.ok());
  PJRT_LoadedExecutable* const loaded = Build(*HloModuleToProto(**module), "hlo", {});
  PJRT_Executable* const executable = PJRT_CALL(LoadedExecutable_GetExecutable, .loaded_executable = loaded).executable;
  const auto name = PJRT_CALL(Executable_Name, .executable = executable);
  EXPECT_EQ(std::string(name.executable_name, name.executable_name_size), "axpy");
  EXPECT_EQ(PJRT_CALL(Executable_NumOutputs, .executable = executable).num_outputs, 1u);

  std::vector<PJRT_Buffer*> arguments;
  for (const std::vector<float>* values : {&kW, &kX}) {
    const auto copy = FromHost(values->data(), PJRT_Buffer_Type_F32, kDims);
    PJRT_CALL(Event_Await, .event = copy.done_with_host_buffer);
    destroy(copy.done_with_host_buffer);
    arguments.push_back(copy.buffer);
  }
  PJRT_ExecuteOptions options = Make<PJRT_ExecuteOptions>();
  const int64_t kept[] = {0, 1};
  options.non_donatable_input_indices = kept;
  options.num_non_donatable_input_indices = 2;
  PJRT_Buffer* const* lists[] = {arguments.data()};
  PJRT_Buffer* result = nullptr;
  PJRT_Buffer** outputs[] = {&result};
  PJRT_CALL(LoadedExecutable_Execute, .executable = loaded, .options = &options, .argument_lists = lists,
            .num_devices = 1, .num_args = 2, .output_lists = outputs, .execute_device = devices_[0]);
  EXPECT_EQ(PJRT_CALL(Buffer_ElementType, .buffer = result).type, PJRT_Buffer_Type_F32);
  EXPECT_EQ(PJRT_CALL(Buffer_Dimensions, .buffer = result).num_dims, 2u);
  EXPECT_EQ(PJRT_CALL(Buffer_ToHostBuffer, .src = result).dst_size, sizeof(float) * 6);
  std::vector<float> host(6);
  const std::vector<int64_t> row_major = {1, 0};
  PJRT_Buffer_MemoryLayout layout = MinorToMajor(row_major);
  PJRT_Event* const read = PJRT_CALL(Buffer_ToHostBuffer, .src = result, .host_layout = &layout, .dst = host.data(),
                                     .dst_size = host.size() * sizeof(float))
                               .event;
  PJRT_CALL(Event_Await, .event = read);
  destroy(read);
  EXPECT_EQ(host, kSum);

  // A buffer that shares memory with Go, and is read and written there.
  alignas(64) float shared[16] = {};
  PJRT_Buffer* const view =
      PJRT_CALL(Client_CreateViewOfDeviceBuffer, .client = client_, .device_buffer_ptr = shared, .dims = kDims.data(),
                .num_dims = 2, .element_type = PJRT_Buffer_Type_F32, .device = devices_[0])
          .buffer;
  std::memcpy(shared, kX.data(), sizeof(float) * 6);
  EXPECT_EQ(ToHost(view), kX);
  EXPECT_EQ(PJRT_CALL(Buffer_UnsafePointer, .buffer = view).buffer_pointer, reinterpret_cast<uintptr_t>(shared));
  for (PJRT_Buffer* buffer : {arguments[0], arguments[1], result, view}) Destroy(buffer);
  PJRT_CALL(Executable_Destroy, .executable = executable);
  Destroy(loaded);
}

TEST_F(ClientTraces, Exla) {
  OpenAsXlaDoes();
  PJRT_LoadedExecutable* const loaded = Build(kStep, "mlir", {.portable = true});
  PJRT_Executable* const executable = PJRT_CALL(LoadedExecutable_GetExecutable, .loaded_executable = loaded).executable;
  PJRT_CALL(Executable_Fingerprint, .executable = executable);
  int assigned = -1;
  PJRT_CALL(Client_DefaultDeviceAssignment, .client = client_, .num_replicas = 1, .num_partitions = 1,
            .default_assignment_size = 1, .default_assignment = &assigned);
  EXPECT_EQ(assigned, 0);
  // Binaries of Erlang stay where they are, at any alignment, until the buffer no longer needs them.
  std::vector<char> binary(1 + sizeof(float) * 6);
  std::memcpy(binary.data() + 1, kW.data(), sizeof(float) * 6);
  PJRT_Device* const device = PJRT_CALL(Client_LookupDevice, .client = client_, .id = assigned).device;
  const int64_t strides[] = {12, 4};
  std::promise<void> released;
  std::vector<PJRT_Buffer*> arguments;
  for (const void* data : {static_cast<const void*>(binary.data() + 1), static_cast<const void*>(kX.data())}) {
    const auto made =
        PJRT_CALL(Client_BufferFromHostBuffer, .client = client_, .data = data, .type = PJRT_Buffer_Type_F32,
                  .dims = kDims.data(), .num_dims = 2, .byte_strides = strides, .num_byte_strides = 2,
                  .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableZeroCopy, .memory = MemoryOf(device));
    PJRT_CALL(
        Event_OnReady, .event = made.done_with_host_buffer,
        .callback =
            [](PJRT_Error* error, void* to) {
              EXPECT_EQ(TextOf(error), "");
              if (to != nullptr) static_cast<std::promise<void>*>(to)->set_value();
            },
        .user_arg = arguments.empty() ? &released : nullptr);
    PJRT_CALL(Event_Destroy, .event = made.done_with_host_buffer);
    arguments.push_back(made.buffer);
  }
  std::vector<PJRT_Buffer*> results(2);
  PJRT_ExecuteOptions options = Make<PJRT_ExecuteOptions>();
  PJRT_Buffer* const* lists[] = {arguments.data()};
  PJRT_Buffer** outputs[] = {results.data()};
  PJRT_Event* end = nullptr;
  PJRT_CALL(LoadedExecutable_Execute, .executable = loaded, .options = &options, .argument_lists = lists,
            .num_devices = 1, .num_args = 2, .output_lists = outputs, .device_complete_events = &end,
            .execute_device = device);
  AwaitByCallback(end);
  EXPECT_TRUE(IsDeleted(arguments[0]));  // given up for the sum
  for (PJRT_Buffer* result : results) AwaitByCallback(PJRT_CALL(Buffer_ReadyEvent, .buffer = result).event);
  EXPECT_EQ(ToHost(results[0]), kSum);
  EXPECT_EQ(ToHost(results[1]), std::vector<float>{231});
  for (PJRT_Buffer* buffer : arguments) Destroy(buffer);
  released.get_future().get();
  PJRT_CALL(Buffer_Delete, .buffer = results[0]);
  EXPECT_TRUE(IsDeleted(results[0]));
  for (PJRT_Buffer* buffer : results) Destroy(buffer);
  const auto serialized = PJRT_CALL(Executable_Serialize, .executable = executable);
  PJRT_LoadedExecutable* const again =
      PJRT_CALL(Executable_DeserializeAndLoad, .client = client_, .serialized_executable = serialized.serialized_bytes,
                .serialized_executable_size = serialized.serialized_bytes_size)
          .loaded_executable;
  serialized.serialized_executable_deleter(serialized.serialized_executable);
  PJRT_CALL(Executable_Destroy, .executable = executable);
  Destroy(loaded);
  Destroy(again);
}

TEST_F(ClientTraces, Reactant) {
  // It registers a profiler before there is a client.
  EXPECT_NE(FindExtension<PJRT_Profiler_Extension>(PJRT_Extension_Type_Profiler), nullptr);
  OpenAsXlaDoes();
  PJRT_LoadedExecutable* const loaded = Build(kStep, "mlir", {.device_ordinal = 0, .assignment = {0}});
  EXPECT_EQ(PJRT_CALL(LoadedExecutable_AddressableDevices, .executable = loaded).num_addressable_devices, 1u);
  const auto from_host = FromHost(kW.data(), PJRT_Buffer_Type_F32, kDims);
  PJRT_CALL(Event_Destroy, .event = from_host.done_with_host_buffer);
  PJRT_Buffer* const made =
      PJRT_CALL(Client_CreateUninitializedBuffer, .client = client_, .shape_dims = kDims.data(), .shape_num_dims = 2,
                .shape_element_type = PJRT_Buffer_Type_F32, .memory = MemoryOf(devices_[0]))
          .buffer;
  // Memory of the CPU is written in place.
  EXPECT_TRUE(PJRT_CALL(Buffer_IsOnCpu, .buffer = made).is_on_cpu);
  std::memcpy(reinterpret_cast<void*>(PJRT_CALL(Buffer_UnsafePointer, .buffer = made).buffer_pointer), kX.data(),
              sizeof(float) * 6);
  std::vector<PJRT_Buffer*> results;
  ASSERT_EQ(Run(loaded, {from_host.buffer, made}, &results, {0, 1}), "");
  EXPECT_FALSE(IsDeleted(from_host.buffer));
  float part[2] = {};
  Await(PJRT_CALL(Buffer_CopyRawToHost, .buffer = results[0], .dst = part, .offset = 8, .transfer_size = 8).event);
  EXPECT_EQ(part[0], 33);
  EXPECT_EQ(part[1], 44);
  PJRT_Buffer* const there =
      PJRT_CALL(Buffer_CopyToMemory, .buffer = results[0], .dst_memory = MemoryOf(devices_[0])).dst_buffer;
  EXPECT_EQ(ToHost(there), kSum);
  ASSERT_EQ(results.size(), 2u);
  for (PJRT_Buffer* buffer : {from_host.buffer, made, results[0], results[1], there}) Destroy(buffer);
  Destroy(loaded);
}

TEST_F(ClientTraces, Zml) {
  PJRT_CALL(Plugin_Initialize);
  const PJRT_NamedValue option = IntOption("cpu_device_count", 4);
  client_ = PJRT_CALL(Client_Create, .create_options = &option, .num_options = 1).client;
  ASSERT_NE(client_, nullptr);
  const auto addressable = PJRT_CALL(Client_AddressableDevices, .client = client_);
  ASSERT_EQ(addressable.num_addressable_devices, 4u);
  devices_.assign(addressable.addressable_devices, addressable.addressable_devices + 4);
  const auto memories = PJRT_CALL(Client_AddressableMemories, .client = client_);
  for (PJRT_Device* device : devices_) {
    const auto own = PJRT_CALL(Device_AddressableMemories, .device = device);
    EXPECT_GT(own.num_memories, 0u);
    bool found = false;
    for (size_t i = 0; i < memories.num_addressable_memories; ++i)
      found |= memories.addressable_memories[i] == MemoryOf(device);
    EXPECT_TRUE(found);
  }
  // A custom call that prints is registered with each client.
  const auto* ffi = FindExtension<PJRT_FFI_Extension>(PJRT_Extension_Type_FFI);
  ASSERT_NE(ffi, nullptr);
  const std::string name = "zml$print", platform = "Host";
  const auto handler = +[](XLA_FFI_CallFrame*) -> XLA_FFI_Error* { return nullptr; };
  PJRT_FFI_Register_Handler_Args args = {PJRT_STRUCT_SIZE(PJRT_FFI_Register_Handler_Args, traits),
                                         name.data(),
                                         name.size(),
                                         reinterpret_cast<void*>(handler),
                                         platform.data(),
                                         platform.size(),
                                         0};
  ASSERT_EQ(TextOf(ffi->register_handler(&args)), "");

  // Layouts are those that the plugin says it prefers.
  const auto* layouts = FindExtension<PJRT_Layouts_Extension>(PJRT_Extension_Type_Layouts);
  ASSERT_NE(layouts, nullptr);
  auto preferred = Make<PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args>();
  preferred.client = client_;
  preferred.type = PJRT_Buffer_Type_F32;
  preferred.dims = kDims.data();
  preferred.num_dims = size_t{1} << 40;
  EXPECT_NE(TextOf(layouts->client_get_default_layout(&preferred)).find("at most 4096 dimensions"), std::string::npos);
  preferred.num_dims = 2;
  ASSERT_EQ(TextOf(layouts->client_get_default_layout(&preferred)), "");
  auto text = Make<PJRT_Layouts_MemoryLayout_Serialize_Args>();
  text.layout = preferred.layout;
  ASSERT_EQ(TextOf(layouts->memory_layout_serialize(&text)), "");
  EXPECT_EQ(std::string(text.serialized_bytes, text.serialized_bytes_size), "{1,0}");
  text.serialized_layout_deleter(text.serialized_layout);
  auto destroyed = Make<PJRT_Layouts_MemoryLayout_Destroy_Args>();
  destroyed.layout = preferred.layout;
  ASSERT_EQ(TextOf(layouts->memory_layout_destroy(&destroyed)), "");

  const auto loaded = Build(kStep, "mlir", {.spmd = true, .shardy = true, .assignment = {2}});
  const std::vector<int64_t> row_major = {1, 0};
  PJRT_Buffer_MemoryLayout layout = MinorToMajor(row_major);
  const int64_t strides[] = {12, 4};
  PJRT_CALL(Client_DmaMap, .client = client_, .data = const_cast<float*>(kW.data()), .size = sizeof(float) * 6);
  std::vector<PJRT_Buffer*> arguments;
  for (const std::vector<float>* values : {&kW, &kX}) {
    const auto made =
        PJRT_CALL(Client_BufferFromHostBuffer, .client = client_, .data = values->data(), .type = PJRT_Buffer_Type_F32,
                  .dims = kDims.data(), .num_dims = 2, .byte_strides = strides, .num_byte_strides = 2,
                  .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes,
                  .memory = MemoryOf(devices_[2]), .device_layout = &layout);
    if (made.done_with_host_buffer != nullptr) PJRT_CALL(Event_Destroy, .event = made.done_with_host_buffer);
    arguments.push_back(made.buffer);
  }
  PJRT_Buffer* const scratch =
      PJRT_CALL(Client_CreateUninitializedBuffer, .client = client_, .shape_dims = kDims.data(), .shape_num_dims = 2,
                .shape_element_type = PJRT_Buffer_Type_F32, .shape_layout = &layout, .memory = MemoryOf(devices_[2]))
          .buffer;
  PJRT_ExecuteContext* const context = PJRT_CALL(ExecuteContext_Create).context;
  PJRT_ExecuteOptions options = Make<PJRT_ExecuteOptions>();
  options.context = context;
  std::vector<PJRT_Buffer*> results(2);
  PJRT_Buffer* const* lists[] = {arguments.data()};
  PJRT_Buffer** outputs[] = {results.data()};
  PJRT_CALL(LoadedExecutable_Execute, .executable = loaded, .options = &options, .argument_lists = lists,
            .num_devices = 1, .num_args = 2, .output_lists = outputs);
  for (PJRT_Buffer* result : results) AwaitByCallback(PJRT_CALL(Buffer_ReadyEvent, .buffer = result).event);
  std::vector<float> host(6);
  PJRT_Event* const read =
      PJRT_CALL(Buffer_ToHostBuffer, .src = results[0], .dst = host.data(), .dst_size = host.size() * sizeof(float))
          .event;
  if (read != nullptr) AwaitByCallback(read);
  EXPECT_EQ(host, kSum);
  PJRT_CALL(Client_DmaUnmap, .client = client_, .data = const_cast<float*>(kW.data()));
  for (PJRT_Buffer* buffer : {arguments[0], arguments[1], scratch, results[0], results[1]}) Destroy(buffer);
  PJRT_CALL(ExecuteContext_Destroy, .context = context);
  Destroy(loaded);
}

TEST_F(ClientTraces, RustPjrt) {
  // It keeps a copy of the table, as large as the plugin says it is.
  std::vector<char> table(Api()->struct_size);
  std::memcpy(table.data(), Api(), table.size());
  const auto* api = reinterpret_cast<const PJRT_Api*>(table.data());
  auto initialize = Make<PJRT_Plugin_Initialize_Args>();
  EXPECT_EQ(TextOf(api->PJRT_Plugin_Initialize(&initialize)), "");
  client_ = PJRT_CALL(Client_Create).client;
  const auto addressable = PJRT_CALL(Client_AddressableDevices, .client = client_);
  devices_.assign(addressable.addressable_devices,
                  addressable.addressable_devices + addressable.num_addressable_devices);
  PJRT_LoadedExecutable* const loaded = Build(kStep, "mlir", {});
  const auto x = FromHost(kX.data(), PJRT_Buffer_Type_F32, kDims,
                          PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes, {12, 4});
  Await(x.done_with_host_buffer);

  // The other argument comes in parts.
  PJRT_ShapeSpec spec = Make<PJRT_ShapeSpec>();
  spec.dims = kDims.data();
  spec.num_dims = 2;
  spec.element_type = PJRT_Buffer_Type_F32;
  PJRT_AsyncHostToDeviceTransferManager* const manager =
      PJRT_CALL(Client_CreateBuffersForAsyncHostToDevice, .client = client_, .shape_specs = &spec, .num_shape_specs = 1,
                .memory = MemoryOf(devices_[0]))
          .transfer_manager;
  PJRT_Buffer* const w =
      PJRT_CALL(AsyncHostToDeviceTransferManager_RetrieveBuffer, .transfer_manager = manager, .buffer_index = 0)
          .buffer_out;
  PJRT_Event* const sent =
      PJRT_CALL(AsyncHostToDeviceTransferManager_TransferData, .transfer_manager = manager, .buffer_index = 0,
                .data = kW.data(), .offset = 0, .transfer_size = sizeof(float) * 6, .is_last_transfer = true)
          .done_with_h2d_transfer;
  PJRT_CALL(AsyncHostToDeviceTransferManager_Destroy, .transfer_manager = manager);
  Await(sent);

  PJRT_Executable* const executable = PJRT_CALL(LoadedExecutable_GetExecutable, .loaded_executable = loaded).executable;
  EXPECT_EQ(PJRT_CALL(Executable_NumOutputs, .executable = executable).num_outputs, 2u);
  PJRT_CALL(Executable_Destroy, .executable = executable);
  std::vector<PJRT_Buffer*> results;
  ASSERT_EQ(Run(loaded, {w, x.buffer}, &results), "");
  // A copy to the host asks for the size first; a client may go before its buffers.
  EXPECT_EQ(ToHost(results[0]), kSum);
  Destroy(loaded);
  PJRT_CALL(Client_Destroy, .client = client_);
  client_ = nullptr;
  EXPECT_EQ(ToHost(results[1]), std::vector<float>{231});
  for (PJRT_Buffer* buffer : {w, x.buffer, results[0], results[1]}) Destroy(buffer);
}

}  // namespace
}  // namespace hilo::pjrt_test
