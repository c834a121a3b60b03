// Registries, and calls of the untyped versions.
#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <stdexcept>

#include "absl/strings/match.h"
#include "hilo/client.h"
#include "hilo/ffi.h"
#include "hilo/xla_builder.h"

namespace hilo {
namespace {

using absl::StatusCode;

void One(void* out, const void**) { *static_cast<float*>(out) = 1; }
void Two(void* out, const void**) { *static_cast<float*>(out) = 2; }
void Fail(void*, const void**, XlaCustomCallStatus* status) {
  XlaCustomCallStatusSetFailure(status, "no luck today", 7);
}
void Throw(void*, const void**) { throw std::runtime_error("a fit"); }
void ThrowInt(void*, const void**) { throw 5; }
void ThrowMemory(void*, const void**) { throw std::bad_alloc(); }

class CustomCallTest : public testing::TestWithParam<const char*> {
 protected:
  CustomCallTest() : client_(*Client::Create({.platform = GetParam()})) {}
  CustomCallRegistry& registry() { return *client_->custom_call_registry(); }
  absl::StatusOr<Literal> Run(const std::string& attributes) {
    auto executable =
        client_->CompileHloText("HloModule m ENTRY e { ROOT r = f32[] custom-call(), " + attributes + " }");
    if (!executable.ok()) return executable.status();
    return (*executable)->ExecuteLiterals({});
  }
  float Value(const std::string& attributes) {
    auto result = Run(attributes);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? result->GetFirstElement<float>() : -1;
  }
  void ExpectError(const std::string& attributes, StatusCode code, absl::string_view message) {
    const absl::Status status = Run(attributes).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), message)) << status;
  }

  std::unique_ptr<Client> client_;
};

INSTANTIATE_TEST_SUITE_P(Platforms, CustomCallTest, testing::Values("interpreter", "cpu"));

TEST_P(CustomCallTest, TargetOfTheClient_HasPriority) {
  ASSERT_TRUE(CustomCallRegistry::Default().Register("custom_call_test.number", &One).ok());
  EXPECT_EQ(Value("custom_call_target=\"custom_call_test.number\""), 1);
  ASSERT_TRUE(registry().Register("custom_call_test.number", &Two).ok());
  EXPECT_EQ(Value("custom_call_target=\"custom_call_test.number\""), 2);
}

void AddOneInPlace(void* out, const void** in) { *static_cast<float*>(out) += in[0] == out ? 1 : 100; }

// As in XLA, both are at one address. What else uses the operand does not see the result.
TEST_P(CustomCallTest, AliasedOperands_AreWhereTheResultIs) {
  ASSERT_TRUE(registry().Register("add_one", &AddOneInPlace).ok());
  auto executable = client_->CompileHloText(R"(HloModule m
ENTRY e {
  x = f32[] parameter(0)
  y = f32[] custom-call(x), custom_call_target="add_one", output_to_operand_aliasing={{}: (0, {})}
  ROOT r = (f32[], f32[]) tuple(x, y)
})");
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal argument = LiteralUtil::CreateR0<float>(4);
  auto result = (*executable)->ExecuteLiterals({&argument});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->element(0).GetFirstElement<float>(), 4);
  EXPECT_EQ(result->element(1).GetFirstElement<float>(), 5);
}

void StoreNarrow(void* out, const void**) {
  static constexpr uint8_t kBytes[] = {0x08, 0x0f, 0xf2, 0x07};
  void* const* leaves = static_cast<void* const*>(out);
  for (int leaf = 0; leaf < 2; ++leaf) std::memcpy(leaves[leaf], kBytes, sizeof(kBytes));
}

// Other bits than those of the elements do not matter.
TEST_P(CustomCallTest, NarrowResults_MayHaveAnyUnusedBits) {
  ASSERT_TRUE(registry().Register("narrow", &StoreNarrow).ok());
  auto executable = client_->CompileHloText(R"(HloModule m
ENTRY e {
  c = (s4[4], pred[4]) custom-call(), custom_call_target="narrow"
  x = s4[4] get-tuple-element(c), index=0
  y = pred[4] get-tuple-element(c), index=1
  x32 = s32[4] convert(x)
  y32 = s32[4] convert(y)
  ROOT r = (s32[4], s32[4]) tuple(x32, y32)
})");
  ASSERT_TRUE(executable.ok()) << executable.status();
  auto result = (*executable)->ExecuteLiterals({});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->element(0), LiteralUtil::CreateR1<int>({-8, -1, 2, 7}));
  EXPECT_EQ(result->element(1), LiteralUtil::CreateR1<int>({1, 1, 1, 1}));
}

TEST_P(CustomCallTest, PlatformsAreCompared) {
  ASSERT_TRUE(registry().Register("t", &One, "CUDA").ok());
  ExpectError("custom_call_target=\"t\"", StatusCode::kNotFound,
              "no custom call target t of API_VERSION_ORIGINAL is registered for platform");
  ASSERT_TRUE(registry().Register("t", &Two, "CPU").ok());
  EXPECT_EQ(Value("custom_call_target=\"t\""), 2);
}

TEST_P(CustomCallTest, WrongVersionsAreRefused) {
  ASSERT_TRUE(registry().Register("t", &One).ok());
  ExpectError(
      "custom_call_target=\"t\", api_version=API_VERSION_STATUS_RETURNING", StatusCode::kInvalidArgument,
      "custom call target t is registered with API_VERSION_ORIGINAL, but the call is of API_VERSION_STATUS_RETURNING");
  ExpectError("custom_call_target=\"t\", api_version=API_VERSION_TYPED_FFI", StatusCode::kInvalidArgument,
              "but the call is of API_VERSION_TYPED_FFI");
  // For an untyped target without a version, the call states it.
  ASSERT_TRUE(
      registry()
          .Register("u", "host",
                    {.api_version = API_VERSION_UNSPECIFIED, .function = reinterpret_cast<void*>(&One), .handlers = {}})
          .ok());
  EXPECT_EQ(Value("custom_call_target=\"u\""), 1);
}

TEST_P(CustomCallTest, FailuresNameTheTarget) {
  ASSERT_TRUE(registry().Register("fails", &Fail).ok());
  ExpectError("custom_call_target=\"fails\", api_version=API_VERSION_STATUS_RETURNING", StatusCode::kInternal,
              "custom call fails: no luck");
  ASSERT_TRUE(registry().Register("throws", &Throw).ok());
  ExpectError("custom_call_target=\"throws\"", StatusCode::kInternal, "custom call throws: it threw a fit");
  ASSERT_TRUE(registry().Register("throws_int", &ThrowInt).ok());
  ExpectError("custom_call_target=\"throws_int\"", StatusCode::kInternal, "custom call throws_int: it threw something");
  ASSERT_TRUE(registry().Register("throws_memory", &ThrowMemory).ok());
  ExpectError("custom_call_target=\"throws_memory\"", StatusCode::kResourceExhausted,
              "custom call throws_memory: out of memory");
}

TEST_P(CustomCallTest, UnsupportedXlaFeatures) {
  ExpectError("custom_call_target=\"xla_ffi_python_cpu_callback\", api_version=API_VERSION_TYPED_FFI",
              StatusCode::kUnimplemented, "xla_ffi_python_cpu_callback is not supported on platform ");
  ExpectError("custom_call_target=\"xla_python_cpu_callback\"", StatusCode::kUnimplemented, "callback into the Python");
  for (const char* target :
       {"PadToStatic", "SliceToDynamic", "__onednn$matmul", "mhlo.topk", "xla.sdy.other", "__cublas$gemm"}) {
    ExpectError(absl::StrCat("custom_call_target=\"", target, "\""), StatusCode::kUnimplemented, target);
  }
}

TEST_P(CustomCallTest, ShapesChangeBetweenPartitionsOnly) {
  auto executable = client_->CompileHloText(
      "HloModule m ENTRY e { x = f32[2] constant({1, 2}) ROOT r = f32[1] custom-call(x), "
      "custom_call_target=\"MoveToHost\" }");
  const absl::Status status = executable.ok() ? (*executable)->ExecuteLiterals({}).status() : executable.status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_TRUE(absl::StrContains(status.message(), "MoveToHost changes shapes")) << status;
}

TEST(CustomCallRegistryTest, RefusesWhatCannotBeCalled) {
  CustomCallRegistry registry;
  EXPECT_EQ(registry.Register("", &One).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(registry.Register("t", static_cast<CustomCallOriginal*>(nullptr)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(registry.RegisterFfi("t", FfiHandlers()).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(registry.Register("t", &One).ok());
  EXPECT_TRUE(registry.Register("t", &One, "HOST").ok());  // the same again
  EXPECT_EQ(registry.Register("t", &Two).code(), StatusCode::kAlreadyExists);
  EXPECT_TRUE(registry.Register("t", &Two, "other").ok());
}

// A call with side effects runs even if its result is unused; others need not.
int counted = 0;
void Count(void*, const void**) { ++counted; }
TEST(CustomCallEffectTest, EffectsAreKept) {
  auto client = *Client::Create({});
  ASSERT_TRUE(client->custom_call_registry()->Register("count", &Count).ok());
  for (const char* effect : {"true", "false"}) {
    const std::string call =
        absl::StrCat(" = f32[] custom-call(), custom_call_target=\"count\", custom_call_has_side_effect=", effect);
    auto executable = client->CompileHloText(
        absl::StrCat("HloModule m ENTRY e { a", call, " b", call, " ROOT r = f32[] constant(3) }"));
    ASSERT_TRUE(executable.ok()) << executable.status();
    counted = 0;
    ASSERT_TRUE((*executable)->ExecuteLiterals({}).ok());
    EXPECT_EQ(counted, effect[0] == 't' ? 2 : 0);
  }
}

TEST(CustomCallBuilderTest, AllThree) {
  auto client = *Client::Create({});
  CustomCallOriginal* six = +[](void* out, const void** in) {
    for (int i = 0; i < 6; ++i) static_cast<float*>(out)[i] = static_cast<const float*>(in[0])[i];
  };
  ASSERT_TRUE(client->custom_call_registry()->Register("six", six).ok());
  const Shape shape = ShapeUtil::MakeShape(F32, {2, 3});
  const Shape column_major = ShapeUtil::MakeShapeWithDenseLayout(F32, {2, 3}, {0, 1});
  XlaBuilder scalar("add");
  Add(Parameter(&scalar, 0, ShapeUtil::MakeShape(F32, {}), "a"),
      Parameter(&scalar, 1, ShapeUtil::MakeShape(F32, {}), "b"));
  const XlaComputation add = *scalar.Build();
  XlaBuilder b("main");
  const XlaOp x = Parameter(&b, 0, shape, "x");
  const XlaOp plain = CustomCall(&b, "six", {x}, shape);
  const XlaOp computed = CustomCallWithComputation(&b, "six", {x}, add, shape);
  const XlaOp laid_out = CustomCallWithLayout(&b, "six", {x}, shape, {column_major});
  Tuple(&b, {plain, computed, laid_out});
  auto computation = b.Build();
  ASSERT_TRUE(computation.ok()) << computation.status();
  auto executable = client->Compile(*computation);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal argument = LiteralUtil::CreateR2<float>({{1, 2, 3}, {4, 5, 6}});
  auto result = (*executable)->ExecuteLiterals({&argument});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->element(0), argument);
  EXPECT_EQ(result->element(1), argument);
  EXPECT_EQ(result->element(2), LiteralUtil::CreateR2<float>({{1, 4, 2}, {5, 3, 6}}));

  XlaBuilder wrong("main");
  CustomCallWithLayout(&wrong, "six", {Parameter(&wrong, 0, shape, "x")}, shape, {Shape(F32, {2, 3})});
  EXPECT_EQ(wrong.Build().status().code(), StatusCode::kInvalidArgument);
  XlaBuilder alias("main");
  CustomCall(&alias, "six", {Parameter(&alias, 0, shape, "x")}, shape, "", false,
             {OutputOperandAliasing{{0}, {0, {}}}});
  EXPECT_EQ(alias.Build().status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hilo
