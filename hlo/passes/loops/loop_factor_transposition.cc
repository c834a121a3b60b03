// Transposes matrices whose products with a vector a loop adds up along their rows, if they are the same in all
// iterations:
//
//   body { a = f32[50,50] get-tuple-element(state), index=0  ...  reduce(a * broadcast(f32[50] x), dimensions={1}) }
//     =>  reduce(transpose(a) * broadcast(x), dimensions={0})
//
// Loop-invariant motion then takes the transpose out of the loop. Lanes of the sums are adjacent results, which need
// not be combined with each other.
#include <functional>
#include <optional>

#include "absl/algorithm/container.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/analysis/single_caller_loops.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/loops/loop_state.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Iterations that pay for a transpose. Measured: one of f32[64,64] takes as long as five iterations save, of
// f32[100,100] as long as eight. Loops of which not even the maximum is known are taken to be longer.
constexpr int64_t kMinIterations = 10;

// A sum of the products of the rows of a matrix and a vector.
struct RowProducts {
  HloInstruction *matrix, *vector;
};

std::optional<RowProducts> RowProductsOf(const HloInstruction& reduce, const LoopState& loop) {
  if (reduce.opcode() != HloOpcode::kReduce || !reduce.shape().IsArray() || reduce.shape().rank() != 1 ||
      ReductionOp(*reduce.called_computation()) != HloOpcode::kAdd)
    return std::nullopt;
  HloInstruction* product = reduce.operands()[0];
  if (product->opcode() != HloOpcode::kMultiply || product->shape().rank() != 2 || product->users().size() != 1 ||
      reduce.attrs<ReduceAttrs>().dimensions[0] != 1)
    return std::nullopt;
  for (const int64_t side : {0, 1}) {
    HloInstruction *matrix = product->operands()[side], *repeated = product->operands()[1 - side];
    const bool is_row = repeated->opcode() == HloOpcode::kBroadcast && repeated->operand(0)->shape().rank() == 1 &&
                        repeated->attrs<BroadcastAttrs>().dimensions[0] == 1;
    if (is_row && (matrix->IsConstant() || (loop.ElementOf(matrix) >= 0 && loop.IsUnchanged(matrix))))
      return RowProducts{.matrix = matrix, .vector = repeated->operands()[0]};
  }
  return std::nullopt;
}

absl::StatusOr<HloInstruction*> SumOfColumns(HloInstruction* reduce, const RowProducts& products) {
  HILO_ASSIGN_OR_RETURN(HloInstruction * columns, MakeTranspose(products.matrix, {1, 0}));
  HILO_ASSIGN_OR_RETURN(HloInstruction * vector, MakeBroadcast(products.vector, columns->shape(), {0}));
  HILO_ASSIGN_OR_RETURN(HloInstruction * product, MakeBinary(HloOpcode::kMultiply, columns, vector));
  return MakeReduce(product, reduce->operands()[1], {0}, reduce->called_computation());
}

class LoopFactorTransposition : public HloPass {
 public:
  explicit LoopFactorTransposition(std::function<bool(const HloInstruction& reduce)> accepts)
      : accepts_(std::move(accepts)) {}

  absl::string_view name() const override { return "transpose-loop-factors"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloInstruction* loop : SingleCallerLoops(module)) {
      const std::optional<LoopState> state = LoopState::Of(loop);
      if (!state.has_value() || MaxTripCount(*loop).value_or(kMinIterations) < kMinIterations) continue;
      for (HloInstruction* reduce : state->body()->MakePostOrder()) {  // operands first: a sum takes its own with it
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        const std::optional<RowProducts> products = RowProductsOf(*reduce, *state);
        if (!products.has_value() || !accepts_(*reduce)) continue;
        HILO_ASSIGN_OR_RETURN(HloInstruction * columns, SumOfColumns(reduce, *products));
        HILO_RETURN_IF_ERROR(state->body()->ReplaceInstruction(reduce, columns));
        changed = true;
      }
    }
    return changed;
  }

 private:
  const std::function<bool(const HloInstruction& reduce)> accepts_;
};

}  // namespace

std::unique_ptr<HloPass> MakeLoopFactorTransposition(std::function<bool(const HloInstruction& reduce)> accepts) {
  return std::make_unique<LoopFactorTransposition>(std::move(accepts));
}

}  // namespace hilo
