// What frameworks query about a program's parameters, results and devices.
#ifndef HILO_PJRT_PROGRAM_VALUES_H_
#define HILO_PJRT_PROGRAM_VALUES_H_

#include "absl/status/status.h"
#include "hlo/import/stablehlo/stablehlo_import.h"
#include "pjrt/program.h"

namespace hilo::pjrt {

// Fills the lists of `program`, whose executable was compiled from `source`.
absl::Status Describe(const StablehloProgram& source, Program* program);

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_PROGRAM_VALUES_H_
