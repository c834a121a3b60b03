// hilo verify --instructions: which instruction of a module a platform computes wrongly.
#ifndef HILO_TOOLS_VERIFY_INSTRUCTIONS_H_
#define HILO_TOOLS_VERIFY_INSTRUCTIONS_H_

#include <string>

#include "absl/status/status.h"
#include "shape/literal_difference.h"
#include "tools/flags.h"
#include "tools/session.h"

namespace hilo::tools {

// "3 ulps, 2.1e-07 relative, 5 of 100 elements; worst ...", or "equal".
std::string DifferenceText(const LiteralDifference& difference, bool accepted);

// Runs the module on the platform with the values of all instructions of the entry as results, evaluates each
// instruction on these operands, and prints the first that is wrong, or those with the largest errors. Errors:
// Unimplemented for programs of several devices; those of the platform.
absl::Status VerifyInstructions(const Program& program, const std::string& platform, const Flags& flags);

}  // namespace hilo::tools

#endif  // HILO_TOOLS_VERIFY_INSTRUCTIONS_H_
