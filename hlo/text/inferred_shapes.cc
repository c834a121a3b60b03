#include "hlo/text/inferred_shapes.h"

#include <vector>

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/semantics.h"

namespace hilo {
namespace {

constexpr int64_t kMaxWork = 100'000'000;
constexpr int64_t kMaxShapes = 2'000'000;  // some hundred bytes each

int64_t CountShapes(const Shape& shape) {
  int64_t count = 1;
  if (!shape.IsTuple()) return count;
  for (const Shape& element : shape.tuple_shapes()) count += CountShapes(element);
  return count;
}

absl::Status TooManyShapes() {
  return ResourceExhausted("the tuples whose shapes are left out hold more than ", kMaxShapes, " shapes");
}

}  // namespace

absl::StatusOr<Shape> InferredShapes::Infer(const HloInstruction& instruction,
                                            absl::Span<const HloComputation* const> called) {
  std::vector<const Shape*> operands;
  const int64_t work_before = work_;
  for (const HloInstruction* operand : instruction.operands()) {
    operands.push_back(&operand->shape());
    work_ += CountShapes(operand->shape());
    if (work_ > kMaxWork) return ResourceExhausted("the tuples hold more than ", kMaxWork, " shapes altogether");
  }
  // Before the tuple is made: it may be of many large ones.
  if (instruction.opcode() == HloOpcode::kTuple && shapes_ + work_ - work_before > kMaxShapes) return TooManyShapes();
  // All programs exist before their addresses are taken.
  for (const HloComputation* computation : called) {
    if (!programs_.contains(computation)) programs_.emplace(computation, computation->ComputeProgramShape());
  }
  std::vector<const ProgramShape*> programs;
  for (const HloComputation* computation : called) programs.push_back(&programs_.at(computation));
  HILO_ASSIGN_OR_RETURN(Shape shape, InferShape({.opcode = instruction.opcode(),
                                                 .operands = operands,
                                                 .attributes = instruction.attributes(),
                                                 .called = programs}));
  if (shape.IsTuple()) shapes_ += CountShapes(shape);
  if (shapes_ > kMaxShapes) return TooManyShapes();
  return shape;
}

}  // namespace hilo
