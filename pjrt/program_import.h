// The framework's program as a module, and what its runs may take.
#ifndef HILO_PJRT_PROGRAM_IMPORT_H_
#define HILO_PJRT_PROGRAM_IMPORT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/import/stablehlo/stablehlo_import.h"
#include "pjrt/program.h"

namespace hilo::pjrt {

// Errors: InvalidArgument for unknown formats; those of the import.
absl::StatusOr<StablehloProgram> Import(const ProgramSource& source);

// A parameter that its caller donates without naming a result is aliased to the first free result of its shape. Others
// stay donors.
void PairDonors(HloModule* module);

// Numbers of the leaves of parameters that aliases and donors name.
std::vector<int64_t> DonatedLeaves(const HloModule& module);

// Whether the module calls functions of the caller's Python.
bool CallsPython(const HloModule& module);

// Errors: Unimplemented for operations that nothing in the PJRT API serves.
absl::Status CheckIsServed(const HloModule& module);

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_PROGRAM_IMPORT_H_
