#include "backends/cpu/compile/function_partition.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "backends/cpu/functions/kernel_key.h"
#include "backends/cpu/kernels/kernel_choice.h"
#include "backends/cpu/kernels/library_call.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/in_place.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/memory/scheduler.h"

namespace hilo::cpu {
namespace {

// Maximum LLVM operations per function; measured: one block of 2,000 dependent operations compiles in 0.3 s, 16,000 in
// 15 s.
constexpr int64_t kMaxFunctionSize = 1500;
// The entry computation is divided into functions of up to its operations / kEntrySegments, at least kMinSegmentSize,
// for threads to compile, if a run takes long enough for what passes between them through memory to cost little.
constexpr int64_t kEntrySegments = 4, kMinSegmentSize = 250;
constexpr double kMinDividedNanoseconds = 2000;
// LLVM operations of a call of a computation or an outlined instruction, and around a loop body or a branch.
constexpr int64_t kCallOfScope = 10, kCallOfFunction = 20, kControl = 10;
// Sums do not overflow beyond these: code and times that no program has.
constexpr int64_t kMaxCodeSize = int64_t{1} << 40;
constexpr double kMaxNanoseconds = 1e18;
// Operations that are few beside those of a function: one in this many. A large instruction has as many beside it.
constexpr int64_t kFewParts = 8;
// Minimum LLVM operations, and estimated time outside and inside of loops, of a kernel that is worth a call of a
// function, which takes up to 4 ns. Smaller kernels are worth it if they take as long as those in loops and all their
// repetitions are so many operations: LAMB for 60 matrices of 32 x 32 compiles in 162 ms rather than 205, and runs in
// 43 us either way. A step of gradient descent for 40 matrices of 8 x 8, 6 ns each, compiles in 24 ms rather than 32,
// and runs in 10.9 us rather than 10.3.
constexpr int64_t kMinRepeatedSize = 40, kMinRepeatedSizeInAll = 200;
constexpr double kMinRepeatedNanoseconds = 5, kMinRepeatedNanosecondsInLoops = 50;
// Assumed iterations of loops with an unknown trip count.
constexpr double kUnknownTrips = 100;
// Minimum estimate for programs that may not terminate, which never run inline.
constexpr double kOpenEndNanoseconds = 1e9;

// Threads call functions that are compiled with Hilo as they are.
bool IsParallelFunction(const HloInstruction& instruction) {
  const KernelConfig* kernel = KernelOf(instruction);
  return kernel != nullptr && kernel->parallel && !IsLibraryKernel(kernel->kind);
}

}  // namespace

absl::StatusOr<FunctionPartition> FunctionPartition::Create(const HloModule& module) {
  FunctionPartition plan;
  HILO_ASSIGN_OR_RETURN(std::vector<HloComputation*> computations, SequentialComputations(module));
  absl::flat_hash_map<const HloComputation*, bool> scopes = {{module.entry_computation(), true}};
  bool has_open_end = false;
  for (const HloComputation* computation : computations) {
    int64_t code_size = 0;
    double cost = 0;
    for (const HloInstruction* instruction : module.OrderOf(*computation)) {
      plan.NoteElements(*instruction);
      plan.total_code_size_ += plan.CodeSizeOf(*instruction);
      code_size += plan.InlineCodeSize(*instruction);
      cost += plan.NanosecondsOf(*instruction);
      if (!HasTrait(instruction->opcode(), kControlFlow)) continue;
      if (instruction->opcode() == HloOpcode::kCall) {
        scopes[instruction->called_computation()] = true;
        code_size += kCallOfScope;
        continue;
      }
      if (instruction->opcode() == HloOpcode::kWhile) has_open_end |= !MaxTripCount(*instruction).has_value();
      for (const HloComputation* called : instruction->called_computations())
        code_size = std::min<int64_t>(code_size + plan.code_sizes_.at(called) + kControl, kMaxCodeSize);
    }
    plan.code_sizes_[computation] = code_size;
    plan.costs_[computation] = std::min(cost, kMaxNanoseconds);
  }
  absl::flat_hash_set<const HloComputation*> in_loops;
  for (auto caller = computations.rbegin(); caller != computations.rend(); ++caller) {  // before what they call
    for (const HloInstruction* instruction : module.OrderOf(**caller)) {
      if (!HasTrait(instruction->opcode(), kControlFlow)) continue;
      if (instruction->opcode() != HloOpcode::kWhile && !in_loops.contains(*caller)) continue;
      in_loops.insert(instruction->called_computations().begin(), instruction->called_computations().end());
    }
  }
  for (const HloComputation* computation : computations) {
    if (plan.code_sizes_.at(computation) <= kMaxFunctionSize) continue;
    plan.NoteRepeated(module, *computation,
                      in_loops.contains(computation) ? kMinRepeatedNanosecondsInLoops : kMinRepeatedNanoseconds);
  }
  for (const HloComputation* computation : computations) {
    if (!scopes.contains(computation)) continue;
    const int64_t most = plan.MaxSegmentSize(*computation);
    if (plan.code_sizes_.at(computation) > most) {
      plan.PlanSegments(module, *computation, most);
    } else {
      plan.MarkFunction(module, *computation, plan.next_function_++);
    }
  }
  plan.estimated_nanoseconds_ =
      std::max(plan.costs_.at(module.entry_computation()), has_open_end ? kOpenEndNanoseconds : 0);
  return plan;
}

double FunctionPartition::NanosecondsOf(const HloInstruction& instruction) const {
  if (const KernelConfig* kernel = KernelOf(instruction)) return kernel->nanoseconds;
  if (!HasTrait(instruction.opcode(), kControlFlow)) return 0;
  double trips = 1;
  if (instruction.opcode() == HloOpcode::kWhile) {
    const std::optional<int64_t> count = MaxTripCount(instruction);
    trips = count.has_value() ? static_cast<double>(*count) : kUnknownTrips;
  }
  double cost = 0;
  for (const HloComputation* called : instruction.called_computations()) cost += trips * costs_.at(called);
  return cost;
}

// An unrolled kernel computes one vector, unless elements are all that it can compute or the memory that it reads was
// written as elements.
void FunctionPartition::NoteElements(const HloInstruction& instruction) {
  const KernelConfig* kernel = KernelOf(instruction);
  const bool unrolled = kernel != nullptr && kernel->kind == KernelKind::kUnrolled;
  const bool reads_elements = absl::c_any_of(instruction.operands(), [&](const HloInstruction* operand) {
    return !operand->shape().IsScalar() && by_elements_.contains(operand);
  });
  if (unrolled ? kernel->width == 1 || reads_elements : IsForwarding(instruction) && reads_elements) {
    by_elements_.insert(&instruction);
  }
}

// Small computations are emitted inline whatever they repeat: their values may be in registers.
void FunctionPartition::NoteRepeated(const HloModule& module, const HloComputation& computation, double nanoseconds) {
  absl::flat_hash_map<uint64_t, std::vector<const HloInstruction*>> equal;
  for (const HloInstruction* instruction : module.OrderOf(computation)) {
    const KernelConfig* kernel = KernelOf(*instruction);
    if (kernel != nullptr && !kernel->parallel && kernel->kind != KernelKind::kRuntimeCall &&
        kernel->nanoseconds >= nanoseconds)
      equal[KernelFingerprint(*instruction)].push_back(instruction);
  }
  for (const auto& [fingerprint, instructions] : equal) {
    const auto repeats = static_cast<int64_t>(instructions.size()) - 1;
    const int64_t size = CodeSizeOf(*instructions[0]);
    const bool are_long = KernelOf(*instructions[0])->nanoseconds >= kMinRepeatedNanosecondsInLoops;
    if (repeats > 0 && (size >= kMinRepeatedSize || (are_long && size * repeats >= kMinRepeatedSizeInAll)))
      repeated_.insert(instructions.begin(), instructions.end());
  }
}

bool FunctionPartition::IsOutlined(const HloInstruction& instruction) const {
  return IsParallelFunction(instruction) || repeated_.contains(&instruction);
}

int64_t FunctionPartition::InlineCodeSize(const HloInstruction& instruction) const {
  return IsOutlined(instruction) ? kCallOfFunction : CodeSizeOf(instruction);
}

// Assigns everything that is emitted inline with `computation` to `function`; outlined instructions are functions of
// their own.
void FunctionPartition::MarkFunction(const HloModule& module, const HloComputation& computation, int64_t function) {
  for (const HloInstruction* instruction : module.OrderOf(computation)) {
    function_of_[instruction] = IsOutlined(*instruction) ? next_function_++ : function;
    if (instruction->opcode() == HloOpcode::kWhile || instruction->opcode() == HloOpcode::kConditional) {
      for (const HloComputation* called : instruction->called_computations()) MarkFunction(module, *called, function);
    }
  }
}

int64_t FunctionPartition::MaxSegmentSize(const HloComputation& computation) const {
  if (!computation.IsEntry() || costs_.at(&computation) < kMinDividedNanoseconds) return kMaxFunctionSize;
  return std::clamp(code_sizes_.at(&computation) / kEntrySegments, kMinSegmentSize, kMaxFunctionSize);
}

void FunctionPartition::PlanSegments(const HloModule& module, const HloComputation& computation, int64_t most) {
  std::vector<Segment> segments;
  Segment current;
  int64_t current_function = next_function_++;
  int64_t largest = 0;  // instruction of the current segment
  auto close = [&] {
    if (!current.instructions.empty()) segments.push_back(std::move(current));
    current = Segment();
    current_function = next_function_++;
  };
  for (const HloInstruction* instruction : module.OrderOf(computation)) {
    if (instruction->IsParameter() || instruction->IsConstant() || IsForwarding(*instruction)) {
      function_of_[instruction] = -1;
      continue;
    }
    const bool nested = instruction->opcode() == HloOpcode::kWhile || instruction->opcode() == HloOpcode::kConditional;
    int64_t code_size = InlineCodeSize(*instruction);
    if (nested) {
      for (const HloComputation* called : instruction->called_computations()) code_size += code_sizes_.at(called) + 10;
    }
    if (nested && code_size > kMaxFunctionSize) {
      close();
      function_of_[instruction] = next_function_++;
      for (const HloComputation* called : instruction->called_computations())
        PlanSegments(module, *called, kMaxFunctionSize);
      segments.push_back({.instructions = {instruction}, .control = true, .code_size = 20});
      continue;
    }
    // Little around one large instruction, such as the initial state and the results of a loop, is no function of its
    // own: what the two exchange would pass through memory.
    largest = std::max(largest, code_size);
    if (current.code_size > 0 && current.code_size + code_size > std::max(most, largest + most / kFewParts)) {
      close();
      largest = code_size;
    }
    current.instructions.push_back(instruction);
    current.code_size += code_size;
    function_of_[instruction] = IsOutlined(*instruction) ? next_function_++ : current_function;
    if (nested) {
      for (const HloComputation* called : instruction->called_computations()) {
        MarkFunction(module, *called, current_function);
      }
    }
  }
  close();
  segments_[&computation] = std::move(segments);
}

const std::vector<FunctionPartition::Segment>* FunctionPartition::SegmentsOf(const HloComputation* computation) const {
  auto it = segments_.find(computation);
  return it == segments_.end() ? nullptr : &it->second;
}

bool FunctionPartition::IsLocal(const BufferCandidate& buffer) const {
  int64_t function = -2;
  auto same = [&](const HloInstruction* instruction) {
    auto it = function_of_.find(instruction);
    if (it == function_of_.end() || it->second < 0) return false;
    if (function == -2) function = it->second;
    return function == it->second;
  };
  for (const LeafRef& position : buffer.positions) {
    const HloInstruction* instruction = position.instruction;
    if (!instruction->IsParameter() && !IsForwarding(*instruction) && !same(instruction)) return false;
    // The roots of conditions, bodies and branches are read by the control flow around them, which is in no outlined
    // function if the computation is split.
    if (instruction->IsRoot() && IsSplit(instruction->parent())) return false;
    for (const HloInstruction* user : instruction->users()) {
      if (!IsForwarding(*user) && !same(user)) return false;
    }
  }
  return function >= 0;
}

}  // namespace hilo::cpu
