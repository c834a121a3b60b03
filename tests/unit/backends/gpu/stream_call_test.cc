// Custom calls on the device's memory. On the emulated device the functions work on it from the host.
#include <gtest/gtest.h>

#include <atomic>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "hilo/client.h"
#include "hilo/ffi.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/ffi/xla_ffi_abi.h"
#include "runtime/runtime_access.h"

namespace hilo::gpu {
namespace {

bool AnswersMetadata(XLA_FFI_CallFrame* frame) {
  if (frame->extension_start == nullptr) return false;
  reinterpret_cast<XLA_FFI_Metadata_Extension*>(frame->extension_start)->metadata->api_version.minor_version =
      XLA_FFI_API_MINOR;
  return true;
}

XLA_FFI_Error* MakeError(const XLA_FFI_CallFrame* frame, const char* message) {
  XLA_FFI_Error_Create_Args args{sizeof(args), nullptr, message, 13};
  return frame->api->XLA_FFI_Error_Create_field(&args);
}

const float* Operand(const XLA_FFI_CallFrame* frame) {
  return static_cast<const float*>(static_cast<const XLA_FFI_Buffer*>(frame->args.args[0])->data);
}
float* Result(const XLA_FFI_CallFrame* frame) {
  return static_cast<float*>(static_cast<const XLA_FFI_Buffer*>(frame->rets.rets[0])->data);
}

// y = x + 1 through scratch memory of the device, part of which is never given back.
XLA_FFI_Error* AddOne(XLA_FFI_CallFrame* frame) {
  if (AnswersMetadata(frame)) return nullptr;
  float* scratch[2];
  for (float*& memory : scratch) {
    XLA_FFI_DeviceMemory_Allocate_Args allocate{sizeof(allocate), nullptr, frame->ctx, 3 * sizeof(float), 64, nullptr};
    if (XLA_FFI_Error* error = frame->api->XLA_FFI_DeviceMemory_Allocate_field(&allocate)) return error;
    memory = static_cast<float*>(allocate.data);
  }
  for (int i = 0; i < 3; ++i) scratch[0][i] = Operand(frame)[i] + 1;
  for (int i = 0; i < 3; ++i) Result(frame)[i] = scratch[0][i];
  XLA_FFI_DeviceMemory_Free_Args free{sizeof(free), nullptr, frame->ctx, 3 * sizeof(float), scratch[0]};
  return frame->api->XLA_FFI_DeviceMemory_Free_field(&free);
}

// A copy that is queued on the stream.
XLA_FFI_Error* CopyOnStream(XLA_FFI_CallFrame* frame) {
  if (AnswersMetadata(frame)) return nullptr;
  XLA_FFI_Stream_Get_Args get{sizeof(get), nullptr, frame->ctx, nullptr};
  if (XLA_FFI_Error* error = frame->api->XLA_FFI_Stream_Get_field(&get)) return error;
  const absl::Status status =
      static_cast<GpuStream*>(get.stream)->Copy(Result(frame), Operand(frame), 3 * sizeof(float));
  return status.ok() ? nullptr : MakeError(frame, "the stream took no copy");
}

XLA_FFI_Error* AskForMuch(XLA_FFI_CallFrame* frame) {
  if (AnswersMetadata(frame)) return nullptr;
  XLA_FFI_DeviceMemory_Allocate_Args allocate{sizeof(allocate), nullptr, frame->ctx, size_t{1} << 60, 64, nullptr};
  return frame->api->XLA_FFI_DeviceMemory_Allocate_field(&allocate);
}

XLA_FFI_Error* Fail(XLA_FFI_CallFrame* frame) {
  return AnswersMetadata(frame) ? nullptr : MakeError(frame, "not today");
}

void SumOfArrays(void* stream, void** buffers, const char* opaque, size_t opaque_len) {
  const auto *x = static_cast<const float*>(buffers[0]), *y = static_cast<const float*>(buffers[1]);
  const float more = stream != nullptr && std::string(opaque, opaque_len) == "ten" ? 10 : 0;
  for (int i = 0; i < 3; ++i) static_cast<float*>(buffers[2])[i] = x[i] + y[i] + more;
}

void FailWithStatus(void*, void**, const char*, size_t, XlaCustomCallStatus* status) {
  XlaCustomCallStatusSetFailure(status, "never", 5);
}

// Adds 100 to what is there.
void Update(void*, void** buffers, const char*, size_t) { static_cast<float*>(buffers[1])[0] += 100; }

// Values of fewer than 8 bits, with other bits above: -1 or 7, true or false, 3 or 0, 15 or 8.
void NarrowResults(void*, void** buffers, const char*, size_t) {
  constexpr uint8_t kBytes[4][2] = {{0x0F, 0xF7}, {0xFF, 0x00}, {0xFF, 0xF0}, {0xFF, 0xF8}};
  for (int result = 0; result < 4; ++result) {
    for (int i = 0; i < (result % 2 == 0 ? 32 : 33); ++i)
      static_cast<uint8_t*>(buffers[1 + result])[i] = kBytes[result][i % 2];
  }
}

void OnHost(void* out, const void** in) {
  for (int i = 0; i < 3; ++i) static_cast<float*>(out)[i] = -static_cast<const float*>(in[0])[i];
}

// Waits for the caller of Execute to go on.
struct Gate {
  absl::Notification opened;
  std::atomic<bool> timed_out{false};
};
Gate* gate = nullptr;

void WaitAtGate(void* out, const void** in) {
  gate->timed_out = !gate->opened.WaitForNotificationWithTimeout(absl::Seconds(20));
  OnHost(out, in);
}

class StreamCallTest : public testing::Test {
 protected:
  void SetUp() override {
    auto client = RuntimeAccess::CreateClient({.device_count = 1},
                                              CreateGpuCompiler(kEmulatedPlatform, {.kernels = {.sequences = false}}));
    ASSERT_TRUE(client.ok());
    client_ = *std::move(client);
    CustomCallRegistry& registry = *client_->custom_call_registry();
    for (const auto& [name, handler] : {std::pair("add_one", &AddOne), std::pair("copy", &CopyOnStream),
                                        std::pair("much", &AskForMuch), std::pair("fail", &Fail)}) {
      ASSERT_TRUE(registry.RegisterFfi(name, handler, kStreamPlatform).ok());
    }
    const auto add = [&](const char* name, CustomCallApiVersion version, auto* function) {
      ASSERT_TRUE(registry
                      .Register(name, kStreamPlatform,
                                {.api_version = version, .function = reinterpret_cast<void*>(function), .handlers = {}})
                      .ok());
    };
    add("sum", API_VERSION_ORIGINAL, &SumOfArrays);
    add("fail_with_status", API_VERSION_STATUS_RETURNING, &FailWithStatus);
    add("update", API_VERSION_ORIGINAL, &Update);
    add("narrow", API_VERSION_ORIGINAL, &NarrowResults);
    add("both", API_VERSION_ORIGINAL, &SumOfArrays);
    ASSERT_TRUE(registry.Register("both", &OnHost).ok());
    ASSERT_TRUE(registry.Register("host", &OnHost).ok());
    ASSERT_TRUE(registry.Register("wait", &WaitAtGate).ok());
  }
  // Of 2 x, y and three times the result; x is {1, 2, 3} and y {10, 20, 30}.
  absl::StatusOr<Literal> Run(const std::string& operands, const std::string& target, const std::string& more = "") {
    const auto executable =
        client_->CompileHloText(absl::StrCat("HloModule m\nENTRY main { x = f32[3] parameter(0)  y = f32[3] "
                                             "parameter(1)  d = f32[3] add(x, x)  c = f32[3] custom-call(",
                                             operands, "), custom_call_target=\"", target, "\"", more,
                                             "\n  t = f32[3] add(c, c)  ROOT s = f32[3] add(t, c) }"));
    if (!executable.ok()) return executable.status();
    const Literal x = LiteralUtil::CreateR1<float>({1, 2, 3}), y = LiteralUtil::CreateR1<float>({10, 20, 30});
    return (*executable)->ExecuteLiterals({&x, &y});
  }
  static Literal Three(float a, float b, float c) { return LiteralUtil::CreateR1<float>({3 * a, 3 * b, 3 * c}); }
  std::unique_ptr<Client> client_;
};

constexpr char kTyped[] = ", api_version=API_VERSION_TYPED_FFI";

TEST_F(StreamCallTest, TypedHandlers) {
  for (int i = 0; i < 3; ++i) {  // in the later runs kernels around are a graph
    const auto sum = Run("d", "add_one", kTyped);
    ASSERT_TRUE(sum.ok()) << sum.status();
    EXPECT_EQ(*sum, Three(3, 5, 7));
    const auto copy = Run("d", "copy", kTyped);
    ASSERT_TRUE(copy.ok()) << copy.status();
    EXPECT_EQ(*copy, Three(2, 4, 6));
  }
}

// In a computation that is called, and too large to be inlined; also when the program is loaded.
TEST_F(StreamCallTest, InACalledComputation) {
  std::string text =
      "HloModule m\ncalled { x = f32[3] parameter(0)  r.0 = f32[3] custom-call(x), custom_call_target=\"add_one\", "
      "api_version=API_VERSION_TYPED_FFI\n";
  for (int i = 1; i <= 30; ++i)
    absl::StrAppend(&text, i == 30 ? "ROOT " : "", "r.", i, " = f32[3] add(r.", i - 1, ", r.", i - 1, ")\n");
  absl::StrAppend(&text,
                  "}\nENTRY main { x = f32[3] parameter(0)  y = f32[3] parameter(1)  c = f32[3] call(x), "
                  "to_apply=called  d = f32[3] call(y), to_apply=called  ROOT s = f32[3] subtract(d, c) }");
  auto module = ParseHloModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto thunks = CreateGpuCompiler(kEmulatedPlatform, {})
                          ->Emit(*std::move(module), {.custom_calls = client_->custom_call_registry()}, "thunks");
  ASSERT_TRUE(thunks.ok() && absl::StrContains(*thunks, "call called frame")) << *thunks;
  const auto executable = client_->CompileHloText(text);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const auto bytes = (*executable)->Serialize();
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto loaded = client_->Load(*bytes);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Literal x = LiteralUtil::CreateR1<float>({1, 2, 3}), y = LiteralUtil::CreateR1<float>({10, 20, 30});
  const float scale = 1 << 30;
  for (const auto* one : {&*executable, &*loaded}) {
    const auto result = (*one)->ExecuteLiterals({&x, &y});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(*result, LiteralUtil::CreateR1<float>({9 * scale, 18 * scale, 27 * scale}));
  }
}

TEST_F(StreamCallTest, UntypedFunctions) {
  const auto sum = Run("d, y", "sum", ", backend_config=\"ten\"");
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(*sum, Three(22, 34, 46));
  const auto updated = Run("y", "update", ", output_to_operand_aliasing={{}: (0, {})}");
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(*updated, Three(110, 20, 30));
}

// The other bits of results are not those of the function.
TEST_F(StreamCallTest, NarrowResultsAreCanonical) {
  const auto executable = client_->CompileHloText(R"(HloModule m
ENTRY main {
  x = f32[3] parameter(0)
  c = (s4[32], pred[33], u2[32], u4[33], f32[3]) custom-call(x), custom_call_target="narrow"
  s = s4[32] get-tuple-element(c), index=0
  p = pred[33] get-tuple-element(c), index=1
  u = u2[32] get-tuple-element(c), index=2
  v = u4[33] get-tuple-element(c), index=3
  s32s = s32[32] convert(s)
  s32p = s32[33] convert(p)
  s32u = s32[32] convert(u)
  s32v = s32[33] convert(v)
  ROOT r = (s32[32], s32[33], s32[32], s32[33], s4[32], pred[33]) tuple(s32s, s32p, s32u, s32v, s, p)
})");
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal x = LiteralUtil::CreateR1<float>({1, 2, 3});
  for (int run = 0; run < 3; ++run) {
    const auto result = (*executable)->ExecuteLiterals({&x});
    ASSERT_TRUE(result.ok()) << result.status();
    constexpr int32_t kValues[4][2] = {{-1, 7}, {1, 0}, {3, 0}, {15, 8}};
    for (int64_t r = 0; r < 4; ++r) {
      for (int64_t i = 0; i < result->element(r).element_count(); ++i)
        ASSERT_EQ(result->element(r).Get<int32_t>({i}), kValues[r][i % 2]) << r << " " << i;
    }
    for (int64_t i = 0; i < 32; ++i) ASSERT_EQ(result->element(4).untyped_data()[i], i % 2 == 0 ? 0xFF : 0x07) << i;
    for (int64_t i = 0; i < 33; ++i) ASSERT_EQ(result->element(5).untyped_data()[i], i % 2 == 0 ? 1 : 0) << i;
  }
}

// A function for the device comes before one for the host.
TEST_F(StreamCallTest, Platforms) {
  const auto both = Run("d, y", "both"), host = Run("d", "host");
  ASSERT_TRUE(both.ok() && host.ok()) << both.status() << host.status();
  EXPECT_EQ(*both, Three(12, 24, 36));
  EXPECT_EQ(*host, Three(-2, -4, -6));
  auto module = ParseHloModule(
      "HloModule m\nENTRY main { x = f32[3] parameter(0)  ROOT c = f32[3] custom-call(x, x), "
      "custom_call_target=\"both\" }");
  ASSERT_TRUE(module.ok());
  const auto thunks = CreateGpuCompiler(kEmulatedPlatform, {})
                          ->Emit(*std::move(module), {.custom_calls = client_->custom_call_registry()}, "thunks");
  ASSERT_TRUE(thunks.ok()) << thunks.status();
  EXPECT_TRUE(absl::StrContains(*thunks, "call c (&output 0, parameter 0, parameter 0)")) << *thunks;
}

// Execute queues the run, however short it may be, and returns.
TEST_F(StreamCallTest, ExecuteReturnsBeforeTheWorkEnds) {
  const auto executable = client_->CompileHloText(
      "HloModule m\nENTRY main { x = f32[3] parameter(0)  ROOT c = f32[3] custom-call(x), custom_call_target=\"wait\" "
      "}");
  ASSERT_TRUE(executable.ok()) << executable.status();
  const auto x = client_->BufferFromLiteral(LiteralUtil::CreateR1<float>({1, 2, 3}));
  ASSERT_TRUE(x.ok()) << x.status();
  Gate here;
  gate = &here;
  Buffer* arguments[] = {x->get()};
  const auto results = (*executable)->Execute(arguments);
  here.opened.Notify();
  ASSERT_TRUE(results.ok()) << results.status();
  const auto result = (*results)[0]->ToLiteral();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(*result, LiteralUtil::CreateR1<float>({-1, -2, -3}));
  EXPECT_FALSE(here.timed_out);
}

// An error is the run's; the device goes on.
TEST_F(StreamCallTest, Errors) {
  const absl::Status failed = Run("d", "fail", kTyped).status();
  EXPECT_EQ(failed.code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(absl::StrContains(failed.message(), "custom call fail: not today")) << failed;
  EXPECT_TRUE(absl::StrContains(
      Run("d", "fail_with_status", ", api_version=API_VERSION_STATUS_RETURNING").status().message(), "never"));
  EXPECT_EQ(Run("d", "much", kTyped).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Run("d", "missing").status().code(), absl::StatusCode::kNotFound);
  const auto fine = Run("d", "add_one", kTyped);
  ASSERT_TRUE(fine.ok()) << fine.status();
  EXPECT_EQ(*fine, Three(3, 5, 7));
}

}  // namespace
}  // namespace hilo::gpu
