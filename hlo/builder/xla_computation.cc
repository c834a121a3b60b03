#include "hlo/builder/xla_computation.h"

#include "base/errors.h"

namespace hilo {

const std::string& XlaComputation::name() const {
  static const auto* const kNone = new std::string();
  return IsNull() ? *kNone : module_->name();
}

absl::StatusOr<ProgramShape> XlaComputation::GetProgramShape() const {
  if (IsNull()) return InvalidArgument("an empty XlaComputation has no shape");
  return module_->EntryProgramShape();
}

}  // namespace hilo
