#include "hlo/passes/expand/expansions.h"

#include "hlo/ir/hlo_module.h"

namespace hilo {

absl::StatusOr<XlaComputation> CalledComputation(const HloInstruction& instruction, int64_t i) {
  auto module = std::make_shared<HloModule>(instruction.called_computation(i)->name());
  module->set_entry_computation(module->CloneComputation(*instruction.called_computation(i), /*suffix=*/""));
  return XlaComputation(std::move(module));
}

}  // namespace hilo
