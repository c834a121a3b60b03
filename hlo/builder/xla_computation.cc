#include "base/errors.h"
#include "hilo/xla_builder.h"
#include "hlo/ir/hlo_module.h"

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
