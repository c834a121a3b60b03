// The list of all backends; no other file lists them.
#ifndef HILO_BACKENDS_REGISTRY_H_
#define HILO_BACKENDS_REGISTRY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/passes/emission.h"
#include "runtime/compiler.h"

namespace hilo {

// Returns the platforms that this library was built with.
std::vector<std::string> PlatformNames();

// Returns how the platform, one of PlatformNames(), emits an opcode.
EmissionRow EmissionOn(absl::string_view platform, HloOpcode opcode);

// Errors: InvalidArgument listing the names if there is no such platform; Unavailable, stating what is missing, for one
// that this library or this machine lacks. The cache is as in ClientOptions, for parts of programs.
absl::StatusOr<std::unique_ptr<Compiler>> CreateCompiler(absl::string_view platform,
                                                         const std::optional<std::string>& cache_dir = std::nullopt,
                                                         int64_t cache_limit = int64_t{1} << 30);

}  // namespace hilo

#endif  // HILO_BACKENDS_REGISTRY_H_
