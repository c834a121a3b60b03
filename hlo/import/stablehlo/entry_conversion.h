// Attributes of a program's arguments and results besides their shapes: shardings, layouts, donation.
#ifndef HILO_HLO_IMPORT_STABLEHLO_ENTRY_CONVERSION_H_
#define HILO_HLO_IMPORT_STABLEHLO_ENTRY_CONVERSION_H_

#include "absl/status/status.h"
#include "hlo/import/stablehlo/mlir_module.h"
#include "hlo/import/stablehlo/shardings.h"
#include "hlo/import/stablehlo/stablehlo_program.h"

namespace hilo::stablehlo {

// Fills `program` from the attributes of the module and of its function `main`, whose computation is the module's
// entry: the lists of arguments and results, and in the module aliases, donors, layouts, shardings, meshes and the
// number of devices. Errors: InvalidArgument for attributes that do not fit.
absl::Status DescribeEntry(const Operation& module, const Operation& main, const Shardings& shardings,
                           StablehloProgram* program);

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_ENTRY_CONVERSION_H_
