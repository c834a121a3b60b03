// Copy insertion and buffer assignment place the values of loop bodies and branches in the frame of their caller,
// so every such computation must have a single call site. A computation that several call sites share is cloned. Calls
// stay shared: their targets have separate frames.
#include "absl/container/flat_hash_set.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Cloning may not grow a module beyond this many instructions: nested loops that all share bodies double at every
// level.
constexpr int64_t kMaxInstructions = 2'000'000;

class FlattenCallGraph : public HloPass {
 public:
  absl::string_view name() const override { return "flatten"; }
  bool optional() const override { return false; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    int64_t instructions = module->instruction_count();
    // Callers before callees, so that computations that a clone shares with its original are split later.
    absl::flat_hash_set<const HloComputation*> taken = {module->entry_computation()},
                                               visited = {module->entry_computation()};
    for (const HloComputation* computation : module->computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        // A call's target has a separate frame and cannot be part of another.
        if (instruction->opcode() == HloOpcode::kCall) taken.insert(instruction->called_computation());
      }
    }
    std::vector<HloComputation*> work = {module->entry_computation()};
    while (!work.empty()) {
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      HloComputation* computation = work.back();
      work.pop_back();
      for (HloInstruction* instruction : computation->instructions()) {
        const bool owns =
            instruction->opcode() == HloOpcode::kWhile || instruction->opcode() == HloOpcode::kConditional;
        for (size_t i = 0; i < instruction->called_computations().size(); ++i) {
          HloComputation* called = instruction->called_computation(i);
          if (owns && !taken.insert(called).second) {
            instructions += called->instruction_count();
            if (instructions > kMaxInstructions) {
              return ResourceExhausted("loops and branches that share computations would become more than ",
                                       kMaxInstructions, " instructions");
            }
            called = module->CloneComputation(*called);
            instruction->set_called_computation(i, called);
            taken.insert(called);
            changed = true;
          }
          if (HasTrait(instruction->opcode(), kControlFlow) && visited.insert(called).second) work.push_back(called);
        }
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeFlattenCallGraph() { return std::make_unique<FlattenCallGraph>(); }

}  // namespace hilo
