// Programs: compiled, loaded, described and serialized.
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "capi/handles.h"
#include "capi/option_reader.h"
#include "hilo/status_macros.h"
#include "hlo/import/program_reader.h"
#include "hlo/text/hlo_printer.h"
#include "runtime/dynamic_program.h"
#include "runtime/runtime_access.h"
#include "runtime/watchdog.h"

namespace hilo::capi {
namespace {

// A program of the caller's, and how it is to be compiled.
struct Source {
  std::unique_ptr<HloModule> module;
  CompileOptions options;
};

absl::StatusOr<Source> ReadSource(const HiloClient* client, const void* program, size_t size, const HiloOption* options,
                                  size_t num_options) {
  HILO_RETURN_IF_ERROR(CheckNotNull(client, "client"));
  HILO_RETURN_IF_ERROR(CheckNotNull(program, "program"));
  const auto start = std::chrono::steady_clock::now();
  Source source;
  CompileOptions& wanted = source.options;
  std::string file_name = "<program>";
  OptionReader reader(options, num_options);
  reader.TakeText("file_name", &file_name);
  reader.TakeInteger("replicas", 0, INT32_MAX, &wanted.replica_count);
  reader.TakeInteger("partitions", 0, INT32_MAX, &wanted.num_partitions);
  reader.TakeSwitch("partitioned", &wanted.partitioned);
  reader.TakeSwitch("strict", &wanted.strict);
  reader.TakeSwitch("flush_denormals", &wanted.flush_denormals);
  reader.TakeText("cpu", &wanted.cpu);
  reader.TakeList("disabled_passes", &wanted.disabled_passes);
  reader.TakeInteger("constant_folding_limit", 0, INT64_MAX, &wanted.constant_folding_limit);
  reader.TakeSwitch("verify_each_pass", &wanted.verify_each_pass);
  reader.TakeText("dump_dir", &wanted.dump_dir);
  reader.TakeSeconds("deadline", &wanted.deadline);
  HILO_RETURN_IF_ERROR(reader.Finish());
  const absl::string_view bytes(static_cast<const char*>(program), size);
  if (LooksLikeExecutable(bytes)) return InvalidArgument(file_name, " is a compiled executable: use HiloLoad");
  HILO_ASSIGN_OR_RETURN(source.module, ReadProgram(bytes, file_name));
  wanted.deadline -= absl::FromChrono(std::chrono::steady_clock::now() - start);
  return source;
}

std::vector<Value> Parameters(const ProgramShape& shape) {
  std::vector<Value> values;
  for (size_t i = 0; i < shape.parameters.size(); ++i) {
    const std::string name = i < shape.parameter_names.size() ? shape.parameter_names[i] : absl::StrCat("arg", i);
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape.parameters[i])) {
      const bool whole = leaf.index.empty();
      values.push_back({whole ? name : absl::StrCat(name, "{", absl::StrJoin(leaf.index, ","), "}"),
                        std::make_shared<ArrayShape>(*leaf.shape)});
    }
  }
  return values;
}

std::vector<Value> Results(const ProgramShape& shape) {
  std::vector<Value> values;
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape.result))
    values.push_back({absl::StrCat("out", values.size()), std::make_shared<ArrayShape>(*leaf.shape)});
  return values;
}

std::unique_ptr<HiloExecutable> Describe(std::unique_ptr<Executable> executable) {
  auto made = std::make_unique<HiloExecutable>();
  made->parameters = Parameters(executable->program_shape());
  made->results = Results(executable->program_shape());
  made->executable = std::move(executable);
  return made;
}

absl::Status Compile(HiloClient* client, const void* program, size_t size, const HiloOption* options,
                     size_t num_options, std::shared_ptr<CancellationToken> cancellation, HiloExecutable** executable) {
  HILO_RETURN_IF_ERROR(CheckNotNull(executable, "executable"));
  HILO_ASSIGN_OR_RETURN(Source source, ReadSource(client, program, size, options, num_options));
  source.options.cancellation = std::move(cancellation);
  HILO_ASSIGN_OR_RETURN(const ProgramCost cost, CostOfProgram(*source.module));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Executable> compiled,
                        RuntimeAccess::Compile(client->client.get(), std::move(source.module), source.options));
  std::unique_ptr<HiloExecutable> made = Describe(std::move(compiled));
  made->has_cost = true;
  made->cost = cost;
  *executable = made.release();
  return absl::OkStatus();
}

absl::Status Emit(HiloClient* client, const void* program, size_t size, const HiloOption* options, size_t num_options,
                  const char* kind, std::shared_ptr<CancellationToken> cancellation, HiloBytes** text) {
  HILO_RETURN_IF_ERROR(CheckNotNull(kind, "kind"));
  HILO_RETURN_IF_ERROR(CheckNotNull(text, "text"));
  HILO_ASSIGN_OR_RETURN(Source source, ReadSource(client, program, size, options, num_options));
  source.options.cancellation = std::move(cancellation);
  if (absl::string_view(kind) == "input") {
    *text = MakeBytes(PrintHloModule(*source.module)).release();
    return absl::OkStatus();
  }
  Compiler& compiler = *RuntimeAccess::CompilerOf(*client->client);
  const CompileDeadline deadline(&source.options);
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module,
                        PrepareModule(compiler, std::move(source.module), source.options));
  HILO_ASSIGN_OR_RETURN(std::string emitted, compiler.Emit(std::move(module), source.options, kind));
  *text = MakeBytes(std::move(emitted)).release();
  return absl::OkStatus();
}

absl::Status Load(HiloClient* client, const void* bytes, size_t size, HiloExecutable** executable) {
  HILO_RETURN_IF_ERROR(CheckNotNull(client, "client"));
  HILO_RETURN_IF_ERROR(CheckNotNull(bytes, "bytes"));
  HILO_RETURN_IF_ERROR(CheckNotNull(executable, "executable"));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Executable> loaded,
                        client->client->Load(absl::string_view(static_cast<const char*>(bytes), size)));
  *executable = Describe(std::move(loaded)).release();
  return absl::OkStatus();
}

absl::Status Serialize(const HiloExecutable* executable, HiloBytes** bytes) {
  HILO_RETURN_IF_ERROR(CheckNotNull(executable, "executable"));
  HILO_RETURN_IF_ERROR(CheckNotNull(bytes, "bytes"));
  HILO_ASSIGN_OR_RETURN(std::string serialized, executable->executable->Serialize());
  *bytes = MakeBytes(std::move(serialized)).release();
  return absl::OkStatus();
}

absl::Status GetValue(const HiloExecutable* executable, std::vector<Value> HiloExecutable::* list,
                      absl::string_view what, size_t index, const char** name, HiloShape* shape) {
  HILO_RETURN_IF_ERROR(CheckNotNull(executable, "executable"));
  const std::vector<Value>& values = executable->*list;
  if (index >= values.size())
    return InvalidArgument("there is no ", what, " ", index, "; the program has ", values.size());
  if (name != nullptr) *name = values[index].name.c_str();
  if (shape != nullptr) *shape = values[index].shape->View();
  return absl::OkStatus();
}

absl::Status GetCost(const HiloExecutable* executable, HiloCost* cost) {
  HILO_RETURN_IF_ERROR(CheckNotNull(executable, "executable"));
  HILO_RETURN_IF_ERROR(CheckNotNull(cost, "cost"));
  if (cost->struct_size < sizeof(HiloCost))
    return InvalidArgument("cost->struct_size: expected ", sizeof(HiloCost), " or more, got ", cost->struct_size);
  const bool known = executable->has_cost;
  cost->flops = known ? executable->cost.flops : -1;
  cost->transcendentals = known ? executable->cost.transcendentals : -1;
  cost->bytes_accessed = known ? executable->cost.bytes_accessed : -1;
  cost->temporary_bytes = executable->executable->temp_bytes();
  cost->code_bytes = executable->executable->code_bytes();
  cost->estimated_nanoseconds = executable->executable->estimated_nanoseconds();
  return absl::OkStatus();
}

}  // namespace
}  // namespace hilo::capi

using hilo::capi::Call;
using hilo::capi::CheckNotNull;

HiloError* HiloCompile(HiloClient* client, const void* program, size_t size, const HiloOption* options,
                       size_t num_options, HiloExecutable** executable) {
  return Call([&] { return hilo::capi::Compile(client, program, size, options, num_options, nullptr, executable); });
}

HiloError* HiloCompileCancellable(HiloClient* client, const void* program, size_t size, const HiloOption* options,
                                  size_t num_options, HiloCancellation* cancellation, HiloExecutable** executable) {
  return Call([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckNotNull(cancellation, "cancellation"));
    return hilo::capi::Compile(client, program, size, options, num_options, cancellation->token, executable);
  });
}

HiloError* HiloCancellationCreate(HiloCancellation** cancellation) {
  return Call([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckNotNull(cancellation, "cancellation"));
    *cancellation = new HiloCancellation;
    return absl::OkStatus();
  });
}

HiloError* HiloCancellationCancel(HiloCancellation* cancellation) {
  return Call([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckNotNull(cancellation, "cancellation"));
    cancellation->token->Cancel();
    return absl::OkStatus();
  });
}

void HiloCancellationDestroy(HiloCancellation* cancellation) { delete cancellation; }

HiloError* HiloEmit(HiloClient* client, const void* program, size_t size, const HiloOption* options, size_t num_options,
                    const char* kind, HiloBytes** text) {
  return Call([&] { return hilo::capi::Emit(client, program, size, options, num_options, kind, nullptr, text); });
}

HiloError* HiloEmitCancellable(HiloClient* client, const void* program, size_t size, const HiloOption* options,
                               size_t num_options, const char* kind, HiloCancellation* cancellation, HiloBytes** text) {
  return Call([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckNotNull(cancellation, "cancellation"));
    return hilo::capi::Emit(client, program, size, options, num_options, kind, cancellation->token, text);
  });
}

HiloError* HiloLoad(HiloClient* client, const void* bytes, size_t size, HiloExecutable** executable) {
  return Call([&] { return hilo::capi::Load(client, bytes, size, executable); });
}

HiloError* HiloExecutableSerialize(const HiloExecutable* executable, HiloBytes** bytes) {
  return Call([&] { return hilo::capi::Serialize(executable, bytes); });
}

void HiloExecutableDestroy(HiloExecutable* executable) { delete executable; }

HiloError* HiloExecutableGetCounts(const HiloExecutable* executable, size_t* num_parameters, size_t* num_results) {
  return Call([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckNotNull(executable, "executable"));
    if (num_parameters != nullptr) *num_parameters = executable->parameters.size();
    if (num_results != nullptr) *num_results = executable->results.size();
    return absl::OkStatus();
  });
}

HiloError* HiloExecutableGetParameter(const HiloExecutable* executable, size_t index, const char** name,
                                      HiloShape* shape) {
  return Call(
      [&] { return hilo::capi::GetValue(executable, &HiloExecutable::parameters, "parameter", index, name, shape); });
}

HiloError* HiloExecutableGetResult(const HiloExecutable* executable, size_t index, const char** name,
                                   HiloShape* shape) {
  return Call([&] { return hilo::capi::GetValue(executable, &HiloExecutable::results, "result", index, name, shape); });
}

HiloError* HiloExecutableReturnsTuple(const HiloExecutable* executable, bool* tuple) {
  return Call([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckNotNull(executable, "executable"));
    HILO_RETURN_IF_ERROR(CheckNotNull(tuple, "tuple"));
    *tuple = executable->executable->program_shape().result.IsTuple();
    return absl::OkStatus();
  });
}

HiloError* HiloExecutableGetDeviceCount(const HiloExecutable* executable, int32_t* count) {
  return Call([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckNotNull(executable, "executable"));
    HILO_RETURN_IF_ERROR(CheckNotNull(count, "count"));
    *count = static_cast<int32_t>(executable->executable->assignment().device_count());
    return absl::OkStatus();
  });
}

HiloError* HiloExecutableGetCost(const HiloExecutable* executable, HiloCost* cost) {
  return Call([&] { return hilo::capi::GetCost(executable, cost); });
}
