// Serialization of programs as artifacts, and the cache folder. Private to the runtime.
#ifndef HILO_RUNTIME_SAVED_PROGRAM_H_
#define HILO_RUNTIME_SAVED_PROGRAM_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "hilo/executable.h"
#include "runtime/artifact.h"
#include "runtime/client_core.h"
#include "runtime/loaded_program.h"

namespace hilo {

// `devices` empty: 0, 1, 2 ... Errors: InvalidArgument if the client lacks them.
absl::StatusOr<DeviceAssignment> AssignDevices(const ClientCore& core, int64_t replicas, int64_t partitions,
                                               absl::Span<const int> devices);

absl::StatusOr<Artifact> MakeArtifact(const ClientCore& core, const LoadedProgram& program);
// options.devices empty: those that the program was compiled for. Errors: as Client::Load.
absl::StatusOr<std::shared_ptr<const LoadedProgram>> LoadArtifact(const ClientCore& core, const Artifact& artifact,
                                                                  const CompileOptions& options);

// The part of an artifact that the runtime itself reads, for tests that damage it.
struct RunFacts {
  DeviceAssignment assignment;
  ProgramEffects effects;
};
absl::StatusOr<RunFacts> ReadRunFacts(const Artifact& artifact);

// The cache key of the program of a verified module: a digest of the module and of all other inputs of the
// compilation. Empty: not cached, because there is no cache, or no benefit, or because the options request
// observing the compilation (dumps, verification, jitdump). Errors: those of Compiler::TargetOf.
absl::StatusOr<std::string> CacheKey(const ClientCore& core, const HloModule& module,
                                     const DeviceAssignment& assignment, const CompileOptions& options);
// Null if it is missing; a damaged entry counts as missing.
std::shared_ptr<const LoadedProgram> FindInCache(ClientCore* core, const std::string& key,
                                                 const CompileOptions& options);
void PutIntoCache(ClientCore* core, const std::string& key, const LoadedProgram& program);

}  // namespace hilo

#endif  // HILO_RUNTIME_SAVED_PROGRAM_H_
