// The profiler's table of functions, as frameworks call it.
#include "hlo/import/hlo_proto_wire.h"
#include "tests/pjrt/plugin.h"

namespace hilo::pjrt_test {
namespace {

const PLUGIN_Profiler_Api& Profiler() {
  const auto* extension = FindExtension<PJRT_Profiler_Extension>(PJRT_Extension_Type_Profiler);
  if (extension == nullptr) abort();
  return *extension->profiler_api;
}

// "" or "code: message"; the error is freed.
std::string Text(PLUGIN_Profiler_Error* error) {
  if (error == nullptr) return "";
  PLUGIN_Profiler_Error_Message_Args message = {.error = error};
  Profiler().error_message(&message);
  PLUGIN_Profiler_Error_GetCode_Args code = {.error = error};
  EXPECT_EQ(Profiler().error_get_code(&code), nullptr);
  std::string text = std::to_string(code.code) + ": " + std::string(message.message, message.message_size);
  PLUGIN_Profiler_Error_Destroy_Args destroy = {.error = error};
  Profiler().error_destroy(&destroy);
  return text;
}

// struct_size stays unset, as callers leave it.
PLUGIN_Profiler* NewProfiler() {
  PLUGIN_Profiler_Create_Args args = {};
  EXPECT_EQ(Text(Profiler().create(&args)), "");
  return args.profiler;
}

std::string Call(PLUGIN_Profiler_Error* (*function)(PLUGIN_Profiler_Args*), PLUGIN_Profiler* profiler) {
  PLUGIN_Profiler_Args args = {.profiler = profiler};
  return Text(function(&args));
}

TEST(ProfilerTest, Sessions) {
  EXPECT_EQ(Profiler().struct_size, sizeof(PLUGIN_Profiler_Api));
  PLUGIN_Profiler* const profiler = NewProfiler();
  PLUGIN_Profiler_CollectData_Args data = {.profiler = profiler};
  EXPECT_EQ(Text(Profiler().collect_data(&data)), "9: the profiler has not been started");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Call(Profiler().start, profiler), "");
    PLUGIN_Profiler* const second = NewProfiler();
    EXPECT_EQ(Call(Profiler().start, second), "9: a profile is being recorded already");
    EXPECT_EQ(Call(Profiler().destroy, second), "");
    EXPECT_EQ(Call(Profiler().stop, profiler), "");
    // First the size, and then the bytes, in memory of the caller.
    data.buffer = nullptr;
    ASSERT_EQ(Text(Profiler().collect_data(&data)), "");
    ASSERT_NE(data.buffer, nullptr);
    const std::string kept(reinterpret_cast<char*>(data.buffer), data.buffer_size_in_bytes);
    std::string bytes(data.buffer_size_in_bytes, '\0');
    data.buffer = reinterpret_cast<uint8_t*>(bytes.data());
    ASSERT_EQ(Text(Profiler().collect_data(&data)), "");
    EXPECT_EQ(bytes, kept);
    EXPECT_EQ(WireMessage::Parse(bytes)->Bytes(4), "localhost");
  }
  // One that is destroyed while it records does not keep others from recording.
  EXPECT_EQ(Call(Profiler().start, profiler), "");
  EXPECT_EQ(Call(Profiler().destroy, profiler), "");
  PLUGIN_Profiler* const next = NewProfiler();
  EXPECT_EQ(Call(Profiler().start, next), "");
  EXPECT_EQ(Call(Profiler().destroy, next), "");
}

class ProfileOfProgramTest : public PluginTest {};

// A loop whose body is too short for steps of its own is in the profile's HLO, with the names of its source.
TEST_F(ProfileOfProgramTest, HasTheHlo) {
  PJRT_LoadedExecutable* const loaded = Compile(R"(HloModule looped
body {
  x = f32[3] parameter(0)
  ROOT y = f32[3] add(x, x), metadata={op_name="jit(f)/while/body/doubling"}
}
condition {
  x = f32[3] parameter(0)
  first = f32[1] slice(x), slice={[0:1]}
  scalar = f32[] reshape(first)
  limit = f32[] constant(100)
  ROOT c = pred[] compare(scalar, limit), direction=LT
}
ENTRY main {
  x = f32[3] parameter(0)
  ROOT w = f32[3] while(x), condition=condition, body=body
}
)");
  PJRT_Buffer* const x = Floats({1, 2, 3});
  PLUGIN_Profiler* const profiler = NewProfiler();
  EXPECT_EQ(Call(Profiler().start, profiler), "");
  std::vector<PJRT_Buffer*> results;
  ASSERT_EQ(Run(loaded, {x}, &results), "");
  EXPECT_EQ(ToHost(results[0]), (std::vector<float>{128, 256, 384}));
  EXPECT_EQ(Call(Profiler().stop, profiler), "");
  PLUGIN_Profiler_CollectData_Args data = {.profiler = profiler};
  ASSERT_EQ(Text(Profiler().collect_data(&data)), "");
  const std::string bytes(reinterpret_cast<char*>(data.buffer), data.buffer_size_in_bytes);
  EXPECT_NE(bytes.find("/host:metadata"), std::string::npos);
  EXPECT_NE(bytes.find("looped(1)"), std::string::npos);
  EXPECT_NE(bytes.find("jit(f)/while/body/doubling"), std::string::npos);
  EXPECT_EQ(Call(Profiler().destroy, profiler), "");
  Destroy(results[0]);
  Destroy(x);
  Destroy(loaded);
}

TEST(ProfilerTest, NullHandles) {
  for (auto* function : {Profiler().start, Profiler().stop})
    EXPECT_EQ(Call(function, nullptr), "3: expected a PLUGIN_Profiler, got null");
  EXPECT_EQ(Call(Profiler().destroy, nullptr), "");
  PLUGIN_Profiler_CollectData_Args data = {};
  EXPECT_EQ(Text(Profiler().collect_data(&data)), "3: expected a PLUGIN_Profiler, got null");
  EXPECT_EQ(Text(Profiler().create(nullptr)), "3: expected a struct of arguments, got null");
}

}  // namespace
}  // namespace hilo::pjrt_test
