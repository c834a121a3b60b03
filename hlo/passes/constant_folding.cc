// Instructions whose operands are all constants, or repeat some, are evaluated. The result may not be large: a
// broadcast of a constant, or an iota, is cheaper to compute than to read, so these are kept, and so is anything that
// would grow by folding.
//
// Nor may the work be large, and few elements can take any amount of it: by a window, by a contracted dimension, by the
// computations that are called. So the evaluator works on a budget of element operations, one for each instruction and
// one for the pass, and polls the compilation's cancellation. Instructions that call a loop are not tried.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "hilo/status_macros.h"
#include "hlo/evaluator/hlo_evaluator.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

class ConstantFolding : public HloPass {
 public:
  explicit ConstantFolding(int64_t limit) : limit_(limit) {}
  absl::string_view name() const override { return "fold-constants"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    int64_t left = kPassOperations;
    for (HloComputation* computation : module->computations()) {
      for (HloInstruction* instruction : computation->MakePostOrder()) {
        if (left <= 0 || !MayFold(*instruction)) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        const int64_t most = std::min(left, kOperationsPerElement * limit_);
        WorkBudget budget(context.cancellation, "compilation", most);
        auto result = Evaluate(*instruction, HloEvaluator(&budget));
        left -= most - budget.left();
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        if (!result.ok()) continue;  // too much work, or the run will report the error
        HILO_RETURN_IF_ERROR(
            computation->ReplaceInstruction(instruction, computation->AddConstant(*std::move(result))));
        changed = true;
      }
    }
    return changed;
  }

 private:
  // Element operations of the evaluator (some nanoseconds each) for an instruction, by the limit of elements, and for
  // one run of the pass: 0.1 and 1 s.
  static constexpr int64_t kOperationsPerElement = 256;
  static constexpr int64_t kPassOperations = 1 << 28;

  // A constant that is repeated: part of the work on other constants.
  static bool IsRepeatedConstant(const HloInstruction& instruction) {
    return instruction.opcode() == HloOpcode::kBroadcast && instruction.operand(0)->IsConstant();
  }

  // Returns the value of an instruction that may be folded.
  static absl::StatusOr<Literal> Evaluate(const HloInstruction& instruction, HloEvaluator evaluator) {
    std::vector<Literal> repeated;
    repeated.reserve(instruction.operand_count());
    std::vector<const Literal*> operands;
    for (const HloInstruction* operand : instruction.operands()) {
      if (operand->IsConstant()) {
        operands.push_back(&operand->literal());
        continue;
      }
      HILO_ASSIGN_OR_RETURN(repeated.emplace_back(),
                            evaluator.EvaluateInstruction(*operand, {&operand->operand(0)->literal()}));
      operands.push_back(&repeated.back());
    }
    return evaluator.EvaluateInstruction(instruction, operands);
  }

  // True if what the instruction calls, at any depth, is the same on all devices, has no effect, and is no loop.
  static bool CallsAreFoldable(const HloInstruction& instruction) {
    const auto called = instruction.called_computations();
    std::vector<const HloComputation*> work(called.begin(), called.end());
    absl::flat_hash_set<const HloComputation*> seen(called.begin(), called.end());
    while (!work.empty()) {
      const HloComputation* computation = work.back();
      work.pop_back();
      for (const HloInstruction* inner : computation->instructions()) {
        if (inner->HasSideEffect() || HasTrait(inner->opcode(), kPerDevice) || inner->opcode() == HloOpcode::kWhile)
          return false;
        for (const HloComputation* next : inner->called_computations()) {
          if (seen.insert(next).second) work.push_back(next);
        }
      }
    }
    return true;
  }

  bool MayFold(const HloInstruction& instruction) const {
    if (instruction.operand_count() == 0 || !instruction.shape().IsArray()) return false;
    if (instruction.HasSideEffect() || HasTrait(instruction.opcode(), kPerDevice)) return false;
    if (HasTrait(instruction.opcode(), kForwarding) || HasTrait(instruction.opcode(), kControlFlow)) return false;
    if (instruction.HasControlDependencies()) return false;
    for (const HloInstruction* user : instruction.users()) {
      if (user->opcode() == HloOpcode::kBitcast)
        return false;  // it depends on the memory, and so on the layout, of its operand
    }
    int64_t work = 0, largest = 1;
    for (const HloInstruction* operand : instruction.operands()) {
      if (!operand->shape().IsArray()) return false;
      const int64_t elements = ShapeUtil::ElementsIn(operand->shape());
      work += elements;
      if (operand->IsConstant()) {
        largest = std::max(largest, elements);
      } else if (!IsRepeatedConstant(*operand)) {
        return false;
      }
    }
    const int64_t result = ShapeUtil::ElementsIn(instruction.shape());
    if (result > limit_ || work > limit_ || !CallsAreFoldable(instruction)) return false;
    // Work that does not show in the sizes, or called computations that are not worth it.
    static constexpr OpcodeSet kNeverFolded = {HloOpcode::kFusion, HloOpcode::kReduceWindow, HloOpcode::kScatter,
                                               HloOpcode::kSort};
    static constexpr OpcodeSet kProducts = {HloOpcode::kConvolution, HloOpcode::kDot, HloOpcode::kRaggedDot,
                                            HloOpcode::kScaledDot};
    if (kNeverFolded.contains(instruction.opcode())) return false;
    if (kProducts.contains(instruction.opcode())) return result * largest <= limit_;
    return result <= largest;  // what grows (broadcast, pad, iota) stays computed
  }

  int64_t limit_;
};

}  // namespace

std::unique_ptr<HloPass> MakeConstantFolding(int64_t limit) { return std::make_unique<ConstantFolding>(limit); }

}  // namespace hilo
