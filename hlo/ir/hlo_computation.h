// HloComputation: a list of instructions with parameters and a root; owned by an HloModule.
#ifndef HILO_HLO_IR_HLO_COMPUTATION_H_
#define HILO_HLO_IR_HLO_COMPUTATION_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

class HloComputation {
 public:
  HloComputation(const HloComputation&) = delete;
  HloComputation& operator=(const HloComputation&) = delete;

  const std::string& name() const { return name_; }
  HloModule* parent() const { return parent_; }
  bool IsEntry() const;
  bool IsFusion() const { return fusion_instruction_ != nullptr; }
  // The fusion that calls this, if it is a fused computation.
  HloInstruction* fusion_instruction() const { return fusion_instruction_; }
  void set_fusion_instruction(HloInstruction* fusion) { fusion_instruction_ = fusion; }

  HloInstruction* root_instruction() const { return root_; }
  absl::Span<HloInstruction* const> parameter_instructions() const { return parameters_; }
  HloInstruction* parameter_instruction(int64_t i) const { return parameters_[i]; }
  int64_t num_parameters() const { return static_cast<int64_t>(parameters_.size()); }
  ProgramShape ComputeProgramShape() const;

  // All instructions in order of addition (a snapshot, so that edits during a walk are safe).
  std::vector<HloInstruction*> instructions() const;
  int64_t instruction_count() const { return instruction_count_; }
  // Operands and control predecessors first; deterministic; every instruction, including dead ones.
  std::vector<HloInstruction*> MakePostOrder() const;

  // Takes ownership of the instruction, names it `name` (or after its opcode), made unique in the module.
  HloInstruction* AddInstruction(std::unique_ptr<HloInstruction> instruction, absl::string_view name = "");
  // Makes an instruction whose shape is inferred, with default layouts. Errors: inference's.
  absl::StatusOr<HloInstruction*> AddOp(HloOpcode opcode, absl::Span<HloInstruction* const> operands,
                                        std::unique_ptr<OpAttributes> attributes = nullptr,
                                        absl::Span<HloComputation* const> called = {}, const Shape* stated = nullptr);
  // The constant is an array: for a tuple, a tuple of constants is made.
  HloInstruction* AddConstant(class Literal literal, absl::string_view name = "");

  // Errors: InvalidArgument unless the instruction belongs to this computation and, when the shape differs from the old
  // root's, `allow_shape_change`.
  absl::Status set_root_instruction(HloInstruction* root, bool allow_shape_change = false);
  void ReplaceOperand(HloInstruction* user, int64_t operand, HloInstruction* replacement);
  // Replaces every use of `old_instruction`, root included, by `replacement`, of a compatible shape.
  absl::Status ReplaceAllUsesWith(HloInstruction* old_instruction, HloInstruction* replacement);
  // ReplaceAllUsesWith for several pairs of an instruction and its replacement, in time linear in the operands of all
  // users: a call per pair walks over those of a tuple again and again. Errors: Internal if a replacement is replaced.
  absl::Status ReplaceAllUses(absl::Span<const std::pair<HloInstruction*, HloInstruction*>> replacements);
  // ReplaceAllUsesWith, then removes the old instruction and all that become dead. Metadata passes to a replacement
  // without metadata.
  absl::Status ReplaceInstruction(HloInstruction* old_instruction, HloInstruction* replacement);
  // The instruction must be without users and not the root.
  absl::Status RemoveInstruction(HloInstruction* instruction);
  // Also removes operands that become dead, transitively; parameters stay.
  absl::Status RemoveInstructionAndUnusedOperands(HloInstruction* instruction);
  // Removes an unused parameter of a fused or private computation and renumbers the rest; callers update the operands.
  absl::Status RemoveParameter(int64_t number);
  void RemoveOperand(HloInstruction* instruction, int64_t operand);

 private:
  friend class HloModule;
  HloComputation(HloModule* parent, std::string name) : parent_(parent), name_(std::move(name)) {}

  HloModule* parent_;
  std::string name_;
  HloInstruction* root_ = nullptr;
  HloInstruction* fusion_instruction_ = nullptr;
  std::vector<std::unique_ptr<HloInstruction>> instructions_;  // null where one was removed
  absl::flat_hash_map<const HloInstruction*, int64_t> positions_;
  int64_t instruction_count_ = 0;
  std::vector<HloInstruction*> parameters_;
};

}  // namespace hilo

#endif  // HILO_HLO_IR_HLO_COMPUTATION_H_
