// From the framework's program to an executable.
#ifndef HILO_PJRT_COMPILE_H_
#define HILO_PJRT_COMPILE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pjrt/program.h"

namespace hilo::pjrt {

// With `native`, the result of Executable::Serialize of the same program, compiles nothing if that can be loaded here.
// Errors: InvalidArgument for unknown formats; what import and compilation return; what Client::Load returns
// for damaged bytes.
absl::StatusOr<std::shared_ptr<const Program>> CompileProgram(const std::shared_ptr<PJRT_Client>& client,
                                                              ProgramSource source, absl::string_view native = "");

// A serialized HloModuleProtoWithConfig of the program after optimization; optimizes it again for that. Errors:
// Unimplemented if the platform has no such form.
absl::StatusOr<std::string> OptimizedHlo(const Program& program, absl::Duration deadline = absl::InfiniteDuration());

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_COMPILE_H_
