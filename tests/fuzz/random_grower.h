// A program while it grows: what it has computed so far, what the values are, and how to add to it.
#ifndef HILO_TESTS_FUZZ_RANDOM_GROWER_H_
#define HILO_TESTS_FUZZ_RANDOM_GROWER_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hlo/ir/hlo_module.h"
#include "hlo/ops/table/op_attributes.h"
#include "tests/fuzz/random_module.h"
#include "tests/fuzz/random_numbers.h"
#include "tests/fuzz/tracked_evaluator.h"

namespace hilo::fuzz {

using Dims = std::vector<int64_t>;
Dims DimsOf(const Shape& shape);
int64_t Product(const Dims& dims);

struct Value {
  HloInstruction* instruction;
  TrackedLeaves leaves;
  const Shape& shape() const { return instruction->shape(); }
  PrimitiveType type() const { return shape().element_type(); }
  bool exact() const {
    return std::all_of(leaves.begin(), leaves.end(), [](const Tracked& t) { return t.error == 0; });
  }
};

// A computation that grows. Nested ones have no parameters beyond those that they begin with.
struct Scope {
  HloComputation* computation;
  std::vector<Value> values;
  std::vector<Literal>* arguments = nullptr;  // of the entry; null in nested scopes
  int depth = 0;
};

struct Grower;

// A kind of instruction: looks for operands among the values at hand, makes what is missing, and adds the instruction.
// False if it found none, or its value was of no use.
struct Kind {
  int weight;
  bool (*make)(Grower& g, Scope& scope);
};
absl::Span<const Kind> ElementwiseKinds();
absl::Span<const Kind> MovementKinds();
absl::Span<const Kind> ReductionKinds();
absl::Span<const Kind> LinearAlgebraKinds();
absl::Span<const Kind> SeveralKinds();
absl::Span<const Kind> ControlFlowKinds();
absl::Span<const Kind> DynamicKinds();

// Pointers to values are good until the next value is added.
struct Grower {
  Random random;
  RandomOptions options;
  TrackedEvaluator tracker{/*strict=*/false};
  std::unique_ptr<HloModule> module;

  // --- choices ---
  PrimitiveType RandomType();
  PrimitiveType RandomIntegerType();
  int64_t RandomSize();
  Dims RandomDims();
  Dims Permutation(int64_t n);
  // Some of 0 ... n-1, ascending; at least `least`.
  Dims Subset(int64_t n, int64_t least);
  // Any value without dynamic dimensions that `accept` takes; null if there is none. Later ones more often: programs
  // get depth.
  const Value* Pick(Scope& scope, const std::function<bool(const Value&)>& accept);
  const Value* PickArray(Scope& scope);

  // --- adding ---
  // Evaluates the instruction that is added. Null if inference refuses it, or its value is of no use.
  const Value* Add(Scope& scope, HloOpcode opcode, std::vector<HloInstruction*> operands,
                   std::unique_ptr<OpAttributes> attributes = nullptr, std::vector<HloComputation*> called = {},
                   const Shape* stated = nullptr);
  const Value* Constant(Scope& scope, Literal literal);
  Literal RandomLiteral(const Shape& shape);
  // One of the numbers where an integer type ends, or of the numbers of its bits, by which one may shift.
  double EdgeInteger(PrimitiveType type);
  // A parameter, constant, iota or broadcast.
  const Value* Leaf(Scope& scope, const Dims& dims, PrimitiveType type);
  // A value of that type and dimensions, at hand or new.
  HloInstruction* Like(Scope& scope, const Dims& dims, PrimitiveType type, bool exact = false);
  const Value* Convert(Scope& scope, const Value& value, PrimitiveType type);
  // Get-tuple-elements of a tuple, and of the tuples in it.
  bool TakeApart(Scope& scope, const Value* tuple);
  // Up to `count` more instructions.
  void Grow(Scope& scope, int count);

  // --- called computations ---
  // (a, b) -> opcode(a, b) on scalars.
  HloComputation* Combiner(PrimitiveType type, HloOpcode opcode);
  HloOpcode CombinerOpcode(PrimitiveType type);
  // The same on several pairs, of which no result depends on the order: (a0, a1, b0, b1) -> (a0 op b0, a1 op b1).
  HloComputation* CombinerOfSeveral(absl::Span<const PrimitiveType> types);
  // A computation over one parameter, `operand`; the elements of a tuple are its first values.
  Scope Nested(const Scope& outer, const std::string& name, const Value& operand);
  // A value of that shape, of the scope's own; and a tuple of such values.
  HloInstruction* OfShape(Scope& scope, const Shape& shape);
  HloInstruction* TupleOf(Scope& scope, absl::Span<const Shape> shapes);
  // A tuple of some values, `first` in front unless it is null.
  const Value* State(Scope& scope, HloInstruction* first);

  static const TrackedLeaves& LeavesOf(const Scope& scope, const HloInstruction* instruction);
  bool IsUseful(const HloInstruction& instruction, const TrackedLeaves& leaves);
};

}  // namespace hilo::fuzz

#endif  // HILO_TESTS_FUZZ_RANDOM_GROWER_H_
