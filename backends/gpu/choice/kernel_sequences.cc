// Sequences of small instructions, and loops of them, that one thread executes faster than launches would be made
// (sequence_emitter.cc).
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/gpu/choice/kernel_choice.h"
#include "backends/gpu/choice/kernel_families.h"
#include "backends/gpu/thunks/host_call.h"
#include "backends/llvm/elements/generated_ops.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/hero.h"
#include "hlo/analysis/in_place.h"

namespace hilo::gpu {
namespace {

// Maximum elements of a result, and scalar instructions of an instruction and of a kernel: a launch takes some 2 us, in
// which a thread executes some thousand instructions.
constexpr int64_t kMaxElements = 32;
constexpr int64_t kMaxWork = 1536, kMaxKernelWork = 12288;
// Instructions between two returns to the host, which looks for a cancellation: some milliseconds.
constexpr int64_t kWorkBetweenLooks = 3 * (int64_t{1} << 22);
// Instructions of a kernel, for the compiler's sake, and the depth of branches, for the walk's.
constexpr size_t kMaxInstructions = 200;
constexpr int kMaxDepth = 8;

int64_t ElementsOf(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray() ? ShapeUtil::ElementsIn(shape) : 0;
  int64_t most = 0;
  for (const Shape& element : shape.tuple_shapes()) most = std::max(most, ElementsOf(element));
  return most;
}

// Scalar instructions of an instruction that is not control flow, at least one.
int64_t ScalarInstructions(const HloInstruction& instruction) {
  return static_cast<int64_t>(std::clamp(WorkOf(instruction).instructions, 1.0, 1e15));
}

class SequenceChoice {
 public:
  SequenceChoice(HloModule& module, const BufferAssignment& assignment) : module_(module), assignment_(assignment) {}

  // Chooses in a computation and in what its loops and branches run; calls have scopes of their own.
  void Choose(const HloComputation& computation) {
    std::vector<HloInstruction*> small;
    for (HloInstruction* instruction : module_.OrderOf(computation)) {
      if (!IsEmitted(*instruction, assignment_)) continue;
      if (IsSmall(*instruction)) {
        small.push_back(instruction);
        continue;
      }
      ChooseAmong(small);
      small.clear();
      ChooseInside(instruction);
    }
    ChooseAmong(small);
  }

 private:
  void ChooseAmong(const std::vector<HloInstruction*>& small) {
    for (size_t begin = 0; begin < small.size();) {
      const size_t end = SequenceEnd(small, begin);
      if (end == begin + 1) {
        ChooseInside(small[begin]);
      } else {
        const std::string why = absl::StrCat(end - begin, " small instructions in a row");
        for (size_t i = begin; i < end; ++i) Mark(small[i], why);
        ++number_;
      }
      begin = end;
    }
  }

  void ChooseInside(HloInstruction* instruction) {
    const KernelKind kind = instruction->kernel()->kind;
    if (instruction->opcode() == HloOpcode::kConditional) {
      for (const HloComputation* branch : instruction->called_computations()) Choose(*branch);
    } else if (instruction->opcode() == HloOpcode::kWhile) {
      const HloComputation &condition = *instruction->called_computation(0),
                           &body = *instruction->called_computation(1);
      int64_t work = 0;
      if (IsSmallSequence(condition, 0, &work) && IsSmallSequence(body, 0, &work)) {
        const int64_t iterations = std::clamp<int64_t>(kWorkBetweenLooks / std::max<int64_t>(work, 1), 64, 1 << 16);
        instruction->set_kernel({.kind = KernelKind::kOneThreadLoop,
                                 .tile = {iterations},
                                 .why = absl::StrCat("an iteration is ", work, " instructions")});
        MarkAll(condition);
        MarkAll(body);
        ++number_;
        return;
      }
      if (kind == KernelKind::kWhile) Choose(condition);
      Choose(body);
    }
  }

  void Mark(HloInstruction* instruction, absl::string_view why) {
    instruction->set_kernel({.kind = KernelKind::kSequence, .tile = {number_}, .why = std::string(why)});
    if (instruction->opcode() != HloOpcode::kConditional) return;
    for (const HloComputation* branch : instruction->called_computations()) MarkAll(*branch);
  }
  void MarkAll(const HloComputation& computation) {
    for (HloInstruction* instruction : computation.instructions()) {
      if (IsEmitted(*instruction, assignment_)) Mark(instruction, "inside a kernel of one thread");
    }
  }

  // Returns true if one thread executes the instruction as fast as a launch.
  bool IsSmall(const HloInstruction& instruction) const {
    if (instruction.opcode() == HloOpcode::kWhile || instruction.opcode() == HloOpcode::kCall) return false;
    int64_t work = 0;
    return IsSmallAt(instruction, 0, &work) && work <= kMaxKernelWork;
  }

  bool IsSmallAt(const HloInstruction& instruction, int depth, int64_t* work) const {
    if (IsHostCall(instruction)) return false;
    if (instruction.opcode() == HloOpcode::kConditional) {
      for (const HloComputation* branch : instruction.called_computations()) {
        if (!IsSmallSequence(*branch, depth + 1, work)) return false;
      }
      return true;
    }
    const HloInstruction* hero = HeroOf(&instruction);
    int64_t elements = ElementsOf(instruction.shape());
    if (UpdatesInPlace(instruction, assignment_)) {
      elements = ElementsOf(hero->operand(1)->shape());
    } else if (!codegen::IsElementGenerated(hero->opcode()) && hero->opcode() != HloOpcode::kTuple &&
               !hero->IsParameter()) {
      return false;
    }
    if (elements > kMaxElements) return false;
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(instruction.shape())) {
      if (!leaf.shape->IsArray() || ShapeUtil::ElementsIn(*leaf.shape) != ElementsOf(instruction.shape())) return false;
    }
    const int64_t own = ScalarInstructions(instruction);
    *work += own;
    return own <= kMaxWork;
  }

  bool IsSmallSequence(const HloComputation& computation, int depth, int64_t* work) const {
    if (depth > kMaxDepth || computation.instruction_count() > static_cast<int64_t>(2 * kMaxInstructions)) return false;
    for (const HloInstruction* instruction : computation.instructions()) {
      if (IsCode(*instruction) && !IsSmallAt(*instruction, depth, work)) return false;
    }
    return *work <= kMaxKernelWork;
  }

  // Returns the end of the longest sequence of `instructions` from index `begin` that one kernel can contain.
  static size_t SequenceEnd(absl::Span<HloInstruction* const> instructions, size_t begin) {
    int64_t work = 0;
    size_t end = begin;
    while (end < instructions.size() && end - begin < kMaxInstructions && (end == begin || work < kMaxKernelWork)) {
      work += instructions[end]->opcode() == HloOpcode::kConditional ? kMaxKernelWork / 2
                                                                     : ScalarInstructions(*instructions[end]);
      ++end;
    }
    return end;
  }

  static bool IsCode(const HloInstruction& instruction) {
    return !instruction.IsParameter() && !instruction.IsConstant() && !IsForwarding(instruction) &&
           instruction.opcode() != HloOpcode::kAfterAll;
  }

  HloModule& module_;
  const BufferAssignment& assignment_;
  int64_t number_ = 0;  // of the next sequence
};

}  // namespace

absl::Status ChooseSequences(HloModule* module, const BufferAssignment& assignment, const PassContext& context) {
  SequenceChoice choice(*module, assignment);
  for (const BufferAssignment::Scope& scope : assignment.scopes()) {
    HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
    choice.Choose(*scope.computation);
  }
  return absl::OkStatus();
}

}  // namespace hilo::gpu
