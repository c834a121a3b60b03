#include "base/status_macros.h"
#include "pjrt/error.h"

namespace hilo::pjrt {

absl::Status Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args*) { return Unimplemented("PJRT_Executable_GetCostAnalysis"); }

}  // namespace hilo::pjrt
