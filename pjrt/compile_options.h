// The CompileOptionsProto that frameworks send with a program.
#ifndef HILO_PJRT_COMPILE_OPTIONS_H_
#define HILO_PJRT_COMPILE_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hilo/executable.h"

namespace hilo::pjrt {

struct PluginCompileOptions {
  CompileOptions compile;
  // Runs on the device that each run names.
  bool portable = false;
  // Of each parameter or result, or of all of them, whether one without a stated sharding may be divided among the
  // partitions.
  std::vector<bool> open_parameters, open_results;
};

// Counts of replicas and partitions, the devices, and the user's own options (JAX: compiler_options=), by name:
//
//   hilo_strict, hilo_flush_denormals, hilo_dump_to   fields of CompileOptions
//   xla_dump_to, xla_allow_excess_precision           the same as hilo_dump_to and the opposite of hilo_strict
//
// A program of several partitions without use_spmd_partitioning is one that has been partitioned already
// (CompileOptions::partitioned).
//
// Flags of XLA's without effect here are ignored once their values are of their types (xla_flags.h).
// Flags in debug_options are the process's, not the program's; they too are ignored. Errors: InvalidArgument for
// bytes that are not such a message, and naming options that do not exist or whose values are invalid.
absl::StatusOr<PluginCompileOptions> ReadCompileOptions(absl::string_view bytes);

// A serialized DeviceAssignmentProto.
std::string DeviceAssignmentToProto(const DeviceAssignment& assignment);

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_COMPILE_OPTIONS_H_
