// Equal loops become calls of one computation, so that each is compiled once: a factorization that a program computes
// thirty times is one function.
//
//   a = while((0, x)), condition=c1, body=b1
//   b = while((0, y)), condition=c2, body=b2
//     =>
//   loop { p = parameter(0)  ROOT w = while((0, p)), condition=c1, body=b1 }
//   a = call(x), to_apply=loop
//   b = call(y), to_apply=loop
//
// Loops are equal if their conditions and bodies compute the same, and if they begin with the same constants. Those
// are made by the computation, so that the trip count stays known; other elements of the state are its parameters, of
// which the loop changes a copy. Where that costs more than a small part of the loop's own time, the loop stays.
#include "hlo/passes/loops/loop_sharing.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/analysis/value_numbering.h"
#include "hlo/passes/loops/loop_state.h"
#include "hlo/passes/make_instruction.h"

namespace hilo {
namespace {

// Loops of fewer instructions compile in less time than a call of them is worth.
constexpr int64_t kMinInstructions = 8;
// Loops that share computations at every level have numbers of instructions that grow without bound.
constexpr int64_t kMaxInstructions = int64_t{1} << 40;
// A loop takes this many times as long as its call and the copies that it needs.
constexpr double kLongLoop = 50;
constexpr double kCallNanoseconds = 10;
// Assumed iterations of loops with an unknown trip count.
constexpr double kUnknownTrips = 10;

// A loop with what it must share with another one to be equal to it.
struct Loop {
  HloInstruction* instruction;
  std::vector<int64_t> computations;             // numbers of condition and body
  std::vector<const HloInstruction*> constants;  // of the elements of the initial state; null for other elements
};

// The size and the work of one execution of a computation, with the computations that it calls.
struct Extent {
  int64_t instructions = 0;
  Work work;
};

// Constants, counters and arrays of one constant, which a computation can make as well as its caller. A number of
// floating point decides no trip count, and differs between loops that are equal otherwise.
bool IsConstantElement(const HloInstruction& init) {
  if (init.opcode() == HloOpcode::kIota) return true;
  if (init.opcode() == HloOpcode::kBroadcast) return init.operand(0)->IsConstant();
  return init.IsConstant() && (!init.shape().IsScalar() || !IsFloatingPointType(init.shape().element_type()));
}

class LoopSharing : public HloPass {
 public:
  explicit LoopSharing(std::function<double(const Work& work)> nanoseconds) : nanoseconds_(std::move(nanoseconds)) {}
  absl::string_view name() const override { return "share-loops"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> callees_first, module->MakeComputationPostOrder());
    int64_t loops = 0;
    for (const HloComputation* computation : callees_first) {
      for (const HloInstruction* instruction : computation->instructions())
        loops += instruction->opcode() == HloOpcode::kWhile ? 1 : 0;
    }
    if (loops < 2) return false;

    ValueNumbering numbering;
    uses_.clear();
    extents_.clear();
    std::vector<std::vector<Loop>> groups;
    absl::flat_hash_map<std::pair<std::vector<int64_t>, std::vector<const HloInstruction*>>, size_t> positions;
    for (HloComputation* computation : callees_first) {
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      if (!computation->IsEntry()) numbering.Number(*computation);
      Extent& extent = extents_[computation];
      for (HloInstruction* instruction : computation->instructions()) {
        Add(*instruction, &extent);
        for (const HloComputation* called : instruction->called_computations()) ++uses_[called];
        if (instruction->opcode() != HloOpcode::kWhile || !MayBeShared(*instruction)) continue;
        Loop loop = LoopOf(instruction, &numbering);
        const auto [it, fresh] = positions.try_emplace({loop.computations, loop.constants}, groups.size());
        if (fresh) groups.emplace_back();
        groups[it->second].push_back(std::move(loop));
      }
    }
    // Loops in loops that are shared are then one loop.
    std::stable_sort(groups.begin(), groups.end(), [&](const std::vector<Loop>& a, const std::vector<Loop>& b) {
      return SizeOf(*a[0].instruction) > SizeOf(*b[0].instruction);
    });
    bool changed = false;
    for (std::vector<Loop>& group : groups) {
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      std::erase_if(group, [&](const Loop& loop) {
        const HloComputation* parent = loop.instruction->parent();
        return !parent->IsEntry() && uses_[parent] == 0;
      });
      if (group.size() < 2 || !IsWorthACall(group[0])) continue;
      HILO_RETURN_IF_ERROR(Share(module, group));
      changed = true;
    }
    if (changed) HILO_RETURN_IF_ERROR(module->RemoveUnusedComputations().status());
    return changed;
  }

 private:
  // Adds what an instruction executes, with the computations that it calls.
  void Add(const HloInstruction& instruction, Extent* extent) const {
    ++extent->instructions;
    if (!HasTrait(instruction.opcode(), kControlFlow)) {
      extent->work += WorkOf(instruction);
      return;
    }
    double trips = 1;
    if (instruction.opcode() == HloOpcode::kWhile)
      trips = static_cast<double>(MaxTripCount(instruction).value_or(kUnknownTrips));
    for (const HloComputation* called : instruction.called_computations()) {
      const Extent& inner = extents_.at(called);
      extent->instructions = std::min(extent->instructions + inner.instructions, kMaxInstructions);
      extent->work += inner.work * trips;
    }
  }

  int64_t SizeOf(const HloInstruction& loop) const {
    return extents_.at(loop.called_computation(0)).instructions + extents_.at(loop.called_computation(1)).instructions;
  }

  static bool MayBeShared(const HloInstruction& loop) {
    return loop.shape().IsTuple() && loop.operand(0)->opcode() == HloOpcode::kTuple && IsReadByElements(loop) &&
           !loop.HasControlDependencies() && !loop.users().empty();
  }

  static Loop LoopOf(HloInstruction* instruction, ValueNumbering* numbering) {
    Loop loop{.instruction = instruction};
    for (const HloComputation* called : instruction->called_computations())
      loop.computations.push_back(numbering->NumberOf(called));
    for (const HloInstruction* init : instruction->operand(0)->operands()) {
      const bool is_constant = IsConstantElement(*init);
      if (is_constant && init->operand_count() == 1) numbering->FirstEqual(init->operand(0));
      loop.constants.push_back(is_constant ? numbering->FirstEqual(init) : nullptr);
    }
    return loop;
  }

  bool IsWorthACall(const Loop& loop) const {
    if (SizeOf(*loop.instruction) < kMinInstructions) return false;
    Extent once;
    Work copies;
    Add(*loop.instruction, &once);
    for (size_t i = 0; i < loop.constants.size(); ++i) {
      if (loop.constants[i] != nullptr || IsUnchangedElement(*loop.instruction, static_cast<int64_t>(i))) continue;
      const auto bytes = static_cast<double>(ShapeUtil::ByteSizeOf(loop.instruction->shape().tuple_shapes(i)));
      copies.bytes_read += bytes;
      copies.bytes_written += bytes;
    }
    return nanoseconds_(once.work) >= kLongLoop * (kCallNanoseconds + nanoseconds_(copies));
  }

  // Adds a computation of the first loop, and calls it instead of each.
  absl::Status Share(HloModule* module, const std::vector<Loop>& group) {
    const HloInstruction& first = *group[0].instruction;
    HloComputation* shared = module->AddComputation(absl::StrCat(first.name(), ".shared"));
    std::vector<HloInstruction*> state;
    for (size_t i = 0; i < group[0].constants.size(); ++i) {
      const HloInstruction* init = first.operand(0)->operand(static_cast<int64_t>(i));
      if (group[0].constants[i] == nullptr) {
        const int64_t number = shared->num_parameters();
        state.push_back(
            shared->AddInstruction(HloInstruction::CreateParameter(number, init->shape(), absl::StrCat("state_", i))));
        continue;
      }
      std::vector<HloInstruction*> operands;
      for (const HloInstruction* operand : init->operands())
        operands.push_back(shared->AddInstruction(operand->CloneWithNewOperands(operand->shape(), {})));
      state.push_back(shared->AddInstruction(init->CloneWithNewOperands(init->shape(), operands)));
    }
    HILO_ASSIGN_OR_RETURN(HloInstruction * tuple, shared->AddOp(HloOpcode::kTuple, state));
    HloInstruction* loop = shared->AddInstruction(first.CloneWithNewOperands(first.shape(), {tuple}));
    for (const HloComputation* called : loop->called_computations()) ++uses_[called];
    std::vector<int64_t> read;
    for (const Loop& other : group) {
      for (const HloInstruction* user : other.instruction->users()) read.push_back(user->tuple_index());
    }
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    std::vector<HloInstruction*> results;
    for (const int64_t element : read) {
      HILO_ASSIGN_OR_RETURN(results.emplace_back(), MakeTupleElement(loop, element));
    }
    HILO_ASSIGN_OR_RETURN(HloInstruction * root, shared->AddOp(HloOpcode::kTuple, results));
    HILO_RETURN_IF_ERROR(shared->set_root_instruction(root));
    for (const Loop& other : group) HILO_RETURN_IF_ERROR(Replace(other, shared, read));
    return absl::OkStatus();
  }

  absl::Status Replace(const Loop& loop, HloComputation* shared, absl::Span<const int64_t> read) {
    HloInstruction* instruction = loop.instruction;
    HloComputation* caller = instruction->parent();
    std::vector<HloInstruction*> arguments;
    for (size_t i = 0; i < loop.constants.size(); ++i) {
      if (loop.constants[i] == nullptr) arguments.push_back(instruction->operand(0)->operand(static_cast<int64_t>(i)));
    }
    HILO_ASSIGN_OR_RETURN(HloInstruction * call,
                          caller->AddOp(HloOpcode::kCall, arguments, std::make_unique<CallAttrs>(), {shared}));
    call->CopyOriginFrom(*instruction);
    ++uses_[shared];
    const std::vector<HloComputation*> called(instruction->called_computations().begin(),
                                              instruction->called_computations().end());
    const std::vector<HloInstruction*> users(instruction->users().begin(), instruction->users().end());
    for (HloInstruction* user : users) {
      const int64_t index = std::lower_bound(read.begin(), read.end(), user->tuple_index()) - read.begin();
      HILO_ASSIGN_OR_RETURN(HloInstruction * element, MakeTupleElement(call, index));
      HILO_RETURN_IF_ERROR(caller->ReplaceInstruction(user, element));  // the last one removes the loop
    }
    for (const HloComputation* computation : called) Release(computation);
    return absl::OkStatus();
  }

  // Notes that a computation has one caller less, and what it calls if it has none left.
  void Release(const HloComputation* computation) {
    std::vector<const HloComputation*> work = {computation};
    while (!work.empty()) {
      const HloComputation* next = work.back();
      work.pop_back();
      if (--uses_[next] > 0) continue;
      for (const HloInstruction* instruction : next->instructions())
        work.insert(work.end(), instruction->called_computations().begin(), instruction->called_computations().end());
    }
  }

  std::function<double(const Work& work)> nanoseconds_;
  absl::flat_hash_map<const HloComputation*, int64_t> uses_;
  absl::flat_hash_map<const HloComputation*, Extent> extents_;
};

}  // namespace

std::unique_ptr<HloPass> MakeLoopSharing(std::function<double(const Work& work)> nanoseconds) {
  return std::make_unique<LoopSharing>(std::move(nanoseconds));
}

}  // namespace hilo
