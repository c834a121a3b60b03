// From the framework's program to an executable.
#include "pjrt/program.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/sha256.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/program_cost.h"
#include "hlo/import/hlo_proto.h"
#include "hlo/import/hlo_proto_text.h"
#include "hlo/import/stablehlo/stablehlo_import.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "hlo/passes/standard_passes.h"
#include "hlo/text/hlo_parser.h"
#include "pjrt/element_type.h"
#include "pjrt/error.h"
#include "pjrt/named_values.h"
#include "pjrt/program_steps.h"
#include "pjrt/python_callback.h"
#include "runtime/dynamic_program.h"
#include "runtime/runtime_access.h"
#include "runtime/watchdog.h"

namespace hilo::pjrt {
namespace {

// As StableHLO states it; of the other formats the module has all but the memories.
StablehloProgram FromHlo(std::unique_ptr<HloModule> module) {
  StablehloProgram program;
  const HloComputation& entry = *module->entry_computation();
  for (int64_t i = 0; i < entry.num_parameters(); ++i) {
    StablehloArgumentInfo info;
    info.sharding = std::string(ExtraAttribute(entry.parameter_instruction(i)->extra_attributes(), "sharding"));
    program.arguments.push_back(info);
  }
  program.module = std::move(module);
  return program;
}

absl::StatusOr<StablehloProgram> Import(const ProgramSource& source) {
  if (source.format == "mlir") return ImportStablehlo(source.code);
  std::unique_ptr<HloModule> module;
  if (source.format == "hlo") {
    HILO_ASSIGN_OR_RETURN(module, HloModuleFromProto(source.code));
  } else if (source.format == "hlo_text") {
    HILO_ASSIGN_OR_RETURN(module, ParseHloModule(source.code, {}));
  } else {
    return InvalidArgument("there are no programs of format '", source.format, "'; there are mlir, hlo and hlo_text");
  }
  return FromHlo(std::move(module));
}

// A parameter that its caller donates without naming a result is aliased to the first free result of its shape. Others
// stay donors.
void PairDonors(HloModule* module) {
  if (module->buffer_donors().empty()) return;
  const ProgramShape shape = module->EntryProgramShape();
  std::vector<InputOutputAlias>& aliases = module->input_output_aliases();
  absl::flat_hash_set<ShapeIndex> taken;
  for (const InputOutputAlias& alias : aliases) taken.insert(alias.output_index);
  // The free results of a shape, the first one last.
  absl::flat_hash_map<std::string, std::vector<ShapeIndex>> free;
  const std::vector<ShapeUtil::Leaf> results = ShapeUtil::Leaves(shape.result);
  for (auto leaf = results.rbegin(); leaf != results.rend(); ++leaf) {
    if (!taken.contains(leaf->index)) free[leaf->shape->ToString(/*print_layout=*/true)].push_back(leaf->index);
  }
  std::vector<BufferDonor> unpaired;
  for (const BufferDonor& donor : module->buffer_donors()) {
    const Shape& given = ShapeUtil::GetSubshape(shape.parameters[donor.parameter_number], donor.parameter_index);
    std::vector<ShapeIndex>& fitting = free[given.ToString(/*print_layout=*/true)];
    if (fitting.empty()) {
      unpaired.push_back(donor);
      continue;
    }
    aliases.push_back({.output_index = fitting.back(),
                       .parameter_number = donor.parameter_number,
                       .parameter_index = donor.parameter_index});
    fitting.pop_back();
  }
  module->buffer_donors() = std::move(unpaired);
}

// Numbers of the leaves of parameters that aliases and donors name.
std::vector<int64_t> DonatedLeaves(const HloModule& module) {
  absl::flat_hash_set<std::pair<int64_t, ShapeIndex>> given;
  for (const InputOutputAlias& alias : module.input_output_aliases())
    given.emplace(alias.parameter_number, alias.parameter_index);
  for (const BufferDonor& donor : module.buffer_donors()) given.emplace(donor.parameter_number, donor.parameter_index);
  std::vector<int64_t> donated;
  int64_t number = 0;
  const ProgramShape shape = module.EntryProgramShape();
  for (size_t parameter = 0; parameter < shape.parameters.size(); ++parameter) {
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape.parameters[parameter])) {
      if (given.contains({parameter, leaf.index})) donated.push_back(number);
      ++number;
    }
  }
  return donated;
}

// A serialised OpSharding. What nothing was said of is whole on every device.
absl::StatusOr<std::string> ShardingToProto(absl::string_view text) {
  if (text.empty()) text = "{replicated}";
  WireWriter writer;
  HILO_RETURN_IF_ERROR(kShardingCodec.encode(text, 1, &writer));
  HILO_ASSIGN_OR_RETURN(const WireMessage message, WireMessage::Parse(writer.bytes()));
  return std::string(message.Bytes(1));
}

std::atomic<ShardingInspector> sharding_inspector = nullptr;

absl::Status NotifyInspector(const std::vector<ShardingNote>& notes) {
  const ShardingInspector inspector = sharding_inspector;
  for (const ShardingNote& note : notes) {
    uint64_t number;
    if (inspector == nullptr || !absl::SimpleAtoi(note.name, &number)) continue;
    HILO_ASSIGN_OR_RETURN(const std::string sharding, ShardingToProto(TileAssignmentToHlo(note.tiles)));
    inspector(number, sharding.data(), sharding.size());
  }
  return absl::OkStatus();
}

bool QueriesShardings(const HloModule& module) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kCustomCall &&
          instruction->attrs<CustomCallAttrs>().custom_call_target == "InspectSharding")
        return true;
    }
  }
  return false;
}

// Which of the values that have no sharding stated, or one that may be cut more, are open.
template <typename Info>
std::vector<bool> OpenAmong(const std::vector<Info>& values, const std::vector<bool>& open) {
  std::vector<bool> among;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_open = values[i].sharding.empty() || values[i].is_open;
    among.push_back(is_open && (open.size() == 1 ? open[0] : i < open.size() && open[i]));
  }
  return among;
}

// Partitions the program here if it leaves shardings of parameters or results open, or queries
// shardings: they are only known after partitioning.
absl::Status ChooseResultShardings(const PluginCompileOptions& options, StablehloProgram* program,
                                   std::vector<ShardingNote>* notes = nullptr) {
  HloModule* module = program->module.get();
  OpenValues open = {.parameters = OpenAmong(program->arguments, options.open_parameters),
                     .results = OpenAmong(program->results, options.open_results)};
  const std::vector<bool> chosen = open.results, parameters = open.parameters;
  if (module->num_partitions() <= 1 ||
      (std::find(chosen.begin(), chosen.end(), true) == chosen.end() &&
       std::find(parameters.begin(), parameters.end(), true) == parameters.end() && !QueriesShardings(*module)))
    return absl::OkStatus();
  HILO_RETURN_IF_ERROR(PartitionModule(module, options.compile, std::move(open), notes));
  for (size_t i = 0; i < parameters.size(); ++i) {
    const HloInstruction* parameter = module->entry_computation()->parameter_instruction(static_cast<int64_t>(i));
    if (parameters[i])
      program->arguments[i].sharding = std::string(ExtraAttribute(parameter->extra_attributes(), "sharding"));
  }
  const absl::string_view text = ExtraAttribute(module->extra_attributes(), "spmd_output_sharding");
  if (text.empty()) return absl::OkStatus();
  HILO_ASSIGN_OR_RETURN(const std::vector<TileAssignment> tiles,
                        TileAssignmentsFromHlo(text, static_cast<int64_t>(chosen.size())));
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) program->results[i].sharding = TileAssignmentToHlo(tiles[i]);
  }
  return absl::OkStatus();
}

absl::Status AddValue(const Shape& shape, const StablehloValueInfo& info, bool sharded, ProgramValues* values) {
  const bool token = !shape.IsArray();
  values->shapes.push_back(shape);
  values->types.push_back(token ? PJRT_Buffer_Type_PRED : BufferTypeOf(shape.element_type()));
  if (token) values->dimensions.push_back(0);
  values->dimensions.insert(values->dimensions.end(), shape.dimensions().begin(), shape.dimensions().end());
  values->ranks.push_back(token ? 1 : shape.rank());
  int kind = kDefaultMemory;
  if (!info.memory_kind.empty()) {
    HILO_ASSIGN_OR_RETURN(kind, MemoryKindFromName(info.memory_kind));
  }
  values->memory_kinds.push_back(kind);
  values->layouts.push_back(
      {token ? "{0}" : absl::StrCat("{", absl::StrJoin(shape.layout().minor_to_major, ","), "}")});
  if (sharded) {
    HILO_ASSIGN_OR_RETURN(values->shardings.emplace_back(), ShardingToProto(info.sharding));
  }
  return absl::OkStatus();
}

// Pointers into other lists, once these no longer move.
void MakeLists(ProgramValues* values) {
  for (const int kind : values->memory_kinds) {
    values->memory_kind_names.push_back(kMemoryKinds[kind].data());
    values->memory_kind_sizes.push_back(kMemoryKinds[kind].size());
  }
  for (const std::string& sharding : values->shardings) {
    values->sharding_data.push_back(sharding.data());
    values->sharding_sizes.push_back(sharding.size());
  }
  for (PJRT_Layouts_MemoryLayout& layout : values->layouts) values->layout_list.push_back(&layout);
}

// Returns the info of leaf `i`. There is one info per parameter or result; the leaves of a tuple have default ones.
template <typename Info>
Info InfoOf(const std::vector<Info>& infos, size_t i) {
  return i < infos.size() ? infos[i] : Info{};
}

absl::Status Describe(const StablehloProgram& source, Program* program) {
  const ProgramShape& shape = program->executable->program_shape();
  const DeviceAssignment& assignment = program->executable->assignment();
  const bool sharded = assignment.partition_count() > 1;
  for (size_t i = 0; i < shape.parameters.size(); ++i) {
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape.parameters[i])) {
      if (leaf.shape->IsToken()) program->tokens.push_back(static_cast<int64_t>(program->parameters.shapes.size()));
      HILO_RETURN_IF_ERROR(AddValue(*leaf.shape, InfoOf(source.arguments, i), sharded, &program->parameters));
    }
  }
  size_t result = 0;
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape.result)) {
    HILO_RETURN_IF_ERROR(AddValue(*leaf.shape, InfoOf(source.results, result++), sharded, &program->results));
  }
  MakeLists(&program->parameters);
  MakeLists(&program->results);
  for (const int64_t index : program->executable->addressable()) {
    program->devices.push_back(program->client->device_list[assignment.devices()[index]]);
    program->logical_ids.push_back({static_cast<int>(index / assignment.partition_count()),
                                    static_cast<int>(index % assignment.partition_count())});
  }
  if (!program->portable) program->device_assignment = DeviceAssignmentToProto(assignment);
  return absl::OkStatus();
}

// The same in every process, by which those of a distributed program agree on it. Sizes separate the parts.
std::string Fingerprint(const ProgramSource& source) {
  Sha256 hash;
  for (const std::string* part : {&source.format, &source.code, &source.options}) {
    hash.Update(absl::StrCat(part->size(), ";"));
    hash.Update(*part);
  }
  return DigestToHex(hash.Finish());
}

// Whether the module calls functions of the caller's Python.
bool CallsPython(const HloModule& module) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kCustomCall &&
          instruction->attrs<CustomCallAttrs>().custom_call_target == kPythonCallback)
        return true;
    }
  }
  return false;
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

void SetShardingInspector(ShardingInspector inspector) { sharding_inspector = inspector; }

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
