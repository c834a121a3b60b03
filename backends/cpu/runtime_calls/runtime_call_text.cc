#include "backends/cpu/runtime_calls/runtime_call_text.h"

#include "absl/container/flat_hash_map.h"
#include "backends/cpu/runtime_calls/runtime_call_table.h"
#include "backends/llvm/elements/elementwise_function.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/memory/buffer_assignment.h"
#include "runtime/instruction_text.h"

namespace hilo::cpu {
namespace {

bool Agrees(const HloInstruction& instruction, const RuntimeCallFacts& facts) {
  int64_t operand_leaves = 0, computations = 0;
  for (const HloInstruction* operand : instruction.operands()) operand_leaves += LeafCount(operand->shape());
  for (const HloComputation* computation : instruction.called_computations())
    computations += codegen::MapsScalars(*computation) ? 1 : 0;
  return operand_leaves == facts.operand_leaves && LeafCount(instruction.shape()) == facts.result_leaves &&
         computations == facts.computations;
}

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<RuntimeCall>>> MakeRuntimeCalls(const ProgramImage& image,
                                                                           const CompileOptions& options) {
  std::vector<std::unique_ptr<RuntimeCall>> runtime_calls;
  if (image.runtime_calls.empty()) return runtime_calls;
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<HloModule> module, InstructionsFromText(image.runtime_call_text));
  absl::flat_hash_map<absl::string_view, const HloInstruction*> by_name;
  for (const HloInstruction* instruction : module->entry_computation()->instructions())
    by_name[instruction->name()] = instruction;
  for (const RuntimeCallFacts& facts : image.runtime_calls) {
    const auto it = by_name.find(facts.name);
    if (it == by_name.end() || !IsRuntimeCall(*it->second) || !Agrees(*it->second, facts)) {
      return InvalidArgument("serialized executable: expected a runtime call ", facts.name, " of ",
                             facts.operand_leaves, " arrays to ", facts.result_leaves, " with ", facts.computations,
                             " computations, but its text has none");
    }
    auto op = MakeRuntimeCall(*it->second, options);
    if (!op.ok()) return AddContext(op.status(), facts.context);
    runtime_calls.push_back(*std::move(op));
  }
  return runtime_calls;
}

}  // namespace hilo::cpu
