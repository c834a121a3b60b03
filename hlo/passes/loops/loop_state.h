// The state of a while loop whose elements a pass may add to.
#ifndef HILO_HLO_PASSES_LOOPS_LOOP_STATE_H_
#define HILO_HLO_PASSES_LOOPS_LOOP_STATE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo {

// Returns true if nothing but get-tuple-elements, which order nothing else, reads the tuple.
bool IsReadByElements(const HloInstruction& tuple);
// Returns true if every iteration of a loop whose state is a tuple passes an element on as it is.
bool IsUnchangedElement(const HloInstruction& loop, int64_t element);

// A loop whose state is a tuple that is only read by elements, in the condition, in the body and after the loop. The
// condition and the body must have no other caller (SingleCallerLoops).
class LoopState {
 public:
  // Returns nullopt if the state is anything else.
  static std::optional<LoopState> Of(HloInstruction* loop);

  HloInstruction* loop() const { return loop_; }
  HloComputation* body() const { return loop_->called_computation(1); }
  HloInstruction* root() const { return body()->root_instruction(); }
  HloInstruction* state() const { return body()->parameter_instruction(0); }
  HloInstruction* condition_state() const { return loop_->called_computation(0)->parameter_instruction(0); }
  HloInstruction* init(int64_t element) const { return loop_->operands()[0]->operands()[element]; }
  int64_t size() const { return loop_->shape().tuple_shapes_size(); }

  // The element of the state that `x`, an instruction of the body, is; -1 if it is none.
  int64_t ElementOf(const HloInstruction* x) const;
  // True if `x` is an element that every iteration passes on as it is.
  bool IsUnchanged(const HloInstruction* x) const;

  // Adds elements, of the values `inits` before the loop and in every iteration until the body's root is changed.
  // Returns them as the body reads them, in the same order.
  absl::StatusOr<std::vector<HloInstruction*>> Add(absl::Span<HloInstruction* const> inits) const;

 private:
  explicit LoopState(HloInstruction* loop) : loop_(loop) {}

  HloInstruction* loop_;
};

}  // namespace hilo

#endif  // HILO_HLO_PASSES_LOOPS_LOOP_STATE_H_
