// The plugin as a framework sees it: a table of C functions in a library that is loaded at run time.
#ifndef HILO_TESTS_PJRT_PLUGIN_H_
#define HILO_TESTS_PJRT_PLUGIN_H_

#include <dlfcn.h>

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hlo/import/hlo_proto_wire.h"
#include "pjrt/abi_extensions.h"

namespace hilo::pjrt_test {

inline const PJRT_Api* Api() {
  static const PJRT_Api* const api = [] {
    void* library = dlopen(HILO_TEST_PJRT_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      ADD_FAILURE() << dlerror();
      abort();
    }
    return reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"))();
  }();
  return api;
}

template <typename Args>
Args Make() {
  Args args = {};
  args.struct_size = sizeof(Args);
  return args;
}

// "" or "code: message"; the error is freed.
inline std::string TextOf(PJRT_Error* error) {
  if (error == nullptr) return "";
  auto message = Make<PJRT_Error_Message_Args>();
  message.error = error;
  Api()->PJRT_Error_Message(&message);
  auto code = Make<PJRT_Error_GetCode_Args>();
  code.error = error;
  EXPECT_EQ(Api()->PJRT_Error_GetCode(&code), nullptr);
  std::string text = std::to_string(code.code) + ": " + std::string(message.message, message.message_size);
  auto destroy = Make<PJRT_Error_Destroy_Args>();
  destroy.error = error;
  Api()->PJRT_Error_Destroy(&destroy);
  return text;
}

// PJRT_CALL(Client_Devices, .client = client) fails the test on an error, and is the struct of arguments afterwards.
#define PJRT_CALL(function, ...)                                                                                   \
  ([&] {                                                                                                           \
    PJRT_##function##_Args pjrt_args_{                                                                             \
        .struct_size = sizeof(PJRT_##function##_Args), .extension_start = nullptr, __VA_ARGS__};                   \
    EXPECT_EQ(::hilo::pjrt_test::TextOf(::hilo::pjrt_test::Api()->PJRT_##function(&pjrt_args_)), "") << #function; \
    return pjrt_args_;                                                                                             \
  }())
// The same for a call that must fail: the text of the error.
#define PJRT_ERROR(function, ...)                                                                \
  ([&] {                                                                                         \
    PJRT_##function##_Args pjrt_args_{                                                           \
        .struct_size = sizeof(PJRT_##function##_Args), .extension_start = nullptr, __VA_ARGS__}; \
    return ::hilo::pjrt_test::TextOf(::hilo::pjrt_test::Api()->PJRT_##function(&pjrt_args_));    \
  }())

template <typename Extension>
const Extension* FindExtension(PJRT_Extension_Type type) {
  for (const PJRT_Extension_Base* link = Api()->extension_start; link != nullptr; link = link->next) {
    if (link->type == type) return reinterpret_cast<const Extension*>(link);
  }
  return nullptr;
}

inline PJRT_NamedValue IntOption(const char* name, int64_t value) {
  PJRT_NamedValue option = Make<PJRT_NamedValue>();
  option.name = name;
  option.name_size = std::string(name).size();
  option.type = PJRT_NamedValue_kInt64;
  option.int64_value = value;
  option.value_size = 1;
  return option;
}

// A client of two devices with a few things that most tests do.
class PluginTest : public testing::Test {
 protected:
  void SetUp() override {
    const PJRT_NamedValue options[] = {IntOption("num_devices", 2), IntOption("num_threads", 2)};
    client_ = PJRT_CALL(Client_Create, .create_options = options, .num_options = 2).client;
    ASSERT_NE(client_, nullptr);
    const auto devices = PJRT_CALL(Client_Devices, .client = client_);
    devices_.assign(devices.devices, devices.devices + devices.num_devices);
  }
  void TearDown() override {
    if (client_ != nullptr) PJRT_CALL(Client_Destroy, .client = client_);
  }

  PJRT_Client_BufferFromHostBuffer_Args FromHost(
      const void* data, PJRT_Buffer_Type type, const std::vector<int64_t>& dims,
      PJRT_HostBufferSemantics semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
      const std::vector<int64_t>& strides = {}, size_t device = 0) {
    return PJRT_CALL(Client_BufferFromHostBuffer, .client = client_, .data = data, .type = type, .dims = dims.data(),
                     .num_dims = dims.size(), .byte_strides = strides.empty() ? nullptr : strides.data(),
                     .num_byte_strides = strides.size(), .host_buffer_semantics = semantics,
                     .device = devices_[device]);
  }
  PJRT_Buffer* Floats(const std::vector<float>& values, size_t device = 0) {
    const auto args = FromHost(values.data(), PJRT_Buffer_Type_F32, {static_cast<int64_t>(values.size())},
                               PJRT_HostBufferSemantics_kImmutableOnlyDuringCall, {}, device);
    PJRT_CALL(Event_Destroy, .event = args.done_with_host_buffer);
    return args.buffer;
  }
  std::vector<float> ToHost(PJRT_Buffer* buffer) {
    const size_t size = PJRT_CALL(Buffer_ToHostBuffer, .src = buffer).dst_size;
    std::vector<float> values(size / sizeof(float) + 1);
    const auto copy = PJRT_CALL(Buffer_ToHostBuffer, .src = buffer, .dst = values.data(), .dst_size = size);
    Await(copy.event);
    values.pop_back();
    return values;
  }
  void Await(PJRT_Event* event) {
    PJRT_CALL(Event_Await, .event = event);
    PJRT_CALL(Event_Destroy, .event = event);
  }
  void Destroy(PJRT_Buffer* buffer) { PJRT_CALL(Buffer_Destroy, .buffer = buffer); }
  bool IsDeleted(PJRT_Buffer* buffer) { return PJRT_CALL(Buffer_IsDeleted, .buffer = buffer).is_deleted; }
  void* PointerOf(PJRT_Buffer* buffer) {
    return PJRT_CALL(Buffer_OpaqueDeviceMemoryDataPointer, .buffer = buffer).device_memory_ptr;
  }

  // CompileOptionsProto for so many replicas and partitions, with one user option if it has a name.
  static std::string Options(int64_t replicas = 1, int64_t partitions = 1, const std::string& option = "") {
    WireWriter build, options;
    build.Int(4, replicas);
    build.Int(5, partitions);
    build.Bool(6, partitions > 1);  // use_spmd_partitioning
    options.Message(3, build);
    if (!option.empty()) {
      WireWriter value, entry;
      value.PutInt(2, 1);
      entry.Bytes(1, option);
      entry.Message(2, value);
      options.Message(7, entry);
    }
    return std::move(options).Take();
  }
  static PJRT_Program ProgramOf(const std::string& code, const std::string& format) {
    PJRT_Program program = Make<PJRT_Program>();
    program.code = const_cast<char*>(code.data());
    program.code_size = code.size();
    program.format = format.data();
    program.format_size = format.size();
    return program;
  }
  PJRT_LoadedExecutable* Compile(const std::string& code, const std::string& options = Options(),
                                 const std::string& format = "hlo_text") {
    const PJRT_Program program = ProgramOf(code, format);
    return PJRT_CALL(Client_Compile, .client = client_, .program = &program, .compile_options = options.data(),
                     .compile_options_size = options.size())
        .executable;
  }
  std::string CompileError(const std::string& code, const std::string& format = "hlo_text",
                           const std::string& options = Options()) {
    const PJRT_Program program = ProgramOf(code, format);
    return PJRT_ERROR(Client_Compile, .client = client_, .program = &program, .compile_options = options.data(),
                      .compile_options_size = options.size());
  }
  // Runs on one device. The error's text, or "" with the results in `results` and the run's end in `end_`.
  std::string Run(PJRT_LoadedExecutable* executable, std::vector<PJRT_Buffer*> arguments,
                  std::vector<PJRT_Buffer*>* results, const std::vector<int64_t>& kept = {}) {
    PJRT_ExecuteOptions options = Make<PJRT_ExecuteOptions>();
    options.non_donatable_input_indices = kept.data();
    options.num_non_donatable_input_indices = kept.size();
    PJRT_Buffer* const* lists[] = {arguments.data()};
    results->assign(8, nullptr);
    PJRT_Buffer** outputs[] = {results->data()};
    PJRT_Event* end = nullptr;
    std::string error = PJRT_ERROR(LoadedExecutable_Execute, .executable = executable, .options = &options,
                                   .argument_lists = lists, .num_devices = 1, .num_args = arguments.size(),
                                   .output_lists = outputs, .device_complete_events = &end);
    if (end != nullptr) Await(end);
    while (!results->empty() && results->back() == nullptr) results->pop_back();
    return error;
  }
  void Destroy(PJRT_LoadedExecutable* executable) { PJRT_CALL(LoadedExecutable_Destroy, .executable = executable); }

  PJRT_Client* client_ = nullptr;
  std::vector<PJRT_Device*> devices_;
};

}  // namespace hilo::pjrt_test

#endif  // HILO_TESTS_PJRT_PLUGIN_H_
