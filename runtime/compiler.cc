#include "runtime/compiler.h"

#include "base/errors.h"
#include "runtime/artifact.h"

namespace hilo {

absl::Status CompiledProgram::Serialize(Artifact* artifact) const {
  return Unimplemented("programs of platform ", artifact->platform, " cannot be serialized");
}

absl::StatusOr<std::unique_ptr<CompiledProgram>> Compiler::Load(const Artifact&, const CompileOptions&) {
  return Unimplemented("programs of platform ", platform(), " cannot be loaded");
}

}  // namespace hilo
