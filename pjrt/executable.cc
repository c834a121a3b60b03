// Queries of frameworks about executables, and the lifetimes of their handles.
#include "hilo/status_macros.h"
#include "pjrt/compile.h"
#include "pjrt/error.h"
#include "pjrt/program.h"
#include "runtime/compiler.h"
#include "runtime/runtime_access.h"

namespace hilo::pjrt {
namespace {

template <typename Handle>
absl::StatusOr<const Program*> ProgramOf(const Handle* executable) {
  HILO_RETURN_IF_ERROR(CheckHandle(executable, "executable"));
  return executable->program.get();
}

int64_t BytesOf(const ProgramValues& values) {
  int64_t bytes = 0;
  for (const Shape& shape : values.shapes) bytes += ShapeUtil::ByteSizeOf(shape);
  return bytes;
}

}  // namespace

// --- handles ---

absl::Status Executable_Destroy(PJRT_Executable_Destroy_Args* args) {
  delete args->executable;
  return absl::OkStatus();
}

absl::Status LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args* args) {
  delete args->executable;
  return absl::OkStatus();
}

absl::Status LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->loaded_executable, "PJRT_LoadedExecutable"));
  args->executable = new PJRT_Executable(args->loaded_executable->program);
  return absl::OkStatus();
}

absl::Status LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->executable, "PJRT_LoadedExecutable"));
  args->executable->deleted = true;
  return absl::OkStatus();
}

absl::Status LoadedExecutable_IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->executable, "PJRT_LoadedExecutable"));
  args->is_deleted = args->executable->deleted;
  return absl::OkStatus();
}

// --- where it runs ---

absl::Status LoadedExecutable_AddressableDevices(PJRT_LoadedExecutable_AddressableDevices_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->executable, "PJRT_LoadedExecutable"));
  const Program& program = *args->executable->program;
  args->addressable_devices = program.devices.data();
  args->num_addressable_devices = program.portable ? 0 : program.devices.size();
  return absl::OkStatus();
}

absl::Status LoadedExecutable_AddressableDeviceLogicalIds(
    PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args* args) {
  HILO_ASSIGN_OR_RETURN(const Program* const program, ProgramOf(args->executable));
  args->addressable_device_logical_ids = program->logical_ids.data();
  args->num_addressable_device_logical_ids = program->portable ? 0 : program->logical_ids.size();
  return absl::OkStatus();
}

absl::Status LoadedExecutable_GetDeviceAssignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->executable, "PJRT_LoadedExecutable"));
  const Program& program = *args->executable->program;
  args->serialized_bytes = program.device_assignment.data();
  args->serialized_bytes_size = program.device_assignment.size();
  args->serialized_device_assignment = nullptr;
  args->serialized_device_assignment_deleter = [](PJRT_SerializedDeviceAssignment*) {};
  return absl::OkStatus();
}

absl::Status Executable_NumReplicas(PJRT_Executable_NumReplicas_Args* args) {
  HILO_ASSIGN_OR_RETURN(const Program* const program, ProgramOf(args->executable));
  args->num_replicas = program->executable->assignment().replica_count();
  return absl::OkStatus();
}

absl::Status Executable_NumPartitions(PJRT_Executable_NumPartitions_Args* args) {
  HILO_ASSIGN_OR_RETURN(const Program* const program, ProgramOf(args->executable));
  args->num_partitions = program->executable->assignment().partition_count();
  return absl::OkStatus();
}

// --- properties ---

absl::Status Executable_Name(PJRT_Executable_Name_Args* args) {
  HILO_ASSIGN_OR_RETURN(const Program* const program, ProgramOf(args->executable));
  args->executable_name = program->name.data();
  args->executable_name_size = program->name.size();
  return absl::OkStatus();
}

absl::Status Executable_Fingerprint(PJRT_Executable_Fingerprint_Args* args) {
  HILO_ASSIGN_OR_RETURN(const Program* const program, ProgramOf(args->executable));
  args->executable_fingerprint = program->fingerprint.data();
  args->executable_fingerprint_size = program->fingerprint.size();
  return absl::OkStatus();
}

absl::Status LoadedExecutable_Fingerprint(PJRT_LoadedExecutable_Fingerprint_Args* args) {
  HILO_ASSIGN_OR_RETURN(const Program* const program, ProgramOf(args->executable));
  args->executable_fingerprint = program->fingerprint.data();
  args->executable_fingerprint_size = program->fingerprint.size();
  return absl::OkStatus();
}

// --- parameters and results ---

absl::Status Executable_NumOutputs(PJRT_Executable_NumOutputs_Args* args) {
  HILO_ASSIGN_OR_RETURN(const Program* const program, ProgramOf(args->executable));
  args->num_outputs = program->results.shapes.size();
  return absl::OkStatus();
}

absl::Status Executable_OutputElementTypes(PJRT_Executable_OutputElementTypes_Args* args) {
  HILO_ASSIGN_OR_RETURN(const Program* const program, ProgramOf(args->executable));
  args->output_types = program->results.types.data();
  args->num_output_types = program->results.types.size();
  return absl::OkStatus();
}

absl::Status Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args* args) {
  HILO_ASSIGN_OR_RETURN(const Program* const program, ProgramOf(args->executable));
  args->num_outputs = program->results.shapes.size();
  args->dims = program->results.dimensions.data();
  args->dim_sizes = program->results.ranks.data();
  return absl::OkStatus();
}

absl::Status Executable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args* args) {
  HILO_ASSIGN_OR_RETURN(const Program* const program, ProgramOf(args->executable));
  args->num_outputs = program->results.shapes.size();
  args->memory_kinds = program->results.memory_kind_names.data();
  args->memory_kind_sizes = program->results.memory_kind_sizes.data();
  return absl::OkStatus();
}

absl::Status Executable_ParameterMemoryKinds(PJRT_Executable_ParameterMemoryKinds_Args* args) {
  HILO_ASSIGN_OR_RETURN(const Program* const program, ProgramOf(args->executable));
  args->num_parameters = program->parameters.shapes.size();
  args->memory_kinds = program->parameters.memory_kind_names.data();
  args->memory_kind_sizes = program->parameters.memory_kind_sizes.data();
  return absl::OkStatus();
}

// --- costs ---

absl::Status Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args* args) {
  HILO_ASSIGN_OR_RETURN(const Program* const program, ProgramOf(args->executable));
  args->num_properties = program->costs.size();
  args->properties = program->costs.data();
  return absl::OkStatus();
}

absl::Status Executable_SizeOfGeneratedCodeInBytes(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args* args) {
  HILO_ASSIGN_OR_RETURN(const Program* const program, ProgramOf(args->executable));
  args->size_in_bytes = program->executable->code_bytes();
  return absl::OkStatus();
}

absl::Status Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args* args) {
  HILO_ASSIGN_OR_RETURN(const Program* const program, ProgramOf(args->executable));
  const CompiledProgram& compiled = *RuntimeAccess::ProgramOf(*program->executable).compiled;
  PJRT_Executable_GetCompiledMemoryStats_Args stats = {};
  stats.struct_size = args->struct_size;
  stats.extension_start = args->extension_start;
  stats.executable = args->executable;
  stats.generated_code_size_in_bytes = compiled.code_bytes();
  stats.argument_size_in_bytes = BytesOf(program->parameters);
  stats.output_size_in_bytes = BytesOf(program->results);
  for (const auto& [output, parameter] : compiled.donations())
    stats.alias_size_in_bytes += ShapeUtil::ByteSizeOf(program->results.shapes[output]);
  stats.temp_size_in_bytes = compiled.temp_bytes();
  stats.total_allocation_bytes =
      stats.argument_size_in_bytes + stats.output_size_in_bytes - stats.alias_size_in_bytes + stats.temp_size_in_bytes;
  stats.total_size_in_bytes = stats.peak_memory_in_bytes = stats.peak_unpadded_heap_bytes =
      stats.total_allocation_bytes;
  *args = stats;
  return absl::OkStatus();
}

// --- what was compiled ---

absl::Status Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args* args) {
  HILO_ASSIGN_OR_RETURN(const Program* const program, ProgramOf(args->executable));
  HILO_RETURN_IF_ERROR(CheckHandle(args->program, "PJRT_Program"));
  // The framework queries the size first and the bytes afterwards.
  std::call_once(args->executable->optimized_once, [&] {
    absl::StatusOr<std::string> optimized = OptimizedHlo(*program);
    args->executable->optimized_format = optimized.ok() ? "hlo_with_config" : program->source.format;
    args->executable->optimized = optimized.ok() ? *std::move(optimized) : program->source.code;
  });
  const std::string& code = args->executable->optimized;
  args->program->format = args->executable->optimized_format.data();
  args->program->format_size = args->executable->optimized_format.size();
  if (args->program->code == nullptr) {
    args->program->code_size = code.size();
    return absl::OkStatus();
  }
  if (args->program->code_size < code.size())
    return InvalidArgument("expected room for ", code.size(), " bytes, got ", args->program->code_size);
  code.copy(args->program->code, code.size());
  args->program->code_size = code.size();
  return absl::OkStatus();
}

absl::Status Executable_GetCompileOptions(PJRT_Executable_GetCompileOptions_Args* args) {
  HILO_ASSIGN_OR_RETURN(const Program* const program, ProgramOf(args->executable));
  args->serialized_bytes = program->source.options.data();
  args->serialized_bytes_size = program->source.options.size();
  args->serialized_compile_options = nullptr;
  args->serialized_compile_options_deleter = [](PJRT_SerializedCompileOptions*) {};
  return absl::OkStatus();
}

}  // namespace hilo::pjrt
