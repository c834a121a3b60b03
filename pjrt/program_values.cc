#include "pjrt/program_values.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hilo/status_macros.h"
#include "pjrt/element_type.h"
#include "pjrt/program_shardings.h"

namespace hilo::pjrt {
namespace {

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

}  // namespace

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

}  // namespace hilo::pjrt
