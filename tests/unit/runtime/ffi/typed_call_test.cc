// Typed FFI calls: of handlers against our own declarations of the C API, and of those in tests/ffi/jaxlib_handlers.cc,
// against jaxlib's.
#include <gtest/gtest.h>

#include <cstring>

#include "absl/strings/match.h"
#include "hilo/client.h"
#include "hilo/ffi.h"
#include "runtime/ffi/ffi_api.h"
#include "runtime/ffi/type_registry.h"
#include "runtime/ffi/xla_ffi_abi.h"

namespace hilo {
namespace {

using absl::StatusCode;

bool AnswersMetadata(XLA_FFI_CallFrame* frame, int minor_version) {
  if (frame->extension_start == nullptr) return false;
  XLA_FFI_Metadata* metadata = reinterpret_cast<XLA_FFI_Metadata_Extension*>(frame->extension_start)->metadata;
  metadata->api_version.major_version = 0;
  metadata->api_version.minor_version = minor_version;
  return true;
}

XLA_FFI_Error* MakeError(const XLA_FFI_CallFrame* frame, int code, const char* message) {
  XLA_FFI_Error_Create_Args args{sizeof(XLA_FFI_Error_Create_Args), nullptr, message, code};
  return frame->api->XLA_FFI_Error_Create_field(&args);
}

// Adds the scalar attribute "by" to all elements of a buffer.
XLA_FFI_Error* AddHandler(XLA_FFI_CallFrame* frame) {
  if (AnswersMetadata(frame, 3)) return nullptr;
  if (frame->struct_size != XLA_FFI_CallFrame_STRUCT_SIZE || frame->args.size != 1 || frame->rets.size != 1)
    return MakeError(frame, 3, "wrong frame");
  const XLA_FFI_Attrs& attrs = frame->attrs;
  if (attrs.size != 1 || attrs.types[0] != XLA_FFI_AttrType_SCALAR ||
      std::string(attrs.names[0]->ptr, attrs.names[0]->len) != "by") {
    return MakeError(frame, 3, "expected the attribute by");
  }
  const auto* by = static_cast<const XLA_FFI_Scalar*>(attrs.attrs[0]);
  const auto* x = static_cast<const XLA_FFI_Buffer*>(frame->args.args[0]);
  const auto* y = static_cast<const XLA_FFI_Buffer*>(frame->rets.rets[0]);
  if (by->dtype != F32 || x->dtype != F32 || x->rank != 1 || y->dims[0] != x->dims[0])
    return MakeError(frame, 3, "wrong types");
  for (int64_t i = 0; i < x->dims[0]; ++i) {
    static_cast<float*>(y->data)[i] = static_cast<const float*>(x->data)[i] + *static_cast<const float*>(by->value);
  }
  return nullptr;
}
XLA_FFI_Error* FromTheFuture(XLA_FFI_CallFrame* frame) {
  AnswersMetadata(frame, 99);
  return nullptr;
}
// Requests everything in ways that must fail, and counts what did not.
XLA_FFI_Error* AskWrongly(XLA_FFI_CallFrame* frame) {
  if (AnswersMetadata(frame, 1)) return nullptr;
  int wrong = 0;
  const auto failed = [&](XLA_FFI_Error* error) {
    wrong += error == nullptr;
    if (error == nullptr) return;
    XLA_FFI_Error_GetDetails_Args details{sizeof(details), nullptr, error, nullptr, 0};
    frame->api->XLA_FFI_Error_GetDetails_field(&details);
    wrong += std::strlen(details.message) == 0 || details.errc == 0;
    // As version 0.3 has them, which ends before the code.
    details = {offsetof(XLA_FFI_Error_GetDetails_Args, errc), nullptr, error, nullptr, -1};
    frame->api->XLA_FFI_Error_GetDetails_field(&details);
    wrong += details.message == nullptr || details.errc != -1;
    XLA_FFI_Error_Destroy_Args destroy{sizeof(destroy), nullptr, error};
    frame->api->XLA_FFI_Error_Destroy_field(&destroy);
  };
  XLA_FFI_TypeId unknown{12345678};
  XLA_FFI_State_Args state{sizeof(state), nullptr, frame->ctx, XLA_FFI_ExecutionStage_INSTANTIATE, &unknown, nullptr};
  failed(frame->api->XLA_FFI_State_Get_field(&state));
  failed(frame->api->XLA_FFI_State_Set_field(&state));
  state.stage = XLA_FFI_ExecutionStage_EXECUTE;
  failed(frame->api->XLA_FFI_State_Get_field(&state));
  XLA_FFI_InvokeContext_Get_Args context{sizeof(context), nullptr, frame->ctx, &unknown, nullptr};
  failed(frame->api->XLA_FFI_InvokeContext_Get_field(&context));
  XLA_FFI_Stream_Get_Args stream{sizeof(stream), nullptr, frame->ctx, nullptr};
  failed(frame->api->XLA_FFI_Stream_Get_field(&stream));
  XLA_FFI_DeviceMemory_Allocate_Args allocate{sizeof(allocate), nullptr, frame->ctx, 100, 3000, nullptr};
  failed(frame->api->XLA_FFI_DeviceMemory_Allocate_field(&allocate));
  allocate.size = SIZE_MAX;
  failed(frame->api->XLA_FFI_DeviceMemory_Allocate_field(&allocate));
  XLA_FFI_DeviceMemory_Free_Args free_args{sizeof(free_args), nullptr, frame->ctx, 1, &wrong};
  failed(frame->api->XLA_FFI_DeviceMemory_Free_field(&free_args));
  XLA_FFI_RunId_Get_Args small{8, nullptr, frame->ctx, 0};
  failed(frame->api->XLA_FFI_RunId_Get_field(&small));
  XLA_FFI_CustomOptions_Get_Args options{sizeof(options), nullptr, frame->ctx, nullptr};
  wrong += frame->api->XLA_FFI_CustomOptions_Get_field(&options) != nullptr || options.attrs->size != 0;
  options.struct_size = 8;
  failed(frame->api->XLA_FFI_CustomOptions_Get_field(&options));
  const XLA_FFI_Extension* const some = reinterpret_cast<const XLA_FFI_Extension*>(&wrong);
  XLA_FFI_InvokeContext_FindExtension_Args extension{sizeof(extension), nullptr, frame->ctx, 7, some};
  wrong +=
      frame->api->XLA_FFI_InvokeContext_FindExtension_field(&extension) != nullptr || extension.extension != nullptr;
  // Memory that is not given back goes with the call.
  allocate.size = 100;
  allocate.alignment = 1;
  wrong += frame->api->XLA_FFI_DeviceMemory_Allocate_field(&allocate) != nullptr;
  *static_cast<int32_t*>(static_cast<XLA_FFI_Buffer*>(frame->rets.rets[0])->data) = wrong;
  return nullptr;
}

class TypedCallTest : public testing::TestWithParam<const char*> {
 protected:
  TypedCallTest() : client_(*Client::Create({.platform = GetParam(), .num_threads = 2})) {}
  CustomCallRegistry& registry() { return *client_->custom_call_registry(); }
  // The value of "ROOT r = `instruction`, api_version=API_VERSION_TYPED_FFI" after `before`.
  absl::StatusOr<Literal> Run(const std::string& instruction, absl::Span<const Literal* const> arguments = {},
                              const std::string& before = "", const ExecuteOptions& options = {}) {
    auto executable = client_->CompileHloText("HloModule m ENTRY e { " + before + " ROOT r = " + instruction +
                                              ", api_version=API_VERSION_TYPED_FFI }");
    if (!executable.ok()) return executable.status();
    return (*executable)->ExecuteLiterals(arguments, options);
  }
  void ExpectError(const std::string& instruction, StatusCode code, absl::string_view message) {
    const absl::Status status = Run(instruction).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), message)) << status;
  }
  // False if the handlers were not built.
  bool LoadHandlers() {
#ifdef HILO_TEST_JAXLIB_HANDLERS
    const absl::Status loaded = LoadCustomCallLibrary(HILO_TEST_JAXLIB_HANDLERS, &registry());
    EXPECT_TRUE(loaded.ok()) << loaded;
    return true;
#else
    return false;
#endif
  }
  std::unique_ptr<Client> client_;
};

INSTANTIATE_TEST_SUITE_P(Platforms, TypedCallTest, testing::Values("interpreter", "cpu"));

TEST_P(TypedCallTest, BuffersAndAttributes) {
  ASSERT_TRUE(registry().RegisterFfi("add", &AddHandler).ok());
  const Literal x = LiteralUtil::CreateR1<float>({1, 2, 3});
  auto y = Run("f32[3] custom-call(x), custom_call_target=\"add\", backend_config={by = 0.5 : f32}", {&x},
               "x = f32[3] parameter(0)");
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(*y, LiteralUtil::CreateR1<float>({1.5, 2.5, 3.5}));
  // The same in quotes.
  y = Run("f32[3] custom-call(x), custom_call_target=\"add\", backend_config=\"{by = 0.5 : f32}\"", {&x},
          "x = f32[3] parameter(0)");
  EXPECT_TRUE(y.ok()) << y.status();
  y = Run("f32[3] custom-call(x), custom_call_target=\"add\", backend_config={of = 0.5 : f32}", {&x},
          "x = f32[3] parameter(0)");
  EXPECT_EQ(y.status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(y.status().message(), "custom call add: expected the attribute by")) << y.status();
}

TEST_P(TypedCallTest, ErrorsOfCompilation) {
  ASSERT_TRUE(registry().RegisterFfi("add", &AddHandler).ok());
  ASSERT_TRUE(registry().RegisterFfi("newer", &FromTheFuture).ok());
  ExpectError("f32[] custom-call(), custom_call_target=\"add\", backend_config=\"text\"", StatusCode::kInvalidArgument,
              "custom call add: attributes: expected {");
  ExpectError("f32[] custom-call(), custom_call_target=\"newer\"", StatusCode::kUnimplemented,
              "custom call newer: the handler is of FFI version 0.99");
  ExpectError("f32[] custom-call(), custom_call_target=\"missing\"", StatusCode::kNotFound,
              "no custom call target missing");
}

TEST_P(TypedCallTest, UnavailableResource_IsAnError) {
  ASSERT_TRUE(registry().RegisterFfi("ask", &AskWrongly).ok());
  auto wrong = Run("s32[] custom-call(), custom_call_target=\"ask\"");
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  EXPECT_EQ(wrong->GetFirstElement<int32_t>(), 0);
}

TEST(FfiTypesTest, NamesAndNumbersGoTogether) {
  auto id = ffi::RegisterType("types_test.a", 0, {});
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(*ffi::RegisterType("types_test.a", 0, {}), *id);
  EXPECT_EQ(*ffi::RegisterType("types_test.a", *id, {}), *id);
  EXPECT_FALSE(ffi::RegisterType("types_test.a", *id + 1000, {}).ok());
  EXPECT_FALSE(ffi::RegisterType("types_test.b", *id, {}).ok());
  EXPECT_EQ(*ffi::RegisterType("types_test.c", 987654, {}), 987654);
  EXPECT_FALSE(ffi::RegisterType("", 0, {}).ok());
  ffi::ExecutionContext context;
  int object = 0;
  EXPECT_FALSE(context.Insert(55555555, &object).ok());
  EXPECT_TRUE(context.Insert(*id, &object).ok());
  EXPECT_FALSE(context.Insert(*id, &object).ok());
  EXPECT_EQ(context.Find(*id), &object);
  EXPECT_EQ(context.Find(987654), nullptr);
}

TEST(CustomCallLibraryTest, Errors) {
  CustomCallRegistry registry;
  EXPECT_EQ(LoadCustomCallLibrary("/nowhere/at/all.so", &registry).code(), StatusCode::kNotFound);
  EXPECT_EQ(LoadCustomCallLibrary("nowhere.so", &registry).code(), StatusCode::kNotFound);
}

class JaxlibHandlersTest : public TypedCallTest {
 protected:
  void SetUp() override {
    if (!LoadHandlers())
      GTEST_SKIP() << "jaxlib's headers were not found when the tests were configured (HILO_JAXLIB_INCLUDE_DIR)";
  }
  template <typename T>
  T Value(const std::string& instruction, const ExecuteOptions& options = {}) {
    auto result = Run(instruction, {}, "", options);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? result->GetFirstElement<T>() : T();
  }
};

INSTANTIATE_TEST_SUITE_P(Platforms, JaxlibHandlersTest, testing::Values("interpreter", "cpu"));

TEST_P(JaxlibHandlersTest, BuffersInTheirLayouts) {
  const Literal x = LiteralUtil::CreateR2<float>({{1, 2, 3}, {4, 5, 6}});
  const std::string parameter = "x = f32[2,3] parameter(0)";
  auto y =
      Run("f32[2,3]{0,1} custom-call(x), custom_call_target=\"scale\", operand_layout_constraints={f32[2,3]{0,1}}, "
          "backend_config={factor = 2.0 : f32}",
          {&x}, parameter);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(*y, LiteralUtil::CreateR2<float>({{2, 4, 6}, {8, 10, 12}}));
  // Dimensions are those of the program, whatever the layout.
  y = Run("s64[2]{0} custom-call(x), custom_call_target=\"dimensions\", operand_layout_constraints={f32[2,3]{0,1}}",
          {&x}, parameter);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(*y, LiteralUtil::CreateR1<int64_t>({2, 3}));
  EXPECT_EQ(Run("f32[2,3] custom-call(x), custom_call_target=\"scale\", backend_config={factor = 2.0}", {&x}, parameter)
                .status()
                .code(),
            StatusCode::kInvalidArgument);
}

TEST_P(JaxlibHandlersTest, AttributesOfAllKinds) {
  EXPECT_EQ(Value<int32_t>("s32[] custom-call(), custom_call_target=\"attributes\", backend_config={on = true, i8 = -1 "
                           ": i8, i16 = -2 : i16, "
                           "i32 = -3 : i32, i64 = -4 : i64, u8 = 1 : ui8, u16 = 2 : ui16, u32 = 3 : ui32, u64 = 4 : "
                           "ui64, f32 = 1.5 : f32, "
                           "f64 = 2.5 : f64, name = \"a\\\"b\", numbers = array<i64: 7, 8, -9>, floats = dense<[1.0, "
                           "0.5]> : tensor<2xf32>, "
                           "nested = {x = 5 : i32, deep = {s = \"t\"}}}"),
            0);
}

TEST_P(JaxlibHandlersTest, AnyNumberOfBuffers) {
  const Literal a = LiteralUtil::CreateR0<float>(1), b = LiteralUtil::CreateR0<float>(2),
                c = LiteralUtil::CreateR0<float>(4);
  auto r = Run("(f32[], f32[]) custom-call(a, t), custom_call_target=\"remaining\"", {&a, &b, &c},
               "a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) t = (f32[], f32[]) tuple(b, c)");
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(r->element(0).GetFirstElement<float>(), 7);
  EXPECT_EQ(r->element(1).GetFirstElement<float>(), 14);
}

TEST_P(JaxlibHandlersTest, Tokens) {
  auto r = Run("f32[] get-tuple-element(c), index=1, metadata={op_name=\"x\"}, ignored={}", {},
               "t = token[] after-all() x = f32[] constant(2) c = (token[], f32[]) custom-call(t, x), "
               "custom_call_target=\"token\", "
               "custom_call_has_side_effect=true, api_version=API_VERSION_TYPED_FFI");
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(r->GetFirstElement<float>(), 3);
}

TEST_P(JaxlibHandlersTest, Errors) {
  ExpectError("f32[] custom-call(), custom_call_target=\"fails\"", StatusCode::kDataLoss,
              "custom call fails: it is gone");
  ExpectError("f32[] custom-call(), custom_call_target=\"throws\"", StatusCode::kInternal,
              "custom call throws: it threw a fit");
  ExpectError("s32[] custom-call(), custom_call_target=\"fails\"", StatusCode::kInvalidArgument, "custom call fails: ");
}

TEST_P(JaxlibHandlersTest, InstancesKeepStates) {
  {
    auto executable = client_->CompileHloText(
        "HloModule m ENTRY e { ROOT r = s64[] custom-call(), custom_call_target=\"count\", "
        "api_version=API_VERSION_TYPED_FFI, "
        "custom_call_has_side_effect=true, backend_config={start = 10 : i64} }");
    ASSERT_TRUE(executable.ok()) << executable.status();
    EXPECT_EQ((*executable)->ExecuteLiterals({})->GetFirstElement<int64_t>(), 11);
    EXPECT_EQ((*executable)->ExecuteLiterals({})->GetFirstElement<int64_t>(), 12);
    EXPECT_EQ(Value<int64_t>("s64[] custom-call(), custom_call_target=\"alive\""), 1);
  }
  EXPECT_EQ(Value<int64_t>("s64[] custom-call(), custom_call_target=\"alive\""), 0);
  ExpectError("s64[] custom-call(), custom_call_target=\"count\", backend_config={start = -1 : i64}",
              StatusCode::kInvalidArgument, "custom call count: cannot start below 0");
}

TEST_P(JaxlibHandlersTest, StagesOfARun) {
  EXPECT_EQ(Value<int64_t>("s64[] custom-call(), custom_call_target=\"digits\""), 1201);
}

TEST_P(JaxlibHandlersTest, OwnedByTheRun) {
  int64_t caller = 77;
  ffi::ExecutionContext context;
  ASSERT_TRUE(context.Insert(*ffi::RegisterType("test.caller", 0, {}), &caller).ok());
  const std::string call = "s64[5] custom-call(), custom_call_target=\"use_context\"";
  auto r = Run(call, {}, "", {.ffi_context = &context});
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(r->Get<int64_t>({0}), 28);
  EXPECT_EQ(r->Get<int64_t>({1}), 2);
  EXPECT_EQ(r->Get<int64_t>({2}), 0);
  auto again = Run(call, {}, "", {.ffi_context = &context});
  ASSERT_TRUE(again.ok());
  EXPECT_NE(r->Get<int64_t>({3}), again->Get<int64_t>({3}));
  EXPECT_EQ(r->Get<int64_t>({4}), 77);
  ExpectError(call, StatusCode::kInvalidArgument, "Failed to get user data");
}

TEST_P(JaxlibHandlersTest, ResultsThatArriveLater) {
  EXPECT_EQ(Value<float>("f32[] custom-call(), custom_call_target=\"later\", backend_config={fail = false}"), 4);
  ExpectError("f32[] custom-call(), custom_call_target=\"later\", backend_config={fail = true}",
              StatusCode::kUnavailable, "custom call later: no receiver");
}

}  // namespace
}  // namespace hilo
