#include "hlo/passes/emission.h"

namespace hilo {

absl::string_view EmissionName(Emission emission) {
  switch (emission) {
    case Emission::kNoCode: return "no code";
    case Emission::kForwarding: return "forwarding";
    case Emission::kElement: return "element";
    case Emission::kKernel: return "kernel";
    case Emission::kRuntimeCall: return "runtime call";
    case Emission::kCollective: return "collective";
    case Emission::kControlFlow: return "control flow";
    case Emission::kEvaluated: return "evaluated";
    case Emission::kExpanded: return "expanded";
    case Emission::kRewritten: return "rewritten";
  }
  return "";
}

}  // namespace hilo
