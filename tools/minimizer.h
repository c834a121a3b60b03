// Makes a module that shows a failure smaller.
#ifndef HILO_TOOLS_MINIMIZER_H_
#define HILO_TOOLS_MINIMIZER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"

namespace hilo::tools {

struct MinimizerOptions {
  // Whether a candidate still shows the failure. Errors end the search.
  std::function<absl::StatusOr<bool>(const HloModule&)> fails;
  // Calls of `fails`.
  int64_t max_tries = 1000;
  // Called after each try; null: not.
  std::function<void(int64_t tries, const HloModule& smallest)> progress;
};

// The number of instructions that compute: all but parameters.
int64_t SizeOf(const HloModule& module);

// The smallest module found, by these steps while one of them succeeds: another root, the body of a loop or a branch
// instead of a loop or conditional, parameters instead of groups of instructions, large ones first, and smaller sizes
// of dimensions. What is dead is removed. Errors: those of `fails`; InvalidArgument if `module` itself does not fail.
absl::StatusOr<std::unique_ptr<HloModule>> Minimize(const HloModule& module, const MinimizerOptions& options);

}  // namespace hilo::tools

#endif  // HILO_TOOLS_MINIMIZER_H_
