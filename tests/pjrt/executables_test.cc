#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo/import/hlo_proto.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"
#include "runtime/ffi/xla_ffi_abi.h"
#include "tests/pjrt/plugin.h"

namespace hilo::pjrt_test {
namespace {

constexpr char kAdd[] = R"(HloModule add_two
ENTRY main { x = f32[3] parameter(0)  y = f32[3] parameter(1)  sum = f32[3] add(x, y)  product = f32[3] multiply(x, y)
  ROOT both = (f32[3], f32[3]) tuple(sum, product) })";

// 1,024 floats, so that they are not within the buffer's own object.
constexpr char kDonate[] = R"(HloModule step, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY main { x = f32[1024] parameter(0)  y = f32[1024] parameter(1)  ROOT sum = f32[1024] add(x, y) })";

using ExecutablesTest = PluginTest;

TEST_F(ExecutablesTest, Runs) {
  PJRT_LoadedExecutable* const loaded = Compile(kAdd);
  PJRT_Executable* const executable = PJRT_CALL(LoadedExecutable_GetExecutable, .loaded_executable = loaded).executable;
  EXPECT_EQ(PJRT_CALL(Executable_NumOutputs, .executable = executable).num_outputs, 2u);
  const auto name = PJRT_CALL(Executable_Name, .executable = executable);
  EXPECT_EQ(std::string(name.executable_name, name.executable_name_size), "add_two");
  const auto kinds = PJRT_CALL(Executable_OutputMemoryKinds, .executable = executable);
  EXPECT_EQ(std::string(kinds.memory_kinds[1], kinds.memory_kind_sizes[1]), "device");
  const auto sizes = PJRT_CALL(Executable_OutputDimensions, .executable = executable);
  EXPECT_EQ(sizes.dim_sizes[1], 1u);
  EXPECT_EQ(sizes.dims[1], 3);
  EXPECT_EQ(PJRT_CALL(Executable_GetCompiledMemoryStats, .executable = executable).argument_size_in_bytes, 24);
  const auto devices = PJRT_CALL(LoadedExecutable_AddressableDevices, .executable = loaded);
  ASSERT_EQ(devices.num_addressable_devices, 1u);
  EXPECT_EQ(devices.addressable_devices[0], devices_[0]);
  PJRT_CALL(Executable_Destroy, .executable = executable);

  PJRT_Buffer* const x = Floats({1, 2, 3});
  PJRT_Buffer* const y = Floats({4, 5, 6});
  std::vector<PJRT_Buffer*> results;
  ASSERT_EQ(Run(loaded, {x, y}, &results), "");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(ToHost(results[0]), (std::vector<float>{5, 7, 9}));
  EXPECT_EQ(ToHost(results[1]), (std::vector<float>{4, 10, 18}));
  for (PJRT_Buffer* result : results) Destroy(result);

  EXPECT_EQ(Run(loaded, {x}, &results), "3: add_two takes 2 arguments, but got 1");
  PJRT_Buffer* const wrong = Floats({1});
  EXPECT_EQ(Run(loaded, {x, wrong}, &results), "3: argument 1: expected f32[3], got f32[1]");
  PJRT_CALL(Buffer_Delete, .buffer = y);
  EXPECT_EQ(Run(loaded, {x, y}, &results).substr(0, 2), "3:");
  EXPECT_EQ(Run(loaded, {x, nullptr}, &results), "3: expected a PJRT_Buffer as an argument, got null");
  PJRT_ExecuteOptions options = Make<PJRT_ExecuteOptions>();
  EXPECT_EQ(
      PJRT_ERROR(LoadedExecutable_Execute, .executable = loaded, .options = &options, .num_devices = 1, .num_args = 2),
      "3: expected 2 arguments for each device, got a null list");
  PJRT_Buffer* const given[] = {x, x};
  PJRT_Buffer* const* const lists[] = {given};
  EXPECT_EQ(PJRT_ERROR(LoadedExecutable_Execute, .executable = loaded, .options = &options, .argument_lists = lists,
                       .num_devices = 1, .num_args = 2),
            "3: expected room for 2 results of each device, got a null list");
  PJRT_CALL(LoadedExecutable_Delete, .executable = loaded);
  EXPECT_TRUE(PJRT_CALL(LoadedExecutable_IsDeleted, .executable = loaded).is_deleted);
  EXPECT_EQ(Run(loaded, {x, x}, &results), "3: the executable add_two has been deleted");
  for (PJRT_Buffer* buffer : {x, y, wrong}) Destroy(buffer);
  Destroy(loaded);
}

// Clients compare fingerprints across processes: they differ wherever the format, the program or the options do.
TEST_F(ExecutablesTest, Fingerprints) {
  const auto fingerprint = [&](const std::string& code, const std::string& options) {
    PJRT_LoadedExecutable* const loaded = Compile(code, options);
    PJRT_Executable* const executable =
        PJRT_CALL(LoadedExecutable_GetExecutable, .loaded_executable = loaded).executable;
    const auto given = PJRT_CALL(Executable_Fingerprint, .executable = executable);
    std::string text(given.executable_fingerprint, given.executable_fingerprint_size);
    PJRT_CALL(Executable_Destroy, .executable = executable);
    Destroy(loaded);
    return text;
  };
  const std::string first = fingerprint(kAdd, Options());
  EXPECT_EQ(first.size(), 64u);
  EXPECT_EQ(fingerprint(kAdd, Options()), first);
  EXPECT_NE(fingerprint(kDonate, Options()), first);
  EXPECT_NE(fingerprint(absl::StrCat(kAdd, " "), Options()), first);
  EXPECT_NE(fingerprint(kAdd, Options(1, 1, "hilo_strict")), first);
  EXPECT_NE(fingerprint(kAdd, ""), first);
}

TEST_F(ExecutablesTest, Donation_ReusesMemoryUnlessReferenced) {
  PJRT_LoadedExecutable* const loaded = Compile(kDonate);
  const std::vector<float> ones(1024, 1);
  std::vector<PJRT_Buffer*> results;
  PJRT_Buffer* x = Floats(ones);
  PJRT_Buffer* const y = Floats(ones);
  const void* memory = PointerOf(x);
  ASSERT_EQ(Run(loaded, {x, y}, &results), "");
  EXPECT_EQ(PointerOf(results[0]), memory);
  EXPECT_TRUE(IsDeleted(x));
  EXPECT_FALSE(IsDeleted(y));
  EXPECT_EQ(ToHost(results[0])[7], 2);
  Destroy(results[0]);
  Destroy(x);

  // Kept by the caller's wish.
  x = Floats(ones);
  ASSERT_EQ(Run(loaded, {x, y}, &results, {0}), "");
  EXPECT_FALSE(IsDeleted(x));
  EXPECT_EQ(ToHost(x)[0], 1);
  Destroy(results[0]);

  // Given up and used in one call.
  EXPECT_EQ(Run(loaded, {x, x}, &results),
            "3: argument 1 is the buffer that is donated as argument 0 of the same call, as in f(donate(a), a)");
  EXPECT_FALSE(IsDeleted(x));
  Destroy(x);

  // Looked at from outside.
  x = Floats(ones);
  PJRT_CALL(Buffer_IncreaseExternalReferenceCount, .buffer = x);
  const auto* seen = static_cast<const float*>(PointerOf(x));
  ASSERT_EQ(Run(loaded, {x, y}, &results), "");
  EXPECT_TRUE(IsDeleted(x));
  EXPECT_EQ(seen[5], 1);
  EXPECT_EQ(ToHost(results[0])[5], 2);
  PJRT_CALL(Buffer_DecreaseExternalReferenceCount, .buffer = x);
  for (PJRT_Buffer* buffer : {x, y, results[0]}) Destroy(buffer);
  Destroy(loaded);
}

TEST_F(ExecutablesTest, DynamicDimensionsOfResults) {
  PJRT_LoadedExecutable* const loaded = Compile(
      "HloModule m\nENTRY e { x = f32[3] parameter(0)  n = s32[] constant(2)  d = f32[<=3] set-dimension-size(x, n), "
      "dimensions={0}  "
      "b = f32[2,<=3] broadcast(d), dimensions={1}  ROOT t = (f32[2,<=3], f32[3]) tuple(b, x) }");
  PJRT_Buffer* const x = Floats({1, 2, 3});
  std::vector<PJRT_Buffer*> results;
  ASSERT_EQ(Run(loaded, {x}, &results), "");
  for (int times = 0; times < 2; ++times) {
    const auto indices = PJRT_CALL(Buffer_DynamicDimensionIndices, .buffer = results[0]);
    ASSERT_EQ(indices.num_dynamic_dims, 1u);
    EXPECT_EQ(indices.dynamic_dim_indices[0], 1u);
    EXPECT_EQ(PJRT_CALL(Buffer_DynamicDimensionIndices, .buffer = results[1]).num_dynamic_dims, 0u);
  }
  for (PJRT_Buffer* buffer : {x, results[0], results[1]}) Destroy(buffer);
  Destroy(loaded);
}

// Returns the optimized program, for which there is room once its size is known.
std::string OptimizedProgramOf(PJRT_Executable* executable) {
  PJRT_Program program = Make<PJRT_Program>();
  PJRT_CALL(Executable_OptimizedProgram, .executable = executable, .program = &program);
  EXPECT_EQ(std::string(program.format, program.format_size), "hlo_with_config");
  std::string code(program.code_size, 0);
  program.code = code.data();
  PJRT_CALL(Executable_OptimizedProgram, .executable = executable, .program = &program);
  return code;
}

TEST_F(ExecutablesTest, OptimizedProgram) {
  PJRT_LoadedExecutable* const loaded = Compile(R"(HloModule fused
ENTRY main { x = f32[4] parameter(0)  zero = f32[] constant(0)  z = f32[4] broadcast(zero), dimensions={}  y = f32[4] add(x, z)  s = f32[4] sine(y)
  ROOT n = f32[4] negate(s) })");
  PJRT_Executable* const executable = PJRT_CALL(LoadedExecutable_GetExecutable, .loaded_executable = loaded).executable;
  const std::string code = OptimizedProgramOf(executable);
  const auto message = WireMessage::Parse(code);
  ASSERT_TRUE(message.ok());
  const auto module = HloModuleFromProto(message->Bytes(1));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->name(), "fused");
  char byte = 0;
  PJRT_Program program = Make<PJRT_Program>();
  program.code = &byte;
  program.code_size = 1;
  EXPECT_EQ(PJRT_ERROR(Executable_OptimizedProgram, .executable = executable, .program = &program),
            "3: expected room for " + std::to_string(code.size()) + " bytes, got 1");
  PJRT_CALL(Executable_Destroy, .executable = executable);
  Destroy(loaded);
}

// The shapes that functions see have no field in HloInstructionProto.
TEST_F(ExecutablesTest, OptimizedProgramWithCustomCalls) {
  PJRT_LoadedExecutable* const loaded = Compile(R"(HloModule factors
ENTRY main { x = f32[5,3] parameter(0)
  ROOT f = (f32[5,3], f32[3]) custom-call(x), custom_call_target="Qr", frontend_attributes={num_batch_dims="0"} })");
  PJRT_Executable* const executable = PJRT_CALL(LoadedExecutable_GetExecutable, .loaded_executable = loaded).executable;
  const std::string code = OptimizedProgramOf(executable);
  const auto message = WireMessage::Parse(code);
  ASSERT_TRUE(message.ok());
  const auto module = HloModuleFromProto(message->Bytes(1));
  ASSERT_TRUE(module.ok()) << module.status();
  const std::string text = PrintHloModule(**module);
  EXPECT_TRUE(absl::StrContains(text, "lapack_sgeqrf_ffi")) << text;
  EXPECT_TRUE(absl::StrContains(text, R"(signature={(f32[5,3]{0,1})->(f32[5,3]{0,1}, f32[3]{0})})")) << text;
  EXPECT_TRUE(absl::StrContains(text, R"(num_batch_dims="0")")) << text;
  PJRT_CALL(Executable_Destroy, .executable = executable);
  Destroy(loaded);
}

TEST_F(ExecutablesTest, CompilesForATopology) {
  const PJRT_NamedValue devices = IntOption("num_devices", 2);
  PJRT_TopologyDescription* const made =
      PJRT_CALL(TopologyDescription_Create, .create_options = &devices, .num_options = 1).topology;
  const auto bytes = PJRT_CALL(TopologyDescription_Serialize, .topology = made);
  PJRT_TopologyDescription* const topology =
      PJRT_CALL(TopologyDescription_Deserialize, .serialized_topology = bytes.serialized_bytes,
                .serialized_topology_size = bytes.serialized_bytes_size)
          .topology;
  bytes.serialized_topology_deleter(bytes.serialized_topology);
  EXPECT_EQ(PJRT_CALL(TopologyDescription_GetDeviceDescriptions, .topology = topology).num_descriptions, 2u);
  EXPECT_EQ(PJRT_ERROR(TopologyDescription_Deserialize, .serialized_topology = "moon", .serialized_topology_size = 4),
            "3: 'moon' is no serialized topology");
  for (const std::string text : {"5", "cpu 5", "hilo version cpu 0", "hilo version cpu -1",
                                 "hilo version cpu 4294967296", "hilo version cpu x"}) {
    EXPECT_EQ(PJRT_ERROR(TopologyDescription_Deserialize, .serialized_topology = text.data(),
                         .serialized_topology_size = text.size()),
              "3: '" + text + "' is no serialized topology");
  }
  const std::string old = "hilo version-0 cpu 2";
  EXPECT_EQ(PJRT_ERROR(TopologyDescription_Deserialize, .serialized_topology = old.data(),
                       .serialized_topology_size = old.size())
                .substr(0, 60),
            "9: the topology 'hilo version-0 cpu 2' is of another version");
  const std::string code = kAdd, format = "hlo_text", options = Options();
  const PJRT_Program program = ProgramOf(code, format);
  PJRT_Executable* const executable =
      PJRT_CALL(Compile, .topology = topology, .program = &program, .compile_options = options.data(),
                .compile_options_size = options.size())
          .executable;
  for (PJRT_TopologyDescription* description : {made, topology})
    PJRT_CALL(TopologyDescription_Destroy, .topology = description);
  PJRT_LoadedExecutable* const loaded =
      PJRT_CALL(Client_Load, .client = client_, .executable = executable).loaded_executable;
  PJRT_CALL(Executable_Destroy, .executable = executable);
  PJRT_Buffer* const x = Floats({1, 2, 3});
  std::vector<PJRT_Buffer*> results;
  ASSERT_EQ(Run(loaded, {x, x}, &results), "");
  EXPECT_EQ(ToHost(results[0]), (std::vector<float>{2, 4, 6}));
  for (PJRT_Buffer* buffer : {x, results[0], results[1]}) Destroy(buffer);
  Destroy(loaded);
}

TEST_F(ExecutablesTest, LongRuns_AreAsynchronous) {
  PJRT_LoadedExecutable* const loaded = Compile(R"(HloModule slow
body { s = (s32[], f32[1000]) parameter(0)  i = s32[] get-tuple-element(s), index=0  v = f32[1000] get-tuple-element(s), index=1
  one = s32[] constant(1)  n = s32[] add(i, one)  w = f32[1000] cosine(v)  ROOT r = (s32[], f32[1000]) tuple(n, w) }
condition { s = (s32[], f32[1000]) parameter(0)  i = s32[] get-tuple-element(s), index=0  limit = s32[] constant(400000)
  ROOT c = pred[] compare(i, limit), direction=LT }
ENTRY main { v = f32[1000] parameter(0)  zero = s32[] constant(0)  s = (s32[], f32[1000]) tuple(zero, v)
  w = (s32[], f32[1000]) while(s), condition=condition, body=body  ROOT r = f32[1000] get-tuple-element(w), index=1 })");
  PJRT_Buffer* const v = Floats(std::vector<float>(1000, 1));
  PJRT_ExecuteOptions options = Make<PJRT_ExecuteOptions>();
  PJRT_Buffer* const* lists[] = {&v};
  PJRT_Buffer* result = nullptr;
  PJRT_Buffer** outputs[] = {&result};
  PJRT_Event* end = nullptr;
  PJRT_CALL(LoadedExecutable_Execute, .executable = loaded, .options = &options, .argument_lists = lists,
            .num_devices = 1, .num_args = 1, .output_lists = outputs, .device_complete_events = &end);
  EXPECT_FALSE(PJRT_CALL(Event_IsReady, .event = end).is_ready);
  // Everything may go before the run has ended.
  Destroy(loaded);
  Destroy(v);
  std::vector<float> values(1000);
  const auto copy = PJRT_CALL(Buffer_ToHostBuffer, .src = result, .dst = values.data(), .dst_size = 4000);
  Await(copy.event);
  EXPECT_NEAR(values[0], 0.739085f, 1e-5);
  Await(end);
  Destroy(result);
}

TEST_F(ExecutablesTest, Replicas_Rendezvous) {
  PJRT_LoadedExecutable* const loaded = Compile(R"(HloModule sum
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main { x = f32[2] parameter(0)  ROOT s = f32[2] all-reduce(x), to_apply=add, replica_groups={} })",
                                                Options(2));
  PJRT_Buffer* const given[] = {Floats({1, 2}), Floats({10, 20}, 1)};
  PJRT_Buffer* const* lists[] = {&given[0], &given[1]};
  PJRT_Buffer* results[2] = {};
  PJRT_Buffer** outputs[] = {&results[0], &results[1]};
  PJRT_Event* ends[2] = {};
  PJRT_ExecuteOptions options = Make<PJRT_ExecuteOptions>();
  PJRT_CALL(LoadedExecutable_Execute, .executable = loaded, .options = &options, .argument_lists = lists,
            .num_devices = 2, .num_args = 1, .output_lists = outputs, .device_complete_events = ends);
  for (int d = 0; d < 2; ++d) {
    Await(ends[d]);
    EXPECT_EQ(ToHost(results[d]), (std::vector<float>{11, 22}));
    EXPECT_EQ(PJRT_CALL(Buffer_Device, .buffer = results[d]).device, devices_[d]);
    Destroy(results[d]);
    Destroy(given[d]);
  }
  const auto ids = PJRT_CALL(LoadedExecutable_AddressableDeviceLogicalIds, .executable = loaded);
  EXPECT_EQ(ids.addressable_device_logical_ids[1].replica, 1);
  const auto assignment = PJRT_CALL(LoadedExecutable_GetDeviceAssignment, .executable = loaded);
  EXPECT_EQ(std::string(assignment.serialized_bytes, assignment.serialized_bytes_size),
            std::string("\x08\x02\x10\x01\x1a\x04\x0a\x02\x00\x01", 10));
  Destroy(loaded);
}

// The events of the run's end are all that can tell of it.
TEST_F(ExecutablesTest, ReplicasWithoutResults_FailTheirEvents) {
  PJRT_LoadedExecutable* const loaded = Compile(R"(HloModule checks
ENTRY main { x = f32[2] parameter(0)  y = f32[2] add(x, x)
  call = () custom-call(x, y), custom_call_target="check.expect_eq", custom_call_has_side_effect=true
  ROOT r = () tuple() })",
                                                Options(2));
  PJRT_Buffer* const given[] = {Floats({0, 0}), Floats({1, 2}, 1)};
  PJRT_Buffer* const* lists[] = {&given[0], &given[1]};
  PJRT_Buffer** outputs[] = {nullptr, nullptr};
  PJRT_Event* ends[2] = {};
  PJRT_ExecuteOptions options = Make<PJRT_ExecuteOptions>();
  PJRT_CALL(LoadedExecutable_Execute, .executable = loaded, .options = &options, .argument_lists = lists,
            .num_devices = 2, .num_args = 1, .output_lists = outputs, .device_complete_events = ends);
  const std::string error = PJRT_ERROR(Event_Await, .event = ends[1]);
  EXPECT_EQ(error.substr(0, 2), "3:") << error;
  for (int d = 0; d < 2; ++d) {
    PJRT_CALL(Event_Destroy, .event = ends[d]);
    Destroy(given[d]);
  }
  Destroy(loaded);
}

TEST_F(ExecutablesTest, RefusesByName) {
  EXPECT_EQ(CompileError("HloModule fed\nENTRY e {\n  t = token[] after-all()\n  x = (f32[], token[]) infeed(t)\n"
                         "  ROOT r = f32[] get-tuple-element(x), index=0\n}",
                         "hlo_text"),
            "12: %x would wait for ever: an infeed, and the PJRT API has no call that feeds one");
  EXPECT_EQ(CompileError(kAdd, "c++"), "3: there are no programs of format 'c++'; there are mlir, hlo and hlo_text");
  EXPECT_EQ(CompileError(kAdd, "hlo_text", Options(1, 1, "xla_magic")), "3: No such compile option: 'xla_magic'");
  EXPECT_EQ(CompileError(kAdd, "hlo_text", Options(1, 1, "xla_dump_max_hlo_modules")),
            "3: While setting option xla_dump_max_hlo_modules, '1' is not a valid int32 value.");
  EXPECT_EQ(CompileError(kAdd, "hlo_text", Options(1, 1, "xla_cpu_max_isa")),
            "3: While setting option xla_cpu_max_isa, '1' is not a valid string value.");
  for (const char* flag : {"xla_embed_ir_in_executable", "xla_test_all_output_layouts", "xla_gpu_anything"})
    Destroy(Compile(kAdd, Options(1, 1, flag)));
  Destroy(Compile(kAdd, Options(1, 1, "hilo_strict")));
  EXPECT_EQ(CompileError(kAdd, "hlo_text", Options(4)).substr(0, 60),
            "3: the program runs on 4 replicas and 1 partitions, but the ");
  EXPECT_NE(CompileError("not a program", "mlir"), "");
  EXPECT_NE(CompileError("not a program", "hlo"), "");
  EXPECT_NE(CompileError(kAdd, "hlo_text", "\x1a\xff"), "");
}

TEST_F(ExecutablesTest, Protos) {
  const auto module = ParseHloModule(kAdd, {});
  ASSERT_TRUE(module.ok());
  const auto bytes = HloModuleToProto(**module);
  ASSERT_TRUE(bytes.ok());
  Destroy(Compile(*bytes, Options(), "hlo"));
}

TEST_F(ExecutablesTest, SerializedExecutablesAreLoaded) {
  PJRT_LoadedExecutable* const loaded = Compile(kAdd);
  PJRT_Executable* const executable = PJRT_CALL(LoadedExecutable_GetExecutable, .loaded_executable = loaded).executable;
  Destroy(loaded);
  const auto serialized = PJRT_CALL(Executable_Serialize, .executable = executable);
  const std::string bytes(serialized.serialized_bytes, serialized.serialized_bytes_size);
  serialized.serialized_executable_deleter(serialized.serialized_executable);
  PJRT_CALL(Executable_Destroy, .executable = executable);
  PJRT_LoadedExecutable* const again =
      PJRT_CALL(Executable_DeserializeAndLoad, .client = client_, .serialized_executable = bytes.data(),
                .serialized_executable_size = bytes.size())
          .loaded_executable;
  std::vector<PJRT_Buffer*> results;
  PJRT_Buffer* const x = Floats({1, 2, 3});
  ASSERT_EQ(Run(again, {x, x}, &results), "");
  EXPECT_EQ(ToHost(results[1]), (std::vector<float>{1, 4, 9}));
  for (PJRT_Buffer* buffer : {x, results[0], results[1]}) Destroy(buffer);
  Destroy(again);
  for (size_t size = 0; size < bytes.size(); size += 37) {
    EXPECT_NE(PJRT_ERROR(Executable_DeserializeAndLoad, .client = client_, .serialized_executable = bytes.data(),
                         .serialized_executable_size = size),
              "")
        << size;
  }
}

TEST_F(ExecutablesTest, RunsAreChecked) {
  PJRT_LoadedExecutable* const loaded = Compile(kAdd);
  PJRT_Buffer* const x = Floats({1, 2, 3});
  PJRT_Buffer* const arguments[] = {x, x};
  PJRT_Buffer* const* const lists[] = {arguments, arguments};
  PJRT_Buffer* results[2] = {};
  PJRT_Buffer** outputs[] = {results, results};
  PJRT_ExecuteOptions options = Make<PJRT_ExecuteOptions>();
  const auto error = [&](size_t devices, size_t count) {
    return PJRT_ERROR(LoadedExecutable_Execute, .executable = loaded, .options = &options, .argument_lists = lists,
                      .num_devices = devices, .num_args = count);
  };
  EXPECT_TRUE(absl::StrContains(error(2, 2), "runs on 1 devices, but got arguments for 2")) << error(2, 2);
  EXPECT_TRUE(absl::StrContains(error(1, 1), "takes 2 arguments, but got 1")) << error(1, 1);
  PJRT_Client* other = PJRT_CALL(Client_Create, .create_options = nullptr).client;
  PJRT_Device* const device = PJRT_CALL(Client_AddressableDevices, .client = other).addressable_devices[0];
  EXPECT_TRUE(
      absl::StrContains(PJRT_ERROR(LoadedExecutable_Execute, .executable = loaded, .options = &options,
                                   .argument_lists = lists, .num_devices = 1, .num_args = 2, .execute_device = device),
                        "cannot be run on a device of another client"));
  std::swap(client_, other);
  PJRT_LoadedExecutable* const of_other = Compile(kAdd);
  std::swap(client_, other);
  EXPECT_TRUE(
      absl::StrContains(PJRT_ERROR(LoadedExecutable_Execute, .executable = of_other, .options = &options,
                                   .argument_lists = lists, .num_devices = 1, .num_args = 2, .output_lists = outputs),
                        "is a buffer of another client"));
  Destroy(of_other);
  PJRT_CALL(Client_Destroy, .client = other);
  options.num_send_ops = 1;
  EXPECT_EQ(error(1, 2), "12: send and recv callbacks of a run");
  Destroy(x);
  Destroy(loaded);
}

TEST_F(ExecutablesTest, BadExecutables) {
  const std::string bytes = "moon";
  EXPECT_EQ(PJRT_ERROR(Executable_DeserializeAndLoad, .client = client_, .serialized_executable = bytes.data(),
                       .serialized_executable_size = bytes.size()),
            "3: these 4 bytes are no executable of Hilo's PJRT plugin");
}

TEST_F(ExecutablesTest, LayoutsAndShardings) {
  PJRT_LoadedExecutable* const loaded =
      Compile(R"(HloModule m, entry_computation_layout={(f32[2,4]{0,1})->f32[2,4]{1,0}}
ENTRY main { x = f32[2,4] parameter(0), sharding={devices=[2,1]<=[2]}  ROOT y = f32[2,4] negate(x), sharding={replicated} })",
              Options(1, 2));
  PJRT_Executable* const executable = PJRT_CALL(LoadedExecutable_GetExecutable, .loaded_executable = loaded).executable;
  const auto* layouts = FindExtension<PJRT_Layouts_Extension>(PJRT_Extension_Type_Layouts);
  ASSERT_NE(layouts, nullptr);
  auto list = Make<PJRT_Layouts_PJRT_Executable_GetLayouts_Args>();
  list.executable = executable;
  ASSERT_EQ(TextOf(layouts->executable_get_parameter_layouts(&list)), "");
  ASSERT_EQ(list.num_layouts, 1u);
  auto text = Make<PJRT_Layouts_MemoryLayout_Serialize_Args>();
  text.layout = list.layouts[0];
  ASSERT_EQ(TextOf(layouts->memory_layout_serialize(&text)), "");
  EXPECT_EQ(std::string(text.serialized_bytes, text.serialized_bytes_size), "{0,1}");
  text.serialized_layout_deleter(text.serialized_layout);
  const auto* shardings = FindExtension<PJRT_Shardings_Extension>(PJRT_Extension_Type_Shardings);
  ASSERT_NE(shardings, nullptr);
  auto given = Make<PJRT_Shardings_PJRT_Executable_Shardings_Args>();
  given.executable = executable;
  ASSERT_EQ(TextOf(shardings->executable_parameter_shardings(&given)), "");
  ASSERT_EQ(given.num_shardings, 1u);
  EXPECT_EQ(std::string(given.shardings[0], given.sharding_sizes[0]).substr(0, 6), "\x08\x03\x1a\x02\x02\x01");
  ASSERT_EQ(TextOf(shardings->executable_output_shardings(&given)), "");
  EXPECT_EQ(given.sharding_sizes[0], 0u);
  EXPECT_NE(given.shardings[0], nullptr);
  PJRT_CALL(Executable_Destroy, .executable = executable);
  Destroy(loaded);
}

// Of two results that the program says nothing of, the first may stay divided.
TEST_F(ExecutablesTest, ResultsStayDivided) {
  WireWriter build, options;
  build.Int(4, 1);
  build.Int(5, 2);
  build.Bool(6, true);
  build.Ints(12, {1, 0});
  options.Message(3, build);
  PJRT_LoadedExecutable* const loaded = Compile(R"(module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%x: tensor<4x2xf32> {mhlo.sharding = "{devices=[2,1]0,1}"}) -> (tensor<4x2xf32>, tensor<2x4xf32>) {
    %y = stablehlo.add %x, %x : tensor<4x2xf32>
    %z = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
    return %y, %z : tensor<4x2xf32>, tensor<2x4xf32>
  }
})",
                                                std::move(options).Take(), "mlir");
  PJRT_Executable* const executable = PJRT_CALL(LoadedExecutable_GetExecutable, .loaded_executable = loaded).executable;
  const auto results = PJRT_CALL(Executable_OutputDimensions, .executable = executable);
  ASSERT_EQ(results.num_outputs, 2u);
  EXPECT_EQ(std::vector<int64_t>(results.dims, results.dims + 4), (std::vector<int64_t>{2, 2, 2, 4}));
  auto given = Make<PJRT_Shardings_PJRT_Executable_Shardings_Args>();
  given.executable = executable;
  ASSERT_EQ(
      TextOf(
          FindExtension<PJRT_Shardings_Extension>(PJRT_Extension_Type_Shardings)->executable_output_shardings(&given)),
      "");
  EXPECT_EQ(std::string(given.shardings[0], given.sharding_sizes[0]).substr(0, 6), "\x08\x03\x1a\x02\x02\x01");
  EXPECT_EQ(given.sharding_sizes[1], 0u);
  PJRT_CALL(Executable_Destroy, .executable = executable);
  Destroy(loaded);
}

// Without use_spmd_partitioning the shapes are those of one partition.
TEST_F(ExecutablesTest, PartitionedPrograms_AreNotPartitionedAgain) {
  const std::string code = R"(HloModule m, num_partitions=2
ENTRY main {
  x = f32[4] parameter(0), sharding={devices=[2]<=[2]}
  ROOT y = f32[4] negate(x), sharding={devices=[2]<=[2]}
})";
  for (const bool partition : {true, false}) {
    WireWriter build, options;
    build.Int(4, 1);
    build.Int(5, 2);
    build.Bool(6, partition);
    options.Message(3, build);
    PJRT_LoadedExecutable* const loaded = Compile(code, std::move(options).Take());
    PJRT_Executable* const executable =
        PJRT_CALL(LoadedExecutable_GetExecutable, .loaded_executable = loaded).executable;
    const auto results = PJRT_CALL(Executable_OutputDimensions, .executable = executable);
    ASSERT_EQ(results.num_outputs, 1u);
    EXPECT_EQ(results.dims[0], partition ? 2 : 4);
    PJRT_CALL(Executable_Destroy, .executable = executable);
    Destroy(loaded);
  }
}

XLA_FFI_Error* Twice(XLA_FFI_CallFrame* frame) {
  if (frame->extension_start != nullptr) {
    auto* metadata = reinterpret_cast<XLA_FFI_Metadata_Extension*>(frame->extension_start)->metadata;
    metadata->api_version = {sizeof(XLA_FFI_Api_Version), nullptr, XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR};
    return nullptr;
  }
  const auto* in = static_cast<const XLA_FFI_Buffer*>(frame->args.args[0]);
  const auto* out = static_cast<const XLA_FFI_Buffer*>(frame->rets.rets[0]);
  for (int64_t i = 0; i < in->dims[0]; ++i)
    static_cast<float*>(out->data)[i] = 2 * static_cast<const float*>(in->data)[i];
  return nullptr;
}

TEST_F(ExecutablesTest, HandlersAreRegistered) {
  const auto* extension = FindExtension<PJRT_FFI_Extension>(PJRT_Extension_Type_FFI);
  ASSERT_NE(extension, nullptr);
  const std::string name = "twice", platform = "Host";
  PJRT_FFI_Register_Handler_Args args = {PJRT_STRUCT_SIZE(PJRT_FFI_Register_Handler_Args, traits),
                                         name.data(),
                                         name.size(),
                                         reinterpret_cast<void*>(&Twice),
                                         platform.data(),
                                         platform.size(),
                                         0};
  ASSERT_EQ(TextOf(extension->register_handler(&args)), "");
  PJRT_LoadedExecutable* const loaded = Compile(R"(HloModule call
ENTRY main { x = f32[2] parameter(0)  ROOT y = f32[2] custom-call(x), custom_call_target="twice", api_version=API_VERSION_TYPED_FFI })");
  PJRT_Buffer* const x = Floats({1, 2});
  std::vector<PJRT_Buffer*> results;
  ASSERT_EQ(Run(loaded, {x}, &results), "");
  EXPECT_EQ(ToHost(results[0]), (std::vector<float>{2, 4}));
  Destroy(results[0]);
  Destroy(x);
  Destroy(loaded);
}

TEST_F(ExecutablesTest, ForkedChildren_GetAnError) {
  PJRT_LoadedExecutable* const loaded = Compile(kAdd);
  PJRT_Buffer* const x = Floats({1, 2, 3});
  PJRT_Event* const pending = PJRT_CALL(Event_Create, .event = nullptr).event;
  const pid_t child = fork();
  if (child == 0) {
    std::vector<PJRT_Buffer*> results;
    const auto is_refused = [](const std::string& error) { return error.substr(0, 2) == "9:"; };
    _exit(is_refused(Run(loaded, {x, x}, &results)) && is_refused(PJRT_ERROR(Event_Await, .event = pending)) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  PJRT_CALL(Event_Destroy, .event = pending);
  Destroy(x);
  Destroy(loaded);
}

}  // namespace
}  // namespace hilo::pjrt_test
