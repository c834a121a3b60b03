#include <cstring>
#include <memory>
#include <set>

#include "absl/strings/match.h"
#include "tests/pjrt/plugin.h"

namespace hilo::pjrt_test {
namespace {

TEST(TableTest, IsWhole) {
  EXPECT_EQ(Api()->struct_size, sizeof(PJRT_Api));
  EXPECT_EQ(Api()->pjrt_api_version.major_version, 0);
  EXPECT_EQ(Api()->pjrt_api_version.minor_version, 112);
  const auto* slots = reinterpret_cast<void* const*>(&Api()->PJRT_Error_Destroy);
  for (size_t i = 0; i < 138; ++i) EXPECT_NE(slots[i], nullptr) << i;
}

TEST(TableTest, RefusesNull) {
  EXPECT_EQ(TextOf(Api()->PJRT_Client_Devices(nullptr)), "3: expected a struct of arguments, got null");
  EXPECT_EQ(PJRT_ERROR(Client_Devices, .client = nullptr), "3: expected a PJRT_Client, got null");
  EXPECT_EQ(PJRT_ERROR(CopyToDeviceStream_Destroy, .stream = nullptr), "12: PJRT_CopyToDeviceStream_Destroy");
}

// Every function that has a handle to look at says so if it is null.
TEST(TableTest, RefusesNullHandles) {
  const std::set<std::string> without_handles = {
      "AsyncHostToDeviceTransferManager_AddMetadata",
      "Client_DmaMap",
      "Client_DmaUnmap",
      "Client_UpdateGlobalProcessInfo",
      "DeviceDescription_Attributes",
      "Device_GetAttributes",
      "Error_ForEachPayload",
      "Plugin_Attributes",
      "Plugin_Initialize",
      "TopologyDescription_Attributes",
      "TopologyDescription_GetMemorySpaceKindIds",
  };
  const std::set<std::string> makers = {"Client_Create", "Event_Create", "ExecuteContext_Create",
                                        "TopologyDescription_Create", "Device_CreateAsyncTrackingEvent"};
  const auto check = [&](const std::string& name, PJRT_Error* error) {
    const std::string text = TextOf(error);
    if (without_handles.count(name) > 0 || absl::EndsWith(name, "_Destroy")) {
      EXPECT_TRUE(text.empty() || absl::StartsWith(text, "12: ")) << name << ": " << text;
    } else {
      EXPECT_TRUE(absl::StartsWith(text, "3: ") || absl::StartsWith(text, "12: ")) << name << ": " << text;
    }
  };
#define CALL_WITH_NULL(function)                     \
  if (makers.count(#function) == 0) {                \
    auto args = Make<PJRT_##function##_Args>();      \
    check(#function, Api()->PJRT_##function(&args)); \
  }
  PJRT_FUNCTIONS(CALL_WITH_NULL)
#undef CALL_WITH_NULL
  auto message = Make<PJRT_Error_Message_Args>();
  Api()->PJRT_Error_Message(&message);
  EXPECT_EQ(std::string(message.message, message.message_size), "");
}

TEST(ClientTest, OptionsAreRefusedByName) {
  const PJRT_NamedValue option = IntOption("speed", 11);
  EXPECT_EQ(
      PJRT_ERROR(Client_Create, .create_options = &option, .num_options = 1),
      "3: there is no client option 'speed'; there are platform_name, backend, num_devices (cpu_device_count to other "
      "plugins), num_threads, memory_limit, cache_dir, num_nodes, node_id and coordinator");
  const PJRT_NamedValue nodes = IntOption("num_nodes", 2);
  EXPECT_EQ(PJRT_ERROR(Client_Create, .create_options = &nodes, .num_options = 1),
            "3: a client of several processes needs the callbacks of a key-value store");
  const PJRT_NamedValue backend = IntOption("backend", 2);
  EXPECT_EQ(PJRT_ERROR(Client_Create, .create_options = &backend, .num_options = 1),
            "3: option backend: expected a string");
}

TEST(ClientTest, MemoryLimitIsTold) {
  const PJRT_NamedValue limit = IntOption("memory_limit", 1 << 20);
  for (const int options : {0, 1}) {
    PJRT_Client* const client =
        PJRT_CALL(Client_Create, .create_options = &limit, .num_options = static_cast<size_t>(options)).client;
    PJRT_Device* const device = PJRT_CALL(Client_LookupDevice, .client = client, .id = 0).device;
    const auto stats = PJRT_CALL(Device_MemoryStats, .device = device);
    EXPECT_EQ(stats.bytes_limit_is_set, options == 1);
    EXPECT_EQ(stats.bytes_reservable_limit_is_set, options == 1);
    if (options == 1) {
      EXPECT_EQ(stats.bytes_limit, 1 << 20);
      EXPECT_EQ(stats.bytes_reservable_limit, 1 << 20);
    }
    PJRT_CALL(Client_Destroy, .client = client);
  }
}

TEST(ClientTest, TwoAtOnceAndAnyEnd) {
  PJRT_Client* const one = PJRT_CALL(Client_Create).client;
  PJRT_Client* const other = PJRT_CALL(Client_Create).client;
  const float value = 3;
  const auto device = PJRT_CALL(Client_LookupDevice, .client = other, .id = 0).device;
  const auto buffer = PJRT_CALL(Client_BufferFromHostBuffer, .client = other, .data = &value,
                                .type = PJRT_Buffer_Type_F32, .device = device);
  EXPECT_EQ(PJRT_ERROR(Client_LookupDevice, .client = one, .id = 7), "3: there is no device 7; the client has 1");
  EXPECT_EQ(PJRT_ERROR(Client_BufferFromHostBuffer, .client = one, .data = &value, .type = PJRT_Buffer_Type_F32,
                       .device = device),
            "12: transfers between two clients");
  // What a client has the other one gets by a copy.
  const auto there = PJRT_CALL(Client_LookupDevice, .client = one, .id = 0).device;
  const auto copy = PJRT_CALL(Buffer_CopyToDevice, .buffer = buffer.buffer, .dst_device = there).dst_buffer;
  EXPECT_EQ(PJRT_CALL(Buffer_Device, .buffer = copy).device, there);
  float copied = 0;
  PJRT_Event* const read =
      PJRT_CALL(Buffer_ToHostBuffer, .src = copy, .dst = &copied, .dst_size = sizeof(copied)).event;
  PJRT_CALL(Event_Await, .event = read);
  PJRT_CALL(Event_Destroy, .event = read);
  EXPECT_EQ(copied, value);
  PJRT_CALL(Buffer_Destroy, .buffer = copy);
  PJRT_CALL(Client_Destroy, .client = other);
  PJRT_CALL(Client_Destroy, .client = one);
  // The buffer keeps its client.
  EXPECT_EQ(PJRT_CALL(Buffer_Device, .buffer = buffer.buffer).device, device);
  PJRT_CALL(Event_Destroy, .event = buffer.done_with_host_buffer);
  PJRT_CALL(Buffer_Destroy, .buffer = buffer.buffer);
}

using BuffersTest = PluginTest;

TEST_F(BuffersTest, BringUp) {
  EXPECT_EQ(devices_.size(), 2u);
  const auto name = PJRT_CALL(Client_PlatformName, .client = client_);
  EXPECT_EQ(std::string(name.platform_name, name.platform_name_size), "hilo");
  const auto description = PJRT_CALL(Device_GetDescription, .device = devices_[1]).device_description;
  EXPECT_EQ(PJRT_CALL(DeviceDescription_Id, .device_description = description).id, 1);
  const auto memories = PJRT_CALL(Device_AddressableMemories, .device = devices_[1]);
  ASSERT_EQ(memories.num_memories, 3u);
  EXPECT_EQ(PJRT_CALL(Device_DefaultMemory, .device = devices_[1]).memory, memories.memories[0]);
  const auto kind = PJRT_CALL(Memory_Kind, .memory = memories.memories[1]);
  EXPECT_EQ(std::string(kind.kind, kind.kind_size), "pinned_host");
  EXPECT_EQ(PJRT_CALL(Memory_AddressableByDevices, .memory = memories.memories[1]).devices[0], devices_[1]);
  PJRT_CALL(Client_UpdateGlobalProcessInfo, .client = client_);
}

TEST_F(BuffersTest, StatsKeepWithinTheStruct) {
  PJRT_Buffer* const buffer = Floats(std::vector<float>(1000, 1));
  struct {
    PJRT_Device_MemoryStats_Args args = {};
    char guard[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  } call;
  std::memset(static_cast<void*>(&call.args), 0x55, sizeof(call.args));
  call.args.struct_size = 33;  // up to peak_bytes_in_use_is_set
  call.args.extension_start = nullptr;
  call.args.device = devices_[0];
  PJRT_Device_MemoryStats_Args before = call.args;
  EXPECT_EQ(TextOf(Api()->PJRT_Device_MemoryStats(&call.args)), "");
  EXPECT_GE(call.args.bytes_in_use, 4000);
  EXPECT_EQ(std::memcmp(reinterpret_cast<char*>(&call.args) + 33, reinterpret_cast<char*>(&before) + 33,
                        sizeof(call.args) - 33),
            0);
  Destroy(buffer);
}

TEST_F(BuffersTest, PeakStartsAgain) {
  const auto peak = [&] { return PJRT_CALL(Device_MemoryStats, .device = devices_[0]).peak_bytes_in_use; };
  PJRT_Buffer* const small = Floats(std::vector<float>(1000, 1));
  Destroy(Floats(std::vector<float>(1000000, 1)));
  EXPECT_GE(peak(), 4000000);
  PJRT_CALL(Device_ClearMemoryStats, .device = devices_[0]);
  EXPECT_GE(peak(), 4000);
  EXPECT_LT(peak(), 4000000);
  Destroy(small);
}

// Headers of the API up to version 0.70 tell a size that ends before the last field.
TEST_F(BuffersTest, AttributesOfThePluginForOlderCallers) {
  PJRT_Plugin_Attributes_Args args = {};
  args.struct_size = offsetof(PJRT_Plugin_Attributes_Args, num_attributes);
  args.num_attributes = 1000000;
  EXPECT_EQ(TextOf(Api()->PJRT_Plugin_Attributes(&args)), "");
  EXPECT_EQ(args.num_attributes, 3u);
}

TEST_F(BuffersTest, StridedSources) {
  const float matrix[] = {0, 1, 2, 3, 4, 5};
  const auto check = [&](const float* data, const std::vector<int64_t>& dims, const std::vector<int64_t>& strides,
                         const std::vector<float>& expected) {
    const auto args = FromHost(data, PJRT_Buffer_Type_F32, dims, PJRT_HostBufferSemantics_kImmutableZeroCopy, strides);
    EXPECT_EQ(ToHost(args.buffer), expected);
    Destroy(args.buffer);
    Await(args.done_with_host_buffer);  // the memory may have been used as it was
  };
  check(matrix, {3, 2}, {4, 12}, {0, 3, 1, 4, 2, 5});        // transposed
  check(matrix + 5, {2, 3}, {-12, -4}, {5, 4, 3, 2, 1, 0});  // from its end
  check(matrix, {2, 2}, {0, 4}, {0, 1, 0, 1});               // broadcast
  check(matrix, {2, 1, 2}, {8, 99, 4}, {0, 1, 2, 3});        // the stride of a dimension of one element
  std::vector<float> big(70 * 50 * 3), expected;
  for (size_t i = 0; i < big.size(); ++i) big[i] = static_cast<float>(i);
  for (int k = 0; k < 3; ++k) {
    for (int j = 0; j < 50; ++j) {
      for (int i = 0; i < 70; ++i) expected.push_back(big[(i * 50 + j) * 3 + k]);
    }
  }
  check(big.data(), {3, 50, 70}, {4, 12, 600}, expected);
  const auto empty =
      FromHost(matrix, PJRT_Buffer_Type_F32, {0, 3}, PJRT_HostBufferSemantics_kImmutableZeroCopy, {12, 4});
  EXPECT_EQ(PJRT_CALL(Buffer_ToHostBuffer, .src = empty.buffer).dst_size, 0u);
  EXPECT_NE(PointerOf(empty.buffer), nullptr);
  Destroy(empty.buffer);
  Await(empty.done_with_host_buffer);
}

// The int4 of ml_dtypes has zeros above its four bits, and so have the bytes that the host gets; Hilo's own are
// sign-extended.
TEST_F(BuffersTest, ValuesOfFewBitsHaveZerosAboveThem) {
  alignas(64) const uint8_t values[] = {0x0f, 0x07, 0x08, 0xf1};
  for (auto semantics :
       {PJRT_HostBufferSemantics_kImmutableOnlyDuringCall, PJRT_HostBufferSemantics_kImmutableZeroCopy}) {
    const auto args = FromHost(values, PJRT_Buffer_Type_S4, {4}, semantics);
    PJRT_CALL(Event_Destroy, .event = args.done_with_host_buffer);
    std::vector<uint8_t> back(4);
    Await(PJRT_CALL(Buffer_ToHostBuffer, .src = args.buffer, .dst = back.data(), .dst_size = 4).event);
    EXPECT_EQ(back, (std::vector<uint8_t>{0x0f, 0x07, 0x08, 0x01}));
    std::vector<int8_t> raw(4);
    Await(PJRT_CALL(Buffer_CopyRawToHost, .buffer = args.buffer, .dst = raw.data(), .transfer_size = 4).event);
    EXPECT_EQ(raw, (std::vector<int8_t>{-1, 7, -8, 1}));
    PJRT_CALL(Buffer_Destroy, .buffer = args.buffer);
  }
}

TEST_F(BuffersTest, AlignedMemoryIsUsedAsItIs) {
  alignas(64) float data[64] = {1, 2, 3};
  const auto args = FromHost(data, PJRT_Buffer_Type_F32, {64}, PJRT_HostBufferSemantics_kImmutableZeroCopy);
  EXPECT_EQ(PointerOf(args.buffer), data);
  EXPECT_FALSE(PJRT_CALL(Event_IsReady, .event = args.done_with_host_buffer).is_ready);
  EXPECT_EQ(PJRT_ERROR(Event_Error, .event = args.done_with_host_buffer), "9: the event has not happened yet");
  Destroy(args.buffer);
  Await(args.done_with_host_buffer);
  const auto copied = FromHost(data, PJRT_Buffer_Type_F32, {64});
  EXPECT_NE(PointerOf(copied.buffer), data);
  Await(copied.done_with_host_buffer);
  Destroy(copied.buffer);
}

TEST_F(BuffersTest, ExternalReferencesOutliveDeletion) {
  PJRT_Buffer* const buffer = Floats({1, 2, 3});
  PJRT_CALL(Buffer_IncreaseExternalReferenceCount, .buffer = buffer);
  const auto* data = static_cast<const float*>(PointerOf(buffer));
  PJRT_CALL(Buffer_Delete, .buffer = buffer);
  EXPECT_TRUE(IsDeleted(buffer));
  EXPECT_EQ(data[2], 3);
  EXPECT_EQ(PointerOf(buffer), data);
  PJRT_CALL(Buffer_DecreaseExternalReferenceCount, .buffer = buffer);
  EXPECT_EQ(PJRT_ERROR(Buffer_DecreaseExternalReferenceCount, .buffer = buffer),
            "9: the buffer has no external references");
  EXPECT_EQ(PJRT_ERROR(Buffer_UnsafePointer, .buffer = buffer), "9: the buffer of f32[3] has been deleted");
  PJRT_Event* const ready = PJRT_CALL(Buffer_ReadyEvent, .buffer = buffer).event;
  EXPECT_EQ(PJRT_ERROR(Event_Await, .event = ready), "3: the buffer of f32[3] has been deleted");
  PJRT_CALL(Event_Destroy, .event = ready);
  Destroy(buffer);
}

TEST_F(BuffersTest, LayoutsOfTheHost) {
  const float matrix[] = {0, 1, 2, 3, 4, 5};
  const auto args = FromHost(matrix, PJRT_Buffer_Type_F32, {2, 3});
  PJRT_CALL(Event_Destroy, .event = args.done_with_host_buffer);
  PJRT_Buffer_MemoryLayout layout = Make<PJRT_Buffer_MemoryLayout>();
  const int64_t order[] = {0, 1};
  layout.tiled.minor_to_major = order;
  layout.tiled.minor_to_major_size = 2;
  std::vector<float> values(6);
  Await(PJRT_CALL(Buffer_ToHostBuffer, .src = args.buffer, .host_layout = &layout, .dst = values.data(), .dst_size = 24)
            .event);
  EXPECT_EQ(values, (std::vector<float>{0, 3, 1, 4, 2, 5}));
  const int64_t twice[] = {1, 1};
  layout.tiled.minor_to_major = twice;
  EXPECT_NE(
      PJRT_ERROR(Buffer_ToHostBuffer, .src = args.buffer, .host_layout = &layout, .dst = values.data(), .dst_size = 24),
      "");
  EXPECT_EQ(PJRT_ERROR(Buffer_ToHostBuffer, .src = args.buffer, .dst = values.data(), .dst_size = 20),
            "3: expected room for 24 bytes, got 20");
  float last;
  Await(PJRT_CALL(Buffer_CopyRawToHost, .buffer = args.buffer, .dst = &last, .offset = 20, .transfer_size = 4).event);
  EXPECT_EQ(last, 5);
  EXPECT_EQ(PJRT_ERROR(Buffer_CopyRawToHost, .buffer = args.buffer, .dst = &last, .offset = 21, .transfer_size = 4),
            "3: 4 bytes at 21 are not within the buffer's 24");
  Destroy(args.buffer);
}

TEST_F(BuffersTest, CopiesBetweenDevices) {
  PJRT_Buffer* const buffer = Floats({1, 2});
  PJRT_Buffer* const moved = PJRT_CALL(Buffer_CopyToDevice, .buffer = buffer, .dst_device = devices_[1]).dst_buffer;
  Destroy(buffer);
  EXPECT_EQ(PJRT_CALL(Buffer_Device, .buffer = moved).device, devices_[1]);
  PJRT_Memory* const pinned = PJRT_CALL(Device_AddressableMemories, .device = devices_[1]).memories[2];
  PJRT_Buffer* const kept = PJRT_CALL(Buffer_CopyToMemory, .buffer = moved, .dst_memory = pinned).dst_buffer;
  PJRT_CALL(Buffer_Delete, .buffer = moved);
  EXPECT_EQ(PJRT_CALL(Buffer_Memory, .buffer = kept).memory, pinned);
  EXPECT_EQ(ToHost(kept), (std::vector<float>{1, 2}));
  Destroy(moved);
  Destroy(kept);
}

TEST_F(BuffersTest, Views_ReleaseTheirMemory) {
  alignas(64) float data[16] = {4};
  const int64_t dims[] = {16};
  bool gone = false;
  PJRT_Buffer* const view =
      PJRT_CALL(
          Client_CreateViewOfDeviceBuffer, .client = client_, .device_buffer_ptr = data, .dims = dims, .num_dims = 1,
          .element_type = PJRT_Buffer_Type_F32, .device = devices_[0],
          .on_delete_callback = [](void*, void* arg) { *static_cast<bool*>(arg) = true; },
          .on_delete_callback_arg = &gone)
          .buffer;
  EXPECT_EQ(ToHost(view)[0], 4);
  EXPECT_FALSE(gone);
  Destroy(view);
  EXPECT_TRUE(gone);
  EXPECT_EQ(PJRT_ERROR(Client_CreateViewOfDeviceBuffer, .client = client_, .device_buffer_ptr = data, .dims = dims,
                       .num_dims = 1, .element_type = PJRT_Buffer_Type_F32, .device = devices_[0], .stream = 1),
            "12: the platform cpu has no streams");
}

TEST_F(BuffersTest, ErrorsAndEvents) {
  const std::string message = "lost";
  PJRT_Buffer* const buffer =
      PJRT_CALL(Client_CreateErrorBuffer, .client = client_, .error_code = PJRT_Error_Code_DATA_LOSS,
                .error_message = message.data(), .error_message_size = message.size(),
                .shape_element_type = PJRT_Buffer_Type_F32,
                .memory = PJRT_CALL(Device_DefaultMemory, .device = devices_[0]).memory)
          .buffer;
  PJRT_Event* const ready = PJRT_CALL(Buffer_ReadyEvent, .buffer = buffer).event;
  EXPECT_EQ(PJRT_ERROR(Event_Await, .event = ready), "15: lost");
  PJRT_CALL(Event_Destroy, .event = ready);
  Destroy(buffer);

  // The callback destroys the event that it is called for.
  struct Seen {
    PJRT_Event* event;
    std::string error;
  } seen;
  seen.event = PJRT_CALL(Event_Create).event;
  PJRT_CALL(
      Event_OnReady, .event = seen.event,
      .callback =
          [](PJRT_Error* error, void* arg) {
            auto* seen = static_cast<Seen*>(arg);
            seen->error = TextOf(error);
            PJRT_CALL(Event_Destroy, .event = seen->event);
          },
      .user_arg = &seen);
  PJRT_CALL(Event_Set, .event = seen.event, .error_code = PJRT_Error_Code_ABORTED, .error_message = message.data(),
            .error_message_size = 4);
  EXPECT_EQ(seen.error, "10: lost");
}

TEST_F(BuffersTest, ShapesAreChecked) {
  const int64_t dims[] = {-1};
  EXPECT_NE(PJRT_ERROR(Client_BufferFromHostBuffer, .client = client_, .data = dims, .type = PJRT_Buffer_Type_F32,
                       .dims = dims, .num_dims = 1, .device = devices_[0]),
            "");
  EXPECT_EQ(PJRT_ERROR(Client_BufferFromHostBuffer, .client = client_, .data = dims,
                       .type = static_cast<PJRT_Buffer_Type>(99), .device = devices_[0]),
            "3: there is no array of the element type with PJRT's number 99");
  EXPECT_EQ(PJRT_ERROR(Client_BufferFromHostBuffer, .client = client_, .data = dims, .type = PJRT_Buffer_Type_F32),
            "3: expected a memory or a device, got neither");
  const int64_t square[] = {2, 2}, gaps[] = {32, 16};
  for (const int64_t* const strides : {static_cast<const int64_t*>(nullptr), gaps}) {
    EXPECT_EQ(PJRT_ERROR(Client_BufferFromHostBuffer, .client = client_, .type = PJRT_Buffer_Type_F32, .dims = square,
                         .num_dims = 2, .byte_strides = strides, .num_byte_strides = strides == nullptr ? 0u : 2u,
                         .device = devices_[0]),
              "3: expected 16 bytes of host memory, got null");
  }
  EXPECT_EQ(PJRT_ERROR(Client_BufferFromHostBuffer, .client = client_, .data = gaps, .type = PJRT_Buffer_Type_F32,
                       .num_dims = 2, .device = devices_[0]),
            "3: expected a list of dimensions, got null");
  for (const size_t many : {size_t{4097}, size_t{1} << 40, ~size_t{0}}) {
    const std::string error = absl::StrCat("3: expected at most 4096 dimensions, got ", many);
    EXPECT_EQ(PJRT_ERROR(Client_BufferFromHostBuffer, .client = client_, .data = gaps, .type = PJRT_Buffer_Type_F32,
                         .dims = square, .num_dims = many, .device = devices_[0]),
              error);
    EXPECT_EQ(PJRT_ERROR(Client_CreateUninitializedBuffer, .client = client_, .shape_dims = square,
                         .shape_num_dims = many, .shape_element_type = PJRT_Buffer_Type_F32, .device = devices_[0]),
              error);
  }
}

TEST_F(BuffersTest, LayoutsAreChecked) {
  const int64_t dims[] = {2, 2};
  const float data[] = {1, 2, 3, 4};
  const auto error = [&](const PJRT_Buffer_MemoryLayout* layout, const int64_t* strides = nullptr,
                         size_t num_strides = 0) {
    return PJRT_ERROR(Client_BufferFromHostBuffer, .client = client_, .data = data, .type = PJRT_Buffer_Type_F32,
                      .dims = dims, .num_dims = 2, .byte_strides = strides, .num_byte_strides = num_strides,
                      .device = devices_[0], .device_layout = const_cast<PJRT_Buffer_MemoryLayout*>(layout));
  };
  PJRT_Buffer_MemoryLayout layout = {};
  layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  const int64_t order[] = {1, 0, 2}, twice[] = {0, 0};
  EXPECT_EQ(error(&layout), "3: expected a layout of f32[2,2], got a null list");
  layout.tiled.minor_to_major = order;
  layout.tiled.minor_to_major_size = 3;
  EXPECT_EQ(error(&layout), "3: a layout of 3 dimensions does not fit f32[2,2]");
  layout.tiled.minor_to_major = twice;
  layout.tiled.minor_to_major_size = 2;
  EXPECT_NE(error(&layout), "");
  layout.tiled.minor_to_major = order;
  layout.tiled.num_tiles = 1;
  EXPECT_EQ(error(&layout), "12: layouts with tiles");
  layout = {};
  layout.type = PJRT_Buffer_MemoryLayout_Type_Strides;
  const int64_t gaps[] = {16, 8};
  layout.strides.byte_strides = gaps;
  layout.strides.num_byte_strides = 1;
  EXPECT_EQ(error(&layout), "3: 1 strides do not fit f32[2,2]");
  layout.strides.num_byte_strides = 2;
  EXPECT_EQ(error(&layout), "12: strides that leave gaps or overlap");
  EXPECT_EQ(error(nullptr, gaps, 1), "3: 1 strides do not fit f32[2,2]");
}

TEST_F(BuffersTest, AssignmentsAndEventsAreChecked) {
  int numbers[2];
  const auto error = [&](int replicas, int partitions, size_t room) {
    return PJRT_ERROR(Client_DefaultDeviceAssignment, .client = client_, .num_replicas = replicas,
                      .num_partitions = partitions, .default_assignment_size = room, .default_assignment = numbers);
  };
  EXPECT_EQ(error(2, 1, 2), "");
  EXPECT_EQ(error(2, 2, 4), "3: 2 replicas and 2 partitions do not fit on 2 devices");
  EXPECT_EQ(error(0, 1, 2), "3: 0 replicas and 1 partitions do not fit on 2 devices");
  EXPECT_EQ(error(1, -1, 2), "3: 1 replicas and -1 partitions do not fit on 2 devices");
  EXPECT_EQ(error(2, 1, 1), "3: expected room for 2 numbers of devices, got 1");
  const PJRT_NamedValue devices = IntOption("num_devices", int64_t{1} << 40);
  EXPECT_EQ(PJRT_ERROR(Client_Create, .create_options = &devices, .num_options = 1),
            "3: option num_devices: 1099511627776 is out of range");
}

}  // namespace
}  // namespace hilo::pjrt_test
