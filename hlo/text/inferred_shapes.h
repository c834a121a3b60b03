// The shapes that a text leaves out. Private to hlo/text.
#ifndef HILO_HLO_TEXT_INFERRED_SHAPES_H_
#define HILO_HLO_TEXT_INFERRED_SHAPES_H_

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

class InferredShapes {
 public:
  // The shape of `instruction` from its operands, its attributes and `called`, which are complete. Errors:
  // InferShape's; ResourceExhausted if the tuples grow beyond all measure, as they can where each is made of several of
  // the one before.
  absl::StatusOr<Shape> Infer(const HloInstruction& instruction, absl::Span<const HloComputation* const> called);

 private:
  absl::flat_hash_map<const HloComputation*, ProgramShape> programs_;
  int64_t shapes_ = 0;  // inside of the tuples that were inferred
  int64_t work_ = 0;    // shapes inside of tuples that all calls have looked at
};

}  // namespace hilo

#endif  // HILO_HLO_TEXT_INFERRED_SHAPES_H_
