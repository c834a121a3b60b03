// The computation of an argmax is a page of comparisons and selects, with small variations among frameworks. Its
// meaning can be found by testing: as it only compares its parameters with each other and chooses among them, it does
// with all values what it does with three numbers (and NaN) at three indices. So it is run on all of these, and is
// considered a choice if
//
//   it returns one of the two pairs that it gets;
//   g(x, y), which is f with the pair of lower index as its first operand, gives the same for three pairs whichever
//   two are combined first; f(f(z, x), y) = f(z, g(x, y)) for an initial pair z with any index.
#include "hlo/analysis/arg_reduction.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

// Instructions of a computation that is tried.
constexpr int64_t kMaxInstructions = 32;

struct Pair {
  double value, position;
};
bool Same(double x, double y) { return x == y || (x != x && y != y); }
bool Same(const Pair& x, const Pair& y) { return Same(x.value, y.value) && x.position == y.position; }

// A computation of comparisons and choices as a list of steps over numbers; the first four are the parameters.
class Choice {
 public:
  static std::optional<Choice> Create(const HloComputation& computation) {
    if (computation.num_parameters() != 4 || computation.instruction_count() > kMaxInstructions) return std::nullopt;
    Choice choice;
    absl::flat_hash_map<const HloInstruction*, int> numbers;
    for (int i = 0; i < 4; ++i) {
      numbers[computation.parameter_instruction(i)] = i;
      choice.steps_.push_back({HloOpcode::kParameter});
    }
    for (const HloInstruction* instruction : computation.MakePostOrder()) {
      if (instruction->IsParameter() || instruction == computation.root_instruction()) continue;
      Step step{instruction->opcode()};
      if (instruction->operand_count() > 3) return std::nullopt;
      for (int64_t i = 0; i < instruction->operand_count(); ++i) step.operands[i] = numbers.at(instruction->operand(i));
      if (!Understands(*instruction, &step)) return std::nullopt;
      numbers[instruction] = static_cast<int>(choice.steps_.size());
      choice.steps_.push_back(step);
    }
    const HloInstruction* root = computation.root_instruction();
    if (root->opcode() != HloOpcode::kTuple || root->operand_count() != 2) return std::nullopt;
    for (int i = 0; i < 2; ++i) choice.results_[i] = numbers.at(root->operand(i));
    return choice;
  }

  Pair operator()(const Pair& x, const Pair& y) const {
    std::array<double, kMaxInstructions> at{x.value, x.position, y.value, y.position};
    for (size_t i = 4; i < steps_.size(); ++i) {
      const auto& [opcode, operands, direction] = steps_[i];
      const double a = at[operands[0]], b = at[operands[1]];
      if (opcode == HloOpcode::kCompare) at[i] = Compare(direction, a, b);
      if (opcode == HloOpcode::kSelect) at[i] = a != 0 ? b : at[operands[2]];
      if (opcode == HloOpcode::kAnd) at[i] = a != 0 && b != 0;
      if (opcode == HloOpcode::kOr) at[i] = a != 0 || b != 0;
      if (opcode == HloOpcode::kNot) at[i] = a == 0;
    }
    return {at[results_[0]], at[results_[1]]};
  }

 private:
  struct Step {
    HloOpcode opcode;
    std::array<int, 3> operands{};
    ComparisonDirection direction{};
  };

  static bool Understands(const HloInstruction& instruction, Step* step) {
    static constexpr OpcodeSet kLogic = {HloOpcode::kAnd, HloOpcode::kNot, HloOpcode::kOr};
    if (kLogic.contains(instruction.opcode())) return instruction.shape().element_type() == PRED;
    if (instruction.opcode() != HloOpcode::kCompare) return instruction.opcode() == HloOpcode::kSelect;
    // Parameters 0 and 2 are values, 1 and 3 positions.
    step->direction = instruction.attrs<CompareAttrs>().direction;
    return instruction.attrs<CompareAttrs>().type != ComparisonType::kTotalOrder && step->operands[0] < 4 &&
           step->operands[1] < 4 && step->operands[0] % 2 == step->operands[1] % 2;
  }

  static bool Compare(ComparisonDirection direction, double x, double y) {
    switch (direction) {
      case ComparisonDirection::kEq: return x == y;
      case ComparisonDirection::kNe: return x != y;
      case ComparisonDirection::kGe: return x >= y;
      case ComparisonDirection::kGt: return x > y;
      case ComparisonDirection::kLe: return x <= y;
      case ComparisonDirection::kLt: return x < y;
    }
    return false;
  }

  std::vector<Step> steps_;
  int results_[2];
};

// The three conditions above, for values that may be NaN or may not.
bool Chooses(const Choice& f, bool with_nan) {
  const auto g = [&](const Pair& x, const Pair& y) { return x.position <= y.position ? f(x, y) : f(y, x); };
  const double values[] = {1, 2, 3, std::numeric_limits<double>::quiet_NaN()};
  const int count = with_nan ? 4 : 3;
  for (int code = 0; code < count * count * count; ++code) {
    const Pair x{values[code % count], 1}, y{values[code / count % count], 2}, z{values[code / count / count], 3};
    const Pair chosen = g(x, y);
    if (!Same(f(x, x), x) || !(Same(chosen, x) || Same(chosen, y))) return false;
    if (!Same(g(chosen, z), g(x, g(y, z))) || !Same(g(chosen, z), g(y, g(x, z)))) return false;
    for (double position : {0.5, 1.0, 1.5, 2.0, 2.5}) {
      const Pair init{z.value, position};
      if (!Same(f(f(init, x), y), f(init, chosen))) return false;
    }
  }
  return true;
}

// Whether `instruction` is the position in `dimension` at every index.
bool IsPosition(const HloInstruction* instruction, int64_t dimension) {
  while (instruction->opcode() == HloOpcode::kBroadcast) {
    const auto& dimensions = instruction->attrs<BroadcastAttrs>().dimensions;
    const auto it = std::find(dimensions.begin(), dimensions.end(), dimension);
    if (it == dimensions.end()) return false;
    dimension = it - dimensions.begin();
    instruction = instruction->operand(0);
  }
  return instruction->opcode() == HloOpcode::kIota && instruction->attrs<IotaAttrs>().iota_dimension == dimension;
}

// The computation of a reduction along one dimension that chooses a value and its position in the dimension.
std::optional<Choice> ChoiceOf(const HloInstruction& reduce) {
  if (reduce.operand_count() != 4 || reduce.attrs<ReduceAttrs>().dimensions.size() != 1) return std::nullopt;
  const PrimitiveType type = reduce.operand(0)->shape().element_type(),
                      position = reduce.operand(1)->shape().element_type();
  if (IsComplexType(type) || type == PRED || !IsIntegralType(position) || PrimitiveTypeByteSize(position) < 4)
    return std::nullopt;
  if (!IsPosition(reduce.operand(1), reduce.attrs<ReduceAttrs>().dimensions[0])) return std::nullopt;
  std::optional<Choice> choice = Choice::Create(*reduce.called_computation());
  if (choice.has_value() && !Chooses(*choice, IsFloatingPointType(type))) return std::nullopt;
  return choice;
}

}  // namespace

bool IsArgReduction(const HloInstruction& reduce) {
  const int64_t last = reduce.operand(0)->shape().rank() - 1;
  return reduce.attrs<ReduceAttrs>().dimensions == std::vector<int64_t>{last} && ChoiceOf(reduce).has_value();
}

bool IsArgReductionOfOneDimension(const HloInstruction& reduce) { return ChoiceOf(reduce).has_value(); }

std::optional<ArgOrder> ArgOrderOf(const HloInstruction& reduce) {
  const std::optional<Choice> choice = ChoiceOf(reduce);
  if (!choice.has_value()) return std::nullopt;
  // Whether the second of two values is chosen.
  const auto second = [&](double x, double y) { return (*choice)({x, 1}, {y, 2}).position == 2; };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const ArgOrder order{.largest = second(1, 2), .nan_first = second(1, kNan), .last = second(1, 1)};
  if (second(2, 1) == order.largest) return std::nullopt;
  if (IsFloatingPointType(reduce.operand(0)->shape().element_type()) &&
      (second(kNan, 1) == order.nan_first || second(kNan, kNan) != order.last))
    return std::nullopt;
  return order;
}

std::optional<HloOpcode> ExtremumOfArgReduction(const HloInstruction& reduce) {
  const std::optional<ArgOrder> order = ArgOrderOf(reduce);
  if (!order.has_value() || (IsFloatingPointType(reduce.operand(0)->shape().element_type()) && !order->nan_first))
    return std::nullopt;
  return order->largest ? HloOpcode::kMaximum : HloOpcode::kMinimum;
}

}  // namespace hilo
