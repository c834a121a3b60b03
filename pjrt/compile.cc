#include "pjrt/compile.h"

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/program_cost.h"
#include "hlo/import/hlo_proto.h"
#include "hlo/import/hlo_proto_wire.h"
#include "hlo/text/hlo_parser.h"
#include "pjrt/error.h"
#include "pjrt/named_values.h"
#include "pjrt/program_import.h"
#include "pjrt/program_shardings.h"
#include "pjrt/program_steps.h"
#include "pjrt/program_values.h"
#include "runtime/dynamic_program.h"
#include "runtime/runtime_access.h"
#include "runtime/watchdog.h"

namespace hilo::pjrt {
namespace {

// The same in every process, by which those of a distributed program agree on it. Sizes separate the parts.
std::string Fingerprint(const ProgramSource& source) {
  Sha256 hash;
  for (const std::string* part : {&source.format, &source.code, &source.options}) {
    hash.Update(absl::StrCat(part->size(), ";"));
    hash.Update(*part);
  }
  return DigestToHex(hash.Finish());
}

// Null if the code is for another machine, or for other counts of devices.
absl::StatusOr<std::unique_ptr<Executable>> LoadNative(Client& client, absl::string_view native,
                                                       const CompileOptions& options) {
  if (native.empty()) return std::unique_ptr<Executable>();
  const absl::StatusOr<ExecutableInfo> info = ReadExecutableInfo(native);
  if (info.ok() && (info->replica_count != options.replica_count || info->partition_count != options.num_partitions))
    return std::unique_ptr<Executable>();
  auto loaded = client.Load(native, {.devices = options.devices});
  if (loaded.status().code() == absl::StatusCode::kFailedPrecondition) return std::unique_ptr<Executable>();
  return loaded;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Program>> CompileProgram(const std::shared_ptr<PJRT_Client>& client,
                                                              ProgramSource source, absl::string_view native) {
  auto program = std::make_shared<Program>();
  HILO_ASSIGN_OR_RETURN(const PluginCompileOptions options, ReadCompileOptions(source.options));
  HILO_ASSIGN_OR_RETURN(StablehloProgram imported, Import(source));
  HILO_RETURN_IF_ERROR(CheckIsServed(*imported.module));
  PairDonors(imported.module.get());
  program->client = client;
  program->name = imported.module->name();
  program->fingerprint = Fingerprint(source);
  program->portable = options.portable;
  program->donated = DonatedLeaves(*imported.module);
  program->calls_python = CallsPython(*imported.module);
  HILO_ASSIGN_OR_RETURN(const ProgramCost cost, CostOfProgram(*imported.module));
  std::vector<ShardingNote> notes;
  HILO_RETURN_IF_ERROR(ChooseResultShardings(options, &imported, &notes));
  HILO_RETURN_IF_ERROR(NotifyInspector(notes));
  HILO_ASSIGN_OR_RETURN(program->executable, LoadNative(*client->client, native, options.compile));
  if (program->executable == nullptr) {
    HILO_ASSIGN_OR_RETURN(program->executable,
                          RuntimeAccess::Compile(client->client.get(), std::move(imported.module), options.compile));
  }
  program->costs = {
      NamedFloat("flops", static_cast<float>(cost.flops)),
      NamedFloat("transcendentals", static_cast<float>(cost.transcendentals)),
      NamedFloat("bytes accessed", static_cast<float>(cost.bytes_accessed)),
      NamedFloat("bytes accessedout{}", static_cast<float>(cost.bytes_written)),
      NamedFloat("optimal_seconds", 1e-9f * static_cast<float>(program->executable->estimated_nanoseconds()))};
  for (size_t i = 0; i < cost.operands.size(); ++i) {
    const std::string& bytes = program->cost_names.emplace_back(absl::StrCat("bytes accessed", i, "{}"));
    program->costs.push_back(NamedFloat(bytes.c_str(), static_cast<float>(cost.operands[i].bytes_read)));
    const std::string& uses = program->cost_names.emplace_back(absl::StrCat("utilization", i, "{}"));
    program->costs.push_back(NamedFloat(uses.c_str(), static_cast<float>(cost.operands[i].uses)));
  }
  program->source = std::move(source);
  HILO_RETURN_IF_ERROR(Describe(imported, program.get()));
  if (const auto* steps = RuntimeAccess::ProgramOf(*program->executable).compiled->steps(); steps != nullptr)
    AddProgramOfSteps(*steps, program);
  return program;
}

absl::StatusOr<std::string> OptimizedHlo(const Program& program, absl::Duration deadline) {
  HILO_ASSIGN_OR_RETURN(StablehloProgram imported, Import(program.source));
  HILO_ASSIGN_OR_RETURN(PluginCompileOptions options, ReadCompileOptions(program.source.options));
  options.compile.deadline = deadline;
  const CompileDeadline ends(&options.compile);
  PairDonors(imported.module.get());
  imported.module->set_replica_count(program.executable->assignment().replica_count());
  imported.module->set_num_partitions(program.executable->assignment().partition_count());
  HILO_RETURN_IF_ERROR(ChooseResultShardings(options, &imported));
  Compiler& compiler = *RuntimeAccess::CompilerOf(*program.client->client);
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> prepared,
                        PrepareModule(compiler, std::move(imported.module), options.compile));
  HILO_ASSIGN_OR_RETURN(const std::string text, compiler.Emit(std::move(prepared), options.compile, "hlo"));
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<HloModule> optimized, ParseHloModule(text, {}));
  HILO_ASSIGN_OR_RETURN(std::string bytes, HloModuleToProto(*optimized));
  // Older frameworks read from here how the values of a program are divided.
  WireWriter shardings;
  const std::vector<std::string>& results = program.results.shardings;
  if (results.size() == 1) shardings.PutBytes(12, results[0]);  // spmd_output_sharding
  if (results.size() > 1) {
    WireWriter tuple;
    tuple.Int(1, 2);  // TUPLE
    for (const std::string& sharding : results) tuple.PutBytes(5, sharding);
    shardings.Message(12, tuple);
  }
  for (const std::string& sharding : program.parameters.shardings)
    shardings.PutBytes(14, sharding);  // spmd_parameters_shardings
  bytes += std::move(shardings).Take();
  // HloModuleProtoWithConfig: the module, and a configuration with the module's own program shape and the counts of
  // replicas and partitions.
  HILO_ASSIGN_OR_RETURN(const WireMessage module, WireMessage::Parse(bytes));
  WireWriter config, message;
  config.Bytes(1, module.Bytes(4));
  config.Int(4, program.executable->assignment().replica_count());
  config.Int(5, program.executable->assignment().partition_count());
  message.Bytes(1, bytes);
  message.Message(2, config);
  return std::move(message).Take();
}

absl::Status Client_Compile(PJRT_Client_Compile_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->client, "PJRT_Client"));
  HILO_RETURN_IF_ERROR(CheckHandle(args->program, "PJRT_Program"));
  const PJRT_Program given = Whole(args->program);
  HILO_ASSIGN_OR_RETURN(
      std::shared_ptr<const Program> program,
      CompileProgram(args->client->self, {.format = std::string(given.format, given.format_size),
                                          .code = std::string(given.code, given.code_size),
                                          .options = std::string(args->compile_options, args->compile_options_size)}));
  args->executable = new PJRT_LoadedExecutable{std::move(program)};
  return absl::OkStatus();
}

// An executable of a described topology belongs to the description's client.
absl::Status Compile(PJRT_Compile_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->topology, "PJRT_TopologyDescription"));
  HILO_RETURN_IF_ERROR(CheckHandle(args->program, "PJRT_Program"));
  const PJRT_Program given = Whole(args->program);
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program,
                        CompileProgram(args->topology->client->self,
                                       {.format = std::string(given.format, given.format_size),
                                        .code = std::string(given.code, given.code_size),
                                        .options = std::string(args->compile_options, args->compile_options_size)}));
  args->executable = new PJRT_Executable(std::move(program));
  return absl::OkStatus();
}

absl::Status Client_Load(PJRT_Client_Load_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->client, "PJRT_Client"));
  HILO_RETURN_IF_ERROR(CheckHandle(args->executable, "PJRT_Executable"));
  std::shared_ptr<const Program> program = args->executable->program;
  const absl::string_view options(args->compile_options, args->compile_options_size);
  if (program->client.get() != args->client || (!options.empty() && options != program->source.options)) {
    ProgramSource source = program->source;
    if (!options.empty()) source.options = std::string(options);
    HILO_ASSIGN_OR_RETURN(program, CompileProgram(args->client->self, std::move(source)));
  }
  args->loaded_executable = new PJRT_LoadedExecutable{std::move(program)};
  return absl::OkStatus();
}

}  // namespace hilo::pjrt
