// Loops of few iterations of element-wise work become that work, one iteration after the other:
//
//   x = f32[100000] while(init), 5 iterations of x * x + c   =>   x_1 = init * init + c, x_2 = x_1 * x_1 + c, ...
//
// as of random bits, which JAX computes in a loop of five iterations on some platforms, and of binary searches, which
// gather the elements that they compare with. Each iteration would read and write the arrays of the state; without the
// loop the elements stay in registers, together with those of what reads the result. Constants that the iterations
// alternate between become constants of each iteration.
#include <memory>
#include <optional>

#include "absl/algorithm/container.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/array_sizes.h"
#include "hlo/passes/inline_computation.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// A binary search has one for each bit of a position.
constexpr int64_t kMaxUnrolledIterations = 32;
// Instructions of a body, and of all iterations, where an expensive one has the code of several.
constexpr int64_t kMaxBody = 128, kMaxUnrolled = 600, kExpensive = 8;
// A state of smaller arrays is in registers or near caches anyway; elements of arrays that bodies may move.
constexpr int64_t kMinState = int64_t{1} << 12, kMaxMoved = 64;

// Moves elements.
constexpr OpcodeSet kMoves = {HloOpcode::kSlice, HloOpcode::kConcatenate, HloOpcode::kReverse, HloOpcode::kTranspose};
// Free, or part of the state.
constexpr OpcodeSet kForwards = {HloOpcode::kParameter, HloOpcode::kConstant, HloOpcode::kBroadcast,
                                 HloOpcode::kIota,      HloOpcode::kTuple,    HloOpcode::kGetTupleElement,
                                 HloOpcode::kReshape};

// Returns true for a gather of an element for each of the result, as of a binary search: with its indices it is in one
// kernel.
bool GathersElements(const HloInstruction& x) {
  return x.opcode() == HloOpcode::kGather &&
         absl::c_all_of(x.attrs<GatherAttrs>().slice_sizes, [](int64_t size) { return size == 1; });
}

class LoopUnrolling : public HloPass {
 public:
  absl::string_view name() const override { return "unroll-loops"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      for (HloInstruction* loop : computation->MakePostOrder()) {
        if (loop->opcode() != HloOpcode::kWhile) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        const std::optional<int64_t> iterations = IterationsOf(*loop);
        if (!iterations.has_value()) continue;
        HloInstruction* state = loop->operand(0);
        for (int64_t i = 0; i < *iterations; ++i)
          state = InlineComputation(*loop->called_computation(1), {&state, 1}, computation);
        HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(loop, state));
        changed = true;
      }
    }
    if (changed) HILO_RETURN_IF_ERROR(module->RemoveUnusedComputations().status());
    return changed;
  }

 private:
  // Returns the iterations of a loop that is unrolled; nullopt: it stays.
  static std::optional<int64_t> IterationsOf(const HloInstruction& loop) {
    const HloComputation& body = *loop.called_computation(1);
    if (loop.HasControlDependencies() || body.instruction_count() > 2 * kMaxBody) return std::nullopt;
    int64_t work = 0;
    bool is_large = false;
    for (const HloInstruction* x : body.instructions()) {
      if (x->HasControlDependencies() || !x->called_computations().empty()) return std::nullopt;
      if (kForwards.contains(x->opcode())) continue;
      const bool moves_few = kMoves.contains(x->opcode()) && x->shape().IsArray() && Elements(x) <= kMaxMoved &&
                             absl::c_all_of(x->operands(), [](const auto* y) { return Elements(y) <= kMaxMoved; });
      if (!moves_few && !IsElementwise(x->opcode()) && !GathersElements(*x)) return std::nullopt;
      work += IsExpensiveToRepeat(*x) && x->opcode() != HloOpcode::kGather ? kExpensive : 1;
      is_large |= Elements(x) >= kMinState;
    }
    if (!is_large || work > kMaxBody) return std::nullopt;
    const std::optional<int64_t> iterations = TripCount(loop);
    const bool are_few =
        iterations.has_value() && *iterations <= kMaxUnrolledIterations && *iterations * work <= kMaxUnrolled;
    return are_few ? iterations : std::nullopt;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeLoopUnrolling() { return std::make_unique<LoopUnrolling>(); }

}  // namespace hilo
