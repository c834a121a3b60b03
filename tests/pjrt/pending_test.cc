// Buffers that exist before their bytes do.
#include <cstring>
#include <thread>

#include "tests/pjrt/plugin.h"

namespace hilo::pjrt_test {
namespace {

constexpr char kWaitsForItself[] =
    "3: an alias was given a value that waits for the alias itself, and would never be ready";

class PendingTest : public PluginTest {
 protected:
  PJRT_Memory* memory() { return PJRT_CALL(Device_DefaultMemory, .device = devices_[1]).memory; }
  bool IsReady(PJRT_Buffer* buffer) {
    PJRT_Event* const event = PJRT_CALL(Buffer_ReadyEvent, .buffer = buffer).event;
    const bool ready = PJRT_CALL(Event_IsReady, .event = event).is_ready;
    PJRT_CALL(Event_Destroy, .event = event);
    return ready;
  }
  std::string ErrorOf(PJRT_Buffer* buffer) {
    PJRT_Event* const event = PJRT_CALL(Buffer_ReadyEvent, .buffer = buffer).event;
    const std::string error = PJRT_ERROR(Event_Await, .event = event);
    PJRT_CALL(Event_Destroy, .event = event);
    return error;
  }
  PJRT_ShapeSpec Spec(const std::vector<int64_t>& dims, PJRT_Buffer_Type type = PJRT_Buffer_Type_F32) {
    PJRT_ShapeSpec spec = Make<PJRT_ShapeSpec>();
    spec.dims = dims.data();
    spec.num_dims = dims.size();
    spec.element_type = type;
    return spec;
  }
  PJRT_Client_CreateAliasBuffer_Args Alias(const std::vector<int64_t>& dims) {
    return PJRT_CALL(Client_CreateAliasBuffer, .client = client_, .memory = memory(), .shape_dims = dims.data(),
                     .shape_num_dims = dims.size(), .shape_element_type = PJRT_Buffer_Type_F32);
  }
  std::string Fulfill(const PJRT_Client_CreateAliasBuffer_Args& alias, PJRT_Buffer* buffer) {
    return PJRT_ERROR(Client_FulfillAliasBuffer, .client = client_, .buffer = buffer,
                      .fulfill_alias_buffer_cb = alias.fulfill_alias_buffer_cb);
  }
  const std::vector<int64_t> four_ = {4}, two_by_two_ = {2, 2}, none_ = {0};
};

TEST_F(PendingTest, TransfersInParts) {
  const PJRT_ShapeSpec specs[] = {Spec(four_), Spec(two_by_two_), Spec(none_), Spec(four_)};
  PJRT_AsyncHostToDeviceTransferManager* const manager =
      PJRT_CALL(Client_CreateBuffersForAsyncHostToDevice, .client = client_, .shape_specs = specs, .num_shape_specs = 4,
                .memory = memory())
          .transfer_manager;
  EXPECT_EQ(PJRT_CALL(AsyncHostToDeviceTransferManager_BufferCount, .transfer_manager = manager).buffer_count, 4u);
  EXPECT_EQ(PJRT_CALL(AsyncHostToDeviceTransferManager_BufferSize, .transfer_manager = manager, .buffer_index = 1)
                .buffer_size,
            16u);
  EXPECT_EQ(PJRT_CALL(AsyncHostToDeviceTransferManager_Device, .transfer_manager = manager).device_out, devices_[1]);
  std::vector<PJRT_Buffer*> buffers;
  for (int i = 0; i < 4; ++i) {
    buffers.push_back(
        PJRT_CALL(AsyncHostToDeviceTransferManager_RetrieveBuffer, .transfer_manager = manager, .buffer_index = i)
            .buffer_out);
    EXPECT_FALSE(IsReady(buffers[i]));
  }
  EXPECT_EQ(PJRT_ERROR(AsyncHostToDeviceTransferManager_RetrieveBuffer, .transfer_manager = manager, .buffer_index = 0),
            "9: buffer 0 has been retrieved already");
  EXPECT_EQ(PJRT_ERROR(AsyncHostToDeviceTransferManager_BufferSize, .transfer_manager = manager, .buffer_index = 4),
            "3: there is no buffer 4; the transfer manager has 4");

  const std::vector<float> values = {1, 2, 3, 4};
  const auto send = [&](int index, int64_t first, int64_t count, bool last) {
    Await(PJRT_CALL(AsyncHostToDeviceTransferManager_TransferData, .transfer_manager = manager, .buffer_index = index,
                    .data = values.data() + first, .offset = 4 * first, .transfer_size = 4 * count,
                    .is_last_transfer = last)
              .done_with_h2d_transfer);
  };
  send(0, 2, 2, false);
  EXPECT_FALSE(IsReady(buffers[0]));
  std::thread other([&] { send(0, 0, 2, true); });
  EXPECT_EQ(ToHost(buffers[0]), values);
  other.join();
  EXPECT_EQ(PJRT_ERROR(AsyncHostToDeviceTransferManager_TransferData, .transfer_manager = manager, .buffer_index = 0),
            "9: the last part of buffer 0 has come already");
  EXPECT_EQ(PJRT_ERROR(AsyncHostToDeviceTransferManager_TransferData, .transfer_manager = manager, .buffer_index = 1,
                       .data = values.data(), .offset = 8, .transfer_size = 12),
            "3: 12 bytes at 8 are not within the buffer's 16");
  EXPECT_EQ(PJRT_ERROR(AsyncHostToDeviceTransferManager_TransferLiteral, .transfer_manager = manager, .buffer_index = 1,
                       .data = values.data(), .shape_dims = four_.data(), .shape_num_dims = 1,
                       .shape_element_type = PJRT_Buffer_Type_F32),
            "3: buffer 1: expected f32[2,2], got f32[4]");
  Await(PJRT_CALL(AsyncHostToDeviceTransferManager_TransferLiteral, .transfer_manager = manager, .buffer_index = 1,
                  .data = values.data(), .shape_dims = two_by_two_.data(), .shape_num_dims = 2,
                  .shape_element_type = PJRT_Buffer_Type_F32)
            .done_with_h2d_transfer);
  EXPECT_EQ(ToHost(buffers[1]), values);
  PJRT_CALL(AsyncHostToDeviceTransferManager_SetBufferError, .transfer_manager = manager, .buffer_index = 2,
            .error_code = PJRT_Error_Code_DATA_LOSS, .error_message = "lost", .error_message_size = 4);
  EXPECT_EQ(ErrorOf(buffers[2]), "15: lost");
  PJRT_CALL(AsyncHostToDeviceTransferManager_Destroy, .transfer_manager = manager);
  EXPECT_EQ(ErrorOf(buffers[3]), "1: the transfer manager was destroyed before the buffer's last part came");
  for (PJRT_Buffer* buffer : buffers) Destroy(buffer);
}

TEST_F(PendingTest, ProgramsWaitForParts) {
  const PJRT_ShapeSpec spec = Spec(four_);
  PJRT_Memory* const memory = PJRT_CALL(Device_DefaultMemory, .device = devices_[0]).memory;
  PJRT_AsyncHostToDeviceTransferManager* const manager =
      PJRT_CALL(Client_CreateBuffersForAsyncHostToDevice, .client = client_, .shape_specs = &spec, .num_shape_specs = 1,
                .memory = memory)
          .transfer_manager;
  PJRT_Buffer* const x =
      PJRT_CALL(AsyncHostToDeviceTransferManager_RetrieveBuffer, .transfer_manager = manager).buffer_out;
  PJRT_LoadedExecutable* const loaded =
      Compile("HloModule twice\nENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] add(x, x) }");
  std::thread other([&] {
    const float values[] = {1, 2, 3, 4};
    Await(PJRT_CALL(AsyncHostToDeviceTransferManager_TransferData, .transfer_manager = manager, .data = values,
                    .transfer_size = 16, .is_last_transfer = true)
              .done_with_h2d_transfer);
  });
  std::vector<PJRT_Buffer*> results;
  ASSERT_EQ(Run(loaded, {x}, &results), "");
  EXPECT_EQ(ToHost(results[0]), (std::vector<float>{2, 4, 6, 8}));
  other.join();
  PJRT_CALL(AsyncHostToDeviceTransferManager_Destroy, .transfer_manager = manager);
  Destroy(x);
  Destroy(results[0]);
  Destroy(loaded);
}

TEST_F(PendingTest, Aliases) {
  PJRT_Buffer* const source = Floats({1, 2, 3, 4}, 1);
  const auto good = Alias(four_), wrong = Alias(two_by_two_), failed = Alias(four_);
  EXPECT_FALSE(IsReady(good.alias_buffer));
  PJRT_CALL(Client_FulfillAliasBuffer, .client = client_, .buffer = source,
            .fulfill_alias_buffer_cb = good.fulfill_alias_buffer_cb);
  EXPECT_EQ(ToHost(good.alias_buffer), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(PJRT_ERROR(Client_FulfillAliasBuffer, .client = client_, .buffer = source,
                       .fulfill_alias_buffer_cb = wrong.fulfill_alias_buffer_cb),
            "3: an alias of f32[2,2]{1,0} was given f32[4]{0}");
  EXPECT_EQ(ErrorOf(wrong.alias_buffer), "3: an alias of f32[2,2]{1,0} was given f32[4]{0}");
  const auto itself = Alias(four_);
  EXPECT_EQ(PJRT_ERROR(Client_FulfillAliasBuffer, .client = client_, .buffer = itself.alias_buffer,
                       .fulfill_alias_buffer_cb = itself.fulfill_alias_buffer_cb),
            kWaitsForItself);
  EXPECT_EQ(ErrorOf(itself.alias_buffer), kWaitsForItself);
  Destroy(itself.alias_buffer);
  // Each of three waits for the next, and the last would wait for the first: all end with the error.
  const auto first = Alias(four_), second = Alias(four_), third = Alias(four_);
  EXPECT_EQ(Fulfill(first, second.alias_buffer), "");
  EXPECT_EQ(Fulfill(second, third.alias_buffer), "");
  EXPECT_EQ(Fulfill(third, first.alias_buffer), kWaitsForItself);
  for (PJRT_Buffer* buffer : {first.alias_buffer, second.alias_buffer, third.alias_buffer}) {
    EXPECT_EQ(ErrorOf(buffer), kWaitsForItself);
    Destroy(buffer);
  }
  // By way of a donation that waits for its dependency.
  const auto given = Alias(four_);
  const auto donation = PJRT_CALL(Buffer_DonateWithControlDependency, .buffer = given.alias_buffer);
  EXPECT_EQ(Fulfill(given, donation.out_buffer), "");
  auto ready = Make<PJRT_Buffer_DonateWithControlDependency_Callback_Args>();
  ready.callback_data = donation.callback_data;
  donation.dependency_ready_callback(&ready);
  EXPECT_EQ(ErrorOf(donation.out_buffer), kWaitsForItself);
  for (PJRT_Buffer* buffer : {given.alias_buffer, donation.out_buffer}) Destroy(buffer);
  // A chain that does not close becomes ready from its end.
  const auto before = Alias(four_), behind = Alias(four_);
  EXPECT_EQ(Fulfill(before, behind.alias_buffer), "");
  EXPECT_FALSE(IsReady(before.alias_buffer));
  EXPECT_EQ(Fulfill(behind, source), "");
  EXPECT_EQ(ToHost(before.alias_buffer), (std::vector<float>{1, 2, 3, 4}));
  for (PJRT_Buffer* buffer : {before.alias_buffer, behind.alias_buffer}) Destroy(buffer);
  PJRT_CALL(Client_FulfillAliasBuffer, .client = client_, .status_code = PJRT_Error_Code_ABORTED, .error_message = "no",
            .error_message_size = 2, .fulfill_alias_buffer_cb = failed.fulfill_alias_buffer_cb);
  EXPECT_EQ(ErrorOf(failed.alias_buffer), "10: no");
  for (PJRT_Buffer* buffer : {source, good.alias_buffer, wrong.alias_buffer, failed.alias_buffer}) Destroy(buffer);
}

// Links of a long chain from its start, from its end and in a scattered order: none nests or takes long.
TEST_F(PendingTest, LongChainsOfAliases) {
  constexpr int64_t kLinks = 100'000;
  PJRT_Buffer* const source = Floats({1, 2, 3, 4}, 1);
  for (const int64_t step : {int64_t{1}, kLinks - 1, int64_t{7919}}) {  // each has no common factor with kLinks
    std::vector<PJRT_Client_CreateAliasBuffer_Args> aliases;
    for (int64_t i = 0; i <= kLinks; ++i) aliases.push_back(Alias(four_));
    for (int64_t i = 0, link = step - 1; i < kLinks; ++i, link = (link + step) % kLinks)
      ASSERT_EQ(Fulfill(aliases[link], aliases[link + 1].alias_buffer), "");
    EXPECT_FALSE(IsReady(aliases[0].alias_buffer));
    ASSERT_EQ(Fulfill(aliases[kLinks], source), "");
    EXPECT_EQ(ToHost(aliases[0].alias_buffer), (std::vector<float>{1, 2, 3, 4}));
    for (const auto& alias : aliases) Destroy(alias.alias_buffer);
  }
  Destroy(source);
}

// The same where the end of the chain is the chain's start.
TEST_F(PendingTest, LongChainThatCloses) {
  constexpr int64_t kLinks = 100'000;
  std::vector<PJRT_Client_CreateAliasBuffer_Args> aliases;
  for (int64_t i = 0; i <= kLinks; ++i) aliases.push_back(Alias(four_));
  for (int64_t i = kLinks - 1; i >= 0; --i) ASSERT_EQ(Fulfill(aliases[i], aliases[i + 1].alias_buffer), "");
  EXPECT_EQ(Fulfill(aliases[kLinks], aliases[0].alias_buffer), kWaitsForItself);
  EXPECT_EQ(ErrorOf(aliases[0].alias_buffer), kWaitsForItself);
  for (const auto& alias : aliases) Destroy(alias.alias_buffer);
}

// A run that takes an alias, by way of another run and another alias, cannot be what the alias is fulfilled with.
TEST_F(PendingTest, AliasOfARunThatTakesIt) {
  PJRT_LoadedExecutable* const loaded = Compile(
      "HloModule sum\nENTRY main { x = f32[4] parameter(0)  y = f32[4] parameter(1)  ROOT z = f32[4] add(x, y) }");
  const auto alias = [&] {
    return PJRT_CALL(Client_CreateAliasBuffer, .client = client_,
                     .memory = PJRT_CALL(Device_DefaultMemory, .device = devices_[0]).memory,
                     .shape_dims = four_.data(), .shape_num_dims = 1, .shape_element_type = PJRT_Buffer_Type_F32);
  };
  // The sum, whose run may be pending.
  const auto start = [&](PJRT_Buffer* x, PJRT_Buffer* y) {
    PJRT_ExecuteOptions options = Make<PJRT_ExecuteOptions>();
    PJRT_Buffer* const arguments[] = {x, y};
    PJRT_Buffer* const* lists[] = {arguments};
    PJRT_Buffer* result = nullptr;
    PJRT_Buffer** outputs[] = {&result};
    PJRT_CALL(LoadedExecutable_Execute, .executable = loaded, .options = &options, .argument_lists = lists,
              .num_devices = 1, .num_args = 2, .output_lists = outputs);
    return result;
  };
  PJRT_Buffer* const source = Floats({1, 2, 3, 4});
  const auto first = alias(), second = alias();
  PJRT_Buffer* sum = start(source, first.alias_buffer);
  EXPECT_EQ(Fulfill(second, sum), "");
  PJRT_Buffer* total = start(second.alias_buffer, source);
  EXPECT_EQ(Fulfill(first, total), kWaitsForItself);
  for (PJRT_Buffer* buffer : {first.alias_buffer, sum, second.alias_buffer, total}) {
    EXPECT_EQ(ErrorOf(buffer), kWaitsForItself);
    Destroy(buffer);
  }

  // Without a cycle each becomes ready.
  const auto third = alias(), fourth = alias();
  sum = start(source, third.alias_buffer);
  EXPECT_EQ(Fulfill(fourth, sum), "");
  total = start(fourth.alias_buffer, third.alias_buffer);
  EXPECT_EQ(Fulfill(third, source), "");
  EXPECT_EQ(ToHost(fourth.alias_buffer), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(ToHost(total), (std::vector<float>{3, 6, 9, 12}));
  for (PJRT_Buffer* buffer : {source, third.alias_buffer, sum, fourth.alias_buffer, total}) Destroy(buffer);
  Destroy(loaded);
}

TEST_F(PendingTest, DonationsThatWait) {
  PJRT_Buffer* const source = Floats({1, 2});
  const auto donated = PJRT_CALL(Buffer_DonateWithControlDependency, .buffer = source);
  EXPECT_TRUE(IsDeleted(source));
  EXPECT_FALSE(IsReady(donated.out_buffer));
  PJRT_Buffer_DonateWithControlDependency_Callback_Args ready =
      Make<PJRT_Buffer_DonateWithControlDependency_Callback_Args>();
  ready.callback_data = donated.callback_data;
  donated.dependency_ready_callback(&ready);
  EXPECT_EQ(ToHost(donated.out_buffer), (std::vector<float>{1, 2}));
  EXPECT_EQ(PJRT_ERROR(Buffer_DonateWithControlDependency, .buffer = source).substr(0, 2), "3:");
  Destroy(source);
  Destroy(donated.out_buffer);
}

TEST_F(PendingTest, CopiesToMemoryNamedLater) {
  PJRT_Buffer* const source = Floats({1, 2, 3});
  const auto copy = PJRT_CALL(Buffer_CopyRawToHostFuture, .buffer = source, .offset = 4, .transfer_size = 8);
  Destroy(source);
  EXPECT_FALSE(PJRT_CALL(Event_IsReady, .event = copy.event).is_ready);
  float target[2] = {};
  PJRT_Buffer_CopyRawToHostFuture_Callback_Args ready = Make<PJRT_Buffer_CopyRawToHostFuture_Callback_Args>();
  ready.callback_data = copy.callback_data;
  ready.dst = target;
  copy.future_ready_callback(&ready);
  Await(copy.event);
  EXPECT_EQ(target[0], 2);
  EXPECT_EQ(target[1], 3);
}

// A message of an impossible size throws where it is copied: the exception becomes the error of what waits, and does
// not reach the caller.
TEST_F(PendingTest, ImpossibleMessage_IsOmitted) {
  PJRT_Buffer* const source = Floats({1, 2});
  const auto copy = PJRT_CALL(Buffer_CopyRawToHostFuture, .buffer = source, .transfer_size = 8);
  PJRT_Buffer_CopyRawToHostFuture_Callback_Args target = Make<PJRT_Buffer_CopyRawToHostFuture_Callback_Args>();
  target.callback_data = copy.callback_data;
  target.error_code = PJRT_Error_Code_ABORTED;
  target.error_message = "x";
  target.error_message_size = SIZE_MAX;
  copy.future_ready_callback(&target);
  EXPECT_TRUE(PJRT_CALL(Event_IsReady, .event = copy.event).is_ready);
  EXPECT_EQ(PJRT_ERROR(Event_Await, .event = copy.event).substr(0, 3), "10:");
  PJRT_CALL(Event_Destroy, .event = copy.event);

  const auto donated = PJRT_CALL(Buffer_DonateWithControlDependency, .buffer = source);
  PJRT_Buffer_DonateWithControlDependency_Callback_Args ready =
      Make<PJRT_Buffer_DonateWithControlDependency_Callback_Args>();
  ready.callback_data = donated.callback_data;
  ready.error_code = PJRT_Error_Code_ABORTED;
  ready.error_message = "x";
  ready.error_message_size = SIZE_MAX;
  donated.dependency_ready_callback(&ready);
  EXPECT_EQ(ErrorOf(donated.out_buffer).substr(0, 3), "10:");
  Destroy(source);
  Destroy(donated.out_buffer);
}

TEST_F(PendingTest, Bitcasts) {
  PJRT_Buffer* const source = Floats({1, 2, 3, 4});
  const std::vector<int64_t> dims = {2, 4};
  PJRT_Buffer* const words = PJRT_CALL(Buffer_Bitcast, .buffer = source, .element_type = PJRT_Buffer_Type_U16,
                                       .dims = dims.data(), .num_dims = 2)
                                 .out_buffer;
  EXPECT_EQ(PointerOf(words), PointerOf(source));
  EXPECT_EQ(PJRT_CALL(Buffer_Dimensions, .buffer = words).num_dims, 2u);
  EXPECT_EQ(PJRT_ERROR(Buffer_Bitcast, .buffer = source, .element_type = PJRT_Buffer_Type_U8, .dims = four_.data(),
                       .num_dims = 1),
            "3: the bytes of f32[4] are not those of u8[4]");
  Destroy(source);
  Destroy(words);
}

}  // namespace
}  // namespace hilo::pjrt_test
