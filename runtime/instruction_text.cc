#include "runtime/instruction_text.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {

std::string InstructionsToText(const HloModule& module, absl::Span<const HloInstruction* const> instructions) {
  if (instructions.empty()) return "";
  HloModule calls("calls");
  calls.set_replica_count(module.replica_count());
  calls.set_num_partitions(module.num_partitions());
  HloComputation* entry = calls.AddComputation("calls");
  calls.set_entry_computation(entry);
  HloInstruction* last = nullptr;
  absl::flat_hash_map<const HloInstruction*, HloInstruction*>
      copies;  // a recv-done reads the source of its data from its recv
  for (const HloInstruction* instruction : instructions) {
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* operand : instruction->operands()) {
      const int64_t number = entry->num_parameters();
      HloInstruction*& copy = copies[operand];
      if (copy == nullptr) {
        copy = entry->AddInstruction(
            HloInstruction::CreateParameter(number, operand->shape(), absl::StrCat("call.parameter.", number)));
      }
      operands.push_back(copy);
    }
    last = copies[instruction] =
        entry->AddInstruction(instruction->CloneWithNewOperands(instruction->shape(), operands), instruction->name());
    for (size_t i = 0; i < instruction->called_computations().size(); ++i) {
      last->set_called_computation(static_cast<int64_t>(i),
                                   calls.CloneComputation(*instruction->called_computations()[i], ""));
    }
  }
  entry->set_root_instruction(last, /*allow_shape_change=*/true).IgnoreError();  // it is the entry's own
  return PrintHloModule(calls, {.metadata = false});
}

absl::StatusOr<std::unique_ptr<HloModule>> InstructionsFromText(absl::string_view text) {
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ParseHloModule(text, {.file_name = "text of calls"}));
  HILO_RETURN_IF_ERROR(VerifyHloModule(*module, HloStage::kInput));
  return module;
}

}  // namespace hilo
