// Whether a module shows a failure: for hilo minimise and hilo bisect.
#ifndef HILO_TOOLS_FAILURE_CHECK_H_
#define HILO_TOOLS_FAILURE_CHECK_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"
#include "tools/flags.h"
#include "tools/session.h"

namespace hilo::tools {

// Flags --fails-on, --seconds-a-try, --inputs and --input, then --check.
std::vector<FlagSpec> FailureFlags();

// Runs a check in a process of its own, so that the failure may be a crash, or a run that does not end.
class FailureCheck {
 public:
  // Learns what the failure looks like from the module itself: a later one that fails otherwise does not count. Errors:
  // InvalidArgument for flags that exclude each other, for an unknown platform, and if the module does not fail or is
  // refused as an invalid argument; Unavailable, also if the platform is; those of LoadArguments.
  static absl::StatusOr<FailureCheck> Create(const Flags& flags, const HloModule& module);

  absl::StatusOr<bool> Fails(const HloModule& module) const;
  // The same with passes left out, of --fails-on. kRefused: the platform has no such passes.
  enum class Outcome { kSame, kOther, kRefused };
  absl::StatusOr<Outcome> Without(const std::vector<std::string>& passes, const HloModule& module) const;
  // "exit code 1: FAILED_PRECONDITION", "signal 11", "no end within 60 seconds".
  const std::string& failure() const { return failure_; }

 private:
  // `message`: set to the error of hilo verify, or to the end of a command that does not succeed.
  absl::StatusOr<std::string> OutcomeOf(const HloModule& module, const std::vector<std::string>& disabled_passes,
                                        std::string* message = nullptr) const;
  // The flags by which hilo verify runs `module` on the inputs, whose files are in `folder`. A parameter has the inputs
  // of the failing module's parameter of that name, of a smaller one the first elements in each dimension; others,
  // which stand for instructions, have random values.
  absl::StatusOr<std::vector<std::string>> InputFlags(const HloModule& module, const std::string& folder) const;

  std::string command_;   // of --check
  std::string platform_;  // of --fails-on
  double seconds_ = 60;
  bool has_inputs_ = false;
  absl::flat_hash_map<std::string, Arguments> inputs_;  // by name of the parameter
  std::string failure_;
};

}  // namespace hilo::tools

#endif  // HILO_TOOLS_FAILURE_CHECK_H_
