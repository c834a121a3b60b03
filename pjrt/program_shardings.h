// The shardings of a program's parameters and results, as the framework states them and queries them.
#ifndef HILO_PJRT_PROGRAM_SHARDINGS_H_
#define HILO_PJRT_PROGRAM_SHARDINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/import/stablehlo/stablehlo_import.h"
#include "hlo/passes/standard_passes.h"
#include "pjrt/compile_options.h"

namespace hilo::pjrt {

// A serialized OpSharding. What nothing was said of is whole on every device.
absl::StatusOr<std::string> ShardingToProto(absl::string_view text);

// Partitions the program here if it leaves shardings of parameters or results open, or queries
// shardings: they are only known after partitioning.
absl::Status ChooseResultShardings(const PluginCompileOptions& options, StablehloProgram* program,
                                   std::vector<ShardingNote>* notes = nullptr);

// Called, on the thread that compiles, with the number of a call of InspectSharding and the sharding of its operand
// cut (abi_extensions.h).
using ShardingInspector = void (*)(uint64_t number, const char* sharding, size_t size);
void SetShardingInspector(ShardingInspector inspector);

// Tells the inspector, if there is one, what ChooseResultShardings noted.
absl::Status NotifyInspector(const std::vector<ShardingNote>& notes);

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_PROGRAM_SHARDINGS_H_
