// What tests of copy insertion and assignment share: taking a module to kAliased and running it in its assigned memory.
#ifndef HILO_TESTS_UNIT_HLO_MEMORY_MEMORY_TESTING_H_
#define HILO_TESTS_UNIT_HLO_MEMORY_MEMORY_TESTING_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hilo/status_macros.h"
#include "hlo/memory/assigned_evaluator.h"
#include "hlo/memory/copy_insertion.h"
#include "hlo/memory/scheduler.h"
#include "hlo/passes/standard_passes.h"

namespace hilo::testing {

// Supports everything, and fuses what is computed element by element.
class AnyTarget : public Target {
 public:
  Emission EmissionOf(const HloInstruction& instruction) const override {
    return IsElement(instruction) ? Emission::kElement : Emission::kKernel;
  }

 private:
  static bool IsElement(const HloInstruction& instruction) {
    if (!instruction.shape().IsArray()) return false;
    switch (instruction.opcode()) {
      case HloOpcode::kBroadcast:
      case HloOpcode::kConcatenate:
      case HloOpcode::kDynamicSlice:
      case HloOpcode::kIota:
      case HloOpcode::kPad:
      case HloOpcode::kReshape:
      case HloOpcode::kReverse:
      case HloOpcode::kSlice:
      case HloOpcode::kTranspose: return true;
      default: return IsElementwise(instruction.opcode()) && instruction.opcode() != HloOpcode::kCopy;
    }
  }
};

// Names as in --passes=.
inline std::unique_ptr<HloPass> PassNamed(absl::string_view name) {
  static const AnyTarget target;
  if (name == "inline-calls") return MakeCallInliner();
  if (name == "flatten") return MakeFlattenCallGraph();
  if (name == "cse") return MakeCse();
  if (name == "simplify") return MakeSimplifier(/*strict=*/true);
  if (name == "fold-constants") return MakeConstantFolding(4096);
  if (name == "fuse") return MakeFusion(&target);
  if (name == "normalize-layout") return MakeLayoutNormalization();
  return MakeDce();
}

// Runs `passes`, then all that leads to kAliased.
inline absl::Status TakeToAliased(HloModule* module, const std::vector<std::string>& passes) {
  std::vector<std::string> all = passes;
  for (const char* needed : {"normalize-layout", "flatten", "dce"}) all.push_back(needed);
  for (const std::string& name : all) {
    absl::StatusOr<bool> changed = PassNamed(name)->Run(module, {});
    if (!changed.ok()) return changed.status();
    HILO_RETURN_IF_ERROR(VerifyHloModule(*module, HloStage::kInput));
  }
  HILO_RETURN_IF_ERROR(ScheduleModule(module));
  HILO_RETURN_IF_ERROR(InsertCopies(module));
  return VerifyHloModule(*module, HloStage::kAliased);
}

inline absl::StatusOr<Literal> RunAssigned(const HloModule& module, absl::Span<const Literal* const> arguments) {
  HILO_ASSIGN_OR_RETURN(BufferAssignment assignment, BufferAssignment::Create(module, {}));
  return EvaluateInAssignedBuffers(module, assignment, arguments);
}

}  // namespace hilo::testing

#endif  // HILO_TESTS_UNIT_HLO_MEMORY_MEMORY_TESTING_H_
