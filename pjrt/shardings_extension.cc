// The shardings of the arguments and results of a program with several partitions.
#include "hilo/status_macros.h"
#include "pjrt/error.h"
#include "pjrt/extensions.h"
#include "pjrt/program.h"

namespace hilo::pjrt {
namespace {

absl::Status GiveShardings(PJRT_Shardings_PJRT_Executable_Shardings_Args* args, const ProgramValues Program::* values) {
  HILO_RETURN_IF_ERROR(CheckHandle(args->executable, "PJRT_Executable"));
  const ProgramValues& given = args->executable->program.get()->*values;
  args->num_shardings = given.shardings.size();
  args->shardings = given.shardings.empty() ? nullptr : given.sharding_data.data();
  args->sharding_sizes = given.shardings.empty() ? nullptr : given.sharding_sizes.data();
  return absl::OkStatus();
}
absl::Status ParameterShardings(PJRT_Shardings_PJRT_Executable_Shardings_Args* args) {
  return GiveShardings(args, &Program::parameters);
}
absl::Status OutputShardings(PJRT_Shardings_PJRT_Executable_Shardings_Args* args) {
  return GiveShardings(args, &Program::results);
}

}  // namespace

PJRT_Extension_Base* ShardingsExtension(PJRT_Extension_Base* next) {
  static PJRT_Shardings_Extension extension = {
      .base = {.struct_size = sizeof(PJRT_Shardings_Extension), .type = PJRT_Extension_Type_Shardings, .next = next},
      .executable_parameter_shardings = Boundary<PJRT_Shardings_PJRT_Executable_Shardings_Args, ParameterShardings>,
      .executable_output_shardings = Boundary<PJRT_Shardings_PJRT_Executable_Shardings_Args, OutputShardings>};
  return &extension.base;
}

}  // namespace hilo::pjrt
