#include "hlo/analysis/cost_model.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_map.h"
#include "hlo/analysis/prefix_scan.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// Elements of all array leaves of a shape.
double Elements(const Shape& shape) {
  double count = 0;
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape)) {
    if (leaf.shape->IsArray()) count += static_cast<double>(ShapeUtil::ElementsIn(*leaf.shape));
  }
  return count;
}

double Bytes(const Shape& shape) { return static_cast<double>(ShapeUtil::ByteSizeOf(shape)); }

double WindowElements(const Window& window) {
  double count = 1;
  for (const Window::Dimension& dimension : window.dimensions) count *= static_cast<double>(dimension.size);
  return count;
}

// The time of an element of `type` beside that of single precision: vectors hold fewer of the wide ones, narrow floats
// are converted.
double TypeFactor(PrimitiveType type, OpCost cost) {
  const bool is_function = cost >= OpCost::kRoot && cost <= OpCost::kPower;
  if (IsComplexType(type)) return (type == C128 ? 2 : 1) * (is_function ? 5 : 3);
  if (type == F64) return is_function ? 3.5 : 2;  // half as many lanes, and more terms
  const int bytes = std::max(PrimitiveTypeByteSize(type), 1);
  if (IsFloatingPointType(type)) return bytes == 4 ? 1 : 3;  // narrow ones are converted
  const bool divides =
      cost == OpCost::kDivision || cost == OpCost::kRemainder;  // there are no vector instructions for it
  return (bytes > 4 ? 2 : 1) * (divides ? 4 : 1);
}

PrimitiveType ElementType(const HloInstruction& instruction) {
  const Shape& shape = instruction.shape();
  if (instruction.opcode() == HloOpcode::kCompare) return instruction.operand(0)->shape().element_type();
  return shape.IsArray() ? shape.element_type() : F32;
}

// `count` elements of an op whose cost is in the table.
Work ElementWork(const HloInstruction& instruction, double count) {
  const HloOpcode opcode = instruction.opcode();
  const OpCostFacts& facts = CostFacts(opcode);
  Work work;
  work.operations = count * facts.operations * TypeFactor(ElementType(instruction), OpcodeInfo(opcode).cost);
  if (facts.transcendental) {
    work.transcendentals = count;
  } else if (IsElementwise(opcode) && !HasTrait(opcode, kMovement)) {
    work.flops = count;
  }
  return work;
}

// One call of each called computation.
Work CalledWork(const HloInstruction& instruction) {
  Work work;
  for (const HloComputation* called : instruction.called_computations()) {
    for (const HloInstruction* inner : called->instructions()) work += ElementWork(*inner, Elements(inner->shape()));
  }
  return work;
}

Work ProductWork(const HloInstruction& product, double flops) {
  Work work;
  work.flops = flops;
  work.product_flops = flops * TypeFactor(ElementType(product), OpCost::kArithmetic);
  return work;
}

// Comparisons of a sort of `length` elements, for one of them.
double SortDepth(double length) { return std::log2(std::max(length, 2.0)); }

double LongestDimension(const Shape& shape) {
  int64_t length = 1;
  for (const int64_t size : shape.dimensions()) length = std::max(length, size);
  return static_cast<double>(length);
}

// The computation of `count` elements of the result, their operands given.
Work OpWork(const HloInstruction& instruction, double count) {
  // A sort moves both elements of a pair, and a comparison that is not foreseen stops the processor.
  constexpr double kSortOperations = 500;
  // Of random bits: rounds of additions, rotations and exclusive ors.
  constexpr double kRandomOperations = 40;
  const HloOpcode opcode = instruction.opcode();
  const double result = Elements(instruction.shape());
  const double part = result > 0 ? count / result : 0;
  switch (opcode) {
    case HloOpcode::kDot:
    case HloOpcode::kScaledDot: return ProductWork(instruction, DotFlops(instruction) * part);
    case HloOpcode::kConvolution: return ProductWork(instruction, ConvolutionFlops(instruction) * part);
    case HloOpcode::kRaggedDot:
      return ProductWork(instruction,
                         2 * count * static_cast<double>(instruction.operand(0)->shape().dimensions().back()));
    case HloOpcode::kReduce: return CalledWork(instruction) * (Elements(instruction.operand(0)->shape()) * part);
    case HloOpcode::kReduceWindow:
      return CalledWork(instruction) * (ScanWindowOf(instruction).has_value()
                                            ? count
                                            : count * WindowElements(instruction.attrs<ReduceWindowAttrs>().window));
    case HloOpcode::kSelectAndScatter:
      return CalledWork(instruction) * (Elements(instruction.operand(1)->shape()) *
                                        WindowElements(instruction.attrs<SelectAndScatterAttrs>().window));
    case HloOpcode::kMap: return CalledWork(instruction) * count;
    case HloOpcode::kScatter: {
      const HloInstruction* updates = instruction.operand(instruction.operand_count() - 1);
      Work work = CalledWork(instruction) * Elements(updates->shape());
      work += ElementWork(instruction, Elements(updates->shape()));
      return work;
    }
    case HloOpcode::kSort: {
      const Shape& keys = instruction.operand(0)->shape();
      const double comparisons = Elements(keys) * SortDepth(LongestDimension(keys));
      Work work = CalledWork(instruction) * comparisons;
      work.operations += kSortOperations * comparisons * static_cast<double>(instruction.operand_count());
      return work;
    }
    case HloOpcode::kTopK: {
      Work work;
      work.flops = work.operations = Elements(instruction.operand(0)->shape());
      return work;
    }
    case HloOpcode::kFft: {
      Work work;
      work.flops = 5 * count * SortDepth(LongestDimension(instruction.shape()));
      work.operations = work.flops;
      return work;
    }
    case HloOpcode::kCholesky:
      return ProductWork(instruction, count * static_cast<double>(instruction.shape().dimensions().back()) / 3);
    case HloOpcode::kTriangularSolve:
      return ProductWork(instruction, count * static_cast<double>(instruction.operand(0)->shape().dimensions().back()));
    case HloOpcode::kRng:
    case HloOpcode::kRngBitGenerator: {
      Work work;
      work.operations = kRandomOperations * count;
      return work;
    }
    default: return ElementWork(instruction, count);
  }
}

// How many elements of operand `index` are computed or read for `count` elements of the result.
double DemandOf(const HloInstruction& user, int64_t index, double count) {
  const Shape& operand = user.operand(index)->shape();
  const double all = Elements(operand);
  const auto part = [&] {
    const double result = Elements(user.shape());
    return result > 0 ? all * count / result : 0;
  };
  switch (user.opcode()) {
    case HloOpcode::kReduce: return index < user.operand_count() / 2 ? part() : 1;
    case HloOpcode::kDot:
    case HloOpcode::kScaledDot: return DotFlops(user) / 2 / std::max(Elements(user.shape()), 1.0) * count;
    case HloOpcode::kReduceWindow:
      if (index >= user.operand_count() / 2) return 1;
      return ScanWindowOf(user).has_value() ? count : count * WindowElements(user.attrs<ReduceWindowAttrs>().window);
    case HloOpcode::kDynamicSlice: return index == 0 ? count : 1;
    case HloOpcode::kGather: return index == 0 ? count : std::min(all, std::max(count, part()));
    case HloOpcode::kDynamicUpdateSlice: return index == 0 ? count : std::min(all, count);
    case HloOpcode::kScatter: return index < user.operand_count() / 2 ? 0 : all;
    default: break;
  }
  if (IsElementwise(user.opcode()) || HasTrait(user.opcode(), kMovement) ||
      OpcodeInfo(user.opcode()).cost == OpCost::kMove) {
    return std::min(all, count);
  }
  return all;
}

// What the kernel of `root` writes: the update, where only a part of the first operand's memory changes.
const HloInstruction& WrittenPart(const HloInstruction& root) {
  switch (root.opcode()) {
    case HloOpcode::kDynamicUpdateSlice: return *root.operand(1);
    case HloOpcode::kScatter: return *root.operand(root.operand_count() - 1);
    default: return root;
  }
}

using Demand = absl::flat_hash_map<const HloInstruction*, double>;

// Adds the work of computing `count` elements of `instruction`, and the elements it demands of its operands.
void Visit(const HloInstruction& instruction, double count, bool is_root, Demand* demand, Work* work) {
  if (instruction.opcode() == HloOpcode::kFusion) {
    const double result = Elements(instruction.shape());
    Work inner = WorkOf(instruction) * (result > 0 ? count / result : 0);
    inner.bytes_read = inner.bytes_written = 0;
    *work += inner;
  } else {
    *work += OpWork(instruction, count);
  }
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    double elements = instruction.opcode() == HloOpcode::kFusion ? Elements(instruction.operand(i)->shape())
                                                                 : DemandOf(instruction, i, count);
    if (is_root && i == 0 && &WrittenPart(instruction) != &instruction) elements = 0;  // stays as it is
    // Equal indices are computed once; operands that are read at several are counted as if they were not.
    double& most = (*demand)[instruction.operand(i)];
    most = std::max(most, elements);
  }
}

// What it takes to read `count` elements of `source`, or all of them.
double BytesRead(const HloInstruction& source, double count) {
  const Shape& shape = source.shape();
  if (!shape.IsArray() || (source.IsConstant() && shape.IsScalar())) return 0;
  const double all = Elements(shape);
  return all > 0 ? Bytes(shape) * std::min(1.0, count / all) : 0;
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  flops += other.flops;
  transcendentals += other.transcendentals;
  operations += other.operations;
  product_flops += other.product_flops;
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  return *this;
}

Work Work::operator*(double times) const {
  return {flops * times,         transcendentals * times, operations * times,
          product_flops * times, bytes_read * times,      bytes_written * times};
}

const OpCostFacts& CostFacts(HloOpcode opcode) {
  // In the order of OpCost. The times are those of f32 elements on AVX-512 (tests/cost_model_test.py prints them).
  static constexpr OpCostFacts kFacts[] = {
      {.code_size = 0, .operations = 0, .transcendental = false},    // kNothing
      {.code_size = 3, .operations = 1, .transcendental = false},    // kMove
      {.code_size = 3, .operations = 24, .transcendental = false},   // kTransposed
      {.code_size = 12, .operations = 4, .transcendental = false},   // kIndexed
      {.code_size = 12, .operations = 16, .transcendental = false},  // kGathered
      {.code_size = 3, .operations = 1, .transcendental = false},    // kArithmetic
      {.code_size = 12, .operations = 3, .transcendental = false},   // kDivision
      {.code_size = 25, .operations = 8, .transcendental = false},   // kRemainder
      {.code_size = 3, .operations = 6, .transcendental = true},     // kRoot
      {.code_size = 25, .operations = 8, .transcendental = true},    // kExponential
      {.code_size = 25, .operations = 20, .transcendental = true},   // kLogarithm
      {.code_size = 60, .operations = 18, .transcendental = true},   // kTrigonometric
      {.code_size = 60, .operations = 100, .transcendental = true},  // kPower
      {.code_size = 3, .operations = 1, .transcendental = false},    // kOwn
  };
  static_assert(std::size(kFacts) == static_cast<size_t>(OpCost::kOwn) + 1);
  return kFacts[static_cast<size_t>(OpcodeInfo(opcode).cost)];
}

Work WorkOf(const HloInstruction& instruction) {
  Work work;
  if (HasTrait(instruction.opcode(), kControlFlow) || OpcodeInfo(instruction.opcode()).cost == OpCost::kNothing)
    return work;
  Demand demand;
  if (instruction.opcode() != HloOpcode::kFusion) {
    Visit(instruction, Elements(WrittenPart(instruction).shape()), /*is_root=*/true, &demand, &work);
    work.bytes_written = Bytes(WrittenPart(instruction).shape());
    for (const auto& [operand, count] : demand) work.bytes_read += BytesRead(*operand, count);
    return work;
  }
  const HloComputation& fused = *instruction.called_computation();
  const HloInstruction* root = fused.root_instruction();
  if (root->opcode() == HloOpcode::kTuple) {
    for (const HloInstruction* result : root->operands()) demand[result] = Elements(result->shape());
    work.bytes_written = Bytes(root->shape());
  } else {
    demand[root] = Elements(WrittenPart(*root).shape());
    work.bytes_written = Bytes(WrittenPart(*root).shape());
  }
  const std::vector<HloInstruction*> order = fused.MakePostOrder();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const HloInstruction* member = *it;
    if (member->opcode() == HloOpcode::kTuple) continue;
    const double count = demand[member];
    if (member->IsParameter() || member->IsConstant()) {
      work.bytes_read += BytesRead(*member, count);
    } else {
      Visit(*member, count, /*is_root=*/member == root, &demand, &work);
    }
  }
  return work;
}

double Nanoseconds(const Work& work, const MachineFacts& machine) {
  return work.operations / machine.operations_per_ns + work.product_flops / machine.product_flops_per_ns +
         work.bytes() / machine.bytes_per_ns;
}

bool IsExpensiveToRepeat(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kDivide) {
    // By a constant it costs less than another pass over the array.
    const HloInstruction* divisor = instruction.operand(1);
    if (divisor->opcode() == HloOpcode::kBroadcast) divisor = divisor->operand(0);
    return !divisor->IsConstant();
  }
  switch (OpcodeInfo(instruction.opcode()).cost) {
    case OpCost::kNothing:
    case OpCost::kMove:
    case OpCost::kTransposed:
    case OpCost::kIndexed:
    case OpCost::kArithmetic: return false;
    case OpCost::kGathered:
    case OpCost::kDivision:
    case OpCost::kRemainder:
    case OpCost::kRoot:
    case OpCost::kExponential:
    case OpCost::kLogarithm:
    case OpCost::kTrigonometric:
    case OpCost::kPower:
    case OpCost::kOwn: return true;
  }
  return true;
}

bool IsFreeToRepeat(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kIota || instruction.opcode() == HloOpcode::kBroadcast;
}

double DotFlops(const HloInstruction& dot) {
  double flops = 2 * Elements(dot.shape());
  for (const int64_t d : dot.attrs<DotAttrs>().lhs_contracting_dims)
    flops *= static_cast<double>(dot.operand(0)->shape().dimensions(d));
  return flops;
}

double ConvolutionFlops(const HloInstruction& convolution) {
  const int64_t dimension = convolution.attrs<ConvolutionAttrs>().dim_labels.kernel_output_feature_dimension();
  const int64_t features = convolution.operand(1)->shape().dimensions(dimension);
  // Every feature of the result has its own part of the kernel.
  return features == 0 ? 0
                       : 2 * Elements(convolution.shape()) * Elements(convolution.operand(1)->shape()) /
                             static_cast<double>(features);
}

}  // namespace hilo
