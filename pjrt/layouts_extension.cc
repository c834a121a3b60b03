// Layouts as frameworks see them: "{1,0}", the minor-most dimension first.
#include <numeric>

#include "absl/strings/str_join.h"
#include "hilo/status_macros.h"
#include "pjrt/buffer.h"
#include "pjrt/error.h"
#include "pjrt/extensions.h"
#include "pjrt/program.h"

namespace hilo::pjrt {
namespace {

PJRT_Layouts_MemoryLayout* NewLayout(absl::Span<const int64_t> minor_to_major) {
  return new PJRT_Layouts_MemoryLayout{absl::StrCat("{", absl::StrJoin(minor_to_major, ","), "}")};
}

PJRT_Layouts_MemoryLayout* DefaultLayout(size_t rank) {
  std::vector<int64_t> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return NewLayout(order);
}

absl::Status DestroyLayout(PJRT_Layouts_MemoryLayout_Destroy_Args* args) {
  delete args->layout;
  return absl::OkStatus();
}

absl::Status SerializeLayout(PJRT_Layouts_MemoryLayout_Serialize_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->layout, "layout"));
  auto* text = new std::string(args->layout->text);
  args->serialized_bytes = text->data();
  args->serialized_bytes_size = text->size();
  args->serialized_layout = reinterpret_cast<PJRT_Layouts_SerializedLayout*>(text);
  args->serialized_layout_deleter = [](PJRT_Layouts_SerializedLayout* owner) {
    delete reinterpret_cast<std::string*>(owner);
  };
  return absl::OkStatus();
}

absl::Status ClientDefault(PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args* args) {
  HILO_RETURN_IF_ERROR(CheckDimensions(args->num_dims));
  args->layout = DefaultLayout(args->num_dims);
  return absl::OkStatus();
}

absl::Status TopologyDefault(PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args* args) {
  HILO_RETURN_IF_ERROR(CheckDimensions(args->num_dims));
  args->layout = DefaultLayout(args->num_dims);
  return absl::OkStatus();
}

absl::Status BufferLayout(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args* args) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->buffer, "PJRT_Buffer"));
  const Shape& shape = args->buffer->value->shape();
  args->layout = shape.IsToken() ? DefaultLayout(1) : NewLayout(shape.layout().minor_to_major);
  return absl::OkStatus();
}

absl::Status GiveLayouts(PJRT_Layouts_PJRT_Executable_GetLayouts_Args* args, const ProgramValues Program::* values) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->executable, "PJRT_Executable"));
  const std::vector<PJRT_Layouts_MemoryLayout*>& layouts = (args->executable->program.get()->*values).layout_list;
  args->num_layouts = layouts.size();
  args->layouts = const_cast<PJRT_Layouts_MemoryLayout**>(layouts.data());
  return absl::OkStatus();
}
absl::Status OutputLayouts(PJRT_Layouts_PJRT_Executable_GetLayouts_Args* args) {
  return GiveLayouts(args, &Program::results);
}
absl::Status ParameterLayouts(PJRT_Layouts_PJRT_Executable_GetLayouts_Args* args) {
  return GiveLayouts(args, &Program::parameters);
}

}  // namespace

PJRT_Extension_Base* LayoutsExtension(PJRT_Extension_Base* next) {
  static PJRT_Layouts_Extension extension = {
      .base = {.struct_size = sizeof(PJRT_Layouts_Extension), .type = PJRT_Extension_Type_Layouts, .next = next},
      .memory_layout_destroy = Boundary<PJRT_Layouts_MemoryLayout_Destroy_Args, DestroyLayout>,
      .memory_layout_serialize = Boundary<PJRT_Layouts_MemoryLayout_Serialize_Args, SerializeLayout>,
      .client_get_default_layout = Boundary<PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args, ClientDefault>,
      .buffer_memory_layout = Boundary<PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args, BufferLayout>,
      .topology_get_default_layout = Boundary<PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args, TopologyDefault>,
      .executable_get_output_layouts = Boundary<PJRT_Layouts_PJRT_Executable_GetLayouts_Args, OutputLayouts>,
      .executable_get_parameter_layouts = Boundary<PJRT_Layouts_PJRT_Executable_GetLayouts_Args, ParameterLayouts>};
  return &extension.base;
}

}  // namespace hilo::pjrt
